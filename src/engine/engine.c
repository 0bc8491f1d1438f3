/*
 * Threads and stages.
 *
 * Every change (a job submitted, a stage ended, a deadline) happens under the mutex and ends with
 * engine_pump: the scheduler starts what can start, each as a `run` in a queue. Drivers take runs from it,
 * one each: they make a lane of the run's level, enter it, and call the backend. There are as many drivers as
 * runs at most, made when needed; how many cores work is up to the lanes.
 *
 * The housekeeper does what must not hold anybody up: it wakes the scheduler when a deadline or a batch is
 * due, settles ended jobs (frees what they held, writes the store, calls watchers), delivers events, evicts
 * idle keys when memory is short, and drops old results. So callbacks come from one thread, in order.
 */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "field/field.h"

#define MAX_SLEEP 3600.0 /* seconds */

const char *stage_name(stage_kind stage) {
    static const char *const names[STAGE_KINDS] = {"check", "synthesis", "prove", "verify"};
    return names[stage];
}

double engine_now(const engine *e) {
    return clock_seconds() - e->start;
}

void histogram_add(engine_histogram *h, double seconds) {
    unsigned i = 0;
    while (i + 1 < ENGINE_BUCKETS && seconds > 0.001 * (double)(1u << i)) i++;
    h->counts[i]++;
    h->count++;
    h->sum += seconds;
}

/* --- events ----------------------------------------------------------------------------------------------
 */

void engine_note(engine *e, const record *r, engine_event_kind kind, stage_kind stage, uint32_t partition,
                 double seconds, const char *message) {
    if (!e->config.event || r->remainder) return;
    event_node *n = calloc(1, sizeof *n);
    if (!n) return;
    snprintf(n->job_id, sizeof n->job_id, "%s", r->id);
    snprintf(n->message, sizeof n->message, "%.255s", message);
    n->event = (engine_event){.kind = kind,
                              .time = engine_now(e),
                              .job_id = n->job_id,
                              .job_kind = r->kind,
                              .priority = r->priority,
                              .stage = stage,
                              .partition = partition,
                              .seconds = seconds,
                              .state = r->state,
                              .message = n->message};
    *(e->events_last ? &e->events_last->next : &e->events_first) = n;
    e->events_last = n;
    e->wake_housekeeper = true;
}

static void deliver_events(engine *e) {
    pthread_mutex_lock(&e->mutex);
    event_node *n = e->events_first;
    e->events_first = e->events_last = NULL;
    pthread_mutex_unlock(&e->mutex);
    while (n) {
        event_node *next = n->next;
        e->config.event(e->config.event_ctx, &n->event);
        free(n);
        n = next;
    }
}

/* --- starting stages -------------------------------------------------------------------------------------
 */

static float since_acceptance(const engine *e, const record *r) {
    return (float)(engine_now(e) - r->accepted);
}

static uint32_t item_partition(const sched_task *task, uint32_t i) {
    bool of_partition = task->stage == STAGE_SYNTHESIS || task->stage == STAGE_PROVE;
    return of_partition ? task->item[i].partition : ENGINE_NO_PARTITION;
}

static void note_items(engine *e, const run *r, engine_event_kind kind, double seconds) {
    for (uint32_t i = 0; i < r->task->n; i++)
        engine_note(e, r->records[i], kind, r->task->stage, item_partition(r->task, i), seconds, "");
}

static void first_stage(engine *e, record *r, double now) {
    if (r->started >= 0) return;
    r->started = now;
    r->state = JOB_RUNNING;
    e->counters.pending[r->kind]--;
    e->counters.running[r->kind]++;
    histogram_add(&e->counters.queue_wait[r->priority], now - r->accepted);
}

