/*
 * Fp6 = Fp2[v] / (v^3 - (1 + u)): c0 + c1 v + c2 v^2. All functions accept aliased arguments.
 */
#ifndef CUZK_CURVE_FP6_H
#define CUZK_CURVE_FP6_H

#include "curve/fp2.h"

typedef struct fp6 {
    fp2 c0, c1, c2;
} fp6;

static inline bool fp6_is_zero(const fp6 *a) {
    return fp2_is_zero(&a->c0) && fp2_is_zero(&a->c1) && fp2_is_zero(&a->c2);
}
static inline bool fp6_eq(const fp6 *a, const fp6 *b) {
    return fp2_eq(&a->c0, &b->c0) && fp2_eq(&a->c1, &b->c1) && fp2_eq(&a->c2, &b->c2);
}
static inline void fp6_add(fp6 *out, const fp6 *a, const fp6 *b) {
    fp2_add(&out->c0, &a->c0, &b->c0);
    fp2_add(&out->c1, &a->c1, &b->c1);
    fp2_add(&out->c2, &a->c2, &b->c2);
}
static inline void fp6_sub(fp6 *out, const fp6 *a, const fp6 *b) {
    fp2_sub(&out->c0, &a->c0, &b->c0);
    fp2_sub(&out->c1, &a->c1, &b->c1);
    fp2_sub(&out->c2, &a->c2, &b->c2);
}
static inline void fp6_neg(fp6 *out, const fp6 *a) {
    fp2_neg(&out->c0, &a->c0);
    fp2_neg(&out->c1, &a->c1);
    fp2_neg(&out->c2, &a->c2);
}
static inline void fp6_dbl(fp6 *out, const fp6 *a) {
    fp6_add(out, a, a);
}
static inline void fp6_mul_by_v(fp6 *out, const fp6 *a) {
    fp2 t;
    fp2_mul_by_nonresidue(&t, &a->c2);
    out->c2 = a->c1;
    out->c1 = a->c0;
    out->c0 = t;
}

void fp6_mul(fp6 *out, const fp6 *a, const fp6 *b);
/* Times b0 + b1 v, and times b1 v. */
void fp6_mul_by_01(fp6 *out, const fp6 *a, const fp2 *b0, const fp2 *b1);
void fp6_mul_by_1(fp6 *out, const fp6 *a, const fp2 *b1);
/* out = 1/a; 0 for 0. */
void fp6_inv(fp6 *out, const fp6 *a);

#endif
