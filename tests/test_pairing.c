/* Fp12 and the pairing: field identities, the final exponentiation against plain powers, bilinearity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "rng.h"
#include "variants.h"

#include "curve/pairing.h"

static uint64_t seed;

static int reset_seed(void **state) {
    (void)state;
    seed = 777;
    return 0;
}

static void random_fp12(fp12 *out) {
    fp *coordinates[12] = {&out->c0.c0.c0, &out->c0.c0.c1, &out->c0.c1.c0, &out->c0.c1.c1,
                           &out->c0.c2.c0, &out->c0.c2.c1, &out->c1.c0.c0, &out->c1.c0.c1,
                           &out->c1.c1.c0, &out->c1.c1.c1, &out->c1.c2.c0, &out->c1.c2.c1};
    for (int i = 0; i < 12; i++) {
        fp_repr draw;
        for (int j = 0; j < 6; j++) draw.l[j] = rng_next(&seed);
        draw.l[5] >>= 4;
        fp_from_repr(coordinates[i], &draw);
    }
}

static void pow_limbs(fp12 *out, const fp12 *a, const uint64_t *e, size_t limbs) {
    fp12 result, base = *a;
    fp12_set_one(&result);
    for (size_t i = 64 * limbs; i-- > 0;) {
        fp12_sqr(&result, &result);
        if (e[i / 64] >> (i % 64) & 1) fp12_mul(&result, &result, &base);
    }
    *out = result;
}

static void multiples(g1_affine *p, uint64_t a, g2_affine *q, uint64_t b) {
    fr_repr k = {{a, 0, 0, 0}};
    g1 jp;
    g2 jq;
    g1_generator(p);
    g1_from_affine(&jp, p);
    g1_mul(&jp, &jp, &k);
    g1_to_affine(p, &jp);
    k.l[0] = b;
    g2_generator(q);
    g2_from_affine(&jq, q);
    g2_mul(&jq, &jq, &k);
    g2_to_affine(q, &jq);
}

static void fp12_algebra(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        fp12 a, b, c, s, t, u;
        random_fp12(&a);
        random_fp12(&b);
        random_fp12(&c);
        if (round % 4 == 0) memset(&a.c1, 0, sizeof a.c1);
        if (round % 4 == 1) memset(&a.c0, 0, sizeof a.c0);
        fp12_mul(&s, &a, &b);
        fp12_mul(&t, &b, &a);
        assert_true(fp12_eq(&s, &t));
        fp12_mul(&s, &s, &c);
        fp12_mul(&t, &b, &c);
        fp12_mul(&t, &a, &t);
        assert_true(fp12_eq(&s, &t));
        fp6_add(&s.c0, &a.c0, &b.c0); /* (a + b) c = a c + b c */
        fp6_add(&s.c1, &a.c1, &b.c1);
        fp12_mul(&s, &s, &c);
        fp12_mul(&t, &a, &c);
        fp12_mul(&u, &b, &c);
        fp6_add(&t.c0, &t.c0, &u.c0);
        fp6_add(&t.c1, &t.c1, &u.c1);
        assert_true(fp12_eq(&s, &t));
        fp12_sqr(&s, &a);
        fp12_mul(&t, &a, &a);
        assert_true(fp12_eq(&s, &t));
        t = a;
        fp12_sqr(&t, &t);
        assert_true(fp12_eq(&s, &t));
        fp12_inv(&s, &a);
        assert_false(fp12_is_one(&s));
        fp12_mul(&s, &s, &a);
        assert_true(fp12_is_one(&s));
        fp12 line = {.c0 = {b.c0.c0, b.c0.c1, FP2_ZERO}, .c1 = {FP2_ZERO, b.c1.c1, FP2_ZERO}};
        fp12_mul(&s, &a, &line);
        t = a;
        fp12_mul_by_014(&t, &t, &line.c0.c0, &line.c0.c1, &line.c1.c1);
        assert_true(fp12_eq(&s, &t));
    }
    /* The tower: v^3 = 1 + u, w^2 = v. */
    fp12 w = {.c1 = {.c0 = FP2_ONE}}, v = {.c0 = {.c1 = FP2_ONE}}, xi, s;
    fp12_sqr(&s, &w);
    assert_true(fp12_eq(&s, &v));
    fp12_mul(&s, &s, &v);
    fp12_mul(&s, &s, &v);
    fp12_set_one(&xi);
    xi.c0.c0.c1 = FP_ONE;
    assert_true(fp12_eq(&s, &xi));
}

