/* Submissions, duplicates, results and watchers. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "engine/engine_internal.h"
#include "engine/failures.h"

/* --- the table -------------------------------------------------------------------------------------------
 */

/* FNV-1a. */
uint32_t engine_text_hash(const char *text) {
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

record *engine_find(const engine *e, const char *id) {
    record *r = e->table[engine_text_hash(id) % TABLE_SLOTS];
    while (r && strcmp(r->id, id) != 0) r = r->hash_next;
    return r;
}

void engine_table_add(engine *e, record *r) {
    record **slot = &e->table[engine_text_hash(r->id) % TABLE_SLOTS];
    r->hash_next = *slot;
    *slot = r;
}

void engine_table_remove(engine *e, record *r) {
    record **link = &e->table[engine_text_hash(r->id) % TABLE_SLOTS];
    while (*link != r) link = &(*link)->hash_next;
    *link = r->hash_next;
}

void record_list_append(record_list *l, record *r) {
    r->previous = l->last;
    r->next = NULL;
    *(l->last ? &l->last->next : &l->first) = r;
    l->last = r;
    l->count++;
}

void record_list_remove(record_list *l, record *r) {
    *(r->previous ? &r->previous->next : &l->first) = r->next;
    *(r->next ? &r->next->previous : &l->last) = r->previous;
    l->count--;
}

void record_release(record *r) {
    if (--r->refs > 0) return;
    free(r->proof);
    free(r->partition);
    free(r);
}

/* Drop an ended record and its result. Mutex held. */
static void forget(engine *e, record *r) {
    record_list_remove(&e->ended, r);
    engine_table_remove(e, r);
    e->result_bytes -= r->proof_size;
    record_release(r);
}

double engine_prune(engine *e, double now) {
    while (e->ended.first) {
        record *r = e->ended.first;
        double end = r->ended + e->config.result_ttl;
        if (end > now && e->result_bytes <= e->config.result_bytes && e->ended.count <= MAX_ENDED) return end;
        forget(e, r);
    }
    return now + e->config.result_ttl;
}

/* --- submission ------------------------------------------------------------------------------------------
 */

static cuzk_code check_request(const engine *e, const job_request *r, cuzk_error *err) {
    if (!job_kind_name((unsigned)r->kind))
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "invalid proof_kind: %d", (int)r->kind);
    if (!e->config.backends[r->kind])
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "this build has no circuit for proofs of kind %s", job_kind_name((unsigned)r->kind));
    if (!r->id) return CUZK_OK;
    if (strlen(r->id) >= JOB_ID_BYTES)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "request_id of %zu bytes, at most %u are allowed", strlen(r->id), JOB_ID_BYTES - 1);
    if (!utf8_is_valid((const uint8_t *)r->id, strlen(r->id)))
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "request_id is not UTF-8");
    return CUZK_OK;
}

/* A random UUID (RFC 9562, version 4). */
static cuzk_code make_id(char out[JOB_ID_BYTES], cuzk_error *err) {
    uint8_t b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "reading random bytes");
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(out, JOB_ID_BYTES, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return CUZK_OK;
}

static job_priority priority_of(const job_request *r) {
    if (r->priority == JOB_DEFAULT_PRIORITY) return job_kind_priority(r->kind);
    return r->priority >= JOB_LOW && r->priority <= JOB_CRITICAL ? r->priority : JOB_NORMAL;
}

/* Is this a job that the store must have, and has not? */
static bool lacks_storage(const engine *e, const record *r, unsigned flags) {
    return e->config.store && (flags & (ENGINE_DURABLE | ENGINE_RESTORED)) && !r->stored;
}

/* Is its end decided, or being recorded? It comes within a second. */
static bool is_ending(const record *r) {
    return r->ended < 0 && (r->cancel_wanted || job_state_is_final(r->job ? r->job->state : r->state));
}

/* What is known of the id: an equal request to attach to (*existing), another one (an error), or nothing that
 * still counts. Mutex held, and let go while a job of that id is being accepted or is ending. */
static cuzk_code look_up(record **existing, engine *e, const char *id, const uint8_t digest[32],
                         cuzk_error *err) {
    record *r;
    *existing = NULL;
    while ((r = engine_find(e, id)) && (r->accepting || is_ending(r)))
        pthread_cond_wait(&e->accepted, &e->mutex);
    if (!r) return CUZK_OK;
    if (job_state_is_final(r->state) && r->state != JOB_COMPLETED) {
        forget(e, r); /* a fresh run after a failure */
        return CUZK_OK;
    }
    if (memcmp(r->digest, digest, 32) != 0)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "request_id %s is in use by a job with other input", id);
    *existing = r;
    return CUZK_OK;
}

