/*
 * The plan of a transform: how a size splits into digits (variant.h), which passes run with which constants,
 * and the loops over units of work. Sizes too small for digits are done directly, level by level.
 */
#include "ntt/ntt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/progress.h"
#include "ntt/variant.h"

#define MAX_LOG_N    30u
#define DIRECT_LOG_N 8u /* up to here without digits */
#define PAGE         4096u

#define UNKNOWN_CACHE ((size_t)64 << 20)

/* Whose constants: of the four kinds of ntt_run, and of the transforms inside the quotient. */
enum { QUOTIENT_INVERSE = NTT_COSET_INVERSE + 1, QUOTIENT_COSET, QUOTIENT_RESULT, REQUESTS };

struct ntt_domain {
    unsigned log_n, log_a, log_b;
    bool stream; /* a vector does not fit the caches: passes write around them */
    ntt_request requests[REQUESTS];
    const ntt_variant *variant;
    void *memory; /* roots of w and of 1/w, then the setups */
    size_t memory_bytes;
    const void *setups[REQUESTS];
};

unsigned ntt_domain_log_n(const ntt_domain *d) {
    return d->log_n;
}

void ntt_domain_destroy(ntt_domain *d) {
    if (!d) return;
    mem_big_free(d->memory, d->memory_bytes);
    free(d);
}

/*
 * In the quotient, Z is the constant z = 7^n - 1 on the coset, so c's share of h is c's own coefficients over
 * z. All three vectors get their coefficients over z; a and b then their values on the coset, whose product
 * is that of A and B over z^2; and the coefficients of the product, times z, less those of C over z, are h.
 */
static void fill_requests(ntt_domain *d) {
    fr root, root_inv, n, n_inv, z, z_inv, seven, seven_inv;
    fr_root_of_unity(&root, d->log_n);
    fr_inv(&root_inv, &root);
    fr_from_u64(&n, (uint64_t)1 << d->log_n);
    fr_inv(&n_inv, &n);
    fr_generator(&seven);
    fr_inv(&seven_inv, &seven);
    fr_pow_u64(&z, &seven, (uint64_t)1 << d->log_n);
    fr_sub(&z, &z, &FR_ONE);
    fr_inv(&z_inv, &z);
    fr_mul(&z, &z, &n_inv);
    fr_mul(&z_inv, &z_inv, &n_inv);
    if (d->log_n > DIRECT_LOG_N)
        for (unsigned i = 0; i < d->variant->product_shift; i++) fr_dbl(&z, &z);
    const ntt_request common = {.log_a = d->log_a, .log_b = d->log_b, .before = FR_ONE, .after = FR_ONE};
    for (int i = 0; i < REQUESTS; i++) d->requests[i] = common;
    ntt_request *r = d->requests;
    r[NTT_FORWARD].root = r[NTT_COSET_FORWARD].root = r[QUOTIENT_COSET].root = root;
    r[NTT_FORWARD].factor = r[NTT_COSET_FORWARD].factor = r[QUOTIENT_COSET].factor = FR_ONE;
    r[NTT_COSET_FORWARD].before = r[QUOTIENT_COSET].after = seven;
    r[NTT_INVERSE].root = r[NTT_COSET_INVERSE].root = root_inv;
    r[QUOTIENT_INVERSE].root = r[QUOTIENT_RESULT].root = root_inv;
    r[NTT_INVERSE].factor = r[NTT_COSET_INVERSE].factor = n_inv;
    r[NTT_COSET_INVERSE].after = r[QUOTIENT_RESULT].after = seven_inv;
    r[QUOTIENT_INVERSE].factor = z_inv;
    r[QUOTIENT_RESULT].factor = z;
}

/* The outer and inner digit: 3 to 9 bits, so that a buffer of B rows and a tile of A A elements stay near the
 * second-level cache. */
static void choose_digits(ntt_domain *d) {
    unsigned a = d->log_n / 3;
    if (a > 6) a = d->log_n > 22 ? (d->log_n - 10) / 2 : 6;
    d->log_a = a;
    d->log_b = d->log_n - 2 * a;
}

/* Builds that check themselves take every vector for a large one: tests have only small ones. */
static bool is_large(unsigned log_n) {
#ifdef CUZK_VERIFY
    (void)log_n;
    return true;
#else
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t bytes = cache > 0 ? (size_t)cache : UNKNOWN_CACHE;
    return sizeof(fr) << log_n >= bytes;
#endif
}

typedef struct setup_loop {
    const ntt_domain *d;
    unsigned log_size;
    char *roots[2], *setups;
    size_t setup_stride;
} setup_loop;

static void fill_roots(void *ctx, size_t begin, size_t end) {
    const setup_loop *l = ctx;
    for (size_t i = begin; i < end; i++) {
        fr root;
        fr_pow_u64(&root, &l->d->requests[i == 0 ? NTT_FORWARD : NTT_INVERSE].root,
                   (uint64_t)1 << (l->d->log_n - l->log_size));
        l->d->variant->roots_fill(l->roots[i], l->log_size, &root);
    }
}

