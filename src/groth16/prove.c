/*
 * The quotient comes first, because it needs the most memory: its three vectors become one, h, whose sum is
 * taken before the witness is looked at. Every vector is freed by the step that used it last.
 *
 * Proofs with the same key go through the steps together: their quotients one after the other, then each sum
 * over a section of the key for all of them at once. A proof that fails drops out; what is wrong with the
 * key, or stops the work, is the end of all that are left.
 */
#include "groth16/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "ntt/ntt.h"
#include "r1cs/density.h"

/* One of the proofs. */
typedef struct proving {
    assignment *w;
    const prove_options *options;
    fr_repr *inputs; /* plain integers */
    fr_repr *aux;    /* w->aux, turned into plain integers in place */
    g1 h, l, a, b_g1;
    g2 b_g2;
    groth16_proof proof;
    cuzk_code code; /* CUZK_OK while it goes on */
    cuzk_error err;
} proving;

typedef struct prover {
    const srs *params;
    pool *p;
    const cuzk_progress *progress;
    prove_timings *timings;
    proving *all;
    size_t n;
    /* Of those that go on. */
    proving **alive;
    msm_scalars *scalars;
    g1 *sums_g1;
    g2 *sums_g2;
    size_t n_alive;
} prover;

static void drop_failed(prover *pr) {
    size_t kept = 0;
    for (size_t i = 0; i < pr->n_alive; i++)
        if (pr->alive[i]->code == CUZK_OK) pr->alive[kept++] = pr->alive[i];
    pr->n_alive = kept;
}

static void fail_all(prover *pr, cuzk_code code, const cuzk_error *err) {
    for (size_t i = 0; i < pr->n_alive; i++) {
        pr->alive[i]->code = code;
        pr->alive[i]->err = *err;
    }
    pr->n_alive = 0;
}

/* --- the quotient -------------------------------------------------------------------------------------- */

static void convert_piece(void *ctx, size_t begin, size_t end) {
    fr *values = ctx;
    fr_to_repr_n((fr_repr *)values + begin, values + begin, end - begin);
}

/* Turn field elements into plain integers in place. */
static fr_repr *to_plain(fr *values, size_t n, pool *p) {
    pool_for(p, n, 1 << 14, convert_piece, values);
    fault_point("scalars", values, n * sizeof *values);
    return (fr_repr *)values;
}

static void free_vector(fr **vector, size_t n) {
    mem_big_free(*vector, n * sizeof(fr));
    *vector = NULL;
}

static cuzk_code quotient(assignment *w, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    size_t n = (size_t)1 << w->log_domain;
    ntt_domain *domain;
    TRY(ntt_domain_create(&domain, w->log_domain, p, err));
    w->padded = false;
    cuzk_code code = ntt_quotient(domain, w->a, w->b, w->c, p, progress, err);
    ntt_domain_destroy(domain);
    free_vector(&w->b, n);
    free_vector(&w->c, n);
    TRY(code);
    if (!fr_is_zero(&w->a[n - 1]))
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                         "self-check failed: the assignment does not satisfy the circuit");
    to_plain(w->a, n - 1, p);
    return pool_check(p, err);
}

cuzk_code groth16_quotient(assignment *w, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    cuzk_code code = quotient(w, p, progress, err);
    if (code == CUZK_OK) return CUZK_OK;
    assignment_free_values(w);
    free_vector(&w->aux, w->shape.aux);
    return code;
}

/* One of several quotients, reported as a part of all. */
typedef struct share {
    const cuzk_progress *progress;
    uint64_t index, count;
} share;

static bool report_share(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    const share *s = ctx;
    return progress_report(s->progress, phase, s->index * total + done, s->count * total, NULL) == CUZK_OK;
}

