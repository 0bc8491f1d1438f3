/* The scheduler's state, recomputed from the partitions and tasks. */
#include "simulation.h"

#include <string.h>

static bool is_running(const scheduler *s, const sched_task *task) {
    for (const sched_task *t = scheduler_tasks(s); t; t = t->next)
        if (t == task) return true;
    return false;
}

static bool has_item(const sched_task *task, const sched_job *job, uint32_t partition) {
    for (uint32_t i = 0; i < task->n; i++)
        if (task->item[i].job == job && task->item[i].partition == partition) return true;
    return false;
}

static const char *check_partitions(const scheduler *s, const sched_job *job) {
    uint32_t n[SCHED_PROVED + 1] = {0};
    for (uint32_t k = 0; k < job->plan.partitions; k++) {
        const sched_partition *p = &job->partition[k];
        if (p->state > SCHED_PROVED) return "state of a partition";
        n[p->state]++;
        bool busy = p->state == SCHED_SYNTHESIZING || p->state == SCHED_PROVING;
        if (busy != (p->task != NULL)) return "task of a partition";
        if (busy && !is_running(s, p->task)) return "task of a partition is gone";
        if (busy && !has_item(p->task, job, k)) return "task of a partition is another's";
        if (busy && p->task->stage != (p->state == SCHED_PROVING ? STAGE_PROVE : STAGE_SYNTHESIS))
            return "stage of a partition's task";
        if (p->attempts > SCHED_ATTEMPTS) return "attempts of a partition";
        if (p->state != SCHED_PENDING && p->attempts == 0) return "a partition without attempt";
        if (p->state != SCHED_PENDING && !job->checked) return "a partition of an unchecked job";
    }
    if (n[SCHED_SYNTHESIZING] != job->synthesizing || n[SCHED_SYNTHESIZED] != job->synthesized ||
        n[SCHED_PROVING] != job->proving || n[SCHED_PROVED] != job->proved)
        return "counts of partitions";
    return NULL;
}

static const char *check_job(const scheduler *s, const sched_job *job) {
    uint32_t tasks = 0, stages[STAGE_KINDS] = {0};
    for (const sched_task *task = scheduler_tasks(s); task; task = task->next)
        for (uint32_t i = 0; i < task->n; i++)
            if (task->item[i].job == job) {
                tasks++;
                stages[task->stage]++;
            }
    if (tasks != job->tasks) return "tasks of a job";
    if (stages[STAGE_CHECK] != job->checking || stages[STAGE_VERIFY] != job->verifying)
        return "check or verification of a job";
    if (stages[STAGE_SYNTHESIS] != job->synthesizing || stages[STAGE_PROVE] != job->proving)
        return "syntheses or proofs of a job";
    if (job_state_is_final(job->state) && job->tasks == 0) return "an ended job is still there";
    if ((job->state == JOB_QUEUED) && job->started >= 0) return "a queued job has started";
    if (job->effective < job->priority || job->effective > JOB_CRITICAL) return "effective priority";
    return check_partitions(s, job);
}

static const char *check_task(const sched_task *task) {
    uint64_t bytes = 0;
    bool wanted = false;
    if (task->n < 1 || task->n > SCHED_MAX_BATCH || (task->n > 1 && task->stage != STAGE_PROVE))
        return "size of a task";
    const backend_plan *plan = &task->item[0].job->plan;
    if (task->stage == STAGE_SYNTHESIS) bytes = plan->synthesis_bytes;
    if (task->stage == STAGE_PROVE) bytes = plan->prove_bytes + (task->n - 1) * plan->prove_extra_bytes;
    for (uint32_t i = 0; i < task->n; i++) {
        const sched_job *job = task->item[i].job;
        if (task->stage == STAGE_PROVE) bytes += job->plan.witness_bytes;
        if (job->circuit != task->item[0].job->circuit) return "circuits of a batch";
        wanted |= !job_state_is_final(job->state);
    }
    if (bytes != task->bytes) return "bytes of a task";
    if (wanted == task->cancelled) return "cancellation of a task";
    return NULL;
}

static job_priority priority_of(const sched_task *task) {
    job_priority most = JOB_LOW;
    for (uint32_t i = 0; i < task->n; i++)
        if (task->item[i].job->effective > most) most = task->item[i].job->effective;
    return most;
}

