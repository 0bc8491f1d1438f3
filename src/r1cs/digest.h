/*
 * Digests of a circuit's structure and of its values, in the form "r1cs-digest-1" that the reference data
 * uses, for comparing a constraint system with another implementation's bit for bit.
 *
 * Structure: SHA-256 over the constraints in order, without the final input * 0 = 0 ones. For A, B, C in
 * turn: u32 LE number of terms with nonzero coefficient, then per term (inputs ascending, then aux ascending)
 * one byte 0 = input or 1 = aux, u32 LE index, 32-byte LE coefficient. The same again per block of
 * constraints, to find the first block that differs. Values: SHA-256 over the 32-byte LE values in order,
 * whole and per block. Densities: SHA-256 over one byte 0 or 1 per variable.
 */
#ifndef CUZK_R1CS_DIGEST_H
#define CUZK_R1CS_DIGEST_H

#include "base/pool.h"
#include "r1cs/assignment.h"

#define R1CS_DIGEST_CHUNK        4096u /* constraints of a block */
#define R1CS_DIGEST_VALUES_CHUNK 65536u

typedef struct density_digest {
    uint64_t count;
    uint8_t sha256[32];
} density_digest;

typedef struct r1cs_digest {
    r1cs_shape shape;
    uint64_t nnz[3];     /* terms with nonzero coefficient in A, B, C */
    uint64_t zero_terms; /* stored terms with coefficient zero */
    uint64_t distinct_coefficients;
    uint8_t sha256[32];
    size_t chunks;
    uint8_t (*chunk_sha256)[32];
    char **chunk_paths; /* the namespaces around the first constraint of each block */
    density_digest a_aux, b_input, b_aux;
} r1cs_digest;

/* Synthesizes the structure. Memory: two bits per variable, a few MiB, and 100 bytes per block. With a pool
 * of two threads the two hashes run at the same time. Progress phase "digest". */
cuzk_code r1cs_digest_create(r1cs_digest *out, const r1cs_circuit *circuit, pool *p,
                             const cuzk_progress *progress, cuzk_error *err);
void r1cs_digest_free(r1cs_digest *d);

typedef struct vector_digest {
    uint8_t sha256[32];
    size_t chunks;
    uint8_t (*chunk_sha256)[32];
} vector_digest;

typedef struct assignment_digest {
    vector_digest aux, a, b, c; /* a, b, c: of shape.constraints values */
    uint8_t (*inputs)[32];      /* shape.inputs values, ONE first */
    uint32_t n_inputs;
    bool satisfied;
} assignment_digest;

cuzk_code assignment_digest_create(assignment_digest *out, const assignment *a, pool *p, cuzk_error *err);
void assignment_digest_free(assignment_digest *d);

/* The digests as JSON, keys in alphabetical order, two spaces of indentation. `values` may be NULL. The text
 * ends in a NUL that *size does not count; free() it. */
cuzk_code r1cs_digest_to_json(char **text, size_t *size, const r1cs_digest *structure,
                              const assignment_digest *values, cuzk_error *err);

typedef struct r1cs_difference {
    const char *figure; /* its key in the JSON */
    size_t index;       /* of the first element that differs, where the figure is a list */
    bool is_list;
    char found[72], expected[72];
    uint64_t constraint; /* the first one of the block that differs, or UINT64_MAX */
    const char *path;    /* the namespaces around it, or NULL */
} r1cs_difference;

/*
 * Compare with a digest in JSON (`name` stands for it in errors). Every figure that the JSON and the digests
 * both have is compared, the lists of blocks first; report is called for each that differs. *differences
 * counts them. CUZK_ERR_INPUT when the text is no such JSON or shares no figure with the digests. `values`
 * may be NULL.
 */
cuzk_code r1cs_digest_compare(const r1cs_digest *structure, const assignment_digest *values, const char *json,
                              size_t size, const char *name,
                              void (*report)(void *ctx, const r1cs_difference *difference), void *ctx,
                              size_t *differences, cuzk_error *err);

#endif
