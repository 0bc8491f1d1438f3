/*
 * cuzk-bench synth-only: how long it takes to turn vanilla proofs into an assignment, and nothing else. Needs
 * no parameters. The text on stdout is that of the reference's tool of the same name.
 *
 * An iteration reads the file, builds the circuits and synthesizes them. "wall" is all of that; "synth" the
 * constraint systems alone. Vectors, witnesses and matrices are kept from one iteration to the next, so the
 * first one also shows what fresh memory costs.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allocations.h"
#include "api/internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "counters.h"
#include "lc_strategy.h"
#include "r1cs/digest.h"
#include "r1cs/synthesis.h"
#include "report.h"

enum {
    KEY_C1 = 1,
    KEY_SECTOR,
    KEY_MINER,
    KEY_PARTITION,
    KEY_PATH,
    KEY_FORM,
    KEY_LC,
    KEY_COUNTERS,
    KEY_VALIDATE,
    KEY_JSON_FILE
};

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output; 'cuzk c1 generate' makes one of any sector size", 1},
    {"iterations", 'i', "N", 0, "How often (default 1)", 1},
    {"partition", KEY_PARTITION, "K", 0, "Only this partition (default: all)", 1},
    {"path", KEY_PATH, "NAME", 0, "template (default), pce or generic", 1},
    {"form", KEY_FORM, "NAME", 0,
     "compact: all witnesses at once, values checked but not stored (default with template); full: 32 bytes "
     "a value, one "
     "partition at a time",
     1},
    {"lc", KEY_LC, "STRATEGY", 0,
     "With --path generic: build every linear combination in this storage, on one thread; vec, small:1, "
     "small:2, small:4, small:8, pool, arena or scratch ('cuzk-bench lc-study' compares them)",
     1},
    {"counters", KEY_COUNTERS, NULL, 0,
     "Show what the processor's event counters say of synthesis, and allocations", 1},
    {"validate", KEY_VALIDATE, "DIGEST", OPTION_ARG_OPTIONAL,
     "Compare a, b, c, witness and densities with the generic path, or with a digest.json", 1},
    {"json", KEY_JSON_FILE, "FILE", 0,
     "Write every iteration and the machine as JSON (\"-\": stdout, in place of the text)", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Shown only: synthesis does not use it (default 1)", 2},
    {"miner-id", KEY_MINER, "N", 0, "Shown only (default 1000)", 2},
    {0}};

typedef struct arguments {
    common_options common;
    const char *c1, *expected, *json;
    uint64_t sector_num, miner_id;
    unsigned iterations;
    int partition; /* -1: all */
    synthesis_path path;
    const lc_strategy *lc; /* NULL: as the path does it */
    bool compact, form_given, validate, counters;
} arguments;

#define MAX_ITERATIONS 10000u

static const char *const path_names[] = {
    [SYNTHESIS_TEMPLATES] = "template", [SYNTHESIS_PRODUCTS] = "pce", [SYNTHESIS_GENERIC] = "generic"};

static synthesis_path parse_path(const char *text, const struct argp_state *state) {
    for (unsigned i = 0; i < sizeof path_names / sizeof path_names[0]; i++)
        if (strcmp(text, path_names[i]) == 0) return (synthesis_path)i;
    argp_error(state, "--path: '%s', expected template, pce or generic", text);
    return SYNTHESIS_TEMPLATES;
}