static cuzk_code new_record(record **out, const job_request *r, const char *id, const uint8_t digest[32],
                            unsigned flags, double now, cuzk_error *err) {
    record *made = calloc(1, sizeof *made);
    *out = made;
    if (!made) return error_no_memory(err, sizeof *made, "a job");
    snprintf(made->id, sizeof made->id, "%s", id);
    memcpy(made->digest, digest, 32);
    made->kind = r->kind;
    made->priority = priority_of(r);
    made->sector_number = r->sector_number;
    made->miner_id = r->miner_id;
    made->refs = 1;
    made->accepting = true;
    made->while_watched = (flags & ENGINE_WHILE_WATCHED) != 0;
    made->accepted = now;
    made->started = made->ended = -1;
    made->deadline = r->deadline > 0 ? now + r->deadline : 0;
    made->state = JOB_QUEUED;
    return CUZK_OK;
}

typedef enum claimed {
    CLAIMED_NEW,      /* a new record that only the caller may touch */
    CLAIMED_ATTACHED, /* the job of an equal request */
    CLAIMED_UNSTORED  /* the same, and the caller must have it stored: it is `accepting` again */
} claimed;

static watcher *add_watcher(engine *e, record *r, watcher *w) {
    w->id = ++e->last_watch;
    w->next = r->watchers;
    return r->watchers = w;
}

/* One that attaches wants the result for as long as it says, too. Mutex held. */
static void extend_deadline(const engine *e, record *r, const job_request *request) {
    double deadline = request->deadline > 0 ? engine_now(e) + request->deadline : 0;
    if (r->deadline <= 0 || (deadline > 0 && deadline <= r->deadline)) return;
    r->deadline = deadline;
    if (r->job) r->job->deadline = deadline;
}

/* ... and as urgently as it says. Mutex held. */
static void raise_priority(engine *e, record *r, const job_request *request) {
    job_priority priority = priority_of(request);
    if (!r->job || job_state_is_final(r->state) || priority <= r->priority) return;
    e->counters.queued_by_priority[r->priority]--;
    e->counters.queued_by_priority[priority]++;
    r->priority = priority;
    scheduler_raise(e->scheduler, engine_now(e), r->job, priority);
    engine_pump(e);
}

/* Find the job to attach to, or enter a new record. The caller gets a reference. */
static cuzk_code claim(record **out, claimed *how, engine *e, const job_request *r, const char *id,
                       const uint8_t digest[32], unsigned flags, engine_receipt *receipt, bool *can_retry,
                       cuzk_error *err) {
    watcher *hold = NULL;
    if ((flags & ENGINE_WHILE_WATCHED) && !(hold = calloc(1, sizeof *hold)))
        return error_no_memory(err, sizeof *hold, "a watcher");
    pthread_mutex_lock(&e->mutex);
    cuzk_code code = look_up(out, e, id, digest, err);
    *how = CLAIMED_NEW;
    *can_retry = code == CUZK_ERR_RESOURCES;
    receipt->conflict = code == CUZK_ERR_USAGE;
    if (code == CUZK_OK && *out) {
        *how = CLAIMED_ATTACHED;
        if (!(flags & ENGINE_WHILE_WATCHED)) (*out)->while_watched = false;
        extend_deadline(e, *out, r);
        raise_priority(e, *out, r);
        (*out)->refs++;
        if (lacks_storage(e, *out, flags)) {
            (*out)->accepting = true;
            *how = CLAIMED_UNSTORED;
        }
        receipt->attached = true;
        receipt->position = 0;
    } else if (code == CUZK_OK && e->draining) {
        code = error_set(err, CUZK_ERR_CANCELLED, NULL, CUZK_NO_OFFSET, "shutting down: no new jobs");
    } else if (code == CUZK_OK) {
        code = new_record(out, r, id, digest, flags, engine_now(e), err);
        if (code == CUZK_OK) {
            (*out)->refs++; /* the submitter's */
            (*out)->backend = e->config.backends[r->kind];
            engine_table_add(e, *out);
            record_list_append(&e->live, *out);
        }
    }
    if (code == CUZK_OK && hold && (*out)->ended < 0) {
        receipt->hold = add_watcher(e, *out, hold)->id;
        hold = NULL;
    }
    pthread_mutex_unlock(&e->mutex);
    free(hold);
    return code;
}

