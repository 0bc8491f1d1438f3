/* The gadgets against the reference's dumps (structure and values) and digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "circuit_check.h"
#include "fixture.h"
#include "text_circuit.h"

#include "gadget/insertion.h"
#include "gadget/multipack.h"
#include "gadget/poseidon.h"
#include "gadget/por.h"
#include "gadget/sha256.h"
#include "hash/digest.h"
#include "r1cs/assignment.h"

/* What a gadget's circuit is made from: the values of its inputs, in order, and a size. */
typedef struct gadget_input {
    const fr *values;
    unsigned n;
} gadget_input;

#define MAX_BITS 1024u

static bool bit_at(const gadget_input *in, unsigned i) {
    return in->values && fr_is_one(&in->values[i]);
}

static num num_at(cs *system, const gadget_input *in, unsigned i) {
    return num_alloc(system, in->values ? &in->values[i] : NULL);
}

static void alloc_bits(cs *system, boolean *bits, const gadget_input *in, unsigned first, unsigned n) {
    for (unsigned i = 0; i < n; i++) bits[i] = boolean_alloc(system, bit_at(in, first + i));
}

static void alloc_nums(cs *system, num *out, const gadget_input *in, unsigned n) {
    for (unsigned i = 0; i < n; i++) out[i] = num_at(system, in, i);
}

/* ---- circuits ---- */

static void boolean_circuit(const void *ctx, cs *system) {
    boolean b[4], all[6] = {boolean_constant(false), boolean_constant(true)};
    alloc_bits(system, b, ctx, 0, 4);
    for (int i = 0; i < 4; i++) all[2 + i] = i % 2 ? boolean_not(b[i]) : b[i];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            boolean_xor(system, all[i], all[j]);
            boolean_and(system, all[i], all[j]);
            for (int k = 0; k < 6; k++) {
                boolean_ch(system, all[i], all[j], all[k]);
                boolean_maj(system, all[i], all[j], all[k]);
            }
        }
    lc_clear(&system->a), lc_clear(&system->b), lc_clear(&system->c);
    boolean_add_to(&system->c, b[0]);
    boolean_sub_from(&system->c, b[0]);
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static void encode_decode_circuit(const void *ctx, cs *system) {
    num n[2];
    alloc_nums(system, n, ctx, 2);
    num_add(system, &n[0], &n[1]);
    num_sub(system, &n[1], &n[0]);
}

static void insert_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    num n[8], out[8];
    boolean bits[3];
    unsigned log = in->n == 8 ? 3 : in->n / 2;
    alloc_nums(system, n, in, in->n);
    alloc_bits(system, bits, in, in->n, log);
    num_insert(system, out, &n[0], bits, &n[1], in->n);
}

/* The order of allocation inside the circuits. */
static void insert_bits_first_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    num n[8], out[8];
    boolean bits[3];
    unsigned log = in->n == 8 ? 3 : in->n / 2;
    alloc_bits(system, bits, in, 0, log);
    alloc_nums(system, n, in, in->n);
    num_insert(system, out, &n[0], bits, &n[1], in->n);
}

/* a = c ? b : a in the manner of bellpepper-core's conditional reversal: (a - b) * c = a - out. */
static void reverse_half(cs *system, const num *a, const num *b, boolean c) {
    num out = num_alloc(system, c.value ? &b->value : &a->value);
    lc_clear(&system->a), lc_clear(&system->b), lc_clear(&system->c);
    lc_add_one(&system->a, a->var);
    lc_sub_one(&system->a, b->var);
    boolean_add_to(&system->b, c);
    lc_add_one(&system->c, a->var);
    lc_sub_one(&system->c, out.var);
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static void num_ops_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    num a = num_at(system, in, 0), b = num_at(system, in, 1);
    num_mul(system, &a, &b);
    num_square(system, &a);
    fr inverse;
    fr_inv(&inverse, &a.value);
    num nz = num_alloc(system, &inverse);
    lc_clear(&system->a), lc_clear(&system->b), lc_clear(&system->c);
    lc_add_one(&system->a, a.var);
    lc_add_one(&system->b, nz.var);
    lc_add_one(&system->c, R1CS_ONE);
    cs_enforce(system, &system->a, &system->b, &system->c);
    num_inputize(system, &a);
    boolean c = boolean_alloc(system, bit_at(in, 5));
    reverse_half(system, &a, &b, c);
    reverse_half(system, &b, &a, c);
}

