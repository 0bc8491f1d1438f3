/*
 * One permutation over AVX-512 lanes, for widths of 9 and 12: elements 1.. of the state are the lanes of one
 * or two vectors, element 0 is on its own.
 *
 * In a partial round only element 0 passes its S-box, which is a chain of scalar multiplications; meanwhile
 * the vector units multiply the other elements with their column of the sparse matrix and element 0's output
 * of the round before with its row. All constants are prepared factors (fr8_scale), so that everything stays
 * in the Montgomery form of fr.h; a product of two elements of the state (fr8_mul) is times 16 to be that.
 */
#if defined(__x86_64__)
#include "hash/poseidon_kernel.h"

#include <pthread.h>
#include <stdlib.h>

#include "field/fr8.h"
#include "hash/poseidon_constants.h"

#define MAX_VECTORS 2u
#define REDUCE_EVERY                                                                                         \
    8u /* partial rounds: each adds less than 2 r to the lanes, which must stay below 35 r                   \
        */

/* Lanes beyond the state are zero in all of these. */
typedef struct dense {
    fr8_lane_factor row[POSEIDON_MAX_WIDTH][MAX_VECTORS]; /* m[i][1..] */
    fr8_lane_factor column[MAX_VECTORS];                  /* m[1..][0] */
} dense;

typedef struct sparse {
    fr8_lane_factor w_hat[MAX_VECTORS], v_rest[MAX_VECTORS];
} sparse;

typedef struct prepared {
    dense mds, pre_sparse;
    fr8 keys[POSEIDON_FULL_ROUNDS][MAX_VECTORS]; /* before round 0, after rounds 0, 1, .. but the last */
    sparse partial[];
} prepared;

static prepared *prepared_for[POSEIDON_TABLE_SIZE];
static pthread_once_t prepare_once = PTHREAD_ONCE_INIT;

/* ---- preparation ---- */

/* n elements with a stride, zeros up to whole vectors. */
static void load_padded(fr8 out[MAX_VECTORS], const fr *from, size_t stride, unsigned n) {
    fr padded[MAX_VECTORS * FR8_LANES] = {{{0}}};
    for (unsigned i = 0; i < n; i++) padded[i] = from[i * stride];
    for (unsigned v = 0; v < MAX_VECTORS; v++) out[v] = fr8_load(padded + v * FR8_LANES);
}

static void set_factors(fr8_lane_factor out[MAX_VECTORS], const fr *from, size_t stride, unsigned n) {
    fr shifted[POSEIDON_MAX_WIDTH]; /* in Montgomery form for 2^260 */
    fr8 loaded[MAX_VECTORS];
    for (unsigned i = 0; i < n; i++) {
        shifted[i] = from[i * stride];
        for (unsigned k = 0; k < 4; k++) fr_dbl(&shifted[i], &shifted[i]);
    }
    load_padded(loaded, shifted, 1, n);
    for (unsigned v = 0; v < MAX_VECTORS; v++) fr8_lane_factor_set(&out[v], loaded[v]);
}

static void set_dense(dense *out, const fr *matrix, unsigned width) {
    for (unsigned i = 0; i < width; i++) set_factors(out->row[i], matrix + i * width + 1, 1, width - 1);
    set_factors(out->column, matrix + width, width, width - 1);
}

static prepared *prepare(const poseidon_constants *c) {
    const unsigned width = c->width, half = POSEIDON_FULL_ROUNDS / 2;
    size_t bytes = sizeof(prepared) + c->partial_rounds * sizeof(sparse);
    prepared *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) return NULL;
    set_dense(&p->mds, c->mds, width);
    set_dense(&p->pre_sparse, c->pre_sparse, width);
    for (unsigned k = 0; k < POSEIDON_FULL_ROUNDS; k++) {
        const fr *keys = c->keys + k * width + (k > half ? c->partial_rounds : 0);
        load_padded(p->keys[k], keys + 1, 1, width - 1);
    }
    for (unsigned r = 0; r < c->partial_rounds; r++) {
        const fr *matrix = c->sparse + (size_t)r * (2 * width - 1);
        set_factors(p->partial[r].w_hat, matrix + 1, 1, width - 1);
        set_factors(p->partial[r].v_rest, matrix + width, 1, width - 1);
    }
    return p;
}

