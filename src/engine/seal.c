#include "engine/seal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "circuit/porep.h"
#include "r1cs/synthesis.h"

#define SCRATCH_BYTES (UINT64_C(256) << 20) /* tables of transforms, buckets and chunks of sums */

cuzk_code seal_check_key(const proving_key *k, const sector_shape *sector, cuzk_error *err) {
    if (k->circuit->kind == PROOF_POREP && k->circuit->sector_bytes == sector->bytes) return CUZK_OK;
    return error_set(err, CUZK_ERR_PARAMS, NULL, CUZK_NO_OFFSET,
                     "the parameters are of %s, the sector needs %s", k->circuit->id, sector->porep_name);
}

uint64_t seal_witness_bytes(const catalog_entry *circuit) {
    /* Nearly all variables are bits; about one in fifty takes 32 bytes. */
    return (uint64_t)circuit->shape.aux * 3 / 4 + (UINT64_C(1) << 20);
}

uint64_t seal_prove_bytes(const catalog_entry *circuit) {
    return assignment_bytes(&circuit->shape) + SCRATCH_BYTES;
}

void seal_plan(backend_plan *out, const c1 *sector, size_t json_bytes) {
    const catalog_entry *circuit = catalog_find(sector->sector->porep_name);
    uint64_t witness = seal_witness_bytes(circuit);
    *out = (backend_plan){.circuit = circuit->id,
                          .partitions = sector->partitions,
                          .task_bytes = json_bytes / 4 + (64u << 10), /* 11 MB of 51 */
                          .witness_bytes = witness,
                          .synthesis_bytes = witness / 4 + (UINT64_C(16) << 20),
                          .prove_bytes = seal_prove_bytes(circuit)};
    /* Further proofs of a batch wait as their quotients, and have buckets of their own. */
    out->prove_extra_bytes = ((uint64_t)sizeof(fr) << assignment_log_domain(&circuit->shape)) +
                             (uint64_t)circuit->shape.aux * sizeof(fr) + (UINT64_C(128) << 20);
}

/* --- synthesis and proof ---------------------------------------------------------------------------------
 */

cuzk_code seal_synthesize(compact_witness *out, proving_key *k, const c1 *sector, unsigned partition, pool *p,
                          const cuzk_progress *progress, cuzk_error *err) {
    *out = (compact_witness){.m = NULL};
    porep_circuit one;
    r1cs_circuit circuit;
    r1cs_parts parts;
    porep_of_c1(&one, &circuit, sector, partition);
    porep_parts(&parts, &one);
    const matrices *m;
    TRY(key_matrices(&m, k, &circuit, &parts, progress, err));
    TRY(witness_create(out, m, err));
    cuzk_code code = witness_fill(out, &circuit, &parts, p, progress, err);
    if (code != CUZK_OK) {
        witness_free(out);
        return code;
    }
    fault_point("witness bits", out->bits, (size_t)((m->n_bits + 63) / 64) * sizeof *out->bits);
    fault_point("witness numbers", out->full, (size_t)m->n_full * sizeof *out->full);
    return CUZK_OK;
}

cuzk_code seal_witness_create(void **out, proving_key *k, const c1 *sector, unsigned partition, pool *p,
                              const cuzk_progress *progress, cuzk_error *err) {
    compact_witness *w = malloc(sizeof *w);
    *out = NULL;
    if (!w) return error_no_memory(err, sizeof *w, "a witness");
    cuzk_code code = seal_synthesize(w, k, sector, partition, p, progress, err);
    if (code != CUZK_OK) {
        free(w);
        return code;
    }
    *out = w;
    return CUZK_OK;
}

void seal_witness_destroy(void *witness) {
    if (!witness) return;
    witness_free(witness);
    free(witness);
}

/* Bring a witness into full form, and free the compact one. */
static cuzk_code expand(assignment *full, compact_witness *w, pool *p, double *seconds, cuzk_error *err) {
    double start = clock_seconds();
    cuzk_code code = assignment_expand(full, w, EXPAND_TEMPLATES, p, err);
    witness_free(w);
    if (seconds) *seconds += clock_seconds() - start;
    return code;
}

static void prove_one(uint8_t out[CUZK_PROOF_BYTES], cuzk_code *code, cuzk_error *err, compact_witness *w,
                      const proving_key *k, const prove_options *options, pool *p,
                      const cuzk_progress *progress, double *expand_seconds, prove_timings *timings) {
    assignment full = {.a = NULL};
    groth16_proof proof;
    *code = expand(&full, w, p, expand_seconds, err);
    if (*code != CUZK_OK) return;
    *code = groth16_prove(&proof, &k->srs, &full, options, p, progress, timings, err);
    assignment_free(&full);
    if (*code == CUZK_OK) proof_encode(out, &proof);
}

