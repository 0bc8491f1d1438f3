/* The functions of fp8.h; products are in fp8_inline.h. */
#include "field/fp8_inline.h"

#include <string.h>

void fp8_mul(fp8 *out, const fp8 *a, const fp8 *b) {
    fp8v_store(out, fp8v_carry(fp8v_mul(a, b)));
}

void fp8_sqr(fp8 *out, const fp8 *a) {
    fp8v_store(out, fp8v_carry(fp8v_sqr(a)));
}

void fp8_mul_add(fp8 *out, const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d) {
    fp8v_store(out, fp8v_carry(fp8v_mul_add(a, b, c, d)));
}

void fp8_add(fp8 *out, const fp8 *a, const fp8 *b) {
    fp8v_store(out, fp8v_carry(fp8v_add(fp8v_load(a), fp8v_load(b))));
}

void fp8_sub(fp8 *out, const fp8 *a, const fp8 *b) {
    fp8v_store(out, fp8v_carry(fp8v_add_p(fp8v_sub(fp8v_load(a), fp8v_load(b)), 2)));
}

void fp8_tighten(fp8 *out, const fp8 *a) {
    fp8v_store(out, fp8v_tighten(fp8v_load(a)));
}

void fp8_canonical(fp8 *out, const fp8 *a) {
    fp8v t = fp8v_tighten(fp8v_add_p(fp8v_load(a), 1));
    __mmask8 below = fp8v_below_p(t);
    fp8v reduced = fp8v_carry(fp8v_sub_p(t));
    for (int i = 0; i < FP8_LIMBS; i++) t.l[i] = _mm512_mask_blend_epi64(below, reduced.l[i], t.l[i]);
    fp8v_store(out, t);
}

void fp8_join(uint64_t out[6], const uint64_t limbs[8]) {
    memset(out, 0, 6 * sizeof *out);
    uint64_t carry = 0;
    for (size_t i = 0; i < FP8_LIMBS; i++) {
        size_t bit = 52 * i, word = bit / 64, shift = bit % 64;
        uint64_t limb = (limbs[i] + carry) & FP8_MASK;
        carry = (limbs[i] + carry) >> 52;
        out[word] |= limb << shift;
        if (shift > 12 && word + 1 < 6) out[word + 1] |= limb >> (64 - shift);
    }
    limbs_reduce_once(out, out, FP_MODULUS.l, 6);
    limbs_reduce_once(out, out, FP_MODULUS.l, 6);
}

void fp8_split(uint64_t limbs[8], const uint64_t value[6]) {
    for (size_t i = 0; i < FP8_LIMBS; i++) {
        size_t bit = 52 * i, word = bit / 64, shift = bit % 64;
        uint64_t limb = value[word] >> shift;
        if (shift > 12 && word + 1 < 6) limb |= value[word + 1] << (64 - shift);
        limbs[i] = limb & FP8_MASK;
    }
}

/* The radix of fp is 2^384: a change of radix is a product with a power of two. */
void fp8_to_fp(fp *out, const fp8 *a, size_t k) {
    static const fp two_352 = {{0, 0, 0, 0, 0, (uint64_t)1 << 32}};
    uint64_t limbs[FP8_LIMBS];
    fp t;
    for (int i = 0; i < FP8_LIMBS; i++) limbs[i] = a->l[i][k];
    fp8_join(t.l, limbs);
    fp_mul(out, &t, &two_352);
}

void fp8_from_fp(fp8 *out, size_t k, const fp *value) {
    /* 2^416 mod p */
    static const fp two_416 = {{0x44f6480ea8e9b9af, 0xa96f7d65766c8fe4, 0xe82efd4228b540fe,
                                0x6723e5f0ade53b2e, 0x25ff6eb6fdd4230a, 0x14c8ee06ef23c24a}};
    fp t;
    fp_mul(&t, value, &two_416);
    uint64_t limbs[FP8_LIMBS];
    fp8_split(limbs, t.l);
    for (int i = 0; i < FP8_LIMBS; i++) out->l[i][k] = limbs[i];
}
