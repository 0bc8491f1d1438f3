/*
 * A state element is a linear combination and its value. Mixing builds new combinations from the old ones and
 * costs no constraint; an element becomes a variable only when an S-box or the result needs it. An S-box
 * output is a variable, so in a partial round the sparse matrix adds just one term to the combinations of
 * elements 1 and up.
 */
#include "gadget/poseidon.h"

#include "gadget/poseidon_witness.h"

typedef struct element {
    lc terms;
    fr value;
    r1cs_var var; /* when is_variable: terms is 1 * var */
    bool is_variable;
} element;

typedef struct state {
    cs *system;
    const poseidon_constants *c;
    element now[POSEIDON_MAX_WIDTH], next[POSEIDON_MAX_WIDTH];
    const fr *keys; /* the next round keys */
} state;

static void set_variable(element *e, const num *n) {
    lc_clear(&e->terms);
    lc_add_one(&e->terms, n->var);
    e->value = n->value;
    e->var = n->var;
    e->is_variable = true;
}

static void clear(cs *system) {
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
}

static void enforce(cs *system) {
    cs_enforce(system, &system->a, &system->b, &system->c);
}

/* The element as a variable: alloc v; terms * 1 = v, unless it is one already. */
static num ensure(cs *system, const element *e) {
    if (e->is_variable) return (num){e->var, e->value};
    cs_enter(system, "allocate for Elt::Num");
    num v = num_alloc(system, &e->value);
    cs_leave(system);
    clear(system);
    lc_add_one(&system->b, R1CS_ONE);
    lc_add_one(&system->c, v.var);
    cs_enforce(system, &e->terms, &system->b, &system->c);
    return v;
}

/* l += v + k */
static void add_variable_and_constant(lc *l, r1cs_var v, const fr *k) {
    if (k) lc_add_term(l, R1CS_ONE, k);
    lc_add_one(l, v);
}

/* o = (x + pre)^5 + post: alloc q, (x + pre) * (x + pre) = q; alloc u, q * q = u; alloc o,
 * (x + pre) * u = o - post. pre and post may be NULL for zero. */
static num sbox(cs *system, const num *x, const fr *pre, const fr *post) {
    fr sum = x->value, value = FR_ZERO, minus_post;
    if (pre) fr_add(&sum, &sum, pre);
    if (system->witness) fr_sqr(&value, &sum);
    num q = num_alloc(system, &value);
    clear(system);
    add_variable_and_constant(&system->a, x->var, pre);
    lc_add_one(&system->c, q.var);
    cs_enforce(system, &system->a, &system->a, &system->c);

    num u = num_square(system, &q);

    if (system->witness) fr_mul(&value, &sum, &u.value);
    if (post) {
        fr_add(&value, &value, post);
        fr_neg(&minus_post, post);
    }
    num o = num_alloc(system, &value);
    clear(system);
    add_variable_and_constant(&system->a, x->var, pre);
    lc_add_one(&system->b, u.var);
    add_variable_and_constant(&system->c, o.var, post ? &minus_post : NULL);
    enforce(system);
    return o;
}

/* The tag goes through its S-box as a constant, the preimage with its keys before the S-box. */
static void first_round(state *s, poseidon_tag tag, const num *preimage) {
    unsigned t = s->c->width;
    const fr *pre = s->keys, *post = s->keys + t;
    s->keys += 2 * t;
    fr x, power;
    poseidon_tag_value(&x, tag, s->c->arity);
    fr_add(&x, &x, &pre[0]);
    fr_pow_u64(&power, &x, 5);
    fr_add(&power, &power, &post[0]);
    lc_clear(&s->now[0].terms);
    lc_add_term(&s->now[0].terms, R1CS_ONE, &power);
    s->now[0].value = power;
    s->now[0].is_variable = false;
    for (unsigned i = 1; i < t; i++) {
        cs_enter(s->system, "quintic s-box %u", i);
        num o = sbox(s->system, &preimage[i - 1], &pre[i], &post[i]);
        cs_leave(s->system);
        set_variable(&s->now[i], &o);
    }
}

static void later_sbox(state *s, unsigned i, const fr *post) {
    num x = ensure(s->system, &s->now[i]);
    num o = sbox(s->system, &x, NULL, post);
    set_variable(&s->now[i], &o);
}

static void full_round(state *s, bool last) {
    for (unsigned i = 0; i < s->c->width; i++) {
        cs_enter(s->system, "quintic s-box %u", i);
        later_sbox(s, i, last ? NULL : &s->keys[i]);
        cs_leave(s->system);
    }
    if (!last) s->keys += s->c->width;
}

