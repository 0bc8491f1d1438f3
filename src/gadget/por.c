#include "gadget/por.h"

#include "gadget/multipack.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"

static unsigned log_arity(unsigned arity) {
    unsigned log = 0;
    while (arity >> (log + 1)) log++;
    return log;
}

unsigned tree_levels(const tree_shape *shape) {
    return shape->base_levels + (shape->sub_arity > 0) + (shape->top_arity > 0);
}

unsigned tree_arity(const tree_shape *shape, unsigned level) {
    if (level < shape->base_levels) return shape->base_arity;
    return level == shape->base_levels && shape->sub_arity ? shape->sub_arity : shape->top_arity;
}

unsigned tree_index_bits(const tree_shape *shape) {
    unsigned bits = 0;
    for (unsigned i = 0; i < tree_levels(shape); i++) bits += log_arity(tree_arity(shape, i));
    return bits;
}

unsigned tree_siblings(const tree_shape *shape) {
    unsigned n = 0;
    for (unsigned i = 0; i < tree_levels(shape); i++) n += tree_arity(shape, i) - 1;
    return n;
}

static num hash_level(cs *system, const tree_shape *shape, const num *x, const boolean *bits,
                      const num *siblings, unsigned arity) {
    num children[INSERT_MAX_ARITY];
    cs_enter(system, "insert");
    num_insert(system, children, x, bits, siblings, arity);
    cs_leave(system);
    if (cs_failed(system)) return *x;
    cs_enter(system, "hash");
    num out = shape->hash == TREE_SHA256 ? sha256_tree_node(system, children, arity)
                                         : poseidon_tree_circuit(system, children, arity);
    cs_leave(system);
    return out;
}

/* Where a path stands on its way up. */
typedef struct climb {
    const tree_shape *shape;
    num node;
    uint64_t index;     /* what is left of it */
    const fr *siblings; /* of the levels above, NULL in a structure-only system */
    boolean bits[64];   /* of the index, so far */
    unsigned n_bits;
} climb;

static void climb_level(cs *system, climb *c, unsigned level) {
    unsigned arity = tree_arity(c->shape, level), log = log_arity(arity);
    cs_enter(system, "merkle tree hash %u", level);
    if (arity > INSERT_MAX_ARITY || c->n_bits + log > 64) {
        cs_fail(system, CUZK_ERR_INTERNAL, "a tree of unknown shape");
        return;
    }
    boolean *bits = &c->bits[c->n_bits];
    for (unsigned i = 0; i < log; i++) {
        cs_enter(system, "index bit %u", i);
        bits[i] = boolean_alloc(system, c->index >> i & 1);
        cs_leave(system);
    }
    c->n_bits += log;
    c->index >>= log;
    num siblings[INSERT_MAX_ARITY - 1];
    for (unsigned i = 0; i + 1 < arity; i++) {
        cs_enter(system, "path hash %u", i);
        siblings[i] = num_alloc(system, system->witness ? c->siblings++ : NULL);
        cs_leave(system);
    }
    c->node = hash_level(system, c->shape, &c->node, bits, siblings, arity);
    cs_leave(system);
}

void por_circuit(cs *system, const tree_shape *shape, const num *leaf, const fr *leaf_value,
                 const tree_path *path, const num *root) {
    climb c = {.shape = shape, .index = path->index, .siblings = path->siblings};
    cs_enter(system, "value");
    c.node = leaf ? *leaf : num_alloc(system, leaf_value);
    cs_leave(system);
    cs_enter(system, "base");
    for (unsigned i = 0; i < shape->base_levels; i++) climb_level(system, &c, i);
    cs_leave(system);
    cs_enter(system, "sub");
    if (shape->sub_arity) climb_level(system, &c, shape->base_levels);
    cs_leave(system);
    cs_enter(system, "top");
    if (shape->top_arity) climb_level(system, &c, tree_levels(shape) - 1);
    cs_leave(system);
    cs_enter(system, "path");
    pack_into_inputs(system, c.bits, c.n_bits);
    cs_leave(system);
    cs_enter(system, "root_value");
    cs_leave(system);
    num_enforce_equal(system, &c.node, root);
}

void por_circuit_no_input(cs *system, const tree_shape *shape, const boolean *index_bits, const num *leaf,
                          const num *siblings, const num *root) {
    num node = *leaf;
    for (unsigned level = 0; level < tree_levels(shape) && !cs_failed(system); level++) {
        unsigned arity = tree_arity(shape, level);
        cs_enter(system, "merkle tree hash %u", level);
        node = hash_level(system, shape, &node, index_bits, siblings, arity);
        cs_leave(system);
        index_bits += log_arity(arity);
        siblings += arity - 1;
    }
    num_enforce_equal(system, &node, root);
}
