/*
 * The optimal ate pairing of BLS12-381: the Miller loop over |x| with the point of G2 in homogeneous
 * projective coordinates on the twist, and lines of the shape b0 + b1 v + b4 v w. Doubling and addition
 * steps: C. Costello, T. Lange, M. Naehrig, "Faster pairing computations on curves with high-degree twists"
 * (PKC 2010), in the arrangement of D. Aranha et al., "The realm of the pairings" (SAC 2013). Denominators
 * are left out: they lie in a subfield, so the final exponentiation removes them.
 */
#include "curve/pairing.h"

#include "curve/params.h"

/* Pairs that share the squarings of one loop; more are done in several loops. */
#define PAIRS_AT_ONCE 16

typedef struct miller_pair {
    const g1_affine *p;
    const g2_affine *q;
    fp2 x, y, z; /* the running multiple of q, affine (x/z, y/z) */
} miller_pair;

/* f *= the line b0 + b1 X v + b4 Y v w at p = (X, Y). */
static void multiply_line(fp12 *f, const fp2 *b0, fp2 *b1, fp2 *b4, const g1_affine *p) {
    fp2_mul_fp(b1, b1, &p->x);
    fp2_mul_fp(b4, b4, &p->y);
    fp12_mul_by_014(f, f, b0, b1, b4);
}

/* Times 12 (1 + u), that is, 3 b of the twist. */
static void mul_by_3b(fp2 *out, const fp2 *a) {
    fp2 t, quad;
    fp2_mul_by_nonresidue(&t, a);
    fp2_dbl(&quad, &t);
    fp2_dbl(&quad, &quad);
    fp2_dbl(out, &quad);
    fp2_add(out, out, &quad);
}

/* Double the running point; f *= the tangent. Coordinates are scaled by 4 against the paper, which avoids
 * halves. */
static void double_step(fp12 *f, miller_pair *m) {
    fp2 a, b, c, e, f3, g, h, i, j, t;
    fp2_mul(&a, &m->x, &m->y);
    fp2_sqr(&b, &m->y);
    fp2_sqr(&c, &m->z);
    mul_by_3b(&e, &c);
    fp2_dbl(&f3, &e);
    fp2_add(&f3, &f3, &e); /* F = 3 E */
    fp2_add(&h, &m->y, &m->z);
    fp2_sqr(&h, &h);
    fp2_sub(&h, &h, &b);
    fp2_sub(&h, &h, &c); /* H = 2 Y Z */
    fp2_sub(&i, &e, &b);
    fp2_sqr(&j, &m->x);
    fp2_add(&g, &b, &f3);

    fp2_sub(&t, &b, &f3); /* X3 = 2 XY (B - F) */
    fp2_mul(&m->x, &a, &t);
    fp2_dbl(&m->x, &m->x);
    fp2_sqr(&e, &e); /* Y3 = (B + F)^2 - 12 E^2 */
    fp2_dbl(&t, &e);
    fp2_add(&e, &t, &e);
    fp2_dbl(&e, &e);
    fp2_dbl(&e, &e);
    fp2_sqr(&g, &g);
    fp2_sub(&m->y, &g, &e);
    fp2_mul(&m->z, &b, &h); /* Z3 = 4 B H */
    fp2_dbl(&m->z, &m->z);
    fp2_dbl(&m->z, &m->z);

    fp2_dbl(&t, &j); /* the line (E - B) + 3 J X v - H Y v w */
    fp2_add(&j, &t, &j);
    fp2_neg(&h, &h);
    multiply_line(f, &i, &j, &h, m->p);
}

