/* The PoRep circuit: every figure of the reference's digests for real sectors, and the shapes of other sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "circuit_check.h"
#include "fixture.h"

#include "circuit/catalog.h"
#include "circuit/create_label.h"
#include "circuit/porep.h"
#include "filecoin/vanilla.h"
#include "r1cs/assignment.h"
#include "r1cs/digest.h"

static c1 *read_c1(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    c1 *c;
    cuzk_error err;
    if (c1_read(&c, path, &err)) fail_msg("%s: %s", path, err.message);
    return c;
}

typedef struct loaded {
    c1 *c;
    porep_circuit p;
    r1cs_circuit circuit;
} loaded;

static void load(loaded *out, const char *name) {
    out->c = read_c1(name);
    porep_of_c1(&out->p, &out->circuit, out->c, 0);
}

static void sector_2k(void **unused) {
    (void)unused;
    loaded l;
    load(&l, "c1/2k-v1_1/c1.json");
    check_digest(&l.circuit, "r1cs/porep-2k/digest.json");
    check_namespaces(&l.circuit, "r1cs/porep-2k/namespaces.tsv.zst");
    c1_free(l.c);
}

static void sector_8m(void **unused) {
    (void)unused;
    loaded l;
    load(&l, "c1/8m-v1_1/c1.json");
    check_digest(&l.circuit, "r1cs/porep-8m/digest.json");
    check_namespaces(&l.circuit, "r1cs/porep-8m/namespaces.tsv.zst");
    c1_free(l.c);
}

/* The public inputs that the circuit takes from the C1 are those that the statement implies, and a damaged
 * witness fails where the damage is. */
