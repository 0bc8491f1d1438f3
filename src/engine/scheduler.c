#include "engine/scheduler.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/scheduler_internal.h"

#define RANKS       4    /* levels within a priority */
#define CHECK_AHEAD 2u   /* jobs being checked, or checked with partitions left to synthesize */
#define AT_ONCE     2u   /* syntheses, and verifications, of a priority or above */
#define MAX_AHEAD   256u /* partitions */

/* --- life -------------------------------------------------------------------------------------------------
 */

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high) {
    return value < low ? low : value > high ? high : value;
}

cuzk_code scheduler_create(scheduler **out, const sched_config *config, sched_ended_fn ended, void *ctx,
                           cuzk_error *err) {
    scheduler *s = calloc(1, sizeof *s);
    *out = s;
    if (!s) return error_no_memory(err, sizeof *s, "the scheduler");
    s->ended = ended;
    s->ctx = ctx;
    s->flush_at = HUGE_VAL;
    s->clock = s->turn_ended = -HUGE_VAL;
    for (unsigned p = 0; p < JOB_PRIORITIES; p++) s->urgent_at[p] = -HUGE_VAL;
    scheduler_configure(s, config);
    return CUZK_OK;
}

static void free_job(sched_job *job) {
    free(job->partition);
    free(job);
}

void scheduler_destroy(scheduler *s) {
    if (!s) return;
    while (s->first_task) {
        sched_task *task = s->first_task;
        s->first_task = task->next;
        free(task);
    }
    while (s->first_job) {
        sched_job *job = s->first_job;
        s->first_job = job->next;
        free_job(job);
    }
    free(s);
}

/* --- priorities -------------------------------------------------------------------------------------------
 */

/* Within a priority: verification frees a whole job, proving is what everything waits for, the rest fills the
 * gaps, unless the prover is going to wait for it. */
static int rank(stage_kind stage) {
    return stage == STAGE_VERIFY ? 3 : stage == STAGE_PROVE ? 1 : 0;
}
#define RANK_AWAITED 2

/* What the prover has to wait for when it is done with what it has: by priority, or NULL. */
static void find_awaited(sched_task *out[JOB_PRIORITIES], const scheduler *s) {
    bool ready[JOB_PRIORITIES] = {false};
    for (const sched_job *job = s->first_job; job; job = job->next)
        if (!job_state_is_final(job->state)) ready[job->effective] |= job->synthesized > 0;
    for (unsigned p = 0; p < JOB_PRIORITIES; p++) out[p] = NULL;
    for (sched_task *task = s->first_task; task; task = task->next) {
        sched_task **first = &out[sched_task_priority(task)];
        bool before = !*first || (task->stage == STAGE_SYNTHESIS && (*first)->stage == STAGE_CHECK);
        bool ahead = task->stage == STAGE_SYNTHESIS || task->stage == STAGE_CHECK;
        if (ahead && before && !task->cancelled && !ready[sched_task_priority(task)]) *first = task;
    }
}

uint32_t scheduler_position(const scheduler *s, job_priority priority) {
    uint32_t before = 0;
    for (const sched_job *job = s->first_job; job; job = job->next) before += job->effective >= priority;
    return before;
}

/* --- memory -----------------------------------------------------------------------------------------------
 */

