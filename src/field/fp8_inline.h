/* The inside of fp8.h, for the files compiled for AVX-512 IFMA. Vectors hold one limb of eight elements. */
#ifndef CUZK_FIELD_FP8_INLINE_H
#define CUZK_FIELD_FP8_INLINE_H

#include <immintrin.h>

#include "field/fp8.h"

#define FP8_INLINE static inline __attribute__((always_inline))
#define FP8_LIMBS  8
#define FP8_MASK   0xfffffffffffffu /* 2^52 - 1 */
#define FP8_INV    0x3fffcfffcfffdu /* -1/p mod 2^52 */

/* p, and 2^52 / (p / 2^364 + 1), to estimate quotients by p from the top limb. */
#define FP8_P                                                                                                \
    {                                                                                                        \
        0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f, 0x764774b84f385,                 \
            0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x1a011                                                        \
    }
#define FP8_TOP_INVERSE 0x9d8307de6

/* The same with the limbs in registers; between operations that carry they may be any signed numbers. */
typedef struct fp8v {
    __m512i l[FP8_LIMBS];
} fp8v;

FP8_INLINE fp8v fp8v_load(const fp8 *a) {
    fp8v r;
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) r.l[i] = _mm512_load_si512(a->l[i]);
    return r;
}

FP8_INLINE void fp8v_store(fp8 *out, fp8v a) {
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) _mm512_store_si512(out->l[i], a.l[i]);
}

FP8_INLINE fp8v fp8v_add(fp8v a, fp8v b) {
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    return a;
}

FP8_INLINE fp8v fp8v_sub(fp8v a, fp8v b) {
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) a.l[i] = _mm512_sub_epi64(a.l[i], b.l[i]);
    return a;
}

/* fp8_multiples[i][k]: limb i of p, times k. */
static const uint64_t fp8_multiples[FP8_LIMBS][8]
    __attribute__((aligned(64))) = {{0x0, 0xeffffffffaaab, 0x1dffffffff5556, 0x2cffffffff0001,
                                     0x3bfffffffeaaac, 0x4afffffffe5557, 0x59fffffffe0002, 0x68fffffffdaaad},
                                    {0x0, 0xfeb153ffffb9f, 0x1fd62a7ffff73e, 0x2fc13fbffff2dd,
                                     0x3fac54ffffee7c, 0x4f976a3fffea1b, 0x5f827f7fffe5ba, 0x6f6d94bfffe159},
                                    {0x0, 0x6b0f6241eabff, 0xd61ec483d57fe, 0x1412e26c5c03fd,
                                     0x1ac3d8907aaffc, 0x2174ceb4995bfb, 0x2825c4d8b807fa, 0x2ed6bafcd6b3f9},
                                    {0x0, 0x12bf6730d2a0f, 0x257ece61a541e, 0x383e359277e2d, 0x4afd9cc34a83c,
                                     0x5dbd03f41d24b, 0x707c6b24efc5a, 0x833bd255c2669},
                                    {0x0, 0x764774b84f385, 0xec8ee9709e70a, 0x162d65e28eda8f,
                                     0x1d91dd2e13ce14, 0x24f6547998c199, 0x2c5acbc51db51e, 0x33bf4310a2a8a3},
                                    {0x0, 0x1ba7b6434bacd, 0x374f6c869759a, 0x52f722c9e3067, 0x6e9ed90d2eb34,
                                     0x8a468f507a601, 0xa5ee4593c60ce, 0xc195fbd711b9b},
                                    {0x0, 0x1ea397fe69a4b, 0x3d472ffcd3496, 0x5beac7fb3cee1, 0x7a8e5ff9a692c,
                                     0x9931f7f810377, 0xb7d58ff679dc2, 0xd67927f4e380d},
                                    {0x0, 0x1a011, 0x34022, 0x4e033, 0x68044, 0x82055, 0x9c066, 0xb6077}};

/* The same, in a way that makes the compiler read constants from memory where they are used: built in
 * registers, they would crowd out the rest. */
FP8_INLINE const uint64_t (*fp8_table(void))[8] {
    const uint64_t(*t)[8] = fp8_multiples;
    __asm__("" : "+r"(t));
    return t;
}

/* a + k p, k <= 7. */
FP8_INLINE fp8v fp8v_add_p(fp8v a, int k) {
    const uint64_t(*t)[8] = fp8_table();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], _mm512_set1_epi64((long long)t[i][k]));
    return a;
}

/* a - p */
FP8_INLINE fp8v fp8v_sub_p(fp8v a) {
    const uint64_t(*t)[8] = fp8_table();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++)
        a.l[i] = _mm512_sub_epi64(a.l[i], _mm512_set1_epi64((long long)t[i][1]));
    return a;
}