void engine_measured(engine *e, uint32_t circuit, uint64_t prove_peak) {
    measured *m = e->measured;
    while (m < e->measured + MEASURED_MAX && m->prove_bytes > 0 && m->circuit != circuit) m++;
    if (m == e->measured + MEASURED_MAX) return;
    m->circuit = circuit;
    if (prove_peak > m->prove_bytes) m->prove_bytes = prove_peak;
}

void engine_correct_plan(const engine *e, backend_plan *plan, uint32_t circuit) {
    for (const measured *m = e->measured; m < e->measured + MEASURED_MAX; m++)
        if (m->prove_bytes > 0 && m->circuit == circuit)
            plan->prove_bytes = m->prove_bytes + m->prove_bytes / 8;
}

static cuzk_code enter_queue(engine *e, record *r, engine_receipt *receipt, bool *can_retry,
                             cuzk_error *err) {
    uint32_t circuit = engine_text_hash(r->plan.circuit);
    engine_correct_plan(e, &r->plan, circuit);
    r->accepted = r->waits_since = engine_now(e);
    sched_job job = {
        .priority = r->priority, .plan = r->plan, .circuit = circuit, .deadline = r->deadline, .user = r};
    scheduler_set_external(e->scheduler, engine_external_bytes(e));
    receipt->position = scheduler_position(e->scheduler, r->priority);
    TRY(scheduler_submit(&r->job, e->scheduler, engine_now(e), &job, can_retry, err));
    r->queued = true;
    e->task_bytes += r->plan.task_bytes;
    e->counters.submitted++;
    e->counters.pending[r->kind]++;
    e->counters.queued_by_priority[r->priority]++;
    engine_note(e, r, ENGINE_SUBMITTED, STAGE_CHECK, ENGINE_NO_PARTITION, 0, "");
    return CUZK_OK;
}

/* Idle keys make room for a job that would fit without them, and keys are unlocked for one that is alone. */
static cuzk_code admit(engine *e, record *r, engine_receipt *receipt, bool *can_retry, cuzk_error *err) {
    pthread_mutex_lock(&e->mutex);
    cuzk_code code = enter_queue(e, r, receipt, can_retry, err);
    double min_idle = e->config.eviction_min_idle;
    uint32_t jobs = scheduler_job_count(e->scheduler);
    bool of_memory = code == CUZK_ERR_RESOURCES && *can_retry && jobs < e->config.max_queue;
    uint64_t most = of_memory ? keys_counted_bytes(e->keys) : 0;
    pthread_mutex_unlock(&e->mutex);
    if (most == 0) return code;
    uint64_t freed = keys_make_room(e->keys, most, min_idle);
    if (jobs == 0) freed += keys_unlock(e->keys, most);
    if (freed == 0) return code;
    pthread_mutex_lock(&e->mutex);
    code = enter_queue(e, r, receipt, can_retry, err);
    pthread_mutex_unlock(&e->mutex);
    return code;
}

/* Everything between claiming the id and being in the queue. */
static cuzk_code accept(engine *e, record *r, const job_request *request, unsigned flags,
                        engine_receipt *receipt, bool *can_retry, cuzk_error *err) {
    double start = clock_seconds(), load = 0;
    *can_retry = false;
    TRY(r->backend->parse(&r->task, &r->plan, request, err));
    r->timings.check = (uint64_t)((clock_seconds() - start) * 1000);
    snprintf(r->circuit, sizeof r->circuit, "%s", r->plan.circuit);
    r->plan.circuit = r->circuit; /* the task's own goes with it */
    if (r->backend->needs_key) TRY(keys_acquire(&r->key, e->keys, r->plan.circuit, &load, err));
    r->timings.key_load = (uint64_t)(load * 1000);
    r->proof_size = (size_t)r->plan.partitions * CUZK_PROOF_BYTES;
    r->proof = calloc(r->plan.partitions, CUZK_PROOF_BYTES);
    r->partition = calloc(r->plan.partitions, sizeof *r->partition);
    if (!r->proof || !r->partition) return error_no_memory(err, r->proof_size, "a proof");
    for (uint32_t k = 0; k < r->plan.partitions; k++)
        r->partition[k].synth_start = r->partition[k].synth_end = r->partition[k].prove_start =
            r->partition[k].prove_end = -1;
    const engine_store *store = e->config.store;
    bool record_it = store && (flags & ENGINE_DURABLE) && !(flags & ENGINE_RESTORED);
    r->stored = store && (flags & (ENGINE_DURABLE | ENGINE_RESTORED));
    TRY(admit(e, r, receipt, can_retry, err));
    return record_it ? store->accept(store->ctx, r->id, r->digest, request, err) : CUZK_OK;
}

