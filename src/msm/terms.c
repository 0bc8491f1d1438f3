#include "msm/terms.h"

size_t msm_block_count(size_t scalars) {
    return scalars / MSM_BLOCK + (scalars % MSM_BLOCK != 0);
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

#define WORDS (MSM_BLOCK / 64)
#define AHEAD 4096 /* bytes of scalars that are fetched ahead of their use */

size_t msm_marks_bytes(size_t scalars, size_t sums) {
    return msm_block_count(scalars) * (sums + 1) * WORDS * sizeof(uint64_t);
}

/* The marks of a block: WORDS words for the general terms, then as many for each sum's ones. */
static size_t marks_of(size_t sums, size_t block) {
    return block * (sums + 1) * WORDS;
}

typedef struct counting {
    msm_block *blocks;
    uint64_t *marks;
    const msm_scalars *scalars;
    size_t sums;
} counting;

static inline uint64_t is_general(const fr_repr *s) {
    return (s->l[0] >> 1 | s->l[1] | s->l[2] | s->l[3]) != 0;
}

/* The marks of up to 64 scalars. Without branches on the values: the bits of a witness are too random. */
static inline void mark_word(uint64_t *ones, uint64_t *general, const fr_repr *values, uint64_t word) {
    uint64_t o = 0, g = 0;
    if (word == UINT64_MAX) {
        for (size_t z = 0; z < 64; z++) { /* into the top, from where it moves down to its place */
            if (z % 2 == 0) __builtin_prefetch((const char *)(values + z) + AHEAD);
            o = o >> 1 | values[z].l[0] << 63;
            g = g >> 1 | is_general(&values[z]) << 63;
        }
    } else {
        for (; word; word &= word - 1) {
            unsigned z = (unsigned)__builtin_ctzll(word);
            o |= (values[z].l[0] & 1) << z;
            g |= is_general(&values[z]) << z;
        }
    }
    *ones = o;
    *general |= g;
}

static void count_block(const counting *c, size_t block) {
    size_t stop = block_end(c->scalars, block);
    uint64_t *general = c->marks + marks_of(c->sums, block);
    msm_block count = {0, 0};
    for (size_t i = block * MSM_BLOCK, at = 0; i < stop; i += 64, at++) {
        uint64_t word = selection(c->scalars, i, stop - i < 64 ? stop : i + 64), all = 0;
        for (size_t k = 0; k < c->sums; k++)
            mark_word(&general[(k + 1) * WORDS + at], &all, c->scalars[k].values + i, word);
        general[at] = all;
        count.bases += (uint64_t)__builtin_popcountll(word);
        count.general += (uint64_t)__builtin_popcountll(all);
    }
    c->blocks[block] = count;
}

static void count_blocks(void *ctx, size_t begin, size_t end) {
    for (size_t block = begin; block < end; block++) count_block(ctx, block);
}

void msm_count_blocks(msm_block *blocks, uint64_t *marks, const msm_scalars *scalars, size_t sums, pool *p) {
    size_t n = msm_block_count(scalars->n);
    counting c = {blocks, marks, scalars, sums};
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

static inline unsigned whose(const uint64_t *ones, size_t sums, unsigned z) {
    unsigned who = 0;
    for (size_t k = 0; k < sums; k++) who |= (unsigned)(ones[k * WORDS] >> z & 1) << k;
    return who;
}

/* One word of the selection, whose first base is `base`; the marks of its scalars, `any` those of ones. */
static inline __attribute__((always_inline)) void sort_word(msm_block_terms *out, uint64_t base,
                                                            uint32_t place, uint64_t word, uint64_t general,
                                                            uint64_t any, const uint64_t *ones, size_t sums) {
    size_t n_ones = out->n_ones, n_general = out->n_general;
    if (word == UINT64_MAX) {
        for (; any; any &= any - 1) {
            unsigned z = (unsigned)__builtin_ctzll(any);
            out->ones[n_ones] = base + z;
            out->who[n_ones++] = (uint8_t)whose(ones, sums, z);
        }
        for (; general; general &= general - 1) {
            unsigned z = (unsigned)__builtin_ctzll(general);
            out->general[n_general] = base + z;
            out->places[n_general++] = place + z;
        }
    } else {
        for (; word; word &= word - 1, base++) { /* written always, and kept where marked */
            unsigned z = (unsigned)__builtin_ctzll(word);
            out->ones[n_ones] = base;
            out->who[n_ones] = (uint8_t)whose(ones, sums, z);
            n_ones += any >> z & 1;
            out->general[n_general] = base;
            out->places[n_general] = place + z;
            n_general += general >> z & 1;
        }
    }
    out->n_ones = n_ones;
    out->n_general = n_general;
}

void msm_sort_block(msm_block_terms *out, const msm_scalars *scalars, size_t sums, const msm_block *blocks,
                    const uint64_t *marks, size_t block) {
    size_t start = block * MSM_BLOCK, stop = block_end(scalars, block);
    const uint64_t *general = marks + marks_of(sums, block), *ones = general + WORDS;
    uint64_t base = blocks[block].bases;
    out->n_ones = 0;
    out->n_general = 0;
    for (size_t i = start, at = 0; i < stop; i += 64, at++) {
        uint64_t word = selection(scalars, i, stop - i < 64 ? stop : i + 64), any = 0;
        for (size_t k = 0; k < sums; k++) any |= ones[k * WORDS + at];
        any &= ~general[at];
        if (sums == 1)
            sort_word(out, base, (uint32_t)(i - start), word, general[at], any, ones + at, 1);
        else
            sort_word(out, base, (uint32_t)(i - start), word, general[at], any, ones + at, sums);
        base += (uint64_t)__builtin_popcountll(word);
    }
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
