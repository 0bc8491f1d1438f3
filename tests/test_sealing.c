/*
 * A whole 2 KiB sector sealed again from its data: labels, columns, replica, trees and commitments must be
 * those in the reference's files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "filecoin/graph.h"
#include "filecoin/label.h"
#include "filecoin/merkle.h"

enum { NODES = 64, LAYERS = 2 };

static fr_repr labels[NODES][LAYERS], data[NODES], replica[NODES], columns[NODES];
static fr_repr replica_id, comm_d, comm_r;

static void read_nodes(fr_repr *out, const char *name, size_t nodes) {
    size_t size;
    char *bytes = fixture_read(name, &size);
    assert_int_equal(size, 32 * nodes);
    memcpy(out, bytes, size);
    free(bytes);
}

static int seal(void **state) {
    (void)state;
    yajl_val meta = fixture_json("c1/2k-v1_1/meta.json");
    hex_decode((uint8_t *)&replica_id, json_str(meta, "replica_id"), 32);
    hex_decode((uint8_t *)&comm_d, json_str(meta, "comm_d"), 32);
    hex_decode((uint8_t *)&comm_r, json_str(meta, "comm_r"), 32);
    const registered_porep *proof = registered_porep_by_name(json_str(meta, "registered_proof"));
    yajl_tree_free(meta);
    read_nodes(data, "c1/2k-v1_1/unsealed", NODES);

    graph g;
    graph_for(&g, proof);
    for (uint32_t layer = 1; layer <= LAYERS; layer++)
        for (uint32_t node = 0; node < NODES; node++) {
            uint32_t base[DRG_DEGREE], expander[EXPANDER_DEGREE];
            fr_repr base_labels[DRG_DEGREE], expander_labels[EXPANDER_DEGREE], parents[LABEL_PARENTS];
            graph_base_parents(base, &g, node);
            graph_expander_parents(expander, &g, node);
            for (size_t i = 0; i < DRG_DEGREE; i++) base_labels[i] = labels[base[i]][layer - 1];
            if (layer > 1)
                for (size_t i = 0; i < EXPANDER_DEGREE; i++)
                    expander_labels[i] = labels[expander[i]][layer - 2];
            label_parents(parents, layer, base_labels, layer > 1 ? expander_labels : NULL);
            label_create(&labels[node][layer - 1], &replica_id, layer, node, node ? parents : NULL);
        }
    for (size_t node = 0; node < NODES; node++) {
        column_hash(&columns[node], labels[node], LAYERS);
        encode_node(&replica[node], &labels[node][LAYERS - 1], &data[node]);
    }
    return 0;
}

static void layers_match(void **state) {
    (void)state;
    fr_repr expected[NODES];
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-layer-1.dat", NODES);
    for (size_t i = 0; i < NODES; i++) assert_memory_equal(&labels[i][0], &expected[i], 32);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-layer-2.dat", NODES);
    for (size_t i = 0; i < NODES; i++) assert_memory_equal(&labels[i][1], &expected[i], 32);
}

static void replica_matches(void **state) {
    (void)state;
    fr_repr expected[NODES];
    read_nodes(expected, "c1/2k-v1_1/sealed", NODES);
    assert_memory_equal(replica, expected, sizeof expected);
}

/* Leaves, then each level of 8-ary nodes up to the root: 64 + 8 + 1. */
static void grow_poseidon(fr_repr tree[73]) {
    for (size_t i = 0; i < 9; i++) merkle_poseidon_node(&tree[64 + i], &tree[8 * i], 8);
}

static void trees_match(void **state) {
    (void)state;
    fr_repr tree_d[127], expected[127];
    memcpy(tree_d, data, sizeof data);
    for (size_t i = 0; i < 63; i++) merkle_sha256_node(&tree_d[64 + i], &tree_d[2 * i], &tree_d[2 * i + 1]);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-tree-d.dat", 127);
    assert_memory_equal(tree_d, expected, sizeof expected);
    assert_memory_equal(&tree_d[126], &comm_d, 32);

    fr_repr tree_c[73], tree_r_last[73], made;
    memcpy(tree_c, columns, sizeof columns);
    grow_poseidon(tree_c);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-tree-c.dat", 73);
    assert_memory_equal(tree_c, expected, sizeof tree_c);

    memcpy(tree_r_last, replica, sizeof replica);
    grow_poseidon(tree_r_last);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-tree-r-last.dat", 1); /* the root alone is kept */
    assert_memory_equal(&tree_r_last[72], expected, 32);
    read_nodes(expected, "c1/2k-v1_1/cache/p_aux", 2); /* comm_c, comm_r_last */
    assert_memory_equal(&tree_c[72], &expected[0], 32);
    assert_memory_equal(&tree_r_last[72], &expected[1], 32);
    comm_r_of(&made, &tree_c[72], &tree_r_last[72]);
    assert_memory_equal(&made, &comm_r, 32);
}