/* Free what a job holds beside its record. */
static void free_work(engine *e, record *r) {
    for (uint32_t k = 0; r->partition && k < r->plan.partitions; k++) {
        r->backend->free_witness(r->partition[k].witness);
        r->partition[k].witness = NULL;
    }
    r->backend->free_task(r->task);
    r->task = NULL;
    if (r->key) keys_release(e->keys, r->key);
    r->key = NULL;
}

static void tell_watchers(watcher *w, const record *r);

/* The submission failed before the job was queued: as if it had never been. */
static void withdraw(engine *e, record *r, const cuzk_error *why) {
    free_work(e, r);
    pthread_mutex_lock(&e->mutex);
    e->counters.refused++;
    r->accepting = false;
    r->state = JOB_FAILED;
    r->error = *why;
    watcher *w = r->watchers;
    r->watchers = NULL;
    engine_table_remove(e, r);
    record_list_remove(&e->live, r);
    pthread_cond_broadcast(&e->accepted);
    pthread_mutex_unlock(&e->mutex);
    tell_watchers(w, r);
    pthread_mutex_lock(&e->mutex);
    record_release(r);
    pthread_mutex_unlock(&e->mutex);
}

/* The job is queued, and may have run or ended already; `why` is set when it could not be recorded. */
static void settle_submission(engine *e, record *r, const cuzk_error *why) {
    pthread_mutex_lock(&e->mutex);
    r->accepting = false;
    if (why) {
        r->stored = false;
        if (r->job) r->error = *why;
    }
    if (r->job && (why || r->cancel_wanted))
        scheduler_end(e->scheduler, engine_now(e), r->job, why ? JOB_FAILED : JOB_CANCELLED);
    pthread_cond_broadcast(&e->accepted);
    engine_pump(e);
    pthread_mutex_unlock(&e->mutex);
}

/* Attached to a job that only memory has: record it, and its result if there is one. It cannot end meanwhile,
 * and goes on as before when it cannot be recorded. */
static cuzk_code store_attached(engine *e, record *r, const job_request *request, unsigned flags,
                                cuzk_error *err) {
    const engine_store *store = e->config.store;
    cuzk_code code =
        flags & ENGINE_RESTORED ? CUZK_OK : store->accept(store->ctx, r->id, r->digest, request, err);
    if (code == CUZK_OK && r->ended >= 0)
        store->finish(store->ctx, r->id, r->state, r->proof, r->proof_size, &r->error);
    pthread_mutex_lock(&e->mutex);
    r->stored = code == CUZK_OK;
    pthread_mutex_unlock(&e->mutex);
    settle_submission(e, r, NULL);
    return code;
}

cuzk_code engine_submit(engine *e, job_request *request, unsigned flags, engine_receipt *receipt,
                        bool *can_retry, cuzk_error *err) {
    bool retry = false;
    claimed how = CLAIMED_NEW;
    cuzk_error why;
    record *r = NULL;
    *receipt = (engine_receipt){.id = ""};
    cuzk_code code = check_request(e, request, &why);
    if (code == CUZK_OK && (!request->id || !*request->id))
        code = make_id(receipt->id, &why);
    else if (code == CUZK_OK)
        snprintf(receipt->id, sizeof receipt->id, "%s", request->id);
    if (code == CUZK_OK) {
        uint8_t digest[32];
        job_request_digest(digest, request);
        code = claim(&r, &how, e, request, receipt->id, digest, flags, receipt, &retry, &why);
    }
    if (code == CUZK_OK) {
        if (how == CLAIMED_UNSTORED) {
            code = store_attached(e, r, request, flags, &why);
        } else if (how == CLAIMED_NEW) {
            code = accept(e, r, request, flags, receipt, &retry, &why);
            if (code == CUZK_OK || r->queued)
                settle_submission(e, r, code == CUZK_OK ? NULL : &why);
            else
                withdraw(e, r, &why);
        }
        pthread_mutex_lock(&e->mutex);
        record_release(r);
        pthread_mutex_unlock(&e->mutex);
    }
    job_request_release(request);
    if (can_retry) *can_retry = retry;
    if (code != CUZK_OK && err) *err = why;
    return code;
}

