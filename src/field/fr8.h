/*
 * Eight elements of Fr at a time in AVX-512 IFMA registers. Only for files compiled with those instructions
 * (*_ifma.c), to be reached only when field.isa is CPU_IFMA.
 *
 * An fr8 holds one element per 64-bit lane, sliced over five limbs of 52 bits: element k is
 * sum_i l[i][k] * 2^(52 i). Two forms, named in each contract below:
 *   tight: every limb in [0, 2^52); the value may be anything below 2^260 = 35.33 r
 *   (and is loose below 35 r).
 *   loose: limbs are signed with magnitude below 2^60; the value is in [0, 35 r).
 * A value is a residue mod r, not reduced unless stated; "below 2r" bounds the value. fr8_add and fr8_sub
 * make loose values from loose ones and cost no carries; fr8_tighten makes them tight. Multiplications read
 * only the low 52 bits of a limb, so their operands must be tight.
 *
 * Two multiplications:
 *   fr8_mul(a, b) = a b / 2^260: Montgomery's, by any element. For memory forms: the product of two values in
 *     the Montgomery form of fr.h (a 2^256) is (a b 2^256) / 16.
 *   fr8_scale(a, w) = a w by a prepared constant (Shoup's method: the quotient is estimated with a
 *     precomputed w 2^260 / r), a quarter cheaper and independent of Montgomery forms.
 */
#ifndef CUZK_FIELD_FR8_H
#define CUZK_FIELD_FR8_H

#include <immintrin.h>

#include "field/fr.h"

#define FR8_LANES 8u
#define FR8_MASK  0xfffffffffffffu

typedef struct fr8 {
    __m512i l[5];
} fr8;

/* A constant w < r and floor(w 2^260 / r), as limbs of 52 bits: one for all lanes, or one per lane. */
typedef struct fr8_factor {
    uint64_t w[5], quotient[5];
} fr8_factor;
typedef struct fr8_lane_factor {
    fr8 w, quotient;
} fr8_lane_factor;

/* Limbs of r, of 2^260 - r and of -1/r mod 2^260. */
static const uint64_t FR8_R[5] = {0xfffff00000001u, 0x02fffe5bfefffu, 0x9a1d80553bda4u, 0x7d483339d8080u,
                                  0x073eda753299du};
static const uint64_t FR8_MINUS_R[5] = {0x00000ffffffffu, 0xfd0001a401000u, 0x65e27faac425bu,
                                        0x82b7ccc627f7fu, 0xf8c1258acd662u};
static const uint64_t FR8_INV[5] = {0xffffeffffffffu, 0xfffffe5bfdfffu, 0x04ec0653ba5bu, 0x2839181b2c170u,
                                    0x03d443ab0d7bfu};
/* floor(2^98 / (r4 + 1)), r4 the top limb of r: 2^46 times the reciprocal of r's top limb. */
#define FR8_TOP_RECIPROCAL 2486280662809454u
#define FR8_TOP_SHIFT      46

#define FR8_INLINE static inline __attribute__((always_inline))

FR8_INLINE __m512i fr8_word(uint64_t value) {
    return _mm512_set1_epi64((long long)value);
}
FR8_INLINE __m512i fr8_lo(__m512i sum, __m512i a, __m512i b) {
    return _mm512_madd52lo_epu64(sum, a, b);
}
FR8_INLINE __m512i fr8_hi(__m512i sum, __m512i a, __m512i b) {
    return _mm512_madd52hi_epu64(sum, a, b);
}

FR8_INLINE fr8 fr8_zero(void) {
    __m512i z = _mm512_setzero_si512();
    return (fr8){{z, z, z, z, z}};
}

/* loose + loose -> loose, with the sum of the bounds. */
FR8_INLINE fr8 fr8_add(fr8 a, fr8 b) {
    for (int i = 0; i < 5; i++) a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    return a;
}

/* a - b + k r for a constant k: loose - loose -> loose; b must be at most k r. */
FR8_INLINE fr8 fr8_sub(fr8 a, fr8 b, unsigned k) {
    for (int i = 0; i < 5; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], _mm512_sub_epi64(fr8_word(k * FR8_R[i]), b.l[i]));
    return a;
}