/* Every leaf's path through the trees above leads to the root and tells the leaf's number. */
static void paths_lead_to_the_root(void **state) {
    (void)state;
    fr_repr tree_d[127], tree_c[73];
    memcpy(tree_d, data, sizeof data);
    for (size_t i = 0; i < 63; i++) merkle_sha256_node(&tree_d[64 + i], &tree_d[2 * i], &tree_d[2 * i + 1]);
    memcpy(tree_c, columns, sizeof columns);
    grow_poseidon(tree_c);
    for (size_t leaf = 0; leaf < NODES; leaf++) {
        fr_repr hashes[14], root;
        c1_level levels[6];
        size_t start = 0, width = 64, at = leaf;
        for (size_t i = 0; i < 6; i++) {
            hashes[i] = tree_d[start + (at ^ 1)];
            levels[i] = (c1_level){.index = at & 1, .arity = 2, .hashes = &hashes[i]};
            start += width;
            width /= 2;
            at /= 2;
        }
        merkle_sha256_root(&root, &data[leaf], levels, 6);
        assert_memory_equal(&root, &tree_d[126], 32);
        assert_int_equal(merkle_leaf_index(levels, 6), leaf);
        levels[3].index ^= 1;
        merkle_sha256_root(&root, &data[leaf], levels, 6);
        assert_memory_not_equal(&root, &tree_d[126], 32);

        at = leaf;
        for (size_t i = 0; i < 2; i++) {
            size_t first = 64 * i + (at & ~(size_t)7);
            levels[i] = (c1_level){.index = at & 7, .arity = 8, .hashes = &hashes[7 * i]};
            for (size_t j = 0, k = 7 * i; j < 8; j++)
                if (j != (at & 7)) hashes[k++] = tree_c[first + j];
            at /= 8;
        }
        merkle_poseidon_root(&root, &columns[leaf], levels, 2);
        assert_memory_equal(&root, &tree_c[72], 32);
        assert_int_equal(merkle_leaf_index(levels, 2), leaf);
        levels[0].index = (levels[0].index + 1) % 8;
        merkle_poseidon_root(&root, &columns[leaf], levels, 2);
        assert_memory_not_equal(&root, &tree_c[72], 32);
    }
}

/* Mixed arities, as in the tree of 32 KiB (8, 8, 8, 2): the path agrees with hashing level by level. */
static void compound_paths(void **state) {
    (void)state;
    static const uint32_t arity[] = {8, 8, 8, 2}, index[] = {7, 0, 3, 1};
    fr_repr hashes[22], root, node = data[5];
    c1_level levels[4];
    for (size_t i = 0; i < 22; i++) hashes[i] = labels[i][1];
    const fr_repr *at = hashes;
    for (size_t i = 0; i < 4; i++) {
        levels[i] = (c1_level){.index = index[i], .arity = arity[i], .hashes = at};
        fr_repr children[8];
        for (uint32_t j = 0; j < arity[i]; j++) children[j] = j == index[i] ? node : *at++;
        merkle_poseidon_node(&node, children, arity[i]);
    }
    merkle_poseidon_root(&root, &data[5], levels, 4);
    assert_memory_equal(&root, &node, 32);
    assert_int_equal(merkle_leaf_index(levels, 4), 7 + 8 * 0 + 64 * 3 + 512 * 1);
    merkle_poseidon_root(&root, &data[5], levels, 0);
    assert_memory_equal(&root, &data[5], 32);
}

static void encoding_wraps(void **state) {
    (void)state;
    fr_repr largest = FR_MODULUS, one = {{1, 0, 0, 0}}, out;
    largest.l[0] -= 1;
    encode_node(&out, &largest, &one);
    static const fr_repr zero;
    assert_memory_equal(&out, &zero, 32);
    encode_node(&out, &largest, &largest);
    largest.l[0] -= 1;
    assert_memory_equal(&out, &largest, 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_match),   cmocka_unit_test(replica_matches),
        cmocka_unit_test(trees_match),    cmocka_unit_test(paths_lead_to_the_root),
        cmocka_unit_test(compound_paths), cmocka_unit_test(encoding_wraps),
    };
    return cmocka_run_group_tests(tests, seal, NULL);
}
