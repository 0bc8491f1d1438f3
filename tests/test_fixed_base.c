/* groth16/fixed_base against plain scalar multiplication, for every window size it may choose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "groth16/fixed_base.h"
#include "rng.h"
#include "variants.h"

static void random_scalar(fr_repr *out, uint64_t *rng) {
    do {
        for (int i = 0; i < 4; i++) out->l[i] = rng_next(rng);
        out->l[3] &= UINT64_MAX >> 1;
    } while (!fr_repr_is_valid(out));
}

/* Zero, one, r - 1, the turning points of signed digits, and the scalar k = 2 d 2^w - r with d the top digit
 * of r and 2^w its weight: when d is added, the sum so far is k - d 2^w = d 2^w - r, which is the same point.
 */
static size_t edge_scalars(fr_repr *out, unsigned bits, unsigned windows) {
    fr values[32], power = FR_ONE, half;
    size_t n = 0;
    values[n++] = FR_ZERO;
    values[n++] = FR_ONE;
    values[n++] = FR_MINUS_ONE;
    for (unsigned w = 0; w + 1 < windows; w++) {
        if (w % (windows / 4) == 0) {
            fr_from_u64(&half, (uint64_t)1 << (bits - 1));
            fr_mul(&half, &half, &power);
            values[n++] = half;
            fr_sub(&values[n++], &half, &FR_ONE);
            fr_add(&values[n++], &half, &FR_ONE);
        }
        for (unsigned i = 0; i < bits; i++) fr_dbl(&power, &power);
    }
    unsigned shift = bits * (windows - 1); /* at least 192 */
    fr_from_u64(&values[n], FR_MODULUS.l[3] >> (shift - 192));
    fr_mul(&values[n], &values[n], &power);
    fr_dbl(&values[n], &values[n]);
    n++;
    fr_to_repr_n(out, values, n);
    return n;
}

/* How many multiples make the table choose each size from 4 to 10 bits. */
static const uint64_t multiples[] = {1, 100, 300, 700, 1500, 4000, 9000};

static void g1_equals_mul(void **state) {
    (void)state;
    g1_affine base, expected;
    g1 point;
    fr_repr k[96];
    g1_affine out[96];
    void *scratch = aligned_alloc(64, fixed_base_scratch_bytes(msm_kernel_g1()));
    uint64_t rng = 1;
    g1_generator(&base);
    for (size_t m = 0; m < sizeof multiples / sizeof multiples[0]; m++) {
        fixed_base t;
        assert_int_equal(fixed_base_create(&t, msm_kernel_g1(), &base, multiples[m], NULL, NULL), CUZK_OK);
        size_t n = edge_scalars(k, t.bits, t.windows);
        for (; n < 96; n++) random_scalar(&k[n], &rng);
        fixed_base_mul(out, &t, k, n, scratch);
        for (size_t i = 0; i < n; i++) {
            g1_from_affine(&point, &base);
            g1_mul(&point, &point, &k[i]);
            g1_to_affine(&expected, &point);
            assert_true(g1_affine_eq(&out[i], &expected));
        }
        fixed_base_mul(out, &t, k, 0, scratch);
        fixed_base_free(&t);
    }
    free(scratch);
    assert_int_equal(mem_in_use(), 0);
}

static void g2_equals_mul(void **state) {
    (void)state;
    g2_affine base, expected;
    g2 point;
    fr_repr k[80];
    g2_affine out[80];
    void *scratch = aligned_alloc(64, fixed_base_scratch_bytes(msm_kernel_g2()));
    uint64_t rng = 2;
    g2_generator(&base);
    for (size_t m = 0; m < sizeof multiples / sizeof multiples[0]; m += 2) {
        fixed_base t;
        assert_int_equal(fixed_base_create(&t, msm_kernel_g2(), &base, multiples[m], NULL, NULL), CUZK_OK);
        size_t n = edge_scalars(k, t.bits, t.windows);
        for (; n < 80; n++) random_scalar(&k[n], &rng);
        fixed_base_mul(out, &t, k, n, scratch);
        for (size_t i = 0; i < n; i++) {
            g2_from_affine(&point, &base);
            g2_mul(&point, &point, &k[i]);
            g2_to_affine(&expected, &point);
            assert_true(g2_affine_eq(&out[i], &expected));
        }
        fixed_base_free(&t);
    }
    free(scratch);
}

/* A table so large that it is filled in pieces, by several threads; and a full batch. */
static void large_table(void **state) {
    (void)state;
    pool *p;
    g1_affine base, expected;
    assert_int_equal(pool_create(&p, 3, NULL), CUZK_OK);
    g1_generator(&base);
    fixed_base t;
    assert_int_equal(fixed_base_create(&t, msm_kernel_g1(), &base, 200000, p, NULL), CUZK_OK);
    assert_true(t.bits > 10);
    fr_repr *k = malloc(FIXED_BASE_BATCH * sizeof *k);
    g1_affine *out = malloc(FIXED_BASE_BATCH * sizeof *out);
    void *scratch = aligned_alloc(64, fixed_base_scratch_bytes(msm_kernel_g1()));
    uint64_t rng = 3;
    for (size_t i = 0; i < FIXED_BASE_BATCH; i++) random_scalar(&k[i], &rng);
    fixed_base_mul(out, &t, k, FIXED_BASE_BATCH, scratch);
    for (size_t i = 0; i < FIXED_BASE_BATCH; i += 13) {
        g1 point;
        g1_from_affine(&point, &base);
        g1_mul(&point, &point, &k[i]);
        g1_to_affine(&expected, &point);
        assert_true(g1_affine_eq(&out[i], &expected));
    }
    free(scratch);
    free(out);
    free(k);
    fixed_base_free(&t);
    pool_destroy(p);
}

static void no_memory(void **state) {
    (void)state;
    cuzk_error err;
    fixed_base t;
    g2_affine base;
    g2_generator(&base);
    mem_set_budget(1000);
    assert_int_equal(fixed_base_create(&t, msm_kernel_g2(), &base, 1, NULL, &err), CUZK_ERR_RESOURCES);
    mem_set_budget(0);
    fixed_base_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_equals_mul),
        cmocka_unit_test(g2_equals_mul),
        cmocka_unit_test(large_table),
        cmocka_unit_test(no_memory),
    };
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests);
    return failed;
}
