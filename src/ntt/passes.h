/*
 * The passes of variant.h, written over an abstract vector of LANES elements. A variant's .c file defines
 * that vector and its operations (see ntt_ifma.c), includes this file and lists the functions in its table.
 *
 * A unit of NTT_UNIT columns is copied from memory into a contiguous buffer while its first radix-4 (or
 * radix-2) level is done, transformed there depth first, and written back by the last radix-4 level, which
 * also multiplies by the twiddles that lead to the next digit and undoes the bit reversal. Butterflies
 * multiply first (decimation in time), so every block of a level has one root and values grow by only 2r a
 * level.
 */
#define GROUPS (NTT_UNIT / LANES)

typedef struct setup {
    unsigned log_a, log_b;
    size_t a, b;
    const factor *roots;
    bool shift_before, shift_after;
    fr outer_ratio;     /* w^A */
    fr outer_shift;     /* before^A */
    factor *before;     /* [i1] before^(i1 A B) */
    factor *after;      /* [k3] after^(k3 A B) */
    factor *step;       /* [k1] w^(NTT_UNIT k1) */
    vec *column;        /* [k1][group] lanes i3 < NTT_UNIT: after^k1 w^(k1 i3) */
    vec (*start)[4];    /* [i3 / LANES][m] lanes i3: factor before^i3 ratio^(m' B / 4), m' = 0, 2, 1, 3 */
    lane_factor *ratio; /* [i3 / LANES] lanes i3: w^(A i3) after^A */
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
    PLACE(column, a * GROUPS);
    PLACE(start, groups);
    PLACE(ratio, groups);
#undef PLACE
    return at;
}

static size_t setup_bytes(unsigned log_a, unsigned log_b) {
    (void)log_b;
    return setup_layout(NULL, (size_t)1 << log_a);
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
    s->shift_before = r->shift_before;
    s->shift_after = r->shift_after;
    fr t, row[4], after_a;
    fr_pow_u64(&s->outer_ratio, &r->root, a);
    fr_pow_u64(&s->outer_shift, &r->before, a);
    fr_pow_u64(&after_a, &r->after, a);
    fr_pow_u64(&t, &s->outer_shift, b);
    factor_powers(s->before, a, &FR_ONE, &t);
    fr_pow_u64(&t, &after_a, b);
    factor_powers(s->after, a, &FR_ONE, &t);
    fr_pow_u64(&t, &r->root, NTT_UNIT);
    factor_powers(s->step, a, &FR_ONE, &t);

    fr root = FR_ONE, shift = FR_ONE; /* w^k1, after^k1 */
    for (size_t k1 = 0; k1 < a; k1++) {
        fr lanes[NTT_UNIT];
        lanes[0] = shift;
        for (size_t i = 1; i < NTT_UNIT; i++) fr_mul(&lanes[i], &lanes[i - 1], &root);
        for (size_t g = 0; g < GROUPS; g++) vec_multiplier(&s->column[k1 * GROUPS + g], lanes + g * LANES);
        fr_mul(&root, &root, &r->root);
        fr_mul(&shift, &shift, &r->after);
    }

    /* ratio(i3)^(m' B/4) = (w^(A B/4))^(m' i3) after^(m' A B/4), in the order in which outputs leave. */
    fr quarter_root, quarter_shift, base = r->factor, ratio = after_a;
    fr_pow_u64(&quarter_root, &s->outer_ratio, b / 4);
    fr_pow_u64(&quarter_shift, &after_a, b / 4);
    fr quarter = quarter_shift; /* quarter_shift quarter_root^i3 */
    for (size_t i = 0; i < a; i += LANES) {
        fr start[4][LANES], ratios[LANES];
        for (size_t l = 0; l < LANES; l++) {
            row[0] = base;
            fr_mul(&row[2], &row[0], &quarter);
            fr_mul(&row[1], &row[2], &quarter);
            fr_mul(&row[3], &row[1], &quarter);
            for (int m = 0; m < 4; m++) start[m][l] = row[m];
            ratios[l] = ratio;
            fr_mul(&base, &base, &r->before);
            fr_mul(&ratio, &ratio, &s->outer_ratio);
            fr_mul(&quarter, &quarter, &quarter_root);
        }
        for (int m = 0; m < 4; m++) vec_multiplier(&s->start[i / LANES][m], start[m]);
        lane_factor_set(&s->ratio[i / LANES], ratios);
    }
}