static void attach_run(engine *e, run *x) {
    const sched_task *task = x->task;
    double now = engine_now(e);
    const record *first = task->item[0].job->user;
    x->backend = first->backend;
    x->key = first->key;
    for (uint32_t i = 0; i < task->n; i++) {
        record *r = x->records[i] = task->item[i].job->user;
        r->refs++;
        first_stage(e, r, now);
        if (r->stages++ == 0) r->timings.queue_wait += (uint64_t)((now - r->waits_since) * 1000);
        partition_record *p = &r->partition[task->item[i].partition];
        switch (task->stage) {
        case STAGE_CHECK:
            r->check = x;
            break;
        case STAGE_VERIFY:
            r->verify = x;
            break;
        case STAGE_SYNTHESIS:
            p->run = x;
            p->synth_start = since_acceptance(e, r);
            p->synth_end = p->prove_start = p->prove_end = -1;
            break;
        case STAGE_PROVE:
            p->run = x;
            p->prove_start = since_acceptance(e, r);
            x->witnesses[i] = p->witness;
            p->witness = NULL;
            break;
        }
    }
    e->counters.partitions_by_stage[task->stage] += task->n;
}

static void *driver_main(void *arg);

/* As many drivers as there are runs: one more unless each run that waits has an idle one. Without it the run
 * waits for the next that is free. */
static void make_driver(engine *e) {
    if (e->idle_drivers >= e->ready || e->n_drivers == MAX_DRIVERS) return;
    if (pthread_create(&e->drivers[e->n_drivers], NULL, driver_main, e) == 0) e->n_drivers++;
}

static void begin(engine *e, sched_task *task) {
    run *x = calloc(1, sizeof *x);
    if (!x) {
        sched_outcome failed[SCHED_MAX_BATCH];
        for (uint32_t i = 0; i < task->n; i++) {
            failed[i] = SCHED_FAILED;
            record *r = task->item[i].job->user;
            if (r->error.code == CUZK_OK) error_no_memory(&r->error, sizeof *x, "a stage");
        }
        scheduler_done(e->scheduler, engine_now(e), task, failed, 0);
        return;
    }
    x->e = e;
    x->task = task;
    x->phase = "";
    x->paused_since = -1;
    task->user = x;
    attach_run(e, x);
    note_items(e, x, ENGINE_STAGE_START, 0);
    *(e->ready_last ? &e->ready_last->next : &e->ready_first) = x;
    e->ready_last = x;
    e->ready++;
    make_driver(e);
    pthread_cond_signal(&e->driver_work);
}

/* The level, pause or cancellation of a task changed. */
static void task_changed(void *ctx, sched_task *task) {
    engine *e = ctx;
    run *x = task->user;
    if (!x) return;
    if (task->cancelled) {
        atomic_store(&x->cancelled, true);
        pool_lane_cancel(x->lane);
    }
    pool_lane_set_level(x->lane, task->level);
    bool was_paused = x->paused_since >= 0;
    if (task->paused == was_paused) return;
    double now = engine_now(e);
    if (task->paused) {
        x->paused_since = now;
        e->counters.paused_now++;
    } else {
        x->seconds_paused += now - x->paused_since;
        x->paused_since = -1;
        e->counters.paused_now--;
    }
    note_items(e, x, task->paused ? ENGINE_PAUSED : ENGINE_RESUMED, 0);
}

uint64_t engine_external_bytes(engine *e) {
    return e->charged + keys_counted_bytes(e->keys);
}

void engine_pump(engine *e) {
    scheduler_set_external(e->scheduler, engine_external_bytes(e));
    sched_task *task;
    while (!e->closing && (task = scheduler_next(e->scheduler, engine_now(e)))) begin(e, task);
    e->wanted_room = scheduler_lacking(e->scheduler);
    scheduler_update(e->scheduler, engine_now(e), task_changed, e);
    engine_leave_batches(e);
    pthread_cond_signal(&e->housekeeping);
}

/* --- running stages --------------------------------------------------------------------------------------
 */

