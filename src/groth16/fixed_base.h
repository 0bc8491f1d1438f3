/*
 * Many multiples of one point: tables of all signed digits of every window, so that a multiple costs one
 * affine addition a window, and inversions shared by a whole batch.
 */
#ifndef CUZK_GROTH16_FIXED_BASE_H
#define CUZK_GROTH16_FIXED_BASE_H

#include "base/pool.h"
#include "curve/g1.h"
#include "curve/g2.h"

/* The most scalars one call takes; fewer share their inversions less well. */
#define FIXED_BASE_BATCH 2048u

typedef struct fixed_base_g1 {
    g1_affine *table; /* windows rows of 2^(bits-1): entry d-1 of row j is d * 2^(bits*j) * base */
    unsigned bits, windows;
} fixed_base_g1;

typedef struct fixed_base_g2 {
    g2_affine *table;
    unsigned bits, windows;
} fixed_base_g2;

/* Tables of a size that pays for about `multiples` multiplications, at most 48 MiB for G1 and 96 MiB for G2,
 * from mem_big_alloc. base is not the identity. */
cuzk_code fixed_base_g1_create(fixed_base_g1 *out, const g1_affine *base, uint64_t multiples, pool *p,
                               cuzk_error *err);
cuzk_code fixed_base_g2_create(fixed_base_g2 *out, const g2_affine *base, uint64_t multiples, pool *p,
                               cuzk_error *err);
void fixed_base_g1_free(fixed_base_g1 *t);
void fixed_base_g2_free(fixed_base_g2 *t);

/* Scratch of one call, for one thread at a time. */
#define FIXED_BASE_G1_SCRATCH (FIXED_BASE_BATCH * 112u)
#define FIXED_BASE_G2_SCRATCH (FIXED_BASE_BATCH * 208u)

/* out[i] = k[i] * base for n <= FIXED_BASE_BATCH plain integers below r. */
void fixed_base_g1_mul(g1_affine *out, const fixed_base_g1 *t, const fr_repr *k, size_t n, void *scratch);
void fixed_base_g2_mul(g2_affine *out, const fixed_base_g2 *t, const fr_repr *k, size_t n, void *scratch);

#endif
