/*
 * Products are Karatsuba's: with the three diagonal products a_i b_i at hand, each sum a_i b_j + a_j b_i
 * costs one more, (a_i + a_j)(b_i + b_j) - a_i b_i - a_j b_j.
 */
#include "curve/fp6.h"

/* a_i b_j + a_j b_i, given ii = a_i b_i and jj = a_j b_j. */
static void cross(fp2 *out, const fp2 *ai, const fp2 *aj, const fp2 *bi, const fp2 *bj, const fp2 *ii,
                  const fp2 *jj) {
    fp2 s, t;
    fp2_add(&s, ai, aj);
    fp2_add(&t, bi, bj);
    fp2_mul(&s, &s, &t);
    fp2_sub(&s, &s, ii);
    fp2_sub(out, &s, jj);
}

void fp6_mul(fp6 *out, const fp6 *a, const fp6 *b) {
    fp2 d0, d1, d2, x01, x02, x12;
    fp2_mul(&d0, &a->c0, &b->c0);
    fp2_mul(&d1, &a->c1, &b->c1);
    fp2_mul(&d2, &a->c2, &b->c2);
    cross(&x01, &a->c0, &a->c1, &b->c0, &b->c1, &d0, &d1);
    cross(&x02, &a->c0, &a->c2, &b->c0, &b->c2, &d0, &d2);
    cross(&x12, &a->c1, &a->c2, &b->c1, &b->c2, &d1, &d2);
    fp2_mul_by_nonresidue(&x12, &x12);
    fp2_add(&out->c0, &d0, &x12);
    fp2_mul_by_nonresidue(&d2, &d2);
    fp2_add(&out->c1, &x01, &d2);
    fp2_add(&out->c2, &x02, &d1);
}

void fp6_mul_by_01(fp6 *out, const fp6 *a, const fp2 *b0, const fp2 *b1) {
    fp2 d0, d1, x01, y0, y1;
    fp2_mul(&d0, &a->c0, b0);
    fp2_mul(&d1, &a->c1, b1);
    cross(&x01, &a->c0, &a->c1, b0, b1, &d0, &d1);
    fp2_mul(&y0, &a->c2, b0);
    fp2_mul(&y1, &a->c2, b1);
    fp2_mul_by_nonresidue(&y1, &y1);
    fp2_add(&out->c0, &d0, &y1);
    out->c1 = x01;
    fp2_add(&out->c2, &y0, &d1);
}

void fp6_mul_by_1(fp6 *out, const fp6 *a, const fp2 *b1) {
    fp2 y0, y1, y2;
    fp2_mul(&y0, &a->c0, b1);
    fp2_mul(&y1, &a->c1, b1);
    fp2_mul(&y2, &a->c2, b1);
    fp2_mul_by_nonresidue(&out->c0, &y2);
    out->c1 = y0;
    out->c2 = y1;
}

void fp6_inv(fp6 *out, const fp6 *a) {
    /* The adjugate (t0, t1, t2) of multiplication by a; a times it is the norm to Fp2. */
    fp2 t0, t1, t2, s, norm;
    fp2_sqr(&t0, &a->c0);
    fp2_mul(&s, &a->c1, &a->c2);
    fp2_mul_by_nonresidue(&s, &s);
    fp2_sub(&t0, &t0, &s);
    fp2_sqr(&t1, &a->c2);
    fp2_mul_by_nonresidue(&t1, &t1);
    fp2_mul(&s, &a->c0, &a->c1);
    fp2_sub(&t1, &t1, &s);
    fp2_sqr(&t2, &a->c1);
    fp2_mul(&s, &a->c0, &a->c2);
    fp2_sub(&t2, &t2, &s);

    fp2_mul(&norm, &a->c2, &t1);
    fp2_mul(&s, &a->c1, &t2);
    fp2_add(&norm, &norm, &s);
    fp2_mul_by_nonresidue(&norm, &norm);
    fp2_mul(&s, &a->c0, &t0);
    fp2_add(&norm, &norm, &s);
    fp2_inv(&norm, &norm);
    fp2_mul(&out->c0, &t0, &norm);
    fp2_mul(&out->c1, &t1, &norm);
    fp2_mul(&out->c2, &t2, &norm);
}
