/*
 * Adding points to buckets in batches.
 *
 * A worker is the scratch of one thread at a time. A batch holds distinct buckets; a point whose bucket is in
 * the open batch already is deferred. Deferred points are sorted by bucket and added up pairwise in a tree,
 * so that any distribution of digits, all points in one bucket too, costs one batched addition a point.
 */
#ifndef CUZK_MSM_BUCKET_H
#define CUZK_MSM_BUCKET_H

#include "msm/kernel.h"
#include "msm/terms.h"

#define MSM_DEFERRED 8192u

/* The buckets of one window: bucket b holds the sum of the points whose digit is b + 1 or -(b + 1). */
typedef struct msm_buckets {
    uint8_t *points;
    uint64_t *occupied; /* bit b: bucket b is not the identity */
} msm_buckets;

/* A point, its sign in the low bit (MSM_NEGATE), and where it goes. */
typedef struct msm_entry {
    uintptr_t point;
    uint32_t bucket;
} msm_entry;

/* Points that only have to be added up: a batch of running sums, and a batch of points waiting to be added to
 * them. */
typedef struct msm_heap {
    uint8_t *running, *waiting;
    size_t n_running, n_waiting;
} msm_heap;

typedef struct msm_worker {
    const msm_kernel *kernel;
    /* The open batch and the one before it, which is complete but still to be run: its points are fetched
     * while the batch before it is computed. */
    msm_pair *pairs, *ready;
    uint32_t *targets, *ready_targets;
    size_t n_pairs, n_ready;
    void *scratch;
    uint64_t *in_batch; /* bitmap of buckets */
    uint64_t *deferred; /* bucket << 32 | point number << 1 | sign */
    uint64_t *sorted;
    size_t n_deferred;
    msm_entry *entries;
    uint8_t *sums; /* MSM_DEFERRED points */

    msm_heap heaps[MSM_SUMS]; /* of each sum, where it is a scalar one */

    msm_block_terms *terms;
    const void **bases;
} msm_worker;

/* Bytes that a worker needs for `buckets` buckets a window and that many sums. */
size_t msm_worker_bytes(const msm_kernel *k, size_t buckets, size_t sums);
/* Lay the worker out in zeroed memory of that size, aligned to 64 bytes. */
void msm_worker_init(msm_worker *w, const msm_kernel *k, size_t buckets, size_t sums, void *memory);

/* Points in kernel form and their recoded scalars. */
typedef struct msm_terms {
    const uint8_t *points;
    const fr_repr *scalars;
} msm_terms;

/* Add the points [begin, end), end < 2^31, to the buckets of their digits in one window. bucket_bits: digits
 * are at most 2^bucket_bits; of a damaged scalar that has larger ones the sum is wrong and nothing else. */
void msm_fill_buckets(msm_worker *w, const msm_buckets *buckets, const msm_terms *terms, size_t begin,
                      size_t end, const msm_window *window, unsigned bucket_bits);

/* Room on a heap for n <= batch points, to be written there at once and then handed over. from (or NULL):
 * where the n bases are that they will be made of; these are fetched into the cache beside what is to be
 * added before there is room. */
uint8_t *msm_heap_room(msm_worker *w, msm_heap *h, size_t n, const void *const *from);
void msm_heap_take(const msm_worker *w, msm_heap *h, size_t n);
/* *sum += all points handed over. */
void msm_heap_drain(msm_worker *w, msm_heap *h, msm_sum *sum);

#endif
