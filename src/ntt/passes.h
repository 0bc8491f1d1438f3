/* The passes of variant.h over the abstract vector of kernel.h, and the constants they need. */
#include "ntt/kernel.h"

typedef struct setup {
    unsigned log_a, log_b;
    size_t a, b;
    const factor *roots;
    bool shift_before, shift_after; /* other than one? */
    fr outer_root;                  /* w^A */
    fr outer_before, outer_after;   /* before^A, after^A */
    factor *before;                 /* [i1] before^(A B i1) */
    factor *after;                  /* [k3] after^(A B k3) */
    factor *step;                   /* [k1] w^(NTT_UNIT k1) */
    factor *back_ratio;             /* [k1] w^(A k1) */
    factor *back_quarter;           /* [k1] w^(A k1 B / 4) */
    vec *column;                    /* [k1][group], lanes i3 < NTT_UNIT: after^k1 w^(k1 i3) */
    vec (*start)[4];    /* [i3 / LANES][m], lanes i3: factor before^i3 ratio^output_row(0, B, m) */
    lane_factor *ratio; /* [i3 / LANES], lanes i3: w^(A i3) after^A */
} setup;

static size_t align_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* Lay the arrays out behind the structure; NULL gives the size alone. */
static size_t setup_layout(setup *s, size_t a) {
    size_t at = align_up(sizeof *s), groups = a / LANES;
    char *base = (char *)s;
#define PLACE(field, count)                                                                                  \
    do {                                                                                                     \
        if (s) s->field = (void *)(base + at);                                                               \
        at += align_up((count) * sizeof *((setup *)0)->field);                                               \
    } while (0)
    PLACE(before, a);
    PLACE(after, a);
    PLACE(step, a);
    PLACE(back_ratio, a);
    PLACE(back_quarter, a);
    PLACE(column, a * GROUPS);
    PLACE(start, groups);
    PLACE(ratio, groups);
#undef PLACE
    return at;
}

static size_t setup_bytes(unsigned log_a) {
    return setup_layout(NULL, (size_t)1 << log_a);
}

/* out[i] = ratio^(i exponent) */
static void fill_powers(factor *out, size_t n, const fr *ratio, size_t exponent) {
    fr power;
    fr_pow_u64(&power, ratio, exponent);
    factor_powers(out, n, &FR_ONE, &power);
}

static void fill_columns(setup *s, const ntt_request *r) {
    fr root = FR_ONE, shift = FR_ONE; /* w^k1, after^k1 */
    for (size_t k1 = 0; k1 < s->a; k1++) {
        fr lanes[NTT_UNIT];
        lanes[0] = shift;
        for (size_t i = 1; i < NTT_UNIT; i++) fr_mul(&lanes[i], &lanes[i - 1], &root);
        for (size_t g = 0; g < GROUPS; g++) vec_multiplier(&s->column[k1 * GROUPS + g], lanes + g * LANES);
        fr_mul(&root, &root, &r->root);
        fr_mul(&shift, &shift, &r->after);
    }
}

/* start and ratio; the powers of ratio are quarter^0, ^2, ^1, ^3 with quarter = ratio^(B / 4). */
static void fill_middle(setup *s, const ntt_request *r) {
    fr base = r->factor, ratio = s->outer_after, quarter, quarter_root;
    fr_pow_u64(&quarter, &s->outer_after, s->b / 4);
    fr_pow_u64(&quarter_root, &s->outer_root, s->b / 4);
    for (size_t i = 0; i < s->a; i += LANES) {
        fr start[4][LANES], ratios[LANES];
        for (size_t l = 0; l < LANES; l++) {
            start[0][l] = base;
            fr_mul(&start[2][l], &start[0][l], &quarter);
            fr_mul(&start[1][l], &start[2][l], &quarter);
            fr_mul(&start[3][l], &start[1][l], &quarter);
            ratios[l] = ratio;
            fr_mul(&base, &base, &r->before);
            fr_mul(&ratio, &ratio, &s->outer_root);
            fr_mul(&quarter, &quarter, &quarter_root);
        }
        for (int m = 0; m < 4; m++) vec_multiplier(&s->start[i / LANES][m], start[m]);
        lane_factor_set(&s->ratio[i / LANES], ratios);
    }
}

