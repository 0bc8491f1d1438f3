/*
 * Ageing: who starves, and whose turn it is (scheduler.h has the rules). A priority starves while something
 * more urgent runs, nothing of its own does, and it has a job. How long is kept as a point in time that
 * moves: it stands still while the priority starves, and catches up twice as fast as the clock while it does
 * not.
 */
#include "engine/scheduler_internal.h"

#define TURN_CRITICAL 5.0 /* times `ageing`: a turn then counts as CRITICAL */

job_priority sched_task_priority(const sched_task *task) {
    job_priority most = JOB_LOW;
    for (uint32_t i = 0; i < task->n; i++) {
        job_priority p = task->item[i].job->effective;
        if (p > most) most = p;
    }
    return most;
}

job_priority sched_most_urgent(const scheduler *s) {
    job_priority most = JOB_LOW;
    for (const sched_task *task = s->first_task; task; task = task->next) {
        job_priority p = sched_task_priority(task);
        if (p > most && !task->cancelled) most = p;
    }
    return most;
}

void sched_ageing_end(scheduler *s, sched_job *job) {
    if (s->turn != job) return;
    s->turn = NULL;
    s->turn_ended = s->starves_since[job->priority] = s->clock;
    job->effective = job->priority;
}

/* The first job of each priority; NULL: none. */
typedef struct standing {
    sched_job *first[JOB_PRIORITIES];
    bool starves[JOB_PRIORITIES];
} standing;

static void find_standing(standing *out, const scheduler *s) {
    *out = (standing){0};
    job_priority most = sched_most_urgent(s);
    for (sched_job *job = s->last_job; job; job = job->previous)
        if (!job_state_is_final(job->state)) out->first[job->priority] = job;
    for (unsigned p = JOB_LOW; p < JOB_CRITICAL; p++) out->starves[p] = p < most && out->first[p];
    for (const sched_task *task = s->first_task; task; task = task->next)
        for (uint32_t i = 0; i < task->n && sched_task_priority(task) >= most; i++)
            out->starves[task->item[i].job->priority] = false;
}

void sched_ageing_pass(scheduler *s, double now) {
    if (now <= s->clock) return;
    double passed = now - s->clock;
    s->clock = now;
    standing st;
    find_standing(&st, s);
    for (unsigned p = JOB_LOW; p < JOB_CRITICAL; p++) {
        double since = s->starves_since[p] + 2 * passed;
        if (!st.first[p])
            s->starves_since[p] = now;
        else if (!st.starves[p])
            s->starves_since[p] = since < now ? since : now;
    }
}

void sched_ageing_enter(scheduler *s, job_priority priority, double now) {
    standing st;
    find_standing(&st, s);
    if (!st.first[priority]) s->starves_since[priority] = now;
}

/* The job to get the next turn, and when; NULL: none starves. */
static sched_job *next_turn(const scheduler *s, double *at) {
    standing st;
    find_standing(&st, s);
    sched_job *job = NULL;
    double since = HUGE_VAL;
    for (unsigned p = JOB_CRITICAL; p-- > JOB_LOW;) {
        if (!st.starves[p] || s->starves_since[p] >= since) continue;
        job = st.first[p];
        since = s->starves_since[p];
    }
    *at = (since > s->turn_ended ? since : s->turn_ended) + s->config.ageing;
    return job;
}

void sched_ageing_give(scheduler *s, double now) {
    if (s->config.ageing <= 0) {
        if (s->turn) sched_ageing_end(s, s->turn);
        return;
    }
    if (!s->turn) {
        double at;
        sched_job *job = next_turn(s, &at);
        if (!job || now < at) return;
        s->turn = job;
        s->turn_since = now;
    }
    bool long_ago = now >= s->turn_since + TURN_CRITICAL * s->config.ageing;
    job_priority raised = long_ago ? JOB_CRITICAL : JOB_HIGH;
    s->turn->effective = raised > s->turn->priority ? raised : s->turn->priority;
}

double sched_ageing_due(const scheduler *s) {
    double next;
    if (s->config.ageing <= 0) return HUGE_VAL;
    if (!s->turn) return next_turn(s, &next) ? next : HUGE_VAL;
    return s->turn->effective < JOB_CRITICAL ? s->turn_since + TURN_CRITICAL * s->config.ageing : HUGE_VAL;
}
