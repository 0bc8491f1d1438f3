/*
 * Montgomery multiplication in portable C: operand scanning, one reduction step per limb. Both moduli leave
 * the top bit of the highest limb free, so the running sum stays below 2^(64 n) between rows (the "no-carry"
 * condition of the gnark authors), and below 3 p < 2^384 for two products; one conditional subtraction ends
 * it. This file is compiled without vectorization: word stores met by vector loads stall.
 */
#include "field/fp.h"
#include "field/fr.h"

#define INLINE static inline __attribute__((always_inline))

/* t += a * b; t has n + 1 limbs. */
INLINE void add_row(uint64_t *t, uint64_t a, const uint64_t *b, int n) {
    uint64_t carry = 0;
#pragma GCC unroll 6
    for (int j = 0; j < n; j++) t[j] = limb_mac(a, b[j], t[j], &carry);
    t[n] += carry;
}

/* t = (t + q m) / 2^64, with the q that makes it exact. The highest limb becomes zero. */
INLINE void reduce_row(uint64_t *t, const uint64_t *m, uint64_t inv, int n) {
    uint64_t q = t[0] * inv, carry = 0;
    (void)limb_mac(q, m[0], t[0], &carry);
#pragma GCC unroll 6
    for (int j = 1; j < n; j++) t[j - 1] = limb_mac(q, m[j], t[j], &carry);
    t[n - 1] = t[n] + carry;
    t[n] = 0;
}

static void mul_fr(fr *out, const fr *a, const fr *b) {
    uint64_t t[5] = {0};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        add_row(t, a->l[i], b->l, 4);
        reduce_row(t, FR_MODULUS.l, FR_INV, 4);
    }
    limbs_reduce_once(out->l, t, FR_MODULUS.l, 4);
}

static void sqr_fr(fr *out, const fr *a) {
    mul_fr(out, a, a);
}

static void mul_fp(fp *out, const fp *a, const fp *b) {
    uint64_t t[7] = {0};
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        add_row(t, a->l[i], b->l, 6);
        reduce_row(t, FP_MODULUS.l, FP_INV, 6);
    }
    limbs_reduce_once(out->l, t, FP_MODULUS.l, 6);
}

static void sqr_fp(fp *out, const fp *a) {
    mul_fp(out, a, a);
}

static void dot2_fp(fp *out, const fp *a, const fp *b, const fp *c, const fp *d) {
    uint64_t t[7] = {0};
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        add_row(t, a->l[i], b->l, 6);
        add_row(t, c->l[i], d->l, 6);
        reduce_row(t, FP_MODULUS.l, FP_INV, 6);
    }
    limbs_reduce_once(out->l, t, FP_MODULUS.l, 6);
}

const field_table field_portable = {.name = "portable",
                                    .isa = CPU_PORTABLE,
                                    .fr_mul = mul_fr,
                                    .fr_sqr = sqr_fr,
                                    .fp_mul = mul_fp,
                                    .fp_sqr = sqr_fp,
                                    .fp_dot2 = dot2_fp};
