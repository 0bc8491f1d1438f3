/*
 * The real scheduler, driven by a virtual clock: jobs with given sizes, times and failures instead of proofs.
 *
 * Stages take core-seconds. At each moment the cores go to the running stages by level, as the pool gives
 * them to lanes: higher first, then earlier started, each as many as it can use; a paused one makes no
 * progress. A cancelled one ends after a moment (SIM_GRACE), whatever it was doing. Everything is
 * deterministic.
 *
 * The scheduler's state is recomputed from scratch and compared after every call (simulation_check.c). A
 * failed check, and sim_assert, print the last events as a timeline.
 */
#ifndef CUZK_TEST_SIMULATION_H
#define CUZK_TEST_SIMULATION_H

#include "engine/scheduler.h"

#define SIM_GRACE 0.125 /* seconds */
#define SIM_ANY   UINT32_MAX

typedef struct sim_job {
    job_priority priority;
    uint32_t circuit;
    backend_plan plan;
    double arrival;
    double deadline;           /* seconds after the arrival; 0: none */
    double cancel_at;          /* 0: never */
    double retry_wait;         /* offered again so much later when refused for now; 0: never */
    double work[STAGE_KINDS];  /* core-seconds */
    double cores[STAGE_KINDS]; /* that the stage can use; 0: any number */
    /* Set by the run. */
    sched_job *job; /* while unfinished */
    job_state state;
    bool refused, can_retry;
    char message[sizeof((cuzk_error *)0)->message]; /* of a refusal */
    double accepted, started, ended;
    uint32_t verified; /* verifications begun */
} sim_job;

typedef struct sim_fault {
    uint32_t job, partition; /* partition: SIM_ANY for a stage of the whole job */
    stage_kind stage;
    uint32_t attempt; /* from 1; SIM_ANY: each */
    sched_outcome outcome;
    bool hangs;   /* ends only when cancelled */
    uint32_t bad; /* of STAGE_VERIFY with SCHED_RETRY */
} sim_fault;

typedef enum sim_event_kind {
    SIM_SUBMIT,
    SIM_REFUSE,
    SIM_START,
    SIM_PAUSE,
    SIM_RESUME,
    SIM_END,
    SIM_FINISH
} sim_event_kind;

/* One for each item of a batch. */
typedef struct sim_event {
    double time;
    sim_event_kind kind;
    uint32_t job, partition; /* SIM_ANY: of the whole job */
    stage_kind stage;
    uint32_t number;  /* of the task; SIM_FINISH: the state */
    uint32_t outcome; /* SIM_END */
} sim_event;

typedef struct simulation simulation;

simulation *sim_create(const sched_config *config, unsigned cores);
/* Frees everything; ends nothing. */
void sim_destroy(simulation *sim);

/* Returns the job's number, from 0. */
uint32_t sim_add(simulation *sim, const sim_job *job);
void sim_add_fault(simulation *sim, const sim_fault *fault);
/* From `at` on, the caller of the scheduler uses so many bytes. */
void sim_add_external(simulation *sim, double at, uint64_t bytes);
void sim_add_configure(simulation *sim, double at, const sched_config *config);

/* Check the scheduler's state after every n-th event only. 1 unless told. */
void sim_check_interval(simulation *sim, uint32_t n);
/* Cores must not idle while the rules of order would let something start. For runs with ample memory and
 * without batches. */
void sim_expect_busy(simulation *sim);

/* Let the time pass until nothing can happen any more, or until `until`. */
void sim_run(simulation *sim, double until);
/* Run to the end; all jobs must have ended and nothing may be left. */
void sim_finish(simulation *sim);

double sim_now(const simulation *sim);
scheduler *sim_scheduler(simulation *sim);
const sim_job *sim_get(const simulation *sim, uint32_t job);
uint32_t sim_jobs(const simulation *sim);
const sim_event *sim_events(const simulation *sim, size_t *n);
/* When it first happened, negative: never. partition: SIM_ANY for stages of the whole job. */
double sim_when(const simulation *sim, sim_event_kind kind, uint32_t job, uint32_t partition,
                stage_kind stage);
uint32_t sim_count(const simulation *sim, sim_event_kind kind, uint32_t job, stage_kind stage);
/* Of the trace: equal runs have equal ones. */
uint64_t sim_digest(const simulation *sim);
/* Highest scheduler_reserved so far. */
uint64_t sim_peak(const simulation *sim);
double sim_busy(const simulation *sim); /* core-seconds spent */

/* Print the timeline and fail the test. */
_Noreturn void sim_fail(const simulation *sim, const char *file, int line, const char *what);
#define sim_assert(sim, condition)                                                                           \
    do {                                                                                                     \
        if (!(condition)) sim_fail(sim, __FILE__, __LINE__, #condition);                                     \
    } while (0)

/* --- for simulation_check.c -------------------------------------------------------------------------------
 */

/* NULL when the state is consistent, else what is not. settled: the scheduler has nothing more to start and
 * has been updated. config: NULL when slots may exceed their number. */
const char *sim_inconsistency(const scheduler *s, const sched_config *config, bool settled);
/* NULL, or what could start. */
const char *sim_idleness(const scheduler *s, const sched_config *config);

#endif
