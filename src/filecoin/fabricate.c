/*
 * The opened nodes are the challenges and their parents. A parent's labels are arbitrary; a challenge's
 * follow from its parents', layer by layer. tree-c and tree-r-last are kept sparse: per level, the nodes
 * above opened leaves, in order of their index. Any other node a path needs is arbitrary, but the same
 * wherever it is needed. tree-d has equal leaves, so one node per level: its root must be known before the
 * challenges are.
 *
 * Arbitrary means SHA-256 of the variant, what is asked for, and where.
 */
#include "filecoin/fabricate.h"

#include <stdlib.h>

#include "filecoin/bytes.h"
#include "filecoin/c1_store.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/label.h"
#include "filecoin/merkle.h"
#include "filecoin/replica_id.h"
#include "hash/digest.h"

enum { VALUE_DATA, VALUE_LABEL, VALUE_TREE_C, VALUE_TREE_R_LAST, VALUE_SEED, VALUE_TICKET };

typedef struct sparse_node {
    uint64_t index;
    fr_repr value;
} sparse_node;

/* Levels 0 (leaves) .. depth (root) one after the other in `nodes`. */
typedef struct sparse_tree {
    unsigned kind; /* of its arbitrary values */
    sparse_node *nodes;
    size_t start[SECTOR_MAX_DEPTH + 2];
} sparse_tree;

typedef struct opened_node {
    uint32_t node;
    bool challenged;
    fr_repr labels[SECTOR_MAX_LAYERS];
} opened_node;

typedef struct fabrication {
    c1 *c;
    uint64_t variant;
    pool *p;
    graph g;
    uint64_t challenges[POREP_MAX_PARTITIONS * POREP_MAX_CHALLENGES];
    size_t challenge_count;
    opened_node *opened; /* by ascending node */
    size_t opened_count;
    fr_repr tree_d[64]; /* the node of each level */
    sparse_tree tree_c, tree_r_last;
} fabrication;

static fr_repr arbitrary(const fabrication *f, uint64_t kind, uint64_t level, uint64_t index) {
    uint8_t text[32];
    fr_repr out;
    put_u64_le(text, f->variant);
    put_u64_le(text + 8, kind);
    put_u64_le(text + 16, level);
    put_u64_le(text + 24, index);
    sha256_to_field((uint8_t *)&out, text, sizeof text);
    return out;
}

/* ---- Opened nodes ---- */

static int compare_opened(const void *a, const void *b) {
    uint32_t x = ((const opened_node *)a)->node, y = ((const opened_node *)b)->node;
    if (x != y) return x < y ? -1 : 1;
    /* The challenged one first, so that it is the one kept. */
    return ((const opened_node *)b)->challenged - ((const opened_node *)a)->challenged;
}

static opened_node *find_opened(const fabrication *f, uint32_t node) {
    size_t low = 0, high = f->opened_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (f->opened[middle].node <= node)
            low = middle;
        else
            high = middle;
    }
    return &f->opened[low];
}

static cuzk_code list_opened(fabrication *f, cuzk_error *err) {
    const size_t most = f->challenge_count * (1 + PARENT_DEGREE);
    f->opened = calloc(most, sizeof *f->opened);
    if (!f->opened) return error_no_memory(err, most * sizeof *f->opened, "opened nodes");
    opened_node *at = f->opened;
    for (size_t i = 0; i < f->challenge_count; i++) {
        uint32_t node = (uint32_t)f->challenges[i], parents[PARENT_DEGREE];
        graph_base_parents(parents, &f->g, node);
        graph_expander_parents(parents + DRG_DEGREE, &f->g, node);
        *at++ = (opened_node){.node = node, .challenged = true};
        for (unsigned k = 0; k < PARENT_DEGREE; k++) *at++ = (opened_node){.node = parents[k]};
    }
    qsort(f->opened, most, sizeof *f->opened, compare_opened);
    for (size_t i = 0; i < most; i++)
        if (i == 0 || f->opened[i].node != f->opened[i - 1].node) f->opened[f->opened_count++] = f->opened[i];
    return CUZK_OK;
}

