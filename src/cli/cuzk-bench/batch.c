/*
 * cuzk-bench batch: the same proof many times through a daemon, so many at a time, as the reference's tool of
 * that name prints it. Other than there, a proof that failed ends the program with 1, the lines of proofs
 * come as soon as those before them are there, and a proof the daemon puts off (it says when to try again) is
 * sent again.
 *
 * Each proof has a fresh request id and a fresh connection; each of the -j threads takes the next one. An
 * error of a call ends the run: the other threads' calls are cancelled.
 */
#include "commands.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon.h"
#include "proof_input.h"
#include "report.h"

#define MAX_COUNT       1000000u
#define MAX_CONCURRENCY 1024u

static const struct argp_option options[] = {
    {"count", 'c', "N", 0, "How many proofs (default 3)", 20},
    {"concurrency", 'j', "N", 0, "How many at a time (default 1)", 20},
    {0}};

typedef struct arguments {
    daemon_options daemon;
    proof_input input;
    unsigned count, concurrency;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->input;
        state->child_inputs[1] = &a->daemon;
        return 0;
    case 'c':
        a->count = (unsigned)option_u64(arg, 1, MAX_COUNT, "--count", state);
        return 0;
    case 'j':
        a->concurrency = (unsigned)option_u64(arg, 1, MAX_CONCURRENCY, "--concurrency", state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&proof_input_argp, 0, "The proof:", 10}, {&daemon_argp, 0, "The daemon:", 80}, {0}};

static const struct argp argp = {options,
                                 parse,
                                 NULL,
                                 "Have a daemon make the same proof many times, and sum up the times.\v"
                                 "Examples:\n"
                                 "  cuzk-bench batch -t porep --c1 c1.json -c 10 -j 4\n"
                                 "  cuzk-bench -a unix:///run/curio/cuzk.sock batch -t winning --vanilla "
                                 "winning-vanilla.json --json -\n\n" DAEMON_CODES_HELP,
                                 children,
                                 NULL,
                                 NULL};

typedef struct outcome {
    bool there;
    int32_t status;
    double wall;
    uint64_t prove_ms, queue_ms, total_ms, synthesis_ms;
    char message[512];
} outcome;

typedef struct batch {
    const arguments *a;
    outcome *outcomes;
    daemon_link *links; /* one a thread */
    pthread_mutex_t mutex;
    unsigned next, printed, retries;
    bool stopped;
    cuzk_code code;
    cuzk_error err;
} batch;

typedef struct worker {
    batch *b;
    unsigned index;
    pthread_t thread;
} worker;

/* Lines of all proofs whose predecessors are there. Mutex held. */
static void print_lines(batch *b) {
    while (b->printed < b->a->count && b->outcomes[b->printed].there) {
        const outcome *o = &b->outcomes[b->printed++];
        if (!daemon_wants_text(&b->a->daemon)) continue;
        printf("  [%u/%u] %s — %.1fs (prove=%" PRIu64 " ms, queue=%" PRIu64 " ms)\n", b->printed, b->a->count,
               proof_status_name(o->status), o->wall, o->prove_ms, o->queue_ms);
        fflush(stdout);
        if (o->status != PROOF_STATUS_COMPLETED)
            fprintf(stderr, "cuzk-bench batch: proof %u: %s\n", b->printed, o->message);
    }
}

static void keep(batch *b, unsigned i, const prove_response *response, double wall) {
    const await_proof_response *r = &response->result;
    pthread_mutex_lock(&b->mutex);
    outcome *o = &b->outcomes[i];
    *o = (outcome){.there = true,
                   .status = r->status,
                   .wall = wall,
                   .prove_ms = r->gpu_compute_ms,
                   .queue_ms = r->queue_wait_ms,
                   .total_ms = r->total_ms,
                   .synthesis_ms = r->synthesis_ms};
    snprintf(o->message, sizeof o->message, "%.*s",
             (int)(r->error_message.size < 500 ? r->error_message.size : 500),
             r->error_message.size ? (const char *)r->error_message.data : "");
    print_lines(b);
    pthread_mutex_unlock(&b->mutex);
}

