/*
 * The body of g1.c and g2.c: everything that G1 and G2 do alike, written over their coordinate field.
 *
 * The including file defines POINT, AFFINE, COORD (types), COORD_ZERO, COORD_ONE, P(name) and F(name)
 * (function names of the group and of the coordinate field), COORD_BYTES, and the constants CURVE_B and
 * GENERATOR.
 *
 * Formulas: Explicit-Formulas Database, Jacobian coordinates with a = 0 (dbl-2009-l, add-2007-bl,
 * madd-2007-bl), made complete by branching on identities and on equal x. Neither curve has a point of
 * order 2.
 */

#define FLAG_COMPRESSED 0x80u
#define FLAG_INFINITY   0x40u
#define FLAG_LARGER     0x20u
#define FLAG_ALL        0xe0u

static void curve_equation(COORD *y_squared, const COORD *x) {
    COORD t;
    F(sqr)(&t, x);
    F(mul)(&t, &t, x);
    F(add)(y_squared, &t, &CURVE_B);
}

static bool satisfies_equation(const AFFINE *p) {
    COORD left, right;
    curve_equation(&right, &p->x);
    F(sqr)(&left, &p->y);
    return F(eq)(&left, &right);
}

void P(generator)(AFFINE *out) {
    *out = GENERATOR;
}

void P(set_identity)(POINT *out) {
    out->x = COORD_ONE;
    out->y = COORD_ONE;
    out->z = COORD_ZERO;
}

static void set_affine_identity(AFFINE *out) {
    out->x = COORD_ZERO;
    out->y = COORD_ZERO;
}

bool P(is_identity)(const POINT *p) {
    return F(is_zero)(&p->z);
}

bool P(eq)(const POINT *p, const POINT *q) {
    bool p_identity = P(is_identity)(p), q_identity = P(is_identity)(q);
    if (p_identity || q_identity) return p_identity && q_identity;
    COORD pz, qz, s, t;
    F(sqr)(&pz, &p->z);
    F(sqr)(&qz, &q->z);
    F(mul)(&s, &p->x, &qz);
    F(mul)(&t, &q->x, &pz);
    if (!F(eq)(&s, &t)) return false;
    F(mul)(&pz, &pz, &p->z);
    F(mul)(&qz, &qz, &q->z);
    F(mul)(&s, &p->y, &qz);
    F(mul)(&t, &q->y, &pz);
    return F(eq)(&s, &t);
}

bool P(affine_eq)(const AFFINE *p, const AFFINE *q) {
    return F(eq)(&p->x, &q->x) && F(eq)(&p->y, &q->y);
}

void P(from_affine)(POINT *out, const AFFINE *p) {
    if (P(affine_is_identity)(p)) {
        P(set_identity)(out);
        return;
    }
    out->x = p->x;
    out->y = p->y;
    out->z = COORD_ONE;
}

static void to_affine_by_inverse(AFFINE *out, const POINT *p, const COORD *z_inv) {
    COORD zz;
    F(sqr)(&zz, z_inv);
    F(mul)(&out->x, &p->x, &zz);
    F(mul)(&zz, &zz, z_inv);
    F(mul)(&out->y, &p->y, &zz);
}

void P(to_affine)(AFFINE *out, const POINT *p) {
    if (P(is_identity)(p)) {
        set_affine_identity(out);
        return;
    }
    COORD z_inv;
    F(inv)(&z_inv, &p->z);
    to_affine_by_inverse(out, p, &z_inv);
}

void P(to_affine_n)(AFFINE *out, const POINT *p, size_t n, COORD *scratch) {
    COORD product, z_inv;
    product = COORD_ONE;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!P(is_identity)(&p[i])) F(mul)(&product, &product, &p[i].z);
    }
    F(inv)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (P(is_identity)(&p[i])) {
            set_affine_identity(&out[i]);
            continue;
        }
        F(mul)(&z_inv, &product, &scratch[i]);
        F(mul)(&product, &product, &p[i].z);
        to_affine_by_inverse(&out[i], &p[i], &z_inv);
    }
}

