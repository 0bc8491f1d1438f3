/*
 * The circuit is synthesized once, which leaves the polynomials' values at tau in three vectors. Everything
 * after that is multiples of the two generators, computed in chunks on all threads and written in file order.
 */
#include "groth16/setup.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "groth16/fixed_base.h"
#include "groth16/qap.h"
#include "groth16/srs.h"
#include "groth16/vk.h"

#define G2_UNITS 3u /* an addition in G2 takes about three times as long as one in G1 */

/* What one thread needs while it makes a batch of points. */
typedef struct slot {
    fr_repr scalars[FIXED_BASE_BATCH];
    union {
        g1_affine g1[FIXED_BASE_BATCH];
        g2_affine g2[FIXED_BASE_BATCH];
    } points;
    atomic_flag busy;
    _Alignas(64) uint8_t scratch[]; /* for fixed_base_mul in either group */
} slot;

/* The scalars of a section: values[i], or factor * base^i when values is NULL. */
typedef struct scalar_source {
    const fr *values;
    fr base, factor;
} scalar_source;

typedef struct setup {
    const toxic_waste *waste;
    pool *p;
    const cuzk_progress *progress;
    cuzk_error *err;
    file_writer params, vk;
    qap q;
    srs_shape shape;
    fixed_base table; /* of the generator in use */
    uint8_t *slots;   /* one a thread */
    size_t slot_bytes, slot_count;
    uint8_t *chunk; /* encoded points, before they are written */
    size_t chunk_points;
    uint64_t units_done, units;
} setup;

typedef struct chunk_job {
    setup *s;
    const scalar_source *source;
    size_t first; /* index of the chunk's first point in its section */
} chunk_job;

cuzk_code toxic_waste_random(toxic_waste *out, cuzk_error *err) {
    fr *const elements[] = {&out->alpha, &out->beta, &out->gamma, &out->delta, &out->tau};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        do {
            TRY(fr_random(elements[i], err));
        } while (fr_is_zero(elements[i]));
    }
    return CUZK_OK;
}

void toxic_waste_wipe(toxic_waste *w) {
    mem_wipe(w, sizeof *w);
}

static cuzk_code check_waste(const toxic_waste *w, cuzk_error *err) {
    const struct {
        const char *name;
        const fr *value;
    } elements[] = {{"alpha", &w->alpha},
                    {"beta", &w->beta},
                    {"gamma", &w->gamma},
                    {"delta", &w->delta},
                    {"tau", &w->tau}};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (fr_is_zero(elements[i].value))
            return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "toxic waste: %s is zero",
                             elements[i].name);
    return CUZK_OK;
}

/* No more threads run a loop at once than the pool has, so one slot is always free. */
static slot *take_slot(setup *s) {
    for (size_t i = 0;; i = (i + 1) % s->slot_count) {
        slot *candidate = (slot *)(s->slots + i * s->slot_bytes);
        if (!atomic_flag_test_and_set(&candidate->busy)) return candidate;
    }
}

static void release_slot(slot *taken) {
    atomic_flag_clear(&taken->busy);
}

static void take_scalars(fr_repr *out, const scalar_source *source, size_t first, size_t n) {
    if (source->values) {
        fr_to_repr_n(out, source->values + first, n);
        return;
    }
    fr value;
    fr_pow_u64(&value, &source->base, first);
    fr_mul(&value, &value, &source->factor);
    for (size_t i = 0; i < n; i++) {
        fr_to_repr(&out[i], &value);
        fr_mul(&value, &value, &source->base);
    }
}

static void make_g1(void *ctx, size_t begin, size_t end) {
    const chunk_job *job = ctx;
    slot *mine = take_slot(job->s);
    size_t n = end - begin;
    take_scalars(mine->scalars, job->source, job->first + begin, n);
    fixed_base_mul(mine->points.g1, &job->s->table, mine->scalars, n, mine->scratch);
    uint8_t *out = job->s->chunk + begin * G1_UNCOMPRESSED;
    for (size_t i = 0; i < n; i++) g1_encode(out + i * G1_UNCOMPRESSED, &mine->points.g1[i]);
    release_slot(mine);
}

