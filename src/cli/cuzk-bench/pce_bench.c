/*
 * cuzk-bench pce-bench: synthesis from precomputed matrices (PCE) against the generic path, as the
 * reference's tool of that name prints it. The matrices are really multiplied: step 3 makes the witness, then
 * takes three sparse products.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "api/internal.h"
#include "base/clock.h"
#include "circuit/porep.h"
#include "r1cs/matrices_file.h"
#include "r1cs/synthesis.h"

enum { KEY_C1 = 1, KEY_SECTOR, KEY_MINER, KEY_PARTITION, KEY_SAVE };

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output", 1},
    {"partition", KEY_PARTITION, "K", 0, "Only this partition (default: all, one after the other)", 1},
    {"save-pce", KEY_SAVE, "PATH", 0, "Write the matrices, read them back and use them", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Shown only: synthesis does not use it (default 1)", 2},
    {"miner-id", KEY_MINER, "N", 0, "Shown only (default 1000)", 2},
    {0}};

typedef struct arguments {
    common_options common;
    const char *c1, *save;
    uint64_t sector_num, miner_id;
    int partition; /* -1: all */
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_C1:
        a->c1 = arg;
        return 0;
    case KEY_PARTITION:
        a->partition = (int)option_u64(arg, 0, POREP_MAX_PARTITIONS - 1, "--partition", state);
        return 0;
    case KEY_SAVE:
        a->save = arg;
        return 0;
    case KEY_SECTOR:
        a->sector_num = option_u64(arg, 0, INT64_MAX, "--sector-num", state);
        return 0;
    case KEY_MINER:
        a->miner_id = option_u64(arg, 0, INT64_MAX, "--miner-id", state);
        return 0;
    case ARGP_KEY_END:
        if (!a->c1) option_missing("--c1", state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Record the matrices of a circuit once, then synthesize from them and compare every value with the "
    "generic path.\v"
    "Example:\n  cuzk-bench pce-bench --c1 c1.json --save-pce porep-2k.pce\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

/* A partition, ready to be synthesized. */
typedef struct partition {
    porep_circuit porep;
    r1cs_circuit circuit;
    r1cs_parts parts;
} partition;

/* How the PCE's values differ from the generic path's: elements, and the first of a. */
typedef struct outcome {
    bool lengths_differ;
    uint64_t a, b, c, aux, first_a;
} outcome;

typedef struct bench {
    const arguments *a;
    pool *threads;
    c1 *sector;
    unsigned first, count; /* partitions */
    synthesizer kept;
    assignment baseline, pce;
    double baseline_s, extract_s, pce_s;
    uint64_t constraints;
    outcome outcomes[POREP_MAX_PARTITIONS];
    unsigned wrong; /* circuits that differ */
} bench;

static void open_partition(partition *out, const bench *b, unsigned k) {
    porep_of_c1(&out->porep, &out->circuit, b->sector, b->first + k);
    porep_parts(&out->parts, &out->porep);
}

/* Elements that differ, and the first of them. */
static uint64_t differences(const fr *x, const fr *y, uint64_t n, uint64_t *first) {
    uint64_t count = 0;
    *first = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++)
        if (!fr_eq(&x[i], &y[i]) && count++ == 0) *first = i;
    return count;
}

static outcome compare(const assignment *x, const assignment *y) {
    outcome o = {.lengths_differ = x->shape.constraints != y->shape.constraints};
    if (o.lengths_differ) return o;
    uint64_t rows = (uint64_t)1 << x->log_domain, first;
    o.a = differences(x->a, y->a, rows, &o.first_a);
    o.b = differences(x->b, y->b, rows, &first);
    o.c = differences(x->c, y->c, rows, &first);
    o.aux = differences(x->aux, y->aux, x->shape.aux, &first);
    return o;
}

static bool is_pass(const outcome *o) {
    return !o->lengths_differ && o->a + o->b + o->c + o->aux == 0;
}

static void print_outcome(const bench *b, unsigned k) {
    const outcome *o = &b->outcomes[k];
    if (o->lengths_differ)
        printf("  circuit %u: LENGTH MISMATCH\n", k);
    else if (is_pass(o))
        printf("  circuit %u: PASS (all %" PRIu64 " constraints match)\n", k, b->constraints);
    else
        printf("  circuit %u: FAIL (a: %" PRIu64 " mismatches, b: %" PRIu64 " mismatches, c: %" PRIu64
               " mismatches, witness: %" PRIu64 " mismatches, first_a_at: %" PRId64 ")\n",
               k, o->a, o->b, o->c, o->aux, (int64_t)o->first_a);
}

/* Steps 1 to 3. Partition by partition, so that no more than two assignments are alive; times are added up.
 */
