/* The passes with eight lanes of AVX-512 IFMA. Values between passes are below 2r, inside a pass below 35r.
 */
#include "field/fr8.h"
#include "ntt/variant.h"

#define LANES    FR8_LANES
#define INLINE   FR8_INLINE
#define PREFETCH 2

typedef fr8 vec;
typedef fr8_factor factor;
typedef fr8_lane_factor lane_factor;

INLINE void vec_load(vec *out, const fr *p) {
    *out = fr8_load(p);
}
INLINE void vec_gather(vec *out, const fr *p, size_t stride) {
    *out = fr8_gather(p, stride);
}
/* Eight constants as an operand of vec_mul: Montgomery form for 2^260, that is 16 times fr's. */
INLINE void vec_multiplier(vec *out, const fr *p) {
    fr8 a = fr8_load(p);
    for (int i = 0; i < 5; i++) a.l[i] = _mm512_slli_epi64(a.l[i], 4);
    *out = fr8_reduce(a);
}
INLINE void vec_add(vec *out, const vec *a, const vec *b) {
    *out = fr8_add(*a, *b);
}
INLINE void vec_sub(vec *out, const vec *a, const vec *b, unsigned k) {
    *out = fr8_sub(*a, *b, k);
}
INLINE void vec_reduce(vec *x) {
    *x = fr8_reduce(*x);
}
INLINE void vec_scale(vec *out, const vec *a, const factor *f) {
    *out = fr8_scale(fr8_tighten(*a), f);
}
INLINE void vec_scale_tight(vec *out, const vec *a, const factor *f) {
    *out = fr8_scale(*a, f);
}
INLINE void vec_scale_lanes(vec *out, const vec *a, const lane_factor *f) {
    *out = fr8_scale_lanes(*a, f);
}
INLINE void vec_mul(vec *out, const vec *a, const vec *b) {
    *out = fr8_mul(fr8_tighten(*a), *b);
}
INLINE void store(fr *p, fr8 x, bool stream) {
    if (stream)
        fr8_stream(p, x);
    else
        fr8_store(p, x);
}
INLINE void vec_store_scaled(fr *p, const vec *a, const factor *f, bool stream) {
    store(p, fr8_scale(fr8_tighten(*a), f), stream);
}
INLINE void vec_scatter_scaled(fr *p, size_t stride, const vec *a, const factor *f) {
    fr8_scatter(p, stride, fr8_scale(fr8_tighten(*a), f));
}
INLINE void vec_store_multiplied(fr *p, const vec *a, const vec *b, bool stream) {
    store(p, fr8_mul(fr8_tighten(*a), *b), stream);
}
/* Stores around the caches keep no order with others: what tells another thread of them must come after. */
INLINE void vec_end_stores(bool stream) {
    if (stream) _mm_sfence();
}
INLINE void vec_store_canonical(fr *p, const vec *a) {
    fr8_store(p, fr8_canonical(*a));
}
INLINE void vec_store_scaled_canonical(fr *p, const vec *a, const factor *f) {
    fr8_store(p, fr8_reduce_once(fr8_scale(fr8_tighten(*a), f)));
}

static void factor_set(factor *out, const fr *w) {
    fr8_factor_set(out, w);
}
static void lane_factor_set(lane_factor *out, const fr *w) {
    vec multiplier;
    vec_multiplier(&multiplier, w);
    fr8_lane_factor_set(out, multiplier);
}

/* out[i] = first * ratio^i; n is a multiple of 8. */
static void factor_powers(factor *out, size_t n, const fr *first, const fr *ratio) {
    fr lanes[LANES];
    lanes[0] = *first;
    for (size_t i = 1; i < LANES; i++) fr_mul(&lanes[i], &lanes[i - 1], ratio);
    fr step = *ratio;
    for (int i = 0; i < 3; i++) fr_sqr(&step, &step);
    fr8_factor step_factor;
    fr8_factor_set(&step_factor, &step);
    vec power;
    vec_multiplier(&power, lanes);
    for (size_t i = 0; i < n; i += LANES) {
        fr8_lane_factor eight;
        fr8_lane_factor_set(&eight, power);
        for (size_t l = 0; l < LANES; l++)
            for (size_t j = 0; j < 5; j++) {
                out[i + l].w[j] = ((const uint64_t *)&eight.w.l[j])[l];
                out[i + l].quotient[j] = ((const uint64_t *)&eight.quotient.l[j])[l];
            }
        power = fr8_scale(power, &step_factor);
    }
}

#include "ntt/passes.h"

const ntt_variant ntt_ifma = {.product_shift = 4, NTT_PASSES};
