/* Fr and Fp: vectors/fr.json, edge and random values against plain C and slow arithmetic, on every variant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "rng.h"
#include "variants.h"

#include "field/fp.h"
#include "field/fr.h"

static uint64_t seed;

static int reset_seed(void **state) {
    (void)state;
    seed = 2024;
    return 0;
}

#define ELEMENT fr
#define REPR    fr_repr
#define LIMBS   4
#define MODULUS FR_MODULUS
#define F(name) fr_##name
#define T(name) fr_test_##name
#include "field_tests.h"
#undef ELEMENT
#undef REPR
#undef LIMBS
#undef MODULUS
#undef F
#undef T
#define ELEMENT fp
#define REPR    fp_repr
#define LIMBS   6
#define MODULUS FP_MODULUS
#define F(name) fp_##name
#define T(name) fp_test_##name
#include "field_tests.h"

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
    size_t n = json_len(root, "cases"), inverted = 0;
    assert_int_equal(n, 40);
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
        assert_int_equal(YAJL_IS_STRING(json_at(c, "inverse_a")), !fr_is_zero(&a));
        if (fr_is_zero(&a)) continue;
        fr_inv(&t, &a);
        expect_fr(&t, c, "inverse_a");
        inverted++;
    }
    assert_true(inverted > 30);
    fr t, minus_one;
    fr_generator(&t);
    expect_fr(&t, root, "multiplicative_generator");
    fr_root_of_unity(&t, FR_TWO_ADICITY);
    expect_fr(&t, root, "root_of_unity_2_32");
    yajl_tree_free(root);

    fr_neg(&minus_one, &FR_ONE);
    fr_root_of_unity(&t, 1);
    assert_true(fr_eq(&t, &minus_one));
    fr_root_of_unity(&t, 0);
    assert_true(fr_is_one(&t));
    for (unsigned log_n = 2; log_n <= FR_TWO_ADICITY; log_n++) {
        fr_root_of_unity(&t, log_n);
        fr_pow_u64(&t, &t, (uint64_t)1 << (log_n - 1));
        assert_true(fr_eq(&t, &minus_one));
    }
}

static void fr_bytes(void **state) {
    (void)state;
    yajl_val root = fixture_json("vectors/bad_points.json");
    size_t n = json_len(root, "fr_bytes");
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        yajl_val c = json_at(root, "fr_bytes")->u.array.values[i];
        uint8_t bytes[32];
        fr a, untouched;
        hex_decode(bytes, json_str(c, "bytes"), 32);
        memset(&a, 0x5a, sizeof a);
        untouched = a;
        bool accepted = fr_from_bytes(&a, bytes);
        assert_int_equal(accepted, YAJL_IS_TRUE(json_at(c, "accepted")));
        if (accepted) {
            expect_fr(&a, c, "bytes");
        } else {
            assert_memory_equal(&a, &untouched, sizeof a);
        }
    }
    yajl_tree_free(root);
}

static void fp_bytes(void **state) {
    (void)state;
    fp_repr plain[fp_test_EDGES];
    uint8_t bytes[48], back[48];
    fp a, b;
    fp_test_edges(plain);
    for (size_t i = 0; i < fp_test_EDGES; i++) {
        for (size_t j = 0; j < 48; j++) bytes[47 - j] = (uint8_t)(plain[i].l[j / 8] >> (8 * (j % 8)));
        assert_true(fp_from_bytes_be(&a, bytes));
        fp_from_repr(&b, &plain[i]);
        assert_true(fp_eq(&a, &b));
        fp_to_bytes_be(back, &a);
        assert_memory_equal(bytes, back, 48);
    }
    for (size_t j = 0; j < 48; j++) bytes[47 - j] = (uint8_t)(FP_MODULUS.l[j / 8] >> (8 * (j % 8)));
    b = a;
    assert_false(fp_from_bytes_be(&a, bytes));
    bytes[47]++;
    assert_false(fp_from_bytes_be(&a, bytes));
    memset(bytes, 0xff, 48);
    assert_false(fp_from_bytes_be(&a, bytes));
    assert_memory_equal(&a, &b, sizeof a);
}

static void fr_batches(void **state) {
    (void)state;
    enum { N = 40 };
    fr values[N], expected[N], scratch[N], t;
    fr_repr plain[N], again[N];
    for (size_t i = 0; i < N; i++) {
        fr_test_random(&values[i]);
        if (i % 7 == 0 || i == N - 1) values[i] = FR_ZERO;
        fr_inv(&expected[i], &values[i]);
    }
    fr_to_repr_n(plain, values, N);
    for (size_t i = 0; i < N; i++) {
        fr_from_repr(&t, &plain[i]);
        assert_true(fr_eq(&t, &values[i]));
    }
    memcpy(again, plain, sizeof plain); /* in place */
    fr_from_repr_n((fr *)again, again, N);
    assert_memory_equal(again, values, sizeof values);
    fr_to_repr_n(again, (fr *)again, N);
    assert_memory_equal(again, plain, sizeof plain);

    fr_batch_inv(values, N, scratch);
    assert_memory_equal(values, expected, sizeof values);
    fr_batch_inv(values, 0, scratch);
    memset(values, 0, sizeof values);
    fr_batch_inv(values, N, scratch);
    for (size_t i = 0; i < N; i++) assert_true(fr_is_zero(&values[i]));
}

