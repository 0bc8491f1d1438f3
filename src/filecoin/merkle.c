#include "filecoin/merkle.h"

#include "hash/digest.h"
#include "hash/poseidon.h"

void merkle_sha256_node(fr_repr *out, const fr_repr *left, const fr_repr *right) {
    uint8_t text[64], digest[32];
    memcpy(text, left, 32);
    memcpy(text + 32, right, 32);
    sha256_to_field(digest, text, sizeof text);
    memcpy(out, digest, sizeof digest);
}

void merkle_poseidon_node(fr_repr *out, const fr_repr *children, unsigned arity) {
    fr preimage[POSEIDON_MAX_WIDTH - 1], hash;
    fr_from_repr_n(preimage, children, arity);
    poseidon_hash(&hash, poseidon_for(arity), POSEIDON_TREE, preimage);
    fr_to_repr(out, &hash);
}

void merkle_sha256_root(fr_repr *out, const fr_repr *leaf, const c1_level *levels, unsigned depth) {
    fr_repr node = *leaf;
    for (unsigned i = 0; i < depth; i++) {
        if (levels[i].index == 0)
            merkle_sha256_node(&node, &node, levels[i].hashes);
        else
            merkle_sha256_node(&node, levels[i].hashes, &node);
    }
    *out = node;
}

void merkle_poseidon_root(fr_repr *out, const fr_repr *leaf, const c1_level *levels, unsigned depth) {
    fr node, preimage[POSEIDON_MAX_WIDTH - 1];
    fr_from_repr(&node, leaf);
    for (unsigned i = 0; i < depth; i++) {
        const c1_level *level = &levels[i];
        fr_from_repr_n(preimage, level->hashes, level->index);
        preimage[level->index] = node;
        fr_from_repr_n(preimage + level->index + 1, level->hashes + level->index,
                       level->arity - 1 - level->index);
        poseidon_hash(&node, poseidon_for(level->arity), POSEIDON_TREE, preimage);
    }
    fr_to_repr(out, &node);
}

uint64_t merkle_leaf_index(const c1_level *levels, unsigned depth) {
    uint64_t index = 0, weight = 1;
    for (unsigned i = 0; i < depth; i++) {
        index += weight * levels[i].index;
        weight *= levels[i].arity;
    }
    return index;
}

void comm_r_of(fr_repr *out, const fr_repr *comm_c, const fr_repr *comm_r_last) {
    fr_repr children[2] = {*comm_c, *comm_r_last};
    merkle_poseidon_node(out, children, 2);
}
