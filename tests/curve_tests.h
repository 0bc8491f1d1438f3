/* The tests that G1 and G2 share; test_curve.c includes this once for each, with POINT, AFFINE, COORD, P, F,
 * T, RANDOM_COORD, GROUP and SIZE (bytes of a coordinate) defined. */

static void T(expect)(const POINT *p, const POINT *q) {
    assert_true(P(eq)(p, q));
    AFFINE a, b; /* the same by another way */
    P(to_affine)(&a, p);
    P(to_affine)(&b, q);
    assert_true(P(affine_eq)(&a, &b));
    assert_true(P(on_curve)(&a));
}

/* A point of the subgroup whose Z is not one. */
static void T(random)(POINT *out) {
    AFFINE g;
    fr_repr k;
    P(generator)(&g);
    random_scalar(&k);
    P(from_affine)(out, &g);
    P(mul)(out, out, &k);
}

/* A point on the curve, almost surely outside the subgroup. */
static void T(random_on_curve)(AFFINE *out) {
    AFFINE g;
    COORD b, t;
    P(generator)(&g); /* b = y^2 - x^3 */
    F(sqr)(&b, &g.x);
    F(mul)(&b, &b, &g.x);
    F(sqr)(&t, &g.y);
    F(sub)(&b, &t, &b);
    do {
        RANDOM_COORD(&out->x);
        F(sqr)(&t, &out->x);
        F(mul)(&t, &t, &out->x);
        F(add)(&t, &t, &b);
    } while (!F(sqrt)(&out->y, &t));
    assert_true(P(on_curve)(out));
}

static void T(vectors)(void **state) {
    (void)state;
    yajl_val root = fixture_json("vectors/curve.json");
    size_t n = json_len(root, "cases");
    assert_int_equal(n, 24);
    for (size_t i = 0; i < n; i++) {
        yajl_val c = json_at(root, "cases")->u.array.values[i];
        uint8_t scalar[32], bytes[2 * SIZE];
        hex_decode(scalar, json_str(c, "scalar"), 32);
        fr k;
        assert_true(fr_from_bytes(&k, scalar));
        AFFINE g, a, b;
        POINT p;
        P(generator)(&g);
        P(from_affine)(&p, &g);
        P(mul_fr)(&p, &p, &k);
        P(to_affine)(&a, &p);
        P(compress)(bytes, &a);
        assert_hex(bytes, SIZE, json_str(c, GROUP "/compressed"));
        assert_int_equal(P(decompress)(&b, bytes), POINT_OK);
        assert_true(P(affine_eq)(&a, &b));
        P(encode)(bytes, &a);
        assert_hex(bytes, 2 * SIZE, json_str(c, GROUP "/uncompressed"));
        memset(&b, 0xff, sizeof b);
        assert_int_equal(P(decode)(&b, bytes), POINT_OK);
        assert_true(P(affine_eq)(&a, &b));
        memset(&b, 0xff, sizeof b);
        assert_int_equal(P(decode_unchecked)(&b, bytes), POINT_OK);
        assert_true(P(affine_eq)(&a, &b));
        assert_true(P(in_subgroup)(&a));
        assert_int_equal(P(affine_is_identity)(&a), fr_is_zero(&k));
    }
    yajl_tree_free(root);
}

