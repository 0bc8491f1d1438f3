/* Fp2, G1 and G2: vectors/curve.json, vectors/bad_points.json, and the group laws with their special cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "rng.h"
#include "variants.h"

#include "curve/g1.h"
#include "curve/g2.h"

static uint64_t seed;

static int reset_seed(void **state) {
    (void)state;
    seed = 12345;
    return 0;
}

static void random_fp(fp *out) {
    fp_repr draw;
    do {
        for (int i = 0; i < 6; i++) draw.l[i] = rng_next(&seed);
        draw.l[5] &= UINT64_MAX >> 3;
    } while (!fp_repr_is_valid(&draw));
    fp_from_repr(out, &draw);
}

static void random_fp2(fp2 *out) {
    random_fp(&out->c0);
    random_fp(&out->c1);
}

static void random_scalar(fr_repr *out) {
    do {
        for (int i = 0; i < 4; i++) out->l[i] = rng_next(&seed);
        out->l[3] &= UINT64_MAX >> 1;
    } while (!fr_repr_is_valid(out));
}

static void fp2_algebra(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        fp2 a, b, c, s, t, u;
        random_fp2(&a);
        random_fp2(&b);
        random_fp2(&c);
        if (round % 5 == 0) a.c0 = FP_ZERO;
        if (round % 5 == 1) a.c1 = FP_ZERO;
        fp2_mul(&s, &a, &b); /* (ab)c = a(bc), ab = ba */
        fp2_mul(&t, &b, &a);
        assert_true(fp2_eq(&s, &t));
        fp2_mul(&s, &s, &c);
        fp2_mul(&t, &b, &c);
        fp2_mul(&t, &t, &a);
        assert_true(fp2_eq(&s, &t));
        fp2_add(&s, &a, &b); /* (a + b)c = ac + bc */
        fp2_mul(&s, &s, &c);
        fp2_mul(&t, &a, &c);
        fp2_mul(&u, &b, &c);
        fp2_add(&t, &t, &u);
        assert_true(fp2_eq(&s, &t));
        fp2_sqr(&s, &a);
        fp2_mul(&t, &a, &a);
        assert_true(fp2_eq(&s, &t));
        t = a; /* in place */
        fp2_sqr(&t, &t);
        assert_true(fp2_eq(&s, &t));
        fp2_inv(&s, &a);
        fp2_mul(&s, &s, &a);
        assert_true(fp2_is_one(&s));
        fp2_mul_by_nonresidue(&s, &a);
        fp2 xi = {FP_ONE, FP_ONE};
        fp2_mul(&t, &a, &xi);
        assert_true(fp2_eq(&s, &t));
        fp2_sub(&s, &a, &b);
        fp2_neg(&t, &s);
        fp2_add(&t, &t, &s);
        assert_true(fp2_is_zero(&t));
    }
    fp2 zero = FP2_ZERO;
    fp2_inv(&zero, &zero);
    assert_true(fp2_is_zero(&zero));
}

static void fp2_square_roots(void **state) {
    (void)state;
    int without = 0;
    for (int round = 0; round < 60; round++) {
        fp2 a, s, root;
        random_fp2(&a);
        if (round % 6 == 0) a.c0 = FP_ZERO;
        if (round % 6 == 1) a.c1 = FP_ZERO;
        if (round == 2) a = FP2_ZERO;
        fp2_sqr(&s, &a);
        assert_true(fp2_sqrt(&root, &s));
        fp2 minus;
        fp2_neg(&minus, &a);
        assert_true(fp2_eq(&root, &a) || fp2_eq(&root, &minus));
        assert_int_equal(fp2_is_lexicographically_larger(&a) + fp2_is_lexicographically_larger(&minus),
                         !fp2_is_zero(&a));
        fp2_mul_by_nonresidue(&s, &s); /* 1 + u is no square */
        fp2 untouched = root;
        if (!fp2_sqrt(&root, &s)) {
            without++;
            assert_true(fp2_eq(&root, &untouched));
        }
    }
    assert_int_equal(without, 59);
}

