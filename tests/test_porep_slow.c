/* The structure of the large PoRep circuits, every constraint of them, against the reference's digests
 * (circuit specification G.2). The 32 and 64 GiB circuits take about a minute of one processor each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

#include "circuit/catalog.h"
#include "circuit/porep.h"
#include "filecoin/fabricate.h"
#include "filecoin/vanilla.h"
#include "r1cs/digest.h"

static void expect(const porep_shape *shape, const r1cs_shape *sizes, uint64_t a_aux, uint64_t b_aux,
                   const char *sha256) {
    porep_circuit p;
    r1cs_circuit circuit;
    r1cs_digest d;
    pool *threads;
    cuzk_error err;
    porep_blank(&p, &circuit, shape);
    assert_int_equal(circuit.shape.inputs, sizes->inputs);
    assert_int_equal(circuit.shape.aux, sizes->aux);
    assert_int_equal(circuit.shape.constraints, sizes->constraints);
    assert_int_equal(pool_create(&threads, 0, &err), CUZK_OK);
    if (r1cs_digest_create(&d, &circuit, threads, NULL, &err)) fail_msg("%s", err.message);
    pool_destroy(threads);
    assert_int_equal(d.a_aux.count, a_aux);
    assert_int_equal(d.b_aux.count, b_aux);
    assert_int_equal(d.b_input.count, 1);
    assert_hex(d.sha256, 32, sha256);
    r1cs_digest_free(&d);
}

/* The trees of 32 and 64 GiB with one challenge. */
static void one_challenge(void **unused) {
    (void)unused;
    expect(&(porep_shape){30, 11, 1, 9, 8, 0}, &(r1cs_shape){22, 7232200, 7238236}, 7208979, 1840033,
           "6860eb35201b68c3f78601a5884f52cef6aa3011d088c7311fc43b74503d51cf");
    expect(&(porep_shape){31, 11, 1, 9, 8, 2}, &(r1cs_shape){22, 7282575, 7288642}, 7258104, 1855292,
           "b9694e049d7c4a8b451ab650d84390d53d4661c9f39a22d7ce9e3ca6846af5bd");
}

/* A made-up sector's first challenge satisfies the circuit: eleven layers, and the trees above the base. */
static void values(void **unused) {
    (void)unused;
    static const char *const proofs[] = {"StackedDrg32GiBV1_1", "StackedDrg64GiBV1_1"};
    for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++) {
        c1 *c;
        cuzk_error err;
        const registered_porep *proof = registered_porep_by_name(proofs[i]);
        if (c1_fabricate(&c, proof, 1000, 1, 0, NULL, &err)) fail_msg("%s", err.message);
        porep_circuit p;
        r1cs_circuit circuit;
        porep_of_c1(&p, &circuit, c, 3);
        p.shape.challenges = 1;
        circuit.shape = porep_r1cs_shape(&p.shape);
        assignment a;
        if (assignment_create(&a, &circuit, NULL, &err)) fail_msg("%s", err.message);
        assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
        porep_statement statement;
        fr inputs[POREP_INPUTS(POREP_MAX_CHALLENGES)];
        porep_statement_of(&statement, c);
        assert_int_equal(porep_public_inputs(inputs, &statement, 3, &err), CUZK_OK);
        assert_int_equal(a.shape.inputs, 1 + POREP_INPUTS(1));
        for (size_t k = 0; k < POREP_INPUTS(1); k++) assert_true(fr_eq(&a.inputs[1 + k], &inputs[k]));
        assignment_free(&a);
        c1_free(c);
    }
}

static void in_catalog(const char *name) {
    const catalog_entry *entry = catalog_find(name);
    assert_non_null(entry);
    porep_shape shape = porep_shape_of(sector_by_porep_name(name));
    expect(&shape, &entry->shape, entry->a_aux_density, entry->b_aux_density, entry->r1cs_sha256);
}

static void sector_512m(void **unused) {
    (void)unused;
    in_catalog("porep-512m");
}

static void sector_32g(void **unused) {
    (void)unused;
    in_catalog("porep-32g");
}

static void sector_64g(void **unused) {
    (void)unused;
    in_catalog("porep-64g");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),     cmocka_unit_test(one_challenge), cmocka_unit_test(sector_512m),
        cmocka_unit_test(sector_32g), cmocka_unit_test(sector_64g),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
