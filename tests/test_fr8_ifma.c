/*
 * The eight-lane Fr kernels against plain integers and the scalar field, on random values and on those where
 * carries and quotient estimates are at their limits. Compiled for AVX-512 IFMA; skipped without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "field/fr8.h"

#define SKIPPED 77
#define LIMBS   5

/* A plain integer of up to ten limbs of 52 bits. */
typedef struct integer {
    uint64_t l[2 * LIMBS];
} integer;

static uint64_t random_state;

static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static const integer modulus = {
    {0xfffff00000001u, 0x02fffe5bfefffu, 0x9a1d80553bda4u, 0x7d483339d8080u, 0x073eda753299du}};

static int compare(const integer *a, const integer *b) {
    for (int i = 2 * LIMBS - 1; i >= 0; i--)
        if (a->l[i] != b->l[i]) return a->l[i] < b->l[i] ? -1 : 1;
    return 0;
}

static integer multiply(const integer *a, const integer *b) { /* of five limbs each */
    integer c = {{0}};
    for (int i = 0; i < LIMBS; i++) {
        limb2 t = 0;
        for (int j = 0; j < LIMBS; j++) {
            t += (limb2)a->l[i] * b->l[j] + c.l[i + j];
            c.l[i + j] = (uint64_t)t & FR8_MASK;
            t >>= 52;
        }
        c.l[i + LIMBS] = (uint64_t)t;
    }
    return c;
}

static integer add(const integer *a, const integer *b) {
    integer c;
    uint64_t carry = 0;
    for (int i = 0; i < 2 * LIMBS; i++) {
        uint64_t t = a->l[i] + b->l[i] + carry;
        c.l[i] = t & FR8_MASK;
        carry = t >> 52;
    }
    return c;
}

static integer subtract(const integer *a, const integer *b) { /* a at least b */
    integer c;
    uint64_t borrow = 0;
    for (int i = 0; i < 2 * LIMBS; i++) {
        uint64_t t = a->l[i] - b->l[i] - borrow;
        c.l[i] = t & FR8_MASK;
        borrow = t >> 63;
    }
    return c;
}

static integer times(const integer *a, uint64_t k) {
    integer factor = {{k}};
    return multiply(a, &factor);
}

/* a / 2^260 */
static integer high_half(const integer *a) {
    integer c = {{0}};
    memcpy(c.l, a->l + LIMBS, LIMBS * sizeof *c.l);
    return c;
}

/* The element that is a mod r, of any a below 2^260. */
static fr residue(const integer *a) {
    integer t = *a;
    for (uint64_t k = 32; k > 0; k /= 2) {
        integer multiple = times(&modulus, k);
        while (compare(&t, &multiple) >= 0) t = subtract(&t, &multiple);
    }
    fr_repr plain;
    for (int i = 0; i < 4; i++) plain.l[i] = t.l[i] >> (12 * i) | t.l[i + 1] << (52 - 12 * i);
    fr out;
    fr_from_repr(&out, &plain);
    return out;
}

/* Values at the limits, then random ones. */
#define EDGES 40u
static integer sample(size_t i) {
    static const uint64_t multiples[] = {1, 2, 3, 4, 8, 16, 30, 34, 35};
    const size_t count = sizeof multiples / sizeof *multiples;
    integer a = {{0}}, one = {{1}};
    if (i < 3 * count) { /* k r - 1, k r, k r + 1 */
        a = times(&modulus, multiples[i / 3]);
        if (i % 3 == 0) a = subtract(&a, &one);
        if (i % 3 == 2) a = add(&a, &one);
        return a;
    }
    i -= 3 * count;
    if (i < 2) {
        a.l[0] = i;
    } else if (i == 2) { /* 2^260 - 1 */
        for (int j = 0; j < LIMBS; j++) a.l[j] = FR8_MASK;
    } else if (i < 3 + LIMBS) {
        a.l[i - 3] = FR8_MASK;
    } else if (i < 3 + 2 * LIMBS) {
        a.l[i - 3 - LIMBS] = 1;
    } else {
        for (int j = 0; j < LIMBS; j++) a.l[j] = random_u64() % 8 ? random_u64() & FR8_MASK : FR8_MASK;
    }
    return a;
}

