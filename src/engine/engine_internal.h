/* The parts of the engine: what engine.c (threads and stages), engine_jobs.c (submissions and results) and
 * engine_status.c (counters and views) share. One mutex guards all of it but what is marked otherwise. */
#ifndef CUZK_ENGINE_ENGINE_INTERNAL_H
#define CUZK_ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/scheduler.h"

#define TABLE_SLOTS 4096u /* hash table of jobs by id */
#define MAX_DRIVERS 64u
#define MAX_ENDED   8192u /* finished jobs remembered, whatever their age */
#define RECENT_JOBS 50u   /* finished jobs a snapshot shows at least, if there are */

typedef struct record record;
typedef struct run run;

typedef struct watcher {
    struct watcher *next;
    engine_watch id;
    engine_done_fn done; /* NULL: only holds the job */
    void *ctx;
} watcher;

typedef struct partition_record {
    void *witness;                                        /* synthesized, not yet taken by the prover */
    run *run;                                             /* what works on it */
    float synth_start, synth_end, prove_start, prove_end; /* seconds after acceptance; negative: not yet */
    bool failed;
} partition_record;

/* A job, from its submission until its result is dropped. */
struct record {
    record *hash_next;
    record *previous, *next; /* in e->live or e->ended */
    char id[JOB_ID_BYTES];
    uint8_t digest[32];
    job_kind kind;
    job_priority priority;
    const engine_backend *backend;
    unsigned refs;      /* the table's, and one for each use without the mutex */
    bool queued;        /* the scheduler took it */
    bool accepting;     /* being parsed and admitted; nobody else may touch more than its id */
    bool cancel_wanted; /* meanwhile */
    bool shut_down;     /* cancelled because the engine ends */
    bool while_watched, stored;
    bool
        remainder; /* not a job: what one that has ended left in a batch that goes on, to be freed after it */
    uint64_t sector_number, miner_id;

    backend_plan plan;
    char circuit[32]; /* plan.circuit */
    void *task;
    proving_key *key;
    sched_job *job; /* NULL: not queued yet, or ended */
    partition_record *partition;
    run *check, *verify; /* the stage running, or NULL */
    unsigned stages;     /* running */
    double waits_since;  /* without any */
    unsigned self_check_failures;

    job_state state;
    double accepted, started, ended, deadline; /* started and ended negative: not yet; deadline 0: none */
    uint32_t partitions_proved;
    uint8_t *proof;
    size_t proof_size;
    cuzk_error error;
    engine_timings timings;
    watcher *watchers;
};

/* A stage being run. */
struct run {
    engine *e;
    sched_task *task;
    run *next;  /* waiting for a driver */
    pool *lane; /* NULL until it runs */
    record *records[SCHED_MAX_BATCH];
    /* Its own, so that it needs no record while it runs (but for other stages than proving). */
    const engine_backend *backend;
    proving_key *key;
    void *witnesses[SCHED_MAX_BATCH];
    uint8_t proofs[SCHED_MAX_BATCH][CUZK_PROOF_BYTES];
    double seconds_paused, paused_since;
    /* Written by the stage's progress reports, read by anybody. */
    atomic_bool cancelled;
    const char *_Atomic phase;
    _Atomic uint64_t done, total;
};

typedef struct event_node {
    struct event_node *next;
    engine_event event;
    char job_id[JOB_ID_BYTES], message[256];
} event_node;

typedef struct record_list {
    record *first, *last;
    size_t count;
} record_list;

/* What proving one partition of a circuit was seen to take, which replaces the estimate. */
typedef struct measured {
    uint32_t circuit;     /* engine_text_hash of its name */
    uint64_t prove_bytes; /* 0: free */
} measured;
#define MEASURED_MAX 64u

struct engine {
    pthread_mutex_t mutex;
    pthread_cond_t driver_work;  /* a run waits for a driver, or the engine closes */
    pthread_cond_t housekeeping; /* see housekeeper_main */
    pthread_cond_t accepted;     /* a record is no longer `accepting`, or has ended */
    engine_config config;
    char *failure_dir;
    double start;
    pool *cores;
    keys *keys;
    scheduler *scheduler;

    record *table[TABLE_SLOTS];
    record_list live, ended; /* in order of acceptance; in order of their end */
    record *ending;          /* ended for the scheduler; the housekeeper settles them. Linked by `next` */
    record *settling;        /* what the housekeeper has taken from there, until it is in `ended` */
    unsigned remainders;     /* alive */
    uint64_t result_bytes;
    uint64_t charged;
    uint64_t task_bytes; /* of the live jobs' parsed tasks */
    engine_watch last_watch;
    measured measured[MEASURED_MAX];

    pthread_t drivers[MAX_DRIVERS];
    unsigned n_drivers, idle_drivers, ready; /* ready: runs in the queue */
    run *ready_first, *ready_last;
    pthread_t housekeeper;
    bool housekeeper_made, wake_housekeeper, closing;
    atomic_bool draining; /* read without the mutex by long loading */
    uint64_t wanted_room; /* bytes that a stage lacks: evict idle keys */
    event_node *events_first, *events_last;

    engine_counters counters; /* the counts; derived values are filled in when asked */
};

/* Seconds since the engine started. */
double engine_now(const engine *e);

/* After every change: let deadlines pass, start what can start, wake who must know. Mutex held. */
void engine_pump(engine *e);

/* Queue an event. Mutex held. */
void engine_note(engine *e, const record *r, engine_event_kind kind, stage_kind stage, uint32_t partition,
                 double seconds, const char *message);

record *engine_find(const engine *e, const char *id);
void engine_table_add(engine *e, record *r);
void engine_table_remove(engine *e, record *r);
void record_list_append(record_list *l, record *r);
void record_list_remove(record_list *l, record *r);
/* Give up a reference; frees the record with the last one. Mutex held. */
void record_release(record *r);

/* Jobs without a result yet. Mutex held. */
unsigned engine_count_unfinished(const engine *e);

/* What the scheduler's end of a job leads to (sched_ended_fn). */
void engine_job_ended(void *engine, sched_job *job, double now);
/* End what is cancelled or too late and has nothing running but its part of batches that go on for others.
 * Mutex held. */
void engine_leave_batches(engine *e);
/* Give everything back that an ended job held, record its end and tell its watchers. Mutex not held. */
void engine_settle(engine *e, record *r);
/* Drop results that are too old or too many. Mutex held. Returns when the next one becomes too old. */
double engine_prune(engine *e, double now);

/* Remember what proving one partition took at most; use that in the plan of a new job. Mutex held. */
void engine_measured(engine *e, uint32_t circuit, uint64_t prove_peak);
void engine_correct_plan(const engine *e, backend_plan *plan, uint32_t circuit);

uint32_t engine_text_hash(const char *text);

void histogram_add(engine_histogram *h, double seconds);

/* Memory that counts against the budget beside what the scheduler reserves. Mutex held. */
uint64_t engine_external_bytes(engine *e);

#endif
