#include "simulation.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TASKS       4096u
#define TIMELINE_EVENTS 100u
#define MAX_IDLE_ROUNDS 8u

typedef enum happening_kind { SUBMIT, CANCEL, EXTERNAL, CONFIGURE } happening_kind;

typedef struct happening {
    double time;
    uint64_t seq; /* of the same time: in the order they were added */
    happening_kind kind;
    uint32_t job;
    uint64_t bytes;
    sched_config config;
} happening;

typedef struct sim_task {
    uint32_t number;
    double left;   /* core-seconds, at `now` */
    double usable; /* cores */
    double share;  /* cores it has */
    double finish; /* HUGE_VAL: not as things are */
    bool hangs, paused, cancelled;
    sched_outcome outcome[SCHED_MAX_BATCH];
    uint32_t bad;
} sim_task;

struct simulation {
    scheduler *s;
    sched_config config;
    uint64_t external, most_budget; /* most_budget: once it was changed */
    double cores, now, busy;
    sim_job *jobs;
    sim_fault *faults;
    happening *queue; /* heap */
    sim_event *events;
    size_t n_jobs, n_faults, n_queue, n_events;
    size_t cap_jobs, cap_faults, cap_queue, cap_events;
    uint64_t next_seq, peak;
    uint32_t next_task, interval, since_check, idle_rounds;
    bool expect_busy, progress;
    bool memory_varies; /* then limits may be lifted */
};

/* Room for one more. */
static void *grow(void *array, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity) return array;
    *capacity = *capacity ? 2 * *capacity : 64;
    void *bigger = realloc(array, *capacity * size);
    assert_non_null(bigger);
    return bigger;
}

/* --- trace ------------------------------------------------------------------------------------------------
 */

static void record(simulation *sim, sim_event_kind kind, uint32_t job, uint32_t partition, stage_kind stage,
                   uint32_t number, uint32_t outcome) {
    sim->events = grow(sim->events, sim->n_events, &sim->cap_events, sizeof *sim->events);
    sim->events[sim->n_events++] = (sim_event){.time = sim->now,
                                               .kind = kind,
                                               .job = job,
                                               .partition = partition,
                                               .stage = stage,
                                               .number = number,
                                               .outcome = outcome};
    sim->progress = true;
}

static uint32_t number_of(const sched_job *job) {
    return (uint32_t)(uintptr_t)job->user;
}

static void record_task(simulation *sim, sim_event_kind kind, const sched_task *task) {
    const sim_task *t = task->user;
    for (uint32_t i = 0; i < task->n; i++) {
        bool whole = task->stage == STAGE_CHECK || task->stage == STAGE_VERIFY;
        record(sim, kind, number_of(task->item[i].job), whole ? SIM_ANY : task->item[i].partition,
               task->stage, t->number, kind == SIM_END ? t->outcome[i] : 0);
    }
}

void sim_fail(const simulation *sim, const char *file, int line, const char *what) {
    static const char *const kinds[] = {"submit", "refuse", "start", "pause", "resume", "end", "finish"};
    static const char *const stages[] = {"check", "synthesis", "prove", "verify"};
    static const char *const outcomes[] = {"", "failed", "retry"};
    size_t first = sim->n_events > TIMELINE_EVENTS ? sim->n_events - TIMELINE_EVENTS : 0;
    for (size_t i = first; i < sim->n_events; i++) {
        const sim_event *e = &sim->events[i];
        bool whole = e->kind == SIM_SUBMIT || e->kind == SIM_REFUSE || e->kind == SIM_FINISH;
        print_error("%12.4f  job %-4" PRIu32 " %-8s %-7s", e->time, e->job,
                    job_priority_name(sim->jobs[e->job].priority), kinds[e->kind]);
        if (e->kind == SIM_FINISH) print_error("%s", job_state_name((job_state)e->number));
        if (!whole) print_error("%-9s task %" PRIu32, stages[e->stage], e->number);
        if (!whole && e->partition != SIM_ANY) print_error(", partition %" PRIu32, e->partition);
        print_error(" %s\n", outcomes[e->outcome]);
    }
    print_error("%12.4f  now: %" PRIu32 " jobs, %" PRIu64 " bytes reserved of %" PRIu64 ", %" PRIu64
                " used besides\n",
                sim->now, scheduler_job_count(sim->s), scheduler_reserved(sim->s), sim->config.budget,
                sim->external);
    print_error("%s:%d: %s\n", file, line, what);
    fail();
    abort();
}