static void make_g2(void *ctx, size_t begin, size_t end) {
    const chunk_job *job = ctx;
    slot *mine = take_slot(job->s);
    size_t n = end - begin;
    take_scalars(mine->scalars, job->source, job->first + begin, n);
    fixed_base_mul(mine->points.g2, &job->s->table, mine->scalars, n, mine->scratch);
    uint8_t *out = job->s->chunk + begin * G2_UNCOMPRESSED;
    for (size_t i = 0; i < n; i++) g2_encode(out + i * G2_UNCOMPRESSED, &mine->points.g2[i]);
    release_slot(mine);
}

typedef struct group {
    pool_fn make;
    size_t encoded; /* bytes of a point */
    uint64_t units; /* of progress for a point */
} group;
static const group in_g1 = {make_g1, G1_UNCOMPRESSED, 1}, in_g2 = {make_g2, G2_UNCOMPRESSED, G2_UNITS};

/* n points after one another, to the parameter file. */
static cuzk_code write_points(setup *s, const scalar_source *source, size_t n, const group *in) {
    for (size_t done = 0; done < n; done += s->chunk_points) {
        TRY(progress_report(s->progress, "points", s->units_done, s->units, s->err));
        size_t count = n - done < s->chunk_points ? n - done : s->chunk_points;
        chunk_job job = {.s = s, .source = source, .first = done};
        pool_for(s->p, count, FIXED_BASE_BATCH, in->make, &job);
        TRY(pool_check(s->p, s->err));
        TRY(file_write(&s->params, s->chunk, count * in->encoded, s->err));
        s->units_done += count * in->units;
    }
    return CUZK_OK;
}

static cuzk_code write_section(setup *s, const scalar_source *source, size_t n, const group *in) {
    uint8_t count[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    TRY(file_write(&s->params, count, sizeof count, s->err));
    return write_points(s, source, n, in);
}

typedef struct combine_job {
    qap *q;
    fr alpha, beta, gamma_inv, delta_inv;
    _Atomic uint64_t first_zero;
} combine_job;

/* w = (beta u + alpha v + w) / gamma for inputs, / delta for aux: the scalars of ic and l. */
static void combine(void *ctx, size_t begin, size_t end) {
    combine_job *job = ctx;
    qap *q = job->q;
    for (size_t i = begin; i < end; i++) {
        fr sum, term;
        fr_mul(&sum, &q->u[i], &job->beta);
        fr_mul(&term, &q->v[i], &job->alpha);
        fr_add(&sum, &sum, &term);
        fr_add(&sum, &sum, &q->w[i]);
        fr_mul(&q->w[i], &sum, i < q->shape.inputs ? &job->gamma_inv : &job->delta_inv);
        if (!fr_is_zero(&q->w[i])) continue;
        uint64_t seen = atomic_load(&job->first_zero);
        while (i < seen && !atomic_compare_exchange_weak(&job->first_zero, &seen, i)) {
        }
    }
}

static cuzk_code combine_all(setup *s, const char *circuit) {
    combine_job job = {.q = &s->q, .alpha = s->waste->alpha, .beta = s->waste->beta};
    job.first_zero = UINT64_MAX;
    fr_inv(&job.gamma_inv, &s->waste->gamma);
    fr_inv(&job.delta_inv, &s->waste->delta);
    pool_for(s->p, qap_variables(&s->q), 1 << 14, combine, &job);
    uint64_t zero = job.first_zero, inputs = s->q.shape.inputs;
    mem_wipe(&job, sizeof job);
    TRY(pool_check(s->p, s->err));
    if (zero == UINT64_MAX) return CUZK_OK;
    return error_set(s->err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                     "circuit %s: %s %" PRIu64 " is in no constraint", circuit,
                     zero < inputs ? "input" : "aux variable", zero < inputs ? zero : zero - inputs);
}

/* Move the nonzero values to the front, in order; the rest would be identities. */
static size_t drop_zeros(fr *values, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!fr_is_zero(&values[i])) values[kept++] = values[i];
    return kept;
}

