/*
 * The transform of one unit, NTT_UNIT columns, in a buffer: written over an abstract vector of LANES
 * elements. A variant's .c file defines that vector and its operations (see ntt_ifma.c) and then includes
 * passes.h.
 *
 * A unit is copied from memory into a contiguous buffer while its first radix-4 (or radix-2) level is done,
 * transformed there depth first, and taken from the butterflies of the last radix-4 level, in an order that
 * undoes the bit reversal. Butterflies multiply first (decimation in time with natural input), so that every
 * block of a level has one root and values grow by only 2r a level.
 *
 * Root b of the table, for 2^m <= b < 2^(m+1), is exp(2 pi i e) with e the m+1 bits of b reversed, over
 * 2^(m+2); root 0 is one. Block b of any level multiplies by root b, and its halves are the blocks 2b and
 * 2b + 1 of the next level.
 */
#define GROUPS (NTT_UNIT / LANES) /* a buffer holds GROUPS columns of vectors, one after the other */

static size_t roots_bytes(unsigned log_size) {
    return ((size_t)1 << (log_size - 1)) * sizeof(factor);
}

/* The successor of `block` when counting with the bits reversed, `top` being the lowest one's place. */
INLINE size_t next_reversed(size_t block, size_t top) {
    while (block & top) {
        block ^= top;
        top >>= 1;
    }
    return block | top;
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

/* Where the rows of a unit come from. */
typedef struct source {
    const vec *vectors; /* [group][row], each below 2r; or NULL, and then from memory: */
    const fr *memory;   /* column c of row j is memory[j * row_stride + c * lane_stride] */
    size_t row_stride, lane_stride;
    const factor *before; /* what each row is multiplied by, or NULL */
} source;

INLINE void load(vec *out, const source *s, size_t rows, size_t row, size_t group) {
    if (s->vectors) {
        *out = s->vectors[group * rows + row];
        return;
    }
    const fr *p = s->memory + row * s->row_stride + group * LANES * s->lane_stride;
    if (s->lane_stride == 1)
        vec_load(out, p);
    else
        vec_gather(out, p, s->lane_stride);
    if (s->before) vec_scale(out, out, &s->before[row]);
}

/* Rows of adjacent columns are far apart in memory: ask for them some butterflies ahead. */
INLINE void prefetch(const source *s, size_t row) {
    if (s->vectors || s->lane_stride != 1) return;
    const char *p = (const char *)(s->memory + row * s->row_stride);
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
                load(&x, s, rows, j, g);
                load(&y, s, rows, j + half, g);
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
            load(&to[0], s, rows, j, g);
            load(&to[quarter], s, rows, j + quarter, g);
            load(&to[2 * quarter], s, rows, j + 2 * quarter, g);
            load(&to[3 * quarter], s, rows, j + 3 * quarter, g);
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

/* Everything but the last two levels. */
INLINE void transform_unit(vec *buffer, unsigned log_rows, const source *s, const factor *roots) {
    size_t rows = (size_t)1 << log_rows, blocks = log_rows % 2 ? 2 : 4, size = rows / blocks;
    load_unit(buffer, log_rows, s, roots);
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t block = 0; block < blocks; block++)
            descend(buffer + g * rows + block * size, size, block, roots);
}

/* Visit the butterflies of the last two levels so that `place` counts up; output m of last_butterfly(block)
 * is row output_row(place, m) of the result. */
#define FOR_LAST_BUTTERFLIES(rows)                                                                           \
    for (size_t place = 0, block = 0; place < (rows) / 4; place++, block = next_reversed(block, (rows) / 8)) \
        for (size_t g = 0; g < GROUPS; g++)

INLINE vec *last_butterfly(vec *buffer, size_t rows, size_t block, size_t g, const factor *roots) {
    vec *y = buffer + g * rows + 4 * block;
    radix4_any(&y[0], &y[1], &y[2], &y[3], roots, block);
    return y;
}

INLINE size_t output_row(size_t place, size_t rows, unsigned m) {
    static const unsigned char part[4] = {0, 2, 1, 3};
    return place + part[m] * (rows / 4);
}