/* Y^2 - X^3 and Z^6, whose quotient is the b of the curve Y^2 = X^3 + b Z^6 that a point is on. */
static inline void curve_of(COORD *numerator, COORD *denominator, const POINT *p) {
    COORD t;
    F(sqr)(&t, &p->z);
    F(sqr)(denominator, &t);
    F(mul)(denominator, denominator, &t);
    F(sqr)(&t, &p->x);
    F(mul)(&t, &t, &p->x);
    F(sqr)(numerator, &p->y);
    F(sub)(numerator, numerator, &t);
}

/* Doubling and addition stay on the curve they are on. It need not be this group's own: sums are also taken
 * of points of isomorphic curves (msm/kernel_ifma_template.h). */
static inline bool on_same_curve(const POINT *p, const POINT *q) {
    if (P(is_identity)(p) || P(is_identity)(q)) return true;
    COORD p_numerator, p_denominator, q_numerator, q_denominator;
    curve_of(&p_numerator, &p_denominator, p);
    curve_of(&q_numerator, &q_denominator, q);
    F(mul)(&p_numerator, &p_numerator, &q_denominator);
    F(mul)(&q_numerator, &q_numerator, &p_denominator);
    return F(eq)(&p_numerator, &q_numerator);
}

void P(neg)(POINT *out, const POINT *p) {
    out->x = p->x;
    F(neg)(&out->y, &p->y);
    out->z = p->z;
}

void P(affine_neg)(AFFINE *out, const AFFINE *p) {
    out->x = p->x;
    F(neg)(&out->y, &p->y);
}

void P(dbl)(POINT *out, const POINT *p) {
    const POINT once = *p;
    COORD a, b, c, d, e;
    F(sqr)(&a, &p->x);
    F(sqr)(&b, &p->y);
    F(sqr)(&c, &b);
    F(add)(&d, &p->x, &b); /* D = 2 ((X + B)^2 - A - C) */
    F(sqr)(&d, &d);
    F(sub)(&d, &d, &a);
    F(sub)(&d, &d, &c);
    F(dbl)(&d, &d);
    F(dbl)(&e, &a); /* E = 3 A */
    F(add)(&e, &e, &a);
    F(mul)(&out->z, &p->y, &p->z);
    F(dbl)(&out->z, &out->z);
    F(sqr)(&a, &e); /* X3 = E^2 - 2 D */
    F(dbl)(&b, &d);
    F(sub)(&out->x, &a, &b);
    F(sub)(&d, &d, &out->x); /* Y3 = E (D - X3) - 8 C */
    F(mul)(&d, &d, &e);
    F(dbl)(&c, &c);
    F(dbl)(&c, &c);
    F(dbl)(&c, &c);
    F(sub)(&out->y, &d, &c);
    VERIFY_CHECK(on_same_curve(out, &once));
}

/* The X and Y of both additions, from h = U2 - U1 and rr = 2 (S2 - S1). u1 and s1 may lie in *out. */
static void add_xy(POINT *out, const COORD *u1, const COORD *s1, const COORD *h, const COORD *rr) {
    COORD i, j, v, t;
    F(dbl)(&i, h); /* I = (2 H)^2 */
    F(sqr)(&i, &i);
    F(mul)(&j, h, &i);
    F(mul)(&v, u1, &i);
    F(mul)(&t, s1, &j);
    F(dbl)(&t, &t);
    F(sqr)(&i, rr); /* X3 = r^2 - J - 2 V */
    F(sub)(&i, &i, &j);
    F(sub)(&i, &i, &v);
    F(sub)(&out->x, &i, &v);
    F(sub)(&v, &v, &out->x); /* Y3 = r (V - X3) - 2 S1 J */
    F(mul)(&v, &v, rr);
    F(sub)(&out->y, &v, &t);
}

