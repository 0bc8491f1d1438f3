/*
 * Merkle trees of the two kinds: binary SHA-256 (tree-d) and Poseidon of mixed arity (tree-c, tree-r-last).
 * Sources: storage-proofs-core merkle/{tree,proof}.rs, filecoin-hashers sha256.rs and poseidon.rs.
 *
 * Values are fr_repr below the modulus. A path is an array of levels from the leaf up; every level's index
 * must be below its arity, and the arity 2 for SHA-256, 2, 4 or 8 for Poseidon.
 */
#ifndef CUZK_FILECOIN_MERKLE_H
#define CUZK_FILECOIN_MERKLE_H

#include "filecoin/c1.h"

/* SHA-256 of both children with the two top bits of the digest cleared. */
void merkle_sha256_node(fr_repr *out, const fr_repr *left, const fr_repr *right);
/* Poseidon of `arity` children. */
void merkle_poseidon_node(fr_repr *out, const fr_repr *children, unsigned arity);

/* The root that a leaf and its path lead to. */
void merkle_sha256_root(fr_repr *out, const fr_repr *leaf, const c1_level *levels, unsigned depth);
void merkle_poseidon_root(fr_repr *out, const fr_repr *leaf, const c1_level *levels, unsigned depth);

/* The leaf's number: the levels' indices in mixed radix, the lowest level first. */
uint64_t merkle_leaf_index(const c1_level *levels, unsigned depth);

/* comm_r = Poseidon(comm_c, comm_r_last). */
void comm_r_of(fr_repr *out, const fr_repr *comm_c, const fr_repr *comm_r_last);

#endif