static void inputs_and_damage(void **unused) {
    (void)unused;
    loaded l;
    load(&l, "c1/2k-synthetic/c1.json");
    assignment a;
    cuzk_error err;
    assert_int_equal(assignment_create(&a, &l.circuit, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_first_unsatisfied(&a), UINT64_MAX);
    porep_statement statement;
    fr inputs[POREP_INPUTS(2)];
    porep_statement_of(&statement, l.c);
    assert_int_equal(porep_public_inputs(inputs, &statement, 0, &err), CUZK_OK);
    assert_int_equal(a.shape.inputs, 1 + POREP_INPUTS(2));
    for (size_t i = 0; i < POREP_INPUTS(2); i++) assert_true(fr_eq(&a.inputs[1 + i], &inputs[i]));
    assignment_free(&a);

    /* The C1 is ours to damage: nothing of it is in read-only memory. */
    c1_challenge *first = (c1_challenge *)(uintptr_t)&l.c->partition[0].challenges[0], *second = first + 1;
    struct {
        const fr_repr *value;
        const char *path;
    } damages[] = {
        {&l.c->comm_d, "challenge_0/comm_d_inclusion"},
        {&l.c->comm_r, ""},
        {&second->exp_parents[1].rows[0], "challenge_1/exp_parent_1_inclusion"},
        {second->c_x.inclusion_proof.levels[0].hashes, "challenge_1/c_x_inclusion"},
        {&first->comm_d_proof.leaf, "challenge_0/comm_d_inclusion"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        fr_repr *value = (fr_repr *)(uintptr_t)damages[i].value;
        value->l[0] ^= 1;
        assert_int_equal(assignment_create(&a, &l.circuit, NULL, &err), CUZK_OK);
        uint64_t constraint = assignment_first_unsatisfied(&a);
        cs_path path;
        assert_int_equal(r1cs_locate(&path, &l.circuit, constraint, &err), CUZK_OK);
        assert_string_equal(path.text, damages[i].path);
        assignment_free(&a);
        value->l[0] ^= 1;
    }
    c1_free(l.c);
}

/* Circuit specification G.2: blank circuits. */
static void other_shapes(void **unused) {
    (void)unused;
    static const struct {
        porep_shape shape;
        r1cs_shape r1cs;
        uint64_t nnz[3], a_aux, b_aux;
        const char *sha256;
    } cases[] = {
        {{7, 2, 2, 2, 2, 0},
         {40, 2786423, 2788733},
         {6697351, 2789942, 6030908},
         2773158,
         716039,
         "c30ccd010a3cc455bb0f9d85ae1907fac16708441ff3764ff54d247d242bcf37"},
        {{9, 2, 2, 2, 8, 0},
         {40, 2974867, 2977173},
         {7162827, 2978726, 6427232},
         2959930,
         766963,
         "3370a12b2f18cd838359d221407177aa910a21715319500c500e4f2b6f8b6474"},
        {{10, 2, 2, 2, 8, 2},
         {40, 3075617, 3077985},
         {7439213, 3079662, 6633458},
         3058180,
         797481,
         "2f47d57564fd171c1a48adb357f57f37a4d983da87c4176b8d8c3ee1cf6d5f6a"},
        {{6, 11, 1, 2, 0, 0},
         {22, 6075424, 6081228},
         {14224190, 6082068, 13293549},
         6068891,
         1514265,
         "ea6906f3d09b647f57eb90d236763c5ffce8c5a7cf9b757b7d38398fbf9dbfef"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        porep_circuit p;
        r1cs_circuit circuit;
        r1cs_digest d;
        cuzk_error err;
        porep_blank(&p, &circuit, &cases[i].shape);
        assert_int_equal(circuit.shape.inputs, cases[i].r1cs.inputs);
        assert_int_equal(circuit.shape.aux, cases[i].r1cs.aux);
        assert_int_equal(circuit.shape.constraints, cases[i].r1cs.constraints);
        if (r1cs_digest_create(&d, &circuit, NULL, NULL, &err)) fail_msg("%s", err.message);
        for (int k = 0; k < 3; k++) assert_int_equal(d.nnz[k], cases[i].nnz[k]);
        assert_int_equal(d.a_aux.count, cases[i].a_aux);
        assert_int_equal(d.b_aux.count, cases[i].b_aux);
        assert_int_equal(d.b_input.count, 1);
        assert_hex(d.sha256, 32, cases[i].sha256);
        r1cs_digest_free(&d);
    }
}

/* The shapes of all sectors are those of the catalog. */
static void catalog_shapes(void **unused) {
    (void)unused;
    size_t n, found = 0;
    const sector_shape *sectors = sector_shapes(&n);
    for (size_t i = 0; i < n; i++) {
        porep_shape shape = porep_shape_of(&sectors[i]);
        assert_true(porep_shape_is_known(&shape));
        r1cs_shape sizes = porep_r1cs_shape(&shape);
        const catalog_entry *entry = catalog_find(sectors[i].porep_name);
        if (!entry) continue;
        found++;
        assert_int_equal(sizes.inputs, entry->shape.inputs);
        assert_int_equal(sizes.aux, entry->shape.aux);
        assert_int_equal(sizes.constraints, entry->shape.constraints);
    }
    assert_int_equal(found, 5);
}

static void unknown_shapes(void **unused) {
    (void)unused;
    static const porep_shape shapes[] = {
        {7, 2, 2, 2, 0, 0},          {6, 2, 2, 2, 2, 0},  {6, 3, 2, 2, 0, 0},   {6, 2, 0, 2, 0, 0},
        {33, 2, 2, 11, 0, 0},        {0, 2, 2, 0, 0, 0},  {10, 2, 2, 2, 16, 0}, {7, 2, 2, 2, 3, 0},
        {3, 2, 2, 0, 8, 0},          {6, 2, 19, 2, 0, 0}, {6, 12, 2, 2, 0, 0},  {9, 2, 2, 2, 8, 1},
        {6, 2, 2, 0x55555557, 0, 0},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        porep_circuit p;
        r1cs_circuit circuit;
        r1cs_shape sizes;
        r1cs_digest d;
        cuzk_error err;
        assert_false(porep_shape_is_known(&shapes[i]));
        porep_blank(&p, &circuit, &shapes[i]);
        assert_int_equal(circuit.shape.constraints, 0);
        assert_int_equal(r1cs_measure(&sizes, &circuit, &err), CUZK_ERR_USAGE);
        assert_int_equal(r1cs_digest_create(&d, &circuit, NULL, NULL, &err), CUZK_ERR_USAGE);
    }
    /* A blank circuit has no values. */
    porep_circuit blank;
    r1cs_circuit circuit;
    assignment a;
    cuzk_error err;
    const porep_shape shape = {6, 2, 2, 2, 0, 0};
    porep_blank(&blank, &circuit, &shape);
    assert_int_equal(assignment_create(&a, &circuit, NULL, &err), CUZK_ERR_INTERNAL);
}

/* ---- create_label ---- */

static void alloc_named_bits(cs *system, boolean *bits, unsigned n, const char *name) {
    for (unsigned i = 0; i < n; i++) {
        cs_enter(system, "%s", name);
        cs_enter(system, "%u", i);
        bits[i] = boolean_alloc(system, false);
        cs_leave(system);
        cs_leave(system);
    }
}

static void label_circuit(const void *ctx, cs *system) {
    (void)ctx;
    boolean id[256], parents[14][256], node[64];
    alloc_named_bits(system, id, 256, "id");
    for (unsigned i = 0; i < 14; i++) {
        char name[32];
        snprintf(name, sizeof name, "parent %u", i);
        alloc_named_bits(system, parents[i], 256, name);
    }
    alloc_named_bits(system, node, 64, "node");
    create_label_circuit(system, id, (const boolean(*)[256])parents, 14, 3, node);
}

static void labels(void **unused) {
    (void)unused;
    r1cs_circuit circuit = {"label", label_circuit, NULL, {0}};
    cuzk_error err;
    assert_int_equal(r1cs_measure(&circuit.shape, &circuit, &err), CUZK_OK);
    check_structure(&circuit, "gadgets/create_label.digest.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels),         cmocka_unit_test(sector_2k),
        cmocka_unit_test(sector_8m),      cmocka_unit_test(other_shapes),
        cmocka_unit_test(catalog_shapes), cmocka_unit_test(inputs_and_damage),
        cmocka_unit_test(unknown_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