static const char *check_levels(const scheduler *s) {
    job_priority most = JOB_LOW;
    for (const sched_task *task = scheduler_tasks(s); task; task = task->next)
        if (!task->cancelled && priority_of(task) > most) most = priority_of(task);
    for (const sched_task *task = scheduler_tasks(s); task; task = task->next) {
        if (task->effective != priority_of(task)) return "effective priority of a task";
        if (task->paused != (!task->cancelled && task->effective < most)) return "pause of a task";
        if (task->told != task->cancelled) return "a cancellation was not told";
        for (const sched_task *other = scheduler_tasks(s); other; other = other->next) {
            if (other->effective < task->effective && other->level >= task->level) return "order of levels";
            if (other->effective != task->effective || task->stage != STAGE_VERIFY) continue;
            if (other->stage != STAGE_VERIFY && other->level >= task->level) return "order within a level";
        }
    }
    return NULL;
}

/* Without ageing a priority has one proof at a time, and only so many partitions ahead of it. */
static const char *check_slots(const scheduler *s, const sched_config *config) {
    uint32_t proofs[JOB_PRIORITIES] = {0}, ahead[JOB_PRIORITIES] = {0};
    uint32_t lookahead = config->lookahead > config->max_batch ? config->lookahead : config->max_batch;
    if (lookahead == 0) lookahead = 1;
    for (const sched_task *task = scheduler_tasks(s); task; task = task->next)
        if (task->stage == STAGE_PROVE && ++proofs[task->effective] > 1) return "two proofs of a priority";
    for (const sched_job *job = scheduler_jobs(s); job; job = job->next) {
        ahead[job->effective] += job->synthesizing + job->synthesized;
        if (ahead[job->effective] > lookahead) return "too many partitions ahead";
    }
    return NULL;
}

const char *sim_inconsistency(const scheduler *s, const sched_config *config, bool settled) {
    uint32_t jobs = 0;
    uint64_t reserved = 0;
    for (const sched_job *job = scheduler_jobs(s); job; job = job->next) {
        const char *wrong = check_job(s, job);
        if (wrong) return wrong;
        if (job->next && (job->next->previous != job || job->next->seq <= job->seq)) return "list of jobs";
        reserved += job->plan.task_bytes;
        reserved += (uint64_t)(job->synthesizing + job->synthesized) * job->plan.witness_bytes;
        jobs++;
    }
    if (jobs != scheduler_job_count(s)) return "number of jobs";
    if (scheduler_position(s, JOB_LOW) != jobs) return "position of a job";
    for (const sched_task *task = scheduler_tasks(s); task; task = task->next) {
        const char *wrong = check_task(task);
        if (wrong) return wrong;
        if (task->next && task->next->previous != task) return "list of tasks";
        reserved += task->bytes;
    }
    if (reserved != scheduler_reserved(s)) return "reserved bytes";
    const char *wrong = settled ? check_levels(s) : NULL;
    if (!wrong && config && config->ageing <= 0) wrong = check_slots(s, config);
    return wrong;
}

const char *sim_idleness(const scheduler *s, const sched_config *config) {
    job_priority least = JOB_LOW;
    for (const sched_task *task = scheduler_tasks(s); task; task = task->next)
        if (!task->cancelled && task->effective > least) least = task->effective;
    for (const sched_job *job = scheduler_jobs(s); job; job = job->next) {
        if (job->effective < least || job_state_is_final(job->state)) continue;
        uint32_t proving = 0, ahead = 0, checks = 0, synthesizing = 0, verifying = 0;
        for (const sched_job *other = scheduler_jobs(s); other; other = other->next) {
            if (other->effective < job->effective) continue;
            uint32_t begun = other->synthesizing + other->synthesized + other->proving + other->proved;
            proving += other->proving;
            ahead += other->synthesizing + other->synthesized;
            synthesizing += other->synthesizing;
            verifying += other->verifying;
            checks += other->checking || (other->checked && begun < other->plan.partitions);
        }
        uint32_t begun = job->synthesizing + job->synthesized + job->proving + job->proved;
        if (job->proved == job->plan.partitions && !job->verifying && verifying < 2)
            return "a verification could start";
        if (job->synthesized > 0 && proving == 0) return "a proof could start";
        if (job->checked && begun < job->plan.partitions && ahead < config->lookahead && synthesizing < 2)
            return "a synthesis could start";
        if (!job->checked && !job->checking && checks < 2) return "a check could start";
    }
    return NULL;
}
