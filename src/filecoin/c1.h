/*
 * C1: the output of phase 1 of sealing (SealCommitPhase1Output), everything phase 2 needs to prove a sector.
 * Two forms are read: the bare JSON of filecoin-proofs-api (seal.rs), and the wrapper of lotus-bench and
 * Curio, {"SectorNum": n, "Phase1Out": base64 of the bare JSON, "SectorSize": bytes}. Keys may come in any
 * order, unknown ones are ignored.
 *
 * What a parsed c1 promises. Its shape is that of its registered proof: partitions, challenges, layers, path
 * lengths, arities, tree kinds. Every fr_repr is below the scalar modulus, and its 32 bytes in memory are the
 * ones of the file. Every index of a path level is below the level's arity, every node below sector->nodes,
 * every layer_index in 1 .. layers. All comm_d proofs have the root comm_d, all comm_r_last proofs one root,
 * all column proofs one root. comm_d, comm_r and seed are not all zero. Nothing is hashed: whether the proofs
 * hold is for the vanilla verifier.
 *
 * A c1 is read-only, so any number of threads may use one. For 32 and 64 GiB it takes 11 MB, of which digests
 * are nine tenths (non-interactive: 12.6 times that); c1_read holds the file's text besides until it returns.
 */
#ifndef CUZK_FILECOIN_C1_H
#define CUZK_FILECOIN_C1_H

#include "base/error.h"
#include "field/fr.h"
#include "filecoin/sector.h"

/* The shape of a compound tree: base trees of arity 8, joined by one node of arity `sub`, joined by one node
 * of arity `top`. Named as in the JSON by the last one present. */
typedef enum c1_tree_kind { C1_SINGLE, C1_SUB, C1_TOP } c1_tree_kind;

/* One level of a path: the node's position among its siblings, and the arity - 1 others in order. */
typedef struct c1_level {
    uint32_t index;
    uint32_t arity;
    const fr_repr *hashes;
} c1_level;

typedef struct c1_merkle_proof {
    fr_repr root;
    fr_repr leaf;
    c1_tree_kind kind;
    uint32_t depth;         /* levels: all of the base tree, then sub if any, then top if any */
    const c1_level *levels; /* from the leaf up; their hashes follow each other in memory */
} c1_merkle_proof;

typedef struct c1_column_proof {
    uint32_t index;      /* the node */
    const fr_repr *rows; /* its labels in layers 1 .. layers */
    c1_merkle_proof inclusion_proof;
} c1_column_proof;

/* Also an encoding proof, whose layer is the last. */
typedef struct c1_labeling_proof {
    uint32_t layer_index;   /* from 1 */
    uint64_t node;          /* the challenge */
    const fr_repr *parents; /* LABEL_PARENTS */
} c1_labeling_proof;

typedef struct c1_challenge {
    c1_merkle_proof comm_d_proof; /* binary, C1_SINGLE */
    c1_merkle_proof comm_r_last_proof;
    c1_column_proof c_x;
    c1_column_proof drg_parents[DRG_DEGREE];
    c1_column_proof exp_parents[EXPANDER_DEGREE];
    const c1_labeling_proof *labeling_proofs; /* one per layer, layer 1 first */
    c1_labeling_proof encoding_proof;
} c1_challenge;

typedef struct c1_partition {
    const c1_challenge *challenges; /* c1.challenges of them */
} c1_partition;

typedef struct c1 {
    const registered_porep *proof;
    const sector_shape *sector; /* proof->sector */
    uint32_t partitions;        /* registered_porep_partitions(proof) */
    uint32_t challenges;        /* sector->challenges, of each partition */
    bool has_sector_num;        /* the text had SectorNum, as the wrapper does */
    uint64_t sector_num;

    fr_repr comm_d;
    fr_repr comm_r;
    fr_repr replica_id;
    fr_repr comm_r_last; /* the root of every comm_r_last_proof */
    fr_repr comm_c;      /* the root of every column's inclusion proof */
    uint8_t seed[32];
    uint8_t ticket[32];

    const c1_partition *partition; /* `partitions` of them, in the order of Groth16 partition numbers */
} c1;

/* The 32 bytes of a digest or field element as they stand in the file. */
static inline const uint8_t *c1_bytes(const fr_repr *value) {
    return (const uint8_t *)value->l;
}

/*
 * Read a file of either form. CUZK_ERR_INPUT for anything amiss with it, a missing file included: with the
 * file's name, the byte offset, and in the message the field's path, what was found and what was expected.
 * CUZK_ERR_RESOURCES when memory is short. *out is NULL after an error, else the caller's, for c1_free. For
 * an error inside Phase1Out the name is "FILE, decoded Phase1Out" and the offset is in the decoded text.
 */
cuzk_code c1_read(c1 **out, const char *path, cuzk_error *err);

/* The same from memory; `name` stands for the path in errors. The text need not end in NUL. */
cuzk_code c1_parse(c1 **out, const void *text, size_t size, const char *name, cuzk_error *err);

void c1_free(c1 *c);

#endif
