#include "c1_synthetic.h"

#include "filecoin/c1_store.h"

/* splitmix64 */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static fr_repr random_digest(uint64_t *state) {
    fr_repr d;
    for (int i = 0; i < 4; i++) d.l[i] = next(state);
    d.l[3] >>= 2;
    return d;
}

static void fill_digests(const fr_repr *digests, size_t count, uint64_t *state) {
    for (size_t i = 0; i < count; i++) ((fr_repr *)digests)[i] = random_digest(state);
}

static void fill_merkle_proof(c1_merkle_proof *proof, const fr_repr *root, uint64_t *state) {
    proof->root = *root;
    proof->leaf = random_digest(state);
    for (uint32_t i = 0; i < proof->depth; i++) {
        c1_level *level = (c1_level *)&proof->levels[i];
        level->index = (uint32_t)(next(state) % level->arity);
        fill_digests(level->hashes, level->arity - 1, state);
    }
}

static void fill_column(c1_column_proof *column, const c1 *c, uint64_t *state) {
    column->index = (uint32_t)(next(state) % c->sector->nodes);
    fill_digests(column->rows, c->sector->layers, state);
    fill_merkle_proof(&column->inclusion_proof, &c->comm_c, state);
}

static void fill_labeling(c1_labeling_proof *proof, uint32_t layer, uint64_t node, uint64_t *state) {
    proof->layer_index = layer;
    proof->node = node;
    fill_digests(proof->parents, LABEL_PARENTS, state);
}

static void fill_challenge(c1_challenge *challenge, const c1 *c, uint64_t *state) {
    uint64_t node = next(state) % c->sector->nodes;
    fill_merkle_proof(&challenge->comm_d_proof, &c->comm_d, state);
    fill_merkle_proof(&challenge->comm_r_last_proof, &c->comm_r_last, state);
    fill_column(&challenge->c_x, c, state);
    for (unsigned i = 0; i < DRG_DEGREE; i++) fill_column(&challenge->drg_parents[i], c, state);
    for (unsigned i = 0; i < EXPANDER_DEGREE; i++) fill_column(&challenge->exp_parents[i], c, state);
    for (unsigned i = 0; i < c->sector->layers; i++)
        fill_labeling((c1_labeling_proof *)&challenge->labeling_proofs[i], i + 1, node, state);
    fill_labeling(&challenge->encoding_proof, c->sector->layers, node, state);
}

c1 *c1_synthetic(const char *registered_proof, uint64_t seed) {
    c1 *c;
    if (c1_create(&c, NULL) != CUZK_OK) return NULL;
    c->proof = registered_porep_by_name(registered_proof);
    c->sector = c->proof->sector;
    c->has_sector_num = true;
    c->sector_num = next(&seed);
    fr_repr *const digests[] = {&c->comm_d, &c->comm_r, &c->replica_id, &c->comm_r_last, &c->comm_c};
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) *digests[i] = random_digest(&seed);
    for (int i = 0; i < 32; i++) {
        c->seed[i] = (uint8_t)next(&seed);
        c->ticket[i] = (uint8_t)next(&seed);
    }
    for (unsigned k = 0; k < registered_porep_partitions(c->proof); k++) {
        c1_challenge *challenges;
        if (c1_add_partition(&challenges, c, NULL) != CUZK_OK) {
            c1_free(c);
            return NULL;
        }
        for (uint32_t i = 0; i < c->challenges; i++) fill_challenge(&challenges[i], c, &seed);
    }
    return c;
}
