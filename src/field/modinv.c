/*
 * Division steps (D. J. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and modular inversion",
 * ePrint 2019/266), in variable time.
 *
 * (f, g) starts as (m, a); 62 division steps at a time are done on the low words alone and collected in a
 * matrix, which is then applied to the whole numbers. d and e keep d a = f and e a = g (mod m). When g is 0,
 * f is 1 or -1 and d is the inverse up to that sign. Numbers are signed, in limbs of 62 bits, the top limb
 * signed.
 */
#include "field/modinv.h"

#include <stdbool.h>

#include "field/limbs.h"

#define LIMB_BITS 62
#define LIMB_MASK (UINT64_MAX >> 2)
#define MAX_LIMBS 7

__extension__ typedef __int128 wide;

typedef struct modulus {
    int64_t limb[MAX_LIMBS];
    uint64_t inverse; /* of the lowest limb, mod 2^62 */
} modulus;

/* 2^62 (f, g) = (u f + v g, q f + r g) */
typedef struct matrix {
    int64_t u, v, q, r;
} matrix;

/* 62 steps on the low words of f and g. eta is -delta; returns the new one. */
static int64_t divide_steps(matrix *t, int64_t eta, uint64_t f, uint64_t g) {
    uint64_t u = 1, v = 0, q = 0, r = 1, swap;
    int left = LIMB_BITS;
    for (;;) {
        /* Steps with an even g are plain halvings. */
        int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) break;
        if (eta < 0) {
            eta = -eta;
            swap = f, f = g, g = (uint64_t)0 - swap;
            swap = u, u = q, q = (uint64_t)0 - swap;
            swap = v, v = r, r = (uint64_t)0 - swap;
        }
        /* Until eta turns negative f stays: add the multiple of it that clears up to six of those low bits of
         * g. */
        int steps = eta + 1 > left ? left : (int)eta + 1;
        uint64_t mask = UINT64_MAX >> (64 - steps) & 63;
        uint64_t w = f * g * (f * f - 2) & mask; /* -g/f mod 64 */
        g += f * w;
        q += u * w;
        r += v * w;
    }
    *t = (matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

/* (f, g) = t (f, g) / 2^62, exactly. */
static inline void update_fg(int64_t *f, int64_t *g, const matrix *t, int n) {
    wide cf = (wide)t->u * f[0] + (wide)t->v * g[0];
    wide cg = (wide)t->q * f[0] + (wide)t->r * g[0];
    cf >>= LIMB_BITS;
    cg >>= LIMB_BITS;
    for (int i = 1; i < n; i++) {
        cf += (wide)t->u * f[i] + (wide)t->v * g[i];
        cg += (wide)t->q * f[i] + (wide)t->r * g[i];
        f[i - 1] = (int64_t)((uint64_t)cf & LIMB_MASK);
        g[i - 1] = (int64_t)((uint64_t)cg & LIMB_MASK);
        cf >>= LIMB_BITS;
        cg >>= LIMB_BITS;
    }
    f[n - 1] = (int64_t)cf;
    g[n - 1] = (int64_t)cg;
}

/* (d, e) = t (d, e) / 2^62 mod m; both are and stay in (-2m, m). */
static inline void update_de(int64_t *d, int64_t *e, const matrix *t, const modulus *m, int n) {
    /* Multiples of m make negative inputs positive, then those that clear the low limb are added. */
    int64_t d_sign = d[n - 1] >> 63, e_sign = e[n - 1] >> 63;
    int64_t md = (t->u & d_sign) + (t->v & e_sign), me = (t->q & d_sign) + (t->r & e_sign);
    wide cd = (wide)t->u * d[0] + (wide)t->v * e[0];
    wide ce = (wide)t->q * d[0] + (wide)t->r * e[0];
    md -= (int64_t)((m->inverse * (uint64_t)cd + (uint64_t)md) & LIMB_MASK);
    me -= (int64_t)((m->inverse * (uint64_t)ce + (uint64_t)me) & LIMB_MASK);
    cd += (wide)m->limb[0] * md;
    ce += (wide)m->limb[0] * me;
    cd >>= LIMB_BITS;
    ce >>= LIMB_BITS;
    for (int i = 1; i < n; i++) {
        cd += (wide)t->u * d[i] + (wide)t->v * e[i] + (wide)m->limb[i] * md;
        ce += (wide)t->q * d[i] + (wide)t->r * e[i] + (wide)m->limb[i] * me;
        d[i - 1] = (int64_t)((uint64_t)cd & LIMB_MASK);
        e[i - 1] = (int64_t)((uint64_t)ce & LIMB_MASK);
        cd >>= LIMB_BITS;
        ce >>= LIMB_BITS;
    }
    d[n - 1] = (int64_t)cd;
    e[n - 1] = (int64_t)ce;
}

static int64_t all_bits(const int64_t *a, int n) {
    int64_t bits = 0;
    for (int i = 0; i < n; i++) bits |= a[i];
    return bits;
}

/* a = (negate ? -a : a) + (add ? m : 0) */
static void adjust(int64_t *a, bool negate, bool add, const modulus *m, int n) {
    int64_t carry = 0;
    for (int i = 0; i < n; i++) {
        carry += (negate ? -a[i] : a[i]) + (add ? m->limb[i] : 0);
        a[i] = i < n - 1 ? (int64_t)((uint64_t)carry & LIMB_MASK) : carry;
        carry >>= LIMB_BITS;
    }
}

static inline void invert(uint64_t *out, const uint64_t *a, int words, const modulus *m, int n) {
    int64_t f[MAX_LIMBS], g[MAX_LIMBS], d[MAX_LIMBS] = {0}, e[MAX_LIMBS] = {1};
    for (int i = 0; i < n; i++) {
        int bit = i * LIMB_BITS, word = bit / 64, shift = bit % 64;
        uint64_t limb = word < words ? a[word] >> shift : 0;
        if (shift > 2 && word + 1 < words) limb |= a[word + 1] << (64 - shift);
        g[i] = (int64_t)(limb & LIMB_MASK);
        f[i] = m->limb[i];
    }
    int64_t eta = -1;
    int used = n; /* limbs of f and g that hold anything but their sign */
    for (;;) {
        matrix t;
        eta = divide_steps(&t, eta, (uint64_t)f[0], (uint64_t)g[0]);
        update_de(d, e, &t, m, n);
        update_fg(f, g, &t, used);
        if (all_bits(g, used) == 0) break;
        /* Drop a top limb that is 0 or -1 in both; the limb below then carries the sign. */
        int64_t top_f = f[used - 1], top_g = g[used - 1];
        if (used > 1 && (top_f ^ top_f >> 63) == 0 && (top_g ^ top_g >> 63) == 0) {
            f[used - 2] |= (int64_t)((uint64_t)top_f << LIMB_BITS);
            g[used - 2] |= (int64_t)((uint64_t)top_g << LIMB_BITS);
            used--;
        }
    }
    adjust(d, false, d[n - 1] < 0, m, n); /* (-m, m) */
    adjust(d, f[used - 1] < 0, false, m, n);
    adjust(d, false, d[n - 1] < 0, m, n);
    for (int i = 0; i < words; i++) {
        int bit = i * 64, limb = bit / LIMB_BITS, shift = bit % LIMB_BITS;
        out[i] = (uint64_t)d[limb] >> shift;
        if (limb + 1 < n) out[i] |= (uint64_t)d[limb + 1] << (LIMB_BITS - shift);
    }
}

void modinv_p(uint64_t out[6], const uint64_t a[6]) {
    static const modulus p = {{0x39feffffffffaaab, 0x3aaffffac54ffffe, 0x330d2a0f6b0f6241, 0x1dd2e13ce144afd9,
                               0x1ba7b6434bacd764, 0x0447a8e5ff9a692c, 0x1a0},
                              0x360c000300030003};
    invert(out, a, 6, &p, 7);
}

void modinv_r(uint64_t out[4], const uint64_t a[4]) {
    static const modulus r = {
        {0x3fffffff00000001, 0x0ef6900bfff96ffb, 0x339d80809a1d8055, 0x3b69d4ca675f520c, 0x73, 0, 0},
        0x100000001};
    invert(out, a, 4, &r, 5);
}