static const lc_strategy *parse_lc(const char *text, const struct argp_state *state) {
    const lc_strategy *found = lc_strategy_find(text);
    if (!found || found->baseline) argp_error(state, "--lc: '%s', expected %s", text, lc_strategy_names());
    return found;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_C1:
        a->c1 = arg;
        return 0;
    case 'i':
        a->iterations = (unsigned)option_u64(arg, 1, MAX_ITERATIONS, "--iterations", state);
        return 0;
    case KEY_PARTITION:
        a->partition = (int)option_u64(arg, 0, POREP_MAX_PARTITIONS - 1, "--partition", state);
        return 0;
    case KEY_PATH:
        a->path = parse_path(arg, state);
        return 0;
    case KEY_FORM:
        a->form_given = true;
        a->compact = strcmp(arg, "compact") == 0;
        if (!a->compact && strcmp(arg, "full") != 0)
            argp_error(state, "--form: '%s', expected compact or full", arg);
        return 0;
    case KEY_LC:
        a->lc = parse_lc(arg, state);
        return 0;
    case KEY_COUNTERS:
        a->counters = true;
        return 0;
    case KEY_VALIDATE:
        a->validate = true;
        a->expected = arg;
        return 0;
    case KEY_JSON_FILE:
        a->json = arg;
        a->common.json = strcmp(arg, "-") == 0;
        return 0;
    case KEY_SECTOR:
        a->sector_num = option_u64(arg, 0, INT64_MAX, "--sector-num", state);
        return 0;
    case KEY_MINER:
        a->miner_id = option_u64(arg, 0, INT64_MAX, "--miner-id", state);
        return 0;
    case ARGP_KEY_END:
        if (!a->c1) option_missing("--c1", state);
        if (!a->form_given) a->compact = a->path == SYNTHESIS_TEMPLATES && !a->validate;
        if (a->compact && a->path != SYNTHESIS_TEMPLATES)
            argp_error(state, "--form compact needs --path template");
        if (a->lc && a->path != SYNTHESIS_GENERIC)
            argp_error(state, "--lc %s needs --path generic: the other paths build no linear combinations",
                       a->lc->name);
        if (a->compact && a->validate)
            argp_error(state, "--validate compares full vectors: it needs --form full");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Synthesis microbenchmark: from a phase-1 output to the values of every "
    "constraint and variable. Needs no parameters.\v"
    "Examples:\n"
    "  cuzk-bench synth-only --c1 c1.json -i 5\n"
    "  cuzk-bench synth-only --c1 c1.json --path generic --threads 1\n"
    "  cuzk-bench synth-only --c1 c1.json --path generic --lc small:4 --counters\n"
    "  cuzk-bench synth-only --c1 c1.json --validate\n\n" EXIT_CODES_HELP,
    common_children_without_json,
    NULL,
    NULL};

typedef struct iteration {
    double wall, synth, synth_cpu; /* synth_cpu: of all threads */
    unsigned circuits;
    uint64_t constraints;                             /* of one circuit, its input constraints included */
    uint64_t peak_rss, rss, big_buffers, allocations; /* allocations: during synth */
    counter_values events;
    bool kept;
} iteration;

/* What stays from one iteration to the next. */
typedef struct bench {
    const arguments *a;
    pool *threads;
    c1 *sector;
    synthesizer full;           /* of the full form */
    assignment vectors;         /* the full form's, one partition at a time */
    matrices *m;                /* of the compact form */
    compact_witness *witnesses; /* one a partition */
    unsigned n_witnesses;
    counters events; /* opened with --counters alone */
} bench;

/* A log line as the reference writes them. */
static void log_line(const arguments *a, unsigned n, const char *text, const char *key, uint64_t value) {
    if (a->common.quiet) return;
    struct timespec now;
    struct tm utc;
    char date[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(stderr,
            "%s.%06ldZ  INFO synthesize_porep_c2_batch{job_id=\"synth-bench-%u\"}: %s %s=%" PRIu64 "\n", date,
            now.tv_nsec / 1000, n, text, key, value);
}

static void free_witnesses(bench *b) {
    for (unsigned i = 0; i < b->n_witnesses; i++) witness_free(&b->witnesses[i]);
    free(b->witnesses);
    b->witnesses = NULL;
    b->n_witnesses = 0;
}

typedef struct check_job {
    const compact_witness *w;
    _Atomic bool failed;
} check_job;

static void check_rows(void *ctx, size_t begin, size_t end) {
    check_job *job = ctx;
    if (!expand_check(job->w, begin, end - begin)) job->failed = true;
}

/* Matrices and the memory of `n` witnesses, once. */
static cuzk_code prepare_compact(bench *b, unsigned n, const r1cs_circuit *circuit, const r1cs_parts *parts,
                                 cuzk_error *err) {
    if (!b->m) TRY(matrices_create(&b->m, circuit, parts, NULL, err));
    if (b->witnesses) return CUZK_OK;
    TRY(mem_require(n * witness_bytes(b->m), "the compact witnesses of all partitions", err));
    b->witnesses = calloc(n, sizeof *b->witnesses);
    if (!b->witnesses) return error_no_memory(err, n * sizeof *b->witnesses, "witnesses");
    for (; b->n_witnesses < n; b->n_witnesses++)
        TRY(witness_create(&b->witnesses[b->n_witnesses], b->m, err));
    return CUZK_OK;
}

static cuzk_code synthesize_compact(bench *b, unsigned slot, unsigned count, const r1cs_circuit *circuit,
                                    const r1cs_parts *parts, cuzk_error *err) {
    TRY(prepare_compact(b, count, circuit, parts, err));
    compact_witness *w = &b->witnesses[slot];
    TRY(witness_fill(w, circuit, parts, b->threads, NULL, err));
    check_job job = {.w = w};
    pool_for(b->threads, circuit->shape.constraints, 1 << 15, check_rows, &job);
    if (job.failed)
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                         "self-check failed: a value is not what its row gives");
    return CUZK_OK;
}