/* Move what exceeds 52 bits of a limb to the next one. The value must be in [0, 2^416). */
FP8_INLINE fp8v fp8v_carry(fp8v a) {
    const __m512i mask = _mm512_set1_epi64(FP8_MASK);
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS - 1; i++) {
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], _mm512_srai_epi64(a.l[i], 52));
        a.l[i] = _mm512_and_si512(a.l[i], mask);
    }
    return a;
}

/* Tight, from a value in [p / 2, 8 p) whose limbs are signed numbers below 2^60: subtract the quotient by p
 * as estimated from the top. The estimate is never too large, and short by less than 2^-12. */
FP8_INLINE fp8v fp8v_subtract_quotient(fp8v a) {
    const uint64_t(*t)[8] = fp8_table();
    __m512i top = _mm512_add_epi64(a.l[7], _mm512_srai_epi64(a.l[6], 52));
    __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), _mm512_sub_epi64(top, _mm512_set1_epi64(4)),
                                      _mm512_set1_epi64(FP8_TOP_INVERSE));
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++)
        a.l[i] = _mm512_sub_epi64(a.l[i], _mm512_permutexvar_epi64(q, _mm512_load_si512(t[i])));
    return a;
}
FP8_INLINE fp8v fp8v_tighten(fp8v a) {
    return fp8v_carry(fp8v_subtract_quotient(a));
}

/* Elements whose limbs are all equal to those of b. */
FP8_INLINE __mmask8 fp8v_equal(fp8v a, fp8v b) {
    __m512i d = _mm512_xor_si512(a.l[0], b.l[0]);
#pragma GCC unroll 8
    for (int i = 1; i < FP8_LIMBS; i++) d = _mm512_or_si512(d, _mm512_xor_si512(a.l[i], b.l[i]));
    return _mm512_testn_epi64_mask(d, d);
}

/* Elements of a tight a that are zero mod p: 0 or p. */
FP8_INLINE __mmask8 fp8v_zero(fp8v a) {
    fp8v zero;
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) zero.l[i] = _mm512_setzero_si512();
    return fp8v_equal(a, zero) | fp8v_equal(a, fp8v_add_p(zero, 1));
}

/* Elements below p; limbs below 2^52. */
FP8_INLINE __mmask8 fp8v_below_p(fp8v a) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    __m512i borrow = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++)
        borrow = _mm512_srai_epi64(
            _mm512_add_epi64(borrow, _mm512_sub_epi64(a.l[i], _mm512_set1_epi64((long long)p[i]))), 52);
    return _mm512_movepi64_mask(borrow);
}

/* Limb-sliced from eight rows of eight limbs, and back. */
FP8_INLINE fp8v fp8v_transpose(fp8v r) {
    fp8v t, u;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        t.l[i] = _mm512_unpacklo_epi64(r.l[i], r.l[i + 1]);
        t.l[i + 1] = _mm512_unpackhi_epi64(r.l[i], r.l[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 8
        for (int j = 0; j < 2; j++) {
            u.l[i + j] = _mm512_shuffle_i64x2(t.l[i + j], t.l[i + j + 2], 0x88);
            u.l[i + j + 2] = _mm512_shuffle_i64x2(t.l[i + j], t.l[i + j + 2], 0xdd);
        }
#pragma GCC unroll 8
    for (int j = 0; j < 4; j++) {
        t.l[j] = _mm512_shuffle_i64x2(u.l[j], u.l[j + 4], 0x88);
        t.l[j + 4] = _mm512_shuffle_i64x2(u.l[j], u.l[j + 4], 0xdd);
    }
    return t;
}

/*
 * Montgomery products by operand scanning; the limbs of the result are not carried, below 2^58. For each limb
 * of a: its products with b are added to eight accumulators, then the multiple of p that clears the lowest
 * one, which is dropped. The low half of that multiple's lowest limb is not computed: it makes the limb
 * divisible by 2^52, so what it carries on is the limb's own upper part rounded up.
 */
FP8_INLINE __m512i fp8_low(__m512i sum, __m512i a, __m512i b) {
    return _mm512_madd52lo_epu64(sum, a, b);
}
FP8_INLINE __m512i fp8_high(__m512i sum, __m512i a, __m512i b) {
    return _mm512_madd52hi_epu64(sum, a, b);
}

/* The multiple of p that clears t.l[0], low halves; the limbs move down by one. Returns the factor. */
FP8_INLINE __m512i fp8v_reduce_low(fp8v *t) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    __m512i q = fp8_low(_mm512_setzero_si512(), t->l[0], _mm512_set1_epi64(FP8_INV));
    __m512i carry = _mm512_srli_epi64(_mm512_add_epi64(t->l[0], _mm512_set1_epi64(FP8_MASK)), 52);
#pragma GCC unroll 8
    for (int j = 1; j < FP8_LIMBS; j++) t->l[j - 1] = fp8_low(t->l[j], q, _mm512_set1_epi64((long long)p[j]));
    t->l[0] = _mm512_add_epi64(t->l[0], carry);
    t->l[7] = _mm512_setzero_si512();
    return q;
}
FP8_INLINE void fp8v_reduce_high(fp8v *t, __m512i q) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) t->l[j] = fp8_high(t->l[j], q, _mm512_set1_epi64((long long)p[j]));
}

