/* Setup, proving and verifying: the reference key and proof bit for bit, other circuits, and everything that
 * must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "temp_dir.h"
#include "text_circuit.h"
#include "variants.h"

#define SMALL "groth16-small/"

static void fr_fixture(fr *out, yajl_val json, const char *key) {
    uint8_t bytes[32];
    hex_decode(bytes, json_str(json, key), sizeof bytes);
    assert_true(fr_from_bytes(out, bytes));
}

static void waste_fixture(toxic_waste *out) {
    yajl_val meta = fixture_json(SMALL "meta.json");
    fr_fixture(&out->alpha, meta, "alpha");
    fr_fixture(&out->beta, meta, "beta");
    fr_fixture(&out->gamma, meta, "gamma");
    fr_fixture(&out->delta, meta, "delta");
    fr_fixture(&out->tau, meta, "tau");
    yajl_tree_free(meta);
}

static void expect_same_file(const char *path, const char *fixture) {
    size_t size;
    char *expected = fixture_read(fixture, &size);
    file_map found;
    assert_int_equal(file_map_open(&found, path, CUZK_ERR_INPUT, NULL), CUZK_OK);
    assert_int_equal(found.size, size);
    assert_memory_equal(found.data, expected, size);
    file_map_close(&found);
    free(expected);
}

static void expect_ok(cuzk_code code, const cuzk_error *err) {
    if (code != CUZK_OK) fail_msg("code %d: %s (%s)", code, err->message, err->path);
}

/* A key of its own for a circuit, and its parameters opened. */
static void make_key(srs *out, const r1cs_circuit *circuit, pool *p) {
    cuzk_error err;
    toxic_waste waste;
    expect_ok(toxic_waste_random(&waste, &err), &err);
    expect_ok(groth16_setup(circuit, &waste, temp_path("key.params"), temp_path("key.vk"), p, NULL, &err),
              &err);
    toxic_waste_wipe(&waste);
    assert_true(fr_is_zero(&waste.tau) && fr_is_zero(&waste.alpha));
    expect_ok(srs_open(out, temp_path("key.params"), NULL, p, &err), &err);
}

/* --- the reference ------------------------------------------------------------------------------------- */

static void setup_gives_the_reference_key(void **state) {
    (void)state;
    cuzk_error err;
    toxic_waste waste;
    text_circuit small;
    waste_fixture(&waste);
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        pool *p;
        expect_ok(pool_create(&p, threads, &err), &err);
        expect_ok(groth16_setup(&small.circuit, &waste, temp_path("small.params"), temp_path("small.vk"), p,
                                NULL, &err),
                  &err);
        expect_same_file(temp_path("small.params"), SMALL "v28-small.params");
        expect_same_file(temp_path("small.vk"), SMALL "v28-small.vk");
        pool_destroy(p);
    }
    text_circuit_free(&small);
    assert_int_equal(mem_in_use(), 0);
}

static void prove_gives_the_reference_proof(void **state) {
    (void)state;
    cuzk_error err;
    text_circuit small;
    srs params;
    fr r, s;
    yajl_val meta = fixture_json(SMALL "meta.json");
    fr_fixture(&r, meta, "r");
    fr_fixture(&s, meta, "s");
    size_t size;
    char *expected = fixture_read(SMALL "proof.bin", &size);
    assert_int_equal(size, PROOF_BYTES);
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    expect_ok(srs_open(&params, CUZK_TEST_DATA "/" SMALL "v28-small.params", NULL, NULL, &err), &err);

    const unsigned threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        pool *p;
        assignment w;
        groth16_proof proof;
        prove_options options = {.r = &r, .s = &s};
        prove_timings timings;
        uint8_t bytes[PROOF_BYTES];
        expect_ok(pool_create(&p, threads[i], &err), &err);
        expect_ok(assignment_create(&w, &small.circuit, NULL, &err), &err);
        expect_ok(groth16_prove(&proof, &params, &w, &options, p, NULL, &timings, &err), &err);
        proof_encode(bytes, &proof);
        assert_memory_equal(bytes, expected, PROOF_BYTES);
        assert_true(timings.total >= timings.quotient + timings.h + timings.l + timings.a + timings.b_g1 +
                                         timings.b_g2 + timings.verify);
        assert_null(w.a);
        assert_null(w.aux);
        assignment_free(&w);
        pool_destroy(p);
    }

    /* The reference proof itself. */
    groth16_proof proof;
    fr input;
    uint8_t bytes[32];
    hex_decode(bytes, json_str(meta, "public_inputs/0"), sizeof bytes);
    assert_true(fr_from_bytes(&input, bytes));
    expect_ok(proof_decode(&proof, 1, (const uint8_t *)expected, size, NULL, &err), &err);
    assert_int_equal(verifier_inputs(params.verifier), 1);
    expect_ok(verify_proof(params.verifier, &proof, &input, 1, NULL, &err), &err);
    srs_close(&params);
    text_circuit_free(&small);
    free(expected);
    yajl_tree_free(meta);
    assert_int_equal(mem_in_use(), 0);
}

