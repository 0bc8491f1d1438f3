#include "proof_input.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <tomcrypt.h>
#include <yajl/yajl_tree.h>

#define DEFAULT_SECTOR_SIZE (UINT64_C(32) << 30)

/* --- options -------------------------------------------------------------------------------------------- */

enum {
    KEY_C1 = 0x3001,
    KEY_VANILLA,
    KEY_REGISTERED,
    KEY_SECTOR,
    KEY_MINER,
    KEY_SIZE,
    KEY_RANDOMNESS,
    KEY_R_OLD,
    KEY_R_NEW,
    KEY_D_NEW,
    KEY_PRIORITY
};

static const struct argp_option options[] = {
    {"type", 't', "KIND", 0,
     "porep (porep-c2, seal-commit), snap (snap-deals, update), wpost (window-post) or winning "
     "(winning-post)",
     10},
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output; needed for porep", 10},
    {"vanilla", KEY_VANILLA, "FILE", 0,
     "Vanilla proofs, a JSON array of base64 strings or one proof as it is; needed for the other kinds", 10},
    {"registered-proof", KEY_REGISTERED, "N", 0, "Number of the registered proof (default 0)", 11},
    {"sector-num", KEY_SECTOR, "N", 0, "Sector number (default 1)", 11},
    {"miner-id", KEY_MINER, "N", 0, "Miner id (default 1000)", 11},
    {"sector-size", KEY_SIZE, "SIZE", 0, "Sector size told to the daemon (default 32GiB)", 11},
    {"randomness", KEY_RANDOMNESS, "HEX", 0, "Randomness of a PoSt, 32 bytes (default: zeros)", 11},
    {"comm-r-old", KEY_R_OLD, "HEX", 0, "Snap: commitment of the old replica", 11},
    {"comm-r-new", KEY_R_NEW, "HEX", 0, "Snap: commitment of the new replica", 11},
    {"comm-d-new", KEY_D_NEW, "HEX", 0, "Snap: commitment of the new data", 11},
    {"priority", KEY_PRIORITY, "NAME", 0,
     "low, normal, high or critical (default: the kind's, which is critical for winning, high for wpost)",
     11},
    {0}};

bool proof_kind_parse(proof_kind *out, const char *text) {
    static const struct {
        const char *name;
        proof_kind kind;
    } names[] = {
        {"porep", PROOF_KIND_POREP_SEAL_COMMIT},          {"porep-c2", PROOF_KIND_POREP_SEAL_COMMIT},
        {"seal-commit", PROOF_KIND_POREP_SEAL_COMMIT},    {"snap", PROOF_KIND_SNAP_DEALS_UPDATE},
        {"snap-deals", PROOF_KIND_SNAP_DEALS_UPDATE},     {"update", PROOF_KIND_SNAP_DEALS_UPDATE},
        {"wpost", PROOF_KIND_WINDOW_POST_PARTITION},      {"window-post", PROOF_KIND_WINDOW_POST_PARTITION},
        {"windowpost", PROOF_KIND_WINDOW_POST_PARTITION}, {"winning", PROOF_KIND_WINNING_POST},
        {"winning-post", PROOF_KIND_WINNING_POST},        {"winningpost", PROOF_KIND_WINNING_POST}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(text, names[i].name) == 0) {
            *out = names[i].kind;
            return true;
        }
    return false;
}

const char *proof_kind_word(proof_kind kind) {
    static const char *const words[] = {"none", "porep", "snap", "wpost", "winning"};
    return words[kind];
}

static const char *const priority_words[] = {"default", "low", "normal", "high", "critical"};

bool proof_priority_parse(proof_priority *out, const char *text) {
    for (unsigned i = 0; i < sizeof priority_words / sizeof priority_words[0]; i++)
        if (strcasecmp(text, priority_words[i]) == 0) {
            *out = (proof_priority)i;
            return true;
        }
    return false;
}

const char *proof_priority_word(proof_priority priority) {
    return priority_words[priority];
}

static void parse_hex(input_hex *out, const char *text, const char *option, const struct argp_state *state) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!isxdigit((unsigned char)text[i]))
            argp_error(state, "%s: '%c' at character %zu is no hex digit", option, text[i], i);
    if (length % 2) argp_error(state, "%s: %zu hex digits, expected an even number", option, length);
    if (length > 2 * INPUT_HEX_BYTES)
        argp_error(state, "%s: %zu bytes, expected at most %u", option, length / 2, INPUT_HEX_BYTES);
    out->size = length / 2;
    option_hex(out->bytes, out->size, text, option, state);
}

