/* The tests that Fr and Fp share; test_field.c includes this once for each, with ELEMENT, REPR, LIMBS, F, T,
 * MODULUS defined. */

/* Edge values: plain integers below the modulus whose limbs are extreme, and the neighbours of 0 and of the
 * modulus and its half. */
enum { T(EDGES) = 3 * LIMBS + 12 };

static void T(edges)(REPR out[T(EDGES)]) {
    size_t n = 0;
    memset(out, 0, sizeof(REPR) * T(EDGES));
    for (uint64_t small = 0; small < 4; small++) out[n++].l[0] = small;
    for (uint64_t less = 1; less < 5; less++) {
        uint64_t borrow = 0;
        out[n].l[0] = limb_sub(MODULUS.l[0], less, &borrow);
        for (int i = 1; i < LIMBS; i++) out[n].l[i] = limb_sub(MODULUS.l[i], 0, &borrow);
        n++;
    }
    for (int i = 0; i < LIMBS; i++) /* (m - 1) / 2 */
        out[n].l[i] = MODULUS.l[i] >> 1 | (i + 1 < LIMBS ? MODULUS.l[i + 1] << 63 : 0);
    n++;
    out[n] = out[n - 1];
    out[n++].l[0]++;
    for (int i = 0; i + 1 < LIMBS; i++) out[n].l[i] = UINT64_MAX;
    n++;
    out[n] = MODULUS;
    out[n].l[LIMBS - 1]--;
    for (int i = 0; i + 1 < LIMBS; i++) out[n].l[i] = UINT64_MAX;
    n++;
    for (int i = 0; i < LIMBS; i++) {
        out[n++].l[i] = 1;
        out[n].l[i] = i + 1 < LIMBS ? UINT64_MAX : MODULUS.l[i];
        if (i + 1 == LIMBS) out[n].l[i]--;
        n++;
        out[n] = MODULUS; /* one limb zero, or the highest less by one */
        if (i + 1 < LIMBS) {
            out[n].l[i] = 0;
        } else {
            out[n].l[i]--;
        }
        n++;
    }
    assert_int_equal(n, T(EDGES));
    for (size_t i = 0; i < n; i++) assert_true(F(repr_is_valid)(&out[i]));
}

static void T(random)(ELEMENT *out) {
    do {
        for (int i = 0; i < LIMBS; i++) out->l[i] = rng_next(&seed);
        if (rng_next(&seed) % 4 == 0) out->l[rng_next(&seed) % LIMBS] = 0;
        if (rng_next(&seed) % 4 == 0) out->l[rng_next(&seed) % LIMBS] = UINT64_MAX;
        out->l[LIMBS - 1] &= UINT64_MAX >> (LIMBS == 4 ? 1 : 3);
    } while (!F(is_reduced)(out));
}

/* a b mod m of plain integers, by doubling and adding in C. */
static void T(slow_product)(REPR *out, const REPR *a, const REPR *b) {
    REPR sum = {{0}};
    for (int i = 64 * LIMBS - 1; i >= 0; i--) {
        limbs_add_mod(sum.l, sum.l, sum.l, MODULUS.l, LIMBS);
        if (b->l[i / 64] >> (i % 64) & 1) limbs_add_mod(sum.l, sum.l, a->l, MODULUS.l, LIMBS);
    }
    *out = sum;
}

static void T(equal)(const ELEMENT *a, const ELEMENT *b) {
    assert_memory_equal(a, b, sizeof *a);
    assert_true(F(eq)(a, b));
}

/* Everything about one pair of elements: against C, against the portable kernels, and in place. */
static void T(check_pair)(const ELEMENT *a, const ELEMENT *b) {
    ELEMENT s, t;
    F(add)(&s, a, b);
    limbs_add_mod(t.l, a->l, b->l, MODULUS.l, LIMBS);
    T(equal)(&s, &t);
    t = *a;
    F(add)(&t, &t, b);
    T(equal)(&s, &t);
    t = *b;
    F(add)(&t, a, &t);
    T(equal)(&s, &t);
    F(sub)(&s, a, b);
    limbs_sub_mod(t.l, a->l, b->l, MODULUS.l, LIMBS);
    T(equal)(&s, &t);
    t = *a;
    F(sub)(&t, &t, b);
    T(equal)(&s, &t);
    t = *b;
    F(sub)(&t, a, &t);
    T(equal)(&s, &t);
    F(sub)(&t, b, a);
    F(neg)(&t, &t);
    T(equal)(&s, &t);

    F(mul)(&s, a, b);
    assert_true(F(is_reduced)(&s));
    field_portable.F(mul)(&t, a, b);
    T(equal)(&s, &t);
    t = *a;
    F(mul)(&t, &t, b);
    T(equal)(&s, &t);
    t = *b;
    F(mul)(&t, a, &t);
    T(equal)(&s, &t);
    F(sqr)(&s, a);
    field_portable.F(mul)(&t, a, a);
    T(equal)(&s, &t);
    t = *a;
    F(sqr)(&t, &t);
    T(equal)(&s, &t);
    t = *a;
    F(mul)(&t, &t, &t);
    T(equal)(&s, &t);
    F(add)(&s, a, a);
    F(dbl)(&t, a);
    T(equal)(&s, &t);
    t = *a;
    F(dbl)(&t, &t);
    T(equal)(&s, &t);
}

