/*
 * A scalar is cut into signed digits, |d| <= 2^(bits-1). Window by window, the table entry of each digit is
 * added to each of a batch of sums. The table is far larger than the cache, so a window is planned, and its
 * entries fetched, before the one ahead of it is computed.
 *
 * No partial sum of a scalar below r is a multiple of r unless all its digits so far are zero: its lowest
 * nonzero digit keeps it from being zero, and it stays below r in absolute value. So a sum, once started,
 * never becomes the identity again, which lets a window be planned ahead.
 */
#include "groth16/fixed_base.h"

#include <string.h>

#include "base/mem.h"

enum { MIN_BITS = 4, MAX_BITS = 16 };

/* Scalars have 255 bits; the top window must have a bit to spare for the carry. */
static unsigned window_count(unsigned bits) {
    return 255 / bits + 1;
}

/* The least additions: one a window for each multiple, and one for each entry of the table. */
static unsigned choose_bits(uint64_t multiples) {
    unsigned best = MIN_BITS;
    uint64_t best_cost = UINT64_MAX;
    for (unsigned bits = MIN_BITS; bits <= MAX_BITS; bits++) {
        uint64_t cost = window_count(bits) * (multiples + ((uint64_t)1 << (bits - 1)));
        if (cost < best_cost) {
            best_cost = cost;
            best = bits;
        }
    }
    return best;
}

/* Bits [at, at + count) of k, count <= 16; bits from 256 on are zero. */
static size_t scalar_bits(const fr_repr *k, unsigned at, unsigned count) {
    unsigned word = at / 64, shift = at % 64;
    uint64_t value = word < 4 ? k->l[word] >> shift : 0;
    if (shift + count > 64 && word < 3) value |= k->l[word + 1] << (64 - shift);
    return value & (((uint64_t)1 << count) - 1);
}

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* --- the table ----------------------------------------------------------------------------------------- */

static size_t row_bytes(const fixed_base *t) {
    return t->kernel->point_bytes << (t->bits - 1);
}

typedef struct fill_job {
    const fixed_base *t;
    uint8_t *scratch; /* fill_bytes() for each row */
} fill_job;

static size_t fill_bytes(const msm_kernel *kernel) {
    return round_up(kernel->scratch_bytes) + round_up(kernel->batch * sizeof(msm_pair));
}

/* The first point of each row is there: double the known part until the row is full. */
static void fill_rows(void *ctx, size_t begin, size_t end) {
    const fill_job *job = ctx;
    const fixed_base *t = job->t;
    const msm_kernel *kernel = t->kernel;
    size_t size = kernel->point_bytes, row_size = (size_t)1 << (t->bits - 1);
    for (size_t j = begin; j < end; j++) {
        uint8_t *row = t->table + j * row_bytes(t), *scratch = job->scratch + j * fill_bytes(kernel);
        msm_pair *pairs = (msm_pair *)(scratch + round_up(kernel->scratch_bytes));
        for (size_t known = 1; known < row_size; known *= 2) {
            uintptr_t last = (uintptr_t)(row + (known - 1) * size);
            for (size_t i = 0; i < known; i += kernel->batch) {
                size_t n = known - i < kernel->batch ? known - i : kernel->batch;
                for (size_t k = 0; k < n; k++)
                    pairs[k] = (msm_pair){row + (known + i + k) * size, row + (i + k) * size, last};
                kernel->add(pairs, n, scratch, NULL, 0);
            }
        }
    }
}

/* The first point of row j + 1 is 2^bits times that of row j. */
static void start_rows(const fixed_base *t, const void *base, void *scratch) {
    t->kernel->load(t->table, &base, 1);
    for (unsigned j = 1; j < t->windows; j++) {
        uint8_t *point = t->table + j * row_bytes(t);
        t->kernel->copy(point, point - row_bytes(t), false);
        for (unsigned i = 0; i < t->bits; i++) {
            msm_pair twice = {point, point, (uintptr_t)point};
            t->kernel->add(&twice, 1, scratch, NULL, 0);
        }
    }
}