/* --- the end of a job ------------------------------------------------------------------------------------
 */

/* For the housekeeper. */
static void settle_later(engine *e, record *r) {
    record **link = &e->ending;
    while (*link) link = &(*link)->next;
    r->next = NULL;
    *link = r;
    e->wake_housekeeper = true;
    pthread_cond_signal(&e->housekeeping);
}

static void count_end(engine *e, const record *r) {
    engine_counters *c = &e->counters;
    switch (r->state) {
    case JOB_COMPLETED:
        c->completed[r->kind]++;
        histogram_add(&c->total[r->kind], (double)r->timings.total / 1000);
        break;
    case JOB_CANCELLED:
        c->cancelled[r->kind]++;
        break;
    case JOB_TIMEOUT:
        c->timed_out[r->kind]++;
        break;
    default:
        c->failed[r->kind]++;
        break;
    }
}

static void job_ended(engine *e, record *r, job_state state, double now) {
    r->job = NULL;
    r->state = state;
    r->timings.total = (uint64_t)((now - r->accepted) * 1000);
    if (r->started >= 0)
        e->counters.running[r->kind]--;
    else
        e->counters.pending[r->kind]--;
    e->counters.queued_by_priority[r->priority]--;
    count_end(e, r);
    /* What a first attempt failed with is not why it ends. */
    if (r->state == JOB_CANCELLED || r->state == JOB_TIMEOUT) {
        const char *text = r->state == JOB_TIMEOUT ? "the deadline passed" : "cancelled";
        error_set(&r->error, CUZK_ERR_CANCELLED, NULL, CUZK_NO_OFFSET, "%s", text);
    }
    record_list_remove(&e->live, r);
    settle_later(e, r);
}

void engine_job_ended(void *ctx, sched_job *job, double now) {
    engine *e = ctx;
    record *r = job->user;
    e->task_bytes -= r->plan.task_bytes;
    if (r->remainder) {
        r->job = NULL;
        settle_later(e, r);
    } else {
        job_ended(e, r, job->state, now);
    }
}

/* Would it end at once, were it not in batches that others want? */
static bool waits_for_batches(const record *r) {
    const sched_job *job = r->job;
    if (!job || r->accepting || (job->state != JOB_CANCELLED && job->state != JOB_TIMEOUT) ||
        job->tasks != job->proving)
        return false;
    for (uint32_t k = 0; k < r->plan.partitions; k++)
        if (job->partition[k].task && job->partition[k].task->cancelled) return false;
    return true;
}

/* A record takes the job's place in the batches, with what the backend may still use. */
static void leave_batches(engine *e, record *r, double now) {
    size_t bytes = r->plan.partitions * sizeof *r->partition;
    record *rest = malloc(sizeof *rest);
    partition_record *partition = malloc(bytes);
    if (!rest || !partition) { /* then it ends with them */
        free(rest);
        free(partition);
        return;
    }
    memcpy(partition, r->partition, bytes);
    *rest = *r;
    rest->remainder = true;
    rest->refs = 1;
    rest->watchers = NULL;
    rest->partition = partition;
    rest->proof = NULL;
    rest->proof_size = 0;
    rest->job->user = rest;
    e->remainders++;
    for (const sched_task *task = scheduler_tasks(e->scheduler); task; task = task->next) {
        run *x = task->user;
        for (uint32_t i = 0; x && i < task->n; i++) {
            if (x->records[i] != r) continue;
            x->records[i] = rest;
            rest->refs++;
            record_release(r);
        }
    }
    for (uint32_t k = 0; k < r->plan.partitions; k++) {
        partition_record *p = &r->partition[k];
        partition[k].witness = NULL; /* those that wait go now */
        if (!p->run) continue;
        p->run = NULL;
        p->prove_end = (float)(now - r->accepted);
        p->failed = true;
        engine_note(e, r, ENGINE_STAGE_END, STAGE_PROVE, k, p->prove_end - p->prove_start, "");
    }
    r->task = NULL;
    r->key = NULL;
    r->stages = 0;
    job_ended(e, r, rest->job->state, now);
}

