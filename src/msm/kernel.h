/*
 * What the bucket method needs of a group and a code variant. A kernel stores affine points in a form of its
 * own (`point_bytes` each, aligned to 64 bytes); all zero bytes are the identity. Additions come in batches
 * that share one inversion, so that an affine addition costs six multiplications.
 */
#ifndef CUZK_MSM_KERNEL_H
#define CUZK_MSM_KERNEL_H

#include "curve/g1.h"
#include "curve/g2.h"

/* *out = *a + *b, or *a - *b when MSM_NEGATE is set in b. The operands are not the identity; out may be one
 * of them. Within a batch no point that is written belongs to another pair. */
typedef struct msm_pair {
    void *out;
    const void *a;
    uintptr_t b;
} msm_pair;

#define MSM_NEGATE ((uintptr_t)1)

/* About what the inversion of a batch costs. */
#define MSM_INVERSION_NS 2500.0

/* About how long a thread may be busy without looking whether it is needed elsewhere. */
#define MSM_PIECE_NS 1.2e7

/* A Jacobian sum: little work is done in it. */
typedef union msm_sum {
    g1 in_g1;
    g2 in_g2;
} msm_sum;

typedef struct msm_kernel {
    size_t point_bytes;
    size_t affine_bytes, encoded_bytes; /* of a base in memory and of an encoded one */
    size_t batch;                       /* pairs in one call of add, at most */
    size_t scratch_bytes;               /* for add */
    double add_ns;                      /* about what an addition costs in a batch, to plan the work */
    double sum_ns;                      /* the same in Jacobian coordinates */

    /* Convert n bases; a base that is the identity becomes zero bytes. */
    void (*load)(void *out, const void *const *affine, size_t n);
    /* Decode n bases; encoding, curve equation and not the identity are checked. The index of the first one
     * refused, or n. What is written from there on is unspecified. */
    size_t (*decode)(void *out, const uint8_t *const *encoded, size_t n);
    /* Back to an affine point, of a point in kernel form that came from load or is a sum of such. */
    void (*store)(void *affine, const void *point);
    point_status (*explain)(const uint8_t *encoded); /* POINT_OK for the identity */

    /* One batch, n >= 1. True when a sum is the identity. Meanwhile the points of the batch that will come
     * next are fetched into the cache; next may be NULL. */
    bool (*add)(const msm_pair *pairs, size_t n, void *scratch, const msm_pair *next, size_t n_next);
    void (*copy)(void *out, const void *point, bool negate);

    /* Sums stand for points in kernel form until they are finished. */
    void (*sum_clear)(msm_sum *sum);
    void (*sum_dbl)(msm_sum *sum);
    void (*sum_add)(msm_sum *sum, const msm_sum *term);
    void (*sum_add_point)(msm_sum *sum, const void *point); /* the identity adds nothing */
    /* From a sum of points that came from decode, or else from load, to the group's own. */
    void (*sum_finish)(msm_sum *sum, bool decoded);
} msm_kernel;

/* Pairs in a batch of the kernels over single elements. */
#define MSM_SCALAR_BATCH 512u

extern const msm_kernel msm_g1_scalar, msm_g2_scalar;
extern const msm_kernel msm_g1_ifma, msm_g2_ifma; /* only where cpu_best() is CPU_IFMA */

/* The kernel for the selected code variant (field.isa). */
const msm_kernel *msm_kernel_g1(void);
const msm_kernel *msm_kernel_g2(void);

/* Fetch a cache line. The empty assembly keeps the compiler from dropping loops of nothing but prefetches. */
static inline void msm_fetch(const void *line) {
    __builtin_prefetch(line);
    __asm__ volatile("");
}

bool msm_point_is_identity(const msm_kernel *k, const void *point);

#endif
