/* Every way to store linear combinations gives the assignment that the reference's digests describe, also
 * where combinations grow, spill, or get their terms out of order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "storage_check.h"

#include "base/mem.h"
#include "cli/cuzk-bench/lc_strategy.h"
#include "r1cs/digest.h"

static void sector_2k(void **unused) {
    (void)unused;
    check_storage("c1/2k-v1_1/c1.json", "r1cs/porep-2k/digest.json", false);
}

/* ---- combinations of every size, with terms that repeat ---- */

#define VARIABLES 200u

/* Constraint n has n terms in A (aux), n % 7 in B, and the value of both sides multiplied in C; B's terms of
 * inputs come from a gadget that adds some twice. */
static void growing(const void *ctx, cs *system) {
    (void)ctx;
    r1cs_var aux[VARIABLES], inputs[8];
    fr values[VARIABLES], input_values[8];
    for (unsigned i = 0; i < 8; i++) {
        fr_from_u64(&input_values[i], 3 * i + 1);
        inputs[i] = cs_alloc_input(system, &input_values[i]);
    }
    for (unsigned i = 0; i < VARIABLES; i++) {
        fr_from_u64(&values[i], 1000 * i + 17);
        aux[i] = cs_alloc(system, &values[i]);
    }
    for (unsigned n = 0; n <= VARIABLES; n++) {
        fr a = FR_ZERO, b = FR_ZERO, product, coeff;
        lc_clear(&system->a);
        lc_clear(&system->b);
        lc_clear(&system->c);
        for (unsigned i = 0; i < n; i++) {
            const unsigned k = n % 3 ? i : i * 7 % VARIABLES; /* ascending neighbours, or with gaps */
            fr_from_u64(&coeff, i % 5);                       /* zeros too */
            lc_add_term(&system->a, aux[k], &coeff);
            fr_mul(&product, &coeff, &values[k]);
            fr_add(&a, &a, &product);
        }
        for (unsigned i = 0; i < n % 7; i++) {
            lc_add_one(&system->b, inputs[i]);
            fr_add(&b, &b, &input_values[i]);
        }
        fr_mul(&product, &a, &b);
        r1cs_var c = cs_alloc(system, &product);
        lc_add_one(&system->c, c);
        cs_enforce(system, &system->a, &system->b, &system->c);
    }
}

static void every_size(void **unused) {
    (void)unused;
    r1cs_circuit circuit = {"growing", growing, NULL, {0}};
    cuzk_error err;
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    assignment expected, found = {0};
    assert_int_equal(assignment_create(&expected, &circuit, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_first_unsatisfied(&expected), UINT64_MAX);
    size_t n;
    const lc_strategy *const *all = lc_strategies(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i]->name, "none") == 0) continue;
        if (lc_strategy_synthesize(&found, &circuit, all[i], 0, NULL, NULL, &err))
            fail_msg("%s", err.message);
        check_same_assignment(all[i]->name, &found, &expected);
    }
    assignment_free(&found);
    assignment_free(&expected);
}

/* ---- what is counted ---- */

static const lc_strategy *strategy(const char *name) {
    const lc_strategy *found = lc_strategy_find(name);
    if (!found) fail_msg("no strategy %s", name);
    return found;
}

/* One constraint: (1 + x + y) * x = 0, x = 0. */
static void single(const void *ctx, cs *system) {
    (void)ctx;
    r1cs_var x = cs_alloc(system, &FR_ZERO), y = cs_alloc(system, &FR_ONE);
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
    lc_add_one(&system->a, R1CS_ONE);
    lc_add_one(&system->a, x);
    lc_add_one(&system->a, y);
    lc_add_one(&system->b, x);
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static lc_trace traced(const char *name, const r1cs_circuit *circuit, uint64_t stop) {
    assignment out = {0};
    cuzk_error err;
    lc_trace trace = {0};
    const lc_strategy *s = strategy(name);
    if (lc_strategy_synthesize(&out, circuit, s, stop, &trace, NULL, &err)) fail_msg("%s", err.message);
    lc_trace_free(&trace);
    assignment_free(&out);
    return trace;
}

static void counts(void **unused) {
    (void)unused;
    const r1cs_circuit circuit = {"single", single, NULL, {1, 2, 1}};
    assert_int_equal(strategy("vec")->bytes, 96); /* the size of bellperson's LinearCombination */
    assert_int_equal(strategy("small:1")->bytes, 2 * (8 + 40 + 24));
    assert_int_equal(strategy("small:4")->bytes, 2 * (8 + 160 + 24));
    lc_trace vec = traced("vec", &circuit, 0), small = traced("small:2", &circuit, 0),
             spilled = traced("small:1", &circuit, 0), in_place = traced("vec/in-place", &circuit, 0);
    assert_int_equal(vec.enforces, 1);
    /* Buffers: inputs and aux of A, aux of B. Two aux terms spill from one inline cell. */
    assert_int_equal(vec.buffers, 3);
    assert_int_equal(small.buffers, 0);
    assert_int_equal(spilled.buffers, 1);
    /* Written: six empty indexers of 32 bytes, four terms of 40 bytes with 32 in their indexers, and a move
     * for each term and for the empty C. */
    assert_int_equal(in_place.written, 6 * 32 + 4 * (40 + 32));
    assert_int_equal(vec.written, 6 * 32 + 4 * (40 + 32) + 5 * 96);
    /* A line more or less for where the stack and the heap put them. */
    assert_in_range(in_place.lines, 3 * 96 / 64 + 3, 5 + 1 + 6);
    assert_true(vec.lines > in_place.lines);
    lc_trace scratch = traced("scratch", &circuit, 0);
    assert_int_equal(scratch.buffers, 0);

    lc_terms terms;
    cuzk_error err;
    assert_int_equal(lc_count_terms(&terms, &circuit, 0, &err), CUZK_OK);
    assert_int_equal(terms.total, 4);
    assert_int_equal(terms.most, 3);
    assert_int_equal(terms.inputs[0][1], 1);
    assert_int_equal(terms.aux[0][2], 1);
    assert_int_equal(terms.aux[1][1], 1);
    assert_int_equal(terms.aux[2][0], 1);
    assert_int_equal(terms.inputs[2][0], 1);
}

/* A slice ends where it shall; an error of the circuit is no end of a slice. */
static void slices(void **unused) {
    (void)unused;
    r1cs_circuit circuit = {"growing", growing, NULL, {0}};
    cuzk_error err;
    lc_terms terms;
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    assert_int_equal(traced("pool", &circuit, 10).enforces, 10);
    assert_int_equal(traced("arena", &circuit, 0).enforces, VARIABLES + 1);
    assert_int_equal(lc_count_terms(&terms, &circuit, 4, &err), CUZK_OK);
    assert_int_equal(terms.aux[0][3], 1);
    assert_int_equal(terms.aux[0][4], 0);
    circuit.shape.constraints--;
    assignment out = {0};
    assert_int_equal(lc_strategy_synthesize(&out, &circuit, strategy("vec"), 0, NULL, NULL, &err),
                     CUZK_ERR_INTERNAL);
    assert_null(out.a);
    assert_int_equal(mem_in_use(), 0);
}

static void names(void **unused) {
    (void)unused;
    assert_null(lc_strategy_find("small:3"));
    assert_null(lc_strategy_find(""));
    assert_string_equal(lc_strategy_names(), "vec, small:1, small:2, small:4, small:8, pool, arena, scratch");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),  cmocka_unit_test(every_size), cmocka_unit_test(counts),
        cmocka_unit_test(slices), cmocka_unit_test(sector_2k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
