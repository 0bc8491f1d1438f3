/* 64-bit limb arithmetic shared by the portable code of both fields. Little-endian limb order. */
#ifndef CUZK_FIELD_LIMBS_H
#define CUZK_FIELD_LIMBS_H

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

#endif