static cuzk_code write_vk(setup *s, const g1_affine *g1_base, const g2_affine *g2_base) {
    size_t size = vk_bytes(s->shape.inputs);
    verifying_key k = {.ic = malloc(s->shape.inputs * sizeof(g1_affine)), .ic_count = s->shape.inputs};
    uint8_t *bytes = malloc(size);
    cuzk_code code = CUZK_OK;
    if (k.ic && bytes) {
        const struct {
            g1_affine *out;
            const fr *k;
        } g1_parts[] = {
            {&k.alpha_g1, &s->waste->alpha}, {&k.beta_g1, &s->waste->beta}, {&k.delta_g1, &s->waste->delta}};
        for (int i = 0; i < 3; i++) {
            g1 point;
            g1_from_affine(&point, g1_base);
            g1_mul_fr(&point, &point, g1_parts[i].k);
            g1_to_affine(g1_parts[i].out, &point);
        }
        const struct {
            g2_affine *out;
            const fr *k;
        } g2_parts[] = {
            {&k.beta_g2, &s->waste->beta}, {&k.gamma_g2, &s->waste->gamma}, {&k.delta_g2, &s->waste->delta}};
        for (int i = 0; i < 3; i++) {
            g2 point;
            g2_from_affine(&point, g2_base);
            g2_mul_fr(&point, &point, g2_parts[i].k);
            g2_to_affine(g2_parts[i].out, &point);
        }
        slot *mine = take_slot(s);
        scalar_source source = {.values = s->q.w};
        for (size_t i = 0; i < k.ic_count; i += FIXED_BASE_BATCH) {
            size_t n = k.ic_count - i < FIXED_BASE_BATCH ? k.ic_count - i : FIXED_BASE_BATCH;
            take_scalars(mine->scalars, &source, i, n);
            fixed_base_mul(k.ic + i, &s->table, mine->scalars, n, mine->scratch);
        }
        release_slot(mine);
        vk_encode(bytes, &k);
        code = file_write(&s->params, bytes, size, s->err);
        if (code == CUZK_OK) code = file_write(&s->vk, bytes, size, s->err);
    } else {
        code = error_no_memory(s->err, size + s->shape.inputs * sizeof(g1_affine), "the verifying key");
    }
    free(bytes);
    free(k.ic);
    return code;
}

static cuzk_code allocate_buffers(setup *s) {
    void *memory;
    s->slot_count = pool_threads(s->p);
    s->chunk_points = (size_t)FIXED_BASE_BATCH * (s->slot_count > 4 ? 4 * s->slot_count : 16);
    size_t g1_bytes = fixed_base_scratch_bytes(msm_kernel_g1()),
           g2_bytes = fixed_base_scratch_bytes(msm_kernel_g2());
    s->slot_bytes = sizeof(slot) + (g1_bytes > g2_bytes ? g1_bytes : g2_bytes);
    TRY(mem_big_alloc(&memory, s->slot_count * s->slot_bytes, "the scratch of the threads", s->err));
    s->slots = memory;
    for (size_t i = 0; i < s->slot_count; i++)
        atomic_flag_clear(&((slot *)(s->slots + i * s->slot_bytes))->busy);
    TRY(mem_big_alloc(&memory, s->chunk_points * G2_UNCOMPRESSED, "points to be written", s->err));
    s->chunk = memory;
    return CUZK_OK;
}

