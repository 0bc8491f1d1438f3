/*
 * Each work makes its inputs, runs `repeat` times under the clock, and checks the last result independently
 * of the code that was timed: sums of points against the known discrete logarithms of the bases, transforms
 * against direct evaluation at two points. The checksums are those of the programs under bench/peers.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/progress.h"
#include "field/fp8.h"
#include "hash/digest.h"
#include "inputs.h"
#include "lanes.h"
#include "msm/msm.h"
#include "ntt/ntt.h"
#include "report.h"

#define FIELD_LOG_N 20
#define CHAINS      8
#define MAX_LOG_N   26
#define MAX_SIZES   8

enum { WORK_FIELD = 1, WORK_NTT = 2, WORK_MSM_G1 = 4, WORK_MSM_G2 = 8, WORK_MSM_REAL = 16, WORK_ALL = 31 };

static const struct {
    const char *name;
    unsigned work;
} work_names[] = {{"field", WORK_FIELD},
                  {"ntt", WORK_NTT},
                  {"msm-g1", WORK_MSM_G1},
                  {"msm-g2", WORK_MSM_G2},
                  {"msm-real", WORK_MSM_REAL}};

typedef struct arguments {
    common_options common;
    const char *json;
    unsigned works, sizes, repeat;
    unsigned log_n[MAX_SIZES];
    size_t real_n;
    uint64_t seed;
} arguments;

typedef struct bench {
    const arguments *a;
    pool *p;
    cuzk_progress progress;
    bench_report report;
} bench;

static bench_result *new_result(bench *b, const char *work, uint64_t n, uint64_t items) {
    bench_result *r = &b->report.results[b->report.count++];
    r->work = work;
    r->variant = b->report.variant;
    r->n = n;
    r->items = items;
    r->threads = pool_threads(b->p);
    return r;
}

static cuzk_code step(const bench *b, const char *work, unsigned done, cuzk_error *err) {
    return progress_report(&b->progress, work, done, b->a->repeat, err);
}

static cuzk_code wrong(cuzk_error *err, const char *work, size_t n) {
    return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "%s of %zu: the result is wrong", work, n);
}

/* --- field multiplications ------------------------------------------------------------------------------ */

static void checksum_bytes(bench_result *r, sha256 *hash) {
    uint8_t digest[32];
    sha256_finish(hash, digest);
    hex_write(r->checksum, digest, sizeof digest);
}

static void checksum_elements(bench_result *r, const fr *values, size_t n) {
    sha256 hash;
    sha256_start(&hash);
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &values[i]);
        sha256_update(&hash, bytes, sizeof bytes);
    }
    checksum_bytes(r, &hash);
}

static cuzk_code time_fr(bench *b, unsigned chains, cuzk_error *err) {
    size_t n = (size_t)1 << FIELD_LOG_N;
    bench_result *r = new_result(b, chains == 1 ? "fr-mul-chain" : "fr-mul-8", n, n * chains);
    r->variant = field.name;
    r->threads = 1;
    fr start[CHAINS + 1], values[CHAINS];
    input_elements(start, chains + 1, b->a->seed, NULL);
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        memcpy(values, start, sizeof values);
        bench_clock clock = bench_start();
        for (size_t i = 0; i < n; i++)
            for (unsigned j = 0; j < chains; j++) fr_mul(&values[j], &values[j], &start[chains]);
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    checksum_elements(r, values, chains);
    return CUZK_OK;
}

/* The same products in the lanes of vectors. */
static cuzk_code time_fr8(bench *b, cuzk_error *err) {
    size_t n = (size_t)1 << FIELD_LOG_N;
    bench_result *r = new_result(b, "fr-mul-8", n, n * CHAINS);
    r->threads = 1;
    fr start[CHAINS + 1], values[CHAINS];
    input_elements(start, CHAINS + 1, b->a->seed, NULL);
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        memcpy(values, start, sizeof values);
        bench_clock clock = bench_start();
        lanes_fr_mul(values, &start[CHAINS], n);
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    checksum_elements(r, values, CHAINS);
    return CUZK_OK;
}

static void make_fp(fp *out, unsigned n, uint64_t seed) {
    for (unsigned j = 0; j < n; j++) {
        fr_repr scalar;
        input_scalar(&scalar, seed, j);
        fp_repr value = {{scalar.l[0], scalar.l[1], scalar.l[2], scalar.l[3]}};
        fp_from_repr(&out[j], &value);
    }
}