/* Add q to the running point; f *= the chord. */
static void add_step(fp12 *f, miller_pair *m) {
    fp2 theta, lambda, c, d, e, g, h, j, t;
    fp2_mul(&theta, &m->q->y, &m->z);
    fp2_sub(&theta, &m->y, &theta);
    fp2_mul(&lambda, &m->q->x, &m->z);
    fp2_sub(&lambda, &m->x, &lambda);
    fp2_sqr(&c, &theta);
    fp2_sqr(&d, &lambda);
    fp2_mul(&e, &lambda, &d);
    fp2_mul(&c, &c, &m->z);
    fp2_mul(&g, &m->x, &d);
    fp2_dbl(&t, &g);
    fp2_add(&h, &e, &c);
    fp2_sub(&h, &h, &t);
    fp2_mul(&m->x, &lambda, &h);
    fp2_sub(&g, &g, &h);
    fp2_mul(&g, &g, &theta);
    fp2_mul(&t, &e, &m->y);
    fp2_sub(&m->y, &g, &t);
    fp2_mul(&m->z, &m->z, &e);

    fp2_mul(&j, &theta, &m->q->x); /* the line (theta qx - lambda qy) - theta X v + lambda Y v w */
    fp2_mul(&t, &lambda, &m->q->y);
    fp2_sub(&j, &j, &t);
    fp2_neg(&theta, &theta);
    multiply_line(f, &j, &theta, &lambda, m->p);
}

static void miller_loop(fp12 *f, miller_pair *pairs, size_t n) {
    fp12_set_one(f);
    for (int bit = 62; bit >= 0; bit--) {
        if (bit < 62) fp12_sqr(f, f);
        for (size_t k = 0; k < n; k++) double_step(f, &pairs[k]);
        if (CURVE_ABS_X >> bit & 1)
            for (size_t k = 0; k < n; k++) add_step(f, &pairs[k]);
    }
    fp12_conj(f, f); /* x is negative */
}

void pairing_miller(fp12 *out, const g1_affine *p, const g2_affine *q, size_t n) {
    fp12 product, f;
    miller_pair pairs[PAIRS_AT_ONCE];
    size_t used = 0;
    fp12_set_one(&product);
    for (size_t i = 0; i < n; i++) {
        if (!g1_affine_is_identity(&p[i]) && !g2_affine_is_identity(&q[i]))
            pairs[used++] = (miller_pair){&p[i], &q[i], q[i].x, q[i].y, FP2_ONE};
        if (used == PAIRS_AT_ONCE || (used > 0 && i == n - 1)) {
            miller_loop(&f, pairs, used);
            fp12_mul(&product, &product, &f);
            used = 0;
        }
    }
    *out = product;
}

/* out = in^x in the cyclotomic subgroup, where conjugation inverts. out and in differ. */
static void pow_x(fp12 *out, const fp12 *in) {
    *out = *in;
    for (int bit = 62; bit >= 0; bit--) {
        fp12_cyclotomic_sqr(out, out);
        if (CURVE_ABS_X >> bit & 1) fp12_mul(out, out, in);
    }
    fp12_conj(out, out);
}

/* a = a^(x - 1). */
static void pow_x_minus_1(fp12 *a) {
    fp12 t, inverse;
    pow_x(&t, a);
    fp12_conj(&inverse, a);
    fp12_mul(a, &t, &inverse);
}

void pairing_final_exp(fp12 *out, const fp12 *in) {
    fp12 f, s, t, u;
    fp12_inv(&t, in); /* f = in^((p^6 - 1)(p^2 + 1)), in the cyclotomic subgroup */
    fp12_conj(&f, in);
    fp12_mul(&f, &f, &t);
    fp12_frobenius(&t, &f, 2);
    fp12_mul(&f, &f, &t);

    /* 3 (p^4 - p^2 + 1) / r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3
     * (D. Hayashida, K. Hayasaka, T. Teruya, ePrint 2020/875). */
    s = f;
    pow_x_minus_1(&s);
    pow_x_minus_1(&s);
    pow_x(&t, &s);
    fp12_frobenius(&u, &s, 1);
    fp12_mul(&s, &t, &u);
    pow_x(&t, &s);
    pow_x(&u, &t);
    fp12_frobenius(&t, &s, 2);
    fp12_mul(&u, &u, &t);
    fp12_conj(&t, &s);
    fp12_mul(&s, &u, &t);
    fp12_cyclotomic_sqr(&t, &f);
    fp12_mul(&t, &t, &f);
    fp12_mul(out, &s, &t);
}

void pairing(fp12 *out, const g1_affine *p, const g2_affine *q) {
    fp12 f;
    pairing_miller(&f, p, q, 1);
    pairing_final_exp(out, &f);
}
