/*
 * The Groth16 prover (bellperson 0.27, groth16/prover): an assignment and parameters in, a proof out.
 *
 * Every proof is verified with the key of the parameters and the assignment's own inputs before it is
 * returned: neither an assignment that does not satisfy its circuit nor a fault of the machine gives a proof.
 */
#ifndef CUZK_GROTH16_PROVE_H
#define CUZK_GROTH16_PROVE_H

#include "groth16/proof.h"
#include "groth16/srs.h"

typedef struct prove_options {
    /* Fixed randomness, for tests alone: a reused r or s leaks the witness. NULL: from the system. */
    const fr *r, *s;
} prove_options;

/* Seconds by phase. */
typedef struct prove_timings {
    double quotient;            /* the NTTs that give h */
    double h, l, a, b_g1, b_g2; /* the multi-scalar multiplications */
    double verify;              /* the self-check */
    double total;
} prove_timings;

/* Prove. The assignment is consumed: its values a, b, c and aux are overwritten and freed as soon as they are
 * no longer needed, on failure too; shape, inputs and densities stay until assignment_free. `options` and
 * `timings` may be NULL.
 *
 * CUZK_ERR_PARAMS: the parameters are of another circuit, a point in them is bad (with path and offset), or
 * their file was truncated or became unreadable meanwhile (file_guard.h). CUZK_ERR_INTERNAL: "self-check
 * failed", also when the assignment does not satisfy the circuit; ask assignment_first_unsatisfied beforehand
 * to tell the two apart. CUZK_ERR_CANCELLED: by progress, or because p is a cancelled lane. Progress phases:
 * "ntt", "msm h", "msm l", "msm a", "msm b_g1", "msm b_g2", "self-check". */
cuzk_code groth16_prove(groth16_proof *out, const srs *params, assignment *w, const prove_options *options,
                        pool *p, const cuzk_progress *progress, prove_timings *timings, cuzk_error *err);

#endif