static fr8 pack(const integer a[FR8_LANES]) {
    uint64_t limbs[LIMBS][FR8_LANES];
    for (size_t k = 0; k < FR8_LANES; k++)
        for (size_t i = 0; i < LIMBS; i++) limbs[i][k] = a[k].l[i];
    fr8 out;
    for (size_t i = 0; i < LIMBS; i++) out.l[i] = _mm512_loadu_si512(limbs[i]);
    return out;
}

/* Fails unless every lane is tight. */
static void unpack(integer out[FR8_LANES], fr8 a) {
    for (size_t i = 0; i < LIMBS; i++) {
        uint64_t limbs[FR8_LANES];
        _mm512_storeu_si512(limbs, a.l[i]);
        for (size_t k = 0; k < FR8_LANES; k++) {
            assert_true(limbs[k] <= FR8_MASK);
            if (i == 0) memset(&out[k], 0, sizeof out[k]);
            out[k].l[i] = limbs[k];
        }
    }
}

static void assert_same_residue(const integer *a, const integer *b) {
    fr x = residue(a), y = residue(b);
    assert_true(fr_eq(&x, &y));
}

/* Eight operands, the samples from i on. */
static void operands(integer a[FR8_LANES], fr8 *packed, size_t i) {
    for (size_t k = 0; k < FR8_LANES; k++) a[k] = sample(i + k);
    *packed = pack(a);
}

/* The same values with multiples of 2^52 moved between neighbouring limbs. */
static fr8 loosen(fr8 a) {
    for (int i = 0; i < LIMBS - 1; i++) {
        int64_t carries[FR8_LANES];
        for (size_t k = 0; k < FR8_LANES; k++) carries[k] = (int64_t)(random_u64() % 257) - 128;
        __m512i carry = _mm512_loadu_si512(carries);
        a.l[i] = _mm512_sub_epi64(a.l[i], _mm512_slli_epi64(carry, 52));
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], carry);
    }
    return a;
}

static void element(fr *out) {
    fr_repr plain = {{random_u64(), random_u64(), random_u64(), random_u64() >> 2}};
    fr_from_repr(out, &plain);
    uint64_t choice = random_u64() % 8;
    if (choice == 0) *out = FR_ZERO;
    if (choice == 1) *out = FR_ONE;
    if (choice == 2) fr_neg(out, &FR_ONE);
}

static fr two_to_minus_260(void) {
    fr x;
    fr_from_u64(&x, 2);
    fr_pow_u64(&x, &x, 260);
    fr_inv(&x, &x);
    return x;
}

static void products(void **state) {
    (void)state;
    integer limit = {{0}}; /* 34 * 2^260 r */
    integer r34 = times(&modulus, 34);
    memcpy(limit.l + LIMBS, r34.l, LIMBS * sizeof *limit.l);
    fr shift = two_to_minus_260();
    for (size_t i = 0; i < EDGES + 200; i++) {
        for (size_t j = 0; j < EDGES + 5; j++) {
            integer a[FR8_LANES], b[FR8_LANES], c[FR8_LANES];
            fr8 va, vb;
            operands(a, &va, i);
            operands(b, &vb, j);
            for (size_t k = 0; k < FR8_LANES; k++) {
                integer ab = multiply(&a[k], &b[k]);
                if (compare(&ab, &limit) >= 0) a[k] = sample(k); /* small */
            }
            va = pack(a);
            unpack(c, fr8_mul(va, vb));
            for (size_t k = 0; k < FR8_LANES; k++) {
                integer ab = multiply(&a[k], &b[k]), bound = high_half(&ab);
                bound = add(&bound, &modulus);
                assert_true(compare(&c[k], &bound) <= 0);
                fr x = residue(&a[k]), y = residue(&b[k]), z = residue(&c[k]);
                fr_mul(&x, &x, &y);
                fr_mul(&x, &x, &shift);
                assert_true(fr_eq(&x, &z));
            }
        }
    }
}