static cuzk_code write_g1_sections(setup *s, const g1_affine *base, const g2_affine *g2_base) {
    uint64_t h = ((uint64_t)1 << s->shape.log_domain) - 1;
    TRY(fixed_base_create(&s->table, msm_kernel_g1(), base,
                          h + s->shape.inputs + s->shape.aux + s->shape.a + s->shape.b, s->p, s->err));
    TRY(write_vk(s, base, g2_base));

    /* h_i = tau^i (tau^m - 1) / delta */
    fr delta_inv;
    scalar_source powers = {.base = s->waste->tau};
    fr_pow_u64(&powers.factor, &s->waste->tau, h + 1);
    fr_sub(&powers.factor, &powers.factor, &FR_ONE);
    fr_inv(&delta_inv, &s->waste->delta);
    fr_mul(&powers.factor, &powers.factor, &delta_inv);
    cuzk_code code = write_section(s, &powers, h, &in_g1);
    mem_wipe(&powers, sizeof powers);
    mem_wipe(&delta_inv, sizeof delta_inv);
    if (code != CUZK_OK) return code;

    scalar_source l = {.values = s->q.w + s->shape.inputs}, a = {.values = s->q.u}, b = {.values = s->q.v};
    TRY(write_section(s, &l, s->shape.aux, &in_g1));
    TRY(write_section(s, &a, s->shape.a, &in_g1));
    TRY(write_section(s, &b, s->shape.b, &in_g1));
    fixed_base_free(&s->table);
    return CUZK_OK;
}

static cuzk_code run(setup *s, const r1cs_circuit *circuit, const char *params_path, const char *vk_path) {
    TRY(check_waste(s->waste, s->err));
    TRY(file_write_begin(&s->params, params_path, 0, s->err));
    TRY(file_write_begin(&s->vk, vk_path, 0, s->err));
    TRY(allocate_buffers(s));
    TRY(qap_evaluate(&s->q, circuit, &s->waste->tau, s->progress, s->err));
    TRY(combine_all(s, circuit->name));

    size_t variables = qap_variables(&s->q);
    s->shape = (srs_shape){.inputs = s->q.shape.inputs, .aux = s->q.shape.aux, .log_domain = s->q.log_domain};
    s->shape.a = drop_zeros(s->q.u, variables);
    s->shape.b = drop_zeros(s->q.v, variables);
    s->units =
        ((uint64_t)1 << s->shape.log_domain) - 1 + s->shape.aux + s->shape.a + (1 + G2_UNITS) * s->shape.b;
    TRY(file_write_expect(&s->params, srs_bytes(&s->shape), s->err));

    g1_affine g1_base;
    g2_affine g2_base;
    g1_generator(&g1_base);
    g2_generator(&g2_base);
    TRY(write_g1_sections(s, &g1_base, &g2_base));
    TRY(fixed_base_create(&s->table, msm_kernel_g2(), &g2_base, s->shape.b, s->p, s->err));
    scalar_source b = {.values = s->q.v};
    TRY(write_section(s, &b, s->shape.b, &in_g2));
    TRY(progress_report(s->progress, "points", s->units, s->units, s->err));
    TRY(file_write_commit(&s->vk, s->err));
    return file_write_commit(&s->params, s->err);
}

cuzk_code groth16_setup(const r1cs_circuit *circuit, const toxic_waste *waste, const char *params_path,
                        const char *vk_path, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    setup s = {.waste = waste, .p = p, .progress = progress, .err = err};
    cuzk_code code = run(&s, circuit, params_path, vk_path);
    fixed_base_free(&s.table);
    if (s.slots) mem_wipe(s.slots, s.slot_count * s.slot_bytes);
    mem_big_free(s.slots, s.slot_count * s.slot_bytes);
    mem_big_free(s.chunk, s.chunk_points * G2_UNCOMPRESSED);
    qap_free(&s.q);
    file_write_abort(&s.vk);
    file_write_abort(&s.params);
    return code;
}