static void T(group_law)(void **state) {
    (void)state;
    POINT zero;
    P(set_identity)(&zero);
    assert_true(P(is_identity)(&zero));
    for (int round = 0; round < 8; round++) {
        POINT p, q, s, t, u;
        AFFINE a;
        T(random)(&p);
        T(random)(&q);
        P(add)(&s, &p, &q); /* commutative */
        P(add)(&t, &q, &p);
        T(expect)(&s, &t);
        P(to_affine)(&a, &q); /* mixed */
        P(add_mixed)(&t, &p, &a);
        T(expect)(&s, &t);
        P(from_affine)(&u, &a); /* Z = 1 on both sides and on one */
        P(add_mixed)(&t, &u, &a);
        P(dbl)(&u, &u);
        T(expect)(&t, &u);
        P(dbl)(&u, &q);
        T(expect)(&t, &u);
        t = p; /* in place, either operand */
        P(add)(&t, &t, &q);
        T(expect)(&s, &t);
        t = q;
        P(add)(&t, &p, &t);
        T(expect)(&s, &t);
        t = p;
        P(add_mixed)(&t, &t, &a);
        T(expect)(&s, &t);
        P(add)(&t, &s, &p); /* associative */
        P(add)(&u, &q, &p);
        P(add)(&u, &p, &u);
        T(expect)(&t, &u);
        P(add)(&t, &p, &p); /* equal operands, same and different Z */
        P(dbl)(&u, &p);
        T(expect)(&t, &u);
        P(to_affine)(&a, &p);
        P(add_mixed)(&t, &p, &a);
        T(expect)(&t, &u);
        P(from_affine)(&t, &a);
        P(add)(&t, &t, &p);
        T(expect)(&t, &u);
        assert_false(P(eq)(&p, &q)); /* opposite operands */
        P(neg)(&u, &p);
        assert_false(P(eq)(&p, &u));
        P(add)(&t, &p, &u);
        assert_true(P(is_identity)(&t));
        T(expect)(&t, &zero);
        P(affine_neg)(&a, &a);
        P(add_mixed)(&t, &p, &a);
        T(expect)(&t, &zero);
        P(add)(&t, &p, &zero); /* identity operands */
        T(expect)(&t, &p);
        P(add)(&t, &zero, &p);
        T(expect)(&t, &p);
        assert_false(P(eq)(&p, &zero));
        assert_false(P(eq)(&zero, &p));
        P(to_affine)(&a, &zero);
        assert_true(P(affine_is_identity)(&a));
        assert_true(P(on_curve)(&a));
        P(add_mixed)(&t, &p, &a);
        T(expect)(&t, &p);
        P(to_affine)(&a, &p);
        P(add_mixed)(&t, &zero, &a);
        T(expect)(&t, &p);
        a.y = a.x;
        assert_false(P(on_curve)(&a));
    }
    POINT t;
    AFFINE a;
    P(add)(&t, &zero, &zero);
    T(expect)(&t, &zero);
    P(dbl)(&t, &zero);
    T(expect)(&t, &zero);
    P(neg)(&t, &zero);
    T(expect)(&t, &zero);
    P(to_affine)(&a, &zero);
    P(add_mixed)(&t, &zero, &a);
    T(expect)(&t, &zero);
    P(affine_neg)(&a, &a);
    assert_true(P(affine_is_identity)(&a));
}

/* k p by doubling and adding alone. */
static void T(naive_mul)(POINT *out, const POINT *p, const fr_repr *k) {
    POINT sum;
    P(set_identity)(&sum);
    for (int i = 255; i >= 0; i--) {
        P(dbl)(&sum, &sum);
        if (k->l[i / 64] >> (i % 64) & 1) P(add)(&sum, &sum, p);
    }
    *out = sum;
}

static void T(multiples)(void **state) {
    (void)state;
    POINT p, s, t, zero;
    AFFINE off_subgroup;
    P(set_identity)(&zero);
    T(random)(&p);
    fr_repr k = {{0, 0, 0, 0}};
    t = zero;
    for (k.l[0] = 0; k.l[0] < 70; k.l[0]++) {
        P(mul)(&s, &p, &k);
        T(expect)(&s, &t);
        P(mul)(&s, &zero, &k);
        T(expect)(&s, &zero);
        P(add)(&t, &t, &p);
    }
    P(mul)(&s, &p, &FR_MODULUS);
    T(expect)(&s, &zero);
    k = FR_MODULUS;
    k.l[0]--;
    P(mul)(&s, &p, &k);
    P(neg)(&t, &p);
    T(expect)(&s, &t);
    T(random_on_curve)(&off_subgroup); /* plain integers, not integers mod r */
    P(from_affine)(&p, &off_subgroup);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++) k.l[i] = round == 0 ? UINT64_MAX : rng_next(&seed);
        if (round == 1) k = (fr_repr){{0, 0, 0, (uint64_t)1 << 63}};
        if (round == 2) k = (fr_repr){{UINT64_MAX, UINT64_MAX, 0, UINT64_MAX}};
        P(mul)(&s, &p, &k);
        T(naive_mul)(&t, &p, &k);
        T(expect)(&s, &t);
    }
    fr m;
    fr_from_u64(&m, 1000003);
    P(mul_fr)(&s, &p, &m);
    k = (fr_repr){{1000003, 0, 0, 0}};
    P(mul)(&p, &p, &k); /* in place */
    T(expect)(&s, &p);
}

static void T(batch_affine)(void **state) {
    (void)state;
    enum { N = 17 };
    POINT p[N];
    AFFINE batch[N], one;
    COORD scratch[N];
    for (size_t i = 0; i < N; i++) {
        if (i % 5 == 0) {
            P(set_identity)(&p[i]);
        } else {
            T(random)(&p[i]);
        }
    }
    P(to_affine_n)(batch, p, N, scratch);
    for (size_t i = 0; i < N; i++) {
        P(to_affine)(&one, &p[i]);
        assert_true(P(affine_eq)(&one, &batch[i]));
    }
    P(to_affine_n)(batch, p, 1, scratch); /* identities alone, and nothing */
    assert_true(P(affine_is_identity)(&batch[0]));
    P(to_affine_n)(batch, p, 0, scratch);
}