static void to_bits_circuit(const void *ctx, cs *system) {
    boolean bits[FR_BITS];
    num a = num_at(system, ctx, 0);
    num_to_bits_le(system, bits, &a);
}

static void to_bits_strict_circuit(const void *ctx, cs *system) {
    boolean bits[FR_BITS];
    num a = num_at(system, ctx, 0);
    num_to_bits_le_strict(system, bits, &a);
}

static void allocated_bits_circuit(const void *ctx, cs *system) {
    boolean bits[FR_BITS];
    num a = num_at(system, ctx, 0);
    num_to_allocated_bits(system, bits, &a);
}

static void pack_bits_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    boolean bits[MAX_BITS];
    alloc_bits(system, bits, in, 0, in->n);
    pack_bits(system, bits, in->n);
}

static void pack_into_inputs_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    boolean bits[MAX_BITS];
    alloc_bits(system, bits, in, 0, in->n);
    pack_into_inputs(system, bits, in->n);
}

static void poseidon_preimage_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    num n[11];
    alloc_nums(system, n, in, in->n);
    poseidon_tree_circuit(system, n, in->n);
}

static void poseidon_gen_circuit(const void *ctx, cs *system) {
    num n[2];
    alloc_nums(system, n, ctx, 2);
    num out = poseidon_circuit(system, poseidon_for(2), POSEIDON_GEN_RANDOMNESS, n);
    num_inputize(system, &out);
}

static void select_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    num n[8];
    boolean bits[3];
    unsigned log = in->n == 8 ? 3 : in->n / 2;
    alloc_nums(system, n, in, in->n);
    alloc_bits(system, bits, in, in->n, log);
    num out = num_select(system, n, bits, log);
    num_inputize(system, &out);
}

static void pick_circuit(const void *ctx, cs *system) {
    num n[2];
    boolean bit;
    alloc_nums(system, n, ctx, 2);
    alloc_bits(system, &bit, ctx, 2, 1);
    num_pick(system, bit, &n[0], &n[1]);
}

static void sha256_bits_circuit(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    boolean bits[MAX_BITS], out[256];
    alloc_bits(system, bits, in, 0, in->n);
    sha256_circuit(system, out, bits, in->n);
}

static void tree_node_circuit(const void *ctx, cs *system) {
    num n[2];
    alloc_nums(system, n, ctx, 2);
    sha256_tree_node(system, n, 2);
}

static void addmany_circuit(const void *ctx, cs *system) {
    uint32 x[5], k, out;
    const uint32 *all[5] = {&x[0], &x[1], &x[2], &x[3], &x[4]}, *three[3] = {&x[0], &x[1], &k};
    for (unsigned i = 0; i < 5; i++) alloc_bits(system, x[i].bits, ctx, 32 * i, 32);
    uint32_constant(&k, 0x428a2f98);
    multieq m;
    multieq_start(&m, system);
    uint32_addmany(&m, &out, all, 5);
    uint32_addmany(&m, &out, all, 2);
    uint32_addmany(&m, &out, three, 3);
    multieq_finish(&m);
}

static void uint64_circuit(const void *ctx, cs *system) {
    boolean bits[64];
    uint64_t value = 0;
    for (unsigned i = 0; i < 64; i++) value |= (uint64_t)bit_at(ctx, i) << i;
    uint64_alloc(system, bits, value);
    pack_into_inputs(system, bits, 64);
}

/* ---- dumps ---- */