static void gather_parents(fr_repr out[LABEL_PARENTS], const fabrication *f, uint32_t node, uint32_t layer) {
    uint32_t base[DRG_DEGREE], expander[EXPANDER_DEGREE];
    fr_repr base_labels[DRG_DEGREE], expander_labels[EXPANDER_DEGREE];
    graph_base_parents(base, &f->g, node);
    for (unsigned k = 0; k < DRG_DEGREE; k++) base_labels[k] = find_opened(f, base[k])->labels[layer - 1];
    if (layer > 1) {
        graph_expander_parents(expander, &f->g, node);
        for (unsigned k = 0; k < EXPANDER_DEGREE; k++)
            expander_labels[k] = find_opened(f, expander[k])->labels[layer - 2];
    }
    label_parents(out, layer, base_labels, expander_labels);
}

static void make_labels(fabrication *f) {
    for (uint32_t layer = 1; layer <= f->c->sector->layers; layer++)
        for (size_t i = 0; i < f->opened_count; i++) {
            opened_node *o = &f->opened[i];
            fr_repr *label = &o->labels[layer - 1];
            if (o->challenged) {
                fr_repr parents[LABEL_PARENTS];
                gather_parents(parents, f, o->node, layer);
                label_create(label, &f->c->replica_id, layer, o->node, parents);
            } else {
                *label = arbitrary(f, VALUE_LABEL, layer, o->node);
            }
        }
}

/* ---- Trees ---- */

