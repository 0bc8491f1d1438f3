/* From filled buckets to the sum: per window sum_b (b + 1) B_b, then the windows by doubling. */
#ifndef CUZK_MSM_REDUCE_H
#define CUZK_MSM_REDUCE_H

#include "base/pool.h"
#include "msm/bucket.h"

/* All buckets of one sum: `groups` sets of windows, each over part of the points. */
typedef struct msm_table {
    const msm_kernel *kernel;
    size_t groups, windows, buckets; /* buckets a window, a power of two */
    uint8_t *points;                 /* [group][window][bucket] */
    uint64_t *occupied;              /* [group][window], each rounded up to whole words */
} msm_table;

msm_buckets msm_table_window(const msm_table *t, size_t group, size_t window);

/* The work of summing up a window is cut into segments of neighbouring buckets, which advance in step so that
 * their additions share inversions. The number of segments a window, a power of two. */
size_t msm_reduce_segments(const msm_table *t, unsigned threads);
/* About how long msm_reduce takes with so many. */
double msm_reduce_ns(const msm_table *t, size_t segments, unsigned threads);
/* Bytes of scratch: zeroed, aligned to 64. */
size_t msm_reduce_bytes(const msm_table *t, size_t segments);

/* *out = sum over windows of 2^(bits * window) times the window's sum. Workers are lent through lend and
 * return. */
typedef struct msm_lender msm_lender;
msm_worker *msm_lend(msm_lender *lender);
void msm_return(msm_lender *lender, msm_worker *w);

void msm_reduce(msm_sum *out, const msm_table *t, unsigned bits, size_t segments, void *scratch,
                msm_lender *lender, pool *p);

#endif