static void setup_fill(void *memory, const ntt_request *r) {
    setup *s = memory;
    size_t a = (size_t)1 << r->log_a, b = (size_t)1 << r->log_b;
    setup_layout(s, a);
    s->log_a = r->log_a;
    s->log_b = r->log_b;
    s->a = a;
    s->b = b;
    s->roots = r->roots;
    s->shift_before = !fr_is_one(&r->before);
    s->shift_after = !fr_is_one(&r->after);
    fr_pow_u64(&s->outer_root, &r->root, a);
    fr_pow_u64(&s->outer_before, &r->before, a);
    fr_pow_u64(&s->outer_after, &r->after, a);
    fill_powers(s->before, a, &r->before, a * b);
    fill_powers(s->after, a, &r->after, a * b);
    fill_powers(s->step, a, &r->root, NTT_UNIT);
    fill_powers(s->back_ratio, a, &r->root, a);
    fill_powers(s->back_quarter, a, &r->root, a * b / 4);
    fill_columns(s, r);
    fill_middle(s, r);
}

/* One thread's scratch: for the outer and inner passes a buffer of A rows, a second one, a row of A twiddles
 * and a tile of A A elements; for the middle passes a buffer of B rows. */
typedef struct workspace {
    vec *buffer, *between;
    factor *twiddle;
    fr *tile;
} workspace;

static size_t workspace_layout(workspace *w, void *scratch, size_t a, size_t b) {
    size_t bytes = a * NTT_UNIT / LANES * sizeof(vec), at = 0;
    char *base = scratch;
    w->buffer = (void *)base;
    at += align_up(bytes);
    w->between = (void *)(base + at);
    at += align_up(bytes);
    w->twiddle = (void *)(base + at);
    at += align_up(a * sizeof(factor));
    w->tile = (void *)(base + at);
    at += a * a * sizeof(fr);
    size_t middle = b * NTT_UNIT / LANES * sizeof(vec);
    return at > middle ? at : middle;
}

static size_t scratch_bytes(unsigned log_a, unsigned log_b) {
    workspace w;
    return workspace_layout(&w, NULL, (size_t)1 << log_a, (size_t)1 << log_b);
}

/* The twiddles of consecutive rows of columns: first^i ratio^(i j) for j < A. */
typedef struct twiddle_rows {
    fr ratio, shift;
    const fr *root, *first;
} twiddle_rows;

static void twiddle_rows_start(twiddle_rows *t, const fr *root, const fr *first, size_t i) {
    t->root = root;
    t->first = first;
    fr_pow_u64(&t->ratio, root, i);
    fr_pow_u64(&t->shift, first, i);
}

static void twiddle_rows_next(twiddle_rows *t, factor *out, size_t a) {
    factor_powers(out, a, &t->shift, &t->ratio);
    fr_mul(&t->ratio, &t->ratio, t->root);
    fr_mul(&t->shift, &t->shift, t->first);
}

static void outer(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup;
    const size_t a = s->a, units = a / NTT_UNIT, stride = s->b * a;
    workspace w;
    workspace_layout(&w, scratch, a, s->b);
    twiddle_rows rows;
    twiddle_rows_start(&rows, &s->outer_root, &s->outer_before, begin / units);
    for (size_t u = begin; u < end; u++) {
        if (u == begin || u % units == 0) twiddle_rows_next(&rows, w.twiddle, a);
        fr *at = o->values + u * NTT_UNIT;
        if (s->shift_before)
            transform_unit(w.buffer, s->log_a, &(source){NULL, at, stride, 1, s->before}, s->roots);
        else
            transform_unit(w.buffer, s->log_a, &(source){NULL, at, stride, 1, NULL}, s->roots);
        FOR_LAST_BUTTERFLIES(a) {
            const vec *y = last_butterfly(w.buffer, a, block, g, s->roots);
            for (unsigned m = 0; m < 4; m++) {
                size_t row = output_row(place, a, m);
                vec_store_scaled(at + row * stride + g * LANES, &y[m], &w.twiddle[row], o->stream);
            }
        }
    }
    vec_end_stores(o->stream);
}

