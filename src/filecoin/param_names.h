/*
 * Names of the Groth16 parameter files of the network (version 28 of the proofs).
 * Source: storage-proofs-core parameter_cache.rs; the identifier strings are the Rust types' descriptions.
 */
#ifndef CUZK_FILECOIN_PARAM_NAMES_H
#define CUZK_FILECOIN_PARAM_NAMES_H

#include "base/error.h"
#include "filecoin/sector.h"

#define PARAM_IDENTIFIER_SIZE 320u /* with the NUL */
#define PARAM_NAME_SIZE       192u

typedef enum param_file {
    PARAM_FILE_PARAMS, /* .params: proving key with the verifying key at its head */
    PARAM_FILE_VK,     /* .vk: verifying key */
    PARAM_FILE_META    /* .meta: {"sector_size": bytes} */
} param_file;

/* The string whose SHA-256 names the parameters. */
void param_identifier(char out[PARAM_IDENTIFIER_SIZE], proof_kind kind, const sector_shape *sector);

/* File name without directory, such as
 * v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-<64 hex digits>.params */
void param_file_name(char out[PARAM_NAME_SIZE], proof_kind kind, const sector_shape *sector, param_file file);

/* FIL_PROOFS_PARAMETER_CACHE when set and not empty, else /var/tmp/filecoin-proof-parameters. */
const char *param_directory(void);

/* directory (NULL: param_directory()) and file name joined. CUZK_ERR_USAGE when `size` bytes do not hold it.
 */
cuzk_code param_path(char *out, size_t size, const char *directory, proof_kind kind,
                     const sector_shape *sector, param_file file, cuzk_error *err);

#endif
