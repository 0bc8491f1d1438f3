/* A block is laid out as challenges, labeling proofs, levels, digests, each kind of thing together. Its size
 * is the sum of the counts, and shaping it takes things from the four parts in turn. */
#include "filecoin/c1_store.h"

#include <stdlib.h>

#include "base/mem.h"

#define COLUMNS (1u + DRG_DEGREE + EXPANDER_DEGREE)

typedef struct c1_store {
    c1 c; /* first: a c1 is its store */
    c1_partition partition[POREP_MAX_PARTITIONS];
    size_t block_bytes;
} c1_store;

/* The parts of a block not given out yet. */
typedef struct parts {
    c1_challenge *challenges;
    c1_labeling_proof *labeling_proofs;
    c1_level *levels;
    fr_repr *digests;
} parts;

static c1_tree_kind tree_kind(const sector_shape *s) {
    return s->top_arity ? C1_TOP : s->sub_arity ? C1_SUB : C1_SINGLE;
}

/* Where each part of a block of this shape begins, in bytes from its start; returns the size of the block. */
static size_t block_layout(size_t *labeling_proofs, size_t *levels, size_t *digests, const sector_shape *s) {
    size_t path_hashes = 0;
    for (unsigned i = 0; i < s->depth; i++) path_hashes += sector_level_arity(s, i) - 1;
    size_t n_levels = s->log_nodes + (COLUMNS + 1) * (size_t)s->depth;
    size_t n_digests = s->log_nodes + (COLUMNS + 1) * path_hashes + COLUMNS * (size_t)s->layers +
                       (s->layers + 1) * (size_t)LABEL_PARENTS;
    *labeling_proofs = s->challenges * sizeof(c1_challenge);
    *levels = *labeling_proofs + s->challenges * s->layers * sizeof(c1_labeling_proof);
    *digests = *levels + s->challenges * n_levels * sizeof(c1_level);
    return *digests + s->challenges * n_digests * sizeof(fr_repr);
}

/* A path with `depth` levels of the sector's tree, or of a binary tree when sector is NULL. */
static void shape_path(c1_merkle_proof *proof, parts *p, const sector_shape *sector, unsigned depth) {
    proof->kind = sector ? tree_kind(sector) : C1_SINGLE;
    proof->depth = depth;
    proof->levels = p->levels;
    for (unsigned i = 0; i < depth; i++) {
        unsigned arity = sector ? sector_level_arity(sector, i) : 2;
        *p->levels++ = (c1_level){.arity = arity, .hashes = p->digests};
        p->digests += arity - 1;
    }
}

static void shape_column(c1_column_proof *column, parts *p, const sector_shape *sector) {
    column->rows = p->digests;
    p->digests += sector->layers;
    shape_path(&column->inclusion_proof, p, sector, sector->depth);
}

static void shape_labeling(c1_labeling_proof *proof, parts *p) {
    proof->parents = p->digests;
    p->digests += LABEL_PARENTS;
}

static void shape_challenge(c1_challenge *c, parts *p, const sector_shape *sector) {
    shape_path(&c->comm_d_proof, p, NULL, sector->log_nodes);
    shape_path(&c->comm_r_last_proof, p, sector, sector->depth);
    shape_column(&c->c_x, p, sector);
    for (unsigned i = 0; i < DRG_DEGREE; i++) shape_column(&c->drg_parents[i], p, sector);
    for (unsigned i = 0; i < EXPANDER_DEGREE; i++) shape_column(&c->exp_parents[i], p, sector);
    c->labeling_proofs = p->labeling_proofs;
    for (unsigned i = 0; i < sector->layers; i++) shape_labeling(p->labeling_proofs++, p);
    shape_labeling(&c->encoding_proof, p);
}

cuzk_code c1_create(c1 **out, cuzk_error *err) {
    c1_store *store = calloc(1, sizeof *store);
    *out = NULL;
    if (!store) return error_no_memory(err, sizeof *store, "vanilla proofs");
    store->c.partition = store->partition;
    *out = &store->c;
    return CUZK_OK;
}

cuzk_code c1_add_partition(c1_challenge **out, c1 *c, cuzk_error *err) {
    c1_store *store = (c1_store *)c;
    size_t labeling_proofs, levels, digests;
    size_t bytes = block_layout(&labeling_proofs, &levels, &digests, c->sector);
    void *memory;
    TRY(mem_big_alloc(&memory, bytes, "vanilla proofs", err));
    char *block = memory;
    parts p = {(c1_challenge *)block, (c1_labeling_proof *)(block + labeling_proofs),
               (c1_level *)(block + levels), (fr_repr *)(block + digests)};
    *out = p.challenges;
    for (unsigned i = 0; i < c->sector->challenges; i++) shape_challenge(p.challenges++, &p, c->sector);
    store->block_bytes = bytes;
    c->challenges = c->sector->challenges;
    store->partition[c->partitions++].challenges = *out;
    return CUZK_OK;
}

void c1_free(c1 *c) {
    if (!c) return;
    for (uint32_t i = 0; i < c->partitions; i++)
        mem_big_free((void *)c->partition[i].challenges, ((c1_store *)c)->block_bytes);
    free(c);
}

const char *c1_tree_kind_name(c1_tree_kind kind) {
    static const char *const names[] = {"Single", "Sub", "Top"};
    return names[kind];
}
