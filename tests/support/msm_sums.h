/*
 * Sums under test, in both groups. Bases are small multiples d_i G, so that sum k_i d_i mod r gives the
 * result by one multiplication; small multiples also collide constantly: equal and opposite points meet in
 * buckets and in the additions after. Include after cmocka.h: what is wrong fails the running test.
 */
#ifndef CUZK_TEST_MSM_SUMS_H
#define CUZK_TEST_MSM_SUMS_H

#include "msm/msm.h"

#define MULTIPLES 20000u
#define MAX_BYTES G2_UNCOMPRESSED

/* One group behind byte encodings, so that every test is written once. */
typedef struct group {
    const char *vector_key;
    size_t affine_bytes, encoded_bytes;
    void *multiples; /* affine; number i is i G */
    void (*make_multiples)(void *affine, size_t n);
    void (*negate)(void *affine);
    void (*encode)(uint8_t *out, const void *affine);
    void (*mul_generator)(uint8_t *out, const fr *k);
    /* n sums with msm_many, or with n = 0 one with msm; encoded one after the other. */
    cuzk_code (*msm)(uint8_t *out, const msm_bases *bases, const msm_scalars *scalars, size_t n, pool *p,
                     const cuzk_progress *progress, cuzk_error *err);
} group;

extern group *const groups[2];
extern pool *pools[4]; /* 1, 2, 3 and 8 threads */

/* Make and free the above. */
bool sums_begin(void);
void sums_end(void);

/* splitmix64 */
extern uint64_t random_state;
uint64_t random_u64(void);
void random_scalar(fr_repr *out);
fr_repr small_scalar(uint64_t k);
fr_repr negative_scalar(uint64_t k); /* r - k */

/* A sum of n terms k_i (d_i G) under test; d_i < 0 means -(|d_i| G), 0 the identity. */
typedef struct sum {
    size_t n;
    int *d;
    fr_repr *k;
} sum;

sum make_sum(size_t n);
void free_sum(sum *s);
void expected(uint8_t *out, const group *g, const sum *s);

/* The bases in memory, or encoded at an odd address. Free *memory. */
msm_bases make_bases(const group *g, const sum *s, bool encoded, void **memory);

/* The sum is as expected. */
void check_with(const group *g, const sum *s, pool *p, bool encoded);
void check(const group *g, const sum *s);

#endif