cuzk_code fixed_base_create(fixed_base *out, const msm_kernel *kernel, const void *base, uint64_t multiples,
                            pool *p, cuzk_error *err) {
    *out = (fixed_base){.kernel = kernel, .bits = choose_bits(multiples)};
    out->windows = window_count(out->bits);
    void *table, *scratch;
    size_t scratch_size = out->windows * fill_bytes(kernel);
    TRY(mem_big_alloc(&table, out->windows * row_bytes(out), "the multiples of a generator", err));
    out->table = table;
    cuzk_code code = mem_big_alloc(&scratch, scratch_size, "scratch for the multiples of a generator", err);
    if (code != CUZK_OK) {
        fixed_base_free(out);
        return code;
    }
    start_rows(out, base, scratch);
    fill_job job = {out, scratch};
    pool_for(p, out->windows, 1, fill_rows, &job);
    mem_big_free(scratch, scratch_size);
    code = pool_check(p, err);
    if (code != CUZK_OK) fixed_base_free(out);
    return code;
}

void fixed_base_free(fixed_base *t) {
    if (t->table) mem_big_free(t->table, t->windows * row_bytes(t));
    t->table = NULL;
}

/* --- multiplication ------------------------------------------------------------------------------------ */

typedef struct batch {
    const fixed_base *t;
    uint8_t *sums; /* points of the kernel */
    msm_pair *pairs[2];
    size_t n_pairs[2];
    void *scratch;
    bool carry[FIXED_BASE_BATCH], started[FIXED_BASE_BATCH];
} batch;

size_t fixed_base_scratch_bytes(const msm_kernel *kernel) {
    return round_up(sizeof(batch)) + FIXED_BASE_BATCH * kernel->point_bytes +
           2 * round_up(FIXED_BASE_BATCH * sizeof(msm_pair)) + round_up(kernel->scratch_bytes);
}

static batch *start_batch(const fixed_base *t, void *memory) {
    batch *b = memory;
    *b = (batch){.t = t, .sums = (uint8_t *)memory + round_up(sizeof *b)};
    uint8_t *rest = b->sums + FIXED_BASE_BATCH * t->kernel->point_bytes;
    for (int i = 0; i < 2; i++, rest += round_up(FIXED_BASE_BATCH * sizeof(msm_pair)))
        b->pairs[i] = (msm_pair *)rest;
    b->scratch = rest;
    return b;
}

/* Turn one window's digits into additions; a sum that starts here is copied at once. */
static void plan(batch *b, unsigned window, const fr_repr *k, size_t n) {
    const fixed_base *t = b->t;
    size_t size = t->kernel->point_bytes, row_size = (size_t)1 << (t->bits - 1), planned = 0;
    const uint8_t *row = t->table + window * row_bytes(t);
    msm_pair *pairs = b->pairs[window % 2];
    for (size_t i = 0; i < n; i++) {
        size_t digit = scalar_bits(&k[i], window * t->bits, t->bits) + b->carry[i];
        b->carry[i] = digit > row_size;
        if (b->carry[i]) digit = 2 * row_size - digit;
        if (digit == 0) continue;
        const uint8_t *entry = row + (digit - 1) * size;
        uint8_t *sum = b->sums + i * size;
        if (!b->started[i]) {
            t->kernel->copy(sum, entry, b->carry[i]);
            b->started[i] = true;
            continue;
        }
        for (size_t line = 0; line < size; line += 64) __builtin_prefetch(entry + line);
        pairs[planned++] = (msm_pair){sum, sum, (uintptr_t)entry | (b->carry[i] ? MSM_NEGATE : 0)};
    }
    b->n_pairs[window % 2] = planned;
}

static void run(batch *b, unsigned window) {
    const msm_kernel *kernel = b->t->kernel;
    const msm_pair *pairs = b->pairs[window % 2];
    size_t n = b->n_pairs[window % 2];
    for (size_t i = 0; i < n; i += kernel->batch)
        kernel->add(pairs + i, n - i < kernel->batch ? n - i : kernel->batch, b->scratch, NULL, 0);
}

/* From the kernel's form to affine points. */
static void store(void *out, const batch *b, size_t n) {
    const msm_kernel *kernel = b->t->kernel;
    for (size_t i = 0; i < n; i++) {
        uint8_t *point = (uint8_t *)out + i * kernel->affine_bytes;
        if (b->started[i])
            kernel->store(point, b->sums + i * kernel->point_bytes);
        else
            memset(point, 0, kernel->affine_bytes);
    }
}

void fixed_base_mul(void *out, const fixed_base *t, const fr_repr *k, size_t n, void *scratch) {
    batch *b = start_batch(t, scratch);
    plan(b, 0, k, n);
    for (unsigned window = 1; window < t->windows; window++) {
        plan(b, window, k, n);
        run(b, window - 1);
    }
    run(b, t->windows - 1);
    store(out, b, n);
}