static void check(const proof_input *in, const struct argp_state *state) {
    if (!in->type) option_missing("--type", state);
    if (in->kind == PROOF_KIND_POREP_SEAL_COMMIT && !in->c1)
        argp_error(state, "--c1 is required for %s", in->type);
    if (in->kind != PROOF_KIND_POREP_SEAL_COMMIT && !in->vanilla)
        argp_error(state, "--vanilla is required for %s", in->type);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    proof_input *in = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *in = (proof_input){.sector_number = 1,
                            .miner_id = 1000,
                            .sector_size = DEFAULT_SECTOR_SIZE,
                            .randomness = {.size = 32},
                            .file = {.fd = -1}};
        return 0;
    case 't':
        in->type = arg;
        if (!proof_kind_parse(&in->kind, arg))
            argp_error(state, "--type: '%s', expected porep, snap, wpost or winning", arg);
        return 0;
    case KEY_C1:
        in->c1 = arg;
        return 0;
    case KEY_VANILLA:
        in->vanilla = arg;
        return 0;
    case KEY_REGISTERED:
        in->registered_proof = option_u64(arg, 0, UINT64_MAX, "--registered-proof", state);
        return 0;
    case KEY_SECTOR:
        in->sector_number = option_u64(arg, 0, UINT64_MAX, "--sector-num", state);
        return 0;
    case KEY_MINER:
        in->miner_id = option_u64(arg, 0, UINT64_MAX, "--miner-id", state);
        return 0;
    case KEY_SIZE:
        in->sector_size = option_bytes(arg, "--sector-size", state);
        return 0;
    case KEY_RANDOMNESS:
        parse_hex(&in->randomness, arg, "--randomness", state);
        return 0;
    case KEY_R_OLD:
        parse_hex(&in->comm_r_old, arg, "--comm-r-old", state);
        return 0;
    case KEY_R_NEW:
        parse_hex(&in->comm_r_new, arg, "--comm-r-new", state);
        return 0;
    case KEY_D_NEW:
        parse_hex(&in->comm_d_new, arg, "--comm-d-new", state);
        return 0;
    case KEY_PRIORITY:
        if (!proof_priority_parse(&in->priority, arg))
            argp_error(state, "--priority: '%s', expected low, normal, high or critical", arg);
        return 0;
    case ARGP_KEY_END:
        check(in, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_optional(int key, char *arg, struct argp_state *state) {
    const proof_input *in = state->input;
    return key == ARGP_KEY_END && !in->type ? 0 : parse(key, arg, state);
}

const struct argp proof_input_argp = {.options = options, .parser = parse};
const struct argp optional_proof_argp = {.options = options, .parser = parse_optional};

/* --- files ---------------------------------------------------------------------------------------------- */

static bool is_base64(char c) {
    return isalnum((unsigned char)c) || c == '+' || c == '/';
}

/* Decode one string of the array into out, at most size / 4 * 3 bytes. */
static cuzk_code decode_entry(size_t *decoded, uint8_t *out, const char *text, size_t index, const char *path,
                              cuzk_error *err) {
    size_t size = strlen(text), padding = 0;
    while (padding < 2 && padding < size && text[size - padding - 1] == '=') padding++;
    for (size_t i = 0; i < size - padding; i++)
        if (!is_base64(text[i]))
            return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                             "entry %zu: character %zu is not base64 (of the standard alphabet)", index, i);
    unsigned long bytes = size;
    if (size % 4 != 0 || base64_strict_decode((const uint8_t *)text, size, out, &bytes) != CRYPT_OK ||
        bytes != size / 4 * 3 - padding)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "entry %zu: %zu characters of base64, expected a multiple of 4 with padding", index,
                         size);
    *decoded = bytes;
    return CUZK_OK;
}

static bool is_array_of_strings(yajl_val v) {
    if (!YAJL_IS_ARRAY(v)) return false;
    for (size_t i = 0; i < v->u.array.len; i++)
        if (!YAJL_IS_STRING(v->u.array.values[i])) return false;
    return true;
}

