/*
 * Poseidon over Fr as Filecoin uses it (neptune, standard strength, x^5): width t = arity + 1, 8 full rounds,
 * RP partial rounds (arity 2: 55, 4: 56, 8: 57, 11: 57). State element 0 is the domain tag, the digest is
 * element 1. The constants are the checked-in result of scripts/gen_poseidon.py in the compressed form of
 * "optimised Poseidon": keys moved through the linear layers, sparse matrices in the partial rounds.
 */
#ifndef CUZK_HASH_POSEIDON_H
#define CUZK_HASH_POSEIDON_H

#include "field/fr.h"

#define POSEIDON_MAX_WIDTH   12u
#define POSEIDON_FULL_ROUNDS 8u

/* All elements in Montgomery form. Row vectors times matrices: new_j = sum_i s_i m[i][j]. */
typedef struct poseidon_constants {
    unsigned arity, width, partial_rounds;
    const fr *keys;       /* 8 * width + partial_rounds, in order of use (circuit specification C.8) */
    const fr *mds;        /* width x width, row-major */
    const fr *pre_sparse; /* width x width: the mixing of round 3 */
    const fr *sparse;     /* partial_rounds x (2 * width - 1): w_hat[width] then v_rest[width - 1] */
} poseidon_constants;

/* Constants for arity 2, 4, 8 or 11; NULL for any other. */
const poseidon_constants *poseidon_for(unsigned arity);

typedef enum poseidon_tag {
    POSEIDON_TREE,           /* 2^arity - 1: Merkle trees, columns, comm_r */
    POSEIDON_GEN_RANDOMNESS, /* 2^40: sector update randomness (arity 2) */
} poseidon_tag;
void poseidon_tag_value(fr *out, poseidon_tag tag, unsigned arity);

/* The mixing after a round, s = s * matrix: dense (mds or pre_sparse), or the sparse matrix of a partial
 * round (its 2 * width - 1 elements). width is at most POSEIDON_MAX_WIDTH. */
void poseidon_mix_dense(fr *s, const fr *matrix, unsigned width);
void poseidon_mix_sparse(fr *s, const fr *sparse, unsigned width);

/*
 * The permutation with what happens in it: out receives, for every S-box in the order of rounds and elements,
 * its input x, x^2, x^4 and its output (with the key added after it), and at the end the digest. In round 0
 * the inputs are left out, and with them the whole S-box of element 0, which depends on the tag alone.
 */
static inline unsigned poseidon_trace_size(const poseidon_constants *c) {
    return 3 * c->arity + 4 * (c->width * (POSEIDON_FULL_ROUNDS - 1) + c->partial_rounds) + 1;
}
#define POSEIDON_MAX_TRACE 600u
void poseidon_trace(fr *out, const poseidon_constants *constants, poseidon_tag tag, const fr *preimage);

/* out = digest of `arity` preimage elements. */
void poseidon_hash(fr *out, const poseidon_constants *constants, poseidon_tag tag, const fr *preimage);

#endif