static void checksum_fp(bench_result *r, const fp *values, unsigned n) {
    sha256 hash;
    sha256_start(&hash);
    for (unsigned j = 0; j < n; j++) {
        uint8_t bytes[48];
        fp_to_bytes_be(bytes, &values[j]);
        sha256_update(&hash, bytes, sizeof bytes);
    }
    checksum_bytes(r, &hash);
}

static cuzk_code time_fp(bench *b, unsigned chains, cuzk_error *err) {
    size_t n = (size_t)1 << FIELD_LOG_N;
    bench_result *r = new_result(b, chains == 1 ? "fp-mul-chain" : "fp-mul-8", n, n * chains);
    r->variant = field.name;
    r->threads = 1;
    fp start[CHAINS + 1], values[CHAINS];
    make_fp(start, chains + 1, b->a->seed);
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        memcpy(values, start, sizeof values);
        bench_clock clock = bench_start();
        for (size_t i = 0; i < n; i++)
            for (unsigned j = 0; j < chains; j++) fp_mul(&values[j], &values[j], &start[chains]);
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    checksum_fp(r, values, chains);
    return CUZK_OK;
}

/* The same products in the lanes of vectors. */
static cuzk_code time_fp8(bench *b, cuzk_error *err) {
    size_t n = (size_t)1 << FIELD_LOG_N;
    bench_result *r = new_result(b, "fp-mul-8", n, n * CHAINS);
    r->threads = 1;
    fp start[CHAINS + 1], values[CHAINS];
    fp8 lanes, factor;
    make_fp(start, CHAINS + 1, b->a->seed);
    for (unsigned j = 0; j < CHAINS; j++) fp8_from_fp(&factor, j, &start[CHAINS]);
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        for (unsigned j = 0; j < CHAINS; j++) fp8_from_fp(&lanes, j, &start[j]);
        bench_clock clock = bench_start();
        for (size_t i = 0; i < n; i++) fp8_mul(&lanes, &lanes, &factor);
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    for (unsigned j = 0; j < CHAINS; j++) fp8_to_fp(&values[j], &lanes, j);
    checksum_fp(r, values, CHAINS);
    return CUZK_OK;
}

static cuzk_code time_field(bench *b, cuzk_error *err) {
    static const field_table *const tables[] = {&field_portable, &field_adx};
    cpu_isa chosen = field.isa;
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && code == CUZK_OK; i++) {
        if (tables[i]->isa > cpu_best()) continue;
        field_select(tables[i]->isa);
        code = time_fr(b, 1, err);
        if (code == CUZK_OK) code = time_fr(b, CHAINS, err);
        if (code == CUZK_OK) code = time_fp(b, 1, err);
        if (code == CUZK_OK) code = time_fp(b, CHAINS, err);
    }
    field_select(chosen);
    if (code == CUZK_OK && chosen == CPU_IFMA) code = time_fr8(b, err);
    if (code == CUZK_OK && chosen == CPU_IFMA) code = time_fp8(b, err);
    return code;
}

/* --- transforms ----------------------------------------------------------------------------------------- */

/* Does output k of the forward transform hold sum_i in_i w^(ik)? */
static bool output_is_right(const fr *in, const fr *out, unsigned log_n, uint64_t k) {
    fr w, x, sum = FR_ZERO;
    fr_root_of_unity(&w, log_n);
    fr_pow_u64(&x, &w, k);
    for (size_t i = (size_t)1 << log_n; i-- > 0;) {
        fr_mul(&sum, &sum, &x);
        fr_add(&sum, &sum, &in[i]);
    }
    return fr_eq(&sum, &out[k]);
}

static cuzk_code run_ntt(bench *b, const ntt_domain *domain, const fr *in, fr *values, cuzk_error *err) {
    unsigned log_n = ntt_domain_log_n(domain);
    size_t n = (size_t)1 << log_n;
    bench_result *r = new_result(b, "ntt", n, n);
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        memcpy(values, in, n * sizeof *values);
        bench_clock clock = bench_start();
        TRY(ntt_run(domain, NTT_FORWARD, values, b->p, err));
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    if (!output_is_right(in, values, log_n, 1) || !output_is_right(in, values, log_n, n - 1))
        return wrong(err, r->work, n);
    checksum_elements(r, values, n);
    return CUZK_OK;
}