/* Carry into the top limb, which is left as it comes. */
FR8_INLINE fr8 fr8_carry(fr8 a) {
    __m512i mask = fr8_word(FR8_MASK);
    for (int i = 0; i < 4; i++) {
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], _mm512_srai_epi64(a.l[i], 52));
        a.l[i] = _mm512_and_si512(a.l[i], mask);
    }
    return a;
}

/* loose -> tight, the same value. */
FR8_INLINE fr8 fr8_tighten(fr8 a) {
    return fr8_carry(a);
}

/* Unsigned columns of a number mod 2^260 -> tight. */
FR8_INLINE fr8 fr8_wrap(fr8 a) {
    a = fr8_carry(a);
    a.l[4] = _mm512_and_si512(a.l[4], fr8_word(FR8_MASK));
    return a;
}

/* a b / 2^260: tight, with the value below r + a b / 2^260. Needs a b < 2^260 * 34 r. */
FR8_INLINE fr8 fr8_mul(fr8 a, fr8 b) {
    const __m512i zero = _mm512_setzero_si512(), mask = fr8_word(FR8_MASK);
    __m512i t0 = zero, t1 = zero, t2 = zero, t3 = zero, t4 = zero;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        __m512i x = a.l[i];
        t0 = fr8_lo(t0, x, b.l[0]);
        t1 = fr8_lo(t1, x, b.l[1]);
        t2 = fr8_lo(t2, x, b.l[2]);
        t3 = fr8_lo(t3, x, b.l[3]);
        t4 = fr8_lo(t4, x, b.l[4]);
        __m512i q = fr8_lo(zero, t0, fr8_word(FR8_INV[0]));
        t1 = fr8_lo(t1, q, fr8_word(FR8_R[1]));
        t2 = fr8_lo(t2, q, fr8_word(FR8_R[2]));
        t3 = fr8_lo(t3, q, fr8_word(FR8_R[3]));
        t4 = fr8_lo(t4, q, fr8_word(FR8_R[4]));
        /* t0 + q r0 has low limb zero; its carry is t0 >> 52, plus one unless t0 was zero. */
        t0 = _mm512_add_epi64(t1, _mm512_srli_epi64(_mm512_add_epi64(t0, mask), 52));
        t0 = fr8_hi(t0, x, b.l[0]);
        t1 = fr8_hi(t2, x, b.l[1]);
        t2 = fr8_hi(t3, x, b.l[2]);
        t3 = fr8_hi(t4, x, b.l[3]);
        t4 = fr8_hi(zero, x, b.l[4]);
        t0 = fr8_hi(t0, q, fr8_word(FR8_R[0]));
        t1 = fr8_hi(t1, q, fr8_word(FR8_R[1]));
        t2 = fr8_hi(t2, q, fr8_word(FR8_R[2]));
        t3 = fr8_hi(t3, q, fr8_word(FR8_R[3]));
        t4 = fr8_hi(t4, q, fr8_word(FR8_R[4]));
    }
    return fr8_carry((fr8){{t0, t1, t2, t3, t4}});
}

/* Columns 0 to 4 of a b, added to t: five products of low halves in each diagonal, four of high halves. */
FR8_INLINE fr8 fr8_mul_low_add(fr8 t, fr8 a, fr8 b) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
#pragma GCC unroll 5
        for (int j = 0; j < 5 - i; j++) {
            t.l[i + j] = fr8_lo(t.l[i + j], a.l[i], b.l[j]);
            if (i + j < 4) t.l[i + j + 1] = fr8_hi(t.l[i + j + 1], a.l[i], b.l[j]);
        }
    }
    return t;
}

/*
 * a w mod r: tight, with the value below r + 2^-48 r + a r / 2^260 (below 2r for every a below 35r).
 * The quotient floor(a w / r) comes from the columns 4 to 9 of a * quotient; the columns left out are worth
 * less than 7 * 2^-52 of a unit, so it is at most one short. The result is exact mod 2^260, where it lies.
 */