/* Progress of a stage: remembered for views, and the place where it learns that it is cancelled. */
static bool report(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    run *x = ctx;
    atomic_store_explicit(&x->phase, phase, memory_order_relaxed);
    atomic_store_explicit(&x->done, done, memory_order_relaxed);
    atomic_store_explicit(&x->total, total, memory_order_relaxed);
    return !atomic_load_explicit(&x->cancelled, memory_order_relaxed);
}

typedef struct results {
    cuzk_code codes[SCHED_MAX_BATCH];
    cuzk_error errs[SCHED_MAX_BATCH];
    void *witness; /* of a synthesis */
    uint32_t bad;  /* of a verification */
} results;

static void run_stage(run *x, results *out) {
    const sched_task *task = x->task;
    cuzk_progress progress = {report, x};
    backend_stage s = {.lane = x->lane, .key = x->key, .progress = &progress};
    out->errs[0] = (cuzk_error){.code = CUZK_OK};
    if (task->stage == STAGE_PROVE) {
        x->backend->prove(x->proofs, out->codes, out->errs, x->witnesses, task->n, &s);
        return;
    }
    record *r = x->records[0];
    if (task->stage == STAGE_CHECK)
        out->codes[0] = r->backend->check(r->task, &s, &out->errs[0]);
    else if (task->stage == STAGE_SYNTHESIS)
        out->codes[0] =
            r->backend->synthesize(&out->witness, r->task, task->item[0].partition, &s, &out->errs[0]);
    else
        out->codes[0] = r->backend->verify(r->task, r->proof, r->proof_size, &out->bad, &s, &out->errs[0]);
}

/* --- ending stages ---------------------------------------------------------------------------------------
 */

static sched_outcome outcome_of(engine *e, run *x, uint32_t i, const results *res) {
    record *r = x->records[i];
    cuzk_code code = res->codes[i];
    if (code == CUZK_OK) return SCHED_OK;
    if (x->task->cancelled || job_state_is_final(x->task->item[i].job->state)) return SCHED_FAILED;
    r->error = res->errs[i];
    r->error.code = code;
    if (code != CUZK_ERR_INTERNAL && code != CUZK_ERR_PROOF) return SCHED_FAILED;
    r->self_check_failures++;
    e->counters.self_check_failures++;
    uint32_t k = x->task->stage == STAGE_VERIFY ? res->bad : item_partition(x->task, i);
    if (k < r->plan.partitions && x->task->item[i].job->partition[k].attempts < SCHED_ATTEMPTS) {
        e->counters.retries++;
        engine_note(e, r, ENGINE_RETRY, x->task->stage, k, 0, r->error.message);
    }
    return SCHED_RETRY;
}

static void account_item(engine *e, run *x, uint32_t i, double seconds, sched_outcome outcome, uint32_t bad) {
    record *r = x->records[i];
    const sched_task *task = x->task;
    partition_record *p = &r->partition[task->item[i].partition];
    if (--r->stages == 0) r->waits_since = engine_now(e);
    uint64_t ms = (uint64_t)(seconds * 1000);
    switch (task->stage) {
    case STAGE_CHECK:
        r->check = NULL;
        r->timings.check += ms;
        break;
    case STAGE_SYNTHESIS:
        p->run = NULL;
        p->synth_end = since_acceptance(e, r);
        r->timings.synthesis += ms;
        break;
    case STAGE_PROVE:
        p->run = NULL;
        p->prove_end = since_acceptance(e, r);
        r->timings.compute += ms / task->n;
        if (outcome == SCHED_OK) {
            if (r->proof) /* a remainder has none */
                memcpy(r->proof + (size_t)task->item[i].partition * CUZK_PROOF_BYTES, x->proofs[i],
                       CUZK_PROOF_BYTES);
            r->partitions_proved++;
            e->counters.partitions_proved++;
        }
        break;
    case STAGE_VERIFY:
        r->verify = NULL;
        if (outcome == SCHED_RETRY && bad < r->plan.partitions) p = &r->partition[bad];
        break;
    }
    p->failed = outcome != SCHED_OK && task->stage != STAGE_CHECK;
}