static void dumps(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        void (*synthesize)(const void *ctx, cs *system);
        unsigned n;
    } cases[] = {
        {"boolean", boolean_circuit, 0},
        {"encode_decode", encode_decode_circuit, 0},
        {"insert_2", insert_circuit, 2},
        {"insert_4", insert_circuit, 4},
        {"insert_8", insert_circuit, 8},
        {"num_ops", num_ops_circuit, 0},
        {"num_to_bits_le", to_bits_circuit, 0},
        {"num_to_bits_le_strict", to_bits_strict_circuit, 0},
        {"pack_bits", pack_bits_circuit, 254},
        {"pack_into_inputs", pack_into_inputs_circuit, 512},
        {"poseidon_2", poseidon_preimage_circuit, 2},
        {"poseidon_4", poseidon_preimage_circuit, 4},
        {"poseidon_8", poseidon_preimage_circuit, 8},
        {"poseidon_11", poseidon_preimage_circuit, 11},
        {"poseidon_hash2", poseidon_preimage_circuit, 2},
        {"poseidon_tree_node_8", poseidon_preimage_circuit, 8},
        {"select", pick_circuit, 0},
        {"sha256_1block", sha256_bits_circuit, 256},
        {"sha256_2block", sha256_bits_circuit, 512},
        {"sha256_hash2", tree_node_circuit, 0},
        {"sha256_tree_node", tree_node_circuit, 0},
        {"uint32_addmany", addmany_circuit, 0},
        {"uint64", uint64_circuit, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text_name[64], json_name[64];
        snprintf(text_name, sizeof text_name, "gadgets/%s.txt.zst", cases[i].name);
        snprintf(json_name, sizeof json_name, "gadgets/%s.json", cases[i].name);
        text_circuit expected;
        assignment values;
        cuzk_error err;
        text_circuit_read(&expected, text_name);
        assert_int_equal(assignment_create(&values, &expected.circuit, NULL, &err), CUZK_OK);
        gadget_input in = {values.aux, cases[i].n};
        r1cs_circuit circuit = {cases[i].name, cases[i].synthesize, &in, expected.circuit.shape};
        check_dump(&circuit, text_name);
        check_digest(&circuit, json_name);
        assignment_free(&values);
        text_circuit_free(&expected);
    }
}

/* Circuit specification C.9: digests of single gadgets. */
static void table(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        void (*synthesize)(const void *ctx, cs *system);
        unsigned n, aux, constraints;
        const char *sha256;
    } cases[] = {
        {"poseidon 2", poseidon_preimage_circuit, 2, 313, 311,
         "71fa790fd33fd267e3002e8fed28d8f9b1e6aefe0b4994a2e46cab8c809197ca"},
        {"poseidon 4", poseidon_preimage_circuit, 4, 381, 377,
         "c5c6a28e715b41fc005b37fea7f3721845d9d175b222e2b5109a143222785ee1"},
        {"poseidon 8", poseidon_preimage_circuit, 8, 513, 505,
         "abf8140effeb85d15db49791e6e124ea381c0ae803ba12916e698c3e346f7101"},
        {"poseidon 11", poseidon_preimage_circuit, 11, 609, 598,
         "abfc656ea1ec5d17711882344003308a804aed7034d4c439dfb2c43c12f5fa81"},
        {"insert 2", insert_bits_first_circuit, 2, 5, 3,
         "a6b8b9ff66ae948b7c8069eb76d52ff6e7d5ebb7ead6e9c2aea2371781846c57"},
        {"insert 4", insert_bits_first_circuit, 4, 14, 10,
         "e0d09f1a2595689b0a4605ace7bea84a50cafd77bf3c1a1d8346867f7e481b65"},
        {"insert 8", insert_bits_first_circuit, 8, 33, 25,
         "17a4d48b4d8d654ef3850c468cbc84481534051ff1f1b0cde4dd68cb8c8c87b3"},
        {"sha256 512", sha256_bits_circuit, 512, 45340, 45386,
         "f5b5706d8fa6fb52f0a955d46584996bfd764719311ea41c50859b3bdc74cfc5"},
        {"sha256 1024", sha256_bits_circuit, 1024, 72018, 72090,
         "2fd519786f089336a90bcecc06bf2025248936f1b4a671d392001bf106902604"},
        {"tree-d node", tree_node_circuit, 2, 45333, 45379,
         "b6b480ae8fa6840e3e84fbc1906227d5a41bdf8067f7cd6dd0d72596617df442"},
        {"strict", to_bits_strict_circuit, 1, 388, 388,
         "bfc2b2d3f7b9e55a00c16118337142665d266376c3418eb7474abb064d5e11d8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gadget_input in = {NULL, cases[i].n};
        r1cs_circuit circuit = {cases[i].name, cases[i].synthesize, &in, {0}};
        cuzk_error err;
        assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
        check_figures(&circuit, cases[i].aux, cases[i].constraints, cases[i].sha256);
    }
}