/* The resident set now; 0 when the system does not tell. */
static uint64_t resident_bytes(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static cuzk_code run_iteration(bench *b, unsigned n, iteration *out, cuzk_error *err) {
    const arguments *a = b->a;
    out->kept = n > 0;
    double start = clock_seconds();
    TRY(c1_read(&b->sector, a->c1, err));
    unsigned first = a->partition < 0 ? 0 : (unsigned)a->partition;
    if (first >= b->sector->partitions)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "--partition %u, expected 0 to %u", first,
                         b->sector->partitions - 1);
    out->circuits = a->partition < 0 ? b->sector->partitions : 1;
    if (out->circuits > 1)
        log_line(a, n, "building circuits for all partitions (parallel)", "num_partitions", out->circuits);
    else
        log_line(a, n, "building circuit for one partition", "partition", first);
    const uint64_t allocated = allocations_count();
    if (a->counters) counters_start(&b->events);
    double synth_start = clock_seconds(), cpu_start = clock_cpu_seconds();
    for (unsigned k = 0; k < out->circuits; k++) {
        porep_circuit partition;
        r1cs_circuit circuit;
        r1cs_parts parts;
        porep_of_c1(&partition, &circuit, b->sector, first + k);
        porep_parts(&parts, &partition);
        out->constraints = circuit.shape.constraints + circuit.shape.inputs;
        if (a->compact)
            TRY(synthesize_compact(b, k, out->circuits, &circuit, &parts, err));
        else if (a->lc)
            TRY(lc_strategy_synthesize(&b->vectors, &circuit, a->lc, 0, NULL, NULL, err));
        else
            TRY(synthesize(&b->vectors, &b->full, &circuit, &parts, a->path, b->threads, NULL, err));
    }
    double end = clock_seconds();
    out->synth = end - synth_start;
    out->synth_cpu = clock_cpu_seconds() - cpu_start;
    if (a->counters) counters_stop(&b->events, &out->events);
    out->allocations = allocations_count() - allocated;
    out->wall = end - start;
    out->peak_rss = mem_peak_rss();
    out->rss = resident_bytes();
    out->big_buffers = mem_in_use();
    log_line(a, n, "synthesis complete", "synth_ms", (uint64_t)(1e3 * out->synth));
    log_line(a, n, "memory allocated", "allocations", out->allocations);
    c1_free(b->sector);
    b->sector = NULL;
    return CUZK_OK;
}

/* --- validation --------------------------------------------------------------------------------------------
 */

static void report_difference(void *ctx, const r1cs_difference *d) {
    (void)ctx;
    fprintf(stderr, "  %s: found %s, expected %s\n", d->figure, d->found, d->expected);
}

