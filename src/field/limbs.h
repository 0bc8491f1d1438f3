/* 64-bit limb arithmetic shared by both fields, in C. Little-endian limb order; n is 4 or 6. */
#ifndef CUZK_FIELD_LIMBS_H
#define CUZK_FIELD_LIMBS_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 limb2;

/* Low word of a + b + *carry; *carry becomes the high word (0 or 1). */
static inline uint64_t limb_add(uint64_t a, uint64_t b, uint64_t *carry) {
    limb2 t = (limb2)a + b + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}

/* Low word of a - b - *borrow; *borrow becomes 0 or 1. */
static inline uint64_t limb_sub(uint64_t a, uint64_t b, uint64_t *borrow) {
    limb2 t = (limb2)a - b - *borrow;
    *borrow = (uint64_t)(t >> 64) & 1;
    return (uint64_t)t;
}

/* Low word of a * b + c + *carry; *carry becomes the high word. Cannot overflow. */
static inline uint64_t limb_mac(uint64_t a, uint64_t b, uint64_t c, uint64_t *carry) {
    limb2 t = (limb2)a * b + c + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}

/* a < b? */
static inline bool limbs_less(const uint64_t *a, const uint64_t *b, int n) {
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) (void)limb_sub(a[i], b[i], &borrow);
    return borrow == 1;
}

/* out = t - m if t >= m, else t. out may be t. */
static inline void limbs_reduce_once(uint64_t *out, const uint64_t *t, const uint64_t *m, int n) {
    uint64_t borrow = 0, s[6];
    for (int i = 0; i < n; i++) s[i] = limb_sub(t[i], m[i], &borrow);
    uint64_t keep = (uint64_t)0 - borrow;
    for (int i = 0; i < n; i++) out[i] = (t[i] & keep) | (s[i] & ~keep);
}

/* out = a + b mod m, and a - b mod m, for a, b < m < 2^(64 n - 1). out may alias. */
static inline void limbs_add_mod(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                                 int n) {
    uint64_t carry = 0, t[6];
    for (int i = 0; i < n; i++) t[i] = limb_add(a[i], b[i], &carry);
    limbs_reduce_once(out, t, m, n);
}

static inline void limbs_sub_mod(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                                 int n) {
    uint64_t borrow = 0, carry = 0, t[6];
    for (int i = 0; i < n; i++) t[i] = limb_sub(a[i], b[i], &borrow);
    uint64_t mask = (uint64_t)0 - borrow;
    for (int i = 0; i < n; i++) out[i] = limb_add(t[i], m[i] & mask, &carry);
}

#endif
