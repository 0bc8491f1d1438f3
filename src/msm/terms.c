#include "msm/terms.h"

size_t msm_block_count(size_t scalars) {
    return scalars / MSM_BLOCK + (scalars % MSM_BLOCK != 0);
}

/* Is scalar i of every sum a bit? Then those of which it is one are in *who. */
static inline bool all_bits(unsigned *who, const msm_scalars *scalars, size_t sums, size_t i) {
    uint64_t high = 0, ones = 0;
    for (size_t k = 0; k < sums; k++) {
        const fr_repr *s = &scalars[k].values[i];
        high |= s->l[0] >> 1 | s->l[1] | s->l[2] | s->l[3];
        ones |= (s->l[0] & 1) << k;
    }
    *who = (unsigned)ones;
    return high == 0;
}

static size_t block_end(const msm_scalars *scalars, size_t block) {
    size_t begin = block * MSM_BLOCK;
    return scalars->n - begin < MSM_BLOCK ? scalars->n : begin + MSM_BLOCK;
}

/* The selection bits of the scalars [begin, end), begin a multiple of 64 and end - begin <= 64. */
static uint64_t selection(const msm_scalars *scalars, size_t begin, size_t end) {
    uint64_t all = end - begin == 64 ? UINT64_MAX : ((uint64_t)1 << (end - begin)) - 1;
    return scalars->selected ? scalars->selected[begin / 64] & all : all;
}

typedef struct counting {
    msm_block *blocks;
    const msm_scalars *scalars;
    size_t sums;
} counting;

static inline __attribute__((always_inline)) void count_block(msm_block *out, const msm_scalars *scalars,
                                                              size_t sums, size_t block) {
    size_t stop = block_end(scalars, block);
    *out = (msm_block){0, 0};
    for (size_t i = block * MSM_BLOCK; i < stop; i += 64) {
        uint64_t word = selection(scalars, i, stop - i < 64 ? stop : i + 64);
        out->bases += (uint64_t)__builtin_popcountll(word);
        unsigned who;
        for (; word; word &= word - 1)
            out->general += !all_bits(&who, scalars, sums, i + (size_t)__builtin_ctzll(word));
    }
}

static void count_blocks(void *ctx, size_t begin, size_t end) {
    const counting *c = ctx;
    for (size_t block = begin; block < end; block++)
        if (c->sums == 1)
            count_block(&c->blocks[block], c->scalars, 1, block);
        else
            count_block(&c->blocks[block], c->scalars, c->sums, block);
}

void msm_count_blocks(msm_block *blocks, const msm_scalars *scalars, size_t sums, pool *p) {
    size_t n = msm_block_count(scalars->n);
    counting c = {blocks, scalars, sums};
    pool_for(p, n, 16, count_blocks, &c);
    msm_block sum = {0, 0};
    for (size_t i = 0; i < n; i++) {
        msm_block own = blocks[i];
        blocks[i] = sum;
        sum.bases += own.bases;
        sum.general += own.general;
    }
    blocks[n] = sum;
}

static inline __attribute__((always_inline)) void sort_block(msm_block_terms *out, const msm_scalars *scalars,
                                                             size_t sums, const msm_block *blocks,
                                                             size_t block) {
    size_t start = block * MSM_BLOCK, stop = block_end(scalars, block), n_ones = 0, n_general = 0;
    uint64_t base = blocks[block].bases;
    for (size_t i = start; i < stop; i += 64) {
        uint64_t word = selection(scalars, i, stop - i < 64 ? stop : i + 64);
        for (; word; word &= word - 1, base++) {
            size_t at = i + (size_t)__builtin_ctzll(word);
            unsigned who;
            if (all_bits(&who, scalars, sums, at)) {
                /* Written always and kept when one: the bits of a witness are too random for a branch. */
                out->ones[n_ones] = base;
                out->who[n_ones] = (uint8_t)who;
                n_ones += who != 0;
            } else {
                out->general[n_general] = base;
                out->places[n_general++] = (uint32_t)(at - start);
            }
        }
    }
    out->n_ones = n_ones;
    out->n_general = n_general;
}

void msm_sort_block(msm_block_terms *out, const msm_scalars *scalars, size_t sums, const msm_block *blocks,
                    size_t block) {
    if (sums == 1)
        sort_block(out, scalars, 1, blocks, block);
    else
        sort_block(out, scalars, sums, blocks, block);
}

void msm_digits_init(msm_digits *out, unsigned bits) {
    *out = (msm_digits){.bits = bits, .windows = (255 + bits - 1) / bits};
    for (unsigned w = 0; w + 1 < out->windows; w++) {
        unsigned bit = w * bits + bits - 1;
        out->bias.l[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

void msm_recode(fr_repr *scalars, size_t n, const msm_digits *digits) {
    static const fr_repr half = {
        {0x7fffffff80000000u, 0xa9ded2017fff2dffu, 0x199cec0404d0ec02u, 0x39f6d3a994cebea4u}}; /* (r-1)/2 */
    for (size_t i = 0; i < n; i++) {
        uint64_t borrow = 0, carry = 0, *k = scalars[i].l;
        for (int j = 0; j < 4; j++) (void)limb_sub(half.l[j], k[j], &borrow);
        uint64_t negate = (uint64_t)0 - borrow;
        /* k or r - k: complement, then add r + 1. */
        uint64_t t = borrow;
        for (int j = 0; j < 4; j++) {
            uint64_t modulus = limb_add(FR_MODULUS.l[j], 0, &t);
            k[j] = limb_add(k[j] ^ negate, modulus & negate, &carry);
        }
        k[3] &= UINT64_MAX >> 2; /* true of a scalar below r: a fault may spoil the sum, never memory */
        carry = 0;
        for (int j = 0; j < 4; j++) k[j] = limb_add(k[j], digits->bias.l[j], &carry);
        k[3] |= borrow << 63;
    }
}

void msm_window_init(msm_window *out, const msm_digits *digits, unsigned w) {
    unsigned bit = w * digits->bits;
    bool top = w + 1 == digits->windows;
    unsigned width = top ? 255 - bit : digits->bits;
    *out = (msm_window){.byte = bit / 8,
                        .shift = bit % 8,
                        .mask = ((uint64_t)1 << width) - 1,
                        .bias = top ? 0 : (int64_t)1 << (digits->bits - 1)};
}
