#include "gadget/poseidon_witness.h"

/* s = s^5 + post (unless NULL), with the variables x^2, x^4 and the result. */
static fr *put_sbox(fr *out, fr *s, const fr *post) {
    fr_sqr(&out[0], s);
    fr_sqr(&out[1], &out[0]);
    fr_mul(s, s, &out[1]);
    if (post) fr_add(s, s, post);
    out[2] = *s;
    return out + 3;
}

/* The same where the element has to become a variable first. */
static fr *put_later_sbox(fr *out, fr *s, const fr *post) {
    *out = *s;
    return put_sbox(out + 1, s, post);
}

static unsigned variables(const poseidon_constants *c) {
    return 3 * c->arity + 4 * (c->width * (POSEIDON_FULL_ROUNDS - 1) + c->partial_rounds) + 1;
}

void poseidon_block_witness(block_writer *writer, const block_operands *in) {
    const poseidon_constants *c = poseidon_for(poseidon_parameter_arity(in->parameter));
    const unsigned width = c->width, half = POSEIDON_FULL_ROUNDS / 2;
    const unsigned rounds = POSEIDON_FULL_ROUNDS + c->partial_rounds;
    const fr *key = c->keys + width, *sparse = c->sparse;
    fr *out = block_put_full(writer, variables(c));
    fr s[POSEIDON_MAX_WIDTH], unused[3];

    poseidon_tag_value(&s[0], poseidon_parameter_tag(in->parameter), c->arity);
    memcpy(s + 1, in->nums, c->arity * sizeof *s);
    for (unsigned i = 0; i < width; i++) fr_add(&s[i], &s[i], &c->keys[i]);
    for (unsigned round = 0; round < rounds; round++) {
        if (round >= half && round < half + c->partial_rounds) {
            out = put_later_sbox(out, &s[0], key++);
            poseidon_mix_sparse(s, sparse, width);
            sparse += 2 * width - 1;
            continue;
        }
        const fr *post = round + 1 < rounds ? key : NULL;
        for (unsigned i = 0; i < width; i++) {
            if (round > 0)
                out = put_later_sbox(out, &s[i], post ? &post[i] : NULL);
            else if (i > 0)
                out = put_sbox(out, &s[i], &post[i]);
            else
                put_sbox(unused, &s[0], &post[0]); /* the tag is a constant */
        }
        key += width;
        poseidon_mix_dense(s, round == half - 1 ? c->pre_sparse : c->mds, width);
    }
    *out = s[1];
}
