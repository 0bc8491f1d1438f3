/*
 * Fp2 = Fp[u] / (u^2 + 1): c0 + c1 u, coordinates in Montgomery form and fully reduced.
 *
 * All functions accept aliased arguments.
 */
#ifndef CUZK_CURVE_FP2_H
#define CUZK_CURVE_FP2_H

#include "field/fp.h"

typedef struct fp2 {
    fp c0, c1;
} fp2;

#define FP2_BYTES 96u

static const fp2 FP2_ZERO = {{{0, 0, 0, 0, 0, 0}}, {{0, 0, 0, 0, 0, 0}}};
static const fp2 FP2_ONE = {{{0x760900000002fffdu, 0xebf4000bc40c0002u, 0x5f48985753c758bau,
                              0x77ce585370525745u, 0x5c071a97a256ec6du, 0x15f65ec3fa80e493u}},
                            {{0, 0, 0, 0, 0, 0}}};

static inline bool fp2_is_zero(const fp2 *a) {
    return fp_is_zero(&a->c0) && fp_is_zero(&a->c1);
}
static inline bool fp2_is_one(const fp2 *a) {
    return fp_is_one(&a->c0) && fp_is_zero(&a->c1);
}
static inline bool fp2_eq(const fp2 *a, const fp2 *b) {
    return fp_eq(&a->c0, &b->c0) && fp_eq(&a->c1, &b->c1);
}

static inline void fp2_add(fp2 *out, const fp2 *a, const fp2 *b) {
    fp_add(&out->c0, &a->c0, &b->c0);
    fp_add(&out->c1, &a->c1, &b->c1);
}
static inline void fp2_sub(fp2 *out, const fp2 *a, const fp2 *b) {
    fp_sub(&out->c0, &a->c0, &b->c0);
    fp_sub(&out->c1, &a->c1, &b->c1);
}
static inline void fp2_neg(fp2 *out, const fp2 *a) {
    fp_neg(&out->c0, &a->c0);
    fp_neg(&out->c1, &a->c1);
}
static inline void fp2_dbl(fp2 *out, const fp2 *a) {
    fp_dbl(&out->c0, &a->c0);
    fp_dbl(&out->c1, &a->c1);
}
/* c0 - c1 u, which is also the p-th power. */
static inline void fp2_conj(fp2 *out, const fp2 *a) {
    out->c0 = a->c0;
    fp_neg(&out->c1, &a->c1);
}
static inline void fp2_mul_fp(fp2 *out, const fp2 *a, const fp *b) {
    fp_mul(&out->c0, &a->c0, b);
    fp_mul(&out->c1, &a->c1, b);
}
/* Times 1 + u, the non-residue that defines Fp6 and the twist. */
static inline void fp2_mul_by_nonresidue(fp2 *out, const fp2 *a) {
    fp t;
    fp_sub(&t, &a->c0, &a->c1);
    fp_add(&out->c1, &a->c0, &a->c1);
    out->c0 = t;
}

void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b);
void fp2_sqr(fp2 *out, const fp2 *a);
/* out = 1/a; 0 for 0. */
void fp2_inv(fp2 *out, const fp2 *a);
/* A square root (either one); false, out untouched, when there is none. */
bool fp2_sqrt(fp2 *out, const fp2 *a);

/* c1 then c0, 48 big-endian bytes each. False (out untouched) when either is not below p. */
bool fp2_from_bytes_be(fp2 *out, const uint8_t bytes[FP2_BYTES]);
void fp2_to_bytes_be(uint8_t bytes[FP2_BYTES], const fp2 *a);
/* Is a the larger of a and -a, comparing c1 first? */
bool fp2_is_lexicographically_larger(const fp2 *a);

#endif