double sim_when(const simulation *sim, sim_event_kind kind, uint32_t job, uint32_t partition,
                stage_kind stage) {
    for (size_t i = 0; i < sim->n_events; i++) {
        const sim_event *e = &sim->events[i];
        if (e->kind == kind && e->job == job && e->partition == partition && e->stage == stage)
            return e->time;
    }
    return -1;
}

uint32_t sim_count(const simulation *sim, sim_event_kind kind, uint32_t job, stage_kind stage) {
    uint32_t n = 0;
    for (size_t i = 0; i < sim->n_events; i++) {
        const sim_event *e = &sim->events[i];
        n += e->kind == kind && (job == SIM_ANY || e->job == job) && e->stage == stage;
    }
    return n;
}

uint64_t sim_digest(const simulation *sim) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sim->n_events; i++) {
        const sim_event *e = &sim->events[i];
        uint64_t time;
        memcpy(&time, &e->time, sizeof time);
        const uint64_t words[] = {time, e->kind, e->job, e->partition, e->stage, e->number, e->outcome};
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) h = (h ^ words[k]) * 0x100000001b3u;
    }
    return h;
}

/* --- what is given ----------------------------------------------------------------------------------------
 */

static bool earlier(const happening *a, const happening *b) {
    return a->time != b->time ? a->time < b->time : a->seq < b->seq;
}

static void push(simulation *sim, happening h) {
    sim->queue = grow(sim->queue, sim->n_queue, &sim->cap_queue, sizeof *sim->queue);
    h.seq = sim->next_seq++;
    size_t i = sim->n_queue++;
    for (; i > 0 && earlier(&h, &sim->queue[(i - 1) / 2]); i = (i - 1) / 2)
        sim->queue[i] = sim->queue[(i - 1) / 2];
    sim->queue[i] = h;
}

static happening pop(simulation *sim) {
    happening top = sim->queue[0], last = sim->queue[--sim->n_queue];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < sim->n_queue && earlier(&sim->queue[child + 1], &sim->queue[child])) child++;
        if (child >= sim->n_queue || !earlier(&sim->queue[child], &last)) break;
        sim->queue[i] = sim->queue[child];
        i = child;
    }
    sim->queue[i] = last;
    return top;
}

uint32_t sim_add(simulation *sim, const sim_job *job) {
    sim->jobs = grow(sim->jobs, sim->n_jobs, &sim->cap_jobs, sizeof *sim->jobs);
    uint32_t number = (uint32_t)sim->n_jobs++;
    sim_job *j = &sim->jobs[number];
    *j = *job;
    j->job = NULL;
    j->state = JOB_QUEUED;
    j->accepted = j->started = j->ended = -1;
    push(sim, (happening){.time = job->arrival, .kind = SUBMIT, .job = number});
    if (job->cancel_at > 0) push(sim, (happening){.time = job->cancel_at, .kind = CANCEL, .job = number});
    return number;
}

void sim_add_fault(simulation *sim, const sim_fault *fault) {
    sim->faults = grow(sim->faults, sim->n_faults, &sim->cap_faults, sizeof *sim->faults);
    sim->faults[sim->n_faults++] = *fault;
}

void sim_add_external(simulation *sim, double at, uint64_t bytes) {
    push(sim, (happening){.time = at, .kind = EXTERNAL, .bytes = bytes});
}

void sim_add_configure(simulation *sim, double at, const sched_config *config) {
    push(sim, (happening){.time = at, .kind = CONFIGURE, .config = *config});
}

