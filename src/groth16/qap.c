/*
 * Constraints are folded into the three vectors as they are enforced. The Lagrange values come in blocks, in
 * the order of the constraints, each block with one inversion.
 */
#include "groth16/qap.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "r1cs/assignment.h"

#define MAX_LOG_DOMAIN 30u
#define BLOCK          4096u

typedef struct lagrange {
    unsigned used;              /* values of the block handed out, BLOCK when it is empty */
    fr tau, omega, omega_block; /* omega^BLOCK */
    fr power;                   /* omega^(first of the next block) */
    fr factor;                  /* (tau^m - 1) / m */
    fr values[BLOCK], scratch[BLOCK];
} lagrange;

typedef struct sink {
    cs base; /* first: the system's address is the sink's */
    qap *q;
    lagrange *l;
} sink;

static void next_block(lagrange *l) {
    fr power = l->power;
    for (unsigned i = 0; i < BLOCK; i++) {
        fr_sub(&l->values[i], &l->tau, &power);
        fr_mul(&power, &power, &l->omega);
    }
    fr_batch_inv(l->values, BLOCK, l->scratch);
    fr_mul(&power, &l->power, &l->factor); /* now factor * omega^q */
    for (unsigned i = 0; i < BLOCK; i++) {
        fr_mul(&l->values[i], &l->values[i], &power);
        fr_mul(&power, &power, &l->omega);
    }
    fr_mul(&l->power, &l->power, &l->omega_block);
    l->used = 0;
}

static const fr *next_value(lagrange *l) {
    if (l->used == BLOCK) next_block(l);
    return &l->values[l->used++];
}

/* values[v] += coefficient * scale for every term. */
static void accumulate(sink *s, fr *values, const lc *terms, const fr *scale) {
    const r1cs_shape *shape = &s->q->shape;
    for (uint32_t i = 0; i < terms->n; i++) {
        const lc_term *term = &terms->terms[i];
        uint32_t index = r1cs_index(term->var);
        bool aux = r1cs_is_aux(term->var);
        if (index >= (aux ? shape->aux : shape->inputs)) {
            cs_fail(&s->base, CUZK_ERR_INTERNAL, "the circuit has more variables than its shape says");
            return;
        }
        fr *value = &values[aux ? (size_t)shape->inputs + index : index];
        if (fr_is_one(&term->coeff)) {
            fr_add(value, value, scale);
        } else if (fr_eq(&term->coeff, &FR_MINUS_ONE)) {
            fr_sub(value, value, scale);
        } else {
            fr product;
            fr_mul(&product, &term->coeff, scale);
            fr_add(value, value, &product);
        }
    }
}

static void sink_enforce(cs *system, const lc *a, const lc *b, const lc *c) {
    sink *s = (sink *)system;
    const fr *scale = next_value(s->l);
    accumulate(s, s->q->u, a, scale);
    accumulate(s, s->q->v, b, scale);
    accumulate(s, s->q->w, c, scale);
}

static const cs_ops sink_ops = {.enforce = sink_enforce};

static cuzk_code start_lagrange(lagrange *l, unsigned log_domain, const fr *tau, cuzk_error *err) {
    l->used = BLOCK;
    l->tau = *tau;
    l->power = FR_ONE;
    fr_root_of_unity(&l->omega, log_domain);
    fr_pow_u64(&l->omega_block, &l->omega, BLOCK);
    fr size;
    l->factor = *tau;
    for (unsigned i = 0; i < log_domain; i++) fr_sqr(&l->factor, &l->factor);
    fr_sub(&l->factor, &l->factor, &FR_ONE);
    if (fr_is_zero(&l->factor))
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "tau is on the domain: tau^(2^%u) = 1",
                         log_domain);
    fr_from_u64(&size, (uint64_t)1 << log_domain);
    fr_inv(&size, &size);
    fr_mul(&l->factor, &l->factor, &size);
    return CUZK_OK;
}

static cuzk_code synthesize(qap *out, const r1cs_circuit *circuit, lagrange *l, const cuzk_progress *progress,
                            cuzk_error *err) {
    sink s = {.q = out, .l = l};
    cs_init(&s.base, &sink_ops, false);
    cuzk_code code = cs_run(&s.base, circuit, "constraints", progress, err);
    cs_free(&s.base);
    if (code != CUZK_OK) return code;
    for (uint32_t i = 0; i < out->shape.inputs; i++) fr_add(&out->u[i], &out->u[i], next_value(l));
    return CUZK_OK;
}

cuzk_code qap_evaluate(qap *out, const r1cs_circuit *circuit, const fr *tau, const cuzk_progress *progress,
                       cuzk_error *err) {
    *out = (qap){.shape = circuit->shape};
    out->log_domain = assignment_log_domain(&circuit->shape);
    if (out->log_domain > MAX_LOG_DOMAIN)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "%s: %" PRIu64 " constraints, at most 2^%u fit", circuit->name,
                         circuit->shape.constraints + circuit->shape.inputs, MAX_LOG_DOMAIN);
    void *memory, *l = NULL;
    size_t bytes = qap_variables(out) * sizeof(fr);
    TRY(mem_big_alloc(&memory, 3 * bytes, "the polynomials' values", err));
    out->u = memory;
    out->v = out->u + qap_variables(out);
    out->w = out->v + qap_variables(out);
    cuzk_code code = mem_big_alloc(&l, sizeof(lagrange), "the Lagrange values", err);
    if (code == CUZK_OK) code = start_lagrange(l, out->log_domain, tau, err);
    if (code == CUZK_OK) code = synthesize(out, circuit, l, progress, err);
    if (l) mem_wipe(l, sizeof(lagrange));
    mem_big_free(l, sizeof(lagrange));
    if (code != CUZK_OK) qap_free(out);
    return code;
}

void qap_free(qap *q) {
    size_t bytes = 3 * qap_variables(q) * sizeof(fr);
    if (q->u) {
        mem_wipe(q->u, bytes);
        mem_big_free(q->u, bytes);
    }
    q->u = q->v = q->w = NULL;
}
