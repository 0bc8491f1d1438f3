/*
 * A c1 as JSON, byte for byte as the usual tools write it: the bare form as serde_json does for
 * filecoin-proofs-api's SealCommitPhase1Output, and the wrapper around it with its keys in the order of
 * serde_json (sorted) or of Go (as declared in lotus-bench: SectorNum first). No white space, no final
 * newline.
 */
#ifndef CUZK_FILECOIN_C1_WRITE_H
#define CUZK_FILECOIN_C1_WRITE_H

#include "filecoin/c1.h"

typedef enum c1_form { C1_BARE, C1_WRAPPER_SORTED, C1_WRAPPER_GO } c1_form;

/* *out has *size bytes and a NUL after them; free() it. The wrapper has c->sector_num. */
cuzk_code c1_write(char **out, size_t *size, const c1 *c, c1_form form, cuzk_error *err);

#endif