/* ---- values ---- */

static void synthesize_ok(assignment *out, void (*synthesize)(const void *ctx, cs *system), const void *ctx) {
    r1cs_circuit circuit = {"gadget", synthesize, ctx, {0}};
    cuzk_error err;
    if (r1cs_measure(&circuit.shape, &circuit, &err)) fail_msg("%s", err.message);
    if (assignment_create(out, &circuit, NULL, &err)) fail_msg("%s", err.message);
}

static void expect_satisfied(void (*synthesize)(const void *ctx, cs *system), const void *ctx) {
    assignment a;
    synthesize_ok(&a, synthesize, ctx);
    assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
    assignment_free(&a);
}

static void draw_numbers(fr *out, unsigned n, uint64_t seed) {
    fr x;
    fr_from_u64(&x, 0x9e3779b97f4a7c15u + seed);
    for (unsigned i = 0; i < n; i++) {
        fr_pow_u64(&x, &x, 5);
        fr_add(&x, &x, &FR_ONE);
        out[i] = x;
    }
}

static void extreme_numbers_have_bits(void **unused) {
    (void)unused;
    fr values[4] = {FR_ZERO, FR_ONE, FR_MINUS_ONE, FR_ZERO};
    draw_numbers(&values[3], 1, 0);
    for (int i = 0; i < 4; i++) {
        gadget_input in = {&values[i], 1};
        expect_satisfied(to_bits_circuit, &in);
        expect_satisfied(to_bits_strict_circuit, &in);
        expect_satisfied(allocated_bits_circuit, &in);
    }
}

static void packing_nothing(void **unused) {
    (void)unused;
    gadget_input in = {NULL, 0};
    r1cs_circuit circuit = {"pack", pack_bits_circuit, &in, {0}};
    cuzk_error err;
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    assert_int_equal(circuit.shape.constraints, 1);
    assert_int_equal(circuit.shape.aux, 1);
    circuit.synthesize = pack_into_inputs_circuit;
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    assert_int_equal(circuit.shape.constraints, 0);
    assert_int_equal(circuit.shape.inputs, 1);
    in.n = 255; /* one bit more than is packed into one number */
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    assert_int_equal(circuit.shape.inputs, 3);
}

static void selecting(void **unused) {
    (void)unused;
    fr values[8 + 3];
    draw_numbers(values, 8, 1);
    for (unsigned index = 0; index < 8; index++) {
        for (unsigned i = 0; i < 3; i++) values[8 + i] = index >> i & 1 ? FR_ONE : FR_ZERO;
        gadget_input in = {values, 8};
        assignment a;
        synthesize_ok(&a, select_circuit, &in);
        assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
        assert_int_equal(a.shape.constraints, 3 + 7 + 1);
        assert_true(fr_eq(&a.inputs[1], &values[index]));
        assignment_free(&a);
    }
}

static void inserted_into_inputs(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    num n[8], out[8];
    boolean bits[3];
    unsigned log = in->n == 8 ? 3 : in->n / 2;
    alloc_nums(system, n, in, in->n);
    alloc_bits(system, bits, in, in->n, log);
    num_insert(system, out, &n[0], bits, &n[1], in->n);
    for (unsigned i = 0; i < in->n; i++) num_inputize(system, &out[i]);
}

static void inserting(void **unused) {
    (void)unused;
    for (unsigned log = 1; log <= 3; log++) {
        unsigned arity = 1u << log;
        fr values[8 + 3];
        draw_numbers(values, arity, log);
        for (unsigned index = 0; index < arity; index++) {
            for (unsigned i = 0; i < log; i++) values[arity + i] = index >> i & 1 ? FR_ONE : FR_ZERO;
            gadget_input in = {values, arity};
            assignment a;
            synthesize_ok(&a, inserted_into_inputs, &in);
            assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
            for (unsigned i = 0; i < arity; i++) {
                unsigned from = i == index ? 0 : i < index ? i + 1 : i;
                assert_true(fr_eq(&a.inputs[1 + i], &values[from]));
            }
            assignment_free(&a);
        }
    }
}

