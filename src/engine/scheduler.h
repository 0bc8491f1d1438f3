/*
 * What runs next: a state machine without threads and without a clock. The engine (or a simulation) tells it
 * what happened and when; it answers which stage of which job to start, and how urgent each running one is.
 *
 * Order. Higher priority goes first, then the earlier submission; of the same priority, a job of the circuit
 * that was proved last may go before an earlier one, but not for longer than SCHED_GROUP_SECONDS.
 *
 * Ageing. When jobs of a priority have starved for `ageing` seconds because of more urgent ones, the first of
 * them is given a turn: until one of its partitions is proved it counts as HIGH, and after five times as long
 * as CRITICAL. Time in which they run makes up for as much starving. One job has a turn at a time, the next
 * begins `ageing` seconds after it at the earliest, and goes to the priority that has starved longest. So
 * nothing starves, and yet a backlog never outranks urgent jobs by more than a partition at a time.
 *
 * Slots. At most one partition (or batch) of a priority or above is being proved: it keeps all cores busy,
 * and a second one would only take memory. A more urgent one starts beside it and, by its level, takes its
 * cores: what is less urgent is paused, and nothing less urgent starts. Checks and syntheses run ahead of the
 * prover at a lower level, in the gaps it leaves, up to `lookahead` partitions; the one that the prover is
 * going to wait for goes before it, so that it need not; when the prover has nothing to do, they get all
 * cores. So stages share cores by what they can use at each moment, not by a fixed division.
 *
 * Memory. Every stage reserves what it needs before it starts. What waits (parsed jobs, synthesized
 * partitions) is bounded so that what is synthesized can be proved, and that then the largest job can go
 * through all its stages: whatever is held, one more synthesis and one more proof still fit. So waiting jobs
 * cannot deadlock. When the first in order lacks memory, nothing less urgent takes any. Only when nothing
 * runs that could free some (the caller uses more besides) are jobs that do not
 * fit passed over.
 *
 * Not thread-safe. Times are seconds of any clock that does not go back.
 */
#ifndef CUZK_ENGINE_SCHEDULER_H
#define CUZK_ENGINE_SCHEDULER_H

#include "engine/backend.h"
#include "engine/job.h"

#define SCHED_MAX_BATCH     16u
#define SCHED_GROUP_SECONDS 60.0
#define SCHED_ATTEMPTS      2u /* computations of a partition before its job fails */

typedef struct scheduler scheduler;
typedef struct sched_job sched_job;
typedef struct sched_task sched_task;

typedef struct sched_config {
    uint64_t budget;       /* bytes */
    uint32_t max_queue;    /* unfinished jobs */
    uint32_t lookahead;    /* partitions synthesized ahead of the prover, at least 1 */
    uint32_t max_batch;    /* partitions proved together, 1..SCHED_MAX_BATCH */
    double max_batch_wait; /* seconds */
    double ageing;         /* seconds; 0: none */
    bool group_by_circuit;
} sched_config;

typedef enum sched_partition_state {
    SCHED_PENDING,
    SCHED_SYNTHESIZING,
    SCHED_SYNTHESIZED,
    SCHED_PROVING,
    SCHED_PROVED
} sched_partition_state;

typedef struct sched_partition {
    sched_partition_state state;
    uint8_t attempts; /* begun */
    double ready;     /* when it was synthesized */
    sched_task *task; /* SYNTHESIZING, PROVING */
    void *user;       /* the caller's */
} sched_partition;

struct sched_job {
    job_priority priority;
    backend_plan plan;
    uint32_t circuit;          /* the caller's number of plan.circuit: equal numbers may share a batch */
    double accepted, deadline; /* deadline: 0 none */
    double started;            /* of its first stage; negative: not yet */
    job_state state;
    void *user;                 /* the caller's */
    uint64_t seq;               /* order of submission */
    sched_partition *partition; /* plan.partitions */
    /* Counts of partitions by state; the rest is pending. */
    uint32_t synthesizing, synthesized, proving, proved;
    uint32_t tasks; /* running stages with a part of it */
    bool checking, checked, verifying;
    bool awaits_batch;          /* its partitions wait for company */
    bool lacks_memory;          /* passed over, since nothing runs that might free some */
    job_priority effective;     /* after ageing */
    double served;              /* when something of it last ran */
    sched_job *previous, *next; /* unfinished jobs, in order of submission */
};