static void status_texts(void **state) {
    (void)state;
    for (int i = POINT_OK; i <= POINT_NOT_IN_SUBGROUP; i++)
        for (int j = POINT_OK; j < i; j++)
            assert_string_not_equal(point_status_text((point_status)i), point_status_text((point_status)j));
}

/* The same tests for both groups. */
#define POINT        g1
#define AFFINE       g1_affine
#define COORD        fp
#define P(x)         g1_##x
#define F(x)         fp_##x
#define T(x)         g1_test_##x
#define GROUP        "g1"
#define RANDOM_COORD random_fp
#define SIZE         48u
#include "curve_tests.h"
#undef POINT
#undef AFFINE
#undef COORD
#undef P
#undef F
#undef T
#undef GROUP
#undef RANDOM_COORD
#undef SIZE
#define POINT        g2
#define AFFINE       g2_affine
#define COORD        fp2
#define P(x)         g2_##x
#define F(x)         fp2_##x
#define T(x)         g2_test_##x
#define GROUP        "g2"
#define RANDOM_COORD random_fp2
#define SIZE         96u
#include "curve_tests.h"

static void bad_compressed(void **state) {
    (void)state;
    yajl_val root = fixture_json("vectors/bad_points.json");
    size_t n = json_len(root, "compressed");
    assert_int_equal(n, 29);
    for (size_t i = 0; i < n; i++) {
        yajl_val c = json_at(root, "compressed")->u.array.values[i];
        const char *hex = json_str(c, "bytes");
        bool expected = YAJL_IS_TRUE(json_at(c, "accepted"));
        bool accepted =
            strlen(hex) == 2 * G1_COMPRESSED ? g1_test_check_compressed(hex) : g2_test_check_compressed(hex);
        if (accepted != expected) fail_msg("%s: accepted %d", json_str(c, "why"), accepted);
    }
    yajl_tree_free(root);
}

static void bad_uncompressed(void **state) {
    (void)state;
    yajl_val root = fixture_json("vectors/bad_points.json");
    size_t n = json_len(root, "uncompressed");
    assert_int_equal(n, 17);
    for (size_t i = 0; i < n; i++) {
        yajl_val c = json_at(root, "uncompressed")->u.array.values[i];
        const char *hex = json_str(c, "bytes");
        /* The fixture's decoder takes a set compression bit as a compressed point; ours refuses it. */
        bool expected =
            YAJL_IS_TRUE(json_at(c, "accepted")) && strstr(json_str(c, "why"), "compression bit set") == NULL;
        bool accepted = strlen(hex) == 2 * G1_UNCOMPRESSED ? g1_test_check_uncompressed(hex)
                                                           : g2_test_check_uncompressed(hex);
        if (accepted != expected) fail_msg("%s: accepted %d", json_str(c, "why"), accepted);
    }
    yajl_tree_free(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fp2_algebra, reset_seed),
        cmocka_unit_test_setup(fp2_square_roots, reset_seed),
        cmocka_unit_test(status_texts),
        cmocka_unit_test(g1_test_vectors),
        cmocka_unit_test(g2_test_vectors),
        cmocka_unit_test_setup(g1_test_group_law, reset_seed),
        cmocka_unit_test_setup(g2_test_group_law, reset_seed),
        cmocka_unit_test_setup(g1_test_multiples, reset_seed),
        cmocka_unit_test_setup(g2_test_multiples, reset_seed),
        cmocka_unit_test_setup(g1_test_batch_affine, reset_seed),
        cmocka_unit_test_setup(g2_test_batch_affine, reset_seed),
        cmocka_unit_test_setup(g1_test_subgroup, reset_seed),
        cmocka_unit_test_setup(g2_test_subgroup, reset_seed),
        cmocka_unit_test_setup(g1_test_damaged_encodings, reset_seed),
        cmocka_unit_test_setup(g2_test_damaged_encodings, reset_seed),
        cmocka_unit_test(bad_compressed),
        cmocka_unit_test(bad_uncompressed),
    };
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests)
    return failed;
}