static fr_repr tree_value(const fabrication *f, const sparse_tree *t, unsigned level, uint64_t index) {
    size_t low = t->start[level], high = t->start[level + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->nodes[middle].index == index) return t->nodes[middle].value;
        if (t->nodes[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return arbitrary(f, t->kind, level, index);
}

typedef struct level_job {
    const fabrication *f;
    sparse_tree *t;
    unsigned level; /* of the nodes to compute, from 1 */
} level_job;

static void hash_nodes(void *ctx, size_t begin, size_t end) {
    const level_job *job = ctx;
    const unsigned arity = sector_level_arity(job->f->c->sector, job->level - 1);
    for (size_t i = begin; i < end; i++) {
        sparse_node *node = &job->t->nodes[job->t->start[job->level] + i];
        fr_repr children[TREE_BASE_ARITY];
        for (unsigned k = 0; k < arity; k++)
            children[k] = tree_value(job->f, job->t, job->level - 1, node->index * arity + k);
        merkle_poseidon_node(&node->value, children, arity);
    }
}

static cuzk_code tree_create(sparse_tree *t, unsigned kind, size_t leaves, const sector_shape *sector,
                             cuzk_error *err) {
    const size_t most = leaves * (sector->depth + 1); /* no level is wider than the one below */
    *t = (sparse_tree){.kind = kind, .nodes = calloc(most, sizeof *t->nodes)};
    if (!t->nodes) return error_no_memory(err, most * sizeof *t->nodes, "a sparse tree");
    return CUZK_OK;
}

/* The leaves are there; compute all levels above. */
static void tree_grow(const fabrication *f, sparse_tree *t, size_t leaves) {
    t->start[1] = leaves;
    for (unsigned level = 1; level <= f->c->sector->depth; level++) {
        const unsigned arity = sector_level_arity(f->c->sector, level - 1);
        size_t at = t->start[level];
        for (size_t i = t->start[level - 1]; i < t->start[level]; i++) {
            uint64_t index = t->nodes[i].index / arity;
            if (at == t->start[level] || t->nodes[at - 1].index != index) t->nodes[at++].index = index;
        }
        t->start[level + 1] = at;
        level_job job = {.f = f, .t = t, .level = level};
        pool_for(f->p, at - t->start[level], 16, hash_nodes, &job);
    }
}

static void hash_columns(void *ctx, size_t begin, size_t end) {
    const fabrication *f = ctx;
    for (size_t i = begin; i < end; i++) {
        f->tree_c.nodes[i].index = f->opened[i].node;
        column_hash(&f->tree_c.nodes[i].value, f->opened[i].labels, f->c->sector->layers);
    }
}

static cuzk_code make_trees(fabrication *f, cuzk_error *err) {
    const sector_shape *sector = f->c->sector;
    TRY(tree_create(&f->tree_c, VALUE_TREE_C, f->opened_count, sector, err));
    pool_for(f->p, f->opened_count, 16, hash_columns, f);
    TRY(pool_check(f->p, err));
    tree_grow(f, &f->tree_c, f->opened_count);

    TRY(tree_create(&f->tree_r_last, VALUE_TREE_R_LAST, f->challenge_count, sector, err));
    size_t leaves = 0;
    for (size_t i = 0; i < f->opened_count; i++) {
        const opened_node *o = &f->opened[i];
        if (!o->challenged) continue;
        sparse_node *leaf = &f->tree_r_last.nodes[leaves++];
        leaf->index = o->node;
        encode_node(&leaf->value, &o->labels[sector->layers - 1], &f->tree_d[0]);
    }
    tree_grow(f, &f->tree_r_last, leaves);
    f->c->comm_c = tree_value(f, &f->tree_c, sector->depth, 0);
    f->c->comm_r_last = tree_value(f, &f->tree_r_last, sector->depth, 0);
    comm_r_of(&f->c->comm_r, &f->c->comm_c, &f->c->comm_r_last);
    return CUZK_OK;
}

/* ---- Filling the C1, whose structs point to const ---- */

static void fill_data_path(const fabrication *f, c1_merkle_proof *proof, uint32_t node) {
    proof->root = f->c->comm_d;
    proof->leaf = f->tree_d[0];
    for (unsigned i = 0; i < proof->depth; i++) {
        ((c1_level *)proof->levels)[i].index = node >> i & 1;
        ((fr_repr *)proof->levels[i].hashes)[0] = f->tree_d[i];
    }
}

static void fill_path(const fabrication *f, c1_merkle_proof *proof, const sparse_tree *t, uint32_t node) {
    uint64_t index = node;
    proof->leaf = tree_value(f, t, 0, index);
    for (unsigned i = 0; i < proof->depth; i++) {
        c1_level *level = (c1_level *)&proof->levels[i];
        fr_repr *hashes = (fr_repr *)level->hashes;
        level->index = (uint32_t)(index % level->arity);
        index -= level->index;
        for (uint32_t k = 0; k < level->arity; k++)
            if (k != level->index) *hashes++ = tree_value(f, t, i, index + k);
        index /= level->arity;
    }
    proof->root = tree_value(f, t, proof->depth, 0);
}

static void fill_column(const fabrication *f, c1_column_proof *column, uint32_t node) {
    column->index = node;
    memcpy((fr_repr *)column->rows, find_opened(f, node)->labels,
           f->c->sector->layers * sizeof *column->rows);
    fill_path(f, &column->inclusion_proof, &f->tree_c, node);
}

static void fill_labeling(const fabrication *f, c1_labeling_proof *proof, uint32_t node, uint32_t layer) {
    proof->layer_index = layer;
    proof->node = node;
    gather_parents((fr_repr *)proof->parents, f, node, layer);
}

static void fill_challenge(const fabrication *f, c1_challenge *challenge, uint32_t node) {
    uint32_t parents[PARENT_DEGREE];
    const uint32_t layers = f->c->sector->layers;
    graph_base_parents(parents, &f->g, node);
    graph_expander_parents(parents + DRG_DEGREE, &f->g, node);
    fill_data_path(f, &challenge->comm_d_proof, node);
    fill_path(f, &challenge->comm_r_last_proof, &f->tree_r_last, node);
    fill_column(f, &challenge->c_x, node);
    for (unsigned i = 0; i < DRG_DEGREE; i++) fill_column(f, &challenge->drg_parents[i], parents[i]);
    for (unsigned i = 0; i < EXPANDER_DEGREE; i++)
        fill_column(f, &challenge->exp_parents[i], parents[DRG_DEGREE + i]);
    for (uint32_t layer = 1; layer <= layers; layer++)
        fill_labeling(f, (c1_labeling_proof *)&challenge->labeling_proofs[layer - 1], node, layer);
    fill_labeling(f, &challenge->encoding_proof, node, layers);
}

static void fill_range(void *ctx, size_t begin, size_t end) {
    const fabrication *f = ctx;
    for (size_t i = begin; i < end; i++) {
        const c1_partition *partition = &f->c->partition[i / f->c->challenges];
        fill_challenge(f, (c1_challenge *)&partition->challenges[i % f->c->challenges],
                       (uint32_t)f->challenges[i]);
    }
}

/* Everything known before the challenges are, and the challenges. */
static cuzk_code make_header(fabrication *f, const registered_porep *proof, uint64_t miner_id,
                             uint64_t sector_num, cuzk_error *err) {
    c1 *c = f->c;
    c->proof = proof;
    c->sector = proof->sector;
    c->has_sector_num = true;
    c->sector_num = sector_num;
    fr_repr seed = arbitrary(f, VALUE_SEED, 0, 0), ticket = arbitrary(f, VALUE_TICKET, 0, 0);
    memcpy(c->seed, &seed, sizeof c->seed);
    memcpy(c->ticket, &ticket, sizeof c->ticket);

    f->tree_d[0] = arbitrary(f, VALUE_DATA, 0, 0);
    for (unsigned i = 0; i < c->sector->log_nodes; i++)
        merkle_sha256_node(&f->tree_d[i + 1], &f->tree_d[i], &f->tree_d[i]);
    c->comm_d = f->tree_d[c->sector->log_nodes];

    uint8_t prover_id[32], porep_id[32];
    prover_id_of(prover_id, miner_id);
    porep_id_of(porep_id, proof->id);
    replica_id_of(&c->replica_id, prover_id, sector_num, c->ticket, c1_bytes(&c->comm_d), porep_id);

    graph_for(&f->g, proof);
    porep_statement statement = {.proof = proof, .replica_id = c->replica_id, .comm_d = c->comm_d};
    memcpy(statement.seed, c->seed, sizeof statement.seed);
    for (unsigned k = 0; k < registered_porep_partitions(proof); k++) {
        c1_challenge *unused;
        TRY(c1_add_partition(&unused, c, err));
        porep_challenges(&f->challenges[f->challenge_count], &statement, k);
        f->challenge_count += c->challenges;
    }
    return CUZK_OK;
}

static cuzk_code fabricate(fabrication *f, const registered_porep *proof, uint64_t miner_id,
                           uint64_t sector_num, cuzk_error *err) {
    TRY(c1_create(&f->c, err));
    TRY(make_header(f, proof, miner_id, sector_num, err));
    TRY(list_opened(f, err));
    make_labels(f);
    TRY(make_trees(f, err));
    pool_for(f->p, f->challenge_count, 1, fill_range, f);
    return pool_check(f->p, err);
}

cuzk_code c1_fabricate(c1 **out, const registered_porep *proof, uint64_t miner_id, uint64_t sector_num,
                       uint64_t variant, pool *p, cuzk_error *err) {
    *out = NULL;
    if (proof->feature != POREP_INTERACTIVE)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "found %s, expected an interactive registered proof: the challenges of any other "
                         "depend on the commitments",
                         proof->name);
    fabrication *f = calloc(1, sizeof *f);
    if (!f) return error_no_memory(err, sizeof *f, "fabricating vanilla proofs");
    f->variant = variant;
    f->p = p;
    cuzk_code code = fabricate(f, proof, miner_id, sector_num, err);
    if (code == CUZK_OK)
        *out = f->c;
    else
        c1_free(f->c);
    free(f->opened);
    free(f->tree_c.nodes);
    free(f->tree_r_last.nodes);
    free(f);
    return code;
}
