/* Eight elements at a time against single ones: all pairs of boundary values, then random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "field/fp8.h"

#define LIMB_MAX 0xfffffffffffffu

static uint64_t random_state = 3;
static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* p in limbs of 52 bits. */
static const uint64_t modulus[8] = {0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
                                    0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x1a011};

/* k p + offset */
static void near_multiple(uint64_t out[8], uint64_t k, int64_t offset) {
    int64_t carry = offset;
    for (int i = 0; i < 8; i++) {
        carry += (int64_t)(modulus[i] * k);
        out[i] = i < 7 ? (uint64_t)carry & LIMB_MAX : (uint64_t)carry;
        carry >>= 52;
    }
}

/* Boundary value number n below bound * p; false when there is no such number. */
static bool boundary(uint64_t out[8], size_t n, uint64_t bound) {
    if (n < 16) {
        memset(out, 0, 64);
        out[0] = (n & 1) * LIMB_MAX;
        for (int i = 1; i < 7; i++) out[i] = n >> (1 + i % 3) & 1 ? LIMB_MAX : n & 1;
        out[7] = 0x1a010;
        return true;
    }
    n -= 16;
    if (n < 4) {
        near_multiple(out, 0, (int64_t)n);
        return true;
    }
    n -= 4;
    if (n >= 4 * bound - 2) return false;
    near_multiple(out, 1 + n / 4, (int64_t)(n % 4) - 2);
    return true;
}

static void random_value(uint64_t out[8], uint64_t bound) {
    for (int i = 0; i < 7; i++) out[i] = random_u64() & LIMB_MAX;
    out[7] = random_u64() % (bound * 0x1a011);
    for (int i = 0; i < 7; i++) {
        uint64_t v = random_u64();
        if (v % 16 == 0) out[i] = 0;
        if (v % 16 == 1) out[i] = LIMB_MAX;
    }
}

static void put(fp8 *out, size_t k, const uint64_t limbs[8]) {
    for (int i = 0; i < 8; i++) out->l[i][k] = limbs[i];
}

/* Element k as an fp: its limbs one by one, so that no other function under test is needed. */
static void value_of(fp *out, const fp8 *a, size_t k) {
    fp limb, base;
    fp_from_u64(&base, (uint64_t)1 << 52);
    *out = FP_ZERO;
    for (int i = 7; i >= 0; i--) {
        assert_true(a->l[i][k] <= LIMB_MAX);
        fp_mul(out, out, &base);
        fp_from_u64(&limb, a->l[i][k]);
        fp_add(out, out, &limb);
    }
}

/* Is it below p (1 + 2^-12)? */
static void assert_tight(const fp8 *a) {
    for (size_t k = 0; k < 8; k++) {
        for (int i = 0; i < 7; i++) assert_true(a->l[i][k] <= LIMB_MAX);
        assert_true(a->l[7][k] <= modulus[7] + (modulus[7] >> 12));
    }
}

static void assert_below_p(const fp8 *a) {
    for (size_t k = 0; k < 8; k++) {
        int i = 7;
        while (i >= 0 && a->l[i][k] == modulus[i]) i--;
        assert_true(i >= 0 && a->l[i][k] < modulus[i]);
    }
}

