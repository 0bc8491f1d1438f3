/*
 * The engine: jobs go in, verified proofs come out. It knows nothing of networks.
 *
 * A job is parsed when it is submitted, then goes through stages: check (vanilla proofs), synthesis and
 * proving of each partition, assembly and verification of the whole. The scheduler (scheduler.h) decides what
 * runs next; stages run on threads of the engine's own and share one set of cores by urgency (base/pool.h
 * lanes), so an urgent job takes the cores within milliseconds and the interrupted one goes on afterwards.
 *
 * All functions may be called from any thread. Callbacks are called without locks held, from threads of the
 * engine; they must not block for long and may call any function here but engine_destroy.
 */
#ifndef CUZK_ENGINE_ENGINE_H
#define CUZK_ENGINE_ENGINE_H

#include "engine/backend.h"
#include "engine/job.h"
#include "engine/keys.h"

typedef struct engine engine;

/* Durable storage for jobs (server/journal.h is one). All calls may block and come from any thread. */
typedef struct engine_store {
    void *ctx;
    /* Record an accepted job with its input; it must be on stable storage when this returns. */
    cuzk_code (*accept)(void *ctx, const char *id, const uint8_t digest[32], const job_request *request,
                        cuzk_error *err);
    /* Record the end of a job: the proof when COMPLETED, else the error. */
    void (*finish)(void *ctx, const char *id, job_state state, const uint8_t *proof, size_t proof_size,
                   const cuzk_error *why);
    /* Drop a job and its result. */
    void (*forget)(void *ctx, const char *id);
} engine_store;

/* What happens to a job, for logs and charts. */
typedef enum engine_event_kind {
    ENGINE_SUBMITTED,
    ENGINE_STAGE_START, /* stage and partition are set; ENGINE_NO_PARTITION for a stage of the whole job */
    ENGINE_STAGE_END,
    ENGINE_PAUSED, /* cores went to a more urgent job */
    ENGINE_RESUMED,
    ENGINE_RETRY, /* a self-check failed: the partition is computed again */
    ENGINE_FINISHED
} engine_event_kind;
#define ENGINE_NO_PARTITION UINT32_MAX

typedef struct engine_event {
    engine_event_kind kind;
    double time; /* seconds since the engine started */
    const char *job_id;
    job_kind job_kind;
    job_priority priority;
    stage_kind stage;
    uint32_t partition;
    double seconds;      /* STAGE_END: how long it took */
    job_state state;     /* FINISHED */
    const char *message; /* FINISHED and not COMPLETED, RETRY: why; else "" */
} engine_event;

typedef struct engine_config {
    unsigned threads; /* cores for all stages together; 0: every CPU this process may use */
    uint64_t
        memory_budget; /* bytes for requests, witnesses, vectors, scratch, matrices, locked keys; 0: auto */
    const char *params_dir;       /* NULL: FIL_PROOFS_PARAMETER_CACHE, else the usual place */
    bool lock_keys;               /* preloaded keys are locked in memory if the system allows */
    double eviction_min_idle;     /* seconds */
    unsigned synthesis_lookahead; /* partitions synthesized ahead of the prover; at least 1 */
    unsigned max_queue;           /* unfinished jobs; more are refused */
    unsigned max_batch_size;      /* partitions of one circuit proved together; 1: no batches */
    double max_batch_wait;        /* seconds a partition waits for its batch to fill */
    double ageing;                /* seconds of waiting that raise a job by one priority; 0: never */
    bool group_by_circuit;        /* prefer the circuit proved last when priorities allow */
    double result_ttl;            /* seconds a result is kept */
    uint64_t result_bytes;        /* bytes of results kept; the oldest go first */
    const char *failure_dir;      /* inputs of proofs whose self-check failed; NULL: not kept */
    uint64_t failure_bytes;       /* at most this much there */
    const engine_backend *backends[JOB_KINDS]; /* NULL: kind without a circuit; refused with its name */
    const engine_store *store;                 /* NULL: jobs live in memory alone */
    void (*event)(void *ctx, const engine_event *event); /* may be NULL */
    void *event_ctx;
} engine_config;

/* Fill in defaults: auto memory and threads, lookahead 2, queue 1024, no batches, backends of this build. */
void engine_config_default(engine_config *c);