/* The 2 KiB PoRep proof of the reference, by its key alone. */
static void verify_the_reference_porep_proof(void **state) {
    (void)state;
    cuzk_error err;
    verifying_key k;
    verifier *v;
    groth16_proof proof;
    fr inputs[39];
    size_t size;
    const char *path =
        CUZK_TEST_DATA "/params/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-"
                       "sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk";
    expect_ok(vk_read(&k, path, NULL, &err), &err);
    expect_ok(verifier_create(&v, &k, &err), &err);
    vk_free(&k);
    assert_int_equal(verifier_inputs(v), 39);
    yajl_val meta = fixture_json("c1/2k-v1_1/meta.json");
    yajl_val list = json_at(meta, "public_inputs_per_partition/0");
    assert_int_equal(json_len(list, ""), 39);
    for (unsigned i = 0; i < 39; i++) {
        char index[8];
        uint8_t bytes[32];
        snprintf(index, sizeof index, "%u", i);
        hex_decode(bytes, json_str(list, index), 32);
        assert_true(fr_from_bytes(&inputs[i], bytes));
    }
    char *bytes = fixture_read("c1/2k-v1_1/proof.bin", &size);
    expect_ok(proof_decode(&proof, 1, (const uint8_t *)bytes, size, NULL, &err), &err);
    expect_ok(verify_proof(v, &proof, inputs, 39, NULL, &err), &err);
    for (unsigned i = 0; i < 39; i++) {
        fr saved = inputs[i];
        fr_add(&inputs[i], &inputs[i], &FR_ONE);
        assert_int_equal(verify_proof(v, &proof, inputs, 39, NULL, &err), CUZK_ERR_PROOF);
        inputs[i] = saved;
    }
    free(bytes);
    yajl_tree_free(meta);
    verifier_destroy(v);
}

/* --- other circuits ------------------------------------------------------------------------------------ */

/* Prove with fresh randomness, verify. */
static void round_trip(const r1cs_circuit *circuit, unsigned threads) {
    cuzk_error err;
    pool *p;
    srs params;
    assignment w;
    groth16_proof proof, second;
    verifying_key k;
    expect_ok(pool_create(&p, threads, &err), &err);
    make_key(&params, circuit, p);
    expect_ok(vk_read(&k, temp_path("key.vk"), p, &err), &err);
    expect_ok(srs_check_vk(&params, &k, temp_path("key.vk"), &err), &err);
    vk_free(&k);
    expect_ok(srs_validate(&params, true, p, NULL, &err), &err);

    expect_ok(assignment_create(&w, circuit, NULL, &err), &err);
    expect_ok(groth16_prove(&proof, &params, &w, NULL, p, NULL, NULL, &err), &err);
    expect_ok(verify_proof(params.verifier, &proof, w.inputs + 1, w.shape.inputs - 1, p, &err), &err);
    assignment_free(&w);
    expect_ok(assignment_create(&w, circuit, NULL, &err), &err);
    expect_ok(groth16_prove(&second, &params, &w, NULL, p, NULL, NULL, &err), &err);
    assert_false(g1_affine_eq(&proof.a, &second.a));
    assert_false(g2_affine_eq(&proof.b, &second.b));
    assert_false(g1_affine_eq(&proof.c, &second.c));
    assignment_free(&w);
    srs_close(&params);
    pool_destroy(p);
    assert_int_equal(mem_in_use(), 0);
}