static void fr_powers(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        fr a, s, t, u;
        fr_repr e = {{rng_next(&seed) >> (round % 64), 0, 0, 0}};
        fr_test_random(&a);
        if (round < 4) e.l[0] = (uint64_t)round;
        fr_pow(&s, &a, &e);
        fr_pow_u64(&t, &a, e.l[0]);
        assert_true(fr_eq(&s, &t));
        for (int i = 0; i < 4; i++) e.l[i] = round == 0 ? UINT64_MAX : rng_next(&seed);
        fr_pow(&s, &a, &e); /* a^(e0 + 2^64 (e1 + ...)) */
        t = FR_ONE;
        for (int i = 3; i >= 0; i--) {
            for (int j = 0; j < 64; j++) fr_sqr(&t, &t);
            fr_pow_u64(&u, &a, e.l[i]);
            fr_mul(&t, &t, &u);
        }
        assert_true(fr_eq(&s, &t));
    }
    fr s;
    fr_repr zero = {{0}};
    fr_pow(&s, &FR_ZERO, &zero);
    assert_true(fr_is_one(&s));
    fr_pow_u64(&s, &FR_ZERO, 0);
    assert_true(fr_is_one(&s));
    assert_int_equal(fr_repr_cmp(&zero, &zero), 0);
    assert_true(fr_repr_cmp(&zero, &FR_MODULUS) < 0);
    assert_true(fr_repr_cmp(&FR_MODULUS, &zero) > 0);
}

static void fr_random_draws(void **state) {
    (void)state;
    fr a, b;
    cuzk_error err;
    for (int round = 0; round < 20; round++) {
        assert_int_equal(fr_random(&a, &err), CUZK_OK);
        assert_int_equal(fr_random(&b, &err), CUZK_OK);
        assert_true(fr_is_reduced(&a) && fr_is_reduced(&b));
        assert_false(fr_eq(&a, &b));
    }
}

static void fp_dot(void **state) {
    (void)state;
    fp_repr plain[fp_test_EDGES];
    fp_test_edges(plain);
    for (size_t round = 0; round < 20000; round++) {
        fp a, b, c, d, s, t, u;
        fp_test_random(&a);
        fp_test_random(&b);
        fp_test_random(&c);
        fp_test_random(&d);
        if (round < 4096) { /* combinations of extreme limbs */
            memcpy(&a, &plain[4 + round % 8], sizeof a);
            memcpy(&b, &plain[4 + round / 8 % 8], sizeof b);
            memcpy(&c, &plain[4 + round / 64 % 8], sizeof c);
            memcpy(&d, &plain[4 + round / 512 % 8], sizeof d);
        }
        fp_dot2(&s, &a, &b, &c, &d);
        fp_mul(&t, &a, &b);
        fp_mul(&u, &c, &d);
        fp_add(&t, &t, &u);
        fp_test_equal(&s, &t);
        fp *operands[4] = {&a, &b, &c, &d};
        fp saved = *operands[round % 4]; /* in place */
        fp_dot2(operands[round % 4], &a, &b, &c, &d);
        fp_test_equal(&s, operands[round % 4]);
        *operands[round % 4] = saved;
        fp_dot2(&s, &a, &a, &a, &a);
        fp_sqr(&t, &a);
        fp_dbl(&t, &t);
        fp_test_equal(&s, &t);
    }
}