typedef struct batch {
    assignment full[SEAL_BATCH_MAX], *ready[SEAL_BATCH_MAX];
    size_t place[SEAL_BATCH_MAX]; /* in the caller's arrays */
    groth16_proof proofs[SEAL_BATCH_MAX];
    cuzk_code codes[SEAL_BATCH_MAX];
    cuzk_error errs[SEAL_BATCH_MAX];
} batch;

/* Quotients first and one by one, so that one assignment at a time is in full; then all sums in one pass over
 * the key. One that fails on the way is left out. */
static void prove_batch(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                        compact_witness *const *witnesses, size_t n, const proving_key *k, pool *p,
                        const cuzk_progress *progress, double *expand_seconds, prove_timings *timings) {
    batch b = {.ready = {NULL}};
    size_t ready = 0;
    for (size_t i = 0; i < n; i++) {
        assignment *full = &b.full[ready];
        codes[i] = expand(full, witnesses[i], p, expand_seconds, &errs[i]);
        if (codes[i] == CUZK_OK) codes[i] = groth16_quotient(full, p, progress, &errs[i]);
        if (codes[i] != CUZK_OK) {
            assignment_free(full);
            continue;
        }
        b.ready[ready] = full;
        b.place[ready++] = i;
    }
    if (ready > 0)
        groth16_prove_many(b.proofs, b.codes, b.errs, &k->srs, b.ready, NULL, ready, p, progress, timings);
    for (size_t j = 0; j < ready; j++) {
        size_t i = b.place[j];
        codes[i] = b.codes[j];
        errs[i] = b.errs[j];
        if (codes[i] == CUZK_OK) proof_encode(out[i], &b.proofs[j]);
        assignment_free(&b.full[j]);
    }
}

void seal_prove(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                compact_witness *const *witnesses, size_t n, const proving_key *k,
                const prove_options *options, pool *p, const cuzk_progress *progress, double *expand_seconds,
                prove_timings *timings) {
    if (n > 1 && n <= SEAL_BATCH_MAX && !options) {
        prove_batch(out, codes, errs, witnesses, n, k, p, progress, expand_seconds, timings);
        return;
    }
    for (size_t i = 0; i < n; i++)
        prove_one(out[i], &codes[i], &errs[i], witnesses[i], k, options, p, progress, expand_seconds,
                  timings);
}

/* --- verification ----------------------------------------------------------------------------------------
 */

/* The first proof that does not hold on its own. */
static uint32_t first_bad(const proving_key *k, const groth16_proof *proofs, size_t n, const fr *inputs,
                          size_t n_inputs, pool *p) {
    uint32_t i = 0;
    while (i < n &&
           verify_proof(k->verifier, &proofs[i], inputs + i * n_inputs, n_inputs, p, NULL) == CUZK_OK)
        i++;
    return i;
}

cuzk_code seal_verify(const proving_key *k, const porep_statement *statement, const uint8_t *proof,
                      size_t size, uint32_t *bad, pool *p, cuzk_error *err) {
    const sector_shape *sector = statement->proof->sector;
    TRY(seal_check_key(k, sector, err));
    size_t partitions = registered_porep_partitions(statement->proof);
    if (size != partitions * CUZK_PROOF_BYTES)
        return error_set(
            err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%zu bytes, expected %zu (%zu partition%s of %u)",
            size, partitions * CUZK_PROOF_BYTES, partitions, partitions == 1 ? "" : "s", CUZK_PROOF_BYTES);
    size_t n_inputs = POREP_INPUTS(sector->challenges);
    groth16_proof *proofs = malloc(partitions * sizeof *proofs);
    fr *inputs = malloc(partitions * n_inputs * sizeof *inputs);
    cuzk_code code = CUZK_OK;
    if (!proofs || !inputs)
        code = error_no_memory(err, partitions * n_inputs * sizeof *inputs, "public inputs");
    if (code == CUZK_OK) code = proof_decode(proofs, partitions, proof, size, NULL, err);
    for (size_t i = 0; i < partitions && code == CUZK_OK; i++)
        code = porep_public_inputs(inputs + i * n_inputs, statement, (unsigned)i, err);
    if (code == CUZK_OK) code = verify_batch(k->verifier, proofs, partitions, inputs, n_inputs, p, err);
    if (code == CUZK_ERR_PROOF && bad) *bad = first_bad(k, proofs, partitions, inputs, n_inputs, p);
    free(proofs);
    free(inputs);
    return code;
}
