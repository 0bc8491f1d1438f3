/* Linear combinations, the constraint system's contract, and the assignment of whole text circuits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/sha.h>

#include "fixture.h"
#include "text_circuit.h"

#include "base/mem.h"
#include "r1cs/assignment.h"

/* ---- linear combinations against a dense array ---- */

#define VARS 40u /* 20 inputs, 20 aux */

static r1cs_var var_of(uint32_t slot) {
    return slot < VARS / 2 ? slot : (R1CS_AUX | (slot - VARS / 2));
}

typedef struct dense {
    fr coeff[VARS];
    bool present[VARS];
} dense;

static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void draw_fr(fr *out, uint64_t *state) {
    switch (draw(state) % 4) {
    case 0:
        *out = FR_ONE;
        break;
    case 1:
        *out = FR_MINUS_ONE;
        break;
    default:
        fr_from_u64(out, draw(state) % 3 ? draw(state) : 0);
        break;
    }
}

static void dense_add(dense *d, uint32_t slot, const fr *coeff) {
    if (!d->present[slot]) d->coeff[slot] = FR_ZERO;
    d->present[slot] = true;
    fr_add(&d->coeff[slot], &d->coeff[slot], coeff);
}

static void draw_lc(lc *l, dense *d, uint64_t *state) {
    lc_clear(l);
    memset(d, 0, sizeof *d);
    for (uint32_t n = draw(state) % 30; n > 0; n--) {
        uint32_t slot = draw(state) % VARS;
        fr coeff;
        draw_fr(&coeff, state);
        lc_add_term(l, var_of(slot), &coeff);
        dense_add(d, slot, &coeff);
    }
}

static void expect_dense(const lc *l, const dense *d) {
    uint32_t i = 0;
    for (uint32_t slot = 0; slot < VARS; slot++) {
        if (!d->present[slot]) continue;
        assert_true(i < l->n);
        assert_int_equal(l->terms[i].var, var_of(slot));
        assert_true(fr_eq(&l->terms[i].coeff, &d->coeff[slot]));
        i++;
    }
    assert_int_equal(i, l->n);
}

static void lc_matches_dense(void **unused) {
    (void)unused;
    uint64_t state = 1;
    lc x = LC_EMPTY, y = LC_EMPTY, z = LC_EMPTY;
    dense dx, dy;
    for (int round = 0; round < 4000; round++) {
        draw_lc(&x, &dx, &state);
        draw_lc(&y, &dy, &state);
        expect_dense(&x, &dx);
        fr k, minus;
        draw_fr(&k, &state);
        unsigned op = draw(&state) % 4;
        if (op == 0) lc_add(&x, &y);
        if (op == 1) lc_sub(&x, &y);
        if (op == 2) lc_add_scaled(&x, &k, &y);
        if (op == 3) lc_scale(&x, &k);
        for (uint32_t slot = 0; slot < VARS; slot++) {
            if (op == 3 && dx.present[slot]) fr_mul(&dx.coeff[slot], &dx.coeff[slot], &k);
            if (op == 3 || !dy.present[slot]) continue;
            fr_neg(&minus, &dy.coeff[slot]);
            if (op == 2) fr_mul(&dy.coeff[slot], &dy.coeff[slot], &k);
            dense_add(&dx, slot, op == 1 ? &minus : &dy.coeff[slot]);
        }
        expect_dense(&x, &dx);
        lc_copy(&z, &x);
        expect_dense(&z, &dx);
    }
    lc_free(&x);
    assert_null(x.terms);
    lc_free(&y);
    lc_free(&z);
}

static void lc_inserting_its_own_coefficient(void **unused) {
    (void)unused;
    lc l = LC_EMPTY;
    fr seven;
    fr_from_u64(&seven, 7);
    lc_add_term(&l, 1000, &seven);
    for (r1cs_var v = 999; v > 0; v--) lc_add_term(&l, v, &l.terms[l.n - 1].coeff);
    assert_int_equal(l.n, 1000);
    for (uint32_t i = 0; i < l.n; i++) {
        assert_int_equal(l.terms[i].var, i + 1);
        assert_true(fr_eq(&l.terms[i].coeff, &seven));
    }
    lc_free(&l);
}

static void lc_cancelling_terms_stay(void **unused) {
    (void)unused;
    lc l = LC_EMPTY, m = LC_EMPTY;
    lc_add_one(&l, 3);
    lc_sub_one(&l, 3);
    assert_int_equal(l.n, 1);
    assert_true(fr_is_zero(&l.terms[0].coeff));
    m.failed = true;
    lc_add(&l, &m);
    assert_true(l.failed);
    lc_clear(&l);
    assert_true(l.failed);
    lc_free(&l);
    assert_false(l.failed);
}

/* ---- the constraint system ---- */