/* --- the caller of the scheduler --------------------------------------------------------------------------
 */

static void job_ended(void *ctx, sched_job *job, double now) {
    simulation *sim = ctx;
    uint32_t number = number_of(job);
    sim_job *j = &sim->jobs[number];
    sim_assert(sim, now == sim->now && j->job == job && job->tasks == 0 && job_state_is_final(job->state));
    sim_assert(sim, job->state != JOB_COMPLETED || job->proved == job->plan.partitions);
    j->job = NULL;
    j->state = job->state;
    j->started = job->started;
    j->ended = now;
    record(sim, SIM_FINISH, number, SIM_ANY, STAGE_CHECK, (uint32_t)job->state, 0);
}

static const sim_fault *find_fault(const simulation *sim, const sched_task *task, const sched_item *item) {
    uint32_t job = number_of(item->job), partition = item->partition, attempt = 1;
    if (task->stage == STAGE_VERIFY) attempt = sim->jobs[job].verified;
    if (task->stage == STAGE_CHECK || task->stage == STAGE_VERIFY) partition = SIM_ANY;
    if (partition != SIM_ANY) attempt = item->job->partition[partition].attempts;
    for (size_t i = 0; i < sim->n_faults; i++) {
        const sim_fault *f = &sim->faults[i];
        if (f->job == job && f->stage == task->stage &&
            (f->partition == SIM_ANY || f->partition == partition) &&
            (f->attempt == SIM_ANY || f->attempt == attempt))
            return f;
    }
    return NULL;
}

static void begin(simulation *sim, sched_task *task) {
    sim_task *t = calloc(1, sizeof *t);
    assert_non_null(t);
    task->user = t;
    t->number = sim->next_task++;
    t->finish = HUGE_VAL;
    for (uint32_t i = 0; i < task->n; i++) {
        sim_job *j = &sim->jobs[number_of(task->item[i].job)];
        if (task->stage == STAGE_VERIFY) j->verified++;
        double usable = j->cores[task->stage];
        if (usable <= 0 || usable > sim->cores) usable = sim->cores;
        if (usable > t->usable) t->usable = usable;
        t->left += j->work[task->stage];
        const sim_fault *fault = find_fault(sim, task, &task->item[i]);
        if (!fault) continue;
        t->outcome[i] = fault->outcome;
        t->hangs |= fault->hangs;
        t->bad = fault->bad;
    }
    record_task(sim, SIM_START, task);
    uint64_t reserved = scheduler_reserved(sim->s);
    sim_assert(sim, task->started == sim->now && !task->paused && !task->cancelled);
    sim_assert(sim, task->stage == STAGE_CHECK || task->stage == STAGE_VERIFY || sim->most_budget > 0 ||
                        reserved + sim->external <= sim->config.budget);
    sim_assert(sim, sim->most_budget == 0 || reserved <= sim->most_budget);
    if (reserved > sim->peak) sim->peak = reserved;
}

static void task_changed(void *ctx, sched_task *task) {
    simulation *sim = ctx;
    sim_task *t = task->user;
    if (task->paused != t->paused) record_task(sim, task->paused ? SIM_PAUSE : SIM_RESUME, task);
    t->paused = task->paused;
    if (!task->cancelled || t->cancelled) return;
    t->cancelled = true;
    t->share = 0;
    t->finish = sim->now + SIM_GRACE;
    sim->progress = true;
}

static void share_cores(simulation *sim) {
    sched_task *order[MAX_TASKS];
    uint32_t n = 0;
    for (sched_task *task = scheduler_tasks(sim->s); task; task = task->next) {
        const sim_task *t = task->user;
        if (t->cancelled) continue;
        sim_assert(sim, n < MAX_TASKS);
        uint32_t i = n++;
        for (; i > 0 && order[i - 1]->level < task->level; i--) order[i] = order[i - 1];
        order[i] = task;
    }
    double left = sim->cores;
    for (uint32_t i = 0; i < n; i++) {
        sim_task *t = order[i]->user;
        double share = t->paused ? 0 : t->usable < left ? t->usable : left;
        left -= share;
        if (share == t->share && (share > 0 || t->left > 0)) continue;
        t->share = share;
        t->finish = t->paused || t->hangs ? HUGE_VAL
                    : t->left <= 0        ? sim->now
                    : share > 0           ? sim->now + t->left / share
                                          : HUGE_VAL;
    }
}