static void end_stage(engine *e, run *x, results *res, double seconds, const mem_account *memory) {
    sched_task *task = x->task;
    sched_outcome outcomes[SCHED_MAX_BATCH];
    record *records[SCHED_MAX_BATCH];
    uint32_t n = task->n;
    if (x->paused_since >= 0) {
        x->seconds_paused += engine_now(e) - x->paused_since;
        e->counters.paused_now--;
    }
    e->counters.partitions_by_stage[task->stage] -= n;
    histogram_add(&e->counters.stage[task->stage], seconds);
    e->counters.core_seconds[task->stage] += pool_lane_core_seconds(x->lane);
    for (uint32_t i = 0; i < n; i++) {
        record *r = records[i] = x->records[i];
        outcomes[i] = outcome_of(e, x, i, res);
        if (memory->peak > r->timings.peak_bytes) r->timings.peak_bytes = memory->peak;
        account_item(e, x, i, seconds, outcomes[i], res->bad);
        if (task->stage == STAGE_SYNTHESIS) r->partition[task->item[i].partition].witness = res->witness;
        if (task->stage == STAGE_VERIFY && outcomes[i] == SCHED_RETRY && res->bad < r->plan.partitions)
            r->partitions_proved--;
    }
    note_items(e, x, ENGINE_STAGE_END, seconds);
    if (task->stage == STAGE_PROVE && n == 1 && outcomes[0] == SCHED_OK)
        engine_measured(e, task->item[0].job->circuit, memory->peak);
    scheduler_done(e->scheduler, engine_now(e), task, outcomes, res->bad);
    for (uint32_t i = 0; i < n; i++) record_release(records[i]);
    engine_pump(e);
}

static void drive(engine *e, run *x) {
    results res = {.bad = UINT32_MAX};
    mem_account memory;
    cuzk_error err;
    double start = engine_now(e);
    pool *lane;
    cuzk_code code = pool_lane_create(&lane, e->cores, 0, &err); /* its level is set below */
    pthread_mutex_lock(&e->mutex);
    x->lane = lane;
    pool_lane_set_level(lane, x->task->level);
    if (atomic_load(&x->cancelled)) pool_lane_cancel(lane);
    pthread_mutex_unlock(&e->mutex);
    mem_account_begin(&memory);
    if (code == CUZK_OK) {
        pool_enter(lane);
        run_stage(x, &res);
        pool_leave(lane);
    } else {
        for (uint32_t i = 0; i < x->task->n; i++) {
            res.codes[i] = code;
            res.errs[i] = err;
        }
    }
    mem_account_end();
    for (uint32_t i = 0; i < x->task->n; i++) x->backend->free_witness(x->witnesses[i]);
    pthread_mutex_lock(&e->mutex);
    end_stage(e, x, &res, engine_now(e) - start, &memory);
    pthread_mutex_unlock(&e->mutex);
    pool_destroy(lane);
    free(x);
}

static void *driver_main(void *arg) {
    engine *e = arg;
    pthread_mutex_lock(&e->mutex);
    for (;;) {
        run *x = e->ready_first;
        if (!x) {
            if (e->closing) break;
            e->idle_drivers++;
            pthread_cond_wait(&e->driver_work, &e->mutex);
            e->idle_drivers--;
            continue;
        }
        e->ready_first = x->next;
        if (!e->ready_first) e->ready_last = NULL;
        e->ready--;
        pthread_mutex_unlock(&e->mutex);
        drive(e, x);
        pthread_mutex_lock(&e->mutex);
    }
    pthread_mutex_unlock(&e->mutex);
    return NULL;
}

/* --- housekeeping ----------------------------------------------------------------------------------------
 */

static void wait_until(engine *e, double when) {
    double seconds = when - engine_now(e);
    if (seconds <= 0) return;
    if (seconds > MAX_SLEEP) seconds = MAX_SLEEP;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double fraction = (double)t.tv_nsec * 1e-9 + seconds;
    time_t whole = (time_t)fraction;
    t.tv_sec += whole;
    t.tv_nsec = (long)((fraction - (double)whole) * 1e9);
    pthread_cond_timedwait(&e->housekeeping, &e->mutex, &t);
}

