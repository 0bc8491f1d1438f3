/* Inversion in both fields: small values, values next to the modulus and to powers of two, and random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "field/fp.h"
#include "field/fr.h"
#include "field/modinv.h"

static uint64_t random_state = 7;
static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Value number `at` of `limbs` words: near 0, near the modulus, near 2^k, random. */
static void pick(uint64_t *out, size_t limbs, const uint64_t *modulus, size_t at) {
    memset(out, 0, limbs * sizeof *out);
    size_t bit = at / 4;
    if (at < 200) {
        out[0] = at;
    } else if (at < 400) {
        memcpy(out, modulus, limbs * sizeof *out);
        out[0] -= at - 199;
    } else if (at < 2000 && bit < 64 * limbs - 8) {
        out[bit / 64] = (uint64_t)1 << (bit % 64);
        if (at % 4 > 1)
            for (size_t i = 0; i < bit / 64; i++) out[i] = UINT64_MAX;
        out[0] ^= at % 2;
    } else {
        for (size_t i = 0; i < limbs; i++) out[i] = random_u64();
        out[limbs - 1] >>= at % 60 + 4;
    }
}

static void base_field(void **state) {
    (void)state;
    for (size_t i = 0; i < 20000; i++) {
        fp a, inverse;
        pick(a.l, 6, FP_MODULUS.l, i);
        fp_inv(&inverse, &a);
        assert_true(fp_repr_is_valid((fp_repr *)&inverse));
        fp_mul(&inverse, &inverse, &a);
        assert_true(fp_is_zero(&a) ? fp_is_zero(&inverse) : fp_is_one(&inverse));
    }
}

static void scalar_field(void **state) {
    (void)state;
    for (size_t i = 0; i < 20000; i++) {
        fr a, inverse;
        pick(a.l, 4, FR_MODULUS.l, i);
        fr_inv(&inverse, &a);
        assert_true(fr_repr_is_valid((fr_repr *)&inverse));
        fr_mul(&inverse, &inverse, &a);
        assert_true(fr_is_zero(&a) ? fr_is_zero(&inverse) : fr_is_one(&inverse));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(base_field), cmocka_unit_test(scalar_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
