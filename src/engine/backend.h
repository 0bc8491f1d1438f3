/*
 * What the engine asks of a kind of proof. A backend turns a request into a task, and a task's partitions
 * into proofs, stage by stage; it knows nothing of jobs, queues and priorities. All of a kind's state is in
 * its task and in the key that the engine hands in.
 *
 * Stages of different partitions may run at the same time; each call has its lane (base/pool.h), which the
 * calling thread has entered. A cancelled lane makes every call return soon, with any error.
 */
#ifndef CUZK_ENGINE_BACKEND_H
#define CUZK_ENGINE_BACKEND_H

#include "base/pool.h"
#include "base/progress.h"
#include "engine/job.h"

struct proving_key;

typedef enum stage_kind { STAGE_CHECK, STAGE_SYNTHESIS, STAGE_PROVE, STAGE_VERIFY } stage_kind;
#define STAGE_KINDS 4u
const char *stage_name(stage_kind stage); /* "check", "synthesis", "prove", "verify" */

/* What a task needs, in bytes of big buffers, known once it is parsed. */
typedef struct backend_plan {
    const char *circuit; /* its name; lives as long as the task */
    uint32_t partitions;
    uint64_t task_bytes;        /* the parsed task, until the job ends */
    uint64_t witness_bytes;     /* a synthesized partition, until it is proved */
    uint64_t synthesis_bytes;   /* scratch besides */
    uint64_t prove_bytes;       /* vectors and scratch of a partition being proved */
    uint64_t prove_extra_bytes; /* for each further partition of a batch */
} backend_plan;

typedef struct backend_stage {
    pool *lane;
    struct proving_key *key; /* open, in use until the stage ends */
    const cuzk_progress *progress;
} backend_stage;

typedef struct engine_backend {
    bool needs_key; /* false: stages get no key */
    /* Parse a request, with all checks that need no key and no cores. *task is for free_task. */
    cuzk_code (*parse)(void **task, backend_plan *plan, const job_request *r, cuzk_error *err);
    void (*free_task)(void *task);
    /* Everything that can be wrong with the input. */
    cuzk_code (*check)(void *task, const backend_stage *s, cuzk_error *err);
    /* *witness is for free_witness. */
    cuzk_code (*synthesize)(void **witness, void *task, uint32_t partition, const backend_stage *s,
                            cuzk_error *err);
    void (*free_witness)(void *witness);
    /* Prove n synthesized partitions of one circuit, of any tasks: out[i] is 192 bytes, codes[i] and errs[i]
     * the outcome of each. CUZK_ERR_INTERNAL: a self-check failed. Frees the witnesses' memory early if it
     * can. */
    void (*prove)(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                  void *const *witnesses, uint32_t n, const backend_stage *s);
    /* Verify the whole proof. CUZK_ERR_PROOF: it does not hold; *bad is then the first partition at fault. */
    cuzk_code (*verify)(void *task, const uint8_t *proof, size_t size, uint32_t *bad, const backend_stage *s,
                        cuzk_error *err);
    /* Write the input to a file, in the form that `cuzk prove` reads, for later examination. */
    cuzk_code (*save)(void *task, const char *path, cuzk_error *err);
} engine_backend;

/* Seal proofs (porep.c). */
extern const engine_backend porep_backend;

#endif
