#include "circuit/porep.h"

#include <stdio.h>

#include "circuit/create_label.h"
#include "gadget/multipack.h"
#include "gadget/por.h"
#include "gadget/poseidon.h"

#define LABEL_BITS     256u                    /* of a replica id or parent in SHA order */
#define MAX_SIBLINGS   (7u * SECTOR_MAX_DEPTH) /* of a path in tree-c or tree-r-last */
#define MAX_D_SIBLINGS 64u

porep_shape porep_shape_of(const sector_shape *sector) {
    return (porep_shape){.log_nodes = sector->log_nodes,
                         .layers = sector->layers,
                         .challenges = sector->challenges,
                         .base_levels = sector->base_depth,
                         .sub_arity = sector->sub_arity,
                         .top_arity = sector->top_arity};
}

/* ---- sizes ---- */

static unsigned log_join(unsigned arity) {
    return arity ? (unsigned)__builtin_ctz(arity) : 0;
}

static bool is_joining_arity(unsigned arity) {
    return arity == 0 || arity == 2 || arity == 4 || arity == 8;
}

bool porep_shape_is_known(const porep_shape *shape) {
    return is_joining_arity(shape->sub_arity) && is_joining_arity(shape->top_arity) &&
           shape->base_levels > 0 && shape->log_nodes <= 32 &&
           3 * (uint64_t)shape->base_levels + log_join(shape->sub_arity) + log_join(shape->top_arity) ==
               shape->log_nodes &&
           shape->layers <= SECTOR_MAX_LAYERS && poseidon_for(shape->layers) && shape->challenges > 0 &&
           shape->challenges <= POREP_MAX_CHALLENGES;
}

/* Constraints, which are as many as new variables, of a Poseidon hash. */
static uint64_t poseidon_size(unsigned arity) {
    return 3 * arity + 7 * 4 * (arity + 1) + 4 * poseidon_for(arity)->partial_rounds + 1;
}

/* A path in tree-c or tree-r-last up to the root: constraints with the two last ones, and variables. */
static void path_size(const porep_shape *shape, uint64_t *constraints, uint64_t *aux) {
    static const struct { unsigned arity, bits, insertion; } levels[] = {{2, 1, 2}, {4, 2, 8}, {8, 3, 22}};
    const unsigned counts[][2] = {{TREE_BASE_ARITY, shape->base_levels},
                                  {shape->sub_arity, shape->sub_arity > 0},
                                  {shape->top_arity, shape->top_arity > 0}};
    *constraints = 2;
    *aux = 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            if (levels[k].arity == counts[i][0]) {
                uint64_t size = levels[k].bits + levels[k].insertion + poseidon_size(levels[k].arity);
                *constraints += counts[i][1] * size;
                *aux += counts[i][1] * (size + levels[k].arity - 1);
            }
}

/* The sizes with the first few challenges. */
static r1cs_shape shape_up_to(const porep_shape *shape, unsigned challenges) {
    /* Gadgets of fixed size: a tree-d level, a label, and bits of a field element. */
    const uint64_t d_level = 45382, d_level_aux = 45331 + 4, label = 522269, label_aux = 521749;
    const uint64_t bits = FR_BITS + 1, bits_aux = FR_BITS;
    uint64_t path, path_aux, column = poseidon_size(shape->layers);
    path_size(shape, &path, &path_aux);
    uint64_t decompositions = DRG_DEGREE + (uint64_t)PARENT_DEGREE * (shape->layers - 1);

    uint64_t per_challenge = shape->log_nodes * d_level + 2             /* data leaf */
                             + PARENT_DEGREE * (column + path) + 64 + 1 /* the challenge and its input */
                             + shape->layers * label + decompositions * bits + 1 /* encoding */ + path +
                             column + path;
    uint64_t aux_per_challenge =
        1 + shape->log_nodes * d_level_aux + PARENT_DEGREE * (shape->layers + column + path_aux) + 64 +
        shape->layers * label_aux + decompositions * bits_aux + 1 + path_aux + column + path_aux;
    uint64_t commitments = poseidon_size(2);
    return (r1cs_shape){
        .inputs = 4 + 18 * challenges,
        .aux = (uint32_t)(5 + bits_aux + commitments + challenges * aux_per_challenge),
        .constraints = 3 + bits + commitments + 1 + challenges * per_challenge,
    };
}

r1cs_shape porep_r1cs_shape(const porep_shape *shape) {
    if (!porep_shape_is_known(shape)) return (r1cs_shape){.constraints = 0};
    return shape_up_to(shape, shape->challenges);
}

/* ---- synthesis ---- */

/* Numbers that every challenge uses. */
typedef struct common {
    const porep_shape *shape;
    tree_shape tree_d, tree;
    num comm_d, comm_r_last, comm_c;
    boolean replica_id[LABEL_BITS]; /* in SHA order */
} common;