static void fill_setups(void *ctx, size_t begin, size_t end) {
    const setup_loop *l = ctx;
    for (size_t i = begin; i < end; i++)
        l->d->variant->setup_fill(l->setups + i * l->setup_stride, &l->d->requests[i]);
}

static size_t whole_pages(size_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static cuzk_code make_tables(ntt_domain *d, pool *p, cuzk_error *err) {
    setup_loop l = {.d = d, .log_size = d->log_a > d->log_b ? d->log_a : d->log_b};
    size_t roots = whole_pages(d->variant->roots_bytes(l.log_size));
    l.setup_stride = whole_pages(d->variant->setup_bytes(d->log_a));
    d->memory_bytes = 2 * roots + REQUESTS * l.setup_stride;
    TRY(mem_big_alloc(&d->memory, d->memory_bytes, "the tables of an NTT domain", err));
    l.roots[0] = d->memory;
    l.roots[1] = l.roots[0] + roots;
    l.setups = l.roots[1] + roots;
    for (int i = 0; i < REQUESTS; i++) {
        bool forward = fr_eq(&d->requests[i].root, &d->requests[NTT_FORWARD].root);
        d->requests[i].roots = l.roots[forward ? 0 : 1];
        d->setups[i] = l.setups + (size_t)i * l.setup_stride;
    }
    pool_for(p, 2, 1, fill_roots, &l);
    pool_for(p, REQUESTS, 1, fill_setups, &l);
    return pool_check(p, err);
}

cuzk_code ntt_domain_create(ntt_domain **out, unsigned log_n, pool *p, cuzk_error *err) {
    *out = NULL;
    if (log_n > MAX_LOG_N)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "a domain of 2^%u points, expected at most 2^%u", log_n, MAX_LOG_N);
    ntt_domain *d = calloc(1, sizeof *d);
    if (!d) return error_no_memory(err, sizeof *d, "an NTT domain");
    d->log_n = log_n;
    d->stream = is_large(log_n);
    d->variant = field.isa == CPU_IFMA ? &ntt_ifma : &ntt_scalar;
    cuzk_code code = CUZK_OK;
    if (log_n > DIRECT_LOG_N) choose_digits(d);
    fill_requests(d);
    if (log_n > DIRECT_LOG_N) code = make_tables(d, p, err);
    if (code == CUZK_OK)
        *out = d;
    else
        ntt_domain_destroy(d);
    return code;
}

/* values[i] *= first * step^i */
static void scale_direct(fr *values, size_t n, fr first, const fr *step) {
    for (size_t i = 0; i < n; i++) {
        fr_mul(&values[i], &values[i], &first);
        fr_mul(&first, &first, step);
    }
}