static record *take_ending(engine *e) {
    record *r = e->ending;
    if (!r) return NULL;
    e->ending = r->next;
    e->settling = r;
    return r;
}

static void make_room(engine *e) {
    uint64_t bytes = e->wanted_room;
    double min_idle = e->config.eviction_min_idle;
    bool stuck = !scheduler_tasks(e->scheduler); /* no stage will end and free some */
    e->wanted_room = 0;
    pthread_mutex_unlock(&e->mutex);
    uint64_t freed = keys_make_room(e->keys, bytes, min_idle);
    if (freed < bytes && stuck) freed += keys_unlock(e->keys, bytes - freed);
    pthread_mutex_lock(&e->mutex);
    if (freed > 0) engine_pump(e);
}

static void *housekeeper_main(void *arg) {
    engine *e = arg;
    pthread_mutex_lock(&e->mutex);
    for (;;) {
        e->wake_housekeeper = false;
        double now = engine_now(e);
        double next = engine_prune(e, now);
        if (scheduler_wakeup(e->scheduler) <= now) engine_pump(e);
        record *ended = take_ending(e);
        if (ended || e->events_first) {
            pthread_mutex_unlock(&e->mutex);
            deliver_events(e);
            if (ended) engine_settle(e, ended);
            pthread_mutex_lock(&e->mutex);
            continue;
        }
        if (e->wanted_room > 0) make_room(e); /* lets go of the mutex: what is due is asked for after it */
        if (e->wake_housekeeper || e->ending) continue;
        if (e->closing && e->live.count == 0 && e->remainders == 0) break;
        double due = scheduler_wakeup(e->scheduler);
        /* What is due and cannot start waits for something to end. */
        if (due <= now) due = now + 0.1;
        wait_until(e, due < next ? due : next);
    }
    pthread_mutex_unlock(&e->mutex);
    return NULL;
}

/* --- life ------------------------------------------------------------------------------------------------
 */

void engine_config_default(engine_config *c) {
    *c = (engine_config){.eviction_min_idle = 300,
                         .synthesis_lookahead = 2,
                         .max_queue = 1024,
                         .max_batch_size = 1,
                         .max_batch_wait = 10,
                         .ageing = 600,
                         .group_by_circuit = true,
                         .result_ttl = 3600,
                         .result_bytes = UINT64_C(64) << 20,
                         .failure_bytes = UINT64_C(1) << 30,
                         .backends = {[JOB_POREP] = &porep_backend}};
}

static sched_config scheduler_config(const engine_config *c) {
    return (sched_config){.budget = mem_budget(),
                          .max_queue = c->max_queue,
                          .lookahead = c->synthesis_lookahead,
                          .max_batch = c->max_batch_size,
                          .max_batch_wait = c->max_batch_wait,
                          .ageing = c->ageing,
                          .group_by_circuit = c->group_by_circuit};
}

static cuzk_code make_parts(engine *e, cuzk_error *err) {
    const engine_config *c = &e->config;
    if (c->failure_dir && !(e->failure_dir = strdup(c->failure_dir)))
        return error_no_memory(err, strlen(c->failure_dir), "a path");
    TRY(pool_create(&e->cores, c->threads, err));
    TRY(keys_create(&e->keys, c->params_dir, c->lock_keys, err));
    sched_config s = scheduler_config(c);
    TRY(scheduler_create(&e->scheduler, &s, engine_job_ended, e, err));
    int rc = pthread_create(&e->housekeeper, NULL, housekeeper_main, e);
    if (rc != 0)
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting the engine's housekeeping thread");
    e->housekeeper_made = true;
    return CUZK_OK;
}

