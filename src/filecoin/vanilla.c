/*
 * The challenges are independent, so they are the pieces of one parallel loop. The checks inside a challenge
 * go from what the commitments authenticate (paths) to what must agree with it (columns, labels, encoding):
 * so a wrong value is found where it stands, not where its consequences show.
 */
#include "filecoin/vanilla.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/hex.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/label.h"
#include "filecoin/merkle.h"
#include "filecoin/replica_id.h"

#define WHERE_SIZE 96u /* of a field's path below its challenge */

typedef enum tree { TREE_D, TREE_C, TREE_R_LAST } tree;

/* A challenge under verification. */
typedef struct opening {
    const c1 *c;
    const c1_challenge *proof;
    unsigned partition, challenge;
    uint32_t node; /* the challenged one */
    cuzk_error *err;
} opening;

/* Hex digits of a digest, for one message. */
typedef struct digits {
    char text[65];
} digits;

static digits digits_of(const void *bytes) {
    digits d;
    hex_write(d.text, bytes, 32);
    return d;
}

static bool is_zero(const void *bytes) {
    static const uint8_t zero[32];
    return memcmp(bytes, zero, sizeof zero) == 0;
}

static bool same(const fr_repr *a, const fr_repr *b) {
    return fr_repr_cmp(a, b) == 0;
}

static cuzk_code __attribute__((format(printf, 3, 4)))
fail(const opening *o, const char *where, const char *format, ...) {
    char path[256], message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(path, sizeof path, "vanilla_proofs.%s[%u][%u].%s", o->c->sector->tag, o->partition, o->challenge,
             where);
    return error_set(o->err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "%s", message);
}

/* ---- Merkle paths ---- */

static cuzk_code check_elements(const opening *o, const char *where, const fr_repr *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!fr_repr_is_valid(&values[i]))
            return fail(o, where, "found %s, expected a little-endian number below the scalar modulus",
                        digits_of(&values[i]).text);
    return CUZK_OK;
}

static cuzk_code check_shape(const opening *o, const char *where, tree kind, const c1_merkle_proof *proof) {
    const sector_shape *sector = o->c->sector;
    const unsigned depth = kind == TREE_D ? sector->log_nodes : sector->depth;
    c1_tree_kind expected = C1_SINGLE;
    if (kind != TREE_D && sector->sub_arity) expected = sector->top_arity ? C1_TOP : C1_SUB;
    if (proof->kind != expected)
        return fail(o, where, "found a tree of kind %d, expected kind %d (0 single, 1 sub, 2 top)",
                    (int)proof->kind, (int)expected);
    if (proof->depth != depth)
        return fail(o, where, "found a path of %" PRIu32 " levels, expected %u", proof->depth, depth);
    TRY(check_elements(o, where, &proof->leaf, 1));
    for (unsigned i = 0; i < depth; i++) {
        const c1_level *level = &proof->levels[i];
        const unsigned arity = kind == TREE_D ? 2 : sector_level_arity(sector, i);
        if (level->arity != arity)
            return fail(o, where, "level %u has %" PRIu32 " nodes, expected %u", i, level->arity, arity);
        if (level->index >= arity)
            return fail(o, where, "level %u has index %" PRIu32 ", expected one below %u", i, level->index,
                        arity);
        TRY(check_elements(o, where, level->hashes, arity - 1));
    }
    return CUZK_OK;
}

/* The proof has the tree's shape, is for `node`, and both its root and its path's end are the tree's root. */
static cuzk_code check_path(const opening *o, const char *where, tree kind, const c1_merkle_proof *proof,
                            uint32_t node) {
    static const char *const names[] = {
        [TREE_D] = "comm_d", [TREE_C] = "comm_c", [TREE_R_LAST] = "comm_r_last"};
    const fr_repr *const roots[] = {
        [TREE_D] = &o->c->comm_d, [TREE_C] = &o->c->comm_c, [TREE_R_LAST] = &o->c->comm_r_last};
    TRY(check_shape(o, where, kind, proof));
    if (!same(&proof->root, roots[kind]))
        return fail(o, where, "found root %s, expected %s %s", digits_of(&proof->root).text, names[kind],
                    digits_of(roots[kind]).text);
    uint64_t leaf = merkle_leaf_index(proof->levels, proof->depth);
    if (leaf != node)
        return fail(o, where, "the path starts at node %" PRIu64 ", expected node %" PRIu32, leaf, node);
    fr_repr root;
    if (kind == TREE_D)
        merkle_sha256_root(&root, &proof->leaf, proof->levels, proof->depth);
    else
        merkle_poseidon_root(&root, &proof->leaf, proof->levels, proof->depth);
    if (!same(&root, roots[kind]))
        return fail(o, where, "the path leads to %s, expected %s %s", digits_of(&root).text, names[kind],
                    digits_of(roots[kind]).text);
    return CUZK_OK;
}