static cuzk_code measure(bench *b, cuzk_error *err) {
    partition p;
    open_partition(&p, b, 0);
    b->constraints = p.circuit.shape.constraints + p.circuit.shape.inputs;
    double start = clock_seconds();
    TRY(matrices_create(&b->kept.m, &p.circuit, &p.parts, NULL, err));
    b->extract_s = clock_seconds() - start;
    for (unsigned k = 0; k < b->count; k++) {
        open_partition(&p, b, k);
        start = clock_seconds();
        TRY(synthesize(&b->baseline, NULL, &p.circuit, &p.parts, SYNTHESIS_GENERIC, b->threads, NULL, err));
        b->baseline_s += clock_seconds() - start;
        start = clock_seconds();
        TRY(synthesize(&b->pce, &b->kept, &p.circuit, &p.parts, SYNTHESIS_PRODUCTS, b->threads, NULL, err));
        b->pce_s += clock_seconds() - start;
        b->outcomes[k] = compare(&b->baseline, &b->pce);
        b->wrong += !is_pass(&b->outcomes[k]);
    }
    return CUZK_OK;
}

/* Write the matrices, read them back, and synthesize the last partition once more from what was read. */
static cuzk_code save_and_load(bench *b, cuzk_error *err) {
    const char *path = b->a->save;
    double start = clock_seconds();
    TRY(matrices_save(b->kept.m, path, err));
    double seconds = clock_seconds() - start;
    struct stat st;
    double bytes = stat(path, &st) == 0 ? (double)st.st_size : 0;
    printf("--- Saving PCE to disk ---\n  saved to: %s  size=%.4f GiB  time=%.3fs  speed=%.2f GB/s\n", path,
           bytes / (1u << 30), seconds, bytes / 1e9 / seconds);

    partition p;
    open_partition(&p, b, b->count - 1);
    synthesizer loaded = {.m = NULL};
    start = clock_seconds();
    TRY(matrices_open(&loaded.m, path, &p.circuit, err));
    seconds = clock_seconds() - start;
    printf("--- Verifying round-trip load ---\n  loaded in %.3fs  speed=%.2f GB/s\n", seconds,
           bytes / 1e9 / seconds);
    cuzk_code code =
        synthesize(&b->pce, &loaded, &p.circuit, &p.parts, SYNTHESIS_PRODUCTS, b->threads, NULL, err);
    synthesizer_free(&loaded);
    if (code != CUZK_OK) return code;
    outcome o = compare(&b->baseline, &b->pce);
    printf("  round-trip verification: %s\n", is_pass(&o) ? "PASS" : "FAIL");
    if (!is_pass(&o))
        return error_set(err, CUZK_ERR_INTERNAL, path, CUZK_NO_OFFSET, "the matrices read give other values");
    return CUZK_OK;
}

static void print_steps(const bench *b) {
    printf(
        "--- Step 1: Baseline synthesis (generic path) ---\n  synth=%.3fs  circuits=%u  constraints=%" PRIu64
        "\n",
        b->baseline_s, b->count, b->constraints);
    printf("--- Step 2: PCE extraction ---\n  extract=%.3fs\n", b->extract_s);
    printf("--- Step 3: PCE synthesis (witness + sparse products) ---\n  synth=%.3fs  circuits=%u  "
           "constraints=%" PRIu64 "\n",
           b->pce_s, b->count, b->constraints);
    printf("--- Results ---\nbaseline synth: %.3fs\nPCE synth:      %.3fs\nspeedup:        %.2fx\n",
           b->baseline_s, b->pce_s, b->baseline_s / b->pce_s);
    printf("PCE extract:    %.3fs (one-time cost)\n", b->extract_s);
    printf("--- Correctness Validation ---\n");
    for (unsigned k = 0; k < b->count; k++) print_outcome(b, k);
    printf("  %s\n", b->wrong ? "VALIDATION FAILED — PCE output differs from baseline"
                              : "ALL CIRCUITS MATCH — PCE is correct!");
}

static cuzk_code run(bench *b, cuzk_error *err) {
    const arguments *a = b->a;
    TRY(c1_read(&b->sector, a->c1, err));
    if (a->partition >= (int)b->sector->partitions)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "--partition %d, expected 0 to %u",
                         a->partition, b->sector->partitions - 1);
    b->first = a->partition < 0 ? 0 : (unsigned)a->partition;
    b->count = a->partition < 0 ? b->sector->partitions : 1;
    struct stat st;
    printf("=== PCE Benchmark ===\nc1:       %s\nsector:   %" PRIu64 " (miner %" PRIu64 ")\n", a->c1,
           a->sector_num, a->miner_id);
    if (stat(a->c1, &st) == 0) printf("c1 loaded: %lld bytes\n", (long long)st.st_size);
    fflush(stdout);
    TRY(measure(b, err));
    print_steps(b);
    if (b->wrong)
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "%u of %u circuits differ", b->wrong,
                         b->count);
    return a->save ? save_and_load(b, err) : CUZK_OK;
}

int pce_bench_main(int argc, char **argv) {
    arguments a = {.sector_num = 1, .miner_id = 1000, .partition = -1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    cuzk_error err;
    cuzk *engine;
    if (cuzk_create(&engine, &a.common.engine, &err) != CUZK_OK)
        return report_error("cuzk-bench pce-bench", &a.common, &err);
    bench b = {.a = &a, .threads = engine->threads};
    cuzk_code code = run(&b, &err);
    int status = code == CUZK_OK ? 0 : report_error("cuzk-bench pce-bench", &a.common, &err);
    synthesizer_free(&b.kept);
    assignment_free(&b.baseline);
    assignment_free(&b.pce);
    c1_free(b.sector);
    cuzk_destroy(engine);
    return status;
}
