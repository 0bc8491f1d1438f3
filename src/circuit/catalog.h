/*
 * The circuits of the Filecoin network: names, sizes and R1CS digests of the reference, which fix the size of
 * their parameter files. A circuit listed here need not be implemented yet.
 *
 * Shapes, densities and digests: blank circuits of storage-proofs 19.1.0, without the final input * 0 = 0
 * constraints. The digest is defined in r1cs/digest.h.
 */
#ifndef CUZK_CIRCUIT_CATALOG_H
#define CUZK_CIRCUIT_CATALOG_H

#include "filecoin/sector.h"
#include "r1cs/cs.h"

typedef struct catalog_entry {
    const char *id; /* "porep-32g" */
    proof_kind kind;
    uint64_t sector_bytes;
    r1cs_shape shape;
    uint32_t a_aux_density, b_aux_density; /* every input is in A, only ONE in B */
    const char *r1cs_sha256;
    /* Of the network's parameter files: the first 16 bytes of BLAKE2b-512, in hex (filecoin-proofs
     * parameters.json). */
    const char *params_digest, *vk_digest;
} catalog_entry;

/* All entries, by kind then size; *n receives how many. */
const catalog_entry *catalog_all(size_t *n);
/* NULL when unknown. */
const catalog_entry *catalog_find(const char *id);
const catalog_entry *catalog_find_size(proof_kind kind, uint64_t sector_bytes);

#endif