/* Values of A and B on the domain, their product, and the outer pass of the product's transform. */
static void outer_through(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup, *from = o->from;
    const size_t a = s->a, units = a / NTT_UNIT, stride = s->b * a;
    workspace w;
    workspace_layout(&w, scratch, a, s->b);
    twiddle_rows rows;
    twiddle_rows_start(&rows, &s->outer_root, &s->outer_before, begin / units);
    for (size_t u = begin; u < end; u++) {
        if (u == begin || u % units == 0) twiddle_rows_next(&rows, w.twiddle, a);
        fr *at = o->values + u * NTT_UNIT;
        transform_unit(w.buffer, s->log_a, &(source){NULL, at, stride, 1, NULL}, from->roots);
        FOR_LAST_BUTTERFLIES(a) {
            const vec *y = last_butterfly(w.buffer, a, block, g, from->roots);
            for (unsigned m = 0; m < 4; m++) {
                vec *to = &w.between[g * a + output_row(place, a, m)];
                *to = y[m];
                vec_reduce(to);
            }
        }
        const fr *other = o->other + u * NTT_UNIT;
        transform_unit(w.buffer, s->log_a, &(source){NULL, other, stride, 1, NULL}, from->roots);
        FOR_LAST_BUTTERFLIES(a) {
            const vec *y = last_butterfly(w.buffer, a, block, g, from->roots);
            for (unsigned m = 0; m < 4; m++) {
                vec *to = &w.between[g * a + output_row(place, a, m)];
                vec_mul(to, &y[m], to);
            }
        }
        transform_unit(w.buffer, s->log_a, &(source){w.between, NULL, 0, 0, NULL}, s->roots);
        FOR_LAST_BUTTERFLIES(a) {
            const vec *y = last_butterfly(w.buffer, a, block, g, s->roots);
            for (unsigned m = 0; m < 4; m++) {
                size_t row = output_row(place, a, m);
                vec_store_scaled(at + row * stride + g * LANES, &y[m], &w.twiddle[row], o->stream);
            }
        }
    }
    vec_end_stores(o->stream);
}

/* column = after^k1 w^(k1 i3) for the unit's lanes: from the table at a new k1, else stepped on. */
INLINE void next_column(vec column[GROUPS], const setup *s, size_t k1, size_t unit, bool restart) {
    size_t steps = 1;
    if (restart || unit == 0) {
        memcpy(column, s->column + k1 * GROUPS, GROUPS * sizeof *column);
        steps = unit;
    }
    for (size_t i = 0; i < steps; i++)
        for (size_t g = 0; g < GROUPS; g++) vec_scale_tight(&column[g], &column[g], &s->step[k1]);
}

static void middle(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup;
    const size_t a = s->a, b = s->b, units = a / NTT_UNIT;
    vec *buffer = scratch, column[GROUPS], twiddle[GROUPS][4];
    for (size_t u = begin; u < end; u++) {
        size_t k1 = u / units, unit = u % units;
        next_column(column, s, k1, unit, u == begin);
        for (size_t g = 0; g < GROUPS; g++)
            for (size_t m = 0; m < 4; m++)
                vec_mul(&twiddle[g][m], &column[g], &s->start[unit * GROUPS + g][m]);
        fr *at = o->values + k1 * b * a + unit * NTT_UNIT;
        transform_unit(buffer, s->log_b, &(source){NULL, at, a, 1, NULL}, s->roots);
        FOR_LAST_BUTTERFLIES(b) {
            const vec *y = last_butterfly(buffer, b, block, g, s->roots);
            const lane_factor *ratio = &s->ratio[unit * GROUPS + g];
            for (unsigned m = 0; m < 4; m++) {
                vec_store_multiplied(at + output_row(place, b, m) * a + g * LANES, &y[m], &twiddle[g][m],
                                     o->stream);
                vec_scale_lanes(&twiddle[g][m], &twiddle[g][m], ratio);
            }
        }
    }
    vec_end_stores(o->stream);
}

static void middle_back(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup;
    const size_t a = s->a, b = s->b, units = a / NTT_UNIT;
    vec *buffer = scratch, column[GROUPS], twiddle[GROUPS][4];
    for (size_t u = begin; u < end; u++) {
        size_t k1 = u / units, unit = u % units;
        const factor *ratio = &s->back_ratio[k1], *quarter = &s->back_quarter[k1];
        next_column(column, s, k1, unit, u == begin);
        for (size_t g = 0; g < GROUPS; g++) {
            vec *t = twiddle[g]; /* column ratio^output_row(0, B, m) */
            t[0] = column[g];
            vec_scale_tight(&t[2], &t[0], quarter);
            vec_scale_tight(&t[1], &t[2], quarter);
            vec_scale_tight(&t[3], &t[1], quarter);
        }
        fr *at = o->values + k1 * b * a + unit * NTT_UNIT;
        transform_unit(buffer, s->log_b, &(source){NULL, at, a, 1, NULL}, s->roots);
        FOR_LAST_BUTTERFLIES(b) {
            const vec *y = last_butterfly(buffer, b, block, g, s->roots);
            for (unsigned m = 0; m < 4; m++) {
                vec_store_multiplied(at + output_row(place, b, m) * a + g * LANES, &y[m], &twiddle[g][m],
                                     o->stream);
                vec_scale_tight(&twiddle[g][m], &twiddle[g][m], ratio);
            }
        }
    }
    vec_end_stores(o->stream);
}

/* The exchange needs a whole tile, the rows k1 of one k2, read before any of it is written. */
static void store_tile(fr *at, size_t stride, const fr *tile, size_t a) {
    for (size_t k3 = 0; k3 < a; k3++) memcpy(at + k3 * stride, tile + k3 * a, a * sizeof(fr));
}

