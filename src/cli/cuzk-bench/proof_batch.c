#include "proof_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

typedef struct batch_run {
    proof_batch *b;
    daemon_link *links; /* one a thread */
    pthread_mutex_t mutex;
    unsigned next, told;
    bool stopped;
    cuzk_code code;
    cuzk_error err;
} run;

typedef struct worker {
    run *r;
    unsigned index;
    pthread_t thread;
} worker;

static void keep(run *r, unsigned i, const await_proof_response *result, double wall) {
    proof_batch *b = r->b;
    size_t size = result->error_message.size < 500 ? result->error_message.size : 500;
    pthread_mutex_lock(&r->mutex);
    batch_outcome *o = &b->outcomes[i];
    *o = (batch_outcome){.there = true,
                         .status = result->status,
                         .wall = wall,
                         .prove_ms = result->gpu_compute_ms,
                         .queue_ms = result->queue_wait_ms,
                         .total_ms = result->total_ms,
                         .synthesis_ms = result->synthesis_ms};
    if (size) memcpy(o->message, result->error_message.data, size);
    for (; r->told < b->count && b->outcomes[r->told].there; r->told++)
        if (b->tell) b->tell(b->ctx, r->told, &b->outcomes[r->told]);
    pthread_mutex_unlock(&r->mutex);
}

/* The first error counts, and ends the others' calls. */
static void stop(run *r, cuzk_code code, const cuzk_error *err) {
    pthread_mutex_lock(&r->mutex);
    if (!r->stopped) {
        r->stopped = true;
        r->code = code;
        r->err = *err;
        for (unsigned i = 0; i < r->b->concurrency; i++)
            if (r->links[i].client) daemon_interrupt(&r->links[i]);
    }
    pthread_mutex_unlock(&r->mutex);
}

static bool is_stopped(run *r) {
    pthread_mutex_lock(&r->mutex);
    bool stopped = r->stopped;
    pthread_mutex_unlock(&r->mutex);
    return stopped;
}

static bool take_next(run *r, unsigned *i) {
    pthread_mutex_lock(&r->mutex);
    bool more = !r->stopped && r->next < r->b->count;
    if (more) *i = r->next++;
    pthread_mutex_unlock(&r->mutex);
    return more;
}

/* A fresh connection in place of the old one, with the memory of its requests. */
static cuzk_code reopen(run *r, daemon_link *d, cuzk_error *err) {
    daemon_link fresh;
    cuzk_code code = daemon_open(&fresh, r->b->daemon->address, err);
    pthread_mutex_lock(&r->mutex);
    daemon_link old = *d;
    *d = fresh;
    d->request = old.request;
    old.request = (wire_buffer){.data = NULL};
    pthread_mutex_unlock(&r->mutex);
    daemon_close(&old);
    return code;
}

/* One proof, put off as often as the daemon likes within the timeout. */
static cuzk_code prove(run *r, daemon_link *d, unsigned i, cuzk_error *err) {
    const double timeout = r->b->daemon->timeout;
    char id[37];
    make_request_id(id);
    prove_request request = {.has_submit = true};
    prove_response response = {.has_result = false};
    proof_input_request(&request.submit, r->b->input, id);
    TRY(reopen(r, d, err));
    double start = clock_seconds();
    for (;;) {
        double left = timeout > 0 ? start + timeout - clock_seconds() : 0;
        if (daemon_call(d, METHOD_PROVE, &request, left, &response) == RPC_OK) break;
        int64_t wait = d->reply.retry_ms;
        bool late = timeout > 0 && left * 1000 <= (double)wait;
        if (d->reply.status != RPC_RESOURCE_EXHAUSTED || wait < 0 || late || is_stopped(r))
            return daemon_error(d, err);
        usleep((useconds_t)(wait < 10 ? 10 : wait < 10000 ? wait : 10000) * 1000);
        pthread_mutex_lock(&r->mutex);
        r->b->retries++;
        pthread_mutex_unlock(&r->mutex);
    }
    cuzk_code code = CUZK_OK;
    if (response.has_result)
        keep(r, i, &response.result, clock_seconds() - start);
    else
        code = error_set(err, CUZK_ERR_PROOF, NULL, CUZK_NO_OFFSET, "the daemon's answer holds no result");
    daemon_free_response(METHOD_PROVE, &response);
    return code;
}

static void *work(void *arg) {
    worker *w = arg;
    unsigned i;
    while (take_next(w->r, &i)) {
        cuzk_error err;
        cuzk_code code = prove(w->r, &w->r->links[w->index], i, &err);
        if (code != CUZK_OK) stop(w->r, code, &err);
    }
    return NULL;
}

static void run_threads(run *r, worker *workers, unsigned n) {
    unsigned started = 0;
    for (; started < n; started++) {
        workers[started] = (worker){.r = r, .index = started};
        int rc = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
        if (rc == 0) continue;
        cuzk_error why;
        error_errno(&why, CUZK_ERR_RESOURCES, NULL, rc, "starting thread %u of %u", started + 1, n);
        stop(r, CUZK_ERR_RESOURCES, &why);
        break;
    }
    for (unsigned i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
}

static void cancel(run *r) {
    cuzk_error why;
    stop(r, error_set(&why, CUZK_ERR_CANCELLED, NULL, CUZK_NO_OFFSET, "cancelled"), &why);
}

/* Which run it is that proof_batch_cancel would end. */
static void announce(proof_batch *b, run *r) {
    pthread_mutex_lock(&b->mutex);
    b->run = r;
    if (r && b->cancelled) cancel(r);
    pthread_mutex_unlock(&b->mutex);
}

void proof_batch_cancel(proof_batch *b) {
    pthread_mutex_lock(&b->mutex);
    b->cancelled = true;
    if (b->run) cancel(b->run);
    pthread_mutex_unlock(&b->mutex);
}

cuzk_code proof_batch_run(proof_batch *b, cuzk_error *err) {
    unsigned n = b->concurrency < b->count ? b->concurrency : b->count;
    run r = {.b = b, .mutex = PTHREAD_MUTEX_INITIALIZER};
    b->outcomes = calloc(b->count, sizeof *b->outcomes);
    r.links = calloc(b->concurrency, sizeof *r.links);
    worker *workers = calloc(n, sizeof *workers);
    cuzk_code code = CUZK_OK;
    if (!b->outcomes || !r.links || !workers) {
        code = error_no_memory(err, b->count * sizeof *b->outcomes, "results");
    } else {
        announce(b, &r);
        run_threads(&r, workers, n);
        announce(b, NULL);
        if (r.stopped) *err = r.err;
        code = r.stopped ? r.code : CUZK_OK;
    }
    for (unsigned i = 0; r.links && i < b->concurrency; i++) daemon_close(&r.links[i]);
    free(r.links);
    free(workers);
    return code;
}

void proof_batch_free(proof_batch *b) {
    free(b->outcomes);
    b->outcomes = NULL;
}