/* ---- Columns ---- */

static cuzk_code check_column(const opening *o, const char *name, const c1_column_proof *column,
                              uint32_t node) {
    const unsigned layers = o->c->sector->layers;
    char where[WHERE_SIZE];
    snprintf(where, sizeof where, "replica_column_proofs.%s.column.index", name);
    if (column->index != node)
        return fail(o, where, "found node %" PRIu32 ", expected node %" PRIu32, column->index, node);
    snprintf(where, sizeof where, "replica_column_proofs.%s.inclusion_proof", name);
    TRY(check_path(o, where, TREE_C, &column->inclusion_proof, node));
    snprintf(where, sizeof where, "replica_column_proofs.%s.column.rows", name);
    TRY(check_elements(o, where, column->rows, layers));
    fr_repr hash;
    column_hash(&hash, column->rows, layers);
    if (!same(&hash, &column->inclusion_proof.leaf))
        return fail(o, where, "the %u labels hash to %s, expected the leaf %s of the inclusion proof", layers,
                    digits_of(&hash).text, digits_of(&column->inclusion_proof.leaf).text);
    return CUZK_OK;
}

static cuzk_code check_columns(const opening *o, const graph *g) {
    const c1_challenge *proof = o->proof;
    uint32_t base[DRG_DEGREE], expander[EXPANDER_DEGREE];
    char name[32];
    TRY(check_column(o, "c_x", &proof->c_x, o->node));
    graph_base_parents(base, g, o->node);
    for (unsigned i = 0; i < DRG_DEGREE; i++) {
        snprintf(name, sizeof name, "drg_parents[%u]", i);
        TRY(check_column(o, name, &proof->drg_parents[i], base[i]));
    }
    graph_expander_parents(expander, g, o->node);
    for (unsigned i = 0; i < EXPANDER_DEGREE; i++) {
        snprintf(name, sizeof name, "exp_parents[%u]", i);
        TRY(check_column(o, name, &proof->exp_parents[i], expander[i]));
    }
    return CUZK_OK;
}

/* ---- Labels and encoding ---- */

/* The labels that a labeling proof of `layer` must show, from the columns of the parents. */
static void expected_parents(fr_repr out[LABEL_PARENTS], const c1_challenge *proof, uint32_t layer) {
    fr_repr base[DRG_DEGREE], expander[EXPANDER_DEGREE];
    for (unsigned i = 0; i < DRG_DEGREE; i++) base[i] = proof->drg_parents[i].rows[layer - 1];
    if (layer > 1)
        for (unsigned i = 0; i < EXPANDER_DEGREE; i++) expander[i] = proof->exp_parents[i].rows[layer - 2];
    label_parents(out, layer, base, expander);
}

/* A labeling or encoding proof: its numbers and parents, and the label of the challenged node they give. */
static cuzk_code check_label(const opening *o, const char *name, const c1_labeling_proof *proof,
                             uint32_t layer) {
    char where[WHERE_SIZE];
    fr_repr parents[LABEL_PARENTS], label;
    snprintf(where, sizeof where, "%s.layer_index", name);
    if (proof->layer_index != layer)
        return fail(o, where, "found layer %" PRIu32 ", expected %" PRIu32, proof->layer_index, layer);
    snprintf(where, sizeof where, "%s.node", name);
    if (proof->node != o->node)
        return fail(o, where, "found node %" PRIu64 ", expected the challenge %" PRIu32, proof->node,
                    o->node);
    expected_parents(parents, o->proof, layer);
    for (unsigned i = 0; i < LABEL_PARENTS; i++) {
        if (same(&proof->parents[i], &parents[i])) continue;
        snprintf(where, sizeof where, "%s.parents[%u]", name, i);
        return fail(o, where, "found label %s, expected %s, the one in the parent's column",
                    digits_of(&proof->parents[i]).text, digits_of(&parents[i]).text);
    }
    label_create(&label, &o->c->replica_id, layer, o->node, proof->parents);
    const fr_repr *row = &o->proof->c_x.rows[layer - 1];
    if (!same(&label, row))
        return fail(o, name, "the parents give label %s, but the column of node %" PRIu32 " has %s",
                    digits_of(&label).text, o->node, digits_of(row).text);
    return CUZK_OK;
}

