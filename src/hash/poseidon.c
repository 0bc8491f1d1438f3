/*
 * The optimised Poseidon permutation: one key addition after each S-box (none after the last), the dense
 * pre-sparse matrix at the end of round 3, and one sparse matrix per partial round, which costs 2t - 1
 * multiplications instead of t^2.
 */
#include "hash/poseidon.h"

#include "hash/poseidon_constants.h"

const poseidon_constants *poseidon_for(unsigned arity) {
    for (unsigned i = 0; i < POSEIDON_TABLE_SIZE; i++)
        if (poseidon_table[i].arity == arity) return &poseidon_table[i];
    return NULL;
}

void poseidon_tag_value(fr *out, poseidon_tag tag, unsigned arity) {
    fr_from_u64(out, tag == POSEIDON_GEN_RANDOMNESS ? (uint64_t)1 << 40 : ((uint64_t)1 << arity) - 1);
}

static void quintic(fr *s) {
    fr power;
    fr_sqr(&power, s);
    fr_sqr(&power, &power);
    fr_mul(s, s, &power);
}

/* s = s * m for a dense row-major matrix. */
static void mix_dense(fr *s, const fr *m, unsigned width) {
    fr next[POSEIDON_MAX_WIDTH];
    for (unsigned j = 0; j < width; j++) fr_mul(&next[j], &s[0], &m[j]);
    for (unsigned i = 1; i < width; i++) {
        for (unsigned j = 0; j < width; j++) {
            fr term;
            fr_mul(&term, &s[i], &m[i * width + j]);
            fr_add(&next[j], &next[j], &term);
        }
    }
    memcpy(s, next, width * sizeof *s);
}

/* The same for a sparse matrix: first column w_hat, first row beyond it v_rest, identity elsewhere. */
static void mix_sparse(fr *s, const fr *w_hat, const fr *v_rest, unsigned width) {
    fr first, term, old = s[0];
    fr_mul(&first, &old, &w_hat[0]);
    for (unsigned i = 1; i < width; i++) {
        fr_mul(&term, &s[i], &w_hat[i]);
        fr_add(&first, &first, &term);
        fr_mul(&term, &old, &v_rest[i - 1]);
        fr_add(&s[i], &s[i], &term);
    }
    s[0] = first;
}

void poseidon_hash(fr *out, const poseidon_constants *constants, poseidon_tag tag, const fr *preimage) {
    const unsigned width = constants->width, half = POSEIDON_FULL_ROUNDS / 2;
    const unsigned rounds = POSEIDON_FULL_ROUNDS + constants->partial_rounds;
    const fr *key = constants->keys, *sparse = constants->sparse;
    fr s[POSEIDON_MAX_WIDTH];

    poseidon_tag_value(&s[0], tag, constants->arity);
    memcpy(s + 1, preimage, constants->arity * sizeof *s);
    for (unsigned i = 0; i < width; i++) fr_add(&s[i], &s[i], key++);

    for (unsigned round = 0; round < rounds; round++) {
        if (round >= half && round < half + constants->partial_rounds) {
            quintic(&s[0]);
            fr_add(&s[0], &s[0], key++);
            mix_sparse(s, sparse, sparse + width, width);
            sparse += 2 * width - 1;
            continue;
        }
        for (unsigned i = 0; i < width; i++) quintic(&s[i]);
        if (round + 1 < rounds)
            for (unsigned i = 0; i < width; i++) fr_add(&s[i], &s[i], key++);
        mix_dense(s, round == half - 1 ? constants->pre_sparse : constants->mds, width);
    }
    *out = s[1];
}