static void prepare_all(void) {
    for (unsigned i = 0; i < POSEIDON_TABLE_SIZE; i++)
        if (poseidon_table[i].width > FR8_LANES) prepared_for[i] = prepare(&poseidon_table[i]);
}

/* ---- the state ---- */

#define INLINE static inline __attribute__((always_inline))

typedef struct state {
    fr first;
    fr8 rest[MAX_VECTORS]; /* tight */
} state;

/* The sum of all lanes, each tight and below 2 r. */
INLINE void sum_lanes(fr *out, const fr8 *x, unsigned vectors) {
    uint64_t s[5], t[5];
    for (unsigned i = 0; i < 5; i++) {
        __m512i sum = x[0].l[i];
        if (vectors > 1) sum = _mm512_add_epi64(sum, x[1].l[i]);
        s[i] = (uint64_t)_mm512_reduce_add_epi64(sum);
    }
    limb2 column = (limb2)s[0] + ((limb2)s[1] << 52);
    t[0] = (uint64_t)column;
    for (unsigned i = 1; i < 4; i++) {
        column = (column >> 64) + ((limb2)s[i + 1] << (52 - 12 * i));
        t[i] = (uint64_t)column;
    }
    t[4] = (uint64_t)(column >> 64);
    /* r / 2^248 = 115.93; 565 / 2^16 is just below its inverse, so the quotient is never too large. */
    uint64_t quotient = (t[4] << 8 | t[3] >> 56) * 565 >> 16, carry = 0, borrow = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t product = limb_mac(quotient, FR_MODULUS.l[i], 0, &carry);
        out->l[i] = limb_sub(t[i], product, &borrow);
    }
    while (!limbs_less(out->l, FR_MODULUS.l, 4)) {
        borrow = 0;
        for (unsigned i = 0; i < 4; i++) out->l[i] = limb_sub(out->l[i], FR_MODULUS.l[i], &borrow);
    }
}

/* x y in the form of fr.h, fully reduced: fr8_mul is below 1.1 r for such x, y. */
INLINE fr8 multiply(fr8 x, fr8 y) {
    fr8 product = fr8_mul(x, y);
    for (int i = 0; i < 5; i++) product.l[i] = _mm512_slli_epi64(product.l[i], 4);
    return fr8_canonical(product);
}

INLINE fr8 spread_lane(fr8 x, unsigned lane) {
    __m512i index = _mm512_set1_epi64((long long)lane);
    for (int i = 0; i < 5; i++) x.l[i] = _mm512_permutexvar_epi64(index, x.l[i]);
    return x;
}

/* s = s * matrix; corner is m[0][0]. */
INLINE void mix_dense(state *s, const dense *m, const fr *corner, unsigned width, unsigned vectors) {
    fr8 products[MAX_VECTORS], sum[MAX_VECTORS];
    fr first, rest;
    for (unsigned v = 0; v < vectors; v++) products[v] = fr8_scale_lanes(s->rest[v], &m->column[v]);
    fr_mul(&first, &s->first, corner);
    fr8 element = fr8_broadcast(&s->first);
    for (unsigned v = 0; v < vectors; v++) sum[v] = fr8_scale_lanes(element, &m->row[0][v]);
    for (unsigned i = 1; i < width; i++) {
        element = spread_lane(s->rest[(i - 1) / FR8_LANES], (i - 1) % FR8_LANES);
        for (unsigned v = 0; v < vectors; v++)
            sum[v] = fr8_add(sum[v], fr8_scale_lanes(element, &m->row[i][v]));
    }
    for (unsigned v = 0; v < vectors; v++) s->rest[v] = fr8_reduce(sum[v]);
    sum_lanes(&rest, products, vectors);
    fr_add(&s->first, &first, &rest);
}

/* Element 0 through its S-box, leaving x^2, x^4 and the result. */
INLINE void sbox_first(state *s, const fr *post, fr *out) {
    fr_sqr(&out[0], &s->first);
    fr_sqr(&out[1], &out[0]);
    fr_mul(&s->first, &s->first, &out[1]);
    if (post) fr_add(&s->first, &s->first, post);
    out[2] = s->first;
}

/* The lanes through their S-boxes. Lane k's values go to out[k * step ..]: x unless round is 0, x^2, x^4 and
 * the result. */
