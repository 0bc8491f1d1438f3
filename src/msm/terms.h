/*
 * The terms of a sum, sorted by what they cost. Scalars come in blocks of MSM_BLOCK; per block the bases and
 * the scalars that need the bucket method (neither zero nor one) are counted once, so that every block knows
 * where its bases begin and where its results go, whichever thread takes it. Sums over the same bases are
 * taken together: a term needs the bucket method when it does for one of them.
 *
 * The scalar k of such a term is stored for digit extraction without carries: k > r/2 is replaced by r - k
 * with the sign in bit 255, then a bias of half a digit is added to every digit but the top one. With windows
 * of c bits, digit w is then bits [cw, cw + c) minus 2^(c-1), in [-2^(c-1), 2^(c-1)); the top one is not
 * negative and at most 2^(c-1).
 */
#ifndef CUZK_MSM_TERMS_H
#define CUZK_MSM_TERMS_H

#include "base/pool.h"
#include "msm/msm.h"

#define MSM_BLOCK 1024u

typedef struct msm_block {
    uint64_t bases;   /* before the block */
    uint64_t general; /* bucket-method terms before the block */
} msm_block;

/* blocks has msm_block_count(n) + 1 elements; the last holds the totals. marks, of msm_marks_bytes, are what
 * msm_sort_block needs to know of the scalars, so that these are read from memory only once. */
size_t msm_block_count(size_t scalars);
size_t msm_marks_bytes(size_t scalars, size_t sums);
void msm_count_blocks(msm_block *blocks, uint64_t *marks, const msm_scalars *scalars, size_t sums, pool *p);

/* The terms of one block that are not zero in all sums: base numbers; for those where all scalars are bits,
 * bit s of `who` for sum s; and where the others' scalars stand in the block. */
typedef struct msm_block_terms {
    size_t n_ones, n_general;
    /* One element more than can be in use: some are written before it is known whether they count. */
    uint64_t ones[MSM_BLOCK + 1];
    uint8_t who[MSM_BLOCK + 1];
    uint64_t general[MSM_BLOCK + 1];
    uint32_t places[MSM_BLOCK + 1];
} msm_block_terms;

/* At most so many sums at a time. */
#define MSM_SUMS 8u

void msm_sort_block(msm_block_terms *out, const msm_scalars *scalars, size_t sums, const msm_block *blocks,
                    const uint64_t *marks, size_t block);

/* How scalars are cut into digits. */
typedef struct msm_digits {
    unsigned bits, windows;
    fr_repr bias;
} msm_digits;

/* 2 <= bits <= MSM_MAX_WINDOW. */
#define MSM_MAX_WINDOW 20u
void msm_digits_init(msm_digits *out, unsigned bits);

/* Plain scalars to the form above, in place. */
void msm_recode(fr_repr *scalars, size_t n, const msm_digits *digits);

/* Digit w of scalar s is ((the 8 bytes at byte s + `byte`) >> shift & mask) - bias. The read may go up to 7
 * bytes past the scalar. */
typedef struct msm_window {
    unsigned byte, shift;
    uint64_t mask;
    int64_t bias;
} msm_window;
void msm_window_init(msm_window *out, const msm_digits *digits, unsigned w);

#endif
