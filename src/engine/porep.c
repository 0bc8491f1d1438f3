/* Seal proofs as a backend of the engine: C1 JSON in, 192 bytes a partition out (seal.h has the steps). */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "engine/backend.h"
#include "engine/seal.h"
#include "filecoin/c1_write.h"
#include "filecoin/vanilla.h"

#define NAME "vanilla_proof" /* stands for the path in errors */

typedef struct task {
    c1 *sector;
    porep_statement statement;
} task;

static void free_task(void *of) {
    task *t = of;
    if (!t) return;
    c1_free(t->sector);
    free(t);
}

static cuzk_code parse(void **out, backend_plan *plan, const job_request *r, cuzk_error *err) {
    *out = NULL;
    if (r->vanilla_proof.size == 0)
        return error_set(err, CUZK_ERR_INPUT, NAME, CUZK_NO_OFFSET,
                         "0 bytes, expected a phase-1 output (C1)");
    task *t = calloc(1, sizeof *t);
    if (!t) return error_no_memory(err, sizeof *t, "a seal proof");
    cuzk_code code = c1_parse(&t->sector, r->vanilla_proof.data, r->vanilla_proof.size, NAME, err);
    if (code == CUZK_OK) code = vanilla_check_replica_id(t->sector, r->miner_id, r->sector_number, err);
    if (code != CUZK_OK) {
        free_task(t);
        return code;
    }
    porep_statement_of(&t->statement, t->sector);
    seal_plan(plan, t->sector, r->vanilla_proof.size);
    *out = t;
    return CUZK_OK;
}

static cuzk_code check(void *of, const backend_stage *s, cuzk_error *err) {
    const task *t = of;
    TRY(seal_check_key(s->key, t->sector->sector, err));
    TRY(vanilla_verify(t->sector, s->lane, s->progress, err));
    return pool_check(s->lane, err);
}

static cuzk_code synthesize(void **out, void *of, uint32_t partition, const backend_stage *s,
                            cuzk_error *err) {
    const task *t = of;
    return seal_witness_create(out, s->key, t->sector, partition, s->lane, s->progress, err);
}

static void prove(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                  void *const *witnesses, uint32_t n, const backend_stage *s) {
    prove_timings timings;
    seal_prove(out, codes, errs, (compact_witness *const *)witnesses, n, s->key, NULL, s->lane, s->progress,
               NULL, &timings);
}

static cuzk_code verify(void *of, const uint8_t *proof, size_t size, uint32_t *bad, const backend_stage *s,
                        cuzk_error *err) {
    const task *t = of;
    return seal_verify(s->key, &t->statement, proof, size, bad, s->lane, err);
}

static cuzk_code save(void *of, const char *path, cuzk_error *err) {
    const task *t = of;
    char *text;
    size_t size;
    TRY(c1_write(&text, &size, t->sector, C1_WRAPPER_GO, err));
    cuzk_code code = file_write_all(path, text, size, err);
    free(text);
    return code;
}

const engine_backend porep_backend = {.needs_key = true,
                                      .parse = parse,
                                      .free_task = free_task,
                                      .check = check,
                                      .synthesize = synthesize,
                                      .free_witness = seal_witness_destroy,
                                      .prove = prove,
                                      .verify = verify,
                                      .save = save};