void P(add)(POINT *out, const POINT *p, const POINT *q) {
    if (P(is_identity)(p)) {
        *out = *q;
        return;
    }
    if (P(is_identity)(q)) {
        *out = *p;
        return;
    }
    COORD pz, qz, u1, u2, s1, s2, z;
    F(sqr)(&pz, &p->z);
    F(sqr)(&qz, &q->z);
    F(mul)(&u1, &p->x, &qz);
    F(mul)(&u2, &q->x, &pz);
    F(mul)(&s1, &p->y, &q->z);
    F(mul)(&s1, &s1, &qz);
    F(mul)(&s2, &q->y, &p->z);
    F(mul)(&s2, &s2, &pz);
    F(sub)(&u2, &u2, &u1);
    F(sub)(&s2, &s2, &s1);
    if (F(is_zero)(&u2)) {
        if (F(is_zero)(&s2)) {
            P(dbl)(out, p);
        } else {
            P(set_identity)(out);
        }
        return;
    }
    F(add)(&z, &p->z, &q->z); /* Z3 = ((Z1 + Z2)^2 - Z1^2 - Z2^2) H */
    F(sqr)(&z, &z);
    F(sub)(&z, &z, &pz);
    F(sub)(&z, &z, &qz);
    const POINT first = *p;
    F(mul)(&out->z, &z, &u2);
    F(dbl)(&s2, &s2);
    add_xy(out, &u1, &s1, &u2, &s2);
    VERIFY_CHECK(on_same_curve(out, &first));
}

void P(add_mixed)(POINT *out, const POINT *p, const AFFINE *q) {
    if (P(is_identity)(p)) {
        P(from_affine)(out, q);
        return;
    }
    if (P(affine_is_identity)(q)) {
        *out = *p;
        return;
    }
    COORD zz, h, rr;
    F(sqr)(&zz, &p->z);
    F(mul)(&h, &q->x, &zz);
    F(sub)(&h, &h, &p->x);
    F(mul)(&rr, &zz, &p->z);
    F(mul)(&rr, &rr, &q->y);
    F(sub)(&rr, &rr, &p->y);
    if (F(is_zero)(&h)) {
        if (F(is_zero)(&rr)) {
            P(dbl)(out, p);
        } else {
            P(set_identity)(out);
        }
        return;
    }
    const POINT first = *p;
    F(mul)(&out->z, &p->z, &h);
    F(dbl)(&out->z, &out->z);
    F(dbl)(&rr, &rr);
    add_xy(out, &p->x, &p->y, &h, &rr);
    VERIFY_CHECK(on_same_curve(out, &first));
}

/* Bits [at, at + count) of k, count <= 8; bits from 256 on are zero. */
static unsigned scalar_bits(const fr_repr *k, unsigned at, unsigned count) {
    if (at >= 256) return 0;
    unsigned shift = at % 64;
    uint64_t word = k->l[at / 64] >> shift;
    if (shift + count > 64 && at / 64 < 3) word |= k->l[at / 64 + 1] << (64 - shift);
    return (unsigned)word & ((1u << count) - 1);
}

#define WNAF_WIDTH  5
#define WNAF_DIGITS (257 + WNAF_WIDTH)

/* Width-5 non-adjacent form: k = sum digits[i] 2^i, digits zero or odd in -15..15. */
static void recode(int8_t digits[WNAF_DIGITS], const fr_repr *k) {
    memset(digits, 0, WNAF_DIGITS);
    unsigned carry = 0;
    for (unsigned bit = 0; bit <= 256;) {
        if (scalar_bits(k, bit, 1) == carry) {
            bit++;
            continue;
        }
        unsigned word = scalar_bits(k, bit, WNAF_WIDTH) + carry;
        carry = word >> (WNAF_WIDTH - 1);
        digits[bit] = (int8_t)((int)word - (int)(carry << WNAF_WIDTH));
        bit += WNAF_WIDTH;
    }
}

void P(mul)(POINT *out, const POINT *p, const fr_repr *k) {
    POINT odd[1 << (WNAF_WIDTH - 2)], twice, sum, term; /* odd[i] = (2 i + 1) p */
    odd[0] = *p;
    P(dbl)(&twice, p);
    for (size_t i = 1; i < sizeof odd / sizeof odd[0]; i++) P(add)(&odd[i], &odd[i - 1], &twice);
    int8_t digits[WNAF_DIGITS];
    recode(digits, k);
    P(set_identity)(&sum);
    for (int i = 256; i >= 0; i--) {
        P(dbl)(&sum, &sum);
        if (digits[i] > 0) {
            P(add)(&sum, &sum, &odd[digits[i] / 2]);
        } else if (digits[i] < 0) {
            P(neg)(&term, &odd[-digits[i] / 2]);
            P(add)(&sum, &sum, &term);
        }
    }
    *out = sum;
}