static void sizes_around_a_power_of_two(void **state) {
    (void)state;
    /* n constraints and n + 1 inputs (ONE included): domains 1, 4, 8, 8 and 16 points, the second and fourth
     * but one full. With no constraint at all, only the constraint of ONE is left. */
    char text[4096] = "";
    for (int n = 0; n <= 4; n++) {
        text_circuit t;
        text_circuit_from(&t, text);
        round_trip(&t.circuit, n % 2 ? 1 : 3);
        text_circuit_free(&t);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "alloc W%d = %d\ninput I%d = %d\nC%d: [W%d*1] * [W%d*1] = [I%d*1]\n", n, n + 2, n + 1,
                 (n + 2) * (n + 2), n, n, n, n + 1);
    }
    /* 3 constraints, ONE alone: 4 points, none to spare. */
    text_circuit t;
    text_circuit_from(&t, "alloc W0 = 3\nalloc W1 = 9\nalloc W2 = 27\n"
                          "C0: [W0*1] * [W0*1] = [W1*1]\nC1: [W1*1] * [W0*1] = [W2*1]\n"
                          "C2: [W2*1 I0*-27] * [I0*5] = []\n");
    round_trip(&t.circuit, 2);
    text_circuit_free(&t);
}

/* A, B and C each use variables the others do not; inputs occur in B; a variable occurs in C alone; one
 * coefficient is zero. */
static void unusual_densities(void **state) {
    (void)state;
    text_circuit t;
    text_circuit_from(&t, "input I1 = 4\nalloc W0 = 6\nalloc W1 = 24\nalloc W2 = 5\nalloc W3 = 7\n"
                          "C0: [W0*1] * [I1*1] = [W1*1]\n"
                          "C1: [W2*2 W0*0] * [I0*3 W3*1] = [W1*4 W0*1 I0*-2]\n");
    round_trip(&t.circuit, 2);
    text_circuit_free(&t);
}

static void many_bits(void **state) {
    (void)state;
    text_circuit t;
    text_circuit_read(&t, "gadgets/pack_into_inputs.txt.zst");
    round_trip(&t.circuit, 2);
    text_circuit_free(&t);
}

/* Enough inputs for the verifier to do without tables. */
static void many_inputs(void **state) {
    (void)state;
    enum { INPUTS = 1100 };
    char *text = malloc(INPUTS * 128), *at = text;
    assert_non_null(text);
    for (int i = 0; i < INPUTS; i++)
        at += sprintf(at, "alloc W%d = %d\ninput I%d = %d\nC%d: [W%d*1] * [W%d*1] = [I%d*1]\n", i, i, i + 1,
                      i * i, i, i, i, i + 1);
    text_circuit t;
    text_circuit_from(&t, text);
    cuzk_error err;
    pool *p;
    srs params;
    assignment w;
    groth16_proof proof;
    expect_ok(pool_create(&p, 2, &err), &err);
    make_key(&params, &t.circuit, p);
    expect_ok(assignment_create(&w, &t.circuit, NULL, &err), &err);
    expect_ok(groth16_prove(&proof, &params, &w, NULL, p, NULL, NULL, &err), &err);
    expect_ok(verify_proof(params.verifier, &proof, w.inputs + 1, INPUTS, p, &err), &err);
    fr_add(&w.inputs[INPUTS], &w.inputs[INPUTS], &FR_ONE);
    assert_int_equal(verify_proof(params.verifier, &proof, w.inputs + 1, INPUTS, p, &err), CUZK_ERR_PROOF);
    assignment_free(&w);
    srs_close(&params);
    pool_destroy(p);
    text_circuit_free(&t);
    free(text);
}

