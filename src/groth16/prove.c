/*
 * The quotient comes first, because it needs the most memory: its three vectors become one, h, whose sum is
 * taken before the witness is looked at. Every vector is freed by the step that used it last.
 */
#include "groth16/prove.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "ntt/ntt.h"

typedef struct prover {
    const srs *params;
    assignment *w;
    pool *p;
    const cuzk_progress *progress;
    prove_timings *timings;
    cuzk_error *err;
    fr_repr *inputs; /* plain integers */
    fr_repr *aux;    /* w->aux, turned into plain integers in place */
    g1 h, l, a, b_g1;
    g2 b_g2;
} prover;

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

/* A bad point in the mapped file: say which file, and where in it. */
static cuzk_code locate(const prover *pr, cuzk_code code, const msm_bases *bases) {
    cuzk_error *err = pr->err;
    if (code == CUZK_ERR_PARAMS && err) {
        if (err->offset != CUZK_NO_OFFSET)
            err->offset += (uint64_t)((const uint8_t *)bases->points - pr->params->file.data);
        snprintf(err->path, sizeof err->path, "%s", pr->params->file.path);
    }
    return code;
}

static cuzk_code sum_g1(const prover *pr, g1 *out, msm_bases bases, msm_scalars scalars, const char *phase) {
    g1_set_identity(out);
    if (bases.n == 0) return CUZK_OK;
    return locate(pr, msm_g1(out, &bases, &scalars, pr->p, pr->progress, phase, pr->err), &bases);
}

static cuzk_code sum_g2(const prover *pr, g2 *out, msm_bases bases, msm_scalars scalars, const char *phase) {
    g2_set_identity(out);
    if (bases.n == 0) return CUZK_OK;
    return locate(pr, msm_g2(out, &bases, &scalars, pr->p, pr->progress, phase, pr->err), &bases);
}

/* A section holds the points of inputs, then those of aux. */
static void split(msm_bases *inputs, msm_bases *aux, const msm_bases *section, size_t input_count,
                  size_t point_size) {
    *inputs = *aux = *section;
    inputs->n = input_count;
    aux->n = section->n - input_count;
    aux->points = (const uint8_t *)section->points + input_count * point_size;
}

static msm_scalars input_scalars(const prover *pr, const uint64_t *selected) {
    return (msm_scalars){.values = pr->inputs, .n = pr->w->shape.inputs, .selected = selected};
}

static msm_scalars aux_scalars(const prover *pr, const uint64_t *selected) {
    return (msm_scalars){.values = pr->aux, .n = pr->w->shape.aux, .selected = selected};
}

static cuzk_code quotient_and_h(prover *pr) {
    assignment *w = pr->w;
    size_t n = (size_t)1 << w->log_domain;
    double start = clock_seconds();
    ntt_domain *domain;
    TRY(ntt_domain_create(&domain, w->log_domain, pr->p, pr->err));
    cuzk_code code = ntt_quotient(domain, w->a, w->b, w->c, pr->p, pr->progress, pr->err);
    ntt_domain_destroy(domain);
    free_vector(&w->b, n);
    free_vector(&w->c, n);
    if (code != CUZK_OK) return code;
    if (!fr_is_zero(&w->a[n - 1]))
        return error_set(pr->err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                         "self-check failed: the assignment does not satisfy the circuit");
    msm_scalars scalars = {.values = to_plain(w->a, n - 1, pr->p), .n = n - 1};
    pr->timings->quotient = clock_seconds() - start;

    start = clock_seconds();
    code = sum_g1(pr, &pr->h, pr->params->h, scalars, "msm h");
    free_vector(&w->a, n);
    pr->timings->h = clock_seconds() - start;
    return code;
}

static cuzk_code witness_sums(prover *pr) {
    const assignment *w = pr->w;
    const srs *params = pr->params;
    prove_timings *t = pr->timings;
    msm_bases in, aux;
    g1 of_inputs;
    g2 of_inputs_g2;

    double start = clock_seconds();
    pr->aux = to_plain(pr->w->aux, w->shape.aux, pr->p);
    fr_to_repr_n(pr->inputs, w->inputs, w->shape.inputs);
    fault_point("scalars", pr->inputs, w->shape.inputs * sizeof(fr_repr));
    TRY(sum_g1(pr, &pr->l, params->l, aux_scalars(pr, NULL), "msm l"));
    t->l = clock_seconds() - start;

    start = clock_seconds();
    split(&in, &aux, &params->a, w->shape.inputs, G1_UNCOMPRESSED);
    TRY(sum_g1(pr, &of_inputs, in, input_scalars(pr, NULL), "msm a"));
    TRY(sum_g1(pr, &pr->a, aux, aux_scalars(pr, w->a_aux_density), "msm a"));
    g1_add(&pr->a, &pr->a, &of_inputs);
    t->a = clock_seconds() - start;

    start = clock_seconds();
    split(&in, &aux, &params->b_g1, w->b_input_count, G1_UNCOMPRESSED);
    TRY(sum_g1(pr, &of_inputs, in, input_scalars(pr, w->b_input_density), "msm b_g1"));
    TRY(sum_g1(pr, &pr->b_g1, aux, aux_scalars(pr, w->b_aux_density), "msm b_g1"));
    g1_add(&pr->b_g1, &pr->b_g1, &of_inputs);
    t->b_g1 = clock_seconds() - start;

    start = clock_seconds();
    split(&in, &aux, &params->b_g2, w->b_input_count, G2_UNCOMPRESSED);
    TRY(sum_g2(pr, &of_inputs_g2, in, input_scalars(pr, w->b_input_density), "msm b_g2"));
    TRY(sum_g2(pr, &pr->b_g2, aux, aux_scalars(pr, w->b_aux_density), "msm b_g2"));
    g2_add(&pr->b_g2, &pr->b_g2, &of_inputs_g2);
    t->b_g2 = clock_seconds() - start;
    return CUZK_OK;
}

