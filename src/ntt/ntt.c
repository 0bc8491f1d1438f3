/*
 * Decimation in frequency: levels whose blocks exceed a cache-sized tile run one after the other over the
 * whole vector, all smaller levels run tile by tile; then the bit-reversal permutation restores the natural
 * order. Roots for tiles come from a table, roots for the large levels are powers walked from a starting
 * point.
 */
#include "ntt/ntt.h"

#include <stdlib.h>

#include "base/progress.h"

#define MAX_LOG_N 30u
#define TILE_LOG  12u /* 128 KiB of elements */
#define GRAIN     4096u

struct ntt_domain {
    unsigned log_n, tile_log;
    fr root[2];       /* w and 1/w */
    fr generator[2];  /* 7 and 1/7 */
    fr n_inv;         /* 1/n */
    fr z_inv;         /* 1/(7^n - 1) */
    fr *tile_root[2]; /* powers of the 2^tile_log-th root and of its inverse, half a tile each */
};

unsigned ntt_domain_log_n(const ntt_domain *d) {
    return d->log_n;
}

void ntt_domain_destroy(ntt_domain *d) {
    if (!d) return;
    free(d->tile_root[0]);
    free(d);
}

cuzk_code ntt_domain_create(ntt_domain **out, unsigned log_n, pool *p, cuzk_error *err) {
    (void)p;
    *out = NULL;
    if (log_n > MAX_LOG_N)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "a domain of 2^%u points, expected at most 2^%u", log_n, MAX_LOG_N);
    ntt_domain *d = calloc(1, sizeof *d);
    if (!d) return error_no_memory(err, sizeof *d, "an NTT domain");
    d->log_n = log_n;
    d->tile_log = log_n < TILE_LOG ? log_n : TILE_LOG;
    size_t half = ((size_t)1 << d->tile_log) / 2;
    d->tile_root[0] = calloc(2 * half + 1, sizeof(fr));
    if (!d->tile_root[0]) {
        free(d);
        return error_no_memory(err, 2 * half * sizeof(fr), "the roots of an NTT domain");
    }
    d->tile_root[1] = d->tile_root[0] + half;
    fr_root_of_unity(&d->root[0], log_n);
    fr_inv(&d->root[1], &d->root[0]);
    fr_generator(&d->generator[0]);
    fr_inv(&d->generator[1], &d->generator[0]);
    fr t;
    fr_from_u64(&t, (uint64_t)1 << log_n);
    fr_inv(&d->n_inv, &t);
    fr_pow_u64(&t, &d->generator[0], (uint64_t)1 << log_n);
    fr_sub(&t, &t, &FR_ONE);
    fr_inv(&d->z_inv, &t);
    for (int inverse = 0; inverse < 2; inverse++) {
        fr step, power = FR_ONE;
        fr_pow_u64(&step, &d->root[inverse], (uint64_t)1 << (log_n - d->tile_log));
        for (size_t i = 0; i < half; i++) {
            d->tile_root[inverse][i] = power;
            fr_mul(&power, &power, &step);
        }
    }
    *out = d;
    return CUZK_OK;
}

static inline void butterfly(fr *u, fr *v, const fr *root) {
    fr sum, difference;
    fr_add(&sum, u, v);
    fr_sub(&difference, u, v);
    *u = sum;
    fr_mul(v, &difference, root);
}

typedef struct level {
    const ntt_domain *d;
    fr *values;
    int inverse;
    unsigned block_log; /* of the level */
    fr step;            /* the 2^block_log-th root of unity */
} level;

/* Butterflies [begin, end) of one large level, counted through the whole vector; a piece stays in one block.
 */
static void run_level(void *ctx, size_t begin, size_t end) {
    const level *l = ctx;
    size_t half = (size_t)1 << (l->block_log - 1), block = begin / half, at = begin % half;
    fr *low = l->values + block * 2 * half, *high = low + half;
    fr root;
    fr_pow_u64(&root, &l->step, at);
    for (size_t i = at; i < at + (end - begin); i++) {
        butterfly(&low[i], &high[i], &root);
        fr_mul(&root, &root, &l->step);
    }
}

static void run_tiles(void *ctx, size_t begin, size_t end) {
    const level *l = ctx;
    const ntt_domain *d = l->d;
    const fr *roots = d->tile_root[l->inverse];
    size_t tile = (size_t)1 << d->tile_log;
    for (size_t t = begin; t < end; t++) {
        fr *x = l->values + t * tile;
        for (size_t half = tile / 2, stride = 1; half > 0; half /= 2, stride *= 2)
            for (size_t block = 0; block < tile; block += 2 * half)
                for (size_t i = 0; i < half; i++)
                    butterfly(&x[block + i], &x[block + half + i], &roots[i * stride]);
    }
}

