/* The inside of fp8.h, for the files compiled for AVX-512 IFMA. Vectors hold one limb of eight elements. */
#ifndef CUZK_FIELD_FP8_INLINE_H
#define CUZK_FIELD_FP8_INLINE_H

#include <immintrin.h>

#include "field/fp8.h"

#define FP8_LIMBS 8
#define FP8_MASK  0xfffffffffffffu /* 2^52 - 1 */
#define FP8_INV   0x3fffcfffcfffdu /* -1/p mod 2^52 */

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

static inline fp8v fp8v_load(const fp8 *a) {
    fp8v r;
    for (int i = 0; i < FP8_LIMBS; i++) r.l[i] = _mm512_load_si512(a->l[i]);
    return r;
}

static inline void fp8v_store(fp8 *out, fp8v a) {
    for (int i = 0; i < FP8_LIMBS; i++) _mm512_store_si512(out->l[i], a.l[i]);
}

static inline fp8v fp8v_add(fp8v a, fp8v b) {
    for (int i = 0; i < FP8_LIMBS; i++) a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    return a;
}

static inline fp8v fp8v_sub(fp8v a, fp8v b) {
    for (int i = 0; i < FP8_LIMBS; i++) a.l[i] = _mm512_sub_epi64(a.l[i], b.l[i]);
    return a;
}

/* a + k p; k is a small constant. */
static inline fp8v fp8v_add_p(fp8v a, int k) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    for (int i = 0; i < FP8_LIMBS; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], _mm512_set1_epi64((long long)p[i] * k));
    return a;
}

/* Move what exceeds 52 bits of a limb to the next one. The value must be in [0, 2^416). */
static inline fp8v fp8v_carry(fp8v a) {
    const __m512i mask = _mm512_set1_epi64(FP8_MASK);
    for (int i = 0; i < FP8_LIMBS - 1; i++) {
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], _mm512_srai_epi64(a.l[i], 52));
        a.l[i] = _mm512_and_si512(a.l[i], mask);
    }
    return a;
}

/* Tight, from a value in [p / 2, 8 p) whose limbs are signed numbers below 2^60: subtract the quotient by p
 * as estimated from the top. The estimate is never too large, and short by less than 2^-12. */
static inline fp8v fp8v_tighten(fp8v a) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    const __m512i times = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i top = _mm512_add_epi64(a.l[7], _mm512_srai_epi64(a.l[6], 52));
    __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), _mm512_sub_epi64(top, _mm512_set1_epi64(4)),
                                      _mm512_set1_epi64(FP8_TOP_INVERSE));
    for (int i = 0; i < FP8_LIMBS; i++) {
        __m512i table = _mm512_mullo_epi64(_mm512_set1_epi64((long long)p[i]), times);
        a.l[i] = _mm512_sub_epi64(a.l[i], _mm512_permutexvar_epi64(q, table));
    }
    return fp8v_carry(a);
}

/* Elements whose limbs are all equal to those of b. */
static inline __mmask8 fp8v_equal(fp8v a, fp8v b) {
    __m512i d = _mm512_xor_si512(a.l[0], b.l[0]);
    for (int i = 1; i < FP8_LIMBS; i++) d = _mm512_or_si512(d, _mm512_xor_si512(a.l[i], b.l[i]));
    return _mm512_testn_epi64_mask(d, d);
}

/* Elements of a tight a that are zero mod p: 0 or p. */
static inline __mmask8 fp8v_zero(fp8v a) {
    fp8v zero;
    for (int i = 0; i < FP8_LIMBS; i++) zero.l[i] = _mm512_setzero_si512();
    return fp8v_equal(a, zero) | fp8v_equal(a, fp8v_add_p(zero, 1));
}

/* Elements below p; limbs below 2^52. */
static inline __mmask8 fp8v_below_p(fp8v a) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    __m512i borrow = _mm512_setzero_si512();
    for (int i = 0; i < FP8_LIMBS; i++)
        borrow = _mm512_srai_epi64(
            _mm512_add_epi64(borrow, _mm512_sub_epi64(a.l[i], _mm512_set1_epi64((long long)p[i]))), 52);
    return _mm512_movepi64_mask(borrow);
}

/* Limb-sliced from eight rows of eight limbs, and back. */
static inline fp8v fp8v_transpose(fp8v r) {
    fp8v t, u;
    for (int i = 0; i < 8; i += 2) {
        t.l[i] = _mm512_unpacklo_epi64(r.l[i], r.l[i + 1]);
        t.l[i + 1] = _mm512_unpackhi_epi64(r.l[i], r.l[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            u.l[i + j] = _mm512_shuffle_i64x2(t.l[i + j], t.l[i + j + 2], 0x88);
            u.l[i + j + 2] = _mm512_shuffle_i64x2(t.l[i + j], t.l[i + j + 2], 0xdd);
        }
    for (int j = 0; j < 4; j++) {
        t.l[j] = _mm512_shuffle_i64x2(u.l[j], u.l[j + 4], 0x88);
        t.l[j + 4] = _mm512_shuffle_i64x2(u.l[j], u.l[j + 4], 0xdd);
    }
    return t;
}

#endif