/* x * x = y, y * x = z, z + x + 5 = input. */
static void cube(const void *ctx, cs *system) {
    uint64_t x = ctx ? *(const uint64_t *)ctx : 0;
    fr vx, vy, vz, sum, five;
    fr_from_u64(&five, 5);
    fr_from_u64(&vx, x);
    fr_sqr(&vy, &vx);
    fr_mul(&vz, &vy, &vx);
    fr_add(&sum, &vz, &vx);
    fr_add(&sum, &sum, &five);
    if (x == 99) fr_add(&vz, &vz, &FR_ONE); /* does not hold */
    cs_enter(system, "cube %u", 3u);
    r1cs_var wx = cs_alloc(system, &vx), wy = cs_alloc(system, &vy);
    lc *a = &system->a, *b = &system->b, *c = &system->c;
    lc_clear(a), lc_clear(b), lc_clear(c);
    lc_add_one(a, wx);
    lc_add_one(c, wy);
    cs_enforce(system, a, a, c);
    cs_enter(system, "%s", "product");
    r1cs_var wz = cs_alloc(system, &vz);
    lc_clear(a), lc_clear(b), lc_clear(c);
    lc_add_one(a, wy);
    lc_add_one(b, wx);
    lc_add_one(c, wz);
    cs_enforce(system, a, b, c);
    cs_leave(system);
    cs_leave(system);
    cs_enter(system, "out");
    r1cs_var in = cs_alloc_input(system, &sum);
    lc_clear(a), lc_clear(b), lc_clear(c);
    lc_add_one(a, wz);
    lc_add_term(a, R1CS_ONE, &five);
    lc_add_one(a, wx);
    lc_add_one(b, R1CS_ONE);
    lc_add_one(c, in);
    cs_enforce(system, a, b, c);
    cs_leave(system);
}

static const r1cs_shape cube_shape = {.inputs = 2, .aux = 3, .constraints = 3};

static void expect_u64(const fr *a, uint64_t value) {
    fr expected;
    fr_from_u64(&expected, value);
    assert_true(fr_eq(a, &expected));
}