static size_t reverse_bits(size_t value, unsigned bits) {
    size_t out = 0;
    for (unsigned i = 0; i < bits; i++) out |= (value >> i & 1) << (bits - 1 - i);
    return out;
}

static void permute(void *ctx, size_t begin, size_t end) {
    const level *l = ctx;
    for (size_t i = begin; i < end; i++) {
        size_t j = reverse_bits(i, l->d->log_n);
        if (i >= j) continue;
        fr t = l->values[i];
        l->values[i] = l->values[j];
        l->values[j] = t;
    }
}

static void transform(const ntt_domain *d, int inverse, fr *values, pool *p) {
    size_t n = (size_t)1 << d->log_n;
    level l = {.d = d, .values = values, .inverse = inverse, .step = d->root[inverse]};
    for (l.block_log = d->log_n; l.block_log > d->tile_log; l.block_log--) {
        pool_for(p, n / 2, (size_t)1 << (d->tile_log - 1), run_level, &l);
        fr_sqr(&l.step, &l.step);
    }
    pool_for(p, n >> d->tile_log, 1, run_tiles, &l);
    pool_for(p, n, GRAIN, permute, &l);
}

typedef struct scaling {
    fr *values;
    fr first, step;
} scaling;

static void scale_piece(void *ctx, size_t begin, size_t end) {
    const scaling *s = ctx;
    fr factor;
    fr_pow_u64(&factor, &s->step, begin);
    fr_mul(&factor, &factor, &s->first);
    for (size_t i = begin; i < end; i++) {
        fr_mul(&s->values[i], &s->values[i], &factor);
        fr_mul(&factor, &factor, &s->step);
    }
}

/* values[i] *= first * step^i */
static void scale(const ntt_domain *d, fr *values, const fr *first, const fr *step, pool *p) {
    scaling s = {.values = values, .first = *first, .step = *step};
    pool_for(p, (size_t)1 << d->log_n, GRAIN, scale_piece, &s);
}

cuzk_code ntt_run(const ntt_domain *d, ntt_kind kind, fr *values, pool *p, cuzk_error *err) {
    (void)err;
    int inverse = kind == NTT_INVERSE || kind == NTT_COSET_INVERSE;
    if (kind == NTT_COSET_FORWARD) scale(d, values, &FR_ONE, &d->generator[0], p);
    transform(d, inverse, values, p);
    if (kind == NTT_INVERSE) scale(d, values, &d->n_inv, &FR_ONE, p);
    if (kind == NTT_COSET_INVERSE) scale(d, values, &d->n_inv, &d->generator[1], p);
    return CUZK_OK;
}

typedef struct pointwise {
    fr *a;
    const fr *other;
    fr factor;
} pointwise;

static void multiply_piece(void *ctx, size_t begin, size_t end) {
    const pointwise *w = ctx;
    for (size_t i = begin; i < end; i++) {
        fr_mul(&w->a[i], &w->a[i], &w->other[i]);
        fr_mul(&w->a[i], &w->a[i], &w->factor);
    }
}

static void subtract_piece(void *ctx, size_t begin, size_t end) {
    const pointwise *w = ctx;
    for (size_t i = begin; i < end; i++) {
        fr t;
        fr_mul(&t, &w->other[i], &w->factor);
        fr_sub(&w->a[i], &w->a[i], &t);
    }
}

/* Z is the constant 7^n - 1 on the coset, so c's share of h is c's own coefficients over it. */
cuzk_code ntt_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p, const cuzk_progress *progress,
                       cuzk_error *err) {
    static const ntt_kind inverse_then_coset[] = {NTT_INVERSE, NTT_COSET_FORWARD};
    size_t n = (size_t)1 << d->log_n;
    uint64_t done = 0, total = 6;
    fr *const both[] = {a, b};
    for (int i = 0; i < 4; i++) {
        TRY(progress_report(progress, "ntt", done++, total, err));
        TRY(ntt_run(d, inverse_then_coset[i % 2], both[i / 2], p, err));
    }
    pointwise w = {.a = a, .other = b, .factor = d->z_inv};
    pool_for(p, n, GRAIN, multiply_piece, &w);
    TRY(progress_report(progress, "ntt", done++, total, err));
    TRY(ntt_run(d, NTT_COSET_INVERSE, a, p, err));
    TRY(progress_report(progress, "ntt", done++, total, err));
    TRY(ntt_run(d, NTT_INVERSE, c, p, err));
    w.other = c;
    pool_for(p, n, GRAIN, subtract_piece, &w);
    return progress_report(progress, "ntt", done, total, err);
}