static cuzk_code check_encoding(const opening *o) {
    const c1_challenge *proof = o->proof;
    const fr_repr *label = &proof->c_x.rows[o->c->sector->layers - 1];
    fr_repr encoded;
    TRY(check_label(o, "encoding_proof", &proof->encoding_proof, o->c->sector->layers));
    encode_node(&encoded, label, &proof->comm_d_proof.leaf);
    if (!same(&encoded, &proof->comm_r_last_proof.leaf))
        return fail(o, "encoding_proof", "label plus data is %s, but the replica's node %" PRIu32 " is %s",
                    digits_of(&encoded).text, o->node, digits_of(&proof->comm_r_last_proof.leaf).text);
    return CUZK_OK;
}

static cuzk_code check_opening(const opening *o, const graph *g) {
    const c1_challenge *proof = o->proof;
    TRY(check_path(o, "comm_d_proofs", TREE_D, &proof->comm_d_proof, o->node));
    TRY(check_path(o, "comm_r_last_proof", TREE_R_LAST, &proof->comm_r_last_proof, o->node));
    TRY(check_columns(o, g));
    for (uint32_t layer = 1; layer <= o->c->sector->layers; layer++) {
        char name[32];
        snprintf(name, sizeof name, "labeling_proofs[%" PRIu32 "]", layer - 1);
        TRY(check_label(o, name, &proof->labeling_proofs[layer - 1], layer));
    }
    return check_encoding(o);
}

/* ---- The whole C1 ---- */

static cuzk_code check_field(const char *name, const fr_repr *value, bool may_be_zero, cuzk_error *err) {
    if (!may_be_zero && is_zero(value))
        return error_set(err, CUZK_ERR_INPUT, name, CUZK_NO_OFFSET, "found 32 zero bytes");
    if (!fr_repr_is_valid(value))
        return error_set(err, CUZK_ERR_INPUT, name, CUZK_NO_OFFSET,
                         "found %s, expected a little-endian number below the scalar modulus",
                         digits_of(value).text);
    return CUZK_OK;
}

static cuzk_code check_header(const c1 *c, cuzk_error *err) {
    if (!c->proof || c->sector != c->proof->sector)
        return error_set(err, CUZK_ERR_INPUT, "registered_proof", CUZK_NO_OFFSET, "missing");
    const unsigned partitions = registered_porep_partitions(c->proof);
    if (c->partitions != partitions)
        return error_set(err, CUZK_ERR_INPUT, "vanilla_proofs", CUZK_NO_OFFSET,
                         "found %" PRIu32 " partitions, expected %u", c->partitions, partitions);
    if (c->challenges != c->sector->challenges)
        return error_set(err, CUZK_ERR_INPUT, "vanilla_proofs", CUZK_NO_OFFSET,
                         "found %" PRIu32 " challenges in a partition, expected %u", c->challenges,
                         c->sector->challenges);
    TRY(check_field("comm_r", &c->comm_r, false, err));
    TRY(check_field("comm_d", &c->comm_d, false, err));
    TRY(check_field("replica_id", &c->replica_id, true, err));
    if (is_zero(c->seed))
        return error_set(err, CUZK_ERR_INPUT, "seed", CUZK_NO_OFFSET, "found 32 zero bytes");
    TRY(check_field("comm_c", &c->comm_c, true, err));
    TRY(check_field("comm_r_last", &c->comm_r_last, true, err));
    fr_repr comm_r;
    comm_r_of(&comm_r, &c->comm_c, &c->comm_r_last);
    if (!same(&comm_r, &c->comm_r))
        return error_set(err, CUZK_ERR_INPUT, "comm_r", CUZK_NO_OFFSET,
                         "found %s, expected %s, the hash of comm_c %s and comm_r_last %s",
                         digits_of(&c->comm_r).text, digits_of(&comm_r).text, digits_of(&c->comm_c).text,
                         digits_of(&c->comm_r_last).text);
    return CUZK_OK;
}