static uint64_t add_sizes(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What a job needs beside what it holds, to get a partition through. */
static uint64_t passage_bytes(const backend_plan *p) {
    return add_sizes(p->witness_bytes, add_sizes(p->synthesis_bytes, p->prove_bytes));
}

/* What it takes to carry out the accepted jobs. */
static uint64_t needed(const scheduler *s) {
    uint64_t tasks = 0, passage = 0, prove = 0;
    for (const sched_job *job = s->first_job; job; job = job->next) {
        const backend_plan *p = &job->plan;
        tasks = add_sizes(tasks, p->task_bytes);
        if (passage_bytes(p) > passage) passage = passage_bytes(p);
        if (job->synthesized + job->synthesizing > 0 && p->prove_bytes > prove) prove = p->prove_bytes;
    }
    uint64_t any = add_sizes(tasks, passage), waiting = add_sizes(s->held, prove);
    return any > waiting ? any : waiting;
}

static uint64_t less_external(const scheduler *s, uint64_t bytes) {
    return bytes > s->external ? bytes - s->external : 0;
}

static uint64_t usable(const scheduler *s) {
    return less_external(s, s->promised > s->config.budget ? s->promised : s->config.budget);
}

/* Does the memory suffice for such a job? */
static bool suffices(const scheduler *s, const backend_plan *plan) {
    return add_sizes(plan->task_bytes, passage_bytes(plan)) <= usable(s);
}

/* Of the jobs that the memory suffices for: others wait until there is more. */
static uint64_t largest_passage(const scheduler *s) {
    uint64_t most = 0;
    for (const sched_job *job = s->first_job; job; job = job->next) {
        uint64_t bytes = passage_bytes(&job->plan);
        if (bytes > most && suffices(s, &job->plan)) most = bytes;
    }
    return most;
}

/* Do `bytes` fit beside what is in use? */
static bool fits_beside(scheduler *s, uint64_t in_use, uint64_t bytes) {
    uint64_t total = add_sizes(in_use, bytes), limit = usable(s);
    if (total <= limit) return true;
    uint64_t lack = total - limit;
    if (s->lacking == 0 || lack < s->lacking) s->lacking = lack;
    return false;
}

/* May `bytes` be reserved now? */
static bool fits(scheduler *s, uint64_t bytes) {
    return fits_beside(s, s->reserved, bytes);
}

static uint64_t mebibytes(uint64_t bytes) {
    return bytes / (1u << 20) + (bytes % (1u << 20) != 0);
}

static cuzk_code admit(const scheduler *s, const backend_plan *plan, bool *can_retry, cuzk_error *err) {
    uint64_t passage = passage_bytes(plan), need = add_sizes(plan->task_bytes, passage);
    *can_retry = false;
    if (need > s->config.budget)
        return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                         "a job of %s needs %" PRIu64 " MiB of memory, the budget is %" PRIu64 " MiB",
                         plan->circuit, mebibytes(need), s->config.budget >> 20);
    *can_retry = true;
    if (s->jobs >= s->config.max_queue)
        return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                         "the queue is full: %" PRIu32 " unfinished jobs", s->jobs);
    /* What waits can go on: with witnesses, they must get through the prover; without, any job must. */
    uint64_t tasks = plan->task_bytes, largest = largest_passage(s), prove = 0;
    for (const sched_job *job = s->first_job; job; job = job->next) {
        tasks = add_sizes(tasks, job->plan.task_bytes);
        bool ahead = job->synthesized + job->synthesizing > 0 && suffices(s, &job->plan);
        if (ahead && job->plan.prove_bytes > prove) prove = job->plan.prove_bytes;
    }
    if (passage > largest) largest = passage;
    uint64_t limit = less_external(s, s->config.budget);
    if (add_sizes(s->reserved, plan->task_bytes) > limit || add_sizes(tasks, largest) > limit ||
        add_sizes(add_sizes(s->held, plan->task_bytes), prove) > limit)
        return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                         "jobs hold %" PRIu64 " of %" PRIu64 " MiB of memory; a job of %s needs %" PRIu64
                         " MiB",
                         mebibytes(s->reserved), s->config.budget >> 20, plan->circuit, mebibytes(need));
    return CUZK_OK;
}

void scheduler_configure(scheduler *s, const sched_config *config) {
    s->promised = needed(s);
    s->config = *config;
    s->config.lookahead = clamp(config->lookahead, 1, MAX_AHEAD);
    s->config.max_batch = clamp(config->max_batch, 1, SCHED_MAX_BATCH);
    if (s->config.max_queue == 0) s->config.max_queue = 1;
    if (s->config.lookahead < s->config.max_batch) s->config.lookahead = s->config.max_batch;
}

/* --- jobs -------------------------------------------------------------------------------------------------
 */

/* Batches of less urgent jobs wait no longer for company. */
static void became_urgent(scheduler *s, const sched_job *job, double now) {
    for (unsigned p = JOB_LOW; p < job->priority; p++) s->urgent_at[p] = now;
}