/* sum += k * point */
static void add_multiple(g1 *sum, const g1 *point, const fr *k) {
    g1 multiple;
    g1_mul_fr(&multiple, point, k);
    g1_add(sum, sum, &multiple);
    mem_wipe(&multiple, sizeof multiple);
}

static void assemble(groth16_proof *out, const prover *pr, const fr *r, const fr *s) {
    const verifying_key *k = &pr->params->vk;
    g1 alpha, beta, delta;
    g1_from_affine(&alpha, &k->alpha_g1);
    g1_from_affine(&beta, &k->beta_g1);
    g1_from_affine(&delta, &k->delta_g1);

    /* A = alpha + r delta + A1 */
    g1 sum = pr->a;
    g1_add(&sum, &sum, &alpha);
    add_multiple(&sum, &delta, r);
    g1_to_affine(&out->a, &sum);

    /* B = beta + s delta + B2 */
    g2 sum_g2, multiple;
    g2_from_affine(&multiple, &k->delta_g2);
    g2_mul_fr(&multiple, &multiple, s);
    g2_from_affine(&sum_g2, &k->beta_g2);
    g2_add(&sum_g2, &sum_g2, &pr->b_g2);
    g2_add(&sum_g2, &sum_g2, &multiple);
    g2_to_affine(&out->b, &sum_g2);
    mem_wipe(&multiple, sizeof multiple);

    /* C = s (A1 + alpha) + r (B1 + beta) + r s delta + Hs + Ls */
    fr rs;
    g1 side;
    g1_add(&sum, &pr->h, &pr->l);
    g1_add(&side, &pr->a, &alpha);
    add_multiple(&sum, &side, s);
    g1_add(&side, &pr->b_g1, &beta);
    add_multiple(&sum, &side, r);
    fr_mul(&rs, r, s);
    add_multiple(&sum, &delta, &rs);
    g1_to_affine(&out->c, &sum);
    mem_wipe(&rs, sizeof rs);
}

static cuzk_code randomize(groth16_proof *out, const prover *pr, const prove_options *options) {
    fr r = FR_ZERO, s = FR_ZERO;
    cuzk_code code = CUZK_OK;
    if (options && options->r)
        r = *options->r;
    else
        code = fr_random(&r, pr->err);
    if (options && options->s)
        s = *options->s;
    else if (code == CUZK_OK)
        code = fr_random(&s, pr->err);
    if (code == CUZK_OK) {
        assemble(out, pr, &r, &s);
        fault_point("proof", out, sizeof *out);
    }
    mem_wipe(&r, sizeof r);
    mem_wipe(&s, sizeof s);
    return code;
}

/* What leaves here is what a verifier reads back and accepts. */
static cuzk_code self_check(groth16_proof *out, const prover *pr, const groth16_proof *proof) {
    double start = clock_seconds();
    const assignment *w = pr->w;
    uint8_t bytes[PROOF_BYTES];
    groth16_proof back;
    cuzk_error why = {.code = CUZK_OK};
    TRY(progress_report(pr->progress, "self-check", 0, 1, pr->err));
    proof_encode(bytes, proof);
    cuzk_code code = proof_decode(&back, 1, bytes, sizeof bytes, NULL, &why);
    if (code == CUZK_OK)
        code = verify_proof(pr->params->verifier, &back, w->inputs + 1, w->shape.inputs - 1, pr->p, &why);
    pr->timings->verify = clock_seconds() - start;
    if (code == CUZK_OK) code = progress_report(pr->progress, "self-check", 1, 1, &why);
    if (code == CUZK_OK) {
        *out = back;
        return CUZK_OK;
    }
    if (code == CUZK_ERR_PROOF || code == CUZK_ERR_INPUT)
        return error_set(pr->err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "self-check failed: %s",
                         why.message);
    if (pr->err) *pr->err = why;
    return code;
}

static cuzk_code run(groth16_proof *out, prover *pr, const prove_options *options) {
    srs_shape shape = srs_shape_of(pr->w);
    groth16_proof proof;
    TRY(srs_check_shape(pr->params, &shape, pr->err));
    TRY(file_map_check(&pr->params->file, pr->err));
    pr->inputs = malloc(shape.inputs * sizeof(fr_repr));
    if (!pr->inputs) return error_no_memory(pr->err, shape.inputs * sizeof(fr_repr), "the public inputs");
    TRY(quotient_and_h(pr));
    TRY(witness_sums(pr));
    free_vector(&pr->w->aux, shape.aux);
    TRY(randomize(&proof, pr, options));
    return self_check(out, pr, &proof);
}

cuzk_code groth16_prove(groth16_proof *out, const srs *params, assignment *w, const prove_options *options,
                        pool *p, const cuzk_progress *progress, prove_timings *timings, cuzk_error *err) {
    double start = clock_seconds();
    prove_timings unused;
    if (!timings) timings = &unused;
    *timings = (prove_timings){.total = 0};
    prover pr = {.params = params, .w = w, .p = p, .progress = progress, .timings = timings, .err = err};
    groth16_proof proof;
    cuzk_code code = file_map_outcome(&params->file, run(&proof, &pr, options), err);
    if (code == CUZK_OK) *out = proof;
    assignment_free_values(w);
    free_vector(&w->aux, w->shape.aux);
    free(pr.inputs);
    timings->total = clock_seconds() - start;
    return code;
}