/* In a structure-only system there are no values. */
static num alloc_repr(cs *system, const char *name, const fr_repr *value) {
    cs_enter(system, "%s", name);
    num out;
    if (value) {
        fr v;
        fr_from_repr(&v, value);
        out = num_alloc(system, &v);
    } else {
        out = num_alloc(system, NULL);
    }
    cs_leave(system);
    return out;
}

static void inputize(cs *system, const char *name, const num *a) {
    cs_enter(system, "%s_input", name);
    num_inputize(system, a);
    cs_leave(system);
}

/* 256 bits of a number in the order in which SHA-256 reads them. */
static void sha_bits(cs *system, boolean out[LABEL_BITS], const num *a) {
    boolean bits[FR_BITS] = {{0}}; /* a system that failed leaves them alone */
    num_to_bits_le(system, bits, a);
    reverse_bit_numbering(out, bits, FR_BITS);
}

/* Inclusion of `leaf` by the path of a Merkle proof (NULL without witness). */
static void include(cs *system, const char *name, const tree_shape *tree, const num *leaf,
                    const c1_merkle_proof *proof, const num *root) {
    fr siblings[MAX_SIBLINGS > MAX_D_SIBLINGS ? MAX_SIBLINGS : MAX_D_SIBLINGS];
    tree_path path = {0, siblings};
    if (proof) {
        unsigned n = 0, shift = 0;
        for (unsigned i = 0; i < proof->depth; i++) {
            const c1_level *level = &proof->levels[i];
            path.index |= (uint64_t)level->index << shift;
            shift += (unsigned)__builtin_ctz(level->arity);
            fr_from_repr_n(siblings + n, level->hashes, level->arity - 1);
            n += level->arity - 1;
        }
    }
    cs_enter(system, "%s", name);
    por_circuit(system, tree, leaf, NULL, &path, root);
    cs_leave(system);
}

/* The column of a parent: its rows, hashed, in tree-c. The rows stay for the labels. */
static void parent_column(cs *system, const common *all, const char *kind, unsigned i,
                          const c1_column_proof *proof, num *rows) {
    char name[32];
    cs_enter(system, "%s_parent_%u_num", kind, i);
    cs_enter(system, "column");
    for (unsigned layer = 0; layer < all->shape->layers; layer++)
        rows[layer] = alloc_repr(system, "row", proof ? &proof->rows[layer] : NULL);
    cs_leave(system);
    cs_leave(system);
    cs_enter(system, "%s_parent_%u_constraint", kind, i);
    num hash = poseidon_tree_circuit(system, rows, all->shape->layers);
    cs_leave(system);
    snprintf(name, sizeof name, "%s_parent_%u_inclusion", kind, i);
    include(system, name, &all->tree, &hash, proof ? &proof->inclusion_proof : NULL, &all->comm_c);
}

/* Labels of the challenged node in every layer, from its parents' rows. */
static void labels(cs *system, const common *all, num rows[PARENT_DEGREE][SECTOR_MAX_LAYERS],
                   const boolean node[64], num *out) {
    for (unsigned layer = 1; layer <= all->shape->layers && !cs_failed(system); layer++) {
        boolean parents[PARENT_DEGREE][LABEL_BITS];
        cs_enter(system, "labeling_%u", layer);
        for (unsigned i = 0; i < DRG_DEGREE; i++) {
            cs_enter(system, "drg_parent_%u_bits", i);
            sha_bits(system, parents[i], &rows[i][layer - 1]);
            cs_leave(system);
        }
        for (unsigned i = DRG_DEGREE; layer > 1 && i < PARENT_DEGREE; i++) {
            cs_enter(system, "exp_parent_%u_bits", i);
            sha_bits(system, parents[i], &rows[i][layer - 2]);
            cs_leave(system);
        }
        cs_enter(system, "create_label");
        out[layer - 1] = create_label_circuit(system, all->replica_id, (const boolean(*)[LABEL_BITS])parents,
                                              layer == 1 ? DRG_DEGREE : PARENT_DEGREE, layer, node);
        cs_leave(system);
        cs_leave(system);
    }
}

static void synthesize_challenge(cs *system, const common *all, const c1_challenge *w) {
    num leaf = alloc_repr(system, "data_leaf", w ? &w->comm_d_proof.leaf : NULL);
    include(system, "comm_d_inclusion", &all->tree_d, &leaf, w ? &w->comm_d_proof : NULL, &all->comm_d);

    num rows[PARENT_DEGREE][SECTOR_MAX_LAYERS];
    for (unsigned i = 0; i < DRG_DEGREE; i++)
        parent_column(system, all, "drg", i, w ? &w->drg_parents[i] : NULL, rows[i]);
    for (unsigned i = 0; i < EXPANDER_DEGREE; i++)
        parent_column(system, all, "exp", i, w ? &w->exp_parents[i] : NULL, rows[DRG_DEGREE + i]);

    boolean node[64];
    cs_enter(system, "challenge");
    uint64_alloc(system, node, w ? w->labeling_proofs[0].node : 0);
    cs_leave(system);
    cs_enter(system, "challenge input");
    pack_into_inputs(system, node, 64);
    cs_leave(system);

    num label[SECTOR_MAX_LAYERS];
    labels(system, all, rows, node, label);
    if (cs_failed(system)) return;

    cs_enter(system, "encode_node");
    cs_enter(system, "encode_add");
    num encoded = num_add(system, &label[all->shape->layers - 1], &leaf);
    cs_leave(system);
    cs_leave(system);
    include(system, "comm_r_last_data_inclusion", &all->tree, &encoded, w ? &w->comm_r_last_proof : NULL,
            &all->comm_r_last);

    cs_enter(system, "c_x_column_hash");
    num column = poseidon_tree_circuit(system, label, all->shape->layers);
    cs_leave(system);
    include(system, "c_x_inclusion", &all->tree, &column, w ? &w->c_x.inclusion_proof : NULL, &all->comm_c);
}

