/*
 * Seal proofs: C1 to proof, and proof against statement.
 *
 * Proving goes partition by partition: synthesize, prove (each proof is checked with the assignment's own
 * inputs), free. At the end all partitions are verified once more as one batch, against public inputs derived
 * from the statement alone, which is what the network will do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/seal.h"
#include "filecoin/replica_id.h"
#include "r1cs/synthesis.h"

/* --- verification ------------------------------------------------------------------------------------------
 */

/* Read a commitment of a statement. */
static cuzk_code read_commitment(fr_repr *out, const uint8_t bytes[32], const char *name, cuzk_error *err) {
    memcpy(out->l, bytes, 32);
    if (fr_repr_is_valid(out)) return CUZK_OK;
    return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s is not below the modulus r", name);
}

static cuzk_code make_statement(porep_statement *out, const cuzk_seal *seal, cuzk_error *err) {
    out->proof = registered_porep_by_name(seal->registered_proof);
    if (!out->proof)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "unknown registered proof '%s'",
                         seal->registered_proof);
    TRY(read_commitment(&out->comm_r, seal->comm_r, "comm_r", err));
    TRY(read_commitment(&out->comm_d, seal->comm_d, "comm_d", err));
    memcpy(out->seed, seal->seed, 32);
    uint8_t prover[32], porep[32];
    prover_id_of(prover, seal->miner_id);
    porep_id_of(porep, out->proof->id);
    replica_id_of(&out->replica_id, prover, seal->sector_num, seal->ticket, seal->comm_d, porep);
    return CUZK_OK;
}

cuzk_code cuzk_seal_verify(cuzk *engine, const cuzk_params *params, const cuzk_seal *seal,
                           const uint8_t *proof, size_t proof_size, cuzk_error *err) {
    porep_statement statement;
    TRY(make_statement(&statement, seal, err));
    return seal_verify(params->key, &statement, proof, proof_size, NULL, engine->threads, err);
}

/* --- proving -----------------------------------------------------------------------------------------------
 */

/* Add to the timing of a phase, which keeps its first place in the list. */
static void add_time(cuzk_report *report, const char *phase, double seconds) {
    unsigned i = 0;
    while (i < report->count && strcmp(report->timings[i].phase, phase) != 0) i++;
    if (i == CUZK_MAX_TIMINGS) return;
    if (i == report->count) {
        report->count++;
        snprintf(report->timings[i].phase, sizeof report->timings[i].phase, "%s", phase);
        report->timings[i].seconds = 0;
    }
    report->timings[i].seconds += seconds;
}

static void add_prove_times(cuzk_report *report, const prove_timings *t) {
    add_time(report, "quotient", t->quotient);
    add_time(report, "msm h", t->h);
    add_time(report, "msm l", t->l);
    add_time(report, "msm a", t->a);
    add_time(report, "msm b_g1", t->b_g1);
    add_time(report, "msm b_g2", t->b_g2);
    add_time(report, "self-check", t->verify);
}

static cuzk_code prove_partition(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk *engine, const cuzk_params *params,
                                 const c1 *sector, unsigned k, const prove_options *options,
                                 cuzk_report *report, const cuzk_progress *progress, cuzk_error *err) {
    double start = clock_seconds(), expand = 0;
    compact_witness w;
    TRY(seal_synthesize(&w, params->key, sector, k, engine->threads, progress, err));
    double synthesis = clock_seconds() - start;

    prove_timings timings;
    cuzk_code code;
    cuzk_error why;
    compact_witness *const one = &w;
    seal_prove(out, &code, &why, &one, 1, params->key, options, engine->threads, progress, &expand, &timings);
    if (code != CUZK_OK) {
        if (err) *err = why;
        return code;
    }
    add_time(report, "synthesis", synthesis + expand);
    add_prove_times(report, &timings);
    return CUZK_OK;
}

static cuzk_code read_randomness(fr *r, fr *s, const cuzk_randomness *fixed, cuzk_error *err) {
    if (!fr_from_bytes(r, fixed->r))
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "fixed r is not below the modulus r");
    if (!fr_from_bytes(s, fixed->s))
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "fixed s is not below the modulus r");
    return CUZK_OK;
}

cuzk_code cuzk_seal_prove(cuzk *engine, const cuzk_params *params, const cuzk_c1 *c, uint64_t miner_id,
                          uint64_t sector_num, const cuzk_randomness *fixed, const cuzk_progress *progress,
                          uint8_t **proof, size_t *proof_size, cuzk_report *report, cuzk_error *err) {
    cuzk_report unused;
    if (!report) report = &unused;
    memset(report, 0, sizeof *report);
    *proof = NULL;
    *proof_size = 0;
    double start = clock_seconds();
    TRY(seal_check_key(params->key, c->parsed->proof->sector, err));
    if (!params->key->can_prove)
        return error_set(err, CUZK_ERR_PARAMS, NULL, CUZK_NO_OFFSET,
                         "only the verifying key of %s is open: it cannot prove", params->key->circuit->id);
    TRY(cuzk_c1_check_replica_id(c, miner_id, sector_num, err));
    fr r, s;
    if (fixed) TRY(read_randomness(&r, &s, fixed, err));
    prove_options options = {fixed ? &r : NULL, fixed ? &s : NULL};
    const catalog_entry *circuit = params->key->circuit;
    TRY(mem_require(seal_prove_bytes(circuit) + synthesis_bytes(&circuit->shape), "the proof", err));
    double before = clock_seconds();
    TRY(cuzk_c1_verify(engine, c, progress, err));
    add_time(report, "vanilla", clock_seconds() - before);

    size_t partitions = c->parsed->partitions, size = partitions * CUZK_PROOF_BYTES;
    uint8_t *bytes = malloc(size);
    if (!bytes) return error_no_memory(err, size, "the proof");
    cuzk_code code = CUZK_OK;
    for (size_t k = 0; k < partitions && code == CUZK_OK; k++)
        code = prove_partition((uint8_t(*)[CUZK_PROOF_BYTES])bytes + k, engine, params, c->parsed,
                               (unsigned)k, &options, report, progress, err);
    if (code == CUZK_OK) {
        before = clock_seconds();
        cuzk_seal statement;
        cuzk_c1_statement(&statement, c, miner_id, sector_num);
        code = cuzk_seal_verify(engine, params, &statement, bytes, size, err);
        if (code == CUZK_ERR_PROOF)
            code = error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                             "self-check failed: the proof does not verify against the sector's statement");
        add_time(report, "verification", clock_seconds() - before);
    }
    mem_wipe(&r, sizeof r);
    mem_wipe(&s, sizeof s);
    if (code != CUZK_OK) {
        free(bytes);
        return code;
    }
    *proof = bytes;
    *proof_size = size;
    report->total_seconds = clock_seconds() - start;
    report->peak_rss_bytes = mem_peak_rss();
    return CUZK_OK;
}
