#include "curve/fp2.h"

void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b) {
    fp minus_a1, c0;
    fp_neg(&minus_a1, &a->c1);
    fp_dot2(&c0, &a->c0, &b->c0, &minus_a1, &b->c1);
    fp_dot2(&out->c1, &a->c0, &b->c1, &a->c1, &b->c0);
    out->c0 = c0;
}

void fp2_sqr(fp2 *out, const fp2 *a) {
    fp sum, difference, product;
    fp_add(&sum, &a->c0, &a->c1);
    fp_sub(&difference, &a->c0, &a->c1);
    fp_mul(&product, &a->c0, &a->c1);
    fp_mul(&out->c0, &sum, &difference);
    fp_dbl(&out->c1, &product);
}

/* a0^2 + a1^2, the norm to Fp. */
static void norm(fp *out, const fp2 *a) {
    fp t;
    fp_sqr(&t, &a->c0);
    fp_sqr(out, &a->c1);
    fp_add(out, out, &t);
}

void fp2_inv(fp2 *out, const fp2 *a) {
    fp t;
    norm(&t, a);
    fp_inv(&t, &t);
    fp2_conj(out, a);
    fp2_mul_fp(out, out, &t);
}

bool fp2_sqrt(fp2 *out, const fp2 *a) {
    /* (x0 + x1 u)^2 = a means x0^2 - x1^2 = a0 and 2 x0 x1 = a1, so x0^2 = (a0 +- sqrt(norm)) / 2. */
    fp2 root = FP2_ZERO;
    if (fp_is_zero(&a->c1)) {
        if (!fp_sqrt(&root.c0, &a->c0)) {
            fp minus; /* -1 is no square in Fp, so one of a0 and -a0 is */
            fp_neg(&minus, &a->c0);
            if (!fp_sqrt(&root.c1, &minus)) return false;
        }
        *out = root;
        return true;
    }
    static const fp half = {{0x1804000000015554u, 0x855000053ab00001u, 0x633cb57c253c276fu,
                             0x6e22d1ec31ebb502u, 0xd3916126f2d14ca2u, 0x17fbb8571a006596u}};
    fp d, t;
    norm(&t, a);
    if (!fp_sqrt(&d, &t)) return false;
    fp_add(&t, &a->c0, &d);
    fp_mul(&t, &t, &half);
    if (!fp_sqrt(&root.c0, &t)) {
        fp_sub(&t, &t, &d);
        if (!fp_sqrt(&root.c0, &t)) return false;
    }
    fp_dbl(&t, &root.c0); /* not zero: a1 is not */
    fp_inv(&t, &t);
    fp_mul(&root.c1, &a->c1, &t);
    *out = root;
    return true;
}

bool fp2_from_bytes_be(fp2 *out, const uint8_t bytes[FP2_BYTES]) {
    fp2 t;
    if (!fp_from_bytes_be(&t.c1, bytes) || !fp_from_bytes_be(&t.c0, bytes + 48)) return false;
    *out = t;
    return true;
}

void fp2_to_bytes_be(uint8_t bytes[FP2_BYTES], const fp2 *a) {
    fp_to_bytes_be(bytes, &a->c1);
    fp_to_bytes_be(bytes + 48, &a->c0);
}

bool fp2_is_lexicographically_larger(const fp2 *a) {
    return fp_is_lexicographically_larger(fp_is_zero(&a->c1) ? &a->c0 : &a->c1);
}
