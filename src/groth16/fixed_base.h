/*
 * Many multiples of one point, over the kernels of msm/: a table of all signed digits of every window, so
 * that a multiple costs one affine addition a window, in batches that share their inversions.
 */
#ifndef CUZK_GROTH16_FIXED_BASE_H
#define CUZK_GROTH16_FIXED_BASE_H

#include "base/pool.h"
#include "msm/kernel.h"

/* The most scalars one call takes; fewer share their inversions less well. */
#define FIXED_BASE_BATCH 1024u

typedef struct fixed_base {
    const msm_kernel *kernel;
    /* windows rows of 2^(bits-1) points of the kernel: entry d-1 of row j is d * 2^(bits*j) * base */
    uint8_t *table;
    unsigned bits, windows;
} fixed_base;

/* `kernel` is msm_kernel_g1() or msm_kernel_g2(), base a g1_affine or g2_affine that is not the identity. The
 * table has a size that pays for about `multiples` multiplications, at most 2^19 points, and comes from
 * mem_big_alloc. */
cuzk_code fixed_base_create(fixed_base *out, const msm_kernel *kernel, const void *base, uint64_t multiples,
                            pool *p, cuzk_error *err);
void fixed_base_free(fixed_base *t);

/* Bytes of scratch that one call needs, aligned to 64. */
size_t fixed_base_scratch_bytes(const msm_kernel *kernel);

/* out[i] = k[i] * base, affine, for n <= FIXED_BASE_BATCH plain integers below r. */
void fixed_base_mul(void *out, const fixed_base *t, const fr_repr *k, size_t n, void *scratch);

#endif