static void T(edge_pairs)(void **state) {
    (void)state;
    REPR plain[T(EDGES)], product, back;
    T(edges)(plain);
    for (size_t i = 0; i < T(EDGES); i++)
        for (size_t j = 0; j < T(EDGES); j++) {
            ELEMENT a, b;
            memcpy(&a, &plain[i], sizeof a); /* extreme limbs in Montgomery form */
            memcpy(&b, &plain[j], sizeof b);
            T(check_pair)(&a, &b);
            F(from_repr)(&a, &plain[i]); /* and of the value */
            F(from_repr)(&b, &plain[j]);
            F(mul)(&a, &a, &b);
            F(to_repr)(&back, &a);
            T(slow_product)(&product, &plain[i], &plain[j]);
            assert_memory_equal(&back, &product, sizeof back);
        }
}

static void T(random_pairs)(void **state) {
    (void)state;
    for (int round = 0; round < 20000; round++) {
        ELEMENT a, b;
        T(random)(&a);
        T(random)(&b);
        T(check_pair)(&a, &b);
    }
}

static void T(check_inverse)(const ELEMENT *a) {
    ELEMENT s, t;
    F(inv)(&s, a);
    assert_true(F(is_reduced)(&s));
    F(mul)(&t, &s, a);
    if (F(is_zero)(a)) {
        assert_true(F(is_zero)(&s));
    } else {
        assert_true(F(is_one)(&t));
    }
    t = *a;
    F(inv)(&t, &t);
    T(equal)(&s, &t);
}

static void T(inverses)(void **state) {
    (void)state;
    REPR plain[T(EDGES)];
    ELEMENT a;
    T(edges)(plain);
    for (size_t i = 0; i < T(EDGES); i++) {
        memcpy(&a, &plain[i], sizeof a);
        T(check_inverse)(&a);
        F(from_repr)(&a, &plain[i]);
        T(check_inverse)(&a);
    }
    for (int i = 0; i < 64 * LIMBS - (LIMBS == 4 ? 1 : 3); i++) { /* powers of two */
        memset(&a, 0, sizeof a);
        a.l[i / 64] = (uint64_t)1 << (i % 64);
        T(check_inverse)(&a);
    }
    for (int round = 0; round < 3000; round++) {
        T(random)(&a);
        T(check_inverse)(&a);
    }
}

static void T(conversions)(void **state) {
    (void)state;
    REPR plain[T(EDGES)], back;
    ELEMENT a, b, one;
    T(edges)(plain);
    F(from_u64)(&one, 1);
    assert_true(F(is_one)(&one));
    F(from_u64)(&a, 0);
    assert_true(F(is_zero)(&a));
    assert_false(F(is_one)(&a));
    for (size_t i = 0; i < T(EDGES); i++) {
        F(from_repr)(&a, &plain[i]);
        F(to_repr)(&back, &a);
        assert_memory_equal(&back, &plain[i], sizeof back);
        F(neg)(&b, &a);
        assert_int_equal(F(eq)(&a, &b), F(is_zero)(&a));
        F(add)(&b, &b, &a);
        assert_true(F(is_zero)(&b));
    }
    F(from_u64)(&a, UINT64_MAX);
    F(to_repr)(&back, &a);
    REPR expected = {{UINT64_MAX}};
    assert_memory_equal(&back, &expected, sizeof back);
    back = MODULUS;
    assert_false(F(repr_is_valid)(&back));
    back.l[0]++;
    assert_false(F(repr_is_valid)(&back));
    memset(&back, 0xff, sizeof back);
    assert_false(F(repr_is_valid)(&back));
    for (int i = 0; i < LIMBS; i++) { /* equality looks at every limb */
        T(random)(&a);
        b = a;
        b.l[i] ^= 1;
        assert_false(F(eq)(&a, &b));
        b = (ELEMENT){{0}};
        b.l[i] = 1;
        assert_false(F(is_zero)(&b));
    }
}