FR8_INLINE fr8 fr8_scale_by(fr8 a, const fr8 *w, const fr8 *quotient) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i *s = quotient->l;
    __m512i c = zero, d = zero;
    fr8 hi = fr8_zero();
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        c = fr8_lo(c, a.l[i], s[4 - i]);
        if (i < 4) d = fr8_hi(d, a.l[i], s[3 - i]);
    }
    fr8 q = fr8_zero();
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
#pragma GCC unroll 5
        for (int j = 4 - i; j < 5; j++) {
            hi.l[i + j - 4] = fr8_hi(hi.l[i + j - 4], a.l[i], s[j]);
            if (i + j > 4) q.l[i + j - 5] = fr8_lo(q.l[i + j - 5], a.l[i], s[j]);
        }
    }
    q.l[0] = _mm512_add_epi64(q.l[0], _mm512_srli_epi64(_mm512_add_epi64(c, d), 52));
    q = fr8_carry(fr8_add(q, hi));
    fr8 minus_r;
    for (int i = 0; i < 5; i++) minus_r.l[i] = fr8_word(FR8_MINUS_R[i]);
    return fr8_wrap(fr8_mul_low_add(fr8_mul_low_add(fr8_zero(), a, *w), q, minus_r));
}
FR8_INLINE fr8 fr8_scale(fr8 a, const fr8_factor *f) {
    fr8 w, quotient;
    for (int i = 0; i < 5; i++) w.l[i] = fr8_word(f->w[i]), quotient.l[i] = fr8_word(f->quotient[i]);
    return fr8_scale_by(a, &w, &quotient);
}
FR8_INLINE fr8 fr8_scale_lanes(fr8 a, const fr8_lane_factor *f) {
    return fr8_scale_by(a, &f->w, &f->quotient);
}

/*
 * loose -> the same residue, tight and below (1 + 2^-40) r. The quotient by r comes from the top limb, with
 * the carry into it from the limb below alone. That may be off by one: never below zero is seen to; and one
 * too much does no harm, because the reciprocal is of r's top limb plus one, and r is below the middle of
 * that step.
 */
FR8_INLINE fr8 fr8_reduce(fr8 a) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i top = _mm512_max_epi64(_mm512_add_epi64(a.l[4], _mm512_srai_epi64(a.l[3], 52)), zero);
    __m512i q = _mm512_srli_epi64(fr8_hi(zero, top, fr8_word(FR8_TOP_RECIPROCAL)), FR8_TOP_SHIFT);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        a.l[i] = fr8_lo(a.l[i], q, fr8_word(FR8_MINUS_R[i]));
        if (i < 4) a.l[i + 1] = fr8_hi(a.l[i + 1], q, fr8_word(FR8_MINUS_R[i]));
    }
    return fr8_wrap(a);
}

/* Tight and below 2r -> fully reduced. */
FR8_INLINE fr8 fr8_reduce_once(fr8 a) {
    fr8 less;
    for (int i = 0; i < 5; i++) less.l[i] = _mm512_sub_epi64(a.l[i], fr8_word(FR8_R[i]));
    less = fr8_carry(less);
    __mmask8 below = _mm512_movepi64_mask(less.l[4]);
    for (int i = 0; i < 5; i++) a.l[i] = _mm512_mask_blend_epi64(below, less.l[i], a.l[i]);
    return a;
}

/* loose -> fully reduced. After fr8_reduce only values with r's top limb may still be r or more. */
FR8_INLINE fr8 fr8_canonical(fr8 a) {
    a = fr8_reduce(a);
    if (_mm512_cmpge_epi64_mask(a.l[4], fr8_word(FR8_R[4]))) a = fr8_reduce_once(a);
    return a;
}

/* Eight words of each 64-bit limb -> limbs of 52 bits: tight. */
FR8_INLINE fr8 fr8_split(const __m512i word[4]) {
    const __m512i mask = fr8_word(FR8_MASK);
    fr8 a;
    a.l[0] = _mm512_and_si512(word[0], mask);
#pragma GCC unroll 3
    for (int i = 1; i < 4; i++) /* (x | y) & mask */
        a.l[i] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(word[i - 1], (unsigned)(64 - 12 * i)),
                                           _mm512_slli_epi64(word[i], (unsigned)(12 * i)), mask, 0xa8);
    a.l[4] = _mm512_srli_epi64(word[3], 16);
    return a;
}
/* Tight and below 2^256 -> 64-bit limbs. */
FR8_INLINE void fr8_join(__m512i word[4], fr8 a) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        word[i] = _mm512_or_si512(_mm512_srli_epi64(a.l[i], (unsigned)(12 * i)),
                                  _mm512_slli_epi64(a.l[i + 1], (unsigned)(52 - 12 * i)));
}

