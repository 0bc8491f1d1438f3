/* cuzk c1 generate: a phase-1 output of any size without a sector. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "filecoin/c1_write.h"
#include "filecoin/fabricate.h"

enum { KEY_SIZE = 1, KEY_REGISTERED, KEY_SEED, KEY_MINER, KEY_SECTOR, KEY_OUT };

static const struct argp_option options[] = {
    {"sector-size", KEY_SIZE, "SIZE", 0, "2KiB, 8MiB, 512MiB, 32GiB or 64GiB", 1},
    {"registered-proof", KEY_REGISTERED, "NAME", 0, "An interactive one (default: the size's V1_1)", 1},
    {"rng-seed", KEY_SEED, "HEX", 0, "1 to 16 hex digits; the same seed gives the same file (default 0)", 1},
    {"miner-id", KEY_MINER, "N", 0, "Actor id of the miner (default 1000)", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Sector number (default 1)", 1},
    {"out", KEY_OUT, "FILE", 0, "Where to write the wrapper JSON", 1},
    {0}};

typedef struct arguments {
    common_options common;
    const registered_porep *proof;
    const sector_shape *size;
    uint64_t seed, miner_id, sector_num;
    const char *out;
} arguments;

static const sector_shape *parse_size(const char *text, const struct argp_state *state) {
    const sector_shape *size = sector_by_bytes(option_bytes(text, "--sector-size", state));
    if (!size || !size->tag)
        argp_error(state, "--sector-size: '%s', expected 2KiB, 8MiB, 512MiB, 32GiB or 64GiB", text);
    return size;
}

static uint64_t parse_seed(const char *text, const struct argp_state *state) {
    size_t length = strlen(text);
    if (length == 0 || length > 16 || strspn(text, "0123456789abcdefABCDEF") != length)
        argp_error(state, "--rng-seed: '%s', expected 1 to 16 hex digits", text);
    return strtoull(text, NULL, 16);
}

/* The registered proof of a size that sealing uses today. */
static const registered_porep *usual_proof(const sector_shape *size) {
    size_t n;
    const registered_porep *all = registered_poreps(&n);
    for (size_t i = 0; i < n; i++)
        if (all[i].sector == size && all[i].api == API_1_1_0 && all[i].feature == POREP_INTERACTIVE)
            return &all[i];
    return NULL;
}

static void complete(arguments *a, const struct argp_state *state) {
    if (!a->size && !a->proof) option_missing("--sector-size", state);
    if (!a->out) option_missing("--out", state);
    if (!a->proof) a->proof = usual_proof(a->size);
    if (a->size && a->proof->sector != a->size)
        argp_error(state, "%s is not a proof of this sector size", a->proof->name);
    if (a->proof->feature != POREP_INTERACTIVE)
        argp_error(
            state,
            "%s: its challenges depend on comm_r, so only a sealed sector has one; expected an interactive "
            "proof such as StackedDrg32GiBV1_1",
            a->proof->name);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_SIZE:
        a->size = parse_size(arg, state);
        return 0;
    case KEY_REGISTERED:
        a->proof = registered_porep_by_name(arg);
        if (!a->proof)
            argp_error(state,
                       "--registered-proof: unknown name '%s', expected one such as StackedDrg32GiBV1_1",
                       arg);
        return 0;
    case KEY_SEED:
        a->seed = parse_seed(arg, state);
        return 0;
    case KEY_MINER:
        a->miner_id = option_u64(arg, 0, INT64_MAX, "--miner-id", state);
        return 0;
    case KEY_SECTOR:
        a->sector_num = option_u64(arg, 0, INT64_MAX, "--sector-num", state);
        return 0;
    case KEY_OUT:
        a->out = arg;
        return 0;
    case ARGP_KEY_END:
        complete(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Write a phase-1 output of any sector size that passes every check of the vanilla verification and of "
    "the circuit, without "
    "sealing a sector: only what the challenges open is made, there is no data behind it. For benchmarks and "
    "tests.\v"
    "Example:\n  cuzk c1 generate --sector-size 32GiB --rng-seed 1 --out c1-32g.json\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

static cuzk_code generate(const arguments *a, uint64_t *bytes, cuzk_error *err) {
    file_writer out;
    TRY(file_write_begin(&out, a->out, 0, err));
    cuzk *engine = NULL;
    c1 *made = NULL;
    char *text = NULL;
    size_t size = 0;
    cuzk_code code = cuzk_create(&engine, &a->common.engine, err);
    if (code == CUZK_OK)
        code = c1_fabricate(&made, a->proof, a->miner_id, a->sector_num, a->seed, engine->threads, err);
    if (code == CUZK_OK) code = c1_write(&text, &size, made, C1_WRAPPER_GO, err);
    if (code == CUZK_OK) code = file_write(&out, text, size, err);
    if (code == CUZK_OK) code = file_write_commit(&out, err);
    file_write_abort(&out);
    free(text);
    c1_free(made);
    cuzk_destroy(engine);
    *bytes = size;
    return code;
}

int c1_generate_main(int argc, char **argv) {
    arguments a = {.miner_id = 1000, .sector_num = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    cuzk_error err;
    uint64_t bytes = 0;
    double start = clock_seconds();
    if (generate(&a, &bytes, &err) != CUZK_OK) return report_error("cuzk c1 generate", &a.common, &err);
    double seconds = clock_seconds() - start;
    if (a.common.json) {
        yajl_gen g = json_begin();
        json_string(g, "out", a.out);
        json_string(g, "registered_proof", a.proof->name);
        json_u64(g, "bytes", bytes);
        json_double(g, "seconds", seconds);
        json_u64(g, "peak_rss_bytes", mem_peak_rss());
        json_end(g);
        return 0;
    }
    char size[32], peak[32];
    printf("%s: %s, %s, in %.1f s with %s of memory\n", a.out, a.proof->name, format_bytes(size, bytes),
           seconds, format_bytes(peak, mem_peak_rss()));
    printf("There is no sector behind it: for benchmarks and tests only.\n");
    return 0;
}