static void quotients(prover *pr) {
    double start = clock_seconds();
    for (size_t i = 0; i < pr->n_alive; i++) {
        proving *one = pr->alive[i];
        if (!one->w->b && !one->w->c) continue; /* by groth16_quotient */
        share part = {pr->progress, i, pr->n_alive};
        cuzk_progress progress = {report_share, &part};
        one->code = quotient(one->w, pr->p, &progress, &one->err);
        if (one->code == CUZK_OK) continue;
        assignment_free_values(one->w);
        free_vector(&one->w->aux, one->w->shape.aux);
        if (one->code == CUZK_ERR_CANCELLED) {
            cuzk_error stopped = one->err;
            fail_all(pr, CUZK_ERR_CANCELLED, &stopped);
        }
    }
    drop_failed(pr);
    pr->timings->quotient = clock_seconds() - start;
}

/* --- the sums ------------------------------------------------------------------------------------------ */

/* A bad point in the mapped file: say which file, and where in it. */
static cuzk_code locate(const prover *pr, cuzk_code code, const msm_bases *bases, cuzk_error *err) {
    if (code == CUZK_ERR_PARAMS) {
        if (err->offset != CUZK_NO_OFFSET)
            err->offset += (uint64_t)((const uint8_t *)bases->points - pr->params->file.data);
        snprintf(err->path, sizeof err->path, "%s", pr->params->file.path);
    }
    return code;
}

/* The scalars of one proof for one section of the key. */
typedef msm_scalars (*scalars_fn)(const proving *one);

static msm_scalars of_h(const proving *one) {
    return (msm_scalars){.values = (const fr_repr *)one->w->a, .n = ((size_t)1 << one->w->log_domain) - 1};
}
static msm_scalars of_inputs(const proving *one) {
    return (msm_scalars){.values = one->inputs, .n = one->w->shape.inputs};
}
static msm_scalars of_aux(const proving *one) {
    return (msm_scalars){.values = one->aux, .n = one->w->shape.aux};
}
static msm_scalars of_a_aux(const proving *one) {
    return (msm_scalars){one->aux, one->w->shape.aux, one->w->a_aux_density};
}
static msm_scalars of_b_inputs(const proving *one) {
    return (msm_scalars){one->inputs, one->w->shape.inputs, one->w->b_input_density};
}
static msm_scalars of_b_aux(const proving *one) {
    return (msm_scalars){one->aux, one->w->shape.aux, one->w->b_aux_density};
}

/* Add every proof's sum over these bases to the point of its own at that offset. */
static cuzk_code add_sums_g1(prover *pr, size_t where, msm_bases bases, scalars_fn scalars, const char *phase,
                             cuzk_error *err) {
    if (bases.n == 0 || pr->n_alive == 0) return CUZK_OK;
    for (size_t i = 0; i < pr->n_alive; i++) pr->scalars[i] = scalars(pr->alive[i]);
    TRY(locate(pr,
               msm_g1_many(pr->sums_g1, &bases, pr->scalars, pr->n_alive, pr->p, pr->progress, phase, err),
               &bases, err));
    for (size_t i = 0; i < pr->n_alive; i++) {
        g1 *sum = (g1 *)(void *)((char *)pr->alive[i] + where);
        g1_add(sum, sum, &pr->sums_g1[i]);
    }
    return CUZK_OK;
}

static cuzk_code add_sums_b_g2(prover *pr, msm_bases bases, scalars_fn scalars, cuzk_error *err) {
    if (bases.n == 0 || pr->n_alive == 0) return CUZK_OK;
    for (size_t i = 0; i < pr->n_alive; i++) pr->scalars[i] = scalars(pr->alive[i]);
    TRY(locate(
        pr, msm_g2_many(pr->sums_g2, &bases, pr->scalars, pr->n_alive, pr->p, pr->progress, "msm b_g2", err),
        &bases, err));
    for (size_t i = 0; i < pr->n_alive; i++)
        g2_add(&pr->alive[i]->b_g2, &pr->alive[i]->b_g2, &pr->sums_g2[i]);
    return CUZK_OK;
}

