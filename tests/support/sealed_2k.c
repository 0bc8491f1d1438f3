#include "sealed_2k.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filecoin/c1_store.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/label.h"
#include "filecoin/merkle.h"
#include "fixture.h"

void sealed_2k_read(sealed_2k *s, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "c1/%s/meta.json", name);
    yajl_val meta = fixture_json(path);
    s->proof = registered_porep_by_name(json_str(meta, "registered_proof"));
    hex_decode((uint8_t *)&s->replica_id, json_str(meta, "replica_id"), 32);
    hex_decode(s->ticket, json_str(meta, "ticket"), 32);
    hex_decode(s->seed, json_str(meta, "seed"), 32);
    yajl_tree_free(meta);
    size_t size;
    char *bytes = fixture_read("c1/2k-v1_1/unsealed", &size); /* all fixtures of this size hold this data */
    assert_int_equal(size, sizeof s->data);
    memcpy(s->data, bytes, size);
    free(bytes);
}

static void parents_of(uint32_t out[PARENT_DEGREE], const sealed_2k *s, uint32_t node) {
    graph g;
    graph_for(&g, s->proof);
    graph_base_parents(out, &g, node);
    graph_expander_parents(out + DRG_DEGREE, &g, node);
}

static void gather_parents(fr_repr out[LABEL_PARENTS], const sealed_2k *s, uint32_t node, uint32_t layer) {
    uint32_t parents[PARENT_DEGREE];
    fr_repr base[DRG_DEGREE], expander[EXPANDER_DEGREE];
    parents_of(parents, s, node);
    for (size_t i = 0; i < DRG_DEGREE; i++) base[i] = s->labels[parents[i]][layer - 1];
    if (layer > 1)
        for (size_t i = 0; i < EXPANDER_DEGREE; i++)
            expander[i] = s->labels[parents[DRG_DEGREE + i]][layer - 2];
    label_parents(out, layer, base, layer > 1 ? expander : NULL);
}

void sealed_2k_label(sealed_2k *s) {
    for (uint32_t layer = 1; layer <= SEALED_LAYERS; layer++)
        for (uint32_t node = 0; node < SEALED_NODES; node++) {
            fr_repr parents[LABEL_PARENTS];
            if (node) gather_parents(parents, s, node, layer);
            label_create(&s->labels[node][layer - 1], &s->replica_id, layer, node, node ? parents : NULL);
        }
}

void sealed_2k_encode(sealed_2k *s) {
    for (size_t node = 0; node < SEALED_NODES; node++) {
        column_hash(&s->columns[node], s->labels[node], SEALED_LAYERS);
        encode_node(&s->replica[node], &s->labels[node][SEALED_LAYERS - 1], &s->data[node]);
    }
}

void sealed_2k_commit(sealed_2k *s) {
    memcpy(s->tree_d, s->data, sizeof s->data);
    for (size_t i = 0; SEALED_NODES + i < SEALED_TREE_D; i++)
        merkle_sha256_node(&s->tree_d[SEALED_NODES + i], &s->tree_d[2 * i], &s->tree_d[2 * i + 1]);
    memcpy(s->tree_c, s->columns, sizeof s->columns);
    memcpy(s->tree_r_last, s->replica, sizeof s->replica);
    for (size_t i = 0; SEALED_NODES + i < SEALED_TREE_R; i++) {
        merkle_poseidon_node(&s->tree_c[SEALED_NODES + i], &s->tree_c[8 * i], 8);
        merkle_poseidon_node(&s->tree_r_last[SEALED_NODES + i], &s->tree_r_last[8 * i], 8);
    }
    comm_r_of(&s->comm_r, &s->tree_c[SEALED_TREE_R - 1], &s->tree_r_last[SEALED_TREE_R - 1]);
}

static void open_path(c1_merkle_proof *proof, const fr_repr *tree, uint32_t node) {
    size_t start = 0, width = SEALED_NODES, at = node;
    proof->leaf = tree[node];
    for (uint32_t i = 0; i < proof->depth; i++) {
        c1_level *level = (c1_level *)&proof->levels[i];
        fr_repr *hashes = (fr_repr *)level->hashes;
        level->index = (uint32_t)(at % level->arity);
        for (size_t k = 0; k < level->arity; k++)
            if (k != level->index) *hashes++ = tree[start + at - level->index + k];
        start += width;
        width /= level->arity;
        at /= level->arity;
    }
    proof->root = tree[start];
}

static void open_column(c1_column_proof *column, const sealed_2k *s, uint32_t node) {
    column->index = node;
    memcpy((fr_repr *)column->rows, s->labels[node], sizeof s->labels[node]);
    open_path(&column->inclusion_proof, s->tree_c, node);
}

static void open_label(c1_labeling_proof *proof, const sealed_2k *s, uint32_t node, uint32_t layer) {
    proof->layer_index = layer;
    proof->node = node;
    gather_parents((fr_repr *)proof->parents, s, node, layer);
}

c1 *sealed_2k_open(const sealed_2k *s) {
    c1 *c;
    assert_int_equal(c1_create(&c, NULL), CUZK_OK);
    c->proof = s->proof;
    c->sector = s->proof->sector;
    c->comm_d = s->tree_d[SEALED_TREE_D - 1];
    c->comm_r = s->comm_r;
    c->replica_id = s->replica_id;
    c->comm_r_last = s->tree_r_last[SEALED_TREE_R - 1];
    c->comm_c = s->tree_c[SEALED_TREE_R - 1];
    memcpy(c->seed, s->seed, sizeof c->seed);
    memcpy(c->ticket, s->ticket, sizeof c->ticket);
    porep_statement statement = {
        .proof = c->proof, .replica_id = c->replica_id, .comm_d = c->comm_d, .comm_r = c->comm_r};
    memcpy(statement.seed, c->seed, sizeof statement.seed);

    for (unsigned k = 0; k < registered_porep_partitions(s->proof); k++) {
        c1_challenge *challenges;
        uint64_t nodes[POREP_MAX_CHALLENGES];
        assert_int_equal(c1_add_partition(&challenges, c, NULL), CUZK_OK);
        porep_challenges(nodes, &statement, k);
        for (uint32_t i = 0; i < c->challenges; i++) {
            c1_challenge *o = &challenges[i];
            uint32_t node = (uint32_t)nodes[i], parents[PARENT_DEGREE];
            parents_of(parents, s, node);
            open_path(&o->comm_d_proof, s->tree_d, node);
            open_path(&o->comm_r_last_proof, s->tree_r_last, node);
            open_column(&o->c_x, s, node);
            for (size_t p = 0; p < DRG_DEGREE; p++) open_column(&o->drg_parents[p], s, parents[p]);
            for (size_t p = 0; p < EXPANDER_DEGREE; p++)
                open_column(&o->exp_parents[p], s, parents[DRG_DEGREE + p]);
            for (uint32_t layer = 1; layer <= SEALED_LAYERS; layer++)
                open_label((c1_labeling_proof *)&o->labeling_proofs[layer - 1], s, node, layer);
            open_label(&o->encoding_proof, s, node, SEALED_LAYERS);
        }
    }
    return c;
}