static void check(simulation *sim, bool settled) {
    if (sim->since_check < sim->interval) return;
    const char *wrong = sim_inconsistency(sim->s, sim->memory_varies ? NULL : &sim->config, settled);
    if (wrong) sim_fail(sim, __FILE__, __LINE__, wrong);
}

/* What the caller does after each call: start what may start, tell the rest. */
static void settle(simulation *sim) {
    sim->since_check++;
    check(sim, false);
    sched_task *task;
    while ((task = scheduler_next(sim->s, sim->now))) {
        begin(sim, task);
        check(sim, false);
    }
    scheduler_update(sim->s, sim->now, task_changed, sim);
    share_cores(sim);
    check(sim, true);
    if (sim->since_check < sim->interval) return;
    sim->since_check = 0;
    sim_assert(sim, !scheduler_next(sim->s, sim->now));
}

static void end_task(simulation *sim, sched_task *task) {
    sim_task *t = task->user;
    /* A cancelled stage may still end as it would have. */
    if (t->cancelled && t->number % 2)
        for (uint32_t i = 0; i < task->n; i++) t->outcome[i] = SCHED_FAILED;
    record_task(sim, SIM_END, task);
    scheduler_done(sim->s, sim->now, task, t->outcome, t->bad);
    free(t);
}

static void submit(simulation *sim, uint32_t number) {
    sim_job *j = &sim->jobs[number];
    sched_job in = {.priority = j->priority,
                    .plan = j->plan,
                    .circuit = j->circuit,
                    .deadline = j->deadline > 0 ? sim->now + j->deadline : 0,
                    .user = (void *)(uintptr_t)number};
    cuzk_error err = {0};
    j->refused = scheduler_submit(&j->job, sim->s, sim->now, &in, &j->can_retry, &err) != CUZK_OK;
    memcpy(j->message, err.message, sizeof j->message);
    record(sim, j->refused ? SIM_REFUSE : SIM_SUBMIT, number, SIM_ANY, STAGE_CHECK, 0, 0);
    if (!j->refused) j->accepted = sim->now;
    if (j->refused && j->can_retry && j->retry_wait > 0)
        push(sim, (happening){.time = sim->now + j->retry_wait, .kind = SUBMIT, .job = number});
}

static void happen(simulation *sim, const happening *h) {
    sched_job *job = sim->jobs ? sim->jobs[h->job].job : NULL;
    switch (h->kind) {
    case SUBMIT:
        submit(sim, h->job);
        break;
    case CANCEL:
        if (job) scheduler_end(sim->s, sim->now, job, JOB_CANCELLED);
        break;
    case EXTERNAL:
        sim->memory_varies = true;
        sim->external = h->bytes;
        scheduler_set_external(sim->s, h->bytes);
        break;
    case CONFIGURE:
        sim->memory_varies = true;
        if (sim->config.budget > sim->most_budget) sim->most_budget = sim->config.budget;
        if (h->config.budget > sim->most_budget) sim->most_budget = h->config.budget;
        sim->config = h->config;
        scheduler_configure(sim->s, &h->config);
        break;
    }
    sim->progress = true;
}

/* --- time -------------------------------------------------------------------------------------------------
 */

static void pass(simulation *sim, double to) {
    double passed = to - sim->now, used = 0;
    for (sched_task *task = scheduler_tasks(sim->s); task && passed > 0; task = task->next) {
        sim_task *t = task->user;
        t->left -= t->share * passed;
        used += t->share;
    }
    sim->busy += used * passed;
    sim->now = to;
}