/* A butterfly of four with one root at the first level and two at the second; all values grow by 4r. */
INLINE void radix4(vec *x0, vec *x1, vec *x2, vec *x3, const factor *roots, size_t block) {
    vec t, u0, u1, u2, u3;
    vec_scale(&t, x2, &roots[block]);
    vec_add(&u0, x0, &t);
    vec_sub(&u2, x0, &t, 2);
    vec_scale(&t, x3, &roots[block]);
    vec_add(&u1, x1, &t);
    vec_sub(&u3, x1, &t, 2);
    vec_scale(&u1, &u1, &roots[2 * block]);
    vec_scale(&u3, &u3, &roots[2 * block + 1]);
    vec_add(x0, &u0, &u1);
    vec_sub(x1, &u0, &u1, 2);
    vec_add(x2, &u2, &u3);
    vec_sub(x3, &u2, &u3, 2);
}

/* The same for block 0, whose roots are one, one and i: from below 2r to below 8r. */
INLINE void radix4_first(vec *x0, vec *x1, vec *x2, vec *x3, const factor *roots) {
    vec u0, u1, u2, u3;
    vec_add(&u0, x0, x2);
    vec_sub(&u2, x0, x2, 2);
    vec_add(&u1, x1, x3);
    vec_sub(&u3, x1, x3, 2);
    vec_scale(&u3, &u3, &roots[1]);
    vec_add(x0, &u0, &u1);
    vec_sub(x1, &u0, &u1, 4);
    vec_add(x2, &u2, &u3);
    vec_sub(x3, &u2, &u3, 2);
}

INLINE void radix4_any(vec *x0, vec *x1, vec *x2, vec *x3, const factor *roots, size_t block) {
    if (block > 0) {
        radix4(x0, x1, x2, x3, roots, block);
        return;
    }
    vec_reduce(x0);
    vec_reduce(x1);
    vec_reduce(x2);
    vec_reduce(x3);
    radix4_first(x0, x1, x2, x3, roots);
}

/* Where a unit comes from: `rows` rows of NTT_UNIT columns. */
typedef struct source {
    const fr *from;
    size_t row_stride, lane_stride;
    const factor *before; /* what each row is multiplied by, or NULL */
} source;

INLINE void load(vec *out, const source *s, size_t row, size_t g) {
    const fr *p = s->from + row * s->row_stride + g * LANES * s->lane_stride;
    if (s->lane_stride == 1)
        vec_load(out, p);
    else
        vec_gather(out, p, s->lane_stride);
    if (s->before) vec_scale(out, out, &s->before[row]);
}

/* Rows of a unit are far apart in memory: ask for them some butterflies ahead. */
INLINE void prefetch(const source *s, size_t row) {
    if (s->lane_stride != 1) return;
    const char *p = (const char *)(s->from + row * s->row_stride);
    for (size_t i = 0; i < NTT_UNIT * sizeof(fr); i += 64) __builtin_prefetch(p + i);
}

/* Copy in a unit and do the first levels: two when log_rows is even, else one. */
INLINE void load_unit(vec *buffer, unsigned log_rows, const source *s, const factor *roots) {
    size_t rows = (size_t)1 << log_rows;
    if (log_rows % 2) {
        size_t half = rows / 2;
        for (size_t j = 0; j < half; j++) {
            prefetch(s, j + PREFETCH);
            prefetch(s, j + PREFETCH + half);
            for (size_t g = 0; g < GROUPS; g++) {
                vec x, y, *to = buffer + g * rows + j;
                load(&x, s, j, g);
                load(&y, s, j + half, g);
                vec_add(to, &x, &y);
                vec_sub(to + half, &x, &y, 2);
            }
        }
        return;
    }
    size_t quarter = rows / 4;
    for (size_t j = 0; j < quarter; j++) {
        for (size_t m = 0; m < 4; m++) prefetch(s, j + PREFETCH + m * quarter);
        for (size_t g = 0; g < GROUPS; g++) {
            vec *to = buffer + g * rows + j;
            load(&to[0], s, j, g);
            load(&to[quarter], s, j + quarter, g);
            load(&to[2 * quarter], s, j + 2 * quarter, g);
            load(&to[3 * quarter], s, j + 3 * quarter, g);
            radix4_first(&to[0], &to[quarter], &to[2 * quarter], &to[3 * quarter], roots);
        }
    }
}

