/*
 * The quadratic arithmetic program of a circuit, evaluated at one point tau: for every variable v,
 *   u_v = sum_q A_q[v] L_q(tau),   v_v with B,   w_v with C,
 * over all constraints q, the final input * 0 = 0 ones included (bellperson 0.27, groth16/generator.rs). L_q
 * is the Lagrange polynomial of the q-th point of the domain of m = 2^log_domain points: L_q(tau) = (tau^m -
 * 1) / m * omega^q / (tau - omega^q).
 */
#ifndef CUZK_GROTH16_QAP_H
#define CUZK_GROTH16_QAP_H

#include "base/progress.h"
#include "r1cs/cs.h"

typedef struct qap {
    r1cs_shape shape;
    unsigned log_domain;
    /* One value per variable, inputs first, then aux. They give tau away: qap_free wipes them. */
    fr *u, *v, *w;
} qap;

/* Synthesize the structure of `circuit` once; nothing of it is stored. tau must not be on the domain
 * (CUZK_ERR_USAGE). 96 bytes a variable from mem_big_alloc. Progress phase "constraints". */
cuzk_code qap_evaluate(qap *out, const r1cs_circuit *circuit, const fr *tau, const cuzk_progress *progress,
                       cuzk_error *err);
void qap_free(qap *q);

/* Variables in all. */
static inline size_t qap_variables(const qap *q) {
    return (size_t)q->shape.inputs + q->shape.aux;
}

#endif
