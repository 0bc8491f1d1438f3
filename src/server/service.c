/*
 * One `call` for each call the rpc server knows of, from admission until it is abandoned or released. Who
 * answers it is decided without locks held: whoever ends the engine's watch (engine_unwatch says yes) or is
 * told of the job's end by it; before there is a watch, the thread that works on the call. So it is answered
 * exactly once.
 *
 * A call is counted: one reference belongs to the rpc server, one to a thread that works on it. The service's
 * mutex guards the queues, the timers and each call's watch.
 */
#include "server/service.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "rpc/messages.h"
#include "server/answers.h"
#include "server/metrics.h"
#include "server/proof_request.h"
#include "server/text.h"

#define DEFAULT_THREADS 2u
#define MOST_THREADS    16u
#define RETRY_MS        5000
#define MOST_KEY_CALLS  16u  /* preloads and evictions that wait */
#define STATUS_JOBS     128u /* looked at for the job that is being proved */

typedef struct call {
    service *s;
    rpc_call *rpc;
    atomic_uint refs;
    struct call *next; /* in a work queue */
    bool slot;         /* counted in s->arriving */
    uint64_t charged;  /* bytes of the request that the engine counts */
    /* guarded by s->mutex */
    engine_watch watch;
    bool gone; /* the client is, or the deadline has passed */
    rpc_status why;
    /* of AwaitProof with a timeout: place in s->timers */
    struct call *later, *sooner;
    bool timed;
    double expires;
    uint64_t timeout_ms;
    char id[JOB_ID_BYTES];
} call;

typedef struct work_queue {
    call *first, **last;
    unsigned count;
    pthread_cond_t filled;
} work_queue;

struct service {
    service_config config;
    atomic_uint max_queue;
    atomic_uint arriving; /* requests for proofs that are admitted and not yet the engine's */
    pthread_mutex_t mutex;
    bool stopping;
    work_queue proofs, keys;
    call *timers; /* ascending */
    pthread_cond_t timers_changed;
    pthread_t threads[MOST_THREADS + 2];
    unsigned n_threads;
};

/* --- calls ------------------------------------------------------------------------------------------------
 */

static void call_release(call *c) {
    if (atomic_fetch_sub(&c->refs, 1) == 1) free(c);
}

static void give_slot_back(call *c) {
    if (c->slot) atomic_fetch_sub(&c->s->arriving, 1);
    c->slot = false;
}

static void discharge(call *c) {
    if (c->charged) engine_discharge(c->s->config.engine, c->charged);
    c->charged = 0;
}

static void refuse(call *c, rpc_status status, const char *text, refusal why) {
    server_stats_refuse(c->s->config.stats, why);
    rpc_call_finish(c->rpc, status, text, NULL, 0);
}

static void finish_error(call *c, rpc_status status, const cuzk_error *err) {
    char text[TEXT_ERROR_BYTES];
    text_of_error(text, err);
    rpc_call_finish(c->rpc, status, text, NULL, 0);
}

static void finish_buffer(call *c, wire_buffer *b) {
    if (b->failed) {
        wire_buffer_free(b);
        rpc_call_finish(c->rpc, RPC_RESOURCE_EXHAUSTED, "out of memory for the answer", NULL, 0);
    } else {
        rpc_call_finish(c->rpc, RPC_OK, NULL, b->data, b->size);
    }
}

static void finish_message(call *c, const schema *s, const void *message) {
    wire_buffer b = {0};
    schema_encode(s, message, &b);
    finish_buffer(c, &b);
}

/* Decode a small message; answers with the error when it is none. */
static bool read_message(call *c, const schema *s, void *out) {
    cuzk_error err;
    if (schema_decode(s, out, rpc_call_body(c->rpc), &err) == CUZK_OK) return true;
    schema_free(s, out);
    finish_error(c, RPC_INVALID_ARGUMENT, &err);
    return false;
}

/* A job id of a message as a string; false when no job can have it. */
static bool read_id(char out[JOB_ID_BYTES], wire_view id) {
    if (id.size == 0 || id.size >= JOB_ID_BYTES || memchr(id.data, 0, id.size)) return false;
    memcpy(out, id.data, id.size);
    out[id.size] = 0;
    return true;
}

/* --- timers -----------------------------------------------------------------------------------------------
 */