static void small_assignment(void **unused) {
    (void)unused;
    uint64_t x = 3;
    r1cs_circuit circuit = {"cube", cube, &x, cube_shape};
    assignment out;
    cuzk_error err;
    uint64_t before = mem_in_use();
    assert_int_equal(assignment_create(&out, &circuit, NULL, &err), CUZK_OK);
    assert_int_equal(mem_in_use() - before, assignment_bytes(&cube_shape));
    assert_int_equal(out.log_domain, 3);
    static const uint64_t a[8] = {3, 9, 35, 1, 35}, b[8] = {3, 3, 1}, c[8] = {9, 27, 35};
    for (int i = 0; i < 8; i++) {
        expect_u64(&out.a[i], a[i]);
        expect_u64(&out.b[i], b[i]);
        expect_u64(&out.c[i], c[i]);
    }
    expect_u64(&out.inputs[0], 1);
    expect_u64(&out.inputs[1], 35);
    expect_u64(&out.aux[2], 27);
    assert_int_equal(out.a_aux_density[0], 7);
    assert_int_equal(out.b_aux_density[0], 1);
    assert_int_equal(out.b_input_density[0], 1);
    assert_int_equal(out.a_aux_count, 3);
    assert_int_equal(out.b_aux_count, 1);
    assert_int_equal(out.b_input_count, 1);
    assert_int_equal(assignment_first_unsatisfied(&out), UINT64_MAX);
    assignment_free_values(&out);
    assert_null(out.a);
    assert_non_null(out.aux);
    assignment_free(&out);
    assert_int_equal(mem_in_use(), before);

    x = 99;
    assert_int_equal(assignment_create(&out, &circuit, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_first_unsatisfied(&out), 1);
    assignment_free(&out);
}

static void wrong_shapes(void **unused) {
    (void)unused;
    uint64_t x = 3;
    r1cs_shape shapes[] = {{3, 3, 3}, {1, 3, 3}, {2, 2, 3}, {2, 4, 3}, {2, 3, 2}, {2, 3, 4}, {0, 3, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        r1cs_circuit circuit = {"cube", cube, &x, shapes[i]};
        assignment out;
        cuzk_error err;
        uint64_t before = mem_in_use();
        assert_int_equal(assignment_create(&out, &circuit, NULL, &err), CUZK_ERR_INTERNAL);
        assert_int_equal(mem_in_use(), before);
        assert_null(out.a);
    }
    r1cs_circuit circuit = {"cube", cube, &x, cube_shape};
    assignment out;
    cuzk_error err;
    mem_set_budget(mem_in_use() + 100);
    assert_int_equal(assignment_create(&out, &circuit, NULL, &err), CUZK_ERR_RESOURCES);
    mem_set_budget(0);
}

static void no_value(const void *ctx, cs *system) {
    (void)ctx;
    cs_alloc(system, NULL);
    cs_fail(system, CUZK_ERR_INPUT, "a second error");
    cs_alloc(system, &FR_ONE);
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static void out_of_memory(const void *ctx, cs *system) {
    (void)ctx;
    system->b.failed = true;
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static void errors_are_sticky(void **unused) {
    (void)unused;
    r1cs_circuit circuit = {"no value", no_value, NULL, {1, 1, 0}};
    assignment out;
    cuzk_error err;
    assert_int_equal(assignment_create(&out, &circuit, NULL, &err), CUZK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "without a value"));
    r1cs_shape shape;
    assert_int_equal(r1cs_measure(&shape, &circuit, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.message, "a second error");
    assert_int_equal(shape.aux, 1);
    assert_int_equal(shape.constraints, 0);
    circuit.synthesize = out_of_memory;
    assert_int_equal(r1cs_measure(&shape, &circuit, &err), CUZK_ERR_RESOURCES);
}

static void many(const void *ctx, cs *system) {
    for (uint64_t i = 0; i < *(const uint64_t *)ctx; i++)
        cs_enforce(system, &system->a, &system->b, &system->c);
}

static bool stop_at_second(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    assert_string_equal(phase, "synthesis");
    assert_int_equal(total, 1000000);
    assert_true(done <= total);
    return ++*(int *)ctx < 2;
}

static void cancelling(void **unused) {
    (void)unused;
    uint64_t n = 1000000;
    int calls = 0;
    r1cs_circuit circuit = {"many", many, &n, {1, 0, n}};
    cuzk_progress progress = {stop_at_second, &calls};
    assignment out;
    cuzk_error err;
    assert_int_equal(assignment_create(&out, &circuit, &progress, &err), CUZK_ERR_CANCELLED);
    assert_int_equal(calls, 2);
    assert_int_equal(assignment_create(&out, &circuit, NULL, &err), CUZK_OK);
    assignment_free(&out);
}

static void locating(void **unused) {
    (void)unused;
    r1cs_circuit circuit = {"cube", cube, NULL, cube_shape};
    cs_path path;
    cuzk_error err;
    static const char *const expected[] = {"cube 3", "cube 3/product", "out"};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(r1cs_locate(&path, &circuit, i, &err), CUZK_OK);
        assert_string_equal(path.text, expected[i]);
    }
    assert_int_equal(r1cs_locate(&path, &circuit, 3, &err), CUZK_ERR_USAGE);
}

static void paths(void **unused) {
    (void)unused;
    cs_path path = {.depth = 0};
    char name[100];
    memset(name, 'x', 99);
    name[99] = 0;
    for (int i = 0; i < 40; i++) cs_path_enter(&path, name);
    assert_int_equal(strlen(path.text), sizeof path.text - 1);
    for (int i = 0; i < 38; i++) cs_path_leave(&path);
    assert_int_equal(strlen(path.text), 199);
    cs_path_leave(&path);
    cs_path_leave(&path);
    assert_string_equal(path.text, "");
    cs_path_leave(&path);
    cs_path_enter(&path, "a");
    cs_path_enter(&path, "b");
    assert_string_equal(path.text, "a/b");
}

/* ---- whole dumps ---- */

static void expect_values(const fr *values, size_t n, yajl_val json, const char *key) {
    SHA256_CTX hash;
    SHA256_Init(&hash);
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &values[i]);
        SHA256_Update(&hash, bytes, sizeof bytes);
    }
    uint8_t digest[32];
    SHA256_Final(digest, &hash);
    assert_hex(digest, 32, json_str(json, key));
}

static void text_circuits(void **unused) {
    (void)unused;
    static const char *const names[] = {
        "boolean",    "encode_decode", "insert_2",       "insert_4",         "insert_8",
        "num_ops",    "poseidon_2",    "num_to_bits_le", "pack_into_inputs", "pack_bits",
        "select",     "uint64",        "poseidon_11",    "uint32_addmany",   "num_to_bits_le_strict",
        "poseidon_4", "poseidon_8",    "sha256_1block"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[64];
        snprintf(file, sizeof file, "gadgets/%s.txt.zst", names[i]);
        text_circuit t;
        text_circuit_read(&t, file);
        snprintf(file, sizeof file, "gadgets/%s.json", names[i]);
        yajl_val json = fixture_json(file);
        assert_int_equal(t.circuit.shape.inputs, json_int(json, "num_inputs"));
        assert_int_equal(t.circuit.shape.aux, json_int(json, "num_aux"));
        assert_int_equal(t.circuit.shape.constraints, json_int(json, "num_constraints"));
        assignment out;
        cuzk_error err;
        assert_int_equal(assignment_create(&out, &t.circuit, NULL, &err), CUZK_OK);
        assert_int_equal(assignment_first_unsatisfied(&out), UINT64_MAX);
        expect_values(out.aux, out.shape.aux, json, "aux_sha256");
        expect_values(out.a, out.shape.constraints, json, "a_sha256");
        expect_values(out.b, out.shape.constraints, json, "b_sha256");
        expect_values(out.c, out.shape.constraints, json, "c_sha256");
        assignment_free(&out);
        yajl_tree_free(json);
        text_circuit_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lc_matches_dense),
        cmocka_unit_test(lc_inserting_its_own_coefficient),
        cmocka_unit_test(lc_cancelling_terms_stay),
        cmocka_unit_test(small_assignment),
        cmocka_unit_test(wrong_shapes),
        cmocka_unit_test(errors_are_sticky),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(locating),
        cmocka_unit_test(paths),
        cmocka_unit_test(text_circuits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
