/* The scheduler's state, and what its two parts share: scheduler.c, and scheduler_ageing.c for turns. */
#ifndef CUZK_ENGINE_SCHEDULER_INTERNAL_H
#define CUZK_ENGINE_SCHEDULER_INTERNAL_H

#include <math.h>

#include "engine/scheduler.h"

struct scheduler {
    sched_config config;
    sched_ended_fn ended;
    void *ctx;
    sched_job *first_job, *last_job;
    sched_task *first_task, *last_task;
    uint32_t jobs;
    uint64_t next_seq;
    uint64_t reserved; /* by jobs, waiting witnesses and tasks */
    uint64_t held; /* of these, by jobs and witnesses, waiting or being made: what does not end by itself */
    uint64_t external;
    uint64_t promised; /* that accepted jobs need, when the budget was reduced below it */
    uint64_t lacking;
    uint32_t last_circuit; /* proved last */
    bool any_proved;
    double urgent_at[JOB_PRIORITIES]; /* when a more urgent job was last submitted */
    double flush_at;                  /* when a waiting batch goes as it is; HUGE_VAL: none waits */
    double clock;                     /* of the last call that told the time */
    /* Ageing: since when the jobs of a priority starve. Time in which something of them runs, or in which
     * nothing more urgent does, counts back as much as the same time of starving counts forward. */
    double starves_since[JOB_PRIORITIES];
    sched_job *turn;   /* the job raised by ageing, or NULL */
    double turn_since; /* when it was raised */
    double turn_ended; /* the last one */
};

/* The most urgent of a task's jobs. */
job_priority sched_task_priority(const sched_task *task);
/* Of what runs and is wanted. */
job_priority sched_most_urgent(const scheduler *s);

/* Let time pass for those who starve. To be called before anything changes. */
void sched_ageing_pass(scheduler *s, double now);
/* A job of the priority is about to be the last of its list. */
void sched_ageing_enter(scheduler *s, job_priority priority, double now);
/* Begin or raise a turn when it is due. */
void sched_ageing_give(scheduler *s, double now);
/* The job's turn, if it has one, is over. */
void sched_ageing_end(scheduler *s, sched_job *job);
/* When the next turn begins or is raised; HUGE_VAL: none will. */
double sched_ageing_due(const scheduler *s);

#endif
