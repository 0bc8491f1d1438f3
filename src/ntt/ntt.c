/*
 * The plan of a transform: how a size splits into digits, and the loops over units of work. The passes
 * themselves are in passes.h; sizes too small to have digits are done directly.
 */
#include "ntt/ntt.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/progress.h"
#include "ntt/variant.h"

#define MAX_LOG_N   30u
#define SMALL_LOG_N 8u /* up to here directly */
#define GRAIN       4096u

struct ntt_domain {
    unsigned log_n, log_a, log_b;
    fr root[2];      /* w and 1/w */
    fr generator[2]; /* 7 and 1/7 */
    fr n_inv;        /* 1/n */
    fr z_inv;        /* 1/(7^n - 1) */
    const ntt_variant *variant;
    void *roots[2]; /* for the digits, of w and 1/w */
    size_t roots_bytes;
};

unsigned ntt_domain_log_n(const ntt_domain *d) {
    return d->log_n;
}

void ntt_domain_destroy(ntt_domain *d) {
    if (!d) return;
    for (int i = 0; i < 2; i++) mem_big_free(d->roots[i], d->roots_bytes);
    free(d);
}

/* The outer and inner digit: 3 to 9 bits, so that a buffer of B rows and a tile of A A elements stay near the
 * second-level cache. */
static void choose_digits(ntt_domain *d) {
    unsigned a = d->log_n / 3;
    if (a > 6) a = d->log_n > 22 ? (d->log_n - 10) / 2 : 6;
    d->log_a = a;
    d->log_b = d->log_n - 2 * a;
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
    d->variant = field.isa == CPU_IFMA ? &ntt_ifma : &ntt_scalar;
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
    if (log_n > SMALL_LOG_N) {
        choose_digits(d);
        unsigned log_size = d->log_a > d->log_b ? d->log_a : d->log_b;
        d->roots_bytes = d->variant->roots_bytes(log_size);
        for (int i = 0; i < 2; i++) {
            cuzk_code code = mem_big_alloc(&d->roots[i], d->roots_bytes, "the roots of an NTT domain", err);
            if (code != CUZK_OK) {
                ntt_domain_destroy(d);
                return code;
            }
            fr_pow_u64(&t, &d->root[i], (uint64_t)1 << (log_n - log_size));
            d->variant->roots_fill(d->roots[i], log_size, &t);
        }
    }
    *out = d;
    return CUZK_OK;
}

static void run_small(const ntt_domain *d, const ntt_request *r, fr *x) {
    size_t n = (size_t)1 << d->log_n;
    fr power = FR_ONE, root = r->root;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&x[i], &x[i], &power);
        fr_mul(&power, &power, &r->before);
    }
    for (size_t half = n / 2; half > 0; half /= 2) {
        for (size_t block = 0; block < n; block += 2 * half) {
            power = FR_ONE;
            for (size_t i = block; i < block + half; i++) {
                fr sum, difference;
                fr_add(&sum, &x[i], &x[i + half]);
                fr_sub(&difference, &x[i], &x[i + half]);
                x[i] = sum;
                fr_mul(&x[i + half], &difference, &power);
                fr_mul(&power, &power, &root);
            }
        }
        fr_sqr(&root, &root);
    }
    for (size_t i = 0, j = 0; i < n; i++) {
        if (i < j) {
            fr t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
        size_t bit = n / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j |= bit;
    }
    power = r->factor;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&x[i], &x[i], &power);
        fr_mul(&power, &power, &r->after);
    }
}

typedef void (*pass_fn)(const void *setup, fr *values, size_t begin, size_t end, void *scratch);

typedef struct pass_loop {
    pass_fn fn;
    const void *setup;
    fr *values;
    char *scratch;
    size_t scratch_bytes;
    atomic_flag *taken; /* per slot of scratch; there are as many as threads */
} pass_loop;

static void run_piece(void *ctx, size_t begin, size_t end) {
    pass_loop *l = ctx;
    size_t slot = 0;
    while (atomic_flag_test_and_set_explicit(&l->taken[slot], memory_order_acquire)) slot++;
    l->fn(l->setup, l->values, begin, end, l->scratch + slot * l->scratch_bytes);
    atomic_flag_clear_explicit(&l->taken[slot], memory_order_release);
}

cuzk_code ntt_run(const ntt_domain *d, ntt_kind kind, fr *values, pool *p, cuzk_error *err) {
    int inverse = kind == NTT_INVERSE || kind == NTT_COSET_INVERSE;
    ntt_request r = {.log_a = d->log_a,
                     .log_b = d->log_b,
                     .roots = d->roots[inverse],
                     .root = d->root[inverse],
                     .before = kind == NTT_COSET_FORWARD ? d->generator[0] : FR_ONE,
                     .after = kind == NTT_COSET_INVERSE ? d->generator[1] : FR_ONE,
                     .factor = inverse ? d->n_inv : FR_ONE,
                     .shift_before = kind == NTT_COSET_FORWARD,
                     .shift_after = kind == NTT_COSET_INVERSE};
    if (d->log_n <= SMALL_LOG_N) {
        run_small(d, &r, values);
        return CUZK_OK;
    }
    const ntt_variant *v = d->variant;
    size_t threads = pool_threads(p);
    size_t setup_bytes = (v->setup_bytes(d->log_a, d->log_b) + 4095) / 4096 * 4096;
    size_t scratch_bytes = (v->scratch_bytes(d->log_a, d->log_b) + 4095) / 4096 * 4096;
    size_t bytes = setup_bytes + threads * (scratch_bytes + sizeof(atomic_flag));
    void *memory;
    TRY(mem_big_alloc(&memory, bytes, "the scratch of an NTT", err));
    v->setup(memory, &r);
    pass_loop l = {.setup = memory,
                   .values = values,
                   .scratch = (char *)memory + setup_bytes,
                   .scratch_bytes = scratch_bytes};
    l.taken = (atomic_flag *)(void *)(l.scratch + threads * scratch_bytes);
    for (size_t i = 0; i < threads; i++) atomic_flag_clear(&l.taken[i]);
    size_t a = (size_t)1 << d->log_a, b = (size_t)1 << d->log_b, row = a / NTT_UNIT;
    l.fn = v->outer;
    pool_for(p, b * row, row, run_piece, &l);
    l.fn = v->middle;
    pool_for(p, a * row, row, run_piece, &l);
    l.fn = v->inner;
    pool_for(p, b, 1, run_piece, &l);
    mem_big_free(memory, bytes);
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