cuzk_code scheduler_submit(sched_job **out, scheduler *s, double now, const sched_job *job_in,
                           bool *can_retry, cuzk_error *err) {
    *out = NULL;
    *can_retry = false;
    if (job_in->priority < JOB_LOW || job_in->priority > JOB_CRITICAL || job_in->plan.partitions == 0)
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                         "a job of priority %d with %" PRIu32 " partitions", (int)job_in->priority,
                         job_in->plan.partitions);
    TRY(admit(s, &job_in->plan, can_retry, err));
    sched_job *job = calloc(1, sizeof *job);
    sched_partition *partitions = calloc(job_in->plan.partitions, sizeof *partitions);
    if (!job || !partitions) {
        *can_retry = true;
        free(job);
        free(partitions);
        return error_no_memory(err, sizeof *job + job_in->plan.partitions * sizeof *partitions, "a job");
    }
    sched_ageing_pass(s, now);
    sched_ageing_enter(s, job_in->priority, now);
    *job = (sched_job){.priority = job_in->priority,
                       .effective = job_in->priority,
                       .plan = job_in->plan,
                       .circuit = job_in->circuit,
                       .deadline = job_in->deadline,
                       .user = job_in->user,
                       .partition = partitions,
                       .accepted = now,
                       .served = now,
                       .started = -1,
                       .state = JOB_QUEUED,
                       .seq = s->next_seq++,
                       .previous = s->last_job};
    *(s->last_job ? &s->last_job->next : &s->first_job) = job;
    s->last_job = job;
    s->jobs++;
    became_urgent(s, job, now);
    s->held += job->plan.task_bytes;
    s->reserved += job->plan.task_bytes;
    *out = job;
    return CUZK_OK;
}

void scheduler_raise(scheduler *s, double now, sched_job *job, job_priority priority) {
    if (priority <= job->priority || priority > JOB_CRITICAL) return;
    sched_ageing_pass(s, now);
    sched_ageing_enter(s, priority, now);
    job->priority = priority;
    if (job->effective < priority) job->effective = priority;
    became_urgent(s, job, now);
}

static void drop_witness(scheduler *s, const sched_job *job) {
    s->held -= job->plan.witness_bytes;
    s->reserved -= job->plan.witness_bytes;
}

static void finish_if_idle(scheduler *s, double now, sched_job *job) {
    if (!job_state_is_final(job->state) || job->tasks > 0) return;
    for (uint32_t k = 0; job->synthesized > 0; k++) {
        if (job->partition[k].state != SCHED_SYNTHESIZED) continue;
        job->partition[k].state = SCHED_PENDING;
        job->synthesized--;
        drop_witness(s, job);
    }
    s->held -= job->plan.task_bytes;
    s->reserved -= job->plan.task_bytes;
    s->jobs--;
    *(job->previous ? &job->previous->next : &s->first_job) = job->next;
    *(job->next ? &job->next->previous : &s->last_job) = job->previous;
    sched_ageing_end(s, job);
    s->ended(s->ctx, job, now);
    free_job(job);
}

/* A task whose jobs have all ended is of no use. */
static void cancel_orphans(scheduler *s) {
    for (sched_task *task = s->first_task; task; task = task->next) {
        bool wanted = false;
        for (uint32_t i = 0; i < task->n; i++) wanted |= !job_state_is_final(task->item[i].job->state);
        task->cancelled = !wanted;
    }
}

void scheduler_end(scheduler *s, double now, sched_job *job, job_state state) {
    sched_ageing_pass(s, now);
    if (!job_state_is_final(job->state)) job->state = state;
    cancel_orphans(s);
    finish_if_idle(s, now, job);
}

static void pass_deadlines(scheduler *s, double now) {
    for (sched_job *job = s->first_job, *next; job; job = next) {
        next = job->next;
        if (job->deadline > 0 && now >= job->deadline && !job_state_is_final(job->state))
            scheduler_end(s, now, job, JOB_TIMEOUT);
    }
}

static void tick(scheduler *s, double now) {
    sched_ageing_pass(s, now);
    pass_deadlines(s, now);
    if (s->promised > s->config.budget) s->promised = needed(s);
    sched_ageing_give(s, now);
}

/* --- choosing ---------------------------------------------------------------------------------------------
 */

/* How much runs and waits for jobs of at least a priority. */
typedef struct load {
    uint32_t checking, checked;   /* jobs: being checked; checked with partitions to synthesize */
    uint32_t ahead, synthesizing; /* partitions: synthesized or in synthesis; in synthesis */
    uint32_t proving, verifying;  /* jobs */
} load;