static void run_direct(const ntt_request *r, unsigned log_n, fr *x) {
    size_t n = (size_t)1 << log_n;
    fr root = r->root;
    scale_direct(x, n, FR_ONE, &r->before);
    for (size_t half = n / 2; half > 0; half /= 2) {
        for (size_t block = 0; block < n; block += 2 * half) {
            fr power = FR_ONE;
            for (size_t i = block; i < block + half; i++) {
                fr difference;
                fr_sub(&difference, &x[i], &x[i + half]);
                fr_add(&x[i], &x[i], &x[i + half]);
                fr_mul(&x[i + half], &difference, &power);
                fr_mul(&power, &power, &root);
            }
        }
        fr_sqr(&root, &root);
    }
    for (size_t i = 0, j = 0; i < n; i++) { /* j: the bits of i reversed */
        if (i < j) {
            fr t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
        size_t bit = n / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j |= bit;
    }
    scale_direct(x, n, r->factor, &r->after);
    fault_point("ntt", x, n * sizeof *x);
}

/* Threads borrow scratch for each piece of a pass; no more of them run a loop at once than the pool has. */
typedef struct scratch_set {
    char *slots;
    size_t slot_bytes, count, bytes;
    atomic_flag *taken;
} scratch_set;

static cuzk_code scratch_open(scratch_set *s, const ntt_domain *d, pool *p, cuzk_error *err) {
    s->count = pool_threads(p);
    s->slot_bytes = whole_pages(d->variant->scratch_bytes(d->log_a, d->log_b));
    s->bytes = s->count * (s->slot_bytes + sizeof *s->taken);
    void *memory;
    TRY(mem_big_alloc(&memory, s->bytes, "the scratch of an NTT", err));
    s->slots = memory;
    s->taken = (atomic_flag *)(void *)(s->slots + s->count * s->slot_bytes);
    for (size_t i = 0; i < s->count; i++) atomic_flag_clear(&s->taken[i]);
    return CUZK_OK;
}

static void scratch_close(scratch_set *s) {
    mem_big_free(s->slots, s->bytes);
}

typedef struct pass_loop {
    ntt_pass pass;
    const ntt_operands *operands;
    scratch_set *scratch;
} pass_loop;

static void run_piece(void *ctx, size_t begin, size_t end) {
    const pass_loop *l = ctx;
    scratch_set *s = l->scratch;
    size_t slot = 0;
    while (atomic_flag_test_and_set_explicit(&s->taken[slot], memory_order_acquire))
        slot = (slot + 1) % s->count;
    l->pass(l->operands, begin, end, s->slots + slot * s->slot_bytes);
    atomic_flag_clear_explicit(&s->taken[slot], memory_order_release);
}

static void run_pass(const ntt_domain *d, ntt_pass pass, const ntt_operands *operands, scratch_set *scratch,
                     pool *p) {
    const ntt_variant *v = d->variant;
    ntt_operands own = *operands;
    own.stream = d->stream && (uintptr_t)own.values % 64 == 0;
    pass_loop l = {.pass = pass, .operands = &own, .scratch = scratch};
    size_t row = ((size_t)1 << d->log_a) / NTT_UNIT, units;
    if (pass == v->outer || pass == v->outer_through)
        units = row << d->log_b;
    else if (pass == v->middle || pass == v->middle_back)
        units = row << d->log_a;
    else
        units = (size_t)1 << d->log_b, row = 1;
    pool_for(p, units, row, run_piece, &l);
    fault_point("ntt", operands->values, sizeof(fr) << d->log_n);
}

cuzk_code ntt_run(const ntt_domain *d, ntt_kind kind, fr *values, pool *p, cuzk_error *err) {
    if (d->log_n <= DIRECT_LOG_N) {
        run_direct(&d->requests[kind], d->log_n, values);
        return CUZK_OK;
    }
    scratch_set scratch;
    TRY(scratch_open(&scratch, d, p, err));
    ntt_operands o = {.setup = d->setups[kind], .values = values};
    run_pass(d, d->variant->outer, &o, &scratch, p);
    run_pass(d, d->variant->middle, &o, &scratch, p);
    run_pass(d, d->variant->inner, &o, &scratch, p);
    scratch_close(&scratch);
    return pool_check(p, err);
}

static void quotient_direct(const ntt_domain *d, fr *a, fr *b, fr *c) {
    const ntt_request *r = d->requests;
    size_t n = (size_t)1 << d->log_n;
    run_direct(&r[QUOTIENT_INVERSE], d->log_n, a);
    run_direct(&r[QUOTIENT_INVERSE], d->log_n, b);
    run_direct(&r[QUOTIENT_INVERSE], d->log_n, c);
    run_direct(&r[NTT_COSET_FORWARD], d->log_n, a);
    run_direct(&r[NTT_COSET_FORWARD], d->log_n, b);
    for (size_t i = 0; i < n; i++) fr_mul(&a[i], &a[i], &b[i]);
    run_direct(&r[QUOTIENT_RESULT], d->log_n, a);
    for (size_t i = 0; i < n; i++) fr_sub(&a[i], &a[i], &c[i]);
}

cuzk_code ntt_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p, const cuzk_progress *progress,
                       cuzk_error *err) {
    if (d->log_n <= DIRECT_LOG_N) {
        TRY(progress_report(progress, "ntt", 0, 1, err));
        quotient_direct(d, a, b, c);
        return progress_report(progress, "ntt", 1, 1, err);
    }
    const ntt_variant *v = d->variant;
    const void *inverse = d->setups[QUOTIENT_INVERSE], *coset = d->setups[QUOTIENT_COSET];
    const void *result = d->setups[QUOTIENT_RESULT];
    const struct {
        ntt_pass pass;
        ntt_operands operands;
    } steps[] = {
        {v->outer, {.setup = inverse, .values = a}},
        {v->middle, {.setup = inverse, .values = a}},
        {v->inner_through, {.from = inverse, .setup = coset, .values = a}},
        {v->middle_back, {.setup = coset, .values = a}},
        {v->outer, {.setup = inverse, .values = b}},
        {v->middle, {.setup = inverse, .values = b}},
        {v->inner_through, {.from = inverse, .setup = coset, .values = b}},
        {v->middle_back, {.setup = coset, .values = b}},
        {v->outer_through, {.from = coset, .setup = result, .values = a, .other = b}},
        {v->middle, {.setup = result, .values = a}},
        {v->outer, {.setup = inverse, .values = c}},
        {v->middle, {.setup = inverse, .values = c}},
        {v->inner_difference, {.setup = result, .values = a, .other = c}},
    };
    const size_t total = sizeof steps / sizeof *steps;
    scratch_set scratch;
    TRY(scratch_open(&scratch, d, p, err));
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < total && code == CUZK_OK; i++) {
        code = progress_report(progress, "ntt", i, total, err);
        if (code == CUZK_OK) run_pass(d, steps[i].pass, &steps[i].operands, &scratch, p);
        if (code == CUZK_OK) code = pool_check(p, err);
    }
    scratch_close(&scratch);
    return code == CUZK_OK ? progress_report(progress, "ntt", total, total, err) : code;
}
