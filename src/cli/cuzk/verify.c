#include "commands.h"

#include <stdio.h>

#include "base/file.h"

enum {
    KEY_C1 = 1,
    KEY_PROOF,
    KEY_MINER,
    KEY_SECTOR,
    KEY_PARAMS,
    KEY_REGISTERED,
    KEY_COMM_R,
    KEY_COMM_D,
    KEY_TICKET,
    KEY_SEED
};

static const struct argp_option options[] = {
    {"proof", KEY_PROOF, "FILE", 0, "The proof: 192 bytes a partition", 1},
    {"c1", KEY_C1, "FILE", 0, "Take the statement from this phase-1 output", 1},
    {"miner-id", KEY_MINER, "N", 0, "Actor id of the miner (default 1000 with --c1)", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Sector number (default with --c1: the file's SectorNum, else 1)", 1},
    {"params", KEY_PARAMS, "DIR", 0,
     "Where the verifying key is (default: FIL_PROOFS_PARAMETER_CACHE, else "
     "/var/tmp/filecoin-proof-parameters)",
     1},
    {0, 0, 0, 0, "Without --c1, the statement itself:", 2},
    {"registered-proof", KEY_REGISTERED, "NAME", 0, "Such as StackedDrg32GiBV1_1", 2},
    {"comm-r", KEY_COMM_R, "HEX", 0, "Replica commitment, 64 hex digits", 2},
    {"comm-d", KEY_COMM_D, "HEX", 0, "Data commitment", 2},
    {"ticket", KEY_TICKET, "HEX", 0, "Ticket randomness", 2},
    {"seed", KEY_SEED, "HEX", 0, "Interactive seed", 2},
    {0}};

typedef struct arguments {
    common_options common;
    const char *c1, *proof, *params;
    bool has_miner, has_sector, has_comm_r, has_comm_d, has_ticket, has_seed;
    cuzk_seal seal;
} arguments;

static void check_complete(const arguments *a, const struct argp_state *state) {
    if (!a->proof) option_missing("--proof", state);
    bool any = a->seal.registered_proof || a->has_comm_r || a->has_comm_d || a->has_ticket || a->has_seed;
    if (a->c1) {
        if (any) argp_error(state, "--c1 already gives registered proof, commitments, ticket and seed");
        return;
    }
    if (!a->seal.registered_proof)
        argp_error(state, "give --c1, or the statement starting with --registered-proof");
    if (!a->has_comm_r) option_missing("--comm-r", state);
    if (!a->has_comm_d) option_missing("--comm-d", state);
    if (!a->has_miner) option_missing("--miner-id", state);
    if (!a->has_sector) option_missing("--sector-num", state);
    if (!a->has_ticket) option_missing("--ticket", state);
    if (!a->has_seed) option_missing("--seed", state);
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
    case KEY_PROOF:
        a->proof = arg;
        return 0;
    case KEY_PARAMS:
        a->params = arg;
        return 0;
    case KEY_REGISTERED:
        a->seal.registered_proof = arg;
        return 0;
    case KEY_MINER:
        a->seal.miner_id = option_u64(arg, 0, INT64_MAX, "--miner-id", state);
        a->has_miner = true;
        return 0;
    case KEY_SECTOR:
        a->seal.sector_num = option_u64(arg, 0, INT64_MAX, "--sector-num", state);
        a->has_sector = true;
        return 0;
    case KEY_COMM_R:
        option_hex(a->seal.comm_r, 32, arg, "--comm-r", state);
        a->has_comm_r = true;
        return 0;
    case KEY_COMM_D:
        option_hex(a->seal.comm_d, 32, arg, "--comm-d", state);
        a->has_comm_d = true;
        return 0;
    case KEY_TICKET:
        option_hex(a->seal.ticket, 32, arg, "--ticket", state);
        a->has_ticket = true;
        return 0;
    case KEY_SEED:
        option_hex(a->seal.seed, 32, arg, "--seed", state);
        a->has_seed = true;
        return 0;
    case ARGP_KEY_END:
        check_complete(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Verify the proof of a sector. Every public input is derived from the statement; only the verifying key "
    "is "
    "needed, not the parameters.\v"
    "Examples:\n"
    "  cuzk verify --c1 c1.json --proof proof.bin\n"
    "  cuzk verify --registered-proof StackedDrg2KiBV1_1 --comm-r HEX --comm-d HEX --miner-id 1000 \\\n"
    "      --sector-num 1 --ticket HEX --seed HEX --proof proof.bin\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

static cuzk_code run(arguments *a, cuzk_c1 **c1, cuzk_error *err) {
    if (a->c1) {
        cuzk_code code = cuzk_c1_open(c1, a->c1, err);
        if (code != CUZK_OK) return code;
        cuzk_c1_info info;
        cuzk_c1_get_info(&info, *c1);
        uint64_t miner = a->has_miner ? a->seal.miner_id : 1000;
        uint64_t sector = a->has_sector ? a->seal.sector_num : info.has_sector_num ? info.sector_num : 1;
        code = cuzk_c1_check_replica_id(*c1, miner, sector, err);
        if (code != CUZK_OK) return code;
        cuzk_c1_statement(&a->seal, *c1, miner, sector);
    }
    cuzk *engine = NULL;
    cuzk_params *params = NULL;
    file_map proof = {0};
    cuzk_code code = cuzk_create(&engine, &a->common.engine, err);
    if (code == CUZK_OK && !cuzk_circuit_for(a->seal.registered_proof))
        code = error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "unknown registered proof '%s', expected a name such as StackedDrg32GiBV1_1",
                         a->seal.registered_proof);
    if (code == CUZK_OK) code = file_map_open(&proof, a->proof, CUZK_ERR_INPUT, err);
    if (code == CUZK_OK)
        code = cuzk_params_open_vk(&params, cuzk_circuit_for(a->seal.registered_proof), a->params, err);
    if (code == CUZK_OK) {
        code = cuzk_seal_verify(engine, params, &a->seal, proof.data, proof.size, err);
        if (code != CUZK_OK && !err->path[0]) snprintf(err->path, sizeof err->path, "%s", a->proof);
    }
    file_map_close(&proof);
    cuzk_params_close(params);
    cuzk_destroy(engine);
    return code;
}

int verify_main(int argc, char **argv) {
    arguments a = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    cuzk_c1 *c1 = NULL;
    cuzk_error err;
    cuzk_code code = run(&a, &c1, &err);
    int status = 0;
    if (code == CUZK_OK && a.common.json) {
        yajl_gen g = json_begin();
        json_string(g, "registered_proof", a.seal.registered_proof);
        json_bool(g, "valid", true);
        json_end(g);
    } else if (code == CUZK_OK) {
        printf("valid: %s, miner %llu, sector %llu\n", a.seal.registered_proof,
               (unsigned long long)a.seal.miner_id, (unsigned long long)a.seal.sector_num);
    } else {
        status = report_error("cuzk verify", &a.common, &err);
    }
    cuzk_c1_close(c1);
    return status;
}