static void hashed_into_inputs(const void *ctx, cs *system) {
    const gadget_input *in = ctx;
    boolean bits[MAX_BITS], out[256];
    alloc_bits(system, bits, in, 0, in->n);
    sha256_circuit(system, out, bits, in->n);
    pack_into_inputs(system, out, 128);
    pack_into_inputs(system, out + 128, 128);
}

static void sha256_values(void **unused) {
    (void)unused;
    static const unsigned sizes[] = {0, 8, 440, 448, 504, 512, 1024};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint8_t message[MAX_BITS / 8], digest[32];
        fr bits[MAX_BITS];
        unsigned n = sizes[s];
        for (unsigned i = 0; i < n / 8; i++) message[i] = (uint8_t)(i * i * 37 + s);
        for (unsigned i = 0; i < n; i++) bits[i] = message[i / 8] >> (7 - i % 8) & 1 ? FR_ONE : FR_ZERO;
        gadget_input in = {bits, n};
        assignment a;
        synthesize_ok(&a, hashed_into_inputs, &in);
        assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
        sha256_once(digest, message, n / 8);
        for (unsigned half = 0; half < 2; half++) {
            fr_repr found;
            if (a.shape.inputs == 1) break; /* a constant digest packs into nothing new */
            fr_to_repr(&found, &a.inputs[1 + half]);
            for (unsigned i = 0; i < 128; i++)
                assert_int_equal(found.l[i / 64] >> i % 64 & 1, digest[16 * half + i / 8] >> (7 - i % 8) & 1);
        }
        assignment_free(&a);
    }
}

static void poseidon_values(void **unused) {
    (void)unused;
    fr preimage[2], expected;
    draw_numbers(preimage, 2, 7);
    gadget_input in = {preimage, 2};
    assignment a;
    synthesize_ok(&a, poseidon_gen_circuit, &in);
    assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
    poseidon_hash(&expected, poseidon_for(2), POSEIDON_GEN_RANDOMNESS, preimage);
    assert_true(fr_eq(&a.inputs[1], &expected));
    assignment_free(&a);
}

static void three_children(const void *ctx, cs *system) {
    num n[3];
    alloc_nums(system, n, ctx, 3);
    poseidon_tree_circuit(system, n, 3);
}

static void unknown_arities(void **unused) {
    (void)unused;
    gadget_input in = {NULL, 3};
    r1cs_circuit circuit = {"three", three_children, &in, {0}};
    r1cs_shape shape;
    cuzk_error err;
    assert_int_equal(r1cs_measure(&shape, &circuit, &err), CUZK_ERR_INTERNAL);
    circuit.synthesize = insert_circuit;
    assert_int_equal(r1cs_measure(&shape, &circuit, &err), CUZK_ERR_INTERNAL);
}

/* ---- inclusion proofs ---- */

#define MAX_SIBLINGS 64u

typedef struct inclusion {
    tree_shape shape;
    bool allocated; /* is the leaf allocated before? */
    fr leaf, root, siblings[MAX_SIBLINGS];
    uint64_t index;
} inclusion;

static void inclusion_circuit(const void *ctx, cs *system) {
    const inclusion *p = ctx;
    num root = num_alloc(system, &p->root), leaf = {R1CS_ONE, FR_ZERO};
    if (p->allocated) leaf = num_alloc(system, &p->leaf);
    tree_path path = {p->index, p->siblings};
    por_circuit(system, &p->shape, p->allocated ? &leaf : NULL, &p->leaf, &path, &root);
}

static void inclusion_no_input_circuit(const void *ctx, cs *system) {
    const inclusion *p = ctx;
    num root = num_alloc(system, &p->root), leaf = num_alloc(system, &p->leaf), siblings[MAX_SIBLINGS];
    boolean bits[64];
    for (unsigned i = 0; i < tree_index_bits(&p->shape); i++)
        bits[i] = boolean_alloc(system, p->index >> i & 1);
    for (unsigned i = 0; i < tree_siblings(&p->shape); i++) siblings[i] = num_alloc(system, &p->siblings[i]);
    por_circuit_no_input(system, &p->shape, bits, &leaf, siblings, &root);
}