static cuzk_code time_ntt(bench *b, unsigned log_n, cuzk_error *err) {
    size_t bytes = sizeof(fr) << log_n;
    void *in = NULL, *values = NULL;
    ntt_domain *domain = NULL;
    cuzk_code code = mem_big_alloc(&in, bytes, "input of a transform", err);
    if (code == CUZK_OK) code = mem_big_alloc(&values, bytes, "a transform", err);
    if (code == CUZK_OK) code = ntt_domain_create(&domain, log_n, b->p, err);
    if (code == CUZK_OK) {
        input_elements(in, (size_t)1 << log_n, b->a->seed, b->p);
        code = run_ntt(b, domain, in, values, err);
    }
    ntt_domain_destroy(domain);
    mem_big_free(values, bytes);
    mem_big_free(in, bytes);
    return code;
}

/* --- multi-scalar multiplications ----------------------------------------------------------------------- */

static cuzk_code run_g1(bench *b, bench_result *r, void *points, const fr_repr *scalars, size_t n,
                        cuzk_error *err) {
    TRY(input_bases_g1(points, n, b->a->seed, b->p, err));
    msm_bases bases = {.points = points, .n = n};
    msm_scalars values = {.values = scalars, .n = n};
    g1 sum, expected;
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        bench_clock clock = bench_start();
        TRY(msm_g1(&sum, &bases, &values, b->p, NULL, r->work, err));
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    g1_affine affine;
    fr e;
    g1_generator(&affine);
    g1_from_affine(&expected, &affine);
    input_expected(&e, scalars, n, b->a->seed);
    g1_mul_fr(&expected, &expected, &e);
    if (!g1_eq(&sum, &expected)) return wrong(err, r->work, n);
    uint8_t bytes[G1_COMPRESSED];
    g1_to_affine(&affine, &sum);
    g1_compress(bytes, &affine);
    hex_write(r->checksum, bytes, sizeof bytes);
    return CUZK_OK;
}

static cuzk_code run_g2(bench *b, bench_result *r, void *points, const fr_repr *scalars, size_t n,
                        cuzk_error *err) {
    TRY(input_bases_g2(points, n, b->a->seed, b->p, err));
    msm_bases bases = {.points = points, .n = n};
    msm_scalars values = {.values = scalars, .n = n};
    g2 sum, expected;
    for (unsigned k = 0; k < b->a->repeat; k++) {
        TRY(step(b, r->work, k, err));
        bench_clock clock = bench_start();
        TRY(msm_g2(&sum, &bases, &values, b->p, NULL, r->work, err));
        bench_stop(r, clock);
    }
    TRY(step(b, r->work, b->a->repeat, err));
    g2_affine affine;
    fr e;
    g2_generator(&affine);
    g2_from_affine(&expected, &affine);
    input_expected(&e, scalars, n, b->a->seed);
    g2_mul_fr(&expected, &expected, &e);
    if (!g2_eq(&sum, &expected)) return wrong(err, r->work, n);
    uint8_t bytes[G2_COMPRESSED];
    g2_to_affine(&affine, &sum);
    g2_compress(bytes, &affine);
    hex_write(r->checksum, bytes, sizeof bytes);
    return CUZK_OK;
}

static cuzk_code time_msm(bench *b, const char *work, bool in_g2, bool witness, size_t n, cuzk_error *err) {
    size_t point_bytes = n * (in_g2 ? sizeof(g2_affine) : sizeof(g1_affine));
    size_t scalar_bytes = n * sizeof(fr_repr);
    void *points = NULL, *scalars = NULL;
    bench_result *r = new_result(b, work, n, n);
    cuzk_code code = mem_big_alloc(&points, point_bytes, "bases of a multi-scalar multiplication", err);
    if (code == CUZK_OK)
        code = mem_big_alloc(&scalars, scalar_bytes, "scalars of a multi-scalar multiplication", err);
    if (code == CUZK_OK) {
        input_scalars(scalars, n, b->a->seed, witness, b->p);
        code = (in_g2 ? run_g2 : run_g1)(b, r, points, scalars, n, err);
    }
    mem_big_free(scalars, scalar_bytes);
    mem_big_free(points, point_bytes);
    return code;
}

/* --- the command ---------------------------------------------------------------------------------------- */

static cuzk_code run_all(bench *b, cuzk_error *err) {
    const arguments *a = b->a;
    if (a->common.engine.memory_budget) mem_set_budget(a->common.engine.memory_budget);
    TRY(field_init(err));
    b->report.variant = cpu_isa_name(field.isa);
    TRY(pool_create(&b->p, a->common.engine.threads, err));
    b->report.threads = pool_threads(b->p);
    if (a->works & WORK_FIELD) TRY(time_field(b, err));
    for (unsigned i = 0; i < a->sizes; i++) {
        size_t n = (size_t)1 << a->log_n[i];
        if (a->works & WORK_NTT) TRY(time_ntt(b, a->log_n[i], err));
        if (a->works & WORK_MSM_G1) TRY(time_msm(b, "msm-g1", false, false, n, err));
        if (a->works & WORK_MSM_G2) TRY(time_msm(b, "msm-g2", true, false, n, err));
    }
    if (a->works & WORK_MSM_REAL) TRY(time_msm(b, "msm-real", false, true, a->real_n, err));
    return CUZK_OK;
}