void P(mul_fr)(POINT *out, const POINT *p, const fr *k) {
    fr_repr plain;
    fr_to_repr(&plain, k);
    P(mul)(out, p, &plain);
}

/* out = |x| p, where x = -0xd201000000010000 is the parameter of the curve family. */
static void mul_by_abs_x(POINT *out, const POINT *p) {
    POINT base = *p, sum = *p;
    for (int i = 62; i >= 0; i--) {
        P(dbl)(&sum, &sum);
        if (CURVE_ABS_X >> i & 1) P(add)(&sum, &sum, &base);
    }
    *out = sum;
}

bool P(on_curve)(const AFFINE *p) {
    return P(affine_is_identity)(p) || satisfies_equation(p);
}

void P(compress)(uint8_t out[COORD_BYTES], const AFFINE *p) {
    if (P(affine_is_identity)(p)) {
        memset(out, 0, COORD_BYTES);
        out[0] = FLAG_COMPRESSED | FLAG_INFINITY;
        return;
    }
    F(to_bytes_be)(out, &p->x);
    out[0] |= FLAG_COMPRESSED;
    if (F(is_lexicographically_larger)(&p->y)) out[0] |= FLAG_LARGER;
}

void P(encode)(uint8_t out[2 * COORD_BYTES], const AFFINE *p) {
    if (P(affine_is_identity)(p)) {
        memset(out, 0, 2 * COORD_BYTES);
        out[0] = FLAG_INFINITY;
        return;
    }
    F(to_bytes_be)(out, &p->x);
    F(to_bytes_be)(out + COORD_BYTES, &p->y);
}

/* An encoding whose infinity flag is set: nothing but `flags` may be there. */
static point_status decode_infinity(AFFINE *out, const uint8_t *in, size_t size, uint8_t flags) {
    uint8_t rest = in[0] ^ flags;
    for (size_t i = 1; i < size; i++) rest |= in[i];
    if (rest) return POINT_BAD_INFINITY;
    set_affine_identity(out);
    return POINT_OK;
}

point_status P(decompress)(AFFINE *out, const uint8_t in[COORD_BYTES]) {
    if (!(in[0] & FLAG_COMPRESSED)) return POINT_BAD_FLAGS;
    if (in[0] & FLAG_INFINITY) return decode_infinity(out, in, COORD_BYTES, FLAG_COMPRESSED | FLAG_INFINITY);

    uint8_t x_bytes[COORD_BYTES];
    memcpy(x_bytes, in, COORD_BYTES);
    x_bytes[0] &= (uint8_t)~FLAG_ALL;
    AFFINE p;
    COORD y_squared;
    if (!F(from_bytes_be)(&p.x, x_bytes)) return POINT_BAD_COORD;
    curve_equation(&y_squared, &p.x);
    if (!F(sqrt)(&p.y, &y_squared)) return POINT_NOT_ON_CURVE;
    bool larger = (in[0] & FLAG_LARGER) != 0;
    if (F(is_lexicographically_larger)(&p.y) != larger) F(neg)(&p.y, &p.y);
    if (!P(in_subgroup)(&p)) return POINT_NOT_IN_SUBGROUP;
    *out = p;
    return POINT_OK;
}

point_status P(decode_unchecked)(AFFINE *out, const uint8_t in[2 * COORD_BYTES]) {
    if (in[0] & FLAG_COMPRESSED) return POINT_BAD_FLAGS;
    if (in[0] & FLAG_INFINITY) return decode_infinity(out, in, 2 * COORD_BYTES, FLAG_INFINITY);
    if (in[0] & FLAG_LARGER) return POINT_BAD_FLAGS;
    AFFINE p;
    if (!F(from_bytes_be)(&p.x, in) || !F(from_bytes_be)(&p.y, in + COORD_BYTES)) return POINT_BAD_COORD;
    if (!satisfies_equation(&p)) return POINT_NOT_ON_CURVE;
    *out = p;
    return POINT_OK;
}

point_status P(decode)(AFFINE *out, const uint8_t in[2 * COORD_BYTES]) {
    AFFINE p;
    point_status status = P(decode_unchecked)(&p, in);
    if (status != POINT_OK) return status;
    if (!P(in_subgroup)(&p)) return POINT_NOT_IN_SUBGROUP;
    *out = p;
    return POINT_OK;
}