/* A product in eight steps, between which other work can be done: it then runs in the shadow of the products,
 * which alone use the multipliers. */
typedef struct fp8_product {
    fp8v t, b;
    const fp8 *a;
} fp8_product;

FP8_INLINE fp8_product fp8_product_begin(const fp8 *a, const fp8 *b) {
    fp8_product p = {.b = fp8v_load(b), .a = a};
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) p.t.l[j] = _mm512_setzero_si512();
    return p;
}

FP8_INLINE void fp8_product_step(fp8_product *p, int i) {
    __m512i ai = _mm512_load_si512(p->a->l[i]);
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) p->t.l[j] = fp8_low(p->t.l[j], ai, p->b.l[j]);
    __m512i q = fp8v_reduce_low(&p->t);
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) p->t.l[j] = fp8_high(p->t.l[j], ai, p->b.l[j]);
    fp8v_reduce_high(&p->t, q);
}

FP8_INLINE fp8v fp8v_mul(const fp8 *a, const fp8 *b) {
    fp8_product p = fp8_product_begin(a, b);
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) fp8_product_step(&p, i);
    return p.t;
}

FP8_INLINE fp8v fp8v_sqr(const fp8 *a) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    fp8v va = fp8v_load(a);
    __m512i t[2 * FP8_LIMBS];
    for (int j = 0; j < 2 * FP8_LIMBS; j++) t[j] = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++)
        for (int j = i + 1; j < FP8_LIMBS; j++) {
            t[i + j] = fp8_low(t[i + j], va.l[i], va.l[j]);
            t[i + j + 1] = fp8_high(t[i + j + 1], va.l[i], va.l[j]);
        }
    for (int j = 1; j < 2 * FP8_LIMBS - 1; j++) t[j] = _mm512_add_epi64(t[j], t[j]);
    for (int i = 0; i < FP8_LIMBS; i++) {
        t[2 * i] = fp8_low(t[2 * i], va.l[i], va.l[i]);
        t[2 * i + 1] = fp8_high(t[2 * i + 1], va.l[i], va.l[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) {
        __m512i q = fp8_low(_mm512_setzero_si512(), t[i], _mm512_set1_epi64(FP8_INV));
        __m512i carry = _mm512_srli_epi64(_mm512_add_epi64(t[i], _mm512_set1_epi64(FP8_MASK)), 52);
        t[i + 1] = _mm512_add_epi64(t[i + 1], carry);
        for (int j = 1; j < FP8_LIMBS; j++)
            t[i + j] = fp8_low(t[i + j], q, _mm512_set1_epi64((long long)p[j]));
        for (int j = 0; j < FP8_LIMBS; j++)
            t[i + j + 1] = fp8_high(t[i + j + 1], q, _mm512_set1_epi64((long long)p[j]));
    }
    fp8v r;
    for (int j = 0; j < FP8_LIMBS; j++) r.l[j] = t[FP8_LIMBS + j];
    return r;
}

/* The same for a sum of two products. */
typedef struct fp8_sum {
    fp8v t;
    const fp8 *a, *b, *c, *d;
} fp8_sum;

FP8_INLINE fp8_sum fp8_sum_begin(const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d) {
    fp8_sum s = {.a = a, .b = b, .c = c, .d = d};
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) s.t.l[j] = _mm512_setzero_si512();
    return s;
}

FP8_INLINE void fp8_sum_step(fp8_sum *s, int i) {
    __m512i ai = _mm512_load_si512(s->a->l[i]), ci = _mm512_load_si512(s->c->l[i]);
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) s->t.l[j] = fp8_low(s->t.l[j], ai, _mm512_load_si512(s->b->l[j]));
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) s->t.l[j] = fp8_low(s->t.l[j], ci, _mm512_load_si512(s->d->l[j]));
    __m512i q = fp8v_reduce_low(&s->t);
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) s->t.l[j] = fp8_high(s->t.l[j], ai, _mm512_load_si512(s->b->l[j]));
#pragma GCC unroll 8
    for (int j = 0; j < FP8_LIMBS; j++) s->t.l[j] = fp8_high(s->t.l[j], ci, _mm512_load_si512(s->d->l[j]));
    fp8v_reduce_high(&s->t, q);
}

FP8_INLINE fp8v fp8v_mul_add(const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d) {
    fp8_sum s = fp8_sum_begin(a, b, c, d);
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) fp8_sum_step(&s, i);
    return s.t;
}

#endif