enum { KEY_LOG_N = 1, KEY_REPEAT, KEY_ONLY, KEY_JSON_FILE, KEY_SEED, KEY_REAL_N };

static const struct argp_option options[] = {
    {"log-n", KEY_LOG_N, "N[,N...]", 0, "Sizes as powers of two for ntt, msm-g1 and msm-g2 (default 20)", 1},
    {"only", KEY_ONLY, "WORK[,WORK...]", 0, "Of field, ntt, msm-g1, msm-g2, msm-real (default: all)", 1},
    {"repeat", KEY_REPEAT, "K", 0, "Time everything K times (default 5)", 1},
    {"json", KEY_JSON_FILE, "FILE", 0,
     "Write every measurement and the machine as JSON (\"-\": stdout, in place of the table)", 1},
    {"real-n", KEY_REAL_N, "N", 0, "Scalars of msm-real (default: as many as a 2 KiB PoRep has)", 2},
    {"seed", KEY_SEED, "N", 0, "Seed of all inputs (default 1)", 2},
    {0}};

static void parse_sizes(arguments *a, char *text, const struct argp_state *state) {
    a->sizes = 0;
    for (char *word = strsep(&text, ","); word; word = strsep(&text, ",")) {
        if (a->sizes == MAX_SIZES) argp_error(state, "--log-n: at most %d sizes", MAX_SIZES);
        a->log_n[a->sizes++] = (unsigned)option_u64(word, 1, MAX_LOG_N, "--log-n", state);
    }
}

static void parse_works(arguments *a, char *text, const struct argp_state *state) {
    a->works = 0;
    for (char *word = strsep(&text, ","); word; word = strsep(&text, ",")) {
        unsigned work = 0;
        for (size_t i = 0; i < sizeof work_names / sizeof work_names[0]; i++)
            if (strcmp(word, work_names[i].name) == 0) work = work_names[i].work;
        if (!work) argp_error(state, "--only: '%s', expected field, ntt, msm-g1, msm-g2 or msm-real", word);
        a->works |= work;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_LOG_N:
        parse_sizes(a, arg, state);
        return 0;
    case KEY_ONLY:
        parse_works(a, arg, state);
        return 0;
    case KEY_REPEAT:
        a->repeat = (unsigned)option_u64(arg, 1, BENCH_MAX_REPEAT, "--repeat", state);
        return 0;
    case KEY_JSON_FILE:
        a->json = arg;
        a->common.json = strcmp(arg, "-") == 0;
        return 0;
    case KEY_REAL_N:
        a->real_n = option_u64(arg, 1, (uint64_t)1 << MAX_LOG_N, "--real-n", state);
        return 0;
    case KEY_SEED:
        a->seed = option_u64(arg, 0, UINT64_MAX, "--seed", state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Time the kernels that proving consists of, check their results, and print medians.\v"
    "The median, least and most wall time, the median CPU time of all threads, and the CPU time of one "
    "multiplication, coefficient or point. CUZK_ISA=portable|adx|ifma forces a code variant.\n\n"
    "Example:\n  cuzk-bench kernels --threads 1 --log-n 18,20 --only ntt,msm-g1\n\n" EXIT_CODES_HELP,
    common_children_without_json,
    NULL,
    NULL};

int kernels_main(int argc, char **argv) {
    arguments a = {.works = WORK_ALL, .sizes = 1, .log_n = {20}, .repeat = 5, .real_n = 2685673, .seed = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    bench *b = calloc(1, sizeof *b);
    cuzk_error err;
    if (!b) {
        error_no_memory(&err, sizeof *b, "results");
        return report_error("cuzk-bench kernels", &a.common, &err);
    }
    progress_bar bar;
    b->a = &a;
    b->report.seed = a.seed;
    b->progress = progress_start(&bar, &a.common);
    cuzk_code code = run_all(b, &err);
    progress_finish(&bar);
    if (code == CUZK_OK && a.json) code = bench_print_json(&b->report, a.json, &err);
    if (code == CUZK_OK && !a.common.json) bench_print_table(&b->report);
    pool_destroy(b->p);
    free(b);
    return code == CUZK_OK ? 0 : report_error("cuzk-bench kernels", &a.common, &err);
}
