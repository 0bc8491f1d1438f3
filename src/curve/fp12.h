/*
 * Fp12 = Fp6[w] / (w^2 - v): c0 + c1 w, where pairings take their values. All functions accept aliased
 * arguments.
 */
#ifndef CUZK_CURVE_FP12_H
#define CUZK_CURVE_FP12_H

#include "curve/fp6.h"

typedef struct fp12 {
    fp6 c0, c1;
} fp12;

void fp12_set_one(fp12 *out);
bool fp12_is_one(const fp12 *a);
static inline bool fp12_eq(const fp12 *a, const fp12 *b) {
    return fp6_eq(&a->c0, &b->c0) && fp6_eq(&a->c1, &b->c1);
}

void fp12_mul(fp12 *out, const fp12 *a, const fp12 *b);
void fp12_sqr(fp12 *out, const fp12 *a);
/* c0 - c1 w: the p^6-th power, and the inverse where the norm to Fp6 is one (after the final exponentiation).
 */
void fp12_conj(fp12 *out, const fp12 *a);
/* out = 1/a; 0 for 0. */
void fp12_inv(fp12 *out, const fp12 *a);
/* out = a^(p^power), power = 1 or 2. */
void fp12_frobenius(fp12 *out, const fp12 *a, unsigned power);

/* Times b0 + b1 v + b4 v w, the shape of a line. */
void fp12_mul_by_014(fp12 *out, const fp12 *a, const fp2 *b0, const fp2 *b1, const fp2 *b4);
/* The square of an element of the cyclotomic subgroup (a^(p^4 - p^2 + 1) = 1). */
void fp12_cyclotomic_sqr(fp12 *out, const fp12 *a);

#endif