static void inner(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup;
    const size_t a = s->a, stride = s->b * a;
    workspace w;
    workspace_layout(&w, scratch, a, s->b);
    for (size_t k2 = begin; k2 < end; k2++) {
        fr *at = o->values + k2 * a;
        for (size_t k1 = 0; k1 < a; k1 += NTT_UNIT) {
            transform_unit(w.buffer, s->log_a, &(source){NULL, at + k1 * stride, 1, stride, NULL}, s->roots);
            FOR_LAST_BUTTERFLIES(a) {
                const vec *y = last_butterfly(w.buffer, a, block, g, s->roots);
                for (unsigned m = 0; m < 4; m++) {
                    size_t row = output_row(place, a, m);
                    fr *to = w.tile + row * a + k1 + g * LANES;
                    if (s->shift_after)
                        vec_store_scaled_canonical(to, &y[m], &s->after[row]);
                    else
                        vec_store_canonical(to, &y[m]);
                }
            }
        }
        store_tile(at, stride, w.tile, a);
    }
}

/* The other vector's transform has the same roots and no shift. */
static void inner_difference(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup;
    const size_t a = s->a, stride = s->b * a;
    workspace w;
    workspace_layout(&w, scratch, a, s->b);
    for (size_t k2 = begin; k2 < end; k2++) {
        fr *at = o->values + k2 * a;
        const fr *other = o->other + k2 * a;
        for (size_t k1 = 0; k1 < a; k1 += NTT_UNIT) {
            transform_unit(w.buffer, s->log_a, &(source){NULL, at + k1 * stride, 1, stride, NULL}, s->roots);
            FOR_LAST_BUTTERFLIES(a) {
                const vec *y = last_butterfly(w.buffer, a, block, g, s->roots);
                for (unsigned m = 0; m < 4; m++) {
                    size_t row = output_row(place, a, m);
                    vec_scale(&w.between[g * a + row], &y[m], &s->after[row]);
                }
            }
            transform_unit(w.buffer, s->log_a, &(source){NULL, other + k1 * stride, 1, stride, NULL},
                           s->roots);
            FOR_LAST_BUTTERFLIES(a) {
                const vec *y = last_butterfly(w.buffer, a, block, g, s->roots);
                for (unsigned m = 0; m < 4; m++) {
                    size_t row = output_row(place, a, m);
                    vec t;
                    vec_sub(&t, &w.between[g * a + row], &y[m], 32);
                    vec_store_canonical(w.tile + row * a + k1 + g * LANES, &t);
                }
            }
        }
        store_tile(at, stride, w.tile, a);
    }
}

static void inner_through(const ntt_operands *o, size_t begin, size_t end, void *scratch) {
    const setup *s = o->setup, *from = o->from;
    const size_t a = s->a, stride = s->b * a;
    workspace w;
    workspace_layout(&w, scratch, a, s->b);
    twiddle_rows rows;
    twiddle_rows_start(&rows, &s->outer_root, &s->outer_after, begin);
    for (size_t k2 = begin; k2 < end; k2++) {
        twiddle_rows_next(&rows, w.twiddle, a);
        for (size_t k1 = 0; k1 < a; k1 += NTT_UNIT) {
            fr *at = o->values + k1 * stride + k2 * a;
            transform_unit(w.buffer, s->log_a, &(source){NULL, at, 1, stride, NULL}, from->roots);
            FOR_LAST_BUTTERFLIES(a) {
                const vec *y = last_butterfly(w.buffer, a, block, g, from->roots);
                for (unsigned m = 0; m < 4; m++) {
                    size_t row = output_row(place, a, m);
                    vec_scale(&w.between[g * a + row], &y[m], &s->after[row]);
                }
            }
            transform_unit(w.buffer, s->log_a, &(source){w.between, NULL, 0, 0, NULL}, s->roots);
            FOR_LAST_BUTTERFLIES(a) {
                const vec *y = last_butterfly(w.buffer, a, block, g, s->roots);
                for (unsigned m = 0; m < 4; m++) {
                    size_t row = output_row(place, a, m);
                    vec_scatter_scaled(at + row + g * LANES * stride, stride, &y[m], &w.twiddle[row]);
                }
            }
        }
    }
}

#define NTT_PASSES                                                                                           \
    .roots_bytes = roots_bytes, .roots_fill = roots_fill, .setup_bytes = setup_bytes,                        \
    .setup_fill = setup_fill, .scratch_bytes = scratch_bytes, .outer = outer, .middle = middle,              \
    .inner = inner, .inner_through = inner_through, .middle_back = middle_back,                              \
    .outer_through = outer_through, .inner_difference = inner_difference