static void free_parts(engine *e) {
    scheduler_destroy(e->scheduler);
    keys_destroy(e->keys);
    pool_destroy(e->cores);
    free(e->failure_dir);
    pthread_mutex_destroy(&e->mutex);
    pthread_cond_destroy(&e->driver_work);
    pthread_cond_destroy(&e->housekeeping);
    pthread_cond_destroy(&e->accepted);
    free(e);
}

cuzk_code engine_create(engine **out, const engine_config *config, cuzk_error *err) {
    *out = NULL;
    TRY(field_init(err));
    engine *e = calloc(1, sizeof *e);
    if (!e) return error_no_memory(err, sizeof *e, "the engine");
    e->config = *config;
    e->start = clock_seconds();
    mem_set_budget(config->memory_budget);
    pthread_mutex_init(&e->mutex, NULL);
    pthread_cond_init(&e->driver_work, NULL);
    pthread_cond_init(&e->accepted, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->housekeeping, &monotonic);
    pthread_condattr_destroy(&monotonic);
    cuzk_code code = make_parts(e, err);
    if (code != CUZK_OK) {
        free_parts(e);
        return code;
    }
    *out = e;
    return CUZK_OK;
}

void engine_destroy(engine *e) {
    if (!e) return;
    engine_drain(e, true);
    pthread_mutex_lock(&e->mutex);
    e->closing = true;
    engine_pump(e);
    pthread_mutex_unlock(&e->mutex);
    pthread_join(e->housekeeper, NULL);
    pthread_mutex_lock(&e->mutex);
    pthread_cond_broadcast(&e->driver_work);
    pthread_mutex_unlock(&e->mutex);
    for (unsigned i = 0; i < e->n_drivers; i++) pthread_join(e->drivers[i], NULL);
    deliver_events(e);
    while (e->ended.first) {
        record *r = e->ended.first;
        record_list_remove(&e->ended, r);
        engine_table_remove(e, r);
        record_release(r);
    }
    free_parts(e);
}

cuzk_code engine_reconfigure(engine *e, const engine_config *config, cuzk_error *err) {
    if (config->synthesis_lookahead == 0 || config->max_queue == 0 || config->max_batch_size == 0)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "lookahead, queue and batch size must be at least 1");
    pthread_mutex_lock(&e->mutex);
    mem_set_budget(config->memory_budget);
    engine_config *c = &e->config;
    c->memory_budget = config->memory_budget;
    c->eviction_min_idle = config->eviction_min_idle;
    c->synthesis_lookahead = config->synthesis_lookahead;
    c->max_queue = config->max_queue;
    c->max_batch_size = config->max_batch_size;
    c->max_batch_wait = config->max_batch_wait;
    c->ageing = config->ageing;
    c->group_by_circuit = config->group_by_circuit;
    c->result_ttl = config->result_ttl;
    c->result_bytes = config->result_bytes;
    c->failure_bytes = config->failure_bytes;
    sched_config s = scheduler_config(c);
    scheduler_configure(e->scheduler, &s);
    engine_pump(e);
    pthread_mutex_unlock(&e->mutex);
    return CUZK_OK;
}

/* --- keys ------------------------------------------------------------------------------------------------
 */

static bool go_on_loading(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    (void)phase;
    (void)done;
    (void)total;
    const engine *e = ctx;
    return !atomic_load_explicit(&e->draining, memory_order_relaxed);
}

cuzk_code engine_preload(engine *e, const char *circuit_id, bool *already, cuzk_error *err) {
    pool *lane;
    TRY(pool_lane_create(&lane, e->cores, 0, err));
    cuzk_progress progress = {go_on_loading, e};
    cuzk_code code = keys_preload(e->keys, circuit_id, already, lane, &progress, err);
    pool_destroy(lane);
    return code;
}

cuzk_code engine_evict(engine *e, const char *circuit_id, bool *was_loaded, uint64_t *freed,
                       cuzk_error *err) {
    return keys_evict(e->keys, circuit_id, was_loaded, freed, err);
}