/* The fast subgroup test must say what multiplication by r says. */
static void T(expect_subgroup)(const AFFINE *a, bool expected) {
    POINT p;
    P(from_affine)(&p, a);
    P(mul)(&p, &p, &FR_MODULUS);
    assert_int_equal(P(is_identity)(&p), expected);
    assert_int_equal(P(in_subgroup)(a), expected);
    uint8_t bytes[2 * SIZE];
    AFFINE back, untouched;
    memset(&back, 0xee, sizeof back);
    untouched = back;
    P(compress)(bytes, a);
    assert_int_equal(P(decompress)(&back, bytes), expected ? POINT_OK : POINT_NOT_IN_SUBGROUP);
    assert_memory_equal(&back, expected ? a : &untouched, sizeof back);
    back = untouched;
    P(encode)(bytes, a);
    assert_int_equal(P(decode)(&back, bytes), expected ? POINT_OK : POINT_NOT_IN_SUBGROUP);
    assert_memory_equal(&back, expected ? a : &untouched, sizeof back);
    assert_int_equal(P(decode_unchecked)(&back, bytes), POINT_OK);
    assert_memory_equal(&back, a, sizeof back);
}

static void T(subgroup)(void **state) {
    (void)state;
    for (int round = 0; round < 8; round++) {
        AFFINE outside, a;
        POINT p, torsion;
        T(random)(&p);
        P(to_affine)(&a, &p);
        T(expect_subgroup)(&a, true);
        T(random_on_curve)(&outside);
        T(expect_subgroup)(&outside, false);
        P(from_affine)(&torsion, &outside); /* order divides the cofactor */
        P(mul)(&torsion, &torsion, &FR_MODULUS);
        P(to_affine)(&a, &torsion);
        T(expect_subgroup)(&a, false);
        P(add)(&torsion, &torsion, &p);
        P(to_affine)(&a, &torsion);
        T(expect_subgroup)(&a, false);
    }
    AFFINE zero;
    POINT p;
    P(set_identity)(&p);
    P(to_affine)(&zero, &p);
    assert_true(P(in_subgroup)(&zero));
}

/* Every single flipped bit is either refused or another point of the subgroup, encoded by those bytes. */
static void T(damaged_encodings)(void **state) {
    (void)state;
    POINT p;
    AFFINE a, b;
    uint8_t bytes[2 * SIZE], again[2 * SIZE];
    T(random)(&p);
    P(to_affine)(&a, &p);
    P(encode)(bytes, &a);
    for (size_t bit = 0; bit < 16 * SIZE; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(P(decode)(&b, bytes), POINT_OK);
        assert_int_not_equal(P(decode_unchecked)(&b, bytes), POINT_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    P(compress)(bytes, &a);
    for (size_t bit = 0; bit < 8 * SIZE; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        point_status status = P(decompress)(&b, bytes);
        if (bit == 5) { /* the sign */
            assert_int_equal(status, POINT_OK);
            P(affine_neg)(&b, &b);
            assert_true(P(affine_eq)(&a, &b));
        } else {
            assert_int_not_equal(status, POINT_OK);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(P(decompress)(&b, bytes), POINT_OK);

    P(encode)(again, &a); /* which refusal */
    again[0] |= 0x80;
    assert_int_equal(P(decode)(&b, again), POINT_BAD_FLAGS);
    again[0] ^= 0x80 | 0x20;
    assert_int_equal(P(decode)(&b, again), POINT_BAD_FLAGS);
    again[0] ^= 0x20 | 0x40;
    assert_int_equal(P(decode)(&b, again), POINT_BAD_INFINITY);
    memset(again, 0, sizeof again);
    assert_int_equal(P(decode)(&b, again), POINT_NOT_ON_CURVE);
    assert_int_equal(P(decompress)(&b, again), POINT_BAD_FLAGS);
    again[0] = 0xe0;
    assert_int_equal(P(decompress)(&b, again), POINT_BAD_INFINITY);
    again[0] = 0x60;
    assert_int_equal(P(decode)(&b, again), POINT_BAD_INFINITY);
    again[0] = 0x9f;
    assert_int_equal(P(decompress)(&b, again), POINT_BAD_COORD);
    again[0] = 0x1f;
    assert_int_equal(P(decode)(&b, again), POINT_BAD_COORD);
    again[0] = 0;
    again[SIZE] = 0xff;
    assert_int_equal(P(decode)(&b, again), POINT_BAD_COORD);
}

static bool T(check_compressed)(const char *hex) {
    uint8_t bytes[SIZE];
    AFFINE a;
    hex_decode(bytes, hex, sizeof bytes);
    if (P(decompress)(&a, bytes) != POINT_OK) return false;
    P(compress)(bytes, &a);
    assert_hex(bytes, sizeof bytes, hex);
    return true;
}

static bool T(check_uncompressed)(const char *hex) {
    uint8_t bytes[2 * SIZE];
    AFFINE a;
    hex_decode(bytes, hex, sizeof bytes);
    if (P(decode)(&a, bytes) != POINT_OK) return false;
    P(encode)(bytes, &a);
    assert_hex(bytes, sizeof bytes, hex);
    return true;
}
