/*
 * What is asked of the engine: one proof of one kind. The numbers of kinds and priorities, the field names
 * and what each kind reads are those of the reference engine's cuzk.v1 messages.
 */
#ifndef CUZK_ENGINE_JOB_H
#define CUZK_ENGINE_JOB_H

#include "base/error.h"

typedef enum job_kind { JOB_POREP = 1, JOB_SNAP = 2, JOB_WINDOW_POST = 3, JOB_WINNING_POST = 4 } job_kind;
#define JOB_KINDS 5u /* size of an array indexed by kind; 0 is not used */

/* Urgency, ascending. DEFAULT is resolved by the kind when a job is submitted. */
typedef enum job_priority {
    JOB_DEFAULT_PRIORITY = 0,
    JOB_LOW = 1,
    JOB_NORMAL = 2,
    JOB_HIGH = 3,
    JOB_CRITICAL = 4
} job_priority;
#define JOB_PRIORITIES 5u

typedef enum job_state {
    JOB_QUEUED,  /* accepted; nothing of it has run */
    JOB_RUNNING, /* some stage has begun */
    JOB_COMPLETED,
    JOB_FAILED,
    JOB_CANCELLED, /* by request, or because nobody waits for it any more */
    JOB_TIMEOUT    /* its deadline passed */
} job_state;
static inline bool job_state_is_final(job_state state) {
    return state >= JOB_COMPLETED;
}

/* "porep-c2", "snap-update", "window-post", "winning-post"; NULL for an unknown number. */
const char *job_kind_name(unsigned kind);
/* "porep_c2": the same as label of a metric. */
const char *job_kind_label(unsigned kind);
/* winning CRITICAL, window HIGH, others NORMAL. */
job_priority job_kind_priority(job_kind kind);
const char *job_priority_name(job_priority priority); /* "critical" */
const char *job_state_name(job_state state);          /* "completed" */

typedef struct job_bytes {
    const uint8_t *data;
    size_t size;
} job_bytes;

/* One request. Its fields are views into memory that `release(owner)` gives back; the engine takes the
 * request over with engine_submit, on errors too, and releases it as soon as it is parsed. */
typedef struct job_request {
    const char *id; /* NUL-terminated UTF-8, at most JOB_ID_BYTES - 1; "" or NULL: the engine makes one */
    job_kind kind;
    job_priority priority; /* unknown numbers count as NORMAL */
    uint64_t sector_size, registered_proof;
    job_bytes vanilla_proof;         /* PoRep: C1 JSON */
    const job_bytes *vanilla_proofs; /* others */
    size_t n_vanilla_proofs;
    uint64_t sector_number, miner_id;
    job_bytes randomness;
    uint32_t partition_index;
    job_bytes comm_r_old, comm_r_new, comm_d_new;
    double deadline; /* seconds from now until the job is of no use any more; 0: none */
    void *owner;
    void (*release)(void *owner); /* may be NULL */
} job_request;

#define JOB_ID_BYTES 256u

/* SHA-256 over everything in a request but id, priority and deadline: two requests with the same are the
 * same work. */
void job_request_digest(uint8_t out[32], const job_request *r);

void job_request_release(job_request *r);

#endif
