/*
 * Groth16 verification (bellperson 0.27, groth16/verifier.rs).
 *
 * A proof (A, B, C) of public inputs x_1 .. x_t holds when, with x_0 = 1 and acc = sum x_i ic_i,
 *   e(A, B) = e(alpha_g1, beta_g2) e(acc, gamma_g2) e(C, delta_g2).
 * Points of proofs must be in their subgroups, as proof_decode leaves them.
 */
#ifndef CUZK_GROTH16_VERIFY_H
#define CUZK_GROTH16_VERIFY_H

#include "groth16/proof.h"
#include "groth16/vk.h"

/* A verifying key with what does not depend on the proof computed beforehand. Read-only once made: any number
 * of threads may use it. */
typedef struct verifier verifier;

/* The key is copied. */
cuzk_code verifier_create(verifier **out, const verifying_key *k, cuzk_error *err);
void verifier_destroy(verifier *v);
/* Public inputs of one proof, ONE not counted. */
size_t verifier_inputs(const verifier *v);

/* CUZK_ERR_PROOF when the proof does not hold, CUZK_ERR_USAGE when n_inputs is not verifier_inputs(v). The
 * pool (may be NULL) helps only with thousands of inputs. */
cuzk_code verify_proof(const verifier *v, const groth16_proof *proof, const fr *inputs, size_t n_inputs,
                       pool *p, cuzk_error *err);

/* n >= 1 proofs of one key at once: proof j has inputs[j * n_inputs ..]. Proofs are combined with random
 * 128-bit factors from the operating system, so a wrong one passes with probability 2^-128 at most. When they
 * do not all hold, the error names the first that does not. */
cuzk_code verify_batch(const verifier *v, const groth16_proof *proofs, size_t n, const fr *inputs,
                       size_t n_inputs, pool *p, cuzk_error *err);

#endif
