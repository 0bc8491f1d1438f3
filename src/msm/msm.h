/*
 * Multi-scalar multiplication: out = sum_i k_i P_i over G1 or G2.
 *
 * Scalars are plain integers below r. Bases are either affine points in memory or the uncompressed encodings
 * of a parameter file, read in place (decoded chunk by chunk, so a mapped file is never copied whole). Zero
 * scalars, one scalars, repeated, opposite and identity points are all allowed; the result is exact and does
 * not depend on the number of threads or the code variant.
 */
#ifndef CUZK_MSM_MSM_H
#define CUZK_MSM_MSM_H

#include "base/pool.h"
#include "base/progress.h"
#include "curve/g1.h"
#include "curve/g2.h"

typedef struct msm_bases {
    /* n g1_affine or g2_affine, or (encoded) n times 96 or 192 bytes with any alignment. */
    const void *points;
    size_t n;
    bool encoded;
} msm_bases;

/* Which scalars have a base. selected = NULL: all, and scalars has bases->n elements. Otherwise bit i of the
 * bitmap (word i/64, bit i%64) tells whether scalars[i], 0 <= i < n, has one; the k-th selected scalar
 * belongs to base k, and the number of set bits must equal bases->n. */
typedef struct msm_scalars {
    const fr_repr *values;
    size_t n;
    const uint64_t *selected;
} msm_scalars;

/* CUZK_ERR_PARAMS when an encoded base is malformed, off the curve or the identity; err->offset is then the
 * byte offset of that base from bases->points. A base whose scalar is zero is never looked at, so nothing is
 * said of a bad one there. CUZK_ERR_CANCELLED when the pool is a cancelled lane. CUZK_ERR_RESOURCES when
 * scratch does not fit. progress (may be NULL) is reported as `phase` with done and total in bases. */
cuzk_code msm_g1(g1 *out, const msm_bases *bases, const msm_scalars *scalars, pool *p,
                 const cuzk_progress *progress, const char *phase, cuzk_error *err);
cuzk_code msm_g2(g2 *out, const msm_bases *bases, const msm_scalars *scalars, pool *p,
                 const cuzk_progress *progress, const char *phase, cuzk_error *err);

/* n sums over the same bases in one pass over them, or in several when the memory is too small: out[i] is
 * that of scalars[i]. All have the same n, and what `selected` of the first one selects. An error is that of
 * all. */
cuzk_code msm_g1_many(g1 *out, const msm_bases *bases, const msm_scalars *scalars, size_t n, pool *p,
                      const cuzk_progress *progress, const char *phase, cuzk_error *err);
cuzk_code msm_g2_many(g2 *out, const msm_bases *bases, const msm_scalars *scalars, size_t n, pool *p,
                      const cuzk_progress *progress, const char *phase, cuzk_error *err);

#endif
