/*
 * The fields of C1 as tables: for each kind of JSON value what it holds and where that goes in the structs of
 * c1.h. A place (`at`) is the address of the struct that an object fills, or of the pointer to, or the first
 * of, an array's elements. Source: the serde derives of filecoin-proofs-api seal.rs, storage-proofs-porep
 * stacked/vanilla and storage-proofs-core merkle/proof.rs. Internal to the C1 reader.
 */
#ifndef CUZK_FILECOIN_C1_SCHEMA_H
#define CUZK_FILECOIN_C1_SCHEMA_H

#include <stddef.h>

#include "filecoin/c1.h"

typedef enum value_kind {
    VALUE_OBJECT,     /* its members, others ignored */
    VALUE_VARIANT,    /* an object with exactly one of its members, the tree's kind */
    VALUE_TAGGED,     /* an object with exactly one member, whose key is a sector's tag */
    VALUE_ROOT,       /* an object: the bare form or the wrapper */
    VALUE_ARRAY,      /* elements */
    VALUE_DIGEST,     /* an array of 32 bytes */
    VALUE_NUMBER,     /* an unsigned integer */
    VALUE_PROOF_NAME, /* a string: a registered proof */
    VALUE_PHASE1,     /* a string: base64 of the bare form */
    VALUE_NULL
} value_kind;

/* How long an array is, and where its elements are. */
typedef enum array_rule {
    ARRAY_FIXED,      /* `length` elements from the place on */
    ARRAY_PARENTS,    /* LABEL_PARENTS, behind a pointer */
    ARRAY_LAYERS,     /* one per layer, behind a pointer */
    ARRAY_HASHES,     /* arity - 1; the place is the c1_level */
    ARRAY_BASE,       /* levels of the base tree; the place is the c1_merkle_proof */
    ARRAY_SUB,        /* the sub level, likewise */
    ARRAY_TOP,        /* the top level, likewise */
    ARRAY_CHALLENGES, /* of a new partition */
    ARRAY_PARTITIONS
} array_rule;

typedef enum digest_role {
    DIGEST_BYTES,  /* any 32 bytes */
    DIGEST_SEED,   /* not all zero */
    DIGEST_FIELD,  /* below the modulus */
    DIGEST_ROOT,   /* below the modulus, and equal to the other roots of its tree */
    DIGEST_COMM_D, /* DIGEST_ROOT, and not all zero */
    DIGEST_COMM_R  /* below the modulus, not all zero */
} digest_role;

typedef enum number_role {
    NUMBER_BYTE,
    NUMBER_POSITION, /* below the arity; u32 */
    NUMBER_NODE32,   /* below the number of nodes; u32 */
    NUMBER_NODE64,   /* the same; u64 */
    NUMBER_LAYER,    /* 1 to layers; u32 */
    NUMBER_SECTOR_NUM,
    NUMBER_SECTOR_SIZE
} number_role;

/* The trees whose roots must agree. */
typedef enum tree { TREE_NONE, TREE_D, TREE_R_LAST, TREE_C, TREES } tree;

typedef struct value_type value_type;

typedef struct member {
    const char *key;
    const value_type *type;
    size_t offset; /* of its place from the object's */
    tree tree;     /* of the Merkle proof it holds */
    bool optional;
} member;

struct value_type {
    value_kind kind;
    unsigned role; /* array_rule, digest_role or number_role */
    const member *members;
    unsigned length; /* of members; of a fixed array */
    const value_type *element;
    size_t stride;    /* of elements */
    const char *noun; /* what the elements are */
};

extern const value_type C1_ROOT;  /* either form */
extern const value_type C1_INNER; /* the bare form */
extern const value_type C1_BYTE;
extern const value_type C1_PARTITIONS;

/* Of C1_ROOT's members the first BARE_MEMBERS make the bare form, the others the wrapper. */
enum {
    ROOT_PROOF_NAME,
    ROOT_VANILLA_PROOFS,
    BARE_MEMBERS = 7,
    ROOT_PHASE1 = BARE_MEMBERS,
    ROOT_MEMBERS = 10
};

#endif