typedef struct sched_item {
    sched_job *job;
    uint32_t partition; /* of a synthesis or proof */
} sched_item;

struct sched_task {
    stage_kind stage;
    uint32_t n; /* 1, or the size of a batch (STAGE_PROVE) */
    sched_item item[SCHED_MAX_BATCH];
    uint64_t bytes;         /* reserved for as long as it runs; the witness being made is its job's */
    int level;              /* urgency, for the cores */
    job_priority effective; /* of its most urgent job */
    bool paused;            /* a more urgent task runs that is not cancelled */
    bool cancelled;         /* nobody wants the result: end it soon; never paused */
    bool told;              /* the caller knows of the cancellation */
    double started;
    void *user; /* the caller's */
    sched_task *previous, *next;
};

typedef enum sched_outcome {
    SCHED_OK,
    SCHED_FAILED, /* the job fails */
    SCHED_RETRY   /* a self-check failed: compute the partition once more, if that was the first time */
} sched_outcome;

/* Called when a job has ended: state is final, no task has a part of it, nothing is reserved for it. The job
 * is freed after the call. Must not call the scheduler. */
typedef void (*sched_ended_fn)(void *ctx, sched_job *job, double now);

cuzk_code scheduler_create(scheduler **out, const sched_config *config, sched_ended_fn ended, void *ctx,
                           cuzk_error *err);
/* Frees unfinished jobs without a call. */
void scheduler_destroy(scheduler *s);
/* Values are brought into their ranges. Jobs accepted before are carried out under a smaller budget too, in
 * no more memory than that takes; new ones must fit it. */
void scheduler_configure(scheduler *s, const sched_config *config);

/*
 * Take a job: copies plan, priority, circuit, deadline and user from *job_in. CUZK_ERR_RESOURCES with the
 * numbers when the queue is full or memory does not suffice; *can_retry: it might later.
 */
cuzk_code scheduler_submit(sched_job **out, scheduler *s, double now, const sched_job *job_in,
                           bool *can_retry, cuzk_error *err);

/* Somebody wants the job more urgently than it was submitted: it keeps its place among those of the new
 * priority by the order of submission. Nothing happens to one that is as urgent already. */
void scheduler_raise(scheduler *s, double now, sched_job *job, job_priority priority);

/* The next stage to start now, which is thereby started; NULL when there is none. Call until NULL, and then
 * scheduler_update, after every other call and at scheduler_wakeup. Lets deadlines pass first. The task is
 * the scheduler's, and lives until scheduler_done. */
sched_task *scheduler_next(scheduler *s, double now);
/* Bytes that the last scheduler_next lacked for the stage it would have started; 0: memory was no obstacle.
 */
uint64_t scheduler_lacking(const scheduler *s);

/* A task has ended; one outcome per item (of a STAGE_VERIFY task with SCHED_RETRY, `bad` is the partition at
 * fault). Frees the task. */
void scheduler_done(scheduler *s, double now, sched_task *task, const sched_outcome *outcomes, uint32_t bad);

/* End a job: JOB_CANCELLED, JOB_FAILED or JOB_TIMEOUT. It ends at once, or when its running tasks have
 * (their `cancelled` is set). A job that is ending keeps its first reason. */
void scheduler_end(scheduler *s, double now, sched_job *job, job_state state);

/* Let deadlines pass and set the levels and pauses of running tasks. Call when scheduler_next has answered
 * NULL. changed (may be NULL) is called for each task whose level, pause or cancellation changed.
 */
void scheduler_update(scheduler *s, double now, void (*changed)(void *ctx, sched_task *task), void *ctx);
/* When scheduler_update and scheduler_next must be called again if nothing else happens. HUGE_VAL: never. */
double scheduler_wakeup(const scheduler *s);

/* Memory that the caller uses besides: counts against the budget. */
void scheduler_set_external(scheduler *s, uint64_t bytes);

/* Unfinished jobs and running tasks, first to last. */
sched_job *scheduler_jobs(const scheduler *s);
sched_task *scheduler_tasks(const scheduler *s);
uint32_t scheduler_job_count(const scheduler *s);
uint64_t scheduler_reserved(const scheduler *s);
/* Partitions that wait for the prover. */
uint32_t scheduler_synthesized(const scheduler *s);
/* Unfinished jobs that go before one of this priority submitted now. */
uint32_t scheduler_position(const scheduler *s, job_priority priority);

#endif
