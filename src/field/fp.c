#include "field/fp.h"

#include <string.h>

#include "field/modinv.h"

bool fp_repr_is_valid(const fp_repr *value) {
    uint64_t borrow = 0;
    for (int i = 0; i < 6; i++) (void)limb_sub(value->l[i], FP_MODULUS.l[i], &borrow);
    return borrow == 1;
}

void fp_from_u64(fp *out, uint64_t value) {
    fp_repr plain = {{value, 0, 0, 0, 0, 0}};
    fp_from_repr(out, &plain);
}

void fp_from_repr(fp *out, const fp_repr *value) {
    fp t;
    memcpy(t.l, value->l, sizeof t.l);
    fp_mul(out, &t, &FP_R2);
}

void fp_to_repr(fp_repr *out, const fp *a) {
    static const fp raw_one = {{1, 0, 0, 0, 0, 0}};
    fp t;
    fp_mul(&t, a, &raw_one);
    memcpy(out->l, t.l, sizeof out->l);
}

bool fp_from_bytes_be(fp *out, const uint8_t bytes[48]) {
    fp_repr plain;
    for (int i = 0; i < 6; i++) {
        uint64_t limb;
        memcpy(&limb, bytes + 8 * (5 - i), 8);
        plain.l[i] = __builtin_bswap64(limb);
    }
    if (!fp_repr_is_valid(&plain)) return false;
    fp_from_repr(out, &plain);
    return true;
}

void fp_to_bytes_be(uint8_t bytes[48], const fp *a) {
    fp_repr plain;
    fp_to_repr(&plain, a);
    for (int i = 0; i < 6; i++) {
        uint64_t limb = __builtin_bswap64(plain.l[i]);
        memcpy(bytes + 8 * (5 - i), &limb, 8);
    }
}

bool fp_is_lexicographically_larger(const fp *a) {
    static const fp_repr half = {{0xdcff7fffffffd555u, 0x0f55ffff58a9ffffu, 0xb39869507b587b12u,
                                  0xb23ba5c279c2895fu, 0x258dd3db21a5d66bu,
                                  0x0d0088f51cbff34du}}; /* (p-1)/2 */
    fp_repr plain;
    fp_to_repr(&plain, a);
    uint64_t borrow = 0;
    for (int i = 0; i < 6; i++) (void)limb_sub(half.l[i], plain.l[i], &borrow);
    return borrow == 1;
}

void fp_pow(fp *out, const fp *a, const uint64_t *e, size_t limbs) {
    enum { WIDTH = 5 };
    /* Sliding windows: each ends in a one bit and holds at most WIDTH bits; odd[i] = a^(2 i + 1). */
    fp odd[1 << (WIDTH - 1)], square, result = FP_ONE;
    odd[0] = *a;
    fp_sqr(&square, a);
    for (size_t i = 1; i < sizeof odd / sizeof odd[0]; i++) fp_mul(&odd[i], &odd[i - 1], &square);
    bool started = false;
    for (size_t i = 64 * limbs; i > 0;) {
        if (!(e[(i - 1) / 64] >> ((i - 1) % 64) & 1)) {
            if (started) fp_sqr(&result, &result);
            i--;
            continue;
        }
        size_t end = i > WIDTH ? i - WIDTH : 0; /* the window is bits end .. i - 1 */
        while (!(e[end / 64] >> (end % 64) & 1)) end++;
        unsigned window = 0;
        for (; i > end; i--) {
            window = 2 * window + (unsigned)(e[(i - 1) / 64] >> ((i - 1) % 64) & 1);
            if (started) fp_sqr(&result, &result);
        }
        fp_mul(&result, &result, &odd[window / 2]);
        started = true;
    }
    *out = result;
}

void fp_inv(fp *out, const fp *a) {
    fp t; /* 1/(a R); twice times R */
    modinv_p(t.l, a->l);
    fp_mul(&t, &t, &FP_R2);
    fp_mul(out, &t, &FP_R2);
}

bool fp_sqrt(fp *out, const fp *a) {
    /* p = 3 mod 4: a^((p+1)/4). */
    static const uint64_t exponent[6] = {0xee7fbfffffffeaabu, 0x07aaffffac54ffffu, 0xd9cc34a83dac3d89u,
                                         0xd91dd2e13ce144afu, 0x92c6e9ed90d2eb35u, 0x0680447a8e5ff9a6u};
    fp root, square;
    fp_pow(&root, a, exponent, 6);
    fp_sqr(&square, &root);
    if (!fp_eq(&square, a)) return false;
    *out = root;
    return true;
}