/* Mutex held. */
static void timer_set(call *c, double expires) {
    call **link = &c->s->timers, *before = NULL;
    while (*link && (*link)->expires <= expires) {
        before = *link;
        link = &before->later;
    }
    c->expires = expires;
    c->timed = true;
    c->sooner = before;
    c->later = *link;
    if (c->later) c->later->sooner = c;
    *link = c;
    if (!before) pthread_cond_signal(&c->s->timers_changed);
}

/* Mutex held. Harmless without a timer. */
static void timer_clear(call *c) {
    if (!c->timed) return;
    c->timed = false;
    *(c->sooner ? &c->sooner->later : &c->s->timers) = c->later;
    if (c->later) c->later->sooner = c->sooner;
}

/* --- waiting for a job ------------------------------------------------------------------------------------
 */

static bool is_prove(const call *c) {
    return rpc_call_method(c->rpc) == METHOD_PROVE;
}

static void job_ended(void *ctx, const engine_result *result) {
    call *c = ctx;
    bool prove = is_prove(c);
    if (prove && result->state == JOB_FAILED && result->error && result->error->code == CUZK_ERR_INPUT) {
        finish_error(c, RPC_INVALID_ARGUMENT, result->error);
        return;
    }
    wire_buffer b = {0};
    answer_result(&b, result, prove);
    finish_buffer(c, &b);
}

/* Stop waiting, if this is the first to do so and the job has not ended. True: the caller must answer. */
static bool leave(call *c) {
    pthread_mutex_lock(&c->s->mutex);
    engine_watch watch = c->watch;
    c->watch = 0;
    timer_clear(c);
    pthread_mutex_unlock(&c->s->mutex);
    return engine_unwatch(c->s->config.engine, watch);
}

static void finish_gone(call *c, rpc_status why) {
    rpc_call_finish(c->rpc, why, NULL, NULL, 0);
}

/* Answer when the job ends. The caller has a reference. */
static void wait_for_job(call *c, const char *id, uint64_t timeout_ms) {
    service *s = c->s;
    cuzk_error err;
    engine_watch watch;
    if (engine_watch_job(&watch, s->config.engine, id, job_ended, c, &err) != CUZK_OK) {
        finish_error(c, err.code == CUZK_ERR_USAGE ? RPC_NOT_FOUND : RPC_RESOURCE_EXHAUSTED, &err);
        return;
    }
    if (watch == 0) return; /* it has ended: answered */
    pthread_mutex_lock(&s->mutex);
    bool gone = c->gone;
    rpc_status why = c->why;
    c->watch = watch;
    if (timeout_ms > 0 && !gone) {
        c->timeout_ms = timeout_ms;
        snprintf(c->id, sizeof c->id, "%s", id);
        timer_set(c, clock_seconds() + (double)timeout_ms / 1000);
    }
    pthread_mutex_unlock(&s->mutex);
    if (gone && leave(c)) finish_gone(c, why);
}

/* --- requests for proofs ----------------------------------------------------------------------------------
 */

static refusal refusal_of(cuzk_code code, bool can_retry) {
    if (code == CUZK_ERR_CANCELLED) return REFUSED_DRAINING;
    if (code == CUZK_ERR_PARAMS) return REFUSED_UNSUPPORTED;
    if (code == CUZK_ERR_RESOURCES) return can_retry ? REFUSED_QUEUE_FULL : REFUSED_MEMORY;
    return REFUSED_INPUT;
}

static void submission_failed(call *c, const cuzk_error *err, const engine_receipt *receipt, bool can_retry) {
    char text[TEXT_ERROR_BYTES];
    text_of_error(text, err);
    static log_limit refused;
    LOG_LIMITED(&refused, 5, LOG_LEVEL_WARN, "request refused", LOG_JOB(receipt->id),
                LOG_TEXT("peer", rpc_call_peer(c->rpc)), LOG_TEXT("error", text));
    if (receipt->conflict)
        refuse(c, RPC_ALREADY_EXISTS, text, REFUSED_CONFLICT);
    else
        refuse(c, answer_status(err->code, can_retry), text, refusal_of(err->code, can_retry));
}

static void submitted(call *c, const engine_receipt *receipt) {
    if (is_prove(c)) {
        wait_for_job(c, receipt->id, 0);
        engine_unwatch(c->s->config.engine, receipt->hold);
        return;
    }
    submit_proof_response m = {.job_id = wire_text(receipt->id), .queue_position = receipt->position};
    finish_message(c, &submit_proof_response_schema, &m);
}

