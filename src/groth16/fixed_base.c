/*
 * A scalar is cut into signed digits, |d| <= 2^(bits-1). Window by window, the table entry of each digit is
 * added to each of a batch of affine sums. An affine addition needs the inverse of a difference of x: all
 * differences of a batch are multiplied up and inverted at once (Montgomery's trick), which makes it five
 * multiplications and a squaring.
 */
#include "groth16/fixed_base.h"

#include <string.h>

#include "base/mem.h"

enum { MIN_BITS = 4, MAX_BITS = 16, MAX_WINDOWS = 255 / MIN_BITS + 1, FILL = 512, AHEAD = 16 };

/* Scalars have 255 bits; the top window must have a bit to spare for the carry. */
static unsigned window_count(unsigned bits) {
    return 255 / bits + 1;
}

/* The least work: an addition a window for each multiple; a table entry costs about three. */
static unsigned choose_bits(uint64_t multiples) {
    unsigned best = MIN_BITS;
    uint64_t best_cost = UINT64_MAX;
    for (unsigned bits = MIN_BITS; bits <= MAX_BITS; bits++) {
        uint64_t cost = window_count(bits) * (multiples + ((uint64_t)3 << (bits - 1)));
        if (cost < best_cost) {
            best_cost = cost;
            best = bits;
        }
    }
    return best;
}

/* Bits [at, at + count) of k, count <= 16; bits from 256 on are zero. */
static size_t scalar_bits(const fr_repr *k, unsigned at, unsigned count) {
    unsigned word = at / 64, shift = at % 64;
    uint64_t value = word < 4 ? k->l[word] >> shift : 0;
    if (shift + count > 64 && word < 3) value |= k->l[word + 1] << (64 - shift);
    return value & (((uint64_t)1 << count) - 1);
}

static inline void prefetch(const void *memory, size_t size) {
    for (size_t at = 0; at < size; at += 64) __builtin_prefetch((const char *)memory + at);
    __builtin_prefetch((const char *)memory + size - 1);
}

#define POINT         g1
#define AFFINE        g1_affine
#define COORD         fp
#define COORD_ONE     FP_ONE
#define TABLE         fixed_base_g1
#define SCRATCH_BYTES FIXED_BASE_G1_SCRATCH
#define P(name)       g1_##name
#define F(name)       fp_##name
#define FB(name)      fixed_base_g1_##name
#include "groth16/fixed_base_template.h"
#undef POINT
#undef AFFINE
#undef COORD
#undef COORD_ONE
#undef TABLE
#undef SCRATCH_BYTES
#undef P
#undef F
#undef FB

#define POINT         g2
#define AFFINE        g2_affine
#define COORD         fp2
#define COORD_ONE     FP2_ONE
#define TABLE         fixed_base_g2
#define SCRATCH_BYTES FIXED_BASE_G2_SCRATCH
#define P(name)       g2_##name
#define F(name)       fp2_##name
#define FB(name)      fixed_base_g2_##name
#include "groth16/fixed_base_template.h"
