#include "filecoin/label.h"

#include "filecoin/bytes.h"
#include "hash/digest.h"
#include "hash/poseidon.h"

void label_parents(fr_repr out[LABEL_PARENTS], uint32_t layer, const fr_repr *base, const fr_repr *expander) {
    const size_t count = layer == 1 ? DRG_DEGREE : PARENT_DEGREE;
    memcpy(out, base, DRG_DEGREE * sizeof *out);
    if (layer > 1) memcpy(out + DRG_DEGREE, expander, EXPANDER_DEGREE * sizeof *out);
    for (size_t i = count; i < LABEL_PARENTS; i++) out[i] = out[i - count];
}

void label_create(fr_repr *out, const fr_repr *replica_id, uint32_t layer, uint64_t node,
                  const fr_repr *parents) {
    uint8_t head[64] = {0};
    memcpy(head, replica_id, 32);
    put_u32_be(head + 32, layer);
    put_u64_be(head + 36, node);
    sha256 s;
    sha256_start(&s);
    sha256_update(&s, head, sizeof head);
    if (parents) sha256_update(&s, parents, LABEL_PARENTS * sizeof *parents);
    uint8_t digest[32];
    sha256_finish(&s, digest);
    digest[31] &= 0x3f;
    memcpy(out, digest, sizeof digest);
}

void column_hash(fr_repr *out, const fr_repr *labels, unsigned layers) {
    fr rows[SECTOR_MAX_LAYERS], hash;
    fr_from_repr_n(rows, labels, layers);
    poseidon_hash(&hash, poseidon_for(layers), POSEIDON_TREE, rows);
    fr_to_repr(out, &hash);
}

void encode_node(fr_repr *out, const fr_repr *label, const fr_repr *data) {
    fr a, b; /* the sum is the same in plain and in Montgomery form */
    memcpy(&a, label, sizeof a);
    memcpy(&b, data, sizeof b);
    fr_add(&a, &a, &b);
    memcpy(out, &a, sizeof *out);
}
