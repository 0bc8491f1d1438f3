/*
 * Inclusion of a leaf in a Merkle tree (storage-proofs-core gadgets/por.rs). A tree has base levels of one
 * arity, then perhaps one `sub` level, then perhaps one `top` level. Its nodes are hashed by Poseidon or, in
 * tree-d, by SHA-256.
 */
#ifndef CUZK_GADGET_POR_H
#define CUZK_GADGET_POR_H

#include "gadget/insertion.h"

typedef enum tree_hash { TREE_POSEIDON, TREE_SHA256 } tree_hash;

typedef struct tree_shape {
    tree_hash hash;
    unsigned base_arity, base_levels;
    unsigned sub_arity, top_arity; /* 0: no such level */
} tree_shape;

#define TREE_MAX_LEVELS 64u

/* Sum of levels, of the logarithms of their arities, and of arity - 1. */
unsigned tree_levels(const tree_shape *shape);
unsigned tree_index_bits(const tree_shape *shape);
unsigned tree_siblings(const tree_shape *shape);
/* Arity of a level, 0 the lowest. */
unsigned tree_arity(const tree_shape *shape, unsigned level);

/* The values of a path: index of the leaf, and the siblings of all levels from the leaf up, each level's in
 * order. Unused (may be zero and NULL) in a structure-only system. */
typedef struct tree_path {
    uint64_t index;
    const fr *siblings;
} tree_path;

/*
 * The leaf is `leaf` when that is not NULL, else allocated here with the value leaf_value. Every level: index
 * bits, siblings, insertion, hash. Then the index as one public input, and the result equal to root.
 */
void por_circuit(cs *system, const tree_shape *shape, const num *leaf, const fr *leaf_value,
                 const tree_path *path, const num *root);

/* The same with index bits and siblings that are allocated already, and no public input. */
void por_circuit_no_input(cs *system, const tree_shape *shape, const boolean *index_bits, const num *leaf,
                          const num *siblings, const num *root);

#endif
