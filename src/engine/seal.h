/*
 * The steps of a seal proof (PoRep), each on its own: synthesize a partition in compact form, prove it,
 * verify the whole. The library's one-shot call and the engine's backend are both made of these.
 */
#ifndef CUZK_ENGINE_SEAL_H
#define CUZK_ENGINE_SEAL_H

#include "engine/backend.h"
#include "engine/key.h"
#include "filecoin/c1.h"
#include "filecoin/public_inputs.h"
#include "groth16/prove.h"
#include "r1cs/witness.h"

/* CUZK_ERR_PARAMS unless the key is of the PoRep circuit for this sector size. */
cuzk_code seal_check_key(const proving_key *k, const sector_shape *sector, cuzk_error *err);

/* About what a compact partition takes, and what proving one needs besides, in bytes of big buffers. */
uint64_t seal_witness_bytes(const catalog_entry *circuit);
uint64_t seal_prove_bytes(const catalog_entry *circuit);

/* Synthesize a partition of a C1. witness_free the result, which must not outlive the key. Progress phases
 * "matrices" (the first time for a key) and "synthesis". */
cuzk_code seal_synthesize(compact_witness *out, proving_key *k, const c1 *sector, unsigned partition, pool *p,
                          const cuzk_progress *progress, cuzk_error *err);

/* The same into memory of its own, as a backend hands it on; seal_witness_destroy it. */
cuzk_code seal_witness_create(void **out, proving_key *k, const c1 *sector, unsigned partition, pool *p,
                              const cuzk_progress *progress, cuzk_error *err);
void seal_witness_destroy(void *witness); /* NULL is fine */

/* What the engine is to reserve for a C1 parsed from so many bytes of JSON. */
void seal_plan(backend_plan *out, const c1 *sector, size_t json_bytes);

#define SEAL_BATCH_MAX 16u

/* Prove n synthesized partitions of the key's circuit: out[i], codes[i] and errs[i] for each. Up to
 * SEAL_BATCH_MAX go over the key in one pass, unless `options` fixes their randomness. The witnesses are
 * freed. expand_seconds (may be NULL): spent on bringing them into full form. Errors and phases as
 * groth16_prove; timings are those of the last one, or of the whole pass. */
void seal_prove(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                compact_witness *const *witnesses, size_t n, const proving_key *k,
                const prove_options *options, pool *p, const cuzk_progress *progress, double *expand_seconds,
                prove_timings *timings);

/* Verify the proof of all partitions against its statement; every public input is derived from scratch.
 * CUZK_ERR_PROOF when it does not hold: *bad (may be NULL) is then the first partition at fault.
 * CUZK_ERR_INPUT when the bytes are no proof, CUZK_ERR_PARAMS when the key is of another circuit. */
cuzk_code seal_verify(const proving_key *k, const porep_statement *statement, const uint8_t *proof,
                      size_t size, uint32_t *bad, pool *p, cuzk_error *err);

#endif