/* --- what must be refused ------------------------------------------------------------------------------ */

static void spoil_a(assignment *w) {
    fr_add(&w->a[7], &w->a[7], &FR_ONE);
}
static void spoil_c(assignment *w) {
    w->c[311] = FR_ZERO;
}
static void spoil_aux(assignment *w) {
    fr_neg(&w->aux[100], &w->aux[100]);
}
static void spoil_input(assignment *w) {
    fr_add(&w->inputs[1], &w->inputs[1], &FR_ONE);
}

static void no_proof_without_a_satisfied_assignment(void **state) {
    (void)state;
    cuzk_error err;
    text_circuit small;
    srs params;
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    expect_ok(srs_open(&params, CUZK_TEST_DATA "/" SMALL "v28-small.params", NULL, NULL, &err), &err);
    void (*const spoil[])(assignment *) = {spoil_a, spoil_c, spoil_aux, spoil_input};
    for (size_t i = 0; i < sizeof spoil / sizeof spoil[0]; i++) {
        assignment w;
        groth16_proof proof, untouched;
        memset(&proof, 0x5a, sizeof proof);
        untouched = proof;
        expect_ok(assignment_create(&w, &small.circuit, NULL, &err), &err);
        spoil[i](&w);
        assert_int_equal(groth16_prove(&proof, &params, &w, NULL, NULL, NULL, NULL, &err), CUZK_ERR_INTERNAL);
        assert_non_null(strstr(err.message, "self-check failed"));
        assert_memory_equal(&proof, &untouched, sizeof proof);
        assignment_free(&w);
    }
    srs_close(&params);
    text_circuit_free(&small);
    assert_int_equal(mem_in_use(), 0);
}

static void prove_needs_the_parameters_of_its_circuit(void **state) {
    (void)state;
    cuzk_error err;
    text_circuit other;
    srs params;
    assignment w;
    groth16_proof proof;
    text_circuit_from(&other, "alloc W0 = 3\ninput I1 = 9\nC0: [W0*1] * [W0*1] = [I1*1]\n");
    expect_ok(srs_open(&params, CUZK_TEST_DATA "/" SMALL "v28-small.params", NULL, NULL, &err), &err);
    expect_ok(assignment_create(&w, &other.circuit, NULL, &err), &err);
    assert_int_equal(groth16_prove(&proof, &params, &w, NULL, NULL, NULL, NULL, &err), CUZK_ERR_PARAMS);
    assert_non_null(strstr(err.message, "l points 313, expected 1"));
    assert_null(w.a);
    assignment_free(&w);
    srs_close(&params);
    text_circuit_free(&other);
}

typedef struct stop_at {
    const char *phase;
    unsigned reports;
    uint64_t last_done, last_total;
    bool backwards;
} stop_at;

static bool stop(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    stop_at *at = ctx;
    at->reports++;
    if (done > total) at->backwards = true;
    at->last_done = done;
    at->last_total = total;
    return !at->phase || strcmp(phase, at->phase) != 0;
}

static void cancelled_in_every_phase(void **state) {
    (void)state;
    cuzk_error err;
    text_circuit small;
    srs params;
    toxic_waste waste;
    waste_fixture(&waste);
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    unsigned files = temp_dir_count();

    stop_at at = {.phase = "points"};
    cuzk_progress progress = {stop, &at};
    assert_int_equal(groth16_setup(&small.circuit, &waste, temp_path("c.params"), temp_path("c.vk"), NULL,
                                   &progress, &err),
                     CUZK_ERR_CANCELLED);
    assert_int_equal(temp_dir_count(), files);

    expect_ok(srs_open(&params, CUZK_TEST_DATA "/" SMALL "v28-small.params", NULL, NULL, &err), &err);
    const char *const phases[] = {"ntt", "msm h", "msm l", "msm a", "msm b_g1", "msm b_g2", "self-check"};
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        assignment w;
        groth16_proof proof;
        at = (stop_at){.phase = phases[i]};
        expect_ok(assignment_create(&w, &small.circuit, NULL, &err), &err);
        assert_int_equal(groth16_prove(&proof, &params, &w, NULL, NULL, &progress, NULL, &err),
                         CUZK_ERR_CANCELLED);
        assert_non_null(strstr(err.message, phases[i]));
        assignment_free(&w);
        assert_int_equal(mem_in_use(), 0);
    }
    at = (stop_at){.phase = "check parameters"};
    assert_int_equal(srs_validate(&params, false, NULL, &progress, &err), CUZK_ERR_CANCELLED);
    srs_close(&params);

    /* And not cancelled: progress ends complete. */
    at = (stop_at){.phase = NULL};
    expect_ok(groth16_setup(&small.circuit, &waste, temp_path("c.params"), temp_path("c.vk"), NULL, &progress,
                            &err),
              &err);
    assert_true(at.reports >= 2 && !at.backwards);
    assert_int_equal(at.last_done, at.last_total);
    text_circuit_free(&small);
}