/* The first error counts, and ends the others' calls. */
static void stop(batch *b, cuzk_code code, const cuzk_error *err) {
    pthread_mutex_lock(&b->mutex);
    if (!b->stopped) {
        b->stopped = true;
        b->code = code;
        b->err = *err;
        for (unsigned i = 0; i < b->a->concurrency; i++)
            if (b->links[i].client) daemon_interrupt(&b->links[i]);
    }
    pthread_mutex_unlock(&b->mutex);
}

static bool take_next(batch *b, unsigned *i) {
    pthread_mutex_lock(&b->mutex);
    bool more = !b->stopped && b->next < b->a->count;
    if (more) *i = b->next++;
    pthread_mutex_unlock(&b->mutex);
    return more;
}

static cuzk_code reopen(batch *b, daemon_link *d, cuzk_error *err) {
    daemon_link fresh;
    cuzk_code code = daemon_open(&fresh, b->a->daemon.address, err);
    pthread_mutex_lock(&b->mutex);
    daemon_link old = *d;
    *d = fresh;
    d->request = old.request; /* memory of the size of a request */
    old.request = (wire_buffer){.data = NULL};
    pthread_mutex_unlock(&b->mutex);
    daemon_close(&old);
    return code;
}

static bool is_stopped(batch *b) {
    pthread_mutex_lock(&b->mutex);
    bool stopped = b->stopped;
    pthread_mutex_unlock(&b->mutex);
    return stopped;
}

/* One proof. The daemon may put it off as often as it likes, within the timeout. */
static cuzk_code prove(batch *b, daemon_link *d, unsigned i, cuzk_error *err) {
    const daemon_options *o = &b->a->daemon;
    char id[37];
    make_request_id(id);
    prove_request request = {.has_submit = true};
    prove_response response = {.has_result = false};
    proof_input_request(&request.submit, &b->a->input, id);
    TRY(reopen(b, d, err));
    double start = clock_seconds();
    for (;;) {
        double left = o->timeout > 0 ? start + o->timeout - clock_seconds() : 0;
        if (daemon_call(d, METHOD_PROVE, &request, left, &response) == RPC_OK) break;
        int64_t wait = d->reply.retry_ms;
        bool late = o->timeout > 0 && left * 1000 <= (double)wait;
        if (d->reply.status != RPC_RESOURCE_EXHAUSTED || wait < 0 || late || is_stopped(b))
            return daemon_error(d, err);
        usleep((useconds_t)(wait < 10 ? 10 : wait < 10000 ? wait : 10000) * 1000);
        pthread_mutex_lock(&b->mutex);
        b->retries++;
        pthread_mutex_unlock(&b->mutex);
    }
    if (response.has_result)
        keep(b, i, &response, clock_seconds() - start);
    else
        error_set(err, CUZK_ERR_PROOF, NULL, CUZK_NO_OFFSET, "the daemon's answer holds no result");
    bool there = response.has_result;
    daemon_free_response(METHOD_PROVE, &response);
    return there ? CUZK_OK : CUZK_ERR_PROOF;
}

static void *work(void *arg) {
    worker *w = arg;
    unsigned i;
    while (take_next(w->b, &i)) {
        cuzk_error err;
        cuzk_code code = prove(w->b, &w->b->links[w->index], i, &err);
        if (code != CUZK_OK) stop(w->b, code, &err);
    }
    return NULL;
}