typedef struct verification {
    const c1 *c;
    graph g;
    porep_statement statement;
    const cuzk_progress *progress;
    pthread_mutex_t mutex; /* for what follows */
    size_t done;
    size_t first_bad;  /* number of the challenge `error` is about; SIZE_MAX when none is known */
    cuzk_code stopped; /* CUZK_ERR_CANCELLED once asked to stop */
    cuzk_error error;
} verification;

static void verify_one(verification *v, size_t number) {
    pthread_mutex_lock(&v->mutex);
    bool skip = v->stopped != CUZK_OK || number > v->first_bad;
    pthread_mutex_unlock(&v->mutex);
    if (skip) return;

    cuzk_error error;
    uint64_t challenges[POREP_MAX_CHALLENGES];
    opening o = {.c = v->c,
                 .partition = (unsigned)(number / v->c->challenges),
                 .challenge = (unsigned)(number % v->c->challenges),
                 .err = &error};
    porep_challenges(challenges, &v->statement, o.partition);
    o.node = (uint32_t)challenges[o.challenge];
    o.proof = &v->c->partition[o.partition].challenges[o.challenge];
    cuzk_code code = check_opening(&o, &v->g);

    pthread_mutex_lock(&v->mutex);
    v->done++;
    if (code != CUZK_OK && number < v->first_bad) {
        v->first_bad = number;
        v->error = error;
    } else if (code == CUZK_OK && v->first_bad == SIZE_MAX && v->stopped == CUZK_OK) {
        v->stopped = progress_report(v->progress, "vanilla", v->done,
                                     (uint64_t)v->c->partitions * v->c->challenges, &v->error);
    }
    pthread_mutex_unlock(&v->mutex);
}

static void verify_range(void *ctx, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) verify_one(ctx, i);
}

void porep_statement_of(porep_statement *out, const c1 *c) {
    *out = (porep_statement){
        .proof = c->proof, .replica_id = c->replica_id, .comm_d = c->comm_d, .comm_r = c->comm_r};
    memcpy(out->seed, c->seed, sizeof out->seed);
}

cuzk_code vanilla_verify(const c1 *c, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    TRY(check_header(c, err));
    verification v = {.c = c, .progress = progress, .first_bad = SIZE_MAX};
    porep_statement_of(&v.statement, c);
    graph_for(&v.g, c->proof);
    pthread_mutex_init(&v.mutex, NULL);
    pool_for(p, (size_t)c->partitions * c->challenges, 1, verify_range, &v);
    pthread_mutex_destroy(&v.mutex);
    if (v.first_bad == SIZE_MAX && v.stopped == CUZK_OK) return pool_check(p, err);
    if (err) *err = v.error;
    return v.error.code;
}

cuzk_code vanilla_check_replica_id(const c1 *c, uint64_t miner_id, uint64_t sector_num, cuzk_error *err) {
    uint8_t prover_id[32], porep_id[32];
    fr_repr expected;
    prover_id_of(prover_id, miner_id);
    porep_id_of(porep_id, c->proof->id);
    replica_id_of(&expected, prover_id, sector_num, c->ticket, c1_bytes(&c->comm_d), porep_id);
    if (same(&expected, &c->replica_id)) return CUZK_OK;
    return error_set(err, CUZK_ERR_INPUT, "replica_id", CUZK_NO_OFFSET,
                     "found %s, expected %s for miner %" PRIu64 ", sector %" PRIu64
                     ", ticket %s, comm_d %s and %s",
                     digits_of(&c->replica_id).text, digits_of(&expected).text, miner_id, sector_num,
                     digits_of(c->ticket).text, digits_of(&c->comm_d).text, c->proof->name);
}