static void setup_refuses(void **state) {
    (void)state;
    cuzk_error err;
    text_circuit small, loose;
    toxic_waste good, bad;
    waste_fixture(&good);
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    unsigned files = temp_dir_count();

    fr *const elements[] = {&bad.alpha, &bad.beta, &bad.gamma, &bad.delta, &bad.tau};
    const char *const names[] = {"alpha is zero", "beta is zero", "gamma is zero", "delta is zero",
                                 "tau is zero"};
    for (int i = 0; i < 5; i++) {
        bad = good;
        *elements[i] = FR_ZERO;
        assert_int_equal(
            groth16_setup(&small.circuit, &bad, temp_path("x.params"), temp_path("x.vk"), NULL, NULL, &err),
            CUZK_ERR_USAGE);
        assert_non_null(strstr(err.message, names[i]));
    }
    for (unsigned log_n = 0; log_n <= 9; log_n += 3) { /* points of the domain of 2^9 */
        bad = good;
        fr_root_of_unity(&bad.tau, log_n);
        assert_int_equal(
            groth16_setup(&small.circuit, &bad, temp_path("x.params"), temp_path("x.vk"), NULL, NULL, &err),
            CUZK_ERR_USAGE);
        assert_non_null(strstr(err.message, "tau is on the domain"));
    }

    text_circuit_from(&loose, "alloc W0 = 3\nalloc W1 = 9\nC0: [W0*1] * [W0*1] = [I0*9]\n");
    assert_int_equal(
        groth16_setup(&loose.circuit, &good, temp_path("x.params"), temp_path("x.vk"), NULL, NULL, &err),
        CUZK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "aux variable 1 is in no constraint"));
    text_circuit_free(&loose);

    /* A circuit with fewer or more variables and constraints than its shape says. */
    for (int i = 0; i < 6; i++) {
        r1cs_circuit wrong = small.circuit;
        int change = i % 2 ? 1 : -1;
        if (i / 2 == 0) wrong.shape.inputs += (uint32_t)change;
        if (i / 2 == 1) wrong.shape.aux += (uint32_t)change;
        if (i / 2 == 2) wrong.shape.constraints += (uint64_t)change;
        assert_int_equal(
            groth16_setup(&wrong, &good, temp_path("x.params"), temp_path("x.vk"), NULL, NULL, &err),
            CUZK_ERR_INTERNAL);
    }

    r1cs_circuit huge = small.circuit;
    huge.shape.constraints = (uint64_t)1 << 31;
    assert_int_equal(groth16_setup(&huge, &good, temp_path("x.params"), temp_path("x.vk"), NULL, NULL, &err),
                     CUZK_ERR_USAGE);

    assert_int_equal(
        groth16_setup(&small.circuit, &good, temp_path("no/x.params"), temp_path("x.vk"), NULL, NULL, &err),
        CUZK_ERR_USAGE);
    assert_int_equal(
        groth16_setup(&small.circuit, &good, temp_path("x.params"), temp_path("no/x.vk"), NULL, NULL, &err),
        CUZK_ERR_USAGE);
    assert_int_equal(groth16_setup(&small.circuit, &good, "/dev/full", temp_path("x.vk"), NULL, NULL, &err),
                     CUZK_ERR_RESOURCES);
    assert_string_equal(err.path, "/dev/full");

    for (uint64_t budget = 1000; budget < 1u << 24; budget *= 4) { /* too small at one place after another */
        mem_set_budget(budget);
        cuzk_code code =
            groth16_setup(&small.circuit, &good, temp_path("x.params"), temp_path("x.vk"), NULL, NULL, &err);
        mem_set_budget(0);
        if (code == CUZK_OK) {
            assert_true(budget > 1000);
            remove(temp_path("x.params"));
            remove(temp_path("x.vk"));
            break;
        }
        assert_int_equal(code, CUZK_ERR_RESOURCES);
    }
    assert_int_equal(temp_dir_count(), files);
    assert_int_equal(mem_in_use(), 0);
    text_circuit_free(&small);
}

