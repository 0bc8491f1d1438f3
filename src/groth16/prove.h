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

/* Prove n assignments of the key's circuit in one pass over the key, or in few when memory is short: out[i],
 * codes[i] and errs[i] (unless NULL) are of *w[i], as from groth16_prove, and equal to its proof where r and
 * s are fixed by options[i]; `options` may be NULL. What is wrong with one assignment is that one's error
 * alone; a bad point that any of them needs, and what stops the work, are the error of all. */
void groth16_prove_many(groth16_proof *out, cuzk_code *codes, cuzk_error *errs, const srs *params,
                        assignment *const *w, const prove_options *options, size_t n, pool *p,
                        const cuzk_progress *progress, prove_timings *timings);

/* The first step of both on its own, so that only one assignment of a batch need be in full at a time: a
 * becomes h, b and c are freed, and the assignment is good for the calls above and nothing else. On failure
 * its values are freed as by those. Phase "ntt". */
cuzk_code groth16_quotient(assignment *w, pool *p, const cuzk_progress *progress, cuzk_error *err);

#endif