/* Four vectors of two elements each, in order -> tight. */
FR8_INLINE fr8 fr8_from_pairs(__m512i z0, __m512i z1, __m512i z2, __m512i z3) {
    const __m512i even = _mm512_set_epi64(13, 9, 12, 8, 5, 1, 4, 0),
                  odd = _mm512_set_epi64(15, 11, 14, 10, 7, 3, 6, 2);
    __m512i a = _mm512_unpacklo_epi64(z0, z1), b = _mm512_unpackhi_epi64(z0, z1);
    __m512i c = _mm512_unpacklo_epi64(z2, z3), d = _mm512_unpackhi_epi64(z2, z3);
    __m512i word[4] = {_mm512_permutex2var_epi64(a, even, c), _mm512_permutex2var_epi64(b, even, d),
                       _mm512_permutex2var_epi64(a, odd, c), _mm512_permutex2var_epi64(b, odd, d)};
    return fr8_split(word);
}
/* Tight and below 2^256 -> four vectors of two elements each, in order. */
FR8_INLINE void fr8_to_pairs(__m512i z[4], fr8 x) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                  high = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    const __m512i even = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                  odd = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    __m512i word[4];
    fr8_join(word, x);
    __m512i a = _mm512_permutex2var_epi64(word[0], low, word[1]),
            b = _mm512_permutex2var_epi64(word[0], high, word[1]);
    __m512i c = _mm512_permutex2var_epi64(word[2], low, word[3]),
            d = _mm512_permutex2var_epi64(word[2], high, word[3]);
    z[0] = _mm512_permutex2var_epi64(a, even, c);
    z[1] = _mm512_permutex2var_epi64(a, odd, c);
    z[2] = _mm512_permutex2var_epi64(b, even, d);
    z[3] = _mm512_permutex2var_epi64(b, odd, d);
}

/* Eight consecutive elements, in lane order: any limbs below 2^256 -> tight. */
FR8_INLINE fr8 fr8_load(const fr *p) {
    return fr8_from_pairs(_mm512_loadu_si512(p), _mm512_loadu_si512(p + 2), _mm512_loadu_si512(p + 4),
                          _mm512_loadu_si512(p + 6));
}
/* Lane k from p[k * stride]. */
FR8_INLINE fr8 fr8_gather(const fr *p, size_t stride) {
    __m512i z[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m256i low = _mm256_loadu_si256((const __m256i *)(p + 2 * (size_t)i * stride));
        z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low),
                                  _mm256_loadu_si256((const __m256i *)(p + (2 * (size_t)i + 1) * stride)), 1);
    }
    return fr8_from_pairs(z[0], z[1], z[2], z[3]);
}
/* Tight and below 2^256; fr's contract asks for fully reduced values. */
FR8_INLINE void fr8_store(fr *p, fr8 x) {
    __m512i z[4];
    fr8_to_pairs(z, x);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) _mm512_storeu_si512(p + 2 * i, z[i]);
}
/* The same around the caches; p is aligned to 64. Before other threads may see it: _mm_sfence. */
FR8_INLINE void fr8_stream(fr *p, fr8 x) {
    __m512i z[4];
    fr8_to_pairs(z, x);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) _mm512_stream_si512((void *)(p + 2 * i), z[i]);
}
/* As fr8_store, with lane k to p[k * stride]. */
FR8_INLINE void fr8_scatter(fr *p, size_t stride, fr8 x) {
    __m512i z[4];
    fr8_to_pairs(z, x);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(p + 2 * i * stride), _mm512_castsi512_si256(z[i]));
        _mm256_storeu_si256((__m256i *)(p + (2 * i + 1) * stride), _mm512_extracti64x4_epi64(z[i], 1));
    }
}
FR8_INLINE fr8 fr8_broadcast(const fr *a) {
    __m512i word[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) word[i] = fr8_word(a->l[i]);
    return fr8_split(word);
}

/*
 * Preparing factors (fr_ifma.c). With m = w 2^260 mod r: w 2^260 = quotient r + m, so that
 * quotient = -m / r mod 2^260.
 */
/* The factor for a constant in the Montgomery form of fr.h. */
void fr8_factor_set(fr8_factor *out, const fr *w);
/* Eight factors, from loose values in Montgomery form for 2^260. */
void fr8_lane_factor_set(fr8_lane_factor *out, fr8 w_mont);

#endif