static void partial_round(state *s) {
    cs_enter(s->system, "solitary quintic s-box");
    later_sbox(s, 0, s->keys++);
    cs_leave(s->system);
}

/* out = sum over i of now[i] * column[i * stride] */
static void mix_column(const state *s, element *out, const fr *column, size_t stride) {
    lc_clear(&out->terms);
    out->value = FR_ZERO;
    out->is_variable = false;
    for (unsigned i = 0; i < s->c->width; i++) {
        const fr *k = &column[i * stride];
        lc_add_scaled(&out->terms, k, &s->now[i].terms);
        if (!s->system->witness) continue;
        fr product;
        fr_mul(&product, &s->now[i].value, k);
        fr_add(&out->value, &out->value, &product);
    }
}

static void swap_elements(element *a, element *b) {
    element t = *a;
    *a = *b;
    *b = t;
}

static void mix_dense(state *s, const fr *matrix) {
    unsigned t = s->c->width;
    for (unsigned j = 0; j < t; j++) mix_column(s, &s->next[j], matrix + j, t);
    for (unsigned j = 0; j < t; j++) swap_elements(&s->now[j], &s->next[j]);
}

static void mix_sparse(state *s, const fr *w_hat, const fr *v_rest) {
    mix_column(s, &s->next[0], w_hat, 1);
    for (unsigned j = 1; j < s->c->width; j++) {
        element *e = &s->now[j];
        lc_add_scaled(&e->terms, &v_rest[j - 1], &s->now[0].terms);
        e->is_variable = false;
        if (!s->system->witness) continue;
        fr product;
        fr_mul(&product, &s->now[0].value, &v_rest[j - 1]);
        fr_add(&e->value, &e->value, &product);
    }
    swap_elements(&s->now[0], &s->next[0]);
}

static void run_rounds(state *s, poseidon_tag tag, const num *preimage) {
    const poseidon_constants *c = s->c;
    const unsigned half = POSEIDON_FULL_ROUNDS / 2;
    cs *system = s->system;
    s->keys = c->keys;
    cs_enter(system, "first round");
    first_round(s, tag, preimage);
    mix_dense(s, c->mds);
    cs_leave(system);
    for (unsigned r = 1; r < half; r++) {
        cs_enter(system, "initial full round %u", r);
        full_round(s, false);
        mix_dense(s, r == half - 1 ? c->pre_sparse : c->mds);
        cs_leave(system);
    }
    for (unsigned r = 0; r < c->partial_rounds; r++) {
        cs_enter(system, "partial round %u", r);
        partial_round(s);
        const fr *matrix = c->sparse + (size_t)r * (2 * c->width - 1);
        mix_sparse(s, matrix, matrix + c->width);
        cs_leave(system);
    }
    for (unsigned r = 0; r < half; r++) {
        bool last = r == half - 1;
        if (last)
            cs_enter(system, "terminal full round");
        else
            cs_enter(system, "final full round %u", r);
        full_round(s, last);
        mix_dense(s, c->mds);
        cs_leave(system);
    }
}

static void hash_body(cs *system, const block_call *call) {
    state s = {.system = system, .c = poseidon_for(poseidon_parameter_arity(call->parameter))};
    for (unsigned i = 0; i < s.c->width; i++) s.now[i].terms = s.next[i].terms = LC_EMPTY;
    run_rounds(&s, poseidon_parameter_tag(call->parameter), call->nums);
    cs_enter(system, "hash result");
    call->out_nums[0] = ensure(system, &s.now[1]);
    cs_leave(system);
    for (unsigned i = 0; i < s.c->width; i++) {
        lc_free(&s.now[i].terms);
        lc_free(&s.next[i].terms);
    }
}

static const block_type hash = {"poseidon", hash_body, poseidon_block_witness};

num poseidon_circuit(cs *system, const poseidon_constants *constants, poseidon_tag tag, const num *preimage) {
    num out = {R1CS_ONE, FR_ZERO};
    block_run(system, &(block_call){.type = &hash,
                                    .parameter = poseidon_parameter(constants->arity, tag),
                                    .nums = preimage,
                                    .n_nums = constants->arity,
                                    .out_nums = &out,
                                    .n_out_nums = 1});
    return out;
}

num poseidon_tree_circuit(cs *system, const num *preimage, unsigned n) {
    const poseidon_constants *constants = poseidon_for(n);
    if (constants) return poseidon_circuit(system, constants, POSEIDON_TREE, preimage);
    cs_fail(system, CUZK_ERR_INTERNAL, "no Poseidon of arity %u", n);
    return (num){R1CS_ONE, FR_ZERO};
}