static void handle_proof(call *c) {
    service *s = c->s;
    bool prove = is_prove(c), can_retry = false;
    job_request request;
    engine_receipt receipt = {.id = ""};
    cuzk_error err;
    cuzk_code code = proof_request_read(&request, rpc_call_take_body(c->rpc), prove, &err);
    if (code != CUZK_OK) {
        give_slot_back(c);
        discharge(c);
        submission_failed(c, &err, &receipt, code == CUZK_ERR_RESOURCES);
        return;
    }
    if (!s->config.supported[request.kind]) {
        char text[128];
        snprintf(text, sizeof text, "this build has no circuit for proofs of kind %s",
                 job_kind_name(request.kind));
        job_request_release(&request);
        give_slot_back(c);
        discharge(c);
        refuse(c, RPC_UNIMPLEMENTED, text, REFUSED_UNSUPPORTED);
        return;
    }
    double deadline = rpc_call_deadline(c->rpc);
    if (prove && isfinite(deadline)) {
        double left = deadline - clock_seconds();
        request.deadline = left > 0.001 ? left : 0.001;
    }
    give_slot_back(c); /* from here on the engine counts it */
    code = engine_submit(s->config.engine, &request, prove ? ENGINE_WHILE_WATCHED : ENGINE_DURABLE, &receipt,
                         &can_retry, &err);
    discharge(c); /* the request is gone */
    if (code == CUZK_OK)
        submitted(c, &receipt);
    else
        submission_failed(c, &err, &receipt, can_retry);
}

/* --- keys -------------------------------------------------------------------------------------------------
 */

/* The reference answers INTERNAL to every preload that fails. What it never refuses is evicting. */
static rpc_status preload_status(cuzk_code code) {
    return code == CUZK_ERR_CANCELLED ? RPC_UNAVAILABLE : RPC_INTERNAL;
}
static rpc_status evict_status(cuzk_code code) {
    return code == CUZK_ERR_USAGE ? RPC_NOT_FOUND : RPC_FAILED_PRECONDITION;
}

static bool read_circuit(call *c, char out[64], wire_view id, rpc_status otherwise) {
    if (id.size < 64 && (id.size == 0 || !memchr(id.data, 0, id.size))) {
        if (id.size > 0) memcpy(out, id.data, id.size);
        out[id.size] = 0;
        return true;
    }
    rpc_call_finish(c->rpc, otherwise, "unknown circuit ID: the name is too long", NULL, 0);
    return false;
}

static void preload(call *c) {
    preload_srs_request m = {0};
    char circuit[64];
    cuzk_error err;
    bool already = false;
    if (!read_message(c, &preload_srs_request_schema, &m) ||
        !read_circuit(c, circuit, m.circuit_id, preload_status(CUZK_ERR_USAGE)))
        return;
    double start = clock_seconds();
    cuzk_code code = engine_preload(c->s->config.engine, circuit, &already, &err);
    if (code != CUZK_OK) {
        finish_error(c, preload_status(code), &err);
        return;
    }
    uint64_t took = (uint64_t)(1000 * (clock_seconds() - start));
    preload_srs_response answer = {.already_loaded = already, .load_time_ms = already ? 0 : took};
    finish_message(c, &preload_srs_response_schema, &answer);
}

static void evict(call *c) {
    evict_srs_request m = {0};
    evict_srs_response answer = {0};
    char circuit[64];
    cuzk_error err;
    if (!read_message(c, &evict_srs_request_schema, &m) ||
        !read_circuit(c, circuit, m.circuit_id, evict_status(CUZK_ERR_USAGE)))
        return;
    cuzk_code code =
        engine_evict(c->s->config.engine, circuit, &answer.was_loaded, &answer.freed_bytes, &err);
    if (code == CUZK_OK)
        finish_message(c, &evict_srs_response_schema, &answer);
    else
        finish_error(c, evict_status(code), &err);
}

static void handle_keys(call *c) {
    if (rpc_call_method(c->rpc) == METHOD_PRELOAD_SRS)
        preload(c);
    else
        evict(c);
}

/* --- threads ----------------------------------------------------------------------------------------------
 */