/* A section holds the points of inputs, then those of aux. */
static void split(msm_bases *inputs, msm_bases *aux, const msm_bases *section, size_t input_count,
                  size_t point_size) {
    *inputs = *aux = *section;
    inputs->n = input_count;
    aux->n = section->n - input_count;
    aux->points = (const uint8_t *)section->points + input_count * point_size;
}

static cuzk_code h_sums(prover *pr, cuzk_error *err) {
    double start = clock_seconds();
    cuzk_code code = add_sums_g1(pr, offsetof(proving, h), pr->params->h, of_h, "msm h", err);
    for (size_t i = 0; i < pr->n_alive; i++)
        free_vector(&pr->alive[i]->w->a, (size_t)1 << pr->alive[i]->w->log_domain);
    pr->timings->h = clock_seconds() - start;
    return code;
}

static cuzk_code witness_sums(prover *pr, cuzk_error *err) {
    const srs *params = pr->params;
    prove_timings *t = pr->timings;
    msm_bases in, aux;
    if (pr->n_alive == 0) return CUZK_OK;
    const size_t b_inputs = pr->alive[0]->w->b_input_count;

    double start = clock_seconds();
    for (size_t i = 0; i < pr->n_alive; i++) {
        proving *one = pr->alive[i];
        one->aux = to_plain(one->w->aux, one->w->shape.aux, pr->p);
        fr_to_repr_n(one->inputs, one->w->inputs, one->w->shape.inputs);
        fault_point("scalars", one->inputs, one->w->shape.inputs * sizeof(fr_repr));
    }
    TRY(add_sums_g1(pr, offsetof(proving, l), params->l, of_aux, "msm l", err));
    t->l = clock_seconds() - start;

    start = clock_seconds();
    split(&in, &aux, &params->a, params->shape.inputs, G1_UNCOMPRESSED);
    TRY(add_sums_g1(pr, offsetof(proving, a), in, of_inputs, "msm a", err));
    TRY(add_sums_g1(pr, offsetof(proving, a), aux, of_a_aux, "msm a", err));
    t->a = clock_seconds() - start;

    start = clock_seconds();
    split(&in, &aux, &params->b_g1, b_inputs, G1_UNCOMPRESSED);
    TRY(add_sums_g1(pr, offsetof(proving, b_g1), in, of_b_inputs, "msm b_g1", err));
    TRY(add_sums_g1(pr, offsetof(proving, b_g1), aux, of_b_aux, "msm b_g1", err));
    t->b_g1 = clock_seconds() - start;

    start = clock_seconds();
    split(&in, &aux, &params->b_g2, b_inputs, G2_UNCOMPRESSED);
    TRY(add_sums_b_g2(pr, in, of_b_inputs, err));
    TRY(add_sums_b_g2(pr, aux, of_b_aux, err));
    t->b_g2 = clock_seconds() - start;
    return CUZK_OK;
}

/* --- the proof ----------------------------------------------------------------------------------------- */

/* sum += k * point */
static void add_multiple(g1 *sum, const g1 *point, const fr *k) {
    g1 multiple;
    g1_mul_fr(&multiple, point, k);
    g1_add(sum, sum, &multiple);
    mem_wipe(&multiple, sizeof multiple);
}