/* A search for the next stage to start. */
typedef struct search {
    double now;
    load loads[JOB_PRIORITIES];
    bool lifted;       /* nothing runs, and nothing may start by the rules that only keep order */
    bool memory_short; /* the first in order lacks memory: it gets what becomes free */
    bool prover_first; /* a synthesis waits for the prover to take what is there */
} search;

static bool unbegun(const sched_job *job) {
    return job->synthesizing + job->synthesized + job->proving + job->proved < job->plan.partitions;
}

static void count_load(load out[JOB_PRIORITIES], const scheduler *s) {
    memset(out, 0, JOB_PRIORITIES * sizeof *out);
    for (const sched_job *job = s->first_job; job; job = job->next) {
        load *l = &out[job->effective];
        l->checking += job->checking;
        l->checked += job->checked && unbegun(job);
        l->ahead += job->synthesizing + job->synthesized;
        l->synthesizing += job->synthesizing;
        l->proving += job->proving > 0;
        l->verifying += job->verifying;
    }
    for (unsigned p = JOB_CRITICAL; p-- > 0;) {
        out[p].checking += out[p + 1].checking;
        out[p].checked += out[p + 1].checked;
        out[p].ahead += out[p + 1].ahead;
        out[p].synthesizing += out[p + 1].synthesizing;
        out[p].proving += out[p + 1].proving;
        out[p].verifying += out[p + 1].verifying;
    }
}

static bool may_start(const scheduler *s, const search *a, stage_kind stage, const sched_job *job) {
    const load *l = &a->loads[job->effective];
    switch (stage) {
    case STAGE_CHECK:
        return !job->checked && !job->checking && (a->lifted || l->checking + l->checked < CHECK_AHEAD);
    case STAGE_SYNTHESIS:
        return job->checked && unbegun(job) && !job->lacks_memory &&
               (a->lifted || (l->ahead < s->config.lookahead && l->synthesizing < AT_ONCE));
    case STAGE_PROVE:
        return job->synthesized > 0 && l->proving == 0 && !job->awaits_batch && !job->lacks_memory;
    case STAGE_VERIFY:
        return job->proved == job->plan.partitions && !job->verifying && l->verifying < AT_ONCE;
    }
    return false;
}

/* The first job in order, of a priority, of which the stage may start. */
static sched_job *choose(const scheduler *s, const search *a, stage_kind stage, job_priority priority) {
    sched_job *first = NULL;
    for (sched_job *job = s->first_job; job; job = job->next) {
        if (job->effective != priority || job_state_is_final(job->state) || !may_start(s, a, stage, job))
            continue;
        if (!first) first = job;
        if (!s->config.group_by_circuit || !s->any_proved) return first;
        if (job->circuit == s->last_circuit) return job;
        if (a->now - job->served >= SCHED_GROUP_SECONDS) return first;
    }
    return first;
}

static uint32_t first_in_state(const sched_job *job, sched_partition_state state, uint32_t from) {
    while (from < job->plan.partitions && job->partition[from].state != state) from++;
    return from;
}

/* --- starting ---------------------------------------------------------------------------------------------
 */