/* Compare the vectors of the last iteration with a digest file, or with those of the generic path. */
static cuzk_code validate(bench *b, cuzk_error *err) {
    const arguments *a = b->a;
    c1 *sector;
    TRY(c1_read(&sector, a->c1, err));
    unsigned last = a->partition < 0 ? sector->partitions - 1 : (unsigned)a->partition;
    porep_circuit partition;
    r1cs_circuit circuit;
    porep_of_c1(&partition, &circuit, sector, last);
    r1cs_digest structure = {0};
    assignment_digest mine = {0}, wanted = {0};
    assignment generic = {0};
    char *text = NULL;
    size_t size = 0, differences = 0;
    file_map map = {0};
    cuzk_code code = assignment_digest_create(&mine, &b->vectors, b->threads, err);
    if (code == CUZK_OK) code = r1cs_digest_create(&structure, &circuit, b->threads, NULL, err);
    if (code == CUZK_OK && a->expected) {
        code = file_map_open(&map, a->expected, CUZK_ERR_INPUT, err);
    } else if (code == CUZK_OK) {
        code = assignment_create(&generic, &circuit, NULL, err);
        if (code == CUZK_OK) code = assignment_digest_create(&wanted, &generic, b->threads, err);
        if (code == CUZK_OK) code = r1cs_digest_to_json(&text, &size, &structure, &wanted, err);
        bool same_densities = code == CUZK_OK && generic.a_aux_count == b->vectors.a_aux_count &&
                              generic.b_aux_count == b->vectors.b_aux_count;
        size_t words = (circuit.shape.aux + 63) / 64;
        if (code == CUZK_OK &&
            (!same_densities || memcmp(generic.a_aux_density, b->vectors.a_aux_density, 8 * words) != 0 ||
             memcmp(generic.b_aux_density, b->vectors.b_aux_density, 8 * words) != 0))
            differences++;
    }
    const char *json = a->expected ? (const char *)map.data : text;
    size_t found = 0;
    if (code == CUZK_OK)
        code = r1cs_digest_compare(&structure, &mine, json, a->expected ? map.size : size,
                                   a->expected ? a->expected : "generic path", report_difference, NULL,
                                   &found, err);
    differences += found;
    if (code == CUZK_OK && differences)
        code = error_set(err, CUZK_ERR_INTERNAL, a->expected, CUZK_NO_OFFSET,
                         "validation failed: %zu figure(s) differ", differences);
    free(text);
    file_map_close(&map);
    assignment_free(&generic);
    assignment_digest_free(&mine);
    assignment_digest_free(&wanted);
    r1cs_digest_free(&structure);
    c1_free(sector);
    return code;
}

/* --- output ------------------------------------------------------------------------------------------------
 */

/* One decimal as the reference prints, more where one would show nothing. */
static const char *seconds(char out[32], double value) {
    snprintf(out, 32, "%.*f", value < 10 ? 4 : 1, value);
    return out;
}

static void print_header(const arguments *a) {
    printf("=== Synthesis Microbenchmark ===\nc1:         %s\nsector:     %" PRIu64 " (miner %" PRIu64 ")\n",
           a->c1, a->sector_num, a->miner_id);
    if (a->partition < 0)
        printf("partition:  all\n");
    else
        printf("partition:  %d\n", a->partition);
    printf("iterations: %u\n\n", a->iterations);
    struct stat st;
    if (stat(a->c1, &st) == 0) printf("c1 loaded:  %lld bytes\n", (long long)st.st_size);
    fflush(stdout);
}

static void print_summary(const iteration *all, unsigned n) {
    double wall = 0, synth = 0, least_wall = all[0].wall, least_synth = all[0].synth;
    for (unsigned i = 0; i < n; i++) {
        wall += all[i].wall;
        synth += all[i].synth;
        if (all[i].wall < least_wall) least_wall = all[i].wall;
        if (all[i].synth < least_synth) least_synth = all[i].synth;
    }
    char avg[32], least[32];
    printf("\n=== Summary (%u iterations) ===\n", n);
    printf("wall:   avg=%ss  min=%ss\n", seconds(avg, wall / n), seconds(least, least_wall));
    printf("synth:  avg=%ss  min=%ss\n", seconds(avg, synth / n), seconds(least, least_synth));
}