/* Mutex held. */
static void push(work_queue *q, call *c) {
    atomic_fetch_add(&c->refs, 1);
    c->next = NULL;
    *q->last = c;
    q->last = &c->next;
    q->count++;
    pthread_cond_signal(&q->filled);
}

/* The next call, or NULL when the service stops. */
static call *pop(service *s, work_queue *q) {
    pthread_mutex_lock(&s->mutex);
    while (!q->first && !s->stopping) pthread_cond_wait(&q->filled, &s->mutex);
    call *c = q->first;
    if (c) {
        q->first = c->next;
        if (!q->first) q->last = &q->first;
        q->count--;
    }
    pthread_mutex_unlock(&s->mutex);
    return c;
}

static void serve(service *s, work_queue *q, void (*handle)(call *)) {
    for (call *c; (c = pop(s, q)) != NULL; call_release(c)) {
        if (rpc_call_is_cancelled(c->rpc))
            finish_gone(c, RPC_CANCELLED);
        else
            handle(c);
        give_slot_back(c);
        discharge(c);
    }
}

static void *proof_thread(void *arg) {
    service *s = arg;
    serve(s, &s->proofs, handle_proof);
    return NULL;
}

static void *key_thread(void *arg) {
    service *s = arg;
    serve(s, &s->keys, handle_keys);
    return NULL;
}

static void wait_until(service *s, double when) {
    struct timespec t = {.tv_sec = (time_t)when};
    t.tv_nsec = (long)((when - (double)t.tv_sec) * 1e9);
    pthread_cond_timedwait(&s->timers_changed, &s->mutex, &t);
}

