/*
 * cuzk-bench batch: the same proof many times through a daemon (proof_batch.h), as the reference's tool of
 * that name prints it. Other than there, a proof that failed ends the program with 1, and the lines of proofs
 * come as soon as those before them are there.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "proof_batch.h"
#include "report.h"

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
        a->count = (unsigned)option_u64(arg, 1, BATCH_MAX_COUNT, "--count", state);
        return 0;
    case 'j':
        a->concurrency = (unsigned)option_u64(arg, 1, BATCH_MAX_CONCURRENCY, "--concurrency", state);
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

/* The line of a proof. */
static void print_line(void *ctx, unsigned index, const batch_outcome *o) {
    const arguments *a = ctx;
    if (!daemon_wants_text(&a->daemon)) return;
    printf("  [%u/%u] %s — %.1fs (prove=%" PRIu64 " ms, queue=%" PRIu64 " ms)\n", index + 1, a->count,
           proof_status_name(o->status), o->wall, o->prove_ms, o->queue_ms);
    fflush(stdout);
    if (o->status != PROOF_STATUS_COMPLETED)
        fprintf(stderr, "cuzk-bench batch: proof %u: %s\n", index + 1, o->message);
}

typedef struct summary {
    unsigned completed, failed;
    double wall_sum, wall_min, wall_max, prove_sum, prove_min, prove_max;
} summary;

static void widen(double *least, double *most, double value, bool first) {
    if (first || value < *least) *least = value;
    if (first || value > *most) *most = value;
}

static summary sum_up(const proof_batch *b) {
    summary s = {.completed = 0};
    for (unsigned i = 0; i < b->count; i++) {
        const batch_outcome *o = &b->outcomes[i];
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

static cuzk_code put_json(const proof_batch *b, const summary *s, double total, cuzk_error *err) {
    yajl_gen g = json_begin();
    json_string(g, "type", b->input->type);
    json_u64(g, "count", b->count);
    json_u64(g, "concurrency", b->concurrency);
    json_double(g, "total_seconds", total);
    json_u64(g, "completed", s->completed);
    json_u64(g, "failed", s->failed);
    json_u64(g, "retries", b->retries);
    json_double(g, "proofs_per_minute", 60 * s->completed / total);
    bench_put_machine(g);
    json_key(g, "proofs");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < b->count; i++) {
        const batch_outcome *o = &b->outcomes[i];
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
    return daemon_put_json(g, b->daemon, err);
}

static cuzk_code run(const arguments *a, proof_batch *b, unsigned *failed, cuzk_error *err) {
    bool text = daemon_wants_text(&a->daemon);
    if (text)
        printf("=== Batch Benchmark ===\nproof type:  %s\ncount:       %u\nconcurrency: %u\n\n",
               a->input.type, a->count, a->concurrency);
    fflush(stdout);
    double start = clock_seconds();
    TRY(proof_batch_run(b, err));
    double total = clock_seconds() - start;
    summary s = sum_up(b);
    *failed = s.failed;
    if (text) print_summary(&s, total);
    return a->daemon.json ? put_json(b, &s, total, err) : CUZK_OK;
}

int batch_main(int argc, char **argv) {
    arguments a = {.count = 3, .concurrency = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    proof_batch b = {.daemon = &a.daemon,
                     .input = &a.input,
                     .count = a.count,
                     .concurrency = a.concurrency,
                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                     .tell = print_line,
                     .ctx = &a};
    unsigned failed = 0;
    cuzk_error err;
    cuzk_code code = proof_input_load(&a.input, &err);
    if (code == CUZK_OK) code = run(&a, &b, &failed, &err);
    int status = 0;
    if (code != CUZK_OK)
        status = daemon_report("cuzk-bench batch", &a.daemon, &err);
    else if (failed)
        status = exit_code(CUZK_ERR_PROOF);
    proof_batch_free(&b);
    proof_input_free(&a.input);
    return status;
}