static sched_task *first_to_finish(const simulation *sim) {
    sched_task *first = NULL;
    for (sched_task *task = scheduler_tasks(sim->s); task; task = task->next) {
        double finish = ((const sim_task *)task->user)->finish;
        if (finish < HUGE_VAL && (!first || finish < ((const sim_task *)first->user)->finish)) first = task;
    }
    return first;
}

static bool cores_idle(const simulation *sim) {
    double used = 0;
    for (const sched_task *task = scheduler_tasks(sim->s); task; task = task->next)
        used += ((const sim_task *)task->user)->share;
    return used < sim->cores;
}

void sim_run(simulation *sim, double until) {
    for (;;) {
        sched_task *task = first_to_finish(sim);
        double finish = task ? ((const sim_task *)task->user)->finish : HUGE_VAL;
        double happens = sim->n_queue ? sim->queue[0].time : HUGE_VAL;
        double wakeup = scheduler_wakeup(sim->s);
        double next = fmin(fmin(finish, happens), wakeup);
        if (next == HUGE_VAL || next > until) break;
        if (sim->expect_busy && next > sim->now && cores_idle(sim)) {
            const char *could = sim_idleness(sim->s, &sim->config);
            if (could) sim_fail(sim, __FILE__, __LINE__, could);
        }
        if (next > sim->now) pass(sim, next);
        sim->progress = false;
        if (happens <= sim->now) {
            happening h = pop(sim);
            happen(sim, &h);
        } else if (finish <= sim->now) {
            end_task(sim, task);
        }
        settle(sim);
        /* Woken up for nothing, again and again: the caller would spin. */
        sim->idle_rounds = sim->progress ? 0 : sim->idle_rounds + 1;
        sim_assert(sim, sim->idle_rounds < MAX_IDLE_ROUNDS);
    }
    if (until < HUGE_VAL && until > sim->now) pass(sim, until);
}

void sim_finish(simulation *sim) {
    sim_run(sim, HUGE_VAL);
    sim_assert(sim, scheduler_job_count(sim->s) == 0 && !scheduler_jobs(sim->s));
    sim_assert(sim, !scheduler_tasks(sim->s));
    sim_assert(sim, scheduler_reserved(sim->s) == 0);
    for (size_t i = 0; i < sim->n_jobs; i++)
        sim_assert(sim, sim->jobs[i].refused || job_state_is_final(sim->jobs[i].state));
}

/* --- the rest ---------------------------------------------------------------------------------------------
 */

simulation *sim_create(const sched_config *config, unsigned cores) {
    simulation *sim = calloc(1, sizeof *sim);
    assert_non_null(sim);
    sim->config = *config;
    sim->cores = cores;
    sim->interval = 1;
    assert_int_equal(scheduler_create(&sim->s, config, job_ended, sim, NULL), CUZK_OK);
    return sim;
}

void sim_destroy(simulation *sim) {
    for (sched_task *task = scheduler_tasks(sim->s); task; task = task->next) free(task->user);
    scheduler_destroy(sim->s);
    free(sim->jobs);
    free(sim->faults);
    free(sim->queue);
    free(sim->events);
    free(sim);
}

void sim_check_interval(simulation *sim, uint32_t n) {
    sim->interval = n;
}
void sim_expect_busy(simulation *sim) {
    sim->expect_busy = true;
}
double sim_now(const simulation *sim) {
    return sim->now;
}
scheduler *sim_scheduler(simulation *sim) {
    return sim->s;
}
const sim_job *sim_get(const simulation *sim, uint32_t job) {
    assert_true(job < sim->n_jobs);
    return &sim->jobs[job];
}
uint32_t sim_jobs(const simulation *sim) {
    return (uint32_t)sim->n_jobs;
}
const sim_event *sim_events(const simulation *sim, size_t *n) {
    *n = sim->n_events;
    return sim->events;
}
uint64_t sim_peak(const simulation *sim) {
    return sim->peak;
}
double sim_busy(const simulation *sim) {
    return sim->busy;
}
