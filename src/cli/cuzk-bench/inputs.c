#include "inputs.h"

#include <stdlib.h>

#include "hash/digest.h"

/* Points made from one scalar multiplication, then normalized with one inversion. */
#define RUN 1024u

static void put_u64(uint8_t out[8], uint64_t value) {
    for (unsigned i = 0; i < 8; i++) out[i] = (uint8_t)(value >> (8 * i));
}

static void derive(uint8_t out[32], uint64_t seed, uint64_t i) {
    uint8_t text[33] = "cuzk bench scalar";
    put_u64(text + 17, seed);
    put_u64(text + 25, i);
    sha256_once(out, text, sizeof text);
}

void input_scalar(fr_repr *out, uint64_t seed, uint64_t i) {
    uint8_t bytes[32];
    derive(bytes, seed, i);
    bytes[31] &= 0x3f;
    memcpy(out, bytes, sizeof bytes);
}

void input_witness(fr_repr *out, uint64_t seed, uint64_t i) {
    if (i % 61 == 60) {
        input_scalar(out, seed, i);
        return;
    }
    uint8_t bytes[32];
    derive(bytes, seed, i);
    *out = (fr_repr){{bytes[0] >= 133}};
}

typedef struct scalar_job {
    fr_repr *plain;
    fr *montgomery;
    uint64_t seed;
    bool witness;
} scalar_job;

static void make_scalars(void *ctx, size_t begin, size_t end) {
    const scalar_job *job = ctx;
    for (size_t i = begin; i < end; i++) {
        fr_repr value;
        (job->witness ? input_witness : input_scalar)(&value, job->seed, i);
        if (job->plain)
            job->plain[i] = value;
        else
            fr_from_repr(&job->montgomery[i], &value);
    }
}

void input_scalars(fr_repr *out, size_t n, uint64_t seed, bool witness, pool *p) {
    scalar_job job = {.plain = out, .seed = seed, .witness = witness};
    pool_for(p, n, RUN, make_scalars, &job);
}

void input_elements(fr *out, size_t n, uint64_t seed, pool *p) {
    scalar_job job = {.montgomery = out, .seed = seed};
    pool_for(p, n, RUN, make_scalars, &job);
}

static void progression(fr *start, fr *step, uint64_t seed) {
    fr_repr plain;
    input_scalar(&plain, seed, UINT64_MAX);
    fr_from_repr(start, &plain);
    input_scalar(&plain, seed, UINT64_MAX - 1);
    fr_from_repr(step, &plain);
}

typedef struct base_job {
    void *out;
    fr start, step;
    g1_affine step_g1;
    g2_affine step_g2;
    bool no_memory; /* only ever set to true; read when all are done */
} base_job;

/* The exponent of base i. */
static void exponent(fr *out, const base_job *job, uint64_t i) {
    fr_from_u64(out, i);
    fr_mul(out, out, &job->step);
    fr_add(out, out, &job->start);
}

static void make_g1(void *ctx, size_t begin, size_t end) {
    base_job *job = ctx;
    g1 *points = malloc((end - begin) * sizeof *points);
    fp *scratch = malloc((end - begin) * sizeof *scratch);
    if (points && scratch) {
        g1_affine generator;
        fr e;
        g1_generator(&generator);
        g1_from_affine(&points[0], &generator);
        exponent(&e, job, begin);
        g1_mul_fr(&points[0], &points[0], &e);
        for (size_t i = 1; i < end - begin; i++) g1_add_mixed(&points[i], &points[i - 1], &job->step_g1);
        g1_to_affine_n((g1_affine *)job->out + begin, points, end - begin, scratch);
    } else {
        __atomic_store_n(&job->no_memory, true, __ATOMIC_RELAXED);
    }
    free(points);
    free(scratch);
}

static void make_g2(void *ctx, size_t begin, size_t end) {
    base_job *job = ctx;
    g2 *points = malloc((end - begin) * sizeof *points);
    fp2 *scratch = malloc((end - begin) * sizeof *scratch);
    if (points && scratch) {
        g2_affine generator;
        fr e;
        g2_generator(&generator);
        g2_from_affine(&points[0], &generator);
        exponent(&e, job, begin);
        g2_mul_fr(&points[0], &points[0], &e);
        for (size_t i = 1; i < end - begin; i++) g2_add_mixed(&points[i], &points[i - 1], &job->step_g2);
        g2_to_affine_n((g2_affine *)job->out + begin, points, end - begin, scratch);
    } else {
        __atomic_store_n(&job->no_memory, true, __ATOMIC_RELAXED);
    }
    free(points);
    free(scratch);
}

static cuzk_code run_job(base_job *job, size_t n, pool_fn make, size_t point_bytes, pool *p,
                         cuzk_error *err) {
    pool_for(p, n, RUN, make, job);
    if (!job->no_memory) return CUZK_OK;
    return error_no_memory(err, RUN * point_bytes, "points of a benchmark");
}

cuzk_code input_bases_g1(g1_affine *out, size_t n, uint64_t seed, pool *p, cuzk_error *err) {
    base_job job = {.out = out};
    progression(&job.start, &job.step, seed);
    g1 point;
    g1_generator(&job.step_g1);
    g1_from_affine(&point, &job.step_g1);
    g1_mul_fr(&point, &point, &job.step);
    g1_to_affine(&job.step_g1, &point);
    return run_job(&job, n, make_g1, sizeof(g1), p, err);
}

cuzk_code input_bases_g2(g2_affine *out, size_t n, uint64_t seed, pool *p, cuzk_error *err) {
    base_job job = {.out = out};
    progression(&job.start, &job.step, seed);
    g2 point;
    g2_generator(&job.step_g2);
    g2_from_affine(&point, &job.step_g2);
    g2_mul_fr(&point, &point, &job.step);
    g2_to_affine(&job.step_g2, &point);
    return run_job(&job, n, make_g2, sizeof(g2), p, err);
}

void input_expected(fr *out, const fr_repr *scalars, size_t n, uint64_t seed) {
    fr sum = FR_ZERO, weighted = FR_ZERO, start, step;
    for (size_t i = 0; i < n; i++) {
        fr value, index;
        fr_from_repr(&value, &scalars[i]);
        fr_add(&sum, &sum, &value);
        fr_from_u64(&index, i);
        fr_mul(&value, &value, &index);
        fr_add(&weighted, &weighted, &value);
    }
    progression(&start, &step, seed);
    fr_mul(&sum, &sum, &start);
    fr_mul(&weighted, &weighted, &step);
    fr_add(out, &sum, &weighted);
}