static cuzk_code decode_array(proof_input *in, yajl_val v, cuzk_error *err) {
    size_t n = v->u.array.len, at = 0;
    if (n > SCHEMA_LIST_MAX)
        return error_set(err, CUZK_ERR_INPUT, in->vanilla, CUZK_NO_OFFSET, "%zu proofs, expected at most %u",
                         n, SCHEMA_LIST_MAX);
    in->decoded = malloc(in->file.size + 1); /* base64 is longer than what it stands for */
    in->proofs = calloc(n + 1, sizeof *in->proofs);
    if (!in->decoded || !in->proofs) return error_no_memory(err, in->file.size, "the vanilla proofs");
    for (size_t i = 0; i < n; i++) {
        size_t size = 0;
        TRY(decode_entry(&size, in->decoded + at, v->u.array.values[i]->u.string, i, in->vanilla, err));
        in->proofs[i] = (wire_view){in->decoded + at, size};
        at += size;
    }
    in->n_proofs = n;
    return CUZK_OK;
}

static cuzk_code load_vanilla(proof_input *in, cuzk_error *err) {
    const uint8_t *data = in->file.data;
    size_t start = 0, size = (size_t)in->file.size;
    while (start < size && strchr(" \t\r\n", data[start]) && data[start]) start++;
    yajl_val v = NULL;
    if (start < size && data[start] == '[') { /* proofs as they are seldom begin like this */
        char *text = malloc(size + 1), ignored[128];
        if (!text) return error_no_memory(err, size, "a file of vanilla proofs");
        memcpy(text, data, size);
        text[size] = 0;
        if (strlen(text) == size) v = yajl_tree_parse(text, ignored, sizeof ignored);
        free(text);
    }
    cuzk_code code = CUZK_OK;
    if (v && is_array_of_strings(v)) {
        code = decode_array(in, v, err);
    } else if ((in->proofs = malloc(sizeof *in->proofs))) {
        in->proofs[0] = (wire_view){data, size};
        in->n_proofs = 1;
    } else {
        code = error_no_memory(err, sizeof *in->proofs, "a vanilla proof");
    }
    yajl_tree_free(v);
    return code;
}

cuzk_code proof_input_load(proof_input *in, cuzk_error *err) {
    bool porep = in->kind == PROOF_KIND_POREP_SEAL_COMMIT;
    const char *path = porep ? in->c1 : in->vanilla;
    TRY(file_map_open(&in->file, path, CUZK_ERR_INPUT, err));
    if (in->file.size == 0)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "0 bytes, expected %s",
                         porep ? "a phase-1 output (C1)" : "vanilla proofs");
    return porep ? CUZK_OK : load_vanilla(in, err);
}

void proof_input_free(proof_input *in) {
    file_map_close(&in->file);
    free(in->decoded);
    free(in->proofs);
    in->decoded = NULL;
    in->proofs = NULL;
    in->n_proofs = 0;
}

/* --- the request ---------------------------------------------------------------------------------------- */

static wire_view view_of(const input_hex *h) {
    return (wire_view){h->bytes, h->size};
}

void proof_input_request(submit_proof_request *out, const proof_input *in, const char *request_id) {
    *out = (submit_proof_request){.request_id = wire_text(request_id),
                                  .proof_kind = (int32_t)in->kind,
                                  .sector_size = in->sector_size,
                                  .registered_proof = in->registered_proof,
                                  .priority = (int32_t)in->priority,
                                  .sector_number = in->sector_number,
                                  .miner_id = in->miner_id,
                                  .randomness = view_of(&in->randomness),
                                  .partition_index = in->partition,
                                  .comm_r_old = view_of(&in->comm_r_old),
                                  .comm_r_new = view_of(&in->comm_r_new),
                                  .comm_d_new = view_of(&in->comm_d_new)};
    if (in->kind == PROOF_KIND_POREP_SEAL_COMMIT)
        out->vanilla_proof = (wire_view){in->file.data, (size_t)in->file.size};
    else
        out->vanilla_proofs = (schema_list){in->proofs, in->n_proofs};
}

void make_request_id(char out[37]) {
    uint8_t b[16];
    /* 16 bytes come whole once the generator is seeded, which it is when programs run. */
    while (getrandom(b, sizeof b, 0) != sizeof b) continue;
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    char hex[33];
    format_hex(hex, b, sizeof b);
    snprintf(out, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}
