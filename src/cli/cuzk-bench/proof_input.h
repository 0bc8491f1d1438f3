/*
 * The proof a command asks the daemon for: its options, with the reference's names and defaults, and the
 * files they name.
 *
 * A C1 is sent as it is. A file of vanilla proofs that is a JSON array of strings holds one proof in base64 a
 * string; any other file is one proof as it is.
 */
#ifndef CUZK_BENCH_PROOF_INPUT_H
#define CUZK_BENCH_PROOF_INPUT_H

#include "base/file.h"
#include "command.h"
#include "rpc/messages.h"

#define INPUT_HEX_BYTES 64u /* the most an option in hex may have; 32 is what the daemon wants */

typedef struct input_hex {
    uint8_t bytes[INPUT_HEX_BYTES];
    size_t size;
} input_hex;

typedef struct proof_input {
    const char *type, *c1, *vanilla; /* as given; NULL: not */
    proof_kind kind;
    uint64_t registered_proof, sector_number, miner_id, sector_size;
    uint32_t partition;
    proof_priority priority;
    input_hex randomness, comm_r_old, comm_r_new, comm_d_new;

    file_map file;     /* what was read */
    uint8_t *decoded;  /* proofs of an array, one after the other */
    wire_view *proofs; /* n_proofs of them */
    size_t n_proofs;
} proof_input;

/* The options, for a command's argp; without --partition, which single has alone. Input: a proof_input, which
 * is set to the defaults. Requires --type and the file its kind needs. */
extern const struct argp proof_input_argp;
/* The same where a proof need not be asked for: without --type nothing is required. */
extern const struct argp optional_proof_argp;

/* "porep", "seal-commit", ... in any case; false when it is none. */
bool proof_kind_parse(proof_kind *out, const char *text);
/* "porep", "snap", "wpost", "winning". */
const char *proof_kind_word(proof_kind kind);
/* "low", "normal", "high", "critical"; "default" for 0. */
bool proof_priority_parse(proof_priority *out, const char *text);
const char *proof_priority_word(proof_priority priority);

/* Read the file. CUZK_ERR_INPUT names it and what is wrong. */
cuzk_code proof_input_load(proof_input *in, cuzk_error *err);
void proof_input_free(proof_input *in);

/* The request, with views of *in and of request_id. */
void proof_input_request(submit_proof_request *out, const proof_input *in, const char *request_id);

/* A random UUID (version 4), terminated. */
void make_request_id(char out[37]);

#endif
