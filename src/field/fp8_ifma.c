/*
 * Montgomery products by operand scanning. For each limb of a: its products with b are added to eight
 * accumulators, then the multiple of p that clears the lowest one, which is dropped. The low half of that
 * multiple's lowest limb is not computed: it makes the limb divisible by 2^52, so what it carries on is the
 * limb's own upper part rounded up. Accumulators take 32 halves of products at most, below 2^58.
 */
#include "field/fp8_inline.h"

#include <string.h>

static const uint64_t P[FP8_LIMBS] = FP8_P;

static inline __m512i low(__m512i sum, __m512i a, __m512i b) {
    return _mm512_madd52lo_epu64(sum, a, b);
}
static inline __m512i high(__m512i sum, __m512i a, __m512i b) {
    return _mm512_madd52hi_epu64(sum, a, b);
}
static inline __m512i spread(uint64_t value) {
    return _mm512_set1_epi64((long long)value);
}

void fp8_mul(fp8 *out, const fp8 *a, const fp8 *b) {
    fp8v vb = fp8v_load(b), t;
    for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) {
        __m512i ai = _mm512_load_si512(a->l[i]);
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = low(t.l[j], ai, vb.l[j]);
        __m512i q = low(_mm512_setzero_si512(), t.l[0], spread(FP8_INV));
        __m512i carry = _mm512_srli_epi64(_mm512_add_epi64(t.l[0], spread(FP8_MASK)), 52);
        for (int j = 1; j < FP8_LIMBS; j++) t.l[j - 1] = low(t.l[j], q, spread(P[j]));
        t.l[0] = _mm512_add_epi64(t.l[0], carry);
        t.l[7] = _mm512_setzero_si512();
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = high(t.l[j], ai, vb.l[j]);
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = high(t.l[j], q, spread(P[j]));
    }
    fp8v_store(out, fp8v_carry(t));
}

void fp8_sqr(fp8 *out, const fp8 *a) {
    fp8v va = fp8v_load(a);
    __m512i t[2 * FP8_LIMBS];
    for (int j = 0; j < 2 * FP8_LIMBS; j++) t[j] = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++)
        for (int j = i + 1; j < FP8_LIMBS; j++) {
            t[i + j] = low(t[i + j], va.l[i], va.l[j]);
            t[i + j + 1] = high(t[i + j + 1], va.l[i], va.l[j]);
        }
    for (int j = 1; j < 2 * FP8_LIMBS - 1; j++) t[j] = _mm512_add_epi64(t[j], t[j]);
    for (int i = 0; i < FP8_LIMBS; i++) {
        t[2 * i] = low(t[2 * i], va.l[i], va.l[i]);
        t[2 * i + 1] = high(t[2 * i + 1], va.l[i], va.l[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) {
        __m512i q = low(_mm512_setzero_si512(), t[i], spread(FP8_INV));
        __m512i carry = _mm512_srli_epi64(_mm512_add_epi64(t[i], spread(FP8_MASK)), 52);
        t[i + 1] = _mm512_add_epi64(t[i + 1], carry);
        for (int j = 1; j < FP8_LIMBS; j++) t[i + j] = low(t[i + j], q, spread(P[j]));
        for (int j = 0; j < FP8_LIMBS; j++) t[i + j + 1] = high(t[i + j + 1], q, spread(P[j]));
    }
    fp8v r;
    for (int j = 0; j < FP8_LIMBS; j++) r.l[j] = t[FP8_LIMBS + j];
    fp8v_store(out, fp8v_carry(r));
}

void fp8_mul_add(fp8 *out, const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d) {
    fp8v t;
    for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) {
        __m512i ai = _mm512_load_si512(a->l[i]), ci = _mm512_load_si512(c->l[i]);
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = low(t.l[j], ai, _mm512_load_si512(b->l[j]));
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = low(t.l[j], ci, _mm512_load_si512(d->l[j]));
        __m512i q = low(_mm512_setzero_si512(), t.l[0], spread(FP8_INV));
        __m512i carry = _mm512_srli_epi64(_mm512_add_epi64(t.l[0], spread(FP8_MASK)), 52);
        for (int j = 1; j < FP8_LIMBS; j++) t.l[j - 1] = low(t.l[j], q, spread(P[j]));
        t.l[0] = _mm512_add_epi64(t.l[0], carry);
        t.l[7] = _mm512_setzero_si512();
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = high(t.l[j], ai, _mm512_load_si512(b->l[j]));
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = high(t.l[j], ci, _mm512_load_si512(d->l[j]));
        for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = high(t.l[j], q, spread(P[j]));
    }
    fp8v_store(out, fp8v_carry(t));
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
    fp8v reduced = fp8v_carry(fp8v_add_p(t, -1));
    for (int i = 0; i < FP8_LIMBS; i++) t.l[i] = _mm512_mask_blend_epi64(below, reduced.l[i], t.l[i]);
    fp8v_store(out, t);
}

void fp8_join(uint64_t out[6], const uint64_t limbs[8]) {
    memset(out, 0, 6 * sizeof *out);
    for (size_t i = 0; i < FP8_LIMBS; i++) {
        size_t bit = 52 * i, word = bit / 64, shift = bit % 64;
        out[word] |= limbs[i] << shift;
        if (shift > 12 && word + 1 < 6) out[word + 1] |= limbs[i] >> (64 - shift);
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