void engine_leave_batches(engine *e) {
    for (record *r = e->live.first, *next; r; r = next) {
        next = r->next;
        if (waits_for_batches(r)) leave_batches(e, r, engine_now(e));
    }
}

static void fill_result(engine_result *out, const record *r) {
    bool ok = r->state == JOB_COMPLETED;
    *out = (engine_result){.id = r->id,
                           .kind = r->kind,
                           .state = r->state,
                           .proof = ok ? r->proof : NULL,
                           .proof_size = ok ? r->proof_size : 0,
                           .timings = r->timings,
                           .error = ok ? NULL : &r->error};
}

static void tell_watchers(watcher *w, const record *r) {
    engine_result result;
    fill_result(&result, r);
    while (w) {
        watcher *next = w->next;
        if (w->done) w->done(w->ctx, &result);
        free(w);
        w = next;
    }
}

static void free_remainder(engine *e, record *rest) {
    free_work(e, rest);
    pthread_mutex_lock(&e->mutex);
    e->settling = NULL;
    e->remainders--;
    record_release(rest);
    engine_pump(e);
    pthread_mutex_unlock(&e->mutex);
}

void engine_settle(engine *e, record *r) {
    if (r->remainder) {
        free_remainder(e, r);
        return;
    }
    pthread_mutex_lock(&e->mutex);
    while (r->accepting)
        pthread_cond_wait(&e->accepted, &e->mutex); /* it may still be on its way to the store */
    uint64_t failure_bytes = e->config.failure_bytes;
    pthread_mutex_unlock(&e->mutex);
    if (r->state == JOB_FAILED && r->self_check_failures > 0 && e->failure_dir)
        failure_keep(e->failure_dir, failure_bytes, r);
    free_work(e, r);
    const engine_store *store = e->config.store;
    bool ok = r->state == JOB_COMPLETED;
    bool goes_on = r->shut_down && r->state == JOB_CANCELLED; /* in the next process */
    if (store && r->stored && !goes_on)
        store->finish(store->ctx, r->id, r->state, ok ? r->proof : NULL, ok ? r->proof_size : 0, &r->error);
    pthread_mutex_lock(&e->mutex);
    r->ended = engine_now(e);
    if (!ok) {
        free(r->proof);
        r->proof = NULL;
        r->proof_size = 0;
    }
    e->result_bytes += r->proof_size;
    record_list_append(&e->ended, r);
    e->settling = NULL;
    pthread_cond_broadcast(&e->accepted);
    engine_note(e, r, ENGINE_FINISHED, STAGE_VERIFY, ENGINE_NO_PARTITION, (double)r->timings.total / 1000,
                ok ? "" : r->error.message);
    watcher *w = r->watchers;
    r->watchers = NULL;
    r->refs++;
    engine_pump(e); /* memory was freed */
    pthread_mutex_unlock(&e->mutex);
    tell_watchers(w, r);
    pthread_mutex_lock(&e->mutex);
    record_release(r);
    pthread_mutex_unlock(&e->mutex);
}

/* --- watching, cancelling, forgetting --------------------------------------------------------------------
 */

cuzk_code engine_watch_job(engine_watch *out, engine *e, const char *id, engine_done_fn done, void *ctx,
                           cuzk_error *err) {
    watcher *w = calloc(1, sizeof *w);
    *out = 0;
    if (!w) return error_no_memory(err, sizeof *w, "a watcher");
    *w = (watcher){.done = done, .ctx = ctx};
    pthread_mutex_lock(&e->mutex);
    record *r = engine_find(e, id);
    if (r && r->ended < 0) {
        *out = add_watcher(e, r, w)->id;
        pthread_mutex_unlock(&e->mutex);
        return CUZK_OK;
    }
    if (r) r->refs++;
    pthread_mutex_unlock(&e->mutex);
    free(w);
    if (!r) return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "job not found: %s", id);
    engine_result result;
    fill_result(&result, r);
    done(ctx, &result);
    pthread_mutex_lock(&e->mutex);
    record_release(r);
    pthread_mutex_unlock(&e->mutex);
    return CUZK_OK;
}

/* End an unfinished job. Mutex held. */
static void cancel(engine *e, record *r) {
    if (r->accepting)
        r->cancel_wanted = true;
    else if (r->job)
        scheduler_end(e->scheduler, engine_now(e), r->job, JOB_CANCELLED);
    engine_pump(e);
}

