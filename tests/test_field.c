/* Fr and Fp against vectors/fr.json and algebraic identities, on every variant the processor has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#include "field/fp.h"
#include "field/fr.h"

static void read_fr(fr *out, yajl_val node, const char *key) {
    uint8_t bytes[32];
    hex_decode(bytes, json_str(node, key), 32);
    assert_true(fr_from_bytes(out, bytes));
}

static void expect_fr(const fr *a, yajl_val node, const char *key) {
    uint8_t bytes[32];
    fr_to_bytes(bytes, a);
    assert_hex(bytes, 32, json_str(node, key));
}

static void fr_vectors(void **state) {
    (void)state;
    yajl_val root = fixture_json("vectors/fr.json");
    size_t n = json_len(root, "cases");
    assert_true(n > 10);
    for (size_t i = 0; i < n; i++) {
        yajl_val c = json_at(root, "cases")->u.array.values[i];
        fr a, b, t;
        read_fr(&a, c, "a");
        read_fr(&b, c, "b");
        fr_add(&t, &a, &b);
        expect_fr(&t, c, "add");
        fr_sub(&t, &a, &b);
        expect_fr(&t, c, "sub");
        fr_mul(&t, &a, &b);
        expect_fr(&t, c, "mul");
        fr_sqr(&t, &a);
        expect_fr(&t, c, "square");
        fr_pow_u64(&t, &a, 5);
        expect_fr(&t, c, "pow5_a");
        if (!YAJL_IS_STRING(json_at(c, "inverse_a"))) continue;
        fr_inv(&t, &a);
        expect_fr(&t, c, "inverse_a");
    }
    yajl_tree_free(root);
}

static int use_portable(void **state) {
    (void)state;
    field_select(CPU_PORTABLE);
    return 0;
}

static int use_adx(void **state) {
    (void)state;
    field_select(CPU_ADX);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fr_vectors)};
    int failed = cmocka_run_group_tests_name("portable", tests, use_portable, NULL);
    if (cpu_best() >= CPU_ADX) failed += cmocka_run_group_tests_name("adx", tests, use_adx, NULL);
    return failed;
}