/* All but the last two levels of one block of `size` rows, depth first. */
static void descend(vec *x, size_t size, size_t block, const factor *roots) {
    if (size <= 4) return;
    size_t part = size / 4;
    if (block == 0)
        for (size_t j = 0; j < part; j++)
            radix4_any(&x[j], &x[j + part], &x[j + 2 * part], &x[j + 3 * part], roots, 0);
    else
        for (size_t j = 0; j < part; j++)
            radix4(&x[j], &x[j + part], &x[j + 2 * part], &x[j + 3 * part], roots, block);
    if (part > 4)
        for (size_t m = 0; m < 4; m++) descend(x + m * part, part, 4 * block + m, roots);
}

static void transform_unit(vec *buffer, unsigned log_rows, const factor *roots) {
    size_t rows = (size_t)1 << log_rows, blocks = log_rows % 2 ? 2 : 4, size = rows / blocks;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t block = 0; block < blocks; block++)
            descend(buffer + g * rows + block * size, size, block, roots);
}

/* The successor of `block` when counting with the bits reversed, `top` being the lowest one's place. */
INLINE size_t next_reversed(size_t block, size_t top) {
    while (block & top) {
        block ^= top;
        top >>= 1;
    }
    return block | top;
}

/* Row of output m of the butterfly whose block has the reversed number j. */
INLINE size_t output_row(size_t j, size_t rows, unsigned m) {
    static const unsigned place[4] = {0, 2, 1, 3};
    return j + place[m] * (rows / 4);
}

#define FOR_OUTPUTS(buffer, rows, roots)                                                                     \
    for (size_t j = 0, block = 0; j < (rows) / 4; j++, block = next_reversed(block, (rows) / 8))             \
        for (size_t g = 0; g < GROUPS; g++)

INLINE vec *last_butterfly(vec *buffer, size_t rows, size_t block, size_t g, const factor *roots) {
    vec *y = buffer + g * rows + 4 * block;
    radix4_any(&y[0], &y[1], &y[2], &y[3], roots, block);
    return y;
}

static void outer(const void *setup_memory, fr *values, size_t begin, size_t end, void *scratch) {
    const setup *s = setup_memory;
    size_t a = s->a, units = a / NTT_UNIT, row_stride = s->b * a;
    vec *buffer = scratch;
    factor *twiddle = (factor *)(void *)((char *)scratch + align_up(a * GROUPS * sizeof(vec)));
    fr ratio, shift;
    fr_pow_u64(&ratio, &s->outer_ratio, begin / units);
    fr_pow_u64(&shift, &s->outer_shift, begin / units);
    for (size_t u = begin; u < end; u++) {
        if (u == begin || u % units == 0) {
            factor_powers(twiddle, a, &shift, &ratio);
            fr_mul(&ratio, &ratio, &s->outer_ratio);
            fr_mul(&shift, &shift, &s->outer_shift);
        }
        fr *at = values + u * NTT_UNIT;
        if (s->shift_before)
            load_unit(buffer, s->log_a, &(source){at, row_stride, 1, s->before}, s->roots);
        else
            load_unit(buffer, s->log_a, &(source){at, row_stride, 1, NULL}, s->roots);
        transform_unit(buffer, s->log_a, s->roots);
        FOR_OUTPUTS(buffer, a, s->roots) {
            const vec *y = last_butterfly(buffer, a, block, g, s->roots);
            for (unsigned m = 0; m < 4; m++) {
                size_t row = output_row(j, a, m);
                vec_store_scaled(at + row * row_stride + g * LANES, &y[m], &twiddle[row]);
            }
        }
    }
}