cuzk_code engine_create(engine **out, const engine_config *config, cuzk_error *err);
/* Cancel what is left, wait for the threads, free everything. */
void engine_destroy(engine *e);

/* Change what can be changed while jobs run: everything but threads, backends, store, event and directories.
 */
cuzk_code engine_reconfigure(engine *e, const engine_config *config, cuzk_error *err);

/* --- jobs ------------------------------------------------------------------------------------------------
 */

typedef struct engine_timings { /* milliseconds */
    uint64_t queue_wait;        /* while nothing of it ran: before its first stage and between stages */
    uint64_t key_load;
    uint64_t check;      /* parsing and vanilla proofs */
    uint64_t synthesis;  /* summed over partitions, core waits included */
    uint64_t compute;    /* proving, summed over partitions */
    uint64_t total;      /* accepted until the result */
    uint64_t peak_bytes; /* big buffers of the job's largest stage */
} engine_timings;

typedef uint64_t engine_watch; /* 0: none */

/* How a submission ended. */
typedef struct engine_receipt {
    char id[JOB_ID_BYTES];
    uint32_t position; /* unfinished jobs of at least its urgency that were there before it */
    bool attached;     /* the same request is running or finished already */
    bool conflict;     /* refused (CUZK_ERR_USAGE) because the id belongs to a job with other input */
    engine_watch hold; /* WHILE_WATCHED: a watcher that is told nothing; engine_unwatch it once you watch */
} engine_receipt;

typedef enum engine_submit_flags {
    ENGINE_DURABLE = 1,       /* record it in the store, if there is one, before returning */
    ENGINE_WHILE_WATCHED = 2, /* cancel it once its last watcher has left (engine_unwatch) */
    ENGINE_RESTORED = 4       /* the store has it already: record only its end */
} engine_submit_flags;

/*
 * Parse, check for duplicates, admit and queue. An equal request that attaches gives the job its deadline if
 * that is later. Takes the request over. Blocks for the parsing (0.5 s for a
 * 51 MB C1), so not for threads that must answer quickly. Errors, beside what parsing finds (CUZK_ERR_INPUT):
 *   CUZK_ERR_USAGE      kind, id or field out of range; the same id with other input
 *   CUZK_ERR_PARAMS     the key is missing or bad
 *   CUZK_ERR_RESOURCES  the queue is full, or memory (can_retry tells whether waiting helps)
 *   CUZK_ERR_CANCELLED  the engine is draining
 */
cuzk_code engine_submit(engine *e, job_request *request, unsigned flags, engine_receipt *receipt,
                        bool *can_retry, cuzk_error *err);

typedef struct engine_result {
    const char *id;
    job_kind kind;
    job_state state;      /* final */
    const uint8_t *proof; /* COMPLETED: 192 bytes a partition in order; valid during the callback */
    size_t proof_size;
    engine_timings timings;
    const cuzk_error *error; /* not COMPLETED */
} engine_result;

typedef void (*engine_done_fn)(void *ctx, const engine_result *result);
/* Call `done` once when the job has ended, at once (from this thread) when it has already; *out is then 0.
 * CUZK_ERR_USAGE "job not found: ID" when it is unknown or its result is no longer kept. */
cuzk_code engine_watch_job(engine_watch *out, engine *e, const char *id, engine_done_fn done, void *ctx,
                           cuzk_error *err);
/* Stop watching. True: `done` will not be called. False: it has been, or is being, called. */
bool engine_unwatch(engine *e, engine_watch w);

/* A finished job that the store has kept from an earlier run. */
cuzk_code engine_restore_result(engine *e, const char *id, job_kind kind, const uint8_t digest[32],
                                job_state state, const uint8_t *proof, size_t proof_size,
                                const cuzk_error *why, cuzk_error *err);

/* Count memory of requests that are not submitted yet against the budget. False: it does not fit now, and
 * nothing was counted. */
bool engine_charge(engine *e, uint64_t bytes);
void engine_discharge(engine *e, uint64_t bytes);

/* Cancel. *was_running: it was there and unfinished. Ends within a second. */
void engine_cancel(engine *e, const char *id, bool *was_running);
/* Drop a finished job's result. */
void engine_forget(engine *e, const char *id);

/* Accept nothing more. cancel: end what is there, too. The store is not told of ends by this or by
 * engine_destroy: for it, such jobs are unfinished. */
