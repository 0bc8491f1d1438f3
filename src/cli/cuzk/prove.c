#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { KEY_C1 = 1, KEY_MINER, KEY_SECTOR, KEY_PARAMS, KEY_OUT, KEY_RANDOMNESS, KEY_INSECURE };

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output of the sector (JSON, wrapped or bare)", 1},
    {"miner-id", KEY_MINER, "N", 0, "Actor id of the miner (default 1000)", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Sector number (default: the file's SectorNum, else 1)", 1},
    {"params", KEY_PARAMS, "DIR", 0,
     "Groth16 parameters (default: FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters)", 1},
    {"out", KEY_OUT, "FILE", 0, "Write the proof, 192 bytes a partition (default: print it as hex)", 1},
    {"insecure-randomness", KEY_RANDOMNESS, "R,S", 0,
     "Fixed Groth16 randomness, two times 64 hex digits (32 bytes little-endian): only to repeat a test "
     "proof",
     2},
    {"i-know-this-is-insecure", KEY_INSECURE, NULL, 0, "Required with --insecure-randomness", 2},
    {0}};

typedef struct arguments {
    common_options common;
    const char *c1, *params, *out;
    uint64_t miner_id, sector_num;
    bool has_sector_num, has_randomness, insecure;
    cuzk_randomness randomness;
} arguments;

static void parse_randomness(arguments *a, const char *text, const struct argp_state *state) {
    const char *comma = strchr(text, ',');
    if (!comma) argp_error(state, "--insecure-randomness: expected R,S, two times 64 hex digits");
    char *r = strndup(text, (size_t)(comma - text));
    option_hex(a->randomness.r, 32, r, "--insecure-randomness (R)", state);
    option_hex(a->randomness.s, 32, comma + 1, "--insecure-randomness (S)", state);
    free(r);
    a->has_randomness = true;
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
    case KEY_MINER:
        a->miner_id = option_u64(arg, 0, INT64_MAX, "--miner-id", state);
        return 0;
    case KEY_SECTOR:
        a->sector_num = option_u64(arg, 0, INT64_MAX, "--sector-num", state);
        a->has_sector_num = true;
        return 0;
    case KEY_PARAMS:
        a->params = arg;
        return 0;
    case KEY_OUT:
        a->out = arg;
        return 0;
    case KEY_RANDOMNESS:
        parse_randomness(a, arg, state);
        return 0;
    case KEY_INSECURE:
        a->insecure = true;
        return 0;
    case ARGP_KEY_END:
        if (!a->c1) option_missing("--c1", state);
        if (a->has_randomness && !a->insecure)
            argp_error(state, "--insecure-randomness makes a proof whose witness can be recovered: it needs "
                              "--i-know-this-is-insecure");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Prove a sector: check the vanilla proofs, synthesize each partition, prove, verify, write.\v"
    "Example:\n  cuzk prove --c1 c1.json --miner-id 1000 --sector-num 1 --out proof.bin\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

static cuzk_code prove(const arguments *a, cuzk *engine, const cuzk_progress *progress, cuzk_c1 **c1,
                       cuzk_params **params, uint8_t **proof, size_t *proof_size, cuzk_report *report,
                       cuzk_error *err) {
    TRY(cuzk_c1_open(c1, a->c1, err));
    cuzk_c1_info info;
    cuzk_c1_get_info(&info, *c1);
    TRY(cuzk_params_open(params, cuzk_circuit_for(info.registered_proof), a->params, err));
    uint64_t sector = a->has_sector_num ? a->sector_num : info.has_sector_num ? info.sector_num : 1;
    return cuzk_seal_prove(engine, *params, *c1, a->miner_id, sector,
                           a->has_randomness ? &a->randomness : NULL, progress, proof, proof_size, report,
                           err);
}

/* The output file is begun first, so that a place that cannot be written to costs no proof. */
static cuzk_code run(const arguments *a, const cuzk_progress *progress, cuzk_c1 **c1, cuzk_params **params,
                     uint8_t **proof, size_t *proof_size, cuzk_report *report, cuzk_error *err) {
    file_writer out = {0};
    cuzk *engine;
    TRY(cuzk_create(&engine, &a->common.engine, err));
    cuzk_code code = a->out ? file_write_begin(&out, a->out, 0, err) : CUZK_OK;
    if (code == CUZK_OK) code = prove(a, engine, progress, c1, params, proof, proof_size, report, err);
    if (code == CUZK_OK && a->out) code = file_write(&out, *proof, *proof_size, err);
    if (code == CUZK_OK && a->out) code = file_write_commit(&out, err);
    file_write_abort(&out);
    cuzk_destroy(engine);
    return code;
}

static void print_json(const arguments *a, const cuzk_c1_info *info, const uint8_t *proof, size_t size,
                       const cuzk_report *report) {
    yajl_gen g = json_begin();
    json_string(g, "registered_proof", info->registered_proof);
    json_u64(g, "partitions", size / CUZK_PROOF_BYTES);
    json_u64(g, "proof_bytes", size);
    char *hex = malloc(2 * size + 1);
    if (hex) json_string(g, "proof", format_hex(hex, proof, size));
    free(hex);
    if (a->out) json_string(g, "out", a->out);
    json_bool(g, "verified", true);
    json_key(g, "seconds");
    yajl_gen_map_open(g);
    for (unsigned i = 0; i < report->count; i++)
        json_double(g, report->timings[i].phase, report->timings[i].seconds);
    json_double(g, "total", report->total_seconds);
    yajl_gen_map_close(g);
    json_u64(g, "peak_rss_bytes", report->peak_rss_bytes);
    json_end(g);
}

static void print_text(const arguments *a, const cuzk_c1_info *info, const uint8_t *proof, size_t size,
                       const cuzk_report *report) {
    char text[32];
    printf("%s, sector of %s: %zu proof%s, verified\n", info->registered_proof,
           format_bytes(text, info->sector_bytes), size / CUZK_PROOF_BYTES,
           size == CUZK_PROOF_BYTES ? "" : "s");
    if (a->out) {
        printf("proof:        %s (%zu bytes)\n", a->out, size);
    } else {
        for (size_t i = 0; i < size; i += CUZK_PROOF_BYTES) {
            char hex[2 * CUZK_PROOF_BYTES + 1];
            printf("%s\n", format_hex(hex, proof + i, CUZK_PROOF_BYTES));
        }
    }
    for (unsigned i = 0; i < report->count; i++)
        printf("%-13s %8.3f s\n", report->timings[i].phase, report->timings[i].seconds);
    printf("%-13s %8.3f s\n", "total", report->total_seconds);
    printf("peak memory:  %s\n", format_bytes(text, report->peak_rss_bytes));
}

int prove_main(int argc, char **argv) {
    arguments a = {.miner_id = 1000};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    progress_bar bar;
    cuzk_progress progress = progress_start(&bar, &a.common);
    cuzk_c1 *c1 = NULL;
    cuzk_params *params = NULL;
    uint8_t *proof = NULL;
    size_t size = 0;
    cuzk_report report = {.count = 0};
    cuzk_error err;
    cuzk_code code = run(&a, &progress, &c1, &params, &proof, &size, &report, &err);
    progress_finish(&bar);
    int status;
    if (code == CUZK_OK) {
        cuzk_c1_info info;
        cuzk_c1_get_info(&info, c1);
        (a.common.json ? print_json : print_text)(&a, &info, proof, size, &report);
        status = 0;
    } else {
        status = report_error("cuzk prove", &a.common, &err);
    }
    cuzk_free(proof);
    cuzk_params_close(params);
    cuzk_c1_close(c1);
    return status;
}
