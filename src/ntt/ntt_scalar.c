/* The passes with one element at a time through the operations of fr.h. */
#include "ntt/variant.h"

#define LANES    1u
#define INLINE   static inline __attribute__((always_inline))
#define PREFETCH 1

typedef fr vec;
typedef fr factor;
typedef fr lane_factor;

INLINE void vec_load(vec *out, const fr *p) {
    *out = *p;
}
INLINE void vec_gather(vec *out, const fr *p, size_t stride) {
    (void)stride;
    *out = *p;
}
INLINE void vec_multiplier(vec *out, const fr *p) {
    *out = *p;
}
INLINE void vec_add(vec *out, const vec *a, const vec *b) {
    fr_add(out, a, b);
}
INLINE void vec_sub(vec *out, const vec *a, const vec *b, unsigned k) {
    (void)k;
    fr_sub(out, a, b);
}
INLINE void vec_reduce(vec *x) {
    (void)x;
}
INLINE void vec_scale(vec *out, const vec *a, const factor *f) {
    fr_mul(out, a, f);
}
INLINE void vec_scale_tight(vec *out, const vec *a, const factor *f) {
    fr_mul(out, a, f);
}
INLINE void vec_scale_lanes(vec *out, const vec *a, const lane_factor *f) {
    fr_mul(out, a, f);
}
INLINE void vec_mul(vec *out, const vec *a, const vec *b) {
    fr_mul(out, a, b);
}
INLINE void vec_store_scaled(fr *p, const vec *a, const factor *f, bool stream) {
    (void)stream;
    fr_mul(p, a, f);
}
INLINE void vec_scatter_scaled(fr *p, size_t stride, const vec *a, const factor *f) {
    (void)stride;
    fr_mul(p, a, f);
}
INLINE void vec_store_multiplied(fr *p, const vec *a, const vec *b, bool stream) {
    (void)stream;
    fr_mul(p, a, b);
}
INLINE void vec_end_stores(bool stream) {
    (void)stream;
}
INLINE void vec_store_canonical(fr *p, const vec *a) {
    *p = *a;
}
INLINE void vec_store_scaled_canonical(fr *p, const vec *a, const factor *f) {
    fr_mul(p, a, f);
}

static void factor_set(factor *out, const fr *w) {
    *out = *w;
}
static void lane_factor_set(lane_factor *out, const fr *w) {
    *out = *w;
}
static void factor_powers(factor *out, size_t n, const fr *first, const fr *ratio) {
    out[0] = *first;
    for (size_t i = 1; i < n; i++) fr_mul(&out[i], &out[i - 1], ratio);
}

#include "ntt/passes.h"

const ntt_variant ntt_scalar = {.product_shift = 0, NTT_PASSES};
