/*
 * Synthesis of sectors of the real sizes, from generated phase-1 outputs: the three ways to an assignment
 * agree on a 512 MiB sector; and one partition of a 32 GiB sector has the network's structure, satisfies
 * every constraint, and has the public inputs that a verifier derives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hex.h"
#include "circuit/catalog.h"
#include "circuit/porep.h"
#include "field/field.h"
#include "filecoin/fabricate.h"
#include "filecoin/public_inputs.h"
#include "filecoin/vanilla.h"
#include "r1cs/digest.h"
#include "r1cs/expand.h"
#include "r1cs/witness.h"
#include "synthesis_check.h"

static pool *threads;

static c1 *generate(const char *registered_proof) {
    c1 *c;
    cuzk_error err;
    if (c1_fabricate(&c, registered_porep_by_name(registered_proof), 1000, 7, 1, threads, &err))
        fail_msg("%s", err.message);
    return c;
}

static void three_ways_512m(void **state) {
    (void)state;
    c1 *c = generate("StackedDrg512MiBV1_1");
    porep_circuit partition;
    r1cs_circuit circuit;
    r1cs_parts parts;
    porep_of_c1(&partition, &circuit, c, 0);
    porep_parts(&parts, &partition);
    check_synthesis(&circuit, &parts);
    c1_free(c);
}

#define ROWS 4096u

typedef struct rows_check {
    const compact_witness *w;
    _Atomic uint64_t first_bad;
    atomic_bool damaged;
} rows_check;

static void check_rows(void *ctx, size_t begin, size_t end) {
    rows_check *check = ctx;
    static _Thread_local fr a[ROWS] __attribute__((aligned(64))), b[ROWS] __attribute__((aligned(64))),
        c[ROWS] __attribute__((aligned(64)));
    for (size_t first = begin; first < end; first += ROWS) {
        size_t n = end - first < ROWS ? end - first : ROWS;
        if (!expand_rows(check->w, EXPAND_TEMPLATES, first, n, a, b, c, false)) check->damaged = true;
        for (size_t i = 0; i < n; i++) {
            fr product;
            fr_mul(&product, &a[i], &b[i]);
            if (!fr_eq(&product, &c[i]) && first + i < check->first_bad) check->first_bad = first + i;
        }
    }
}

static void partition_32g(void **state) {
    (void)state;
    enum { PARTITION = 3 };
    c1 *c = generate("StackedDrg32GiBV1_1");
    porep_circuit partition;
    r1cs_circuit circuit, recorded;
    r1cs_parts parts;
    cuzk_error err;
    porep_of_c1(&partition, &circuit, c, PARTITION);
    porep_parts(&parts, &partition);

    /* The matrices that everything below is made from are the network's, constraint by constraint. */
    matrices *m = check_matrices(&circuit, &parts);
    r1cs_digest digest;
    char hex[65];
    matrices_circuit(&recorded, m);
    if (r1cs_digest_create(&digest, &recorded, threads, NULL, &err)) fail_msg("%s", err.message);
    assert_string_equal(hex_write(hex, digest.sha256, 32), catalog_find("porep-32g")->r1cs_sha256);
    r1cs_digest_free(&digest);

    compact_witness w;
    assert_int_equal(witness_create(&w, m, &err), CUZK_OK);
    if (witness_fill(&w, &circuit, &parts, threads, NULL, &err)) fail_msg("%s", err.message);
    rows_check check = {.w = &w, .first_bad = UINT64_MAX};
    pool_for(threads, (size_t)m->shape.constraints, 64 * ROWS, check_rows, &check);
    assert_false(check.damaged);
    assert_true(check.first_bad == UINT64_MAX);

    porep_statement statement;
    fr inputs[POREP_INPUTS(POREP_MAX_CHALLENGES)];
    porep_statement_of(&statement, c);
    assert_int_equal(porep_public_inputs(inputs, &statement, PARTITION, &err), CUZK_OK);
    assert_int_equal(m->shape.inputs, 1 + POREP_INPUTS(c->challenges));
    assert_true(fr_eq(&w.inputs[0], &FR_ONE));
    for (size_t i = 0; i + 1 < m->shape.inputs; i++) assert_true(fr_eq(&w.inputs[1 + i], &inputs[i]));

    witness_free(&w);
    matrices_free(m);
    c1_free(c);
}

static int setup(void **state) {
    (void)state;
    return field_init(NULL) == CUZK_OK && pool_create(&threads, 0, NULL) == CUZK_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    pool_destroy(threads);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_ways_512m), cmocka_unit_test(partition_32g)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