static void native_node(fr *out, const tree_shape *shape, const fr *children, unsigned arity) {
    if (shape->hash == TREE_POSEIDON) {
        poseidon_hash(out, poseidon_for(arity), POSEIDON_TREE, children);
        return;
    }
    uint8_t bytes[8 * 32], digest[32];
    for (unsigned i = 0; i < arity; i++) fr_to_bytes(bytes + 32 * i, &children[i]);
    sha256_to_field(digest, bytes, 32 * arity);
    assert_true(fr_from_bytes(out, digest));
}

static void native_root(inclusion *p) {
    const fr *siblings = p->siblings;
    uint64_t index = p->index;
    p->root = p->leaf;
    for (unsigned level = 0; level < tree_levels(&p->shape); level++) {
        unsigned arity = tree_arity(&p->shape, level);
        fr children[8];
        for (unsigned i = 0; i < arity; i++) children[i] = i == index % arity ? p->root : *siblings++;
        native_node(&p->root, &p->shape, children, arity);
        index /= arity;
    }
}

static void inclusions(void **unused) {
    (void)unused;
    static const struct {
        tree_shape shape;
        unsigned constraints; /* of the gadget with its leaf allocated: circuit specification C.9 */
    } cases[] = {
        {{TREE_POSEIDON, 8, 2, 0, 0}, 1062},        {{TREE_POSEIDON, 8, 6, 0, 0}, 3182},
        {{TREE_POSEIDON, 8, 1, 8, 2}, 1376},        {{TREE_POSEIDON, 8, 1, 4, 0}, 919},
        {{TREE_POSEIDON, 8, 1, 2, 0}, 846},         {{TREE_SHA256, 2, 2, 0, 0}, 2 * 45382 + 2},
        {{TREE_POSEIDON, 2, 3, 0, 0}, 3 * 314 + 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        inclusion p = {.shape = cases[i].shape};
        draw_numbers(p.siblings, MAX_SIBLINGS, i);
        draw_numbers(&p.leaf, 1, 100 + i);
        p.index = (0x35u + i) % (1u << tree_index_bits(&p.shape));
        native_root(&p);
        assignment a;
        for (int allocated = 0; allocated < 2; allocated++) {
            p.allocated = allocated;
            synthesize_ok(&a, inclusion_circuit, &p);
            assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
            assert_int_equal(a.shape.constraints, cases[i].constraints);
            fr index;
            fr_from_u64(&index, p.index);
            assert_int_equal(a.shape.inputs, 2);
            assert_true(fr_eq(&a.inputs[1], &index));
            assignment_free(&a);
        }
        expect_satisfied(inclusion_no_input_circuit, &p);
        fr_add(&p.leaf, &p.leaf, &FR_ONE);
        synthesize_ok(&a, inclusion_circuit, &p);
        assert_int_equal(assignment_first_unsatisfied(&a), a.shape.constraints - 1);
        assignment_free(&a);
    }
}

static void odd_trees(void **unused) {
    (void)unused;
    static const tree_shape shapes[] = {
        {TREE_POSEIDON, 16, 1, 0, 0}, {TREE_POSEIDON, 8, 22, 0, 0}, {TREE_POSEIDON, 3, 1, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        inclusion p = {.shape = shapes[i]};
        r1cs_circuit circuit = {"tree", inclusion_circuit, &p, {0}};
        r1cs_shape shape;
        cuzk_error err;
        assert_int_equal(r1cs_measure(&shape, &circuit, &err), CUZK_ERR_INTERNAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps),
        cmocka_unit_test(table),
        cmocka_unit_test(extreme_numbers_have_bits),
        cmocka_unit_test(packing_nothing),
        cmocka_unit_test(selecting),
        cmocka_unit_test(inserting),
        cmocka_unit_test(sha256_values),
        cmocka_unit_test(poseidon_values),
        cmocka_unit_test(unknown_arities),
        cmocka_unit_test(inclusions),
        cmocka_unit_test(odd_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