static void assemble(groth16_proof *out, const proving *one, const verifying_key *k, const fr *r,
                     const fr *s) {
    g1 alpha, beta, delta;
    g1_from_affine(&alpha, &k->alpha_g1);
    g1_from_affine(&beta, &k->beta_g1);
    g1_from_affine(&delta, &k->delta_g1);

    /* A = alpha + r delta + A1 */
    g1 sum = one->a;
    g1_add(&sum, &sum, &alpha);
    add_multiple(&sum, &delta, r);
    g1_to_affine(&out->a, &sum);

    /* B = beta + s delta + B2 */
    g2 sum_g2, multiple;
    g2_from_affine(&multiple, &k->delta_g2);
    g2_mul_fr(&multiple, &multiple, s);
    g2_from_affine(&sum_g2, &k->beta_g2);
    g2_add(&sum_g2, &sum_g2, &one->b_g2);
    g2_add(&sum_g2, &sum_g2, &multiple);
    g2_to_affine(&out->b, &sum_g2);
    mem_wipe(&multiple, sizeof multiple);

    /* C = s (A1 + alpha) + r (B1 + beta) + r s delta + Hs + Ls */
    fr rs;
    g1 side;
    g1_add(&sum, &one->h, &one->l);
    g1_add(&side, &one->a, &alpha);
    add_multiple(&sum, &side, s);
    g1_add(&side, &one->b_g1, &beta);
    add_multiple(&sum, &side, r);
    fr_mul(&rs, r, s);
    add_multiple(&sum, &delta, &rs);
    g1_to_affine(&out->c, &sum);
    mem_wipe(&rs, sizeof rs);
}

static cuzk_code randomize(groth16_proof *out, proving *one, const verifying_key *k) {
    const prove_options *options = one->options;
    fr r = FR_ZERO, s = FR_ZERO;
    cuzk_code code = CUZK_OK;
    if (options && options->r)
        r = *options->r;
    else
        code = fr_random(&r, &one->err);
    if (options && options->s)
        s = *options->s;
    else if (code == CUZK_OK)
        code = fr_random(&s, &one->err);
    if (code == CUZK_OK) {
        assemble(out, one, k, &r, &s);
        fault_point("proof", out, sizeof *out);
    }
    mem_wipe(&r, sizeof r);
    mem_wipe(&s, sizeof s);
    return code;
}

/* What leaves here is what a verifier reads back and accepts. */
static cuzk_code self_check(proving *one, const groth16_proof *proof, const prover *pr) {
    const assignment *w = one->w;
    uint8_t bytes[PROOF_BYTES];
    cuzk_error why = {.code = CUZK_OK};
    proof_encode(bytes, proof);
    cuzk_code code = proof_decode(&one->proof, 1, bytes, sizeof bytes, NULL, &why);
    if (code == CUZK_OK)
        code =
            verify_proof(pr->params->verifier, &one->proof, w->inputs + 1, w->shape.inputs - 1, pr->p, &why);
    if (code == CUZK_ERR_PROOF || code == CUZK_ERR_INPUT)
        return error_set(&one->err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "self-check failed: %s",
                         why.message);
    if (code != CUZK_OK) one->err = why;
    return code;
}