void engine_drain(engine *e, bool cancel);
/* Unfinished jobs. */
unsigned engine_unfinished(engine *e);

/* --- keys ------------------------------------------------------------------------------------------------
 */

/* Open, fault in and (if allowed) lock the key of a circuit, and make its matrices. */
cuzk_code engine_preload(engine *e, const char *circuit_id, bool *already, cuzk_error *err);
/* Drop a key. CUZK_ERR_USAGE for an unknown circuit, CUZK_ERR_RESOURCES while it is in use. */
cuzk_code engine_evict(engine *e, const char *circuit_id, bool *was_loaded, uint64_t *freed, cuzk_error *err);

/* --- state, for status pages and metrics -----------------------------------------------------------------
 */

#define ENGINE_BUCKETS 20u
/* Counts of durations up to bounds of 1 ms * 2^i (the last: anything longer). Not cumulative. */
typedef struct engine_histogram {
    uint64_t counts[ENGINE_BUCKETS];
    uint64_t count;
    double sum; /* seconds */
} engine_histogram;

/* Cheap to read: no allocation, no walk over jobs. */
typedef struct engine_counters {
    double uptime; /* seconds */
    uint64_t submitted, refused;
    uint64_t completed[JOB_KINDS], failed[JOB_KINDS], cancelled[JOB_KINDS], timed_out[JOB_KINDS];
    uint32_t pending[JOB_KINDS], running[JOB_KINDS]; /* unfinished jobs without and with a stage begun */
    uint32_t queued_by_priority[JOB_PRIORITIES];     /* unfinished */
    uint32_t partitions_by_stage[STAGE_KINDS];       /* stages running now */
    uint32_t synthesized;                            /* partitions that wait for the prover */
    uint64_t partitions_proved;
    uint64_t self_check_failures, retries;
    uint64_t key_evictions;
    uint64_t paused_now;
    unsigned cores, cores_busy;
    double core_seconds[STAGE_KINDS];                 /* spent by finished and running stages */
    uint64_t memory_budget, memory_used, memory_peak; /* big buffers and requests */
    uint64_t memory_reserved;                         /* promised to running stages */
    uint64_t resident_bytes;                          /* of the process, now */
    engine_histogram queue_wait[JOB_PRIORITIES];
    engine_histogram stage[STAGE_KINDS];
    engine_histogram total[JOB_KINDS];
    bool draining;
} engine_counters;
void engine_get_counters(engine_counters *out, engine *e);

typedef enum partition_state {
    PARTITION_PENDING,
    PARTITION_SYNTHESIZING,
    PARTITION_SYNTHESIZED,
    PARTITION_PROVING,
    PARTITION_DONE,
    PARTITION_FAILED
} partition_state;

typedef struct engine_partition_view {
    partition_state state;
    bool paused;
    float progress;               /* of the running stage, 0..1 */
    char phase[20];               /* of the running stage: "ntt", "msm h" */
    float synth_start, synth_end; /* seconds after the job was accepted; negative: not yet */
    float prove_start, prove_end;
    uint8_t attempts;
} engine_partition_view;

typedef struct engine_job_view {
    char id[JOB_ID_BYTES];
    job_kind kind;
    job_priority priority, effective; /* effective: after ageing */
    job_state state;
    char circuit[32];
    uint64_t sector_number, miner_id;
    double accepted, started, ended; /* seconds since the engine started; negative: not yet */
    double deadline;                 /* the same; negative: none */
    uint32_t partitions, partitions_done;
    const engine_partition_view *partition; /* `partitions` of them; NULL for a job without any running */
    uint64_t memory_bytes;                  /* held and reserved by it */
    bool checking, verifying;
    char message[256]; /* of a failure */
    engine_timings timings;
} engine_job_view;

/* At most max_jobs jobs, running ones first, then waiting ones in the order they would run, then recently
 * ended ones, newest first; partition views as one array behind them. Free with engine_snapshot_free. */
typedef struct engine_snapshot {
    engine_counters counters;
    engine_job_view *jobs;
    size_t n_jobs, total_jobs; /* total: unfinished and recently ended */
    key_view *keys;
    size_t n_keys;
    engine_partition_view *partition_views;
} engine_snapshot;
cuzk_code engine_snapshot_take(engine_snapshot *out, engine *e, size_t max_jobs, cuzk_error *err);
void engine_snapshot_free(engine_snapshot *s);

#endif
