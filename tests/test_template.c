/* Matrices, compact witnesses and their expansion against the generic synthesis, gadget by gadget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"
#include "synthesis_check.h"
#include "variants.h"

#include "gadget/insertion.h"
#include "gadget/multipack.h"
#include "gadget/por.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"
#include "r1cs/expand.h"

/* A circuit of random values, forms and constants, all from its seed. */
typedef struct random_circuit {
    uint64_t seed;
    unsigned n;
} random_circuit;

static fr random_fr(uint64_t *state) {
    fr_repr plain = {{rng_next(state), rng_next(state), rng_next(state), rng_next(state) >> 2}};
    if (rng_next(state) % 8 == 0) plain = (fr_repr){{rng_next(state) % 3, 0, 0, 0}};
    fr out;
    fr_from_repr(&out, &plain);
    return out;
}

static num random_num(cs *system, uint64_t *state) {
    fr value = random_fr(state);
    return num_alloc(system, &value);
}

/* `constants` of 16 are constants, `negated` of 16 negations. */
static boolean random_boolean(cs *system, uint64_t *state, unsigned constants, unsigned negated) {
    uint64_t x = rng_next(state);
    if (x % 16 < constants) return boolean_constant(x >> 8 & 1);
    boolean bit = boolean_alloc(system, x >> 9 & 1);
    return (x >> 16) % 16 < negated ? boolean_not(bit) : bit;
}

static void sha256_random(cs *system, const random_circuit *c, unsigned constants, unsigned negated) {
    uint64_t state = c->seed;
    boolean bits[1024], out[256];
    for (unsigned i = 0; i < c->n; i++) bits[i] = random_boolean(system, &state, constants, negated);
    sha256_circuit(system, out, bits, c->n);
    pack_bits(system, out, 256);
    /* the same structure again, with other values */
    for (unsigned i = 0; i < c->n; i++)
        if (!boolean_is_constant(bits[i])) bits[i] = boolean_not(boolean_not(out[i % 256]));
}

static void sha256_plain(const void *ctx, cs *system) {
    sha256_random(system, ctx, 0, 0);
}
static void sha256_constants(const void *ctx, cs *system) {
    sha256_random(system, ctx, 3, 0);
}
static void sha256_negated(const void *ctx, cs *system) {
    sha256_random(system, ctx, 0, 5);
}
static void sha256_mixed(const void *ctx, cs *system) {
    sha256_random(system, ctx, 4, 4);
}
static void sha256_all_constant(const void *ctx, cs *system) {
    sha256_random(system, ctx, 16, 0);
    boolean_alloc(system, true);
}

/* The blocks of a label that hold the layer, for every layer: 256 bits, the layer, 64 bits, zeros. */
static void label_headers(const void *ctx, cs *system) {
    const random_circuit *c = ctx;
    uint64_t state = c->seed;
    for (unsigned layer = 1; layer <= c->n; layer++) {
        boolean bits[512], out[256];
        for (unsigned i = 0; i < 512; i++) bits[i] = boolean_constant(false);
        for (unsigned i = 0; i < 256; i++)
            if (i != 248) bits[i] = random_boolean(system, &state, 0, 0);
        for (unsigned i = 0; i < 32; i++) bits[256 + i] = boolean_constant(layer >> (31 - i) & 1);
        for (unsigned i = 0; i < 64; i++) bits[288 + i] = random_boolean(system, &state, 0, 0);
        sha256_circuit(system, out, bits, 512);
    }
}

static void hashes(const void *ctx, cs *system) {
    const random_circuit *c = ctx;
    static const unsigned arities[] = {2, 4, 8, 11};
    uint64_t state = c->seed;
    for (unsigned i = 0; i < c->n; i++) {
        num preimage[11];
        for (unsigned k = 0; k < 11; k++) preimage[k] = random_num(system, &state);
        poseidon_circuit(system, poseidon_for(arities[i % 4]),
                         i % 5 == 0 && i % 4 == 0 ? POSEIDON_GEN_RANDOMNESS : POSEIDON_TREE, preimage);
    }
    num one = random_num(system, &state);
    poseidon_tree_circuit(system, (num[]){one, one}, 2); /* one variable twice: no block */
}

static void numbers(const void *ctx, cs *system) {
    const random_circuit *c = ctx;
    uint64_t state = c->seed;
    boolean bits[256];
    num n[8], out[8];
    for (unsigned i = 0; i < c->n; i++) {
        for (unsigned k = 0; k < 8; k++) n[k] = random_num(system, &state);
        num_inputize(system, &n[0]);
        num_to_bits_le(system, bits, &n[0]);
        num_to_allocated_bits(system, bits, &n[1]);
        bits[3] = boolean_not(bits[3]);
        pack_bits(system, bits, i % 3 ? 254 : 17);
        num_to_bits_le_strict(system, bits, &n[2]);
        pack_into_inputs(system, bits, 255);
        num_insert(system, out, &n[0], bits + 5, n + 1, 2u << i % 3);
        num sum = num_add(system, &out[0], &out[1]);
        num_enforce_equal(system, &sum, &n[3]); /* does not hold */
        pack_bits(system, bits, 0);
    }
}

static void trees(const void *ctx, cs *system) {
    const random_circuit *c = ctx;
    uint64_t state = c->seed;
    const tree_shape shapes[] = {{TREE_POSEIDON, 8, 2, 4, 2}, {TREE_SHA256, 2, 1, 0, 0}};
    fr siblings[32];
    for (unsigned i = 0; i < 32; i++) siblings[i] = random_fr(&state);
    num root = random_num(system, &state);
    fr leaf = random_fr(&state);
    for (unsigned i = 0; i < c->n; i++) {
        tree_path path = {rng_next(&state), siblings};
        por_circuit(system, &shapes[i % 2], NULL, &leaf, &path, &root);
    }
}

static void run(const char *name, void (*synthesize)(const void *, cs *), uint64_t seed, unsigned n) {
    random_circuit ctx = {seed, n};
    r1cs_circuit circuit = {name, synthesize, &ctx, {0, 0, 0}};
    cuzk_error err;
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    check_synthesis(&circuit, NULL);
}

static void sha256_blocks(void **unused) {
    (void)unused;
    run("sha256", sha256_plain, 1, 512);
    run("sha256", sha256_plain, 2, 256);
    run("sha256", sha256_constants, 3, 700);
    run("sha256", sha256_negated, 4, 440);
    run("sha256", sha256_mixed, 5, 447);
    run("sha256", sha256_mixed, 6, 448);
    run("sha256", sha256_all_constant, 7, 100);
    run("sha256", sha256_plain, 8, 0);
    run("label headers", label_headers, 9, 11);
}

static void poseidon_blocks(void **unused) {
    (void)unused;
    run("poseidon", hashes, 1, 8);
}

static void number_blocks(void **unused) {
    (void)unused;
    run("numbers", numbers, 1, 1);
    run("numbers", numbers, 2, 9);
}

static void tree_blocks(void **unused) {
    (void)unused;
    run("trees", trees, 1, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_blocks),
        cmocka_unit_test(poseidon_blocks),
        cmocka_unit_test(number_blocks),
        cmocka_unit_test(tree_blocks),
    };
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests);
    return failed;
}