/* Everything before the first challenge. */
static void synthesize_commitments(cs *system, common *all, const porep_shape *shape, const c1 *w) {
    all->shape = shape;
    all->tree_d = (tree_shape){TREE_SHA256, 2, shape->log_nodes, 0, 0};
    all->tree =
        (tree_shape){TREE_POSEIDON, TREE_BASE_ARITY, shape->base_levels, shape->sub_arity, shape->top_arity};

    num replica_id = alloc_repr(system, "replica_id", w ? &w->replica_id : NULL);
    inputize(system, "replica_id", &replica_id);
    cs_enter(system, "replica_id_bits");
    sha_bits(system, all->replica_id, &replica_id);
    cs_leave(system);
    all->comm_d = alloc_repr(system, "comm_d", w ? &w->comm_d : NULL);
    inputize(system, "comm_d", &all->comm_d);
    num comm_r = alloc_repr(system, "comm_r", w ? &w->comm_r : NULL);
    inputize(system, "comm_r", &comm_r);
    all->comm_r_last = alloc_repr(system, "comm_r_last", w ? &w->comm_r_last : NULL);
    all->comm_c = alloc_repr(system, "comm_c", w ? &w->comm_c : NULL);

    cs_enter(system, "H_comm_c_comm_r_last");
    num hash = poseidon_tree_circuit(system, (num[]){all->comm_c, all->comm_r_last}, 2);
    cs_leave(system);
    num_enforce_equal(system, &comm_r, &hash);
}

static void synthesize_part(const void *ctx, uint32_t part, void *state, cs *system) {
    const porep_circuit *circuit = ctx;
    const c1 *w = circuit->sector;
    const porep_shape *shape = &circuit->shape;
    if (!porep_shape_is_known(shape)) {
        cs_fail(system, CUZK_ERR_USAGE,
                "no PoRep circuit for 2^%u nodes, %u layers, %u challenges, trees of %u levels, %u, %u",
                shape->log_nodes, shape->layers, shape->challenges, shape->base_levels, shape->sub_arity,
                shape->top_arity);
    } else if (part == 0) {
        synthesize_commitments(system, state, shape, w);
    } else {
        cs_enter(system, "challenge_%u", part - 1);
        synthesize_challenge(system, state,
                             w ? &w->partition[circuit->partition].challenges[part - 1] : NULL);
        cs_leave(system);
    }
}

static void synthesize(const void *ctx, cs *system) {
    const porep_circuit *circuit = ctx;
    common all;
    for (uint32_t part = 0; part <= circuit->shape.challenges && !cs_failed(system); part++)
        synthesize_part(ctx, part, &all, system);
}

static r1cs_shape part_start(const void *ctx, uint32_t part) {
    const porep_shape *shape = &((const porep_circuit *)ctx)->shape;
    if (part == 0 || !porep_shape_is_known(shape)) return (r1cs_shape){.inputs = 1};
    return shape_up_to(shape, part - 1);
}

void porep_parts(r1cs_parts *out, const porep_circuit *circuit) {
    bool known = porep_shape_is_known(&circuit->shape);
    *out = (r1cs_parts){.count = known ? 1 + circuit->shape.challenges : 1,
                        .state_bytes = sizeof(common),
                        .start = part_start,
                        .synthesize = synthesize_part};
}

static void make(porep_circuit *out, r1cs_circuit *circuit, porep_shape shape, const c1 *sector,
                 unsigned partition) {
    *out = (porep_circuit){shape, sector, partition};
    *circuit = (r1cs_circuit){
        .name = "PoRep", .synthesize = synthesize, .ctx = out, .shape = porep_r1cs_shape(&shape)};
}

void porep_blank(porep_circuit *out, r1cs_circuit *circuit, const porep_shape *shape) {
    make(out, circuit, *shape, NULL, 0);
}

void porep_of_c1(porep_circuit *out, r1cs_circuit *circuit, const c1 *sector, unsigned partition) {
    make(out, circuit, porep_shape_of(sector->proof->sector), sector, partition);
}