static void frobenius(void **state) {
    (void)state;
    fp12 a, s, t;
    random_fp12(&a);
    fp12_frobenius(&s, &a, 1);
    pow_limbs(&t, &a, FP_MODULUS.l, 6);
    assert_true(fp12_eq(&s, &t));
    fp12_frobenius(&s, &s, 1);
    t = a;
    fp12_frobenius(&t, &t, 2);
    assert_true(fp12_eq(&s, &t));
    fp12_frobenius(&t, &t, 2);
    fp12_frobenius(&t, &t, 2);
    fp12_conj(&s, &a);
    assert_true(fp12_eq(&s, &t));
}

static void final_exponentiation(void **state) {
    (void)state;
    /* 3 (p^4 - p^2 + 1) / r */
    static const uint64_t hard[] = {
        0xaf444bdcaaab2f6bu, 0xefcb3800a61a66d5u, 0xb116bba59a18123au, 0x554e727d129be6a3u,
        0x8a65dbc1cc35fe5au, 0x6574220c23e5b6ccu, 0x8c72178bc76a791cu, 0xb415c7da454d4863u,
        0x37d47f639b68a630u, 0x6a6a2b0ab1c47526u, 0x6c9ae9625394f594u, 0x6163cbf00bf566e4u,
        0x877c5e22f2639411u, 0xb0f5836ba82b62deu, 0xe3ae662e47a24ea0u, 0x8d69012b6d183f47u,
        0xbcf13296f7a83fceu, 0x7b69b9acc2cc45eau, 0x4237aa494c159cdcu, 0x002e3941b8817705u};
    fp12 a, f, s, t;
    random_fp12(&a);
    fp12_conj(&f, &a); /* f = a^(p^6 - 1) */
    fp12_inv(&t, &a);
    fp12_mul(&f, &f, &t);
    fp12_frobenius(&t, &f, 1); /* f = f^(p^2 + 1) */
    fp12_frobenius(&t, &t, 1);
    fp12_mul(&f, &f, &t);
    fp12_cyclotomic_sqr(&s, &f);
    fp12_sqr(&t, &f);
    assert_true(fp12_eq(&s, &t));
    pow_limbs(&t, &f, hard, sizeof hard / sizeof hard[0]);
    pairing_final_exp(&s, &a);
    assert_true(fp12_eq(&s, &t));
    pow_limbs(&t, &s, FR_MODULUS.l, 4);
    assert_true(fp12_is_one(&t));
    pairing_final_exp(&a, &a); /* in place */
    assert_true(fp12_eq(&a, &s));
}

static void bilinearity(void **state) {
    (void)state;
    g1_affine p;
    g2_affine q;
    fp12 base, s, t;
    multiples(&p, 1, &q, 1);
    pairing(&base, &p, &q);
    assert_false(fp12_is_one(&base));
    pow_limbs(&t, &base, FR_MODULUS.l, 4);
    assert_true(fp12_is_one(&t));
    for (int round = 0; round < 5; round++) {
        uint64_t a = rng_next(&seed) >> 32, b = rng_next(&seed) >> 32, ab = a * b;
        multiples(&p, a, &q, b);
        pairing(&s, &p, &q);
        pow_limbs(&t, &base, &ab, 1);
        assert_true(fp12_eq(&s, &t));
        multiples(&p, ab, &q, 1);
        pairing(&t, &p, &q);
        assert_true(fp12_eq(&s, &t));
        multiples(&p, 1, &q, ab);
        pairing(&t, &p, &q);
        assert_true(fp12_eq(&s, &t));
        g1_affine_neg(&p, &p);
        pairing(&t, &p, &q);
        fp12_mul(&t, &t, &s);
        assert_true(fp12_is_one(&t));
    }
}

/* e(g1, g2) of the generators, as the textbook definition gives it (affine lines on the curve over Fp12
 * itself, the inverse for the negative x, a plain power): coefficients c0, c1 of w^0 .. w^5. */
