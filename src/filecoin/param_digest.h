/*
 * The digest by which the network names the content of a parameter file: the first 16 bytes of BLAKE2b-512 of
 * the whole file, in hex (filecoin-proofs parameters.json; param_verifier.rs).
 */
#ifndef CUZK_FILECOIN_PARAM_DIGEST_H
#define CUZK_FILECOIN_PARAM_DIGEST_H

#include "base/error.h"
#include "base/progress.h"

#define PARAM_DIGEST_SIZE 33u /* with the NUL */

/* CUZK_ERR_PARAMS when the file cannot be read to its end. Progress phase "digest", in bytes. */
cuzk_code param_digest(char out[PARAM_DIGEST_SIZE], const char *path, const cuzk_progress *progress,
                       cuzk_error *err);

#endif
