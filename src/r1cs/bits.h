/*
 * Packed bits: bit i of an array is bit i % 64 of word i / 64, which on this little-endian target is also
 * bit i % 8 of byte i / 8.
 */
#ifndef CUZK_R1CS_BITS_H
#define CUZK_R1CS_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline size_t bits_words(size_t bits) {
    return (bits + 63) / 64;
}
static inline bool bits_get(const uint64_t *words, size_t i) {
    return words[i / 64] >> i % 64 & 1;
}
static inline void bits_set(uint64_t *words, size_t i) {
    words[i / 64] |= (uint64_t)1 << i % 64;
}
/* The n lowest bits, n <= 64. */
static inline uint64_t bits_mask(unsigned n) {
    return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

/* What bits_load may read past the last bit, in words. */
#define BITS_SLACK 2u

/* 64 bits from bit `at`. Reads up to 9 bytes from byte at / 8. */
static inline uint64_t bits_load(const uint64_t *words, size_t at) {
    const uint8_t *from = (const uint8_t *)words + at / 8;
    uint64_t low;
    memcpy(&low, from, sizeof low);
    unsigned shift = at % 8;
    return low >> shift | (uint64_t)from[8] << 1 << (63 - shift);
}

/* words[at ..] |= the n low bits of value, n <= 64; value has no other bits. */
static inline void bits_or(uint64_t *words, size_t at, uint64_t value, unsigned n) {
    unsigned shift = at % 64;
    words[at / 64] |= value << shift;
    if (shift + n > 64) words[at / 64 + 1] |= value >> (64 - shift);
}

/* Appends bits one after another. `words` must have room for everything put, and one word more. */
typedef struct bit_writer {
    uint64_t *words;  /* the next one to store */
    uint64_t pending; /* the low `fill` bits, not yet stored */
    unsigned fill;    /* 0..63 */
} bit_writer;

/* Append the n low bits of `bits`, n <= 64; it has no other bits. */
static inline void bits_put(bit_writer *w, uint64_t bits, unsigned n) {
    w->pending |= bits << w->fill;
    if (w->fill + n < 64) {
        w->fill += n;
        return;
    }
    *w->words++ = w->pending;
    w->pending = w->fill ? bits >> (64 - w->fill) : 0;
    w->fill = w->fill + n - 64;
}

/* Append n zeros. */
static inline void bits_put_zeros(bit_writer *w, size_t n) {
    for (; n > 64; n -= 64) bits_put(w, 0, 64);
    bits_put(w, 0, (unsigned)n);
}

/* Make everything put so far readable (the rest of its word is zero); more may be put after it. */
static inline void bits_flush(const bit_writer *w) {
    if (w->fill) *w->words = w->pending;
}

#endif