/* The line after an iteration with --counters: totals, and per constraint of all circuits. */
static void print_counters(const iteration *it) {
    const double all = (double)it->constraints * it->circuits;
    printf("      allocations=%" PRIu64 " (%.3f per constraint)", it->allocations,
           (double)it->allocations / all);
    for (int e = 0; e < COUNTER_EVENTS; e++)
        if (it->events.have[e])
            printf("  %s=%.0f (%.3f)", counter_name((counter_event)e), it->events.count[e],
                   it->events.count[e] / all);
    printf("\n");
}

static void put_counters(yajl_gen g, const iteration *it) {
    json_key(g, "counters");
    yajl_gen_map_open(g);
    for (int e = 0; e < COUNTER_EVENTS; e++)
        if (it->events.have[e]) json_u64(g, counter_name((counter_event)e), (uint64_t)it->events.count[e]);
    yajl_gen_map_close(g);
}

static cuzk_code write_json(const arguments *a, const iteration *all, unsigned n, cuzk_error *err) {
    yajl_gen g = json_begin();
    bench_put_machine(g);
    json_string(g, "c1", a->c1);
    json_key(g, "iterations");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        json_double(g, "wall_s", all[i].wall);
        json_double(g, "synth_s", all[i].synth);
        json_double(g, "synth_cpu_s", all[i].synth_cpu);
        json_u64(g, "circuits", all[i].circuits);
        json_u64(g, "constraints", all[i].constraints);
        json_u64(g, "peak_rss_bytes", all[i].peak_rss);
        json_u64(g, "rss_bytes", all[i].rss);
        json_u64(g, "big_buffer_bytes", all[i].big_buffers);
        json_u64(g, "allocations", all[i].allocations);
        if (a->counters) put_counters(g, &all[i]);
        json_string(g, "path", path_names[a->path]);
        if (a->lc) json_string(g, "lc", a->lc->name);
        json_string(g, "form", a->compact ? "compact" : "full");
        json_bool(g, "kept_memory", all[i].kept);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    return json_end_to(g, a->json, err);
}

int synth_only_main(int argc, char **argv) {
    arguments a = {.sector_num = 1, .miner_id = 1000, .iterations = 1, .partition = -1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    cuzk_error err;
    cuzk *engine;
    bench b = {.a = &a};
    if (a.counters && !counters_open(&b.events)) /* before there are threads */
        fprintf(stderr, "cuzk-bench synth-only: --counters: %s\n", b.events.why);
    if (cuzk_create(&engine, &a.common.engine, &err) != CUZK_OK)
        return report_error("cuzk-bench synth-only", &a.common, &err);
    iteration *all = calloc(a.iterations, sizeof *all);
    b.threads = engine->threads;
    cuzk_code code = all ? CUZK_OK : error_no_memory(&err, a.iterations * sizeof *all, "the iterations");
    if (code == CUZK_OK && !a.common.json) print_header(&a);
    for (unsigned i = 0; i < a.iterations && code == CUZK_OK; i++) {
        code = run_iteration(&b, i, &all[i], &err);
        char wall[32], synth[32];
        if (code == CUZK_OK && !a.common.json)
            printf("  [%u] wall=%ss  synth=%ss  circuits=%u  constraints=%" PRIu64 "\n", i,
                   seconds(wall, all[i].wall), seconds(synth, all[i].synth), all[i].circuits,
                   all[i].constraints);
        if (code == CUZK_OK && !a.common.json && a.counters) print_counters(&all[i]);
        fflush(stdout);
    }
    if (code == CUZK_OK && a.iterations > 1 && !a.common.json) print_summary(all, a.iterations);
    if (code == CUZK_OK && a.validate) {
        code = validate(&b, &err);
        if (code == CUZK_OK && !a.common.json)
            printf("validation: a, b, c, witness and densities equal %s\n",
                   a.expected ? a.expected : "the generic path");
    }
    if (code == CUZK_OK && a.json) code = write_json(&a, all, a.iterations, &err);
    int status = code == CUZK_OK ? 0 : report_error("cuzk-bench synth-only", &a.common, &err);
    c1_free(b.sector);
    free_witnesses(&b);
    matrices_free(b.m);
    synthesizer_free(&b.full);
    assignment_free(&b.vectors);
    if (a.counters) counters_close(&b.events);
    free(all);
    cuzk_destroy(engine);
    return status;
}