static void check_factor(const uint64_t w[LIMBS], const uint64_t quotient[LIMBS], const fr *expected) {
    integer vw = {{0}}, vq = {{0}}, shifted = {{0}};
    memcpy(vw.l, w, sizeof(uint64_t) * LIMBS);
    memcpy(vq.l, quotient, sizeof(uint64_t) * LIMBS);
    memcpy(shifted.l + LIMBS, w, sizeof(uint64_t) * LIMBS);
    fr value = residue(&vw);
    assert_true(compare(&vw, &modulus) < 0 && fr_eq(&value, expected));
    integer qr = multiply(&vq, &modulus);
    assert_true(compare(&qr, &shifted) <= 0);
    integer rest = subtract(&shifted, &qr);
    assert_true(compare(&rest, &modulus) < 0);
}

static void scalings(void **state) {
    (void)state;
    integer twice = times(&modulus, 2), limit = times(&modulus, 35);
    fr shift = two_to_minus_260();
    for (size_t i = 0; i < EDGES + 2000; i++) {
        integer a[FR8_LANES], c[FR8_LANES];
        fr8 va;
        operands(a, &va, i);
        for (size_t k = 0; k < FR8_LANES; k++)
            if (compare(&a[k], &limit) > 0) a[k].l[LIMBS - 1] /= 2;
        va = pack(a);

        fr w[FR8_LANES];
        fr8_factor one;
        for (size_t k = 0; k < FR8_LANES; k++) element(&w[k]);
        fr8_factor_set(&one, &w[0]);
        check_factor(one.w, one.quotient, &w[0]);
        unpack(c, fr8_scale(va, &one));
        for (size_t k = 0; k < FR8_LANES; k++) {
            fr x = residue(&a[k]), z = residue(&c[k]);
            fr_mul(&x, &x, &w[0]);
            assert_true(fr_eq(&x, &z) && compare(&c[k], &twice) < 0);
        }

        integer m[FR8_LANES]; /* the Montgomery forms, any values */
        fr8 vm;
        operands(m, &vm, EDGES + 2000 - i);
        for (size_t k = 0; k < FR8_LANES; k++) {
            w[k] = residue(&m[k]);
            fr_mul(&w[k], &w[k], &shift);
        }
        fr8_lane_factor lanes;
        fr8_lane_factor_set(&lanes, vm);
        integer lane_w[FR8_LANES], lane_quotient[FR8_LANES];
        unpack(lane_w, lanes.w);
        unpack(lane_quotient, lanes.quotient);
        unpack(c, fr8_scale_lanes(va, &lanes));
        for (size_t k = 0; k < FR8_LANES; k++) {
            check_factor(lane_w[k].l, lane_quotient[k].l, &w[k]);
            fr x = residue(&a[k]), z = residue(&c[k]);
            fr_mul(&x, &x, &w[k]);
            assert_true(fr_eq(&x, &z) && compare(&c[k], &twice) < 0);
        }
    }
}

static void sums(void **state) {
    (void)state;
    integer r8 = times(&modulus, 8), r32 = times(&modulus, 32);
    for (size_t i = 0; i < EDGES + 200; i++) {
        for (size_t j = 0; j < EDGES + 5; j++) {
            integer a[FR8_LANES], b[FR8_LANES], c[FR8_LANES];
            fr8 va, vb;
            operands(a, &va, i);
            operands(b, &vb, j);
            for (size_t k = 0; k < FR8_LANES; k++) { /* at most 2 r, and 8 r */
                if (a[k].l[LIMBS - 1] > 2 * modulus.l[LIMBS - 1]) a[k].l[LIMBS - 1] %= modulus.l[LIMBS - 1];
                if (compare(&b[k], &r8) > 0) b[k].l[LIMBS - 1] %= 8 * modulus.l[LIMBS - 1];
            }
            va = pack(a);
            vb = pack(b);
            unpack(c, fr8_tighten(fr8_add(va, vb)));
            for (size_t k = 0; k < FR8_LANES; k++) {
                integer sum = add(&a[k], &b[k]);
                assert_int_equal(compare(&sum, &c[k]), 0);
            }
            fr8 difference = fr8_sub(va, vb, 8), wide = fr8_sub(va, vb, 32);
            unpack(c, fr8_tighten(difference));
            for (size_t k = 0; k < FR8_LANES; k++) {
                integer sum = add(&a[k], &r8);
                sum = subtract(&sum, &b[k]);
                assert_int_equal(compare(&sum, &c[k]), 0);
            }
            unpack(c, fr8_tighten(wide));
            for (size_t k = 0; k < FR8_LANES; k++) {
                integer sum = add(&a[k], &r32);
                sum = subtract(&sum, &b[k]);
                assert_int_equal(compare(&sum, &c[k]), 0);
            }
            /* Reductions of the loose values themselves. */
            integer tight[FR8_LANES];
            unpack(tight, fr8_tighten(wide));
            unpack(c, fr8_canonical(wide));
            for (size_t k = 0; k < FR8_LANES; k++) {
                assert_true(compare(&c[k], &modulus) < 0);
                assert_same_residue(&c[k], &tight[k]);
            }
        }
    }
}

