/*
 * A whole 2 KiB sector sealed again from its data: labels, columns, replica, trees and commitments must be
 * those in the reference's files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filecoin/c1_write.h"
#include "filecoin/label.h"
#include "filecoin/merkle.h"
#include "fixture.h"
#include "sealed_2k.h"

static sealed_2k sector;

static int seal(void **state) {
    (void)state;
    sealed_2k_read(&sector, "2k-v1_1");
    sealed_2k_label(&sector);
    sealed_2k_encode(&sector);
    sealed_2k_commit(&sector);
    return 0;
}

static void read_nodes(fr_repr *out, const char *name, size_t nodes) {
    size_t size;
    char *bytes = fixture_read(name, &size);
    assert_int_equal(size, 32 * nodes);
    memcpy(out, bytes, size);
    free(bytes);
}

static void layers_match(void **state) {
    (void)state;
    fr_repr expected[SEALED_NODES];
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-layer-1.dat", SEALED_NODES);
    for (size_t i = 0; i < SEALED_NODES; i++) assert_memory_equal(&sector.labels[i][0], &expected[i], 32);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-layer-2.dat", SEALED_NODES);
    for (size_t i = 0; i < SEALED_NODES; i++) assert_memory_equal(&sector.labels[i][1], &expected[i], 32);
}

static void replica_matches(void **state) {
    (void)state;
    fr_repr expected[SEALED_NODES];
    read_nodes(expected, "c1/2k-v1_1/sealed", SEALED_NODES);
    assert_memory_equal(sector.replica, expected, sizeof expected);
}

static void trees_match(void **state) {
    (void)state;
    fr_repr expected[SEALED_TREE_D];
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-tree-d.dat", SEALED_TREE_D);
    assert_memory_equal(sector.tree_d, expected, sizeof sector.tree_d);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-tree-c.dat", SEALED_TREE_R);
    assert_memory_equal(sector.tree_c, expected, sizeof sector.tree_c);
    read_nodes(expected, "c1/2k-v1_1/cache/sc-02-data-tree-r-last.dat", 1); /* the root alone is kept */
    assert_memory_equal(&sector.tree_r_last[SEALED_TREE_R - 1], expected, 32);
    read_nodes(expected, "c1/2k-v1_1/cache/p_aux", 2); /* comm_c, comm_r_last */
    assert_memory_equal(&sector.tree_c[SEALED_TREE_R - 1], &expected[0], 32);
    assert_memory_equal(&sector.tree_r_last[SEALED_TREE_R - 1], &expected[1], 32);

    yajl_val meta = fixture_json("c1/2k-v1_1/meta.json");
    assert_hex((const uint8_t *)&sector.tree_d[SEALED_TREE_D - 1], 32, json_str(meta, "comm_d"));
    assert_hex((const uint8_t *)&sector.comm_r, 32, json_str(meta, "comm_r"));
    yajl_tree_free(meta);
}

/* The opened sector, written as JSON, is the reference's C1 byte for byte. */
static void openings_match(void **state) {
    (void)state;
    static const char *const names[] = {"2k-v1_1", "2k-synthetic"};
    for (size_t i = 0; i < 2; i++) {
        static sealed_2k s;
        sealed_2k_read(&s, names[i]);
        sealed_2k_label(&s);
        sealed_2k_encode(&s);
        sealed_2k_commit(&s);
        c1 *c = sealed_2k_open(&s);
        char path[64], *written;
        size_t size, written_size;
        snprintf(path, sizeof path, "c1/%s/c1.inner.json", names[i]);
        char *expected = fixture_read(path, &size);
        assert_int_equal(c1_write(&written, &written_size, c, C1_BARE, NULL), CUZK_OK);
        assert_int_equal(written_size, size);
        assert_memory_equal(written, expected, size);
        free(written);
        free(expected);
        c1_free(c);
    }
}

/* Every leaf's path leads to the root and tells the leaf's number; with another index it does neither. */
static void paths_lead_to_the_root(void **state) {
    (void)state;
    c1 *c = sealed_2k_open(&sector);
    const c1_challenge *o = &c->partition[0].challenges[0];
    c1_merkle_proof d = o->comm_d_proof, r = o->c_x.inclusion_proof;
    fr_repr root;
    merkle_sha256_root(&root, &d.leaf, d.levels, d.depth);
    assert_memory_equal(&root, &c->comm_d, 32);
    assert_int_equal(merkle_leaf_index(d.levels, d.depth), o->c_x.index);
    merkle_poseidon_root(&root, &r.leaf, r.levels, r.depth);
    assert_memory_equal(&root, &c->comm_c, 32);
    assert_int_equal(merkle_leaf_index(r.levels, r.depth), o->c_x.index);

    ((c1_level *)d.levels)[3].index ^= 1;
    merkle_sha256_root(&root, &d.leaf, d.levels, d.depth);
    assert_memory_not_equal(&root, &c->comm_d, 32);
    assert_int_equal(merkle_leaf_index(d.levels, d.depth), o->c_x.index ^ 8);
    ((c1_level *)r.levels)[0].index ^= 1;
    merkle_poseidon_root(&root, &r.leaf, r.levels, r.depth);
    assert_memory_not_equal(&root, &c->comm_c, 32);
    c1_free(c);
}

/* Mixed arities, as in the tree of 32 KiB (8, 8, 8, 2): the path agrees with hashing level by level. */
static void compound_paths(void **state) {
    (void)state;
    static const uint32_t arity[] = {8, 8, 8, 2}, index[] = {7, 0, 3, 1};
    fr_repr hashes[22], root, node = sector.data[5];
    c1_level levels[4];
    for (size_t i = 0; i < 22; i++) hashes[i] = sector.labels[i][1];
    const fr_repr *at = hashes;
    for (size_t i = 0; i < 4; i++) {
        levels[i] = (c1_level){.index = index[i], .arity = arity[i], .hashes = at};
        fr_repr children[8];
        for (uint32_t j = 0; j < arity[i]; j++) children[j] = j == index[i] ? node : *at++;
        merkle_poseidon_node(&node, children, arity[i]);
    }
    merkle_poseidon_root(&root, &sector.data[5], levels, 4);
    assert_memory_equal(&root, &node, 32);
    assert_int_equal(merkle_leaf_index(levels, 4), 7 + 8 * 0 + 64 * 3 + 512 * 1);
    merkle_poseidon_root(&root, &sector.data[5], levels, 0);
    assert_memory_equal(&root, &sector.data[5], 32);
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
        cmocka_unit_test(layers_match),
        cmocka_unit_test(replica_matches),
        cmocka_unit_test(trees_match),
        cmocka_unit_test(openings_match),
        cmocka_unit_test(paths_lead_to_the_root),
        cmocka_unit_test(compound_paths),
        cmocka_unit_test(encoding_wraps),
    };
    return cmocka_run_group_tests(tests, seal, NULL);
}
