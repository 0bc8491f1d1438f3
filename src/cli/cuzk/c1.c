#include "commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

enum { KEY_MINER = 1, KEY_SECTOR, KEY_NO_VERIFY };

static const struct argp_option options[] = {
    {"miner-id", KEY_MINER, "N", 0, "Also check that the replica id follows from this miner and sector", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "The sector (default: the file's SectorNum)", 1},
    {"no-verify", KEY_NO_VERIFY, NULL, 0, "Show the header only: skip the vanilla verification", 1},
    {0}};

typedef struct arguments {
    common_options common;
    const char *path;
    bool has_miner, has_sector, no_verify;
    uint64_t miner_id, sector_num;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_MINER:
        a->miner_id = option_u64(arg, 0, INT64_MAX, "--miner-id", state);
        a->has_miner = true;
        return 0;
    case KEY_SECTOR:
        a->sector_num = option_u64(arg, 0, INT64_MAX, "--sector-num", state);
        a->has_sector = true;
        return 0;
    case KEY_NO_VERIFY:
        a->no_verify = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->path) argp_error(state, "one FILE only, '%s' is a second", arg);
        a->path = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->path) argp_error(state, "FILE is required");
        if (a->has_sector && !a->has_miner) argp_error(state, "--sector-num needs --miner-id");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "FILE",
    "Show a phase-1 output (C1 JSON, wrapped or bare) and check everything in it: challenges, Merkle paths, "
    "columns, "
    "labels and encodings (vanilla verification). The first thing that does not hold is named.\v"
    "Example:\n  cuzk c1 inspect c1.json --miner-id 1000 --sector-num 1\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

static void print_header(const cuzk_c1_info *info) {
    char text[65];
    printf("registered proof: %s\n", info->registered_proof);
    printf("sector size:      %s\n", format_bytes(text, info->sector_bytes));
    printf("partitions:       %u\n", info->partitions);
    printf("challenges:       %u per partition\n", info->challenges);
    printf("layers:           %u\n", info->layers);
    printf("circuit:          %s\n", cuzk_circuit_for(info->registered_proof));
    if (info->has_sector_num) printf("sector number:    %" PRIu64 "\n", info->sector_num);
    printf("comm_r:           %s\n", format_hex(text, info->comm_r, 32));
    printf("comm_d:           %s\n", format_hex(text, info->comm_d, 32));
    printf("replica id:       %s\n", format_hex(text, info->replica_id, 32));
    printf("ticket:           %s\n", format_hex(text, info->ticket, 32));
    printf("seed:             %s\n", format_hex(text, info->seed, 32));
}

static void json_header(yajl_gen g, const cuzk_c1_info *info) {
    json_string(g, "registered_proof", info->registered_proof);
    json_u64(g, "sector_bytes", info->sector_bytes);
    json_u64(g, "partitions", info->partitions);
    json_u64(g, "challenges", info->challenges);
    json_u64(g, "layers", info->layers);
    json_string(g, "circuit", cuzk_circuit_for(info->registered_proof));
    if (info->has_sector_num) json_u64(g, "sector_num", info->sector_num);
    json_hex(g, "comm_r", info->comm_r, 32);
    json_hex(g, "comm_d", info->comm_d, 32);
    json_hex(g, "replica_id", info->replica_id, 32);
    json_hex(g, "ticket", info->ticket, 32);
    json_hex(g, "seed", info->seed, 32);
}

/* Check what was asked for; *replica and *vanilla tell what was checked and held. */
static cuzk_code check(const arguments *a, const cuzk_c1 *c1, const cuzk_c1_info *info, bool *replica,
                       bool *vanilla, const cuzk_progress *progress, cuzk_error *err) {
    if (a->has_miner) {
        if (!a->has_sector && !info->has_sector_num)
            return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                             "the file names no sector number: give --sector-num with --miner-id");
        TRY(cuzk_c1_check_replica_id(c1, a->miner_id, a->has_sector ? a->sector_num : info->sector_num, err));
        *replica = true;
    }
    if (a->no_verify) return CUZK_OK;
    cuzk *engine;
    TRY(cuzk_create(&engine, &a->common.engine, err));
    cuzk_code code = cuzk_c1_verify(engine, c1, progress, err);
    cuzk_destroy(engine);
    *vanilla = code == CUZK_OK;
    return code;
}

int c1_inspect_main(int argc, char **argv) {
    arguments a = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    cuzk_c1 *c1;
    cuzk_error err;
    if (cuzk_c1_open(&c1, a.path, &err) != CUZK_OK) return report_error("cuzk c1 inspect", &a.common, &err);
    cuzk_c1_info info;
    cuzk_c1_get_info(&info, c1);
    if (!a.common.json) print_header(&info);

    bool replica = false, vanilla = false;
    progress_bar bar;
    cuzk_progress progress = progress_start(&bar, &a.common);
    cuzk_code code = check(&a, c1, &info, &replica, &vanilla, &progress, &err);
    progress_finish(&bar);
    int status = 0;
    if (code != CUZK_OK) {
        status = report_error("cuzk c1 inspect", &a.common, &err);
    } else if (a.common.json) {
        yajl_gen g = json_begin();
        json_header(g, &info);
        if (a.has_miner) json_bool(g, "replica_id_valid", replica);
        if (!a.no_verify) json_bool(g, "vanilla_valid", vanilla);
        json_end(g);
    } else {
        if (replica) printf("replica id follows from miner, sector, ticket and comm_d\n");
        if (vanilla)
            printf("vanilla proofs:   all %u challenges hold (Merkle paths, columns, labels, encoding)\n",
                   info.partitions * info.challenges);
    }
    cuzk_c1_close(c1);
    return status;
}
