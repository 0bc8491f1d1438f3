/*
 * Montgomery multiplication in portable C: operand scanning (CIOS), one reduction step per limb. Both moduli
 * leave the top bit of the highest limb free, so the running sum never exceeds n + 1 limbs (the "no-carry"
 * condition of the gnark authors) and one conditional subtraction ends it.
 */
#include "field/fp.h"
#include "field/fr.h"

#define DEFINE_MUL(NAME, TYPE, N, MODULUS, INV, REDUCE)                                                      \
    static void NAME(TYPE *out, const TYPE *a, const TYPE *b) {                                              \
        uint64_t t[N] = {0};                                                                                 \
        for (int i = 0; i < (N); i++) {                                                                      \
            uint64_t carry = 0, fold = 0;                                                                    \
            uint64_t low = limb_mac(a->l[i], b->l[0], t[0], &carry);                                         \
            uint64_t q = low * (INV);                                                                        \
            (void)limb_mac(q, MODULUS.l[0], low, &fold);                                                     \
            for (int j = 1; j < (N); j++) {                                                                  \
                uint64_t sum = limb_mac(a->l[i], b->l[j], t[j], &carry);                                     \
                t[j - 1] = limb_mac(q, MODULUS.l[j], sum, &fold);                                            \
            }                                                                                                \
            t[(N)-1] = carry + fold;                                                                         \
        }                                                                                                    \
        REDUCE;                                                                                              \
    }

DEFINE_MUL(mul_fr, fr, 4, FR_MODULUS, FR_INV, limbs_reduce_once(out->l, t, FR_MODULUS.l, 4))
DEFINE_MUL(mul_fp, fp, 6, FP_MODULUS, FP_INV, limbs_reduce_once(out->l, t, FP_MODULUS.l, 6))

static void sqr_fr(fr *out, const fr *a) {
    mul_fr(out, a, a);
}
static void sqr_fp(fp *out, const fp *a) {
    mul_fp(out, a, a);
}

static void dot2_fp(fp *out, const fp *a, const fp *b, const fp *c, const fp *d) {
    fp t;
    mul_fp(&t, a, b);
    mul_fp(out, c, d);
    fp_add(out, out, &t);
}

const field_table field_portable = {.name = "portable",
                                    .isa = CPU_PORTABLE,
                                    .fr_mul = mul_fr,
                                    .fr_sqr = sqr_fr,
                                    .fp_mul = mul_fp,
                                    .fp_sqr = sqr_fp, .fp_dot2 = dot2_fp};