static sched_task *start(scheduler *s, double now, stage_kind stage, const sched_item *items, uint32_t n,
                         uint64_t bytes) {
    sched_task *task = calloc(1, sizeof *task);
    if (!task) return NULL;
    *task = (sched_task){.stage = stage, .n = n, .bytes = bytes, .started = now, .previous = s->last_task};
    task->effective = JOB_LOW;
    *(s->last_task ? &s->last_task->next : &s->first_task) = task;
    s->last_task = task;
    s->reserved += bytes;
    for (uint32_t i = 0; i < n; i++) {
        sched_job *job = items[i].job;
        job_priority p = job->effective;
        if (p > task->effective) task->effective = p;
        task->item[i] = items[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        sched_job *job = items[i].job;
        job->tasks++;
        job->served = now;
        if (job->state == JOB_QUEUED) {
            job->state = JOB_RUNNING;
            job->started = now;
        }
    }
    task->level = (int)task->effective * RANKS + rank(stage);
    return task;
}

static sched_task *next_check(scheduler *s, const search *a, job_priority priority) {
    sched_job *job = choose(s, a, STAGE_CHECK, priority);
    sched_task *task = job ? start(s, a->now, STAGE_CHECK, &(sched_item){job, 0}, 1, 0) : NULL;
    if (task) job->checking = true;
    return task;
}

static sched_task *next_verify(scheduler *s, const search *a, job_priority priority) {
    sched_job *job = choose(s, a, STAGE_VERIFY, priority);
    sched_task *task = job ? start(s, a->now, STAGE_VERIFY, &(sched_item){job, 0}, 1, 0) : NULL;
    if (task) job->verifying = true;
    return task;
}

/* NULL when memory is short. */
static sched_task *start_synthesis(scheduler *s, double now, sched_job *job) {
    uint64_t witness = job->plan.witness_bytes, bytes = witness + job->plan.synthesis_bytes;
    if (!fits_beside(s, s->held, passage_bytes(&job->plan)) || !fits(s, bytes)) return NULL;
    uint32_t k = first_in_state(job, SCHED_PENDING, 0);
    sched_task *task = start(s, now, STAGE_SYNTHESIS, &(sched_item){job, k}, 1, bytes);
    if (!task) return NULL;
    task->bytes -= witness; /* the job's, once the task has ended */
    s->held += witness;
    job->partition[k].state = SCHED_SYNTHESIZING;
    job->partition[k].task = task;
    job->partition[k].attempts++;
    job->synthesizing++;
    return task;
}

static sched_task *next_synthesis(scheduler *s, search *a, job_priority priority) {
    while (!a->memory_short && !a->prover_first) {
        sched_job *job = choose(s, a, STAGE_SYNTHESIS, priority);
        if (!job) return NULL;
        /* Ahead of the prover only as long as whatever comes next still gets through. */
        uint64_t witness = job->plan.witness_bytes;
        bool through = a->lifted || a->loads[JOB_LOW].ahead == 0 ||
                       add_sizes(s->held, add_sizes(witness, largest_passage(s))) <= usable(s);
        sched_task *task = through ? start_synthesis(s, a->now, job) : NULL;
        if (task) return task;
        if (a->lifted)
            job->lacks_memory = true;
        else if (through)
            a->memory_short = true;
        else
            a->prover_first = true;
    }
    return NULL;
}

static void collect_from(sched_job *job, uint32_t most, sched_item items[SCHED_MAX_BATCH], uint32_t *n,
                         double *oldest) {
    for (uint32_t k = first_in_state(job, SCHED_SYNTHESIZED, 0); k < job->plan.partitions && *n < most;
         k = first_in_state(job, SCHED_SYNTHESIZED, k + 1)) {
        items[(*n)++] = (sched_item){job, k};
        if (job->partition[k].ready < *oldest) *oldest = job->partition[k].ready;
    }
}

/* The partitions to prove together: those of `first`, then of other jobs of its circuit and priority, in
 * order. */
static uint32_t collect_batch(const scheduler *s, sched_job *first, sched_item items[SCHED_MAX_BATCH],
                              double *oldest) {
    uint32_t n = 0;
    *oldest = HUGE_VAL;
    collect_from(first, s->config.max_batch, items, &n, oldest);
    for (sched_job *job = s->first_job; job; job = job->next)
        if (job != first && !job_state_is_final(job->state) && job->circuit == first->circuit &&
            job->effective == first->effective)
            collect_from(job, s->config.max_batch, items, &n, oldest);
    return n;
}

/* Does a batch of the priority, of partitions since `oldest`, go as it is although it is not full? */
static bool goes_alone(const scheduler *s, const search *a, job_priority priority, double oldest) {
    if (priority >= JOB_HIGH || oldest <= s->urgent_at[priority]) return true;
    for (const sched_job *job = s->first_job; job; job = job->next) {
        if (job->effective > priority) return true;
        /* Nothing runs: this waits for the prover to take what is there. */
        if (a->lifted && !job_state_is_final(job->state) && (!job->checked || unbegun(job))) return true;
    }
    return false;
}

/* NULL when memory is short. */
static sched_task *start_prove(scheduler *s, double now, const sched_item *items, uint32_t n) {
    const sched_job *first = items[0].job;
    const backend_plan *plan = &first->plan;
    uint64_t bytes = plan->prove_bytes;
    if (!fits(s, bytes)) return NULL;
    uint32_t fit = 1;
    while (fit < n && add_sizes(s->reserved, bytes + plan->prove_extra_bytes) <= usable(s)) {
        bytes += plan->prove_extra_bytes;
        fit++;
    }
    sched_task *task = start(s, now, STAGE_PROVE, items, fit, bytes);
    if (!task) return NULL;
    for (uint32_t i = 0; i < fit; i++) {
        sched_job *job = items[i].job;
        sched_partition *p = &job->partition[items[i].partition];
        p->state = SCHED_PROVING;
        p->task = task;
        job->synthesized--;
        job->proving++;
        /* The witness no longer waits: it goes when the task ends. */
        s->held -= job->plan.witness_bytes;
        task->bytes += job->plan.witness_bytes;
    }
    s->last_circuit = first->circuit;
    s->any_proved = true;
    return task;
}

/* The first batch in order that need not wait for company. */
static sched_task *next_prove(scheduler *s, search *a, job_priority priority) {
    while (!a->memory_short) {
        sched_job *job = choose(s, a, STAGE_PROVE, priority);
        if (!job) return NULL;
        sched_item items[SCHED_MAX_BATCH];
        double oldest;
        uint32_t n = collect_batch(s, job, items, &oldest);
        double flush_at = oldest + s->config.max_batch_wait;
        if (n < s->config.max_batch && a->now < flush_at && !goes_alone(s, a, priority, oldest)) {
            if (flush_at < s->flush_at) s->flush_at = flush_at;
            for (uint32_t i = 0; i < n; i++) items[i].job->awaits_batch = true;
            continue;
        }
        sched_task *task = start_prove(s, a->now, items, n);
        if (task) return task;
        if (a->lifted)
            job->lacks_memory = true;
        else
            a->memory_short = true;
    }
    return NULL;
}

/* The most urgent job goes first; nothing is started that would be paused at once. */
static sched_task *next_in_order(scheduler *s, search *a) {
    job_priority least = sched_most_urgent(s);
    for (job_priority p = JOB_CRITICAL; p >= least; p--) {
        sched_task *task = next_verify(s, a, p);
        if (!task) task = next_prove(s, a, p);
        if (!task) task = next_synthesis(s, a, p);
        if (!task) task = next_check(s, a, p);
        if (task) return task;
    }
    return NULL;
}

sched_task *scheduler_next(scheduler *s, double now) {
    tick(s, now);
    search a = {.now = now};
    count_load(a.loads, s);
    s->lacking = 0;
    s->flush_at = HUGE_VAL;
    for (sched_job *job = s->first_job; job; job = job->next) job->awaits_batch = job->lacks_memory = false;
    sched_task *task = next_in_order(s, &a);
    if (task || s->first_task) return task;
    a.lifted = true;
    a.memory_short = a.prover_first = false;
    for (sched_job *job = s->first_job; job; job = job->next) job->awaits_batch = false;
    return next_in_order(s, &a);
}

uint64_t scheduler_lacking(const scheduler *s) {
    return s->lacking;
}

/* --- ending -----------------------------------------------------------------------------------------------
 */

static void partition_again(scheduler *s, double now, sched_job *job, sched_partition *p) {
    p->state = SCHED_PENDING;
    if (p->attempts >= SCHED_ATTEMPTS) scheduler_end(s, now, job, JOB_FAILED);
}

static void synthesis_done(scheduler *s, double now, sched_job *job, sched_partition *p,
                           sched_outcome outcome) {
    job->synthesizing--;
    if (outcome == SCHED_OK) {
        p->state = SCHED_SYNTHESIZED;
        p->ready = now;
        job->synthesized++;
    } else {
        drop_witness(s, job);
        partition_again(s, now, job, p);
    }
}

static void proof_done(scheduler *s, double now, sched_job *job, sched_partition *p, sched_outcome outcome) {
    job->proving--;
    if (outcome == SCHED_OK) {
        p->state = SCHED_PROVED;
        job->proved++;
        sched_ageing_end(s, job);
    } else {
        partition_again(s, now, job, p);
    }
}

static void verify_done(scheduler *s, double now, sched_job *job, sched_outcome outcome, uint32_t bad) {
    job->verifying = false;
    if (outcome == SCHED_OK) {
        scheduler_end(s, now, job, JOB_COMPLETED);
    } else if (outcome == SCHED_RETRY && bad < job->plan.partitions &&
               job->partition[bad].state == SCHED_PROVED) {
        job->proved--;
        partition_again(s, now, job, &job->partition[bad]);
    } else {
        scheduler_end(s, now, job, JOB_FAILED);
    }
}

static void item_done(scheduler *s, double now, const sched_task *task, uint32_t i, sched_outcome outcome,
                      uint32_t bad) {
    sched_job *job = task->item[i].job;
    sched_partition *p = NULL;
    if (task->stage == STAGE_SYNTHESIS || task->stage == STAGE_PROVE) {
        p = &job->partition[task->item[i].partition];
        p->task = NULL;
    }
    job->served = now;
    switch (task->stage) {
    case STAGE_CHECK:
        job->checking = false;
        job->checked = outcome == SCHED_OK;
        break;
    case STAGE_SYNTHESIS:
        synthesis_done(s, now, job, p, outcome);
        break;
    case STAGE_PROVE:
        proof_done(s, now, job, p, outcome);
        break;
    case STAGE_VERIFY:
        verify_done(s, now, job, outcome, bad);
        break;
    }
    if (outcome == SCHED_FAILED || (outcome == SCHED_RETRY && task->stage == STAGE_CHECK))
        scheduler_end(s, now, job, JOB_FAILED);
}

void scheduler_done(scheduler *s, double now, sched_task *task, const sched_outcome *outcomes, uint32_t bad) {
    sched_ageing_pass(s, now);
    s->reserved -= task->bytes;
    *(task->previous ? &task->previous->next : &s->first_task) = task->next;
    *(task->next ? &task->next->previous : &s->last_task) = task->previous;
    for (uint32_t i = 0; i < task->n; i++) item_done(s, now, task, i, outcomes[i], bad);
    /* A job may be in the batch more than once: let go of it only after all of its items are settled. */
    for (uint32_t i = 0; i < task->n; i++) {
        sched_job *job = task->item[i].job;
        if (--job->tasks == 0) finish_if_idle(s, now, job);
    }
    free(task);
}

/* --- time -------------------------------------------------------------------------------------------------
 */

static void set_paused(sched_task *task, bool paused, double now) {
    if (task->paused == paused) return;
    task->paused = paused;
    for (uint32_t i = 0; i < task->n; i++) task->item[i].job->served = now;
}

void scheduler_update(scheduler *s, double now, void (*changed)(void *ctx, sched_task *task), void *ctx) {
    tick(s, now);
    job_priority most = sched_most_urgent(s);
    sched_task *awaited[JOB_PRIORITIES];
    find_awaited(awaited, s);
    for (sched_task *task = s->first_task; task; task = task->next) {
        job_priority p = sched_task_priority(task);
        int level = (int)p * RANKS + (task == awaited[p] ? RANK_AWAITED : rank(task->stage));
        bool pause = level / RANKS < (int)most && !task->cancelled, was_told = task->told;
        bool change = level != task->level || pause != task->paused || task->cancelled != was_told;
        task->level = level;
        task->effective = (job_priority)(level / RANKS);
        task->told = task->cancelled;
        set_paused(task, pause, now);
        if (change && changed) changed(ctx, task);
    }
}

double scheduler_wakeup(const scheduler *s) {
    double at = s->flush_at;
    for (const sched_job *job = s->first_job; job; job = job->next)
        if (job->deadline > 0 && job->deadline < at && !job_state_is_final(job->state)) at = job->deadline;
    double turn = sched_ageing_due(s);
    return turn < at ? turn : at;
}

void scheduler_set_external(scheduler *s, uint64_t bytes) {
    s->external = bytes;
}

sched_job *scheduler_jobs(const scheduler *s) {
    return s->first_job;
}
sched_task *scheduler_tasks(const scheduler *s) {
    return s->first_task;
}
uint32_t scheduler_job_count(const scheduler *s) {
    return s->jobs;
}
uint64_t scheduler_reserved(const scheduler *s) {
    return s->reserved;
}
uint32_t scheduler_synthesized(const scheduler *s) {
    uint32_t n = 0;
    for (const sched_job *job = s->first_job; job; job = job->next) n += job->synthesized;
    return n;
}