static void known_answer(void **state) {
    (void)state;
    static const char *const expected[12] = {
        "1250ebd871fc0a92a7b2d83168d0d727272d441befa15c503dd8e90ce98db3e7b6d194f60839c508a84305aaca1789b6",
        "089a1c5b46e5110b86750ec6a532348868a84045483c92b7af5af689452eafabf1a8943e50439f1d59882a98eaa0170f",
        "19f26337d205fb469cd6bd15c3d5a04dc88784fbb3d0b2dbdea54d43b2b73f2cbb12d58386a8703e0f948226e47ee89d",
        "06fba23eb7c5af0d9f80940ca771b6ffd5857baaf222eb95a7d2809d61bfe02e1bfd1b68ff02f0b8102ae1c2d5d5ab1a",
        "1368bb445c7c2d209703f239689ce34c0378a68e72a6b3b216da0e22a5031b54ddff57309396b38c881c4c849ec23e87",
        "193502b86edb8857c273fa075a50512937e0794e1e65a7617c90d8bd66065b1fffe51d7a579973b1315021ec3c19934f",
        "11b8b424cd48bf38fcef68083b0b0ec5c81a93b330ee1a677d0d15ff7b984e8978ef48881e32fac91b93b47333e2ba57",
        "03350f55a7aefcd3c31b4fcb6ce5771cc6a0e9786ab5973320c806ad360829107ba810c5a09ffdd9be2291a0c25a99a2",
        "01b2f522473d171391125ba84dc4007cfbf2f8da752f7c74185203fcca589ac719c34dffbbaad8431dad1c1fb597aaa5",
        "018107154f25a764bd3c79937a45b84546da634b8f6be14a8061e55cceba478b23f7dacaa35c8ca78beae9624045b4b6",
        "04c581234d086a9902249b64728ffd21a189e87935a954051c7cdba7b3872629a4fafc05066245cb9108f0242d0fe3ef",
        "0f41e58663bf08cf068672cbd01a7ec73baca4d72ca93544deff686bfd6df543d48eaa24afe47e1efde449383b676631",
    };
    g1_affine p;
    g2_affine q;
    fp12 e;
    multiples(&p, 1, &q, 1);
    pairing(&e, &p, &q);
    const fp2 *coefficients[6] = {&e.c0.c0, &e.c1.c0, &e.c0.c1, &e.c1.c1, &e.c0.c2, &e.c1.c2};
    for (int i = 0; i < 6; i++) {
        uint8_t bytes[48];
        fp_to_bytes_be(bytes, &coefficients[i]->c0);
        assert_hex(bytes, 48, expected[2 * i]);
        fp_to_bytes_be(bytes, &coefficients[i]->c1);
        assert_hex(bytes, 48, expected[2 * i + 1]);
    }
}

static void product_is_one(const g1_affine *p, const g2_affine *q, size_t n, bool expected) {
    fp12 f;
    pairing_miller(&f, p, q, n);
    pairing_final_exp(&f, &f);
    assert_int_equal(fp12_is_one(&f), expected);
}

static void products(void **state) {
    (void)state;
    enum { N = 37 }; /* more than one loop takes */
    g1_affine p[N];
    g2_affine q[N];
    uint64_t sum = 0;
    for (size_t i = 0; i < N; i++) {
        uint64_t a = i % 7 == 3 ? 0 : rng_next(&seed) >> 40, b = i % 11 == 4 ? 0 : rng_next(&seed) >> 40;
        multiples(&p[i], a, &q[i], b);
        sum += a * b;
        if (i == 1 || i == 15 || i == 16 || i == N - 1) {
            g1_affine saved_p = p[i];
            g2_affine saved_q = q[i];
            /* Replace the last pair by one that brings the product to 1. */
            multiples(&p[i], sum - a * b, &q[i], 1);
            g1_affine_neg(&p[i], &p[i]);
            product_is_one(p, q, i + 1, true);
            multiples(&p[i], sum - a * b + 1, &q[i], 1);
            g1_affine_neg(&p[i], &p[i]);
            product_is_one(p, q, i + 1, false);
            p[i] = saved_p;
            q[i] = saved_q;
        }
    }
    fp12 whole, each, f;
    pairing_miller(&whole, p, q, N);
    pairing_final_exp(&whole, &whole);
    fp12_set_one(&each);
    for (size_t i = 0; i < N; i++) {
        pairing(&f, &p[i], &q[i]);
        fp12_mul(&each, &each, &f);
    }
    assert_true(fp12_eq(&whole, &each));
}

static void identities(void **state) {
    (void)state;
    g1_affine p[2], no_p;
    g2_affine q[2], no_q;
    fp12 f;
    multiples(&no_p, 0, &no_q, 0);
    multiples(&p[0], 5, &q[0], 7);
    pairing(&f, &no_p, &q[0]);
    assert_true(fp12_is_one(&f));
    pairing(&f, &p[0], &no_q);
    assert_true(fp12_is_one(&f));
    pairing(&f, &no_p, &no_q);
    assert_true(fp12_is_one(&f));
    product_is_one(p, q, 0, true);
    p[1] = p[0];
    q[1] = no_q;
    product_is_one(p, q, 2, false);
    p[0] = no_p;
    product_is_one(p, q, 2, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fp12_algebra, reset_seed),
        cmocka_unit_test_setup(frobenius, reset_seed),
        cmocka_unit_test_setup(final_exponentiation, reset_seed),
        cmocka_unit_test(known_answer),
        cmocka_unit_test_setup(bilinearity, reset_seed),
        cmocka_unit_test_setup(products, reset_seed),
        cmocka_unit_test_setup(identities, reset_seed),
    };
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests)
    return failed;
}