/* --- verification -------------------------------------------------------------------------------------- */

#define STATEMENTS 11

/* Proofs that x_j^2 = y_j for STATEMENTS values, under one key. */
typedef struct squares {
    srs params;
    groth16_proof proofs[STATEMENTS];
    fr inputs[STATEMENTS];
} squares;

static void make_squares(squares *out) {
    cuzk_error err;
    for (int j = 0; j < STATEMENTS; j++) {
        char text[128];
        text_circuit t;
        assignment w;
        snprintf(text, sizeof text, "alloc W0 = %d\ninput I1 = %d\nC0: [W0*1] * [W0*1] = [I1*1]\n", j + 5,
                 (j + 5) * (j + 5));
        text_circuit_from(&t, text);
        if (j == 0) make_key(&out->params, &t.circuit, NULL);
        expect_ok(assignment_create(&w, &t.circuit, NULL, &err), &err);
        out->inputs[j] = w.inputs[1];
        expect_ok(groth16_prove(&out->proofs[j], &out->params, &w, NULL, NULL, NULL, NULL, &err), &err);
        assignment_free(&w);
        text_circuit_free(&t);
    }
}

static void verify_one_and_many(void **state) {
    (void)state;
    cuzk_error err;
    pool *p;
    squares all;
    make_squares(&all);
    const verifier *v = all.params.verifier;
    expect_ok(pool_create(&p, 3, &err), &err);

    for (int j = 0; j < STATEMENTS; j++) {
        expect_ok(verify_proof(v, &all.proofs[j], &all.inputs[j], 1, NULL, &err), &err);
        assert_int_equal(verify_proof(v, &all.proofs[j], &all.inputs[(j + 1) % STATEMENTS], 1, NULL, &err),
                         CUZK_ERR_PROOF);
    }
    for (size_t n = 1; n <= STATEMENTS; n++)
        expect_ok(verify_batch(v, all.proofs, n, all.inputs, 1, n % 2 ? p : NULL, &err), &err);

    /* One bad proof of the batch, at every place. */
    for (size_t bad = 0; bad < STATEMENTS; bad++) {
        groth16_proof saved = all.proofs[bad];
        g1_affine_neg(&all.proofs[bad].c, &all.proofs[bad].c);
        char expected[64];
        snprintf(expected, sizeof expected, "proof %zu (counted from 0) of %d", bad, STATEMENTS);
        assert_int_equal(verify_batch(v, all.proofs, STATEMENTS, all.inputs, 1, p, &err), CUZK_ERR_PROOF);
        assert_non_null(strstr(err.message, expected));
        all.proofs[bad] = saved;
    }
    /* Two proofs changed places: each is valid, but not for its inputs. */
    groth16_proof swapped = all.proofs[3];
    all.proofs[3] = all.proofs[6];
    all.proofs[6] = swapped;
    assert_int_equal(verify_batch(v, all.proofs, STATEMENTS, all.inputs, 1, p, &err), CUZK_ERR_PROOF);
    assert_non_null(strstr(err.message, "proof 3 "));
    /* Errors that would cancel in a sum without random factors. */
    all.proofs[6] = all.proofs[3];
    all.proofs[3] = swapped;
    g1 sum, c;
    g1_affine g;
    g1_generator(&g);
    for (int i = 0; i < 2; i++) {
        g1_from_affine(&c, &all.proofs[i].c);
        g1_from_affine(&sum, &g);
        if (i) g1_neg(&sum, &sum);
        g1_add(&sum, &sum, &c);
        g1_to_affine(&all.proofs[i].c, &sum);
    }
    assert_int_equal(verify_batch(v, all.proofs, 2, all.inputs, 1, p, &err), CUZK_ERR_PROOF);

    assert_int_equal(verify_batch(v, all.proofs, 0, all.inputs, 1, p, &err), CUZK_ERR_USAGE);
    for (size_t n_inputs = 0; n_inputs <= 2; n_inputs += 2) {
        assert_int_equal(verify_proof(v, &all.proofs[4], all.inputs, n_inputs, p, &err), CUZK_ERR_USAGE);
        assert_int_equal(verify_batch(v, all.proofs, 3, all.inputs, n_inputs, p, &err), CUZK_ERR_USAGE);
        assert_non_null(strstr(err.message, "the verifying key is for 1"));
    }
    srs_close(&all.params);
    pool_destroy(p);
}