/* Run all; the error of a thread that cannot be started or of a call. */
static cuzk_code run_all(batch *b, cuzk_error *err) {
    unsigned n = b->a->concurrency, started = 0;
    worker *workers = calloc(n, sizeof *workers);
    if (!workers) return error_no_memory(err, n * sizeof *workers, "threads");
    for (; started < n && started < b->a->count; started++) {
        workers[started] = (worker){.b = b, .index = started};
        int rc = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
        if (rc == 0) continue;
        cuzk_error why;
        stop(b, error_errno(&why, CUZK_ERR_RESOURCES, NULL, rc, "starting thread %u of %u", started + 1, n),
             &why);
        break;
    }
    for (unsigned i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    free(workers);
    if (b->stopped) *err = b->err;
    return b->stopped ? b->code : CUZK_OK;
}

typedef struct summary {
    unsigned completed, failed;
    double wall_sum, wall_min, wall_max, prove_sum, prove_min, prove_max;
} summary;

static void widen(double *least, double *most, double value, bool first) {
    if (first || value < *least) *least = value;
    if (first || value > *most) *most = value;
}

static summary sum_up(const batch *b) {
    summary s = {.completed = 0};
    for (unsigned i = 0; i < b->a->count; i++) {
        const outcome *o = &b->outcomes[i];
        if (!o->there) continue;
        if (o->status != PROOF_STATUS_COMPLETED) {
            s.failed++;
            continue;
        }
        double prove = (double)o->prove_ms / 1000;
        widen(&s.wall_min, &s.wall_max, o->wall, s.completed == 0);
        widen(&s.prove_min, &s.prove_max, prove, s.completed == 0);
        s.wall_sum += o->wall;
        s.prove_sum += prove;
        s.completed++;
    }
    return s;
}

static void print_summary(const summary *s, double total) {
    printf("\n=== Batch Summary ===\ntotal time:    %.1fs\ncompleted:     %u\nfailed:        %u\n", total,
           s->completed, s->failed);
    if (s->completed == 0) return;
    printf("wall time:     avg=%.1fs min=%.1fs max=%.1fs\n", s->wall_sum / s->completed, s->wall_min,
           s->wall_max);
    printf("prove time:    avg=%.1fs min=%.1fs max=%.1fs\n", s->prove_sum / s->completed, s->prove_min,
           s->prove_max);
    printf("throughput:    %.3f proofs/min (%.1fs/proof)\n", 60 * s->completed / total, total / s->completed);
}

static cuzk_code put_json(const batch *b, const summary *s, double total, cuzk_error *err) {
    yajl_gen g = json_begin();
    json_string(g, "type", b->a->input.type);
    json_u64(g, "count", b->a->count);
    json_u64(g, "concurrency", b->a->concurrency);
    json_double(g, "total_seconds", total);
    json_u64(g, "completed", s->completed);
    json_u64(g, "failed", s->failed);
    json_u64(g, "retries", b->retries);
    json_double(g, "proofs_per_minute", 60 * s->completed / total);
    bench_put_machine(g);
    json_key(g, "proofs");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < b->a->count; i++) {
        const outcome *o = &b->outcomes[i];
        if (!o->there) continue;
        yajl_gen_map_open(g);
        json_string(g, "status", proof_status_name(o->status));
        json_double(g, "wall_ms", 1000 * o->wall);
        json_u64(g, "total_ms", o->total_ms);
        json_u64(g, "queue_wait_ms", o->queue_ms);
        json_u64(g, "synthesis_ms", o->synthesis_ms);
        json_u64(g, "gpu_compute_ms", o->prove_ms);
        json_string(g, "error_message", o->message);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    return daemon_put_json(g, &b->a->daemon, err);
}

static cuzk_code run(batch *b, unsigned *failed, cuzk_error *err) {
    const arguments *a = b->a;
    bool text = daemon_wants_text(&a->daemon);
    b->outcomes = calloc(a->count, sizeof *b->outcomes);
    b->links = calloc(a->concurrency, sizeof *b->links);
    if (!b->outcomes || !b->links) return error_no_memory(err, a->count * sizeof *b->outcomes, "results");
    if (text)
        printf("=== Batch Benchmark ===\nproof type:  %s\ncount:       %u\nconcurrency: %u\n\n",
               a->input.type, a->count, a->concurrency);
    fflush(stdout);
    double start = clock_seconds();
    TRY(run_all(b, err));
    double total = clock_seconds() - start;
    summary s = sum_up(b);
    *failed = s.failed;
    if (text) print_summary(&s, total);
    return a->daemon.json ? put_json(b, &s, total, err) : CUZK_OK;
}

int batch_main(int argc, char **argv) {
    arguments a = {.count = 3, .concurrency = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    batch b = {.a = &a, .mutex = PTHREAD_MUTEX_INITIALIZER};
    unsigned failed = 0;
    cuzk_error err;
    cuzk_code code = proof_input_load(&a.input, &err);
    if (code == CUZK_OK) code = run(&b, &failed, &err);
    int status = code != CUZK_OK ? daemon_report("cuzk-bench batch", &a.daemon, &err)
                 : failed        ? exit_code(CUZK_ERR_PROOF)
                                 : 0;
    for (unsigned i = 0; b.links && i < a.concurrency; i++) daemon_close(&b.links[i]);
    free(b.links);
    free(b.outcomes);
    proof_input_free(&a.input);
    return status;
}