INLINE fr *sbox_rest(state *s, const fr8 *post, bool with_x, fr *out, unsigned n, unsigned vectors) {
    const unsigned step = with_x ? 4 : 3;
    fr values[4][FR8_LANES];
    for (unsigned v = 0; v < vectors; v++) {
        fr8 x = fr8_canonical(s->rest[v]), square = multiply(x, x), fourth = multiply(square, square);
        fr8 result = multiply(x, fourth);
        if (post) result = fr8_canonical(fr8_add(result, post[v]));
        s->rest[v] = result;
        fr8_store(values[0], x);
        fr8_store(values[1], square);
        fr8_store(values[2], fourth);
        fr8_store(values[3], result);
        for (unsigned k = 0; k < FR8_LANES && v * FR8_LANES + k < n; k++, out += step)
            for (unsigned i = 0; i < step; i++) out[i] = values[4 - step + i][k];
    }
    return out;
}

INLINE fr *partial_round(state *s, const sparse *m, const fr *matrix, const fr *key, bool reduce, fr *out,
                         unsigned vectors) {
    fr8 products[MAX_VECTORS];
    fr rest;
    for (unsigned v = 0; v < vectors; v++) products[v] = fr8_scale_lanes(s->rest[v], &m->w_hat[v]);
    out[0] = s->first;
    sbox_first(s, key, out + 1);
    fr8 element = fr8_broadcast(&s->first);
    for (unsigned v = 0; v < vectors; v++) {
        fr8 sum = fr8_add(s->rest[v], fr8_scale_lanes(element, &m->v_rest[v]));
        s->rest[v] = reduce ? fr8_reduce(sum) : fr8_tighten(sum);
    }
    sum_lanes(&rest, products, vectors);
    fr_mul(&s->first, &s->first, &matrix[0]);
    fr_add(&s->first, &s->first, &rest);
    return out + 4;
}

INLINE void permute(fr *out, const poseidon_constants *c, const prepared *p, const fr *initial,
                    unsigned width, unsigned vectors) {
    const unsigned half = POSEIDON_FULL_ROUNDS / 2, rounds = POSEIDON_FULL_ROUNDS;
    const fr *key = c->keys;
    state s;
    fr unused[3];
    fr8 loaded[MAX_VECTORS];
    load_padded(loaded, initial + 1, 1, width - 1);
    fr_add(&s.first, &initial[0], key);
    key += width;
    for (unsigned v = 0; v < vectors; v++) s.rest[v] = fr8_tighten(fr8_add(loaded[v], p->keys[0][v]));
    for (unsigned r = 0; r < rounds; r++) {
        const bool last = r == rounds - 1;
        if (r == half)
            for (unsigned i = 0; i < c->partial_rounds; i++)
                out = partial_round(&s, &p->partial[i], c->sparse + (size_t)i * (2 * width - 1), key++,
                                    i % REDUCE_EVERY == REDUCE_EVERY - 1, out, vectors);
        if (r > 0) *out++ = s.first;
        sbox_first(&s, last ? NULL : key, r > 0 ? out : unused);
        if (r > 0) out += 3;
        out = sbox_rest(&s, last ? NULL : p->keys[r + 1], r > 0, out, width - 1, vectors);
        key += width;
        mix_dense(&s, r == half - 1 ? &p->pre_sparse : &p->mds, r == half - 1 ? c->pre_sparse : c->mds, width,
                  vectors);
    }
    fr digest[FR8_LANES];
    fr8_store(digest, fr8_canonical(s.rest[0]));
    *out = digest[0];
}

static void permute_9(fr *out, const poseidon_constants *c, const prepared *p, const fr *initial) {
    permute(out, c, p, initial, 9, 1);
}

static void permute_12(fr *out, const poseidon_constants *c, const prepared *p, const fr *initial) {
    permute(out, c, p, initial, 12, 2);
}

bool poseidon_trace_ifma(fr *out, const poseidon_constants *c, const fr *initial) {
    const size_t number = (size_t)(c - poseidon_table);
    if (c->width != 9 && c->width != 12) return false;
    pthread_once(&prepare_once, prepare_all);
    const prepared *p = prepared_for[number];
    if (!p) return false; /* no memory: the scalar code needs none */
    if (c->width == 9)
        permute_9(out, c, p, initial);
    else
        permute_12(out, c, p, initial);
    return true;
}
#endif