static void reductions(void **state) {
    (void)state;
    integer slightly = modulus, epsilon = {{0}}; /* (1 + 2^-40) r */
    epsilon.l[4] = modulus.l[4] >> 40;
    slightly = add(&slightly, &epsilon);
    integer twice = times(&modulus, 2), limit = times(&modulus, 35);
    for (size_t i = 0; i < EDGES + 5000; i++) {
        integer a[FR8_LANES], c[FR8_LANES];
        fr8 va;
        operands(a, &va, i);
        for (size_t k = 0; k < FR8_LANES; k++)
            if (compare(&a[k], &limit) >= 0) a[k] = subtract(&a[k], &modulus);
        va = pack(a);
        integer same[FR8_LANES];
        unpack(same, fr8_tighten(loosen(va)));
        assert_memory_equal(same, a, sizeof a);
        unpack(c, fr8_reduce(loosen(va)));
        for (size_t k = 0; k < FR8_LANES; k++) {
            assert_same_residue(&a[k], &c[k]);
            assert_true(compare(&c[k], &slightly) < 0);
        }
        unpack(c, fr8_canonical(va));
        for (size_t k = 0; k < FR8_LANES; k++) {
            assert_same_residue(&a[k], &c[k]);
            assert_true(compare(&c[k], &modulus) < 0);
        }
        for (size_t k = 0; k < FR8_LANES; k++)
            while (compare(&a[k], &twice) >= 0) a[k] = subtract(&a[k], &modulus);
        unpack(c, fr8_reduce_once(pack(a)));
        for (size_t k = 0; k < FR8_LANES; k++) {
            assert_same_residue(&a[k], &c[k]);
            assert_true(compare(&c[k], &modulus) < 0);
        }
    }
}

static void memory(void **state) {
    (void)state;
    for (int round = 0; round < 100; round++) {
        fr in[FR8_LANES * 3], out[FR8_LANES * 3];
        for (size_t k = 0; k < FR8_LANES * 3; k++)
            for (int i = 0; i < 4; i++) in[k].l[i] = random_u64() % 4 ? random_u64() : UINT64_MAX;
        memset(out, 0, sizeof out);
        fr8 x = fr8_load(in);
        integer a[FR8_LANES];
        unpack(a, x);
        for (size_t k = 0; k < FR8_LANES; k++)
            for (int i = 0; i < 4; i++)
                assert_int_equal(in[k].l[i], a[k].l[i] >> (12 * i) | a[k].l[i + 1] << (52 - 12 * i));
        fr8_store(out, x);
        assert_memory_equal(out, in, FR8_LANES * sizeof *in);

        memset(out, 0, sizeof out);
        fr8_scatter(out, 3, fr8_gather(in + 1, 3));
        for (size_t k = 0; k < FR8_LANES * 3; k++) {
            static const fr zero;
            const fr *expected = k % 3 == 0 ? &in[k + 1] : &zero;
            assert_memory_equal(&out[k], expected, sizeof *out);
        }
        fr8_store(out, fr8_broadcast(&in[5]));
        for (size_t k = 0; k < FR8_LANES; k++) assert_memory_equal(&out[k], &in[5], sizeof *out);
    }
}

int main(void) {
    if (cpu_best() < CPU_IFMA) return SKIPPED;
    field_select(CPU_IFMA);
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(scalings),
                                       cmocka_unit_test(sums), cmocka_unit_test(reductions),
                                       cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
