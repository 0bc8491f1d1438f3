/*
 * The body of fixed_base.c for one group. The including file defines POINT, AFFINE, COORD (types), P(name)
 * and F(name) (functions of the group and of its coordinate field), FB(name) (the functions made here), TABLE
 * (the table type), COORD_ONE and SCRATCH_BYTES.
 */

/* One addition of the running window: the sum it goes to, and the table entry with its sign. */
typedef struct FB(step) {
    const AFFINE *entry;
    uint32_t index;
    bool negative;
} FB(step);

typedef struct FB(scratch) {
    COORD slope[FIXED_BASE_BATCH];   /* x differences, then their inverses */
    COORD product[FIXED_BASE_BATCH]; /* of all differences before */
    FB(step) steps[FIXED_BASE_BATCH];
} FB(scratch);
_Static_assert(sizeof(FB(scratch)) <= SCRATCH_BYTES, "scratch size in the header");

typedef struct FB(fill_job) {
    const TABLE *t;
    const POINT *row_base; /* 2^(bits*j) * base */
    size_t pieces;         /* per row */
} FB(fill_job);

/* Entries [piece * FILL, ...) of a row: a chain of additions, made affine together. */
static void FB(fill)(void *ctx, size_t begin, size_t end) {
    const FB(fill_job) *job = ctx;
    size_t row_size = (size_t)1 << (job->t->bits - 1);
    POINT chain[FILL];
    COORD scratch[FILL];
    for (size_t i = begin; i < end; i++) {
        size_t row = i / job->pieces, first = i % job->pieces * FILL;
        size_t n = row_size - first < FILL ? row_size - first : FILL;
        AFFINE base;
        P(to_affine)(&base, &job->row_base[row]);
        fr_repr multiple = {{first + 1, 0, 0, 0}};
        P(mul)(&chain[0], &job->row_base[row], &multiple);
        for (size_t k = 1; k < n; k++) P(add_mixed)(&chain[k], &chain[k - 1], &base);
        P(to_affine_n)(job->t->table + row * row_size + first, chain, n, scratch);
    }
}

static size_t FB(table_bytes)(const TABLE *t) {
    return ((size_t)t->windows << (t->bits - 1)) * sizeof(AFFINE);
}

cuzk_code FB(create)(TABLE *out, const AFFINE *base, uint64_t multiples, pool *p, cuzk_error *err) {
    *out = (TABLE){.bits = choose_bits(multiples)};
    out->windows = window_count(out->bits);
    void *table;
    TRY(mem_big_alloc(&table, FB(table_bytes)(out), "the multiples of a generator", err));
    out->table = table;
    POINT row_base[MAX_WINDOWS];
    P(from_affine)(&row_base[0], base);
    for (unsigned j = 1; j < out->windows; j++) {
        row_base[j] = row_base[j - 1];
        for (unsigned k = 0; k < out->bits; k++) P(dbl)(&row_base[j], &row_base[j]);
    }
    FB(fill_job) job = {.t = out, .row_base = row_base, .pieces = ((size_t)1 << (out->bits - 1)) / FILL};
    if (job.pieces == 0) job.pieces = 1;
    pool_for(p, job.pieces * out->windows, 1, FB(fill), &job);
    return CUZK_OK;
}

void FB(free)(TABLE *t) {
    mem_big_free(t->table, t->table ? FB(table_bytes)(t) : 0);
    t->table = NULL;
}

/* The rare step whose two points share their x: a doubling or a cancellation. */
static void FB(add_slowly)(AFFINE *sum, const FB(step) * step) {
    AFFINE entry = *step->entry;
    POINT total;
    if (step->negative) P(affine_neg)(&entry, &entry);
    P(from_affine)(&total, sum);
    P(add_mixed)(&total, &total, &entry);
    P(to_affine)(sum, &total);
}

/* Sort this window's additions into scratch->steps; those that need no inversion are done at once. */
static size_t FB(plan)(AFFINE *sums, const TABLE *t, const fr_repr *k, size_t n, unsigned window, bool *carry,
                       FB(scratch) * scratch) {
    size_t planned = 0, row_size = (size_t)1 << (t->bits - 1);
    const AFFINE *row = t->table + window * row_size;
    for (size_t i = 0; i < n; i++) {
        size_t digit = scalar_bits(&k[i], window * t->bits, t->bits) + carry[i];
        carry[i] = digit > row_size;
        if (carry[i]) digit = 2 * row_size - digit;
        if (digit == 0) continue;
        FB(step) *step = &scratch->steps[planned++];
        *step = (FB(step)){.entry = row + digit - 1, .index = (uint32_t)i, .negative = carry[i]};
    }
    /* The table is far larger than the cache: fetch ahead of the first use. */
    size_t kept = 0;
    for (size_t i = 0; i < planned; i++) {
        if (i + AHEAD < planned) prefetch(scratch->steps[i + AHEAD].entry, sizeof(AFFINE));
        FB(step) step = scratch->steps[i];
        AFFINE *sum = &sums[step.index];
        if (P(affine_is_identity)(sum)) {
            *sum = *step.entry;
            if (step.negative) P(affine_neg)(sum, sum);
            continue;
        }
        COORD *dx = &scratch->slope[kept];
        F(sub)(dx, &step.entry->x, &sum->x);
        if (F(is_zero)(dx)) {
            FB(add_slowly)(sum, &step);
            continue;
        }
        if (kept == 0)
            scratch->product[0] = COORD_ONE;
        else
            F(mul)(&scratch->product[kept], &scratch->product[kept - 1], &scratch->slope[kept - 1]);
        scratch->steps[kept++] = step;
    }
    return kept;
}

void FB(mul)(AFFINE *out, const TABLE *t, const fr_repr *k, size_t n, void *memory) {
    FB(scratch) *scratch = memory;
    bool carry[FIXED_BASE_BATCH] = {false};
    memset(out, 0, n * sizeof *out);
    for (unsigned window = 0; window < t->windows; window++) {
        size_t steps = FB(plan)(out, t, k, n, window, carry, scratch);
        if (steps == 0) continue;
        COORD inverse, slope, x, y;
        F(mul)(&inverse, &scratch->product[steps - 1], &scratch->slope[steps - 1]);
        F(inv)(&inverse, &inverse);
        for (size_t i = steps; i-- > 0;) {
            const FB(step) *step = &scratch->steps[i];
            AFFINE *sum = &out[step->index];
            F(mul)(&slope, &inverse, &scratch->product[i]); /* 1 / dx of this step */
            F(mul)(&inverse, &inverse, &scratch->slope[i]);
            y = step->entry->y;
            if (step->negative) F(neg)(&y, &y);
            F(sub)(&y, &y, &sum->y);
            F(mul)(&slope, &slope, &y);
            F(sqr)(&x, &slope); /* x3 = slope^2 - x1 - x2, y3 = slope (x1 - x3) - y1 */
            F(sub)(&x, &x, &sum->x);
            F(sub)(&x, &x, &step->entry->x);
            F(sub)(&y, &sum->x, &x);
            F(mul)(&y, &y, &slope);
            F(sub)(&sum->y, &y, &sum->y);
            sum->x = x;
        }
    }
}