static void fp_powers(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        fp a, s, t = FP_ONE;
        uint64_t e[3] = {rng_next(&seed), rng_next(&seed), rng_next(&seed)};
        if (round % 4 == 1) e[2] = 0;
        if (round % 4 == 2) e[0] = e[1] = UINT64_MAX;
        if (round % 4 == 3) e[1] = 0;
        fp_test_random(&a);
        size_t limbs = (size_t)round % 3 + 1;
        if (round < 40) {
            e[0] = (uint64_t)round;
            limbs = 1;
        }
        for (size_t i = 64 * limbs; i-- > 0;) {
            fp_sqr(&t, &t);
            if (e[i / 64] >> (i % 64) & 1) fp_mul(&t, &t, &a);
        }
        fp_pow(&s, &a, e, limbs);
        fp_test_equal(&s, &t);
        fp_pow(&a, &a, e, limbs);
        fp_test_equal(&a, &t);
    }
}

static void fp_square_roots(void **state) {
    (void)state;
    fp a, s, root, minus;
    for (int round = 0; round < 100; round++) {
        fp_test_random(&a);
        fp_sqr(&s, &a);
        assert_true(fp_sqrt(&root, &s));
        fp_neg(&minus, &a);
        assert_true(fp_eq(&root, &a) || fp_eq(&root, &minus));
        assert_int_equal(fp_is_lexicographically_larger(&a) + fp_is_lexicographically_larger(&minus), 1);
        fp_neg(&s, &s); /* p = 3 mod 4: minus a square is none */
        fp untouched = root;
        assert_false(fp_sqrt(&root, &s));
        fp_test_equal(&root, &untouched);
    }
    assert_true(fp_sqrt(&root, &FP_ZERO));
    assert_true(fp_is_zero(&root));
}

static void fp_order(void **state) {
    (void)state;
    fp_repr plain[fp_test_EDGES];
    fp half, above;
    fp_test_edges(plain);
    fp_from_repr(&half, &plain[8]); /* (p - 1) / 2 and (p + 1) / 2 */
    fp_from_repr(&above, &plain[9]);
    assert_false(fp_is_lexicographically_larger(&half));
    assert_true(fp_is_lexicographically_larger(&above));
    assert_false(fp_is_lexicographically_larger(&FP_ZERO));
    assert_false(fp_is_lexicographically_larger(&FP_ONE));
    fp_neg(&above, &FP_ONE);
    assert_true(fp_is_lexicographically_larger(&above));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fr_vectors),
        cmocka_unit_test(fr_bytes),
        cmocka_unit_test(fp_bytes),
        cmocka_unit_test(fr_test_edge_pairs),
        cmocka_unit_test(fp_test_edge_pairs),
        cmocka_unit_test_setup(fr_test_random_pairs, reset_seed),
        cmocka_unit_test_setup(fp_test_random_pairs, reset_seed),
        cmocka_unit_test_setup(fr_test_inverses, reset_seed),
        cmocka_unit_test_setup(fp_test_inverses, reset_seed),
        cmocka_unit_test_setup(fr_test_conversions, reset_seed),
        cmocka_unit_test_setup(fp_test_conversions, reset_seed),
        cmocka_unit_test_setup(fr_batches, reset_seed),
        cmocka_unit_test_setup(fr_powers, reset_seed),
        cmocka_unit_test(fr_random_draws),
        cmocka_unit_test_setup(fp_dot, reset_seed),
        cmocka_unit_test_setup(fp_powers, reset_seed),
        cmocka_unit_test_setup(fp_square_roots, reset_seed),
        cmocka_unit_test(fp_order),
    };
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests)
    return failed;
}