static cuzk_code finish(prover *pr, cuzk_error *err) {
    double start = clock_seconds();
    const size_t n = pr->n_alive;
    for (size_t i = 0; i < n; i++) {
        proving *one = pr->alive[i];
        groth16_proof proof;
        free_vector(&one->w->aux, one->w->shape.aux);
        TRY(progress_report(pr->progress, "self-check", i, n, err));
        one->code = randomize(&proof, one, &pr->params->vk);
        if (one->code == CUZK_OK) one->code = self_check(one, &proof, pr);
    }
    drop_failed(pr);
    pr->timings->verify = clock_seconds() - start;
    return n > 0 ? progress_report(pr->progress, "self-check", n, n, err) : CUZK_OK;
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static bool same_variables(const assignment *a, const assignment *b) {
    return memcmp(a->a_aux_density, b->a_aux_density, density_words(a->shape.aux) * sizeof(uint64_t)) == 0 &&
           memcmp(a->b_aux_density, b->b_aux_density, density_words(a->shape.aux) * sizeof(uint64_t)) == 0 &&
           memcmp(a->b_input_density, b->b_input_density,
                  density_words(a->shape.inputs) * sizeof(uint64_t)) == 0;
}

/* Is it of the key's circuit, and of the same as the first that is? */
static cuzk_code start(prover *pr, proving *one) {
    srs_shape shape = srs_shape_of(one->w);
    TRY(srs_check_shape(pr->params, &shape, &one->err));
    if (pr->n_alive > 0 &&
        (pr->alive[0]->w->b_input_count != one->w->b_input_count || !same_variables(pr->alive[0]->w, one->w)))
        return error_set(&one->err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                         "assignments of different circuits in one batch of proofs");
    one->inputs = malloc(shape.inputs * sizeof(fr_repr));
    if (!one->inputs) return error_no_memory(&one->err, shape.inputs * sizeof(fr_repr), "the public inputs");
    g1_set_identity(&one->h);
    g1_set_identity(&one->l);
    g1_set_identity(&one->a);
    g1_set_identity(&one->b_g1);
    g2_set_identity(&one->b_g2);
    return CUZK_OK;
}

static void run(prover *pr) {
    cuzk_error err = {.code = CUZK_OK};
    for (size_t i = 0; i < pr->n; i++) {
        proving *one = &pr->all[i];
        one->code = start(pr, one);
        if (one->code == CUZK_OK) pr->alive[pr->n_alive++] = one;
    }
    cuzk_code code = file_map_check(&pr->params->file, &err);
    if (code == CUZK_OK) quotients(pr);
    if (code == CUZK_OK) code = h_sums(pr, &err);
    if (code == CUZK_OK) code = witness_sums(pr, &err);
    if (code == CUZK_OK) code = finish(pr, &err);
    if (code != CUZK_OK) fail_all(pr, code, &err);
}

static bool prover_create(prover *pr, size_t n) {
    pr->n = n;
    pr->all = calloc(n + 1, sizeof *pr->all);
    pr->alive = calloc(n + 1, sizeof *pr->alive);
    pr->scalars = calloc(n + 1, sizeof *pr->scalars);
    pr->sums_g1 = calloc(n + 1, sizeof *pr->sums_g1);
    pr->sums_g2 = calloc(n + 1, sizeof *pr->sums_g2);
    return pr->all && pr->alive && pr->scalars && pr->sums_g1 && pr->sums_g2;
}

static void prover_free(prover *pr) {
    for (size_t i = 0; pr->all && i < pr->n; i++) free(pr->all[i].inputs);
    free(pr->all);
    free(pr->alive);
    free(pr->scalars);
    free(pr->sums_g1);
    free(pr->sums_g2);
}

void groth16_prove_many(groth16_proof *out, cuzk_code *codes, cuzk_error *errs, const srs *params,
                        assignment *const *w, const prove_options *options, size_t n, pool *p,
                        const cuzk_progress *progress, prove_timings *timings) {
    double begin = clock_seconds();
    prove_timings unused;
    if (!timings) timings = &unused;
    *timings = (prove_timings){.total = 0};
    prover pr = {.params = params, .p = p, .progress = progress, .timings = timings};
    bool created = prover_create(&pr, n);
    for (size_t i = 0; i < n && created; i++) {
        pr.all[i].w = w[i];
        pr.all[i].options = options ? &options[i] : NULL;
    }
    if (created) run(&pr);
    for (size_t i = 0; i < n; i++) {
        cuzk_error *err = errs ? &errs[i] : NULL;
        if (created) {
            codes[i] = file_map_outcome(&params->file, pr.all[i].code, &pr.all[i].err);
            if (codes[i] == CUZK_OK) out[i] = pr.all[i].proof;
            if (codes[i] != CUZK_OK && err) *err = pr.all[i].err;
        } else {
            codes[i] = error_no_memory(err, n * sizeof(proving), "a batch of proofs");
        }
        assignment_free_values(w[i]);
        free_vector(&w[i]->aux, w[i]->shape.aux);
    }
    prover_free(&pr);
    timings->total = clock_seconds() - begin;
}

cuzk_code groth16_prove(groth16_proof *out, const srs *params, assignment *w, const prove_options *options,
                        pool *p, const cuzk_progress *progress, prove_timings *timings, cuzk_error *err) {
    cuzk_code code;
    groth16_prove_many(out, &code, err, params, &w, options, 1, p, progress, timings);
    return code;
}
