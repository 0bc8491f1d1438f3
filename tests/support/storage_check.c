#include "storage_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#include "circuit/porep.h"
#include "cli/cuzk-bench/lc_strategy.h"
#include "r1cs/density.h"
#include "r1cs/digest.h"

static void same(const char *what, const char *vector, const void *found, const void *expected,
                 size_t bytes) {
    if (memcmp(found, expected, bytes) != 0) fail_msg("%s: %s differs", what, vector);
}

void check_same_assignment(const char *what, const assignment *found, const assignment *expected) {
    const r1cs_shape *shape = &expected->shape;
    const size_t domain = sizeof(fr) << expected->log_domain;
    const size_t aux_words = density_words(shape->aux), input_words = density_words(shape->inputs);
    assert_memory_equal(&found->shape, shape, sizeof *shape);
    same(what, "a", found->a, expected->a, domain);
    same(what, "b", found->b, expected->b, domain);
    same(what, "c", found->c, expected->c, domain);
    same(what, "the inputs", found->inputs, expected->inputs, shape->inputs * sizeof(fr));
    same(what, "the witness", found->aux, expected->aux, shape->aux * sizeof(fr));
    same(what, "the density of A", found->a_aux_density, expected->a_aux_density, 8 * aux_words);
    same(what, "the density of B", found->b_aux_density, expected->b_aux_density, 8 * aux_words);
    same(what, "the input density of B", found->b_input_density, expected->b_input_density, 8 * input_words);
    assert_int_equal(found->a_aux_count, expected->a_aux_count);
    assert_int_equal(found->b_aux_count, expected->b_aux_count);
    assert_int_equal(found->b_input_count, expected->b_input_count);
}

static void print_difference(void *ctx, const r1cs_difference *d) {
    print_error("%s: %s[%zu] is %s, expected %s\n", (const char *)ctx, d->figure, d->index, d->found,
                d->expected);
}

/* Digests of the circuit and of the values are those of the file. */
static void check_digests(const char *what, const r1cs_circuit *circuit, const assignment *a,
                          const char *json, size_t size) {
    cuzk_error err;
    r1cs_digest structure;
    assignment_digest values;
    size_t differences;
    if (r1cs_digest_create(&structure, circuit, NULL, NULL, &err)) fail_msg("%s", err.message);
    assert_int_equal(assignment_digest_create(&values, a, NULL, &err), CUZK_OK);
    assert_true(values.satisfied);
    if (r1cs_digest_compare(&structure, &values, json, size, what, print_difference, (void *)(uintptr_t)what,
                            &differences, &err))
        fail_msg("%s: %s", what, err.message);
    assert_int_equal(differences, 0);
    r1cs_digest_free(&structure);
    assignment_digest_free(&values);
}

/* A density has this many variables, and, as a byte 0 or 1 for each, this digest. */
static void check_density(const uint64_t *density, size_t count, uint32_t variables, yajl_val tree,
                          const char *name) {
    char key[64];
    uint8_t *bytes = malloc(variables);
    assert_non_null(bytes);
    for (uint32_t i = 0; i < variables; i++) bytes[i] = density_has(density, i);
    assert_int_equal(count, json_int(tree, name));
    snprintf(key, sizeof key, "%s_bytes_sha256", name);
    assert_sha256(bytes, variables, json_str(tree, key));
    free(bytes);
}

static void check_densities(const assignment *a, const char *digest_name) {
    yajl_val tree = fixture_json(digest_name);
    check_density(a->a_aux_density, a->a_aux_count, a->shape.aux, tree, "a_aux_density");
    check_density(a->b_aux_density, a->b_aux_count, a->shape.aux, tree, "b_aux_density");
    check_density(a->b_input_density, a->b_input_count, a->shape.inputs, tree, "b_input_density");
    yajl_tree_free(tree);
}

void check_storage(const char *c1_name, const char *digest_name, bool variants) {
    char path[1024];
    cuzk_error err;
    c1 *sector;
    porep_circuit partition;
    r1cs_circuit circuit;
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, c1_name);
    if (c1_read(&sector, path, &err)) fail_msg("%s: %s", path, err.message);
    porep_of_c1(&partition, &circuit, sector, 0);
    size_t size, n;
    char *json = fixture_read(digest_name, &size);
    const lc_strategy *const *all = lc_strategies(&n);
    assignment first = {0}, next = {0};
    const char *first_name = NULL;
    for (size_t i = 0; i < n; i++) {
        if (all[i]->baseline || (all[i]->variant && !variants)) continue;
        assignment *out = first_name ? &next : &first;
        if (lc_strategy_synthesize(out, &circuit, all[i], 0, NULL, NULL, &err))
            fail_msg("%s: %s", all[i]->name, err.message);
        if (first_name) {
            check_same_assignment(all[i]->name, &next, &first);
        } else {
            check_digests(all[i]->name, &circuit, &first, json, size);
            check_densities(&first, digest_name);
            first_name = all[i]->name;
        }
    }
    assert_non_null(first_name);
    free(json);
    assignment_free(&first);
    assignment_free(&next);
    c1_free(sector);
}