/* Public inputs from tiny to r - 1, so that the sum over the inputs sees carries and the top digit. */
static void inputs_of_every_size(void **state) {
    (void)state;
    cuzk_error err;
    const char *const roots[] = {"0",
                                 "1",
                                 "-1",
                                 "18446744073709551615",
                                 "-18446744073709551615",
                                 "0x73eda753299d7d483339d80809a1d80553bda402fffe5bfefffffffeffffffff",
                                 "0x4000000000000000000000000000000000000000000000000000000000000000",
                                 "0x3fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        char text[512];
        text_circuit t;
        assignment w;
        srs params;
        groth16_proof proof;
        snprintf(text, sizeof text,
                 "input I1 = %s\ninput I2 = %s\nalloc W0 = %s\nC0: [I1*1] * [I0*1] = [W0*1]\n"
                 "C1: [W0*7] * [I0*3] = [I2*21]\n",
                 roots[i], roots[i], roots[i]);
        text_circuit_from(&t, text);
        make_key(&params, &t.circuit, NULL);
        expect_ok(assignment_create(&w, &t.circuit, NULL, &err), &err);
        expect_ok(groth16_prove(&proof, &params, &w, NULL, NULL, NULL, NULL, &err), &err);
        expect_ok(verify_proof(params.verifier, &proof, w.inputs + 1, 2, NULL, &err), &err);
        fr_add(&w.inputs[1], &w.inputs[1], &FR_ONE);
        assert_int_equal(verify_proof(params.verifier, &proof, w.inputs + 1, 2, NULL, &err), CUZK_ERR_PROOF);
        assignment_free(&w);
        srs_close(&params);
        text_circuit_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest reference[] = {
        cmocka_unit_test(setup_gives_the_reference_key),
        cmocka_unit_test(prove_gives_the_reference_proof),
        cmocka_unit_test(verify_the_reference_porep_proof),
    };
    const struct CMUnitTest rest[] = {
        cmocka_unit_test(sizes_around_a_power_of_two),
        cmocka_unit_test(unusual_densities),
        cmocka_unit_test(many_bits),
        cmocka_unit_test(many_inputs),
        cmocka_unit_test(no_proof_without_a_satisfied_assignment),
        cmocka_unit_test(prove_needs_the_parameters_of_its_circuit),
        cmocka_unit_test(cancelled_in_every_phase),
        cmocka_unit_test(setup_refuses),
        cmocka_unit_test(verify_one_and_many),
        cmocka_unit_test(inputs_of_every_size),
    };
    if (temp_dir_make(NULL) != 0) return 1;
    int failed = 0;
    RUN_ON_VARIANTS(failed, reference);
    field_init(NULL);
    failed += cmocka_run_group_tests_name("every other test", rest, NULL, NULL);
    temp_dir_remove(NULL);
    return failed;
}