static void middle(const void *setup_memory, fr *values, size_t begin, size_t end, void *scratch) {
    const setup *s = setup_memory;
    size_t a = s->a, b = s->b, units = a / NTT_UNIT;
    vec *buffer = scratch;
    vec column[GROUPS];
    for (size_t u = begin; u < end; u++) {
        size_t k1 = u / units, c = u % units;
        if (u == begin || c == 0) {
            memcpy(column, s->column + k1 * GROUPS, sizeof column);
            for (size_t i = 0; i < c; i++)
                for (size_t g = 0; g < GROUPS; g++) vec_scale(&column[g], &column[g], &s->step[k1]);
        }
        vec twiddle[GROUPS][4];
        for (size_t g = 0; g < GROUPS; g++) {
            for (size_t m = 0; m < 4; m++) vec_mul(&twiddle[g][m], &column[g], &s->start[c * GROUPS + g][m]);
            vec_scale(&column[g], &column[g], &s->step[k1]);
        }
        fr *at = values + k1 * b * a + c * NTT_UNIT;
        load_unit(buffer, s->log_b, &(source){at, a, 1, NULL}, s->roots);
        transform_unit(buffer, s->log_b, s->roots);
        FOR_OUTPUTS(buffer, b, s->roots) {
            const vec *y = last_butterfly(buffer, b, block, g, s->roots);
            for (unsigned m = 0; m < 4; m++) {
                size_t row = output_row(j, b, m);
                vec_store_multiplied(at + row * a + g * LANES, &y[m], &twiddle[g][m]);
                vec_scale_lanes(&twiddle[g][m], &twiddle[g][m], &s->ratio[c * GROUPS + g]);
            }
        }
    }
}

static void inner(const void *setup_memory, fr *values, size_t begin, size_t end, void *scratch) {
    const setup *s = setup_memory;
    size_t a = s->a, row_stride = s->b * a;
    vec *buffer = scratch;
    fr *tile = (fr *)(void *)((char *)scratch + align_up(a * GROUPS * sizeof(vec)));
    for (size_t k2 = begin; k2 < end; k2++) {
        fr *at = values + k2 * a;
        for (size_t k1 = 0; k1 < a; k1 += NTT_UNIT) {
            load_unit(buffer, s->log_a, &(source){at + k1 * row_stride, 1, row_stride, NULL}, s->roots);
            transform_unit(buffer, s->log_a, s->roots);
            FOR_OUTPUTS(buffer, a, s->roots) {
                const vec *y = last_butterfly(buffer, a, block, g, s->roots);
                for (unsigned m = 0; m < 4; m++) {
                    size_t row = output_row(j, a, m);
                    fr *to = tile + row * a + k1 + g * LANES;
                    if (s->shift_after)
                        vec_store_scaled_canonical(to, &y[m], &s->after[row]);
                    else
                        vec_store_canonical(to, &y[m]);
                }
            }
        }
        for (size_t k3 = 0; k3 < a; k3++) memcpy(at + k3 * row_stride, tile + k3 * a, a * sizeof(fr));
    }
}

static size_t scratch_bytes(unsigned log_a, unsigned log_b) {
    size_t a = (size_t)1 << log_a, b = (size_t)1 << log_b, rows = a > b ? a : b;
    size_t unit = align_up(rows * GROUPS * sizeof(vec)), outer_unit = align_up(a * GROUPS * sizeof(vec));
    size_t with_twiddle = outer_unit + align_up(a * sizeof(factor)),
           with_tile = outer_unit + a * a * sizeof(fr);
    size_t most = unit > with_twiddle ? unit : with_twiddle;
    return most > with_tile ? most : with_tile;
}

static size_t roots_bytes(unsigned log_size) {
    return align_up(((size_t)1 << (log_size - 1)) * sizeof(factor));
}

static void roots_fill(void *roots, unsigned log_size, const fr *root) {
    factor *out = roots;
    size_t half = (size_t)1 << (log_size - 1);
    fr power = FR_ONE;
    for (size_t i = 0, reversed = 0; i < half; i++, reversed = next_reversed(reversed, half / 2)) {
        factor_set(&out[reversed], &power);
        fr_mul(&power, &power, root);
    }
}