/* All operations on one set of operands; a, b loose, and their tight forms. */
static void check(const fp8 *a, const fp8 *b) {
    fp8 product, square, both, sum, difference, ta, tb, canonical;
    fp x, y, want, got, radix_inverse, t;
    fp_from_u64(&radix_inverse, (uint64_t)1 << 52);
    fp_inv(&radix_inverse, &radix_inverse);
    fp_sqr(&radix_inverse, &radix_inverse);
    fp_sqr(&radix_inverse, &radix_inverse);
    fp_sqr(&radix_inverse, &radix_inverse); /* 2^-416 */

    fp8_mul(&product, a, b);
    fp8_sqr(&square, a);
    fp8_mul_add(&both, a, b, b, b);
    fp8_canonical(&ta, a);
    fp8_canonical(&tb, b);
    fp8_add(&sum, &ta, &tb);
    fp8_sub(&difference, a, &tb);
    fp8_canonical(&canonical, &product);
    assert_tight(&product);
    assert_tight(&square);
    assert_tight(&both);
    assert_below_p(&ta);
    assert_below_p(&canonical);
    for (size_t k = 0; k < 8; k++) {
        value_of(&x, a, k);
        value_of(&y, b, k);
        fp_mul(&want, &x, &y);
        fp_mul(&want, &want, &radix_inverse);
        value_of(&got, &product, k);
        assert_true(fp_eq(&got, &want));
        value_of(&got, &canonical, k);
        assert_true(fp_eq(&got, &want));
        fp_sqr(&t, &y);
        fp_mul(&t, &t, &radix_inverse);
        fp_add(&want, &want, &t);
        value_of(&got, &both, k);
        assert_true(fp_eq(&got, &want));
        fp_sqr(&want, &x);
        fp_mul(&want, &want, &radix_inverse);
        value_of(&got, &square, k);
        assert_true(fp_eq(&got, &want));
        value_of(&got, &ta, k);
        assert_true(fp_eq(&got, &x));
        fp_add(&want, &x, &y);
        value_of(&got, &sum, k);
        assert_true(fp_eq(&got, &want));
        fp_sub(&want, &x, &y);
        value_of(&got, &difference, k);
        assert_true(fp_eq(&got, &want));

        uint64_t words[6], limbs[8], back[8];
        for (int i = 0; i < 8; i++) limbs[i] = canonical.l[i][k];
        fp8_join(words, limbs);
        fp8_split(back, words);
        assert_memory_equal(back, limbs, sizeof back);
        fp8_to_fp(&got, &product, k);
        fp8 copy = product;
        fp8_from_fp(&copy, k, &got);
        for (size_t other = 0; other < 8; other++)
            for (int i = 0; i < 8; i++)
                assert_int_equal(copy.l[i][other], (other == k ? &canonical : &product)->l[i][other]);
        fp_mul(&want, &x, &y); /* in radix 2^416 the value is 2^-416 of the integer */
        fp_mul(&want, &want, &radix_inverse);
        fp_mul(&want, &want, &radix_inverse);
        assert_true(fp_eq(&got, &want));
    }

    /* Outputs on top of inputs. */
    fp8 alias = *a;
    fp8_mul(&alias, &alias, b);
    assert_memory_equal(&alias, &product, sizeof alias);
    alias = *b;
    fp8_mul(&alias, a, &alias);
    assert_memory_equal(&alias, &product, sizeof alias);
    alias = *a;
    fp8_sqr(&alias, &alias);
    assert_memory_equal(&alias, &square, sizeof alias);
    alias = *b;
    fp8_mul_add(&alias, a, &alias, &alias, &alias);
    assert_memory_equal(&alias, &both, sizeof alias);
}

static void boundaries(void **state) {
    (void)state;
    uint64_t left[8], right[8];
    fp8 a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    size_t k = 0;
    for (size_t i = 0; boundary(left, i, 7); i++)
        for (size_t j = 0; boundary(right, j, 7); j++) {
            put(&a, k, left);
            put(&b, k, right);
            if (++k == 8) {
                check(&a, &b);
                k = 0;
            }
        }
}

static void random_values(void **state) {
    (void)state;
    for (int round = 0; round < 2000; round++) {
        fp8 a, b;
        for (size_t k = 0; k < 8; k++) {
            uint64_t t[8];
            random_value(t, 7);
            put(&a, k, t);
            random_value(t, 7);
            put(&b, k, t);
        }
        check(&a, &b);
    }
}

/* Nothing outside the 512 bytes is touched. */
static void guard_pages(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, 7 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    fp8 *at[3];
    for (size_t end = 0; end < 2; end++) {
        for (size_t i = 0; i < 3; i++) {
            uint8_t *p = map + (2 * i + 1) * page;
            assert_int_equal(mprotect(p, page, PROT_READ | PROT_WRITE), 0);
            at[i] = (fp8 *)(void *)(end ? p + page - sizeof(fp8) : p);
            for (size_t k = 0; k < 8; k++) {
                uint64_t t[8];
                random_value(t, 1);
                put(at[i], k, t);
            }
        }
        fp8_mul(at[2], at[0], at[1]);
        fp8_sqr(at[2], at[0]);
        fp8_mul_add(at[2], at[0], at[1], at[1], at[0]);
        fp8_sub(at[2], at[0], at[1]);
        fp8_add(at[2], at[0], at[1]);
        fp8_canonical(at[2], at[0]);
    }
    munmap(map, 7 * page);
}

int main(void) {
    if (cpu_best() < CPU_IFMA) return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(boundaries), cmocka_unit_test(random_values),
                                       cmocka_unit_test(guard_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