static bool remove_watcher(record *r, engine_watch id) {
    for (watcher **link = &r->watchers; *link; link = &(*link)->next)
        if ((*link)->id == id) {
            watcher *w = *link;
            *link = w->next;
            free(w);
            return true;
        }
    return false;
}

bool engine_unwatch(engine *e, engine_watch id) {
    bool found = false;
    if (id == 0) return false;
    pthread_mutex_lock(&e->mutex);
    for (record *r = e->live.first; r && !found; r = r->next) {
        found = remove_watcher(r, id);
        if (found && !r->watchers && r->while_watched) {
            cancel(e, r);
            break;
        }
    }
    for (record *r = e->ending; r && !found; r = r->next) found = remove_watcher(r, id);
    pthread_mutex_unlock(&e->mutex);
    return found;
}

void engine_cancel(engine *e, const char *id, bool *was_running) {
    pthread_mutex_lock(&e->mutex);
    record *r = engine_find(e, id);
    bool unfinished = r && !job_state_is_final(r->state) && !(r->job && job_state_is_final(r->job->state));
    if (unfinished) cancel(e, r);
    pthread_mutex_unlock(&e->mutex);
    if (was_running) *was_running = unfinished;
}

void engine_forget(engine *e, const char *id) {
    const engine_store *store = e->config.store;
    pthread_mutex_lock(&e->mutex);
    record *r = engine_find(e, id);
    bool drop = r && r->ended >= 0, stored = drop && r->stored;
    if (drop) forget(e, r);
    pthread_mutex_unlock(&e->mutex);
    if (stored && store) store->forget(store->ctx, id);
}

cuzk_code engine_restore_result(engine *e, const char *id, job_kind kind, const uint8_t digest[32],
                                job_state state, const uint8_t *proof, size_t proof_size,
                                const cuzk_error *why, cuzk_error *err) {
    record *r;
    job_request blank = {.kind = kind};
    TRY(new_record(&r, &blank, id, digest, 0, engine_now(e), err));
    r->accepting = false;
    r->stored = true;
    r->state = state;
    r->ended = r->accepted;
    r->backend = e->config.backends[kind];
    if (why) r->error = *why;
    if (proof_size > 0 && !(r->proof = malloc(proof_size))) {
        record_release(r);
        return error_no_memory(err, proof_size, "a proof");
    }
    if (proof_size > 0) memcpy(r->proof, proof, proof_size);
    r->proof_size = proof_size;
    pthread_mutex_lock(&e->mutex);
    if (engine_find(e, id)) {
        record_release(r);
    } else {
        engine_table_add(e, r);
        record_list_append(&e->ended, r);
        e->result_bytes += proof_size;
    }
    pthread_mutex_unlock(&e->mutex);
    return CUZK_OK;
}

void engine_drain(engine *e, bool cancel_all) {
    pthread_mutex_lock(&e->mutex);
    e->draining = true;
    while (cancel_all) {
        record *r = e->live.first;
        while (r && (r->cancel_wanted || (r->job && job_state_is_final(r->job->state)))) r = r->next;
        if (!r) break;
        r->cancel_wanted = r->shut_down = true;
        if (!r->accepting) scheduler_end(e->scheduler, engine_now(e), r->job, JOB_CANCELLED);
    }
    engine_pump(e);
    pthread_mutex_unlock(&e->mutex);
}

unsigned engine_count_unfinished(const engine *e) {
    unsigned n = (unsigned)e->live.count + (e->settling && !e->settling->remainder);
    for (const record *r = e->ending; r; r = r->next) n += !r->remainder;
    return n;
}

unsigned engine_unfinished(engine *e) {
    pthread_mutex_lock(&e->mutex);
    unsigned n = engine_count_unfinished(e);
    pthread_mutex_unlock(&e->mutex);
    return n;
}

/* --- memory of requests ----------------------------------------------------------------------------------
 */

bool engine_charge(engine *e, uint64_t bytes) {
    pthread_mutex_lock(&e->mutex);
    uint64_t budget = mem_budget(), used = engine_external_bytes(e) + scheduler_reserved(e->scheduler);
    bool fits = used <= budget && bytes <= budget - used;
    if (fits) e->charged += bytes;
    pthread_mutex_unlock(&e->mutex);
    return fits;
}

void engine_discharge(engine *e, uint64_t bytes) {
    pthread_mutex_lock(&e->mutex);
    e->charged -= bytes;
    engine_pump(e);
    pthread_mutex_unlock(&e->mutex);
}