static void *timer_thread(void *arg) {
    service *s = arg;
    pthread_mutex_lock(&s->mutex);
    while (!s->stopping) {
        call *c = s->timers;
        if (!c)
            pthread_cond_wait(&s->timers_changed, &s->mutex);
        else if (c->expires > clock_seconds())
            wait_until(s, c->expires);
        else {
            timer_clear(c);
            atomic_fetch_add(&c->refs, 1);
            pthread_mutex_unlock(&s->mutex);
            if (leave(c)) {
                wire_buffer b = {0};
                answer_still_running(&b, c->id, c->timeout_ms);
                finish_buffer(c, &b);
            }
            call_release(c);
            pthread_mutex_lock(&s->mutex);
        }
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* --- what the rpc server asks ------------------------------------------------------------------------------
 */

static void put_refusal(service *s, rpc_refusal *out, rpc_status status, int64_t retry_ms, refusal why,
                        const char *text) {
    server_stats_refuse(s->config.stats, why);
    out->status = status;
    out->retry_ms = retry_ms;
    snprintf(out->message, sizeof out->message, "%s", text);
}

/* May a request for a proof be uploaded? Takes a slot. */
static bool admit_proof(service *s, rpc_refusal *out) {
    unsigned most = atomic_load(&s->max_queue);
    engine_counters counters;
    engine_get_counters(&counters, s->config.engine);
    if (counters.draining) {
        put_refusal(s, out, RPC_UNAVAILABLE, -1, REFUSED_DRAINING, "shutting down: no new jobs");
        return false;
    }
    unsigned arriving = atomic_fetch_add(&s->arriving, 1);
    unsigned unfinished = engine_unfinished(s->config.engine);
    if ((uint64_t)unfinished + arriving < most) return true;
    atomic_fetch_sub(&s->arriving, 1);
    char text[128];
    snprintf(text, sizeof text, "the queue is full: %u jobs are unfinished and %u arriving, %u are allowed",
             unfinished, arriving, most);
    put_refusal(s, out, RPC_RESOURCE_EXHAUSTED, RETRY_MS, REFUSED_QUEUE_FULL, text);
    return false;
}

static void on_admit(void *ctx, rpc_call *rpc, uint64_t size, rpc_refusal *out) {
    service *s = ctx;
    (void)size;
    size_t method = rpc_call_method(rpc);
    bool proof = method == METHOD_SUBMIT_PROOF || method == METHOD_PROVE;
    call *c = calloc(1, sizeof *c);
    if (!c) {
        put_refusal(s, out, RPC_RESOURCE_EXHAUSTED, RETRY_MS, REFUSED_MEMORY, "out of memory for a call");
        return;
    }
    c->s = s;
    c->rpc = rpc;
    atomic_init(&c->refs, 1);
    if (proof && !admit_proof(s, out)) {
        free(c);
        return;
    }
    c->slot = proof;
    rpc_call_set_data(rpc, c);
}

/* Requests for proofs count against the memory budget from here until they are parsed. */
static void on_sized(void *ctx, rpc_call *rpc, uint64_t size, rpc_refusal *out) {
    service *s = ctx;
    call *c = rpc_call_data(rpc);
    if (!c->slot || size == 0) return;
    if (engine_charge(s->config.engine, size)) {
        c->charged = size;
        return;
    }
    engine_counters counters;
    engine_get_counters(&counters, s->config.engine);
    char text[160];
    snprintf(text, sizeof text,
             "a request of %" PRIu64 " bytes does not fit now: %" PRIu64 " of %" PRIu64 " bytes are promised",
             size, counters.memory_reserved, counters.memory_budget);
    put_refusal(s, out, RPC_RESOURCE_EXHAUSTED, RETRY_MS, REFUSED_MEMORY, text);
}

static void on_abandoned(void *ctx, rpc_call *rpc) {
    (void)ctx;
    call *c = rpc_call_data(rpc);
    if (!c) return;
    give_slot_back(c);
    discharge(c);
    call_release(c);
}

static void handle_await(call *c) {
    await_proof_request m = {0};
    char id[JOB_ID_BYTES], text[JOB_ID_BYTES + 32];
    if (!read_message(c, &await_proof_request_schema, &m)) return;
    if (read_id(id, m.job_id)) {
        wait_for_job(c, id, m.timeout_ms);
        return;
    }
    snprintf(text, sizeof text, "job not found: %.*s", (int)(m.job_id.size < 128 ? m.job_id.size : 128),
             m.job_id.size > 0 ? (const char *)m.job_id.data : "");
    rpc_call_finish(c->rpc, RPC_NOT_FOUND, text, NULL, 0);
}

static void handle_cancel(call *c) {
    cancel_proof_request m = {0};
    cancel_proof_response answer = {0};
    char id[JOB_ID_BYTES];
    if (!read_message(c, &cancel_proof_request_schema, &m)) return;
    if (read_id(id, m.job_id)) engine_cancel(c->s->config.engine, id, &answer.was_running);
    finish_message(c, &cancel_proof_response_schema, &answer);
}

static void handle_status(call *c) {
    engine_snapshot snapshot;
    cuzk_error err;
    if (engine_snapshot_take(&snapshot, c->s->config.engine, STATUS_JOBS, &err) != CUZK_OK) {
        finish_error(c, RPC_RESOURCE_EXHAUSTED, &err);
        return;
    }
    wire_buffer b = {0};
    answer_server_status(&b, &snapshot, c->s->config.stats);
    engine_snapshot_free(&snapshot);
    finish_buffer(c, &b);
}

static void handle_metrics(call *c) {
    engine_snapshot snapshot;
    cuzk_error err;
    char *text = NULL;
    size_t size = 0;
    cuzk_code code = engine_snapshot_take(&snapshot, c->s->config.engine, 0, &err);
    if (code == CUZK_OK) {
        code = metrics_text(&text, &size, &snapshot, c->s->config.stats, &err);
        engine_snapshot_free(&snapshot);
    }
    if (code != CUZK_OK) {
        finish_error(c, RPC_RESOURCE_EXHAUSTED, &err);
        return;
    }
    get_metrics_response m = {.prometheus_text = {(const uint8_t *)text, size}};
    finish_message(c, &get_metrics_response_schema, &m);
    free(text);
}

/* To a thread; false when too many wait. */
static bool enqueue(work_queue *q, call *c, unsigned most) {
    pthread_mutex_lock(&c->s->mutex);
    bool room = q->count < most;
    if (room) push(q, c);
    pthread_mutex_unlock(&c->s->mutex);
    return room;
}

static void on_handle(void *ctx, rpc_call *rpc) {
    service *s = ctx;
    call *c = rpc_call_data(rpc);
    atomic_fetch_add(&c->refs, 1); /* the call is released as soon as it is answered */
    switch ((proving_method)rpc_call_method(rpc)) {
    case METHOD_SUBMIT_PROOF:
    case METHOD_PROVE:
        enqueue(&s->proofs, c, UINT32_MAX); /* bounded by the slots */
        break;
    case METHOD_AWAIT_PROOF:
        handle_await(c);
        break;
    case METHOD_CANCEL_PROOF:
        handle_cancel(c);
        break;
    case METHOD_GET_STATUS:
        handle_status(c);
        break;
    case METHOD_GET_METRICS:
        handle_metrics(c);
        break;
    case METHOD_PRELOAD_SRS:
    case METHOD_EVICT_SRS:
        if (!enqueue(&s->keys, c, MOST_KEY_CALLS))
            rpc_call_finish(rpc, RPC_RESOURCE_EXHAUSTED, "too many keys are being preloaded or evicted", NULL,
                            0);
        break;
    case METHOD_COUNT:
        rpc_call_finish(rpc, RPC_UNIMPLEMENTED, NULL, NULL, 0);
        break;
    }
    call_release(c);
}

static void on_cancelled(void *ctx, rpc_call *rpc, rpc_status why) {
    service *s = ctx;
    call *c = rpc_call_data(rpc);
    if (!c) return;
    pthread_mutex_lock(&s->mutex);
    c->gone = true;
    c->why = why;
    pthread_mutex_unlock(&s->mutex);
    if (leave(c)) finish_gone(c, why);
}

static void on_released(void *ctx, rpc_call *rpc) {
    service *s = ctx;
    call *c = rpc_call_data(rpc);
    if (!c) return;
    pthread_mutex_lock(&s->mutex);
    timer_clear(c);
    pthread_mutex_unlock(&s->mutex);
    call_release(c);
}

static void on_rpc_log(void *ctx, const char *text) {
    static log_limit limit;
    (void)ctx;
    LOG_LIMITED(&limit, 2, LOG_LEVEL_WARN, "gRPC", LOG_TEXT("event", text));
}

rpc_handlers service_handlers(service *s) {
    return (rpc_handlers){.ctx = s,
                          .admit = on_admit,
                          .sized = on_sized,
                          .abandoned = on_abandoned,
                          .handle = on_handle,
                          .cancelled = on_cancelled,
                          .released = on_released,
                          .log = on_rpc_log};
}

/* --- life -------------------------------------------------------------------------------------------------
 */

static void queue_init(work_queue *q) {
    q->last = &q->first;
    pthread_cond_init(&q->filled, NULL);
}

static cuzk_code start_thread(service *s, void *(*run)(void *), cuzk_error *err) {
    int why = pthread_create(&s->threads[s->n_threads], NULL, run, s);
    if (why != 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, why, "no thread for the service");
    s->n_threads++;
    return CUZK_OK;
}

static cuzk_code start_threads(service *s, cuzk_error *err) {
    unsigned n = s->config.threads ? s->config.threads : DEFAULT_THREADS;
    TRY(start_thread(s, timer_thread, err));
    TRY(start_thread(s, key_thread, err));
    for (unsigned i = 0; i < n && i < MOST_THREADS; i++) TRY(start_thread(s, proof_thread, err));
    return CUZK_OK;
}

cuzk_code service_create(service **out, const service_config *config, unsigned max_queue, cuzk_error *err) {
    *out = NULL;
    service *s = calloc(1, sizeof *s);
    if (!s) return error_no_memory(err, sizeof *s, "the service");
    s->config = *config;
    atomic_init(&s->max_queue, max_queue);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->timers_changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&s->mutex, NULL);
    queue_init(&s->proofs);
    queue_init(&s->keys);
    cuzk_code code = start_threads(s, err);
    if (code != CUZK_OK) {
        service_destroy(s);
        return code;
    }
    *out = s;
    return CUZK_OK;
}

void service_destroy(service *s) {
    if (!s) return;
    pthread_mutex_lock(&s->mutex);
    s->stopping = true;
    pthread_cond_broadcast(&s->proofs.filled);
    pthread_cond_broadcast(&s->keys.filled);
    pthread_cond_broadcast(&s->timers_changed);
    pthread_mutex_unlock(&s->mutex);
    for (unsigned i = 0; i < s->n_threads; i++) pthread_join(s->threads[i], NULL);
    pthread_cond_destroy(&s->proofs.filled);
    pthread_cond_destroy(&s->keys.filled);
    pthread_cond_destroy(&s->timers_changed);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

void service_set_max_queue(service *s, unsigned max_queue) {
    atomic_store(&s->max_queue, max_queue);
}
