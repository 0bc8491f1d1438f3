/*
 * The body of kernel_g1_ifma.c and kernel_g2_ifma.c: eight additions at a time.
 *
 * The including file defines AFFINE, COORD (the single coordinate field), COMPONENTS (of a coordinate, over
 * Fp), COORD_ONE, SUM, ENCODED_BYTES, BATCH, ADD_NS, SUM_NS, KERNEL, P(name), F(name), MUL and SQR (over
 * ELEMENT, a struct with COMPONENTS fp8 in c) and SCALAR_KERNEL.
 *
 * Form of a point: every component of x and y has eight limbs; x is tight as in field/fp8.h, y at most 2p
 * with limbs below 2^55. Read in Montgomery form with radix 2^416 that is a point (u^2 x, u^3 y) of the
 * isomorphic curve Y^2 = X^3 + u^6 b. Additions do not depend on b, so u is whatever makes a base's x a
 * kernel's without a product: a decoded x is a plain integer (u = 2^-208), one in memory is multiplied by
 * 2^384 (u = 2^-16). Then y is to be divided by 2^208 or 2^16, which is Montgomery's reduction alone. u is
 * undone at the end.
 */

#define ROWS (BATCH / 8) /* a row is eight pairs, one a lane */

typedef struct point {
    _Alignas(64) uint64_t x[COMPONENTS][8], y[COMPONENTS][8];
} point;

typedef struct scratch {
    ELEMENT prefix[ROWS + 1];     /* products of the differences of all rows before */
    ELEMENT difference[ROWS + 1]; /* x_b - x_a */
    ELEMENT x[ROWS + 1];          /* x_a */
    msm_pair sorted[BATCH];       /* pairs with different x from the front, the others from the back */
    COORD single[2 * MSM_SCALAR_BATCH];
} scratch;

#define NOINLINE __attribute__((noinline))
#define AHEAD    24u /* how many bases before its turn one is fetched */

FP8_INLINE void multiply_by(ELEMENT *out, const ELEMENT *a, const factor *f) {
    ELEMENT t;
    for (size_t c = 0; c < COMPONENTS; c++) fp8v_store(&t.c[c], fp8v_carry(PRODUCT(a, *f, c)));
    *out = t;
}
FP8_INLINE void multiply(ELEMENT *out, const ELEMENT *a, const ELEMENT *b) {
    FACTOR(f, b);
    multiply_by(out, a, &f);
}

static const uint64_t *second_point(const msm_pair *pair) {
    return (const uint64_t *)(pair->b & ~MSM_NEGATE);
}

/* Component c of the coordinate that starts at the given limb, of eight points. */
FP8_INLINE fp8v gather_first(const msm_pair *row, size_t limb) {
    fp8v r;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) r.l[k] = _mm512_load_si512((const uint64_t *)row[k].a + limb);
    return fp8v_transpose(r);
}
FP8_INLINE fp8v gather_second(const msm_pair *row, size_t limb) {
    fp8v r;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) r.l[k] = _mm512_load_si512(second_point(&row[k]) + limb);
    return fp8v_transpose(r);
}
FP8_INLINE void scatter(const msm_pair *row, size_t limb, fp8v value) {
    fp8v r = fp8v_transpose(value);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) _mm512_store_si512((uint64_t *)row[k].out + limb, r.l[k]);
}

FP8_INLINE __mmask8 negated(const msm_pair *row) {
    unsigned mask = 0;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) mask |= (unsigned)(row[k].b & MSM_NEGATE) << k;
    return (__mmask8)mask;
}

/* The rest of an addition is written beside products of other rows: in pieces of some 40 instructions,
 * between the steps of a product. */

/* x_a, and x_b - x_a + 2p. */
#define GATHER_X(step, c)                                                                                    \
    step(0);                                                                                                 \
    fp8v a = gather_first(next, 8 * (c));                                                                    \
    step(1);                                                                                                 \
    fp8v_store(&s->x[r + 1].c[c], a);                                                                        \
    step(2);                                                                                                 \
    fp8v d = gather_second(next, 8 * (c));                                                                   \
    step(3);                                                                                                 \
    d = fp8v_add_p(fp8v_sub(d, fp8v_load(&s->x[r + 1].c[c])), 2);                                            \
    step(4);                                                                                                 \
    fp8v_store(&s->difference[r + 1].c[c], fp8v_carry(d));                                                   \
    step(5);                                                                                                 \
    step(6);                                                                                                 \
    step(7);

/* prefix[r + 1] = prefix[r] * difference[r], beside the difference of the next row. */
static NOINLINE void forward(scratch *s, size_t r, const msm_pair *next) {
    FACTOR(f, &s->prefix[r]);
    for (size_t c = 0; c < COMPONENTS; c++) {
        PRODUCT_BEGIN(p, &s->difference[r], f, c);
#define STEP(i) PRODUCT_STEP(p, i)
        GATHER_X(STEP, c)
        fp8v_store(&s->prefix[r + 1].c[c], fp8v_carry(p.t));
    }
}

static void first_row(scratch *s, const msm_pair *row) {
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp8v a = gather_first(row, 8 * c), b = gather_second(row, 8 * c);
        fp8v_store(&s->x[0].c[c], a);
        fp8v_store(&s->difference[0].c[c], fp8v_carry(fp8v_add_p(fp8v_sub(b, a), 2)));
    }
}

/* out = a * b, beside the x of an earlier row, x = lambda^2 - x_a - x_b, and step = x_a - x. */
static NOINLINE void multiply_finish_x(ELEMENT *out, const ELEMENT *a, const ELEMENT *b, ELEMENT *step,
                                       const ELEMENT *square, const ELEMENT *x, const ELEMENT *difference,
                                       const msm_pair *row) {
    FACTOR(f, b);
    for (size_t c = 0; c < COMPONENTS; c++) {
        PRODUCT_BEGIN(p, a, f, c);
        STEP(0);
        fp8v xa = fp8v_load(&x->c[c]), t = fp8v_load(&square->c[c]);
        t = fp8v_sub(fp8v_sub(t, fp8v_add(xa, xa)), fp8v_load(&difference->c[c]));
        t = fp8v_add_p(t, 6);
        STEP(1);
        t = fp8v_subtract_quotient(t);
        STEP(2);
        t = fp8v_carry(t);
        STEP(3);
        fp8v_store(&step->c[c], fp8v_carry(fp8v_add_p(fp8v_sub(fp8v_load(&x->c[c]), t), 2)));
        STEP(4);
        scatter(row, 8 * c, t);
        STEP(5);
        STEP(6);
        STEP(7);
        fp8v_store(&out->c[c], fp8v_carry(p.t));
    }
}

/* out = a * b, beside the y of an earlier row, y = lambda step - y_a. */
static NOINLINE void multiply_finish_y(ELEMENT *out, const ELEMENT *a, const ELEMENT *b,
                                       const ELEMENT *product, const ELEMENT *y, const msm_pair *row) {
    FACTOR(f, b);
    for (size_t c = 0; c < COMPONENTS; c++) {
        PRODUCT_BEGIN(p, a, f, c);
        STEP(0);
        fp8v t = fp8v_add_p(fp8v_sub(fp8v_load(&product->c[c]), fp8v_load(&y->c[c])), 3);
        STEP(1);
        t = fp8v_subtract_quotient(t);
        STEP(2);
        t = fp8v_carry(t);
        STEP(3);
        scatter(row, 8 * (COMPONENTS + c), t);
        STEP(4);
        STEP(5);
        STEP(6);
        STEP(7);
        fp8v_store(&out->c[c], fp8v_carry(p.t));
    }
}

/* out = a * b, beside y_a and +-y_b - y_a of another row. */
static NOINLINE void multiply_gather_y(ELEMENT *out, const ELEMENT *a, const ELEMENT *b, ELEMENT *y,
                                       ELEMENT *difference, const msm_pair *row) {
    FACTOR(f, b);
    __mmask8 minus = negated(row);
    for (size_t c = 0; c < COMPONENTS; c++) {
        PRODUCT_BEGIN(p, a, f, c);
        STEP(0);
        fp8v t = gather_first(row, 8 * (COMPONENTS + c));
        STEP(1);
        fp8v_store(&y->c[c], t);
        STEP(2);
        t = gather_second(row, 8 * (COMPONENTS + c));
        STEP(3);
        fp8v zero;
#pragma GCC unroll 8
        for (int i = 0; i < FP8_LIMBS; i++) zero.l[i] = _mm512_setzero_si512();
        fp8v two_p = fp8v_add_p(zero, 2);
#pragma GCC unroll 8
        for (int i = 0; i < FP8_LIMBS; i++) t.l[i] = _mm512_mask_sub_epi64(t.l[i], minus, two_p.l[i], t.l[i]);
        t = fp8v_add_p(fp8v_sub(t, fp8v_load(&y->c[c])), 2);
        STEP(4);
        fp8v_store(&difference->c[c], fp8v_carry(t));
        STEP(5);
        STEP(6);
        STEP(7);
        fp8v_store(&out->c[c], fp8v_carry(p.t));
    }
}

static void gather_y(ELEMENT *y, ELEMENT *difference, const msm_pair *row) {
    __mmask8 minus = negated(row);
    fp8v zero;
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) zero.l[i] = _mm512_setzero_si512();
    fp8v two_p = fp8v_add_p(zero, 2);
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp8v a = gather_first(row, 8 * (COMPONENTS + c)), b = gather_second(row, 8 * (COMPONENTS + c));
#pragma GCC unroll 8
        for (int i = 0; i < FP8_LIMBS; i++) b.l[i] = _mm512_mask_sub_epi64(b.l[i], minus, two_p.l[i], b.l[i]);
        fp8v_store(&y->c[c], a);
        fp8v_store(&difference->c[c], fp8v_carry(fp8v_add_p(fp8v_sub(b, a), 2)));
    }
}

/* Products whose limbs stay uncarried. */
static NOINLINE void multiply_loose(ELEMENT *out, const ELEMENT *a, const ELEMENT *b) {
    FACTOR(f, b);
    for (size_t c = 0; c < COMPONENTS; c++) fp8v_store(&out->c[c], PRODUCT(a, f, c));
}
static NOINLINE void square_loose(ELEMENT *out, const ELEMENT *a) {
    SQUARE_OPERANDS(operands, a);
    for (size_t c = 0; c < COMPONENTS; c++) fp8v_store(&out->c[c], SQUARE(operands, c));
}

/* Fetch x (0) or y (1) of a row of pairs. */
static inline void fetch_first(const msm_pair *row, size_t coordinate) {
    if (!row) return;
    for (int k = 0; k < 8; k++)
        for (size_t c = 0; c < COMPONENTS; c++)
            msm_fetch((const uint64_t *)row[k].a + 8 * (COMPONENTS * coordinate + c));
}
static inline void fetch_second(const msm_pair *row, size_t coordinate) {
    if (!row) return;
    for (int k = 0; k < 8; k++)
        for (size_t c = 0; c < COMPONENTS; c++)
            msm_fetch(second_point(&row[k]) + 8 * (COMPONENTS * coordinate + c));
}

/* Second pass, over the rows from the last to the first; *inverse is 1 / prefix[n_rows]. */
static void backward(scratch *s, size_t n_rows, const msm_pair *const *rows, const msm_pair *idle,
                     const ELEMENT *inverse, const msm_pair *next, size_t n_next) {
    ELEMENT acc[2], lambda[2], y[2], inv, square, product, step, difference;
    acc[0] = *inverse;
    memset(&square, 0, sizeof square);
    memset(&y, 0, sizeof y);
    const msm_pair *previous = idle;
    size_t before = 0, now = 0;
    gather_y(&y[0], &difference, rows[n_rows - 1]);
    for (size_t r = n_rows; r-- > 0; now ^= 1) {
        const msm_pair *fetched = n_rows - 1 - r < n_next ? next + 8 * (n_rows - 1 - r) : NULL;
        fetch_first(fetched, 0);
        multiply_finish_x(&inv, &s->prefix[r], &acc[now], &step, &square, &s->x[before],
                          &s->difference[before], previous);
        fetch_second(fetched, 0);
        multiply_loose(&product, &step, &lambda[now ^ 1]);
        fetch_first(fetched, 1);
        multiply_finish_y(&lambda[now], &difference, &inv, &product, &y[now ^ 1], previous);
        fetch_second(fetched, 1);
        multiply_gather_y(&acc[now ^ 1], &s->difference[r], &acc[now], &y[now ^ 1], &difference,
                          r > 0 ? rows[r - 1] : idle);
        square_loose(&square, &lambda[now]);
        previous = rows[r];
        before = r;
    }
    multiply_finish_x(&inv, &s->prefix[0], &acc[now], &step, &square, &s->x[before], &s->difference[before],
                      previous);
    multiply_loose(&product, &step, &lambda[now ^ 1]);
    multiply_finish_y(&lambda[now], &difference, &inv, &product, &y[now ^ 1], previous);
}

static void get(COORD *out, const ELEMENT *a, size_t k) {
    fp *components = (fp *)out;
    for (size_t c = 0; c < COMPONENTS; c++) fp8_to_fp(&components[c], &a->c[c], k);
}
static void set_all(ELEMENT *out, const COORD *value) {
    const fp *components = (const fp *)value;
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp8_from_fp(&out->c[c], 0, &components[c]);
        for (int i = 0; i < FP8_LIMBS; i++)
            _mm512_store_si512(out->c[c].l[i], _mm512_set1_epi64((long long)out->c[c].l[i][0]));
    }
}

/* Lane k of out is lane k + by of a. */
static void rotate(ELEMENT *out, const ELEMENT *a, int by) {
    const __m512i index =
        _mm512_and_si512(_mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(by)),
                         _mm512_set1_epi64(7));
    for (size_t c = 0; c < COMPONENTS; c++)
#pragma GCC unroll 8
        for (int i = 0; i < FP8_LIMBS; i++)
            _mm512_store_si512(out->c[c].l[i],
                               _mm512_permutexvar_epi64(index, _mm512_load_si512(a->c[c].l[i])));
}

/* out = 1/a in every lane, by one inversion. False when a lane is zero. */
static bool invert(ELEMENT *out, const ELEMENT *a) {
    ELEMENT product[4], t;
    product[0] = *a;
#pragma GCC unroll 8
    for (int i = 0; i < 3; i++) { /* lanes that differ by 4, 2, 1 */
        rotate(&t, &product[i], 4 >> i);
        MUL(&product[i + 1], &product[i], &t);
    }
    COORD total;
    get(&total, &product[3], 0);
    if (F(is_zero)(&total)) return false;
    F(inv)(&total, &total);
    set_all(out, &total);
#pragma GCC unroll 8
    for (int i = 3; i-- > 0;) {
        rotate(&t, &product[i], 4 >> i);
        MUL(out, &t, out);
    }
    return true;
}

/* Between a point in kernel form and single elements on the same curve: radix 2^416 and 2^384. The identity
 * is zero in both. */
static void unpack(AFFINE *out, const point *from) {
    static const fp two_352 = {{0, 0, 0, 0, 0, (uint64_t)1 << 32}};
    fp *x = (fp *)&out->x, *y = (fp *)&out->y;
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp8_join(x[c].l, from->x[c]);
        fp8_join(y[c].l, from->y[c]);
        fp_mul(&x[c], &x[c], &two_352);
        fp_mul(&y[c], &y[c], &two_352);
    }
}

static void pack(point *out, const AFFINE *from) {
    /* 2^416 mod p */
    static const fp two_416 = {{0x44f6480ea8e9b9afu, 0xa96f7d65766c8fe4u, 0xe82efd4228b540feu,
                                0x6723e5f0ade53b2eu, 0x25ff6eb6fdd4230au, 0x14c8ee06ef23c24au}};
    const fp *x = (const fp *)&from->x, *y = (const fp *)&from->y;
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp t;
        fp_mul(&t, &x[c], &two_416);
        fp8_split(out->x[c], t.l);
        fp_mul(&t, &y[c], &two_416);
        fp8_split(out->y[c], t.l);
    }
}

/* Of a point that came from load: x is as in memory. */
static void store(void *affine, const void *from) {
    /* 2^400 mod p */
    static const fp two_400 = {{0x56350003480e6299u, 0x8670deb2699eb128u, 0x0983e84ef6697c98u,
                                0xe3e8a053a4e6fe97u, 0x385c20d323ecf271u, 0x156da47f12866eb6u}};
    const point *kernel_point = from;
    AFFINE *out = affine;
    fp *x = (fp *)&out->x, *y = (fp *)&out->y;
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp8_join(x[c].l, kernel_point->x[c]);
        fp8_join(y[c].l, kernel_point->y[c]);
        fp_mul(&y[c], &y[c], &two_400);
    }
}

static void copy(void *out, const void *from, bool negate) {
    point *to = out;
    memcpy(to, from, sizeof *to);
    if (!negate) return;
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    for (size_t c = 0; c < COMPONENTS; c++) {
        int64_t carry = 0;
#pragma GCC unroll 8
        for (int i = 0; i < FP8_LIMBS; i++) { /* 2p - y */
            carry += (int64_t)(2 * p[i]) - (int64_t)to->y[c][i];
            to->y[c][i] = (uint64_t)carry & FP8_MASK;
            carry >>= 52;
        }
    }
}

/* Additions whose operands have the same x, as single elements. True when a sum is the identity. */
static bool add_special(const msm_pair *pairs, size_t n, scratch *s) {
    bool vanished = false;
    for (size_t i = 0, some; i < n; i += some) {
        struct {
            _Alignas(64) AFFINE at;
        } a[16], b[16];
        msm_pair single[16];
        some = n - i < 16 ? n - i : 16;
        for (size_t j = 0; j < some; j++) {
            unpack(&a[j].at, pairs[i + j].a);
            unpack(&b[j].at, (const point *)second_point(&pairs[i + j]));
            single[j] = (msm_pair){&a[j], &a[j], (uintptr_t)&b[j] | (pairs[i + j].b & MSM_NEGATE)};
        }
        vanished |= SCALAR_KERNEL.add(single, some, s->single, NULL, 0);
        for (size_t j = 0; j < some; j++) pack(pairs[i + j].out, &a[j].at);
    }
    return vanished;
}

/* The last row is filled up with pairs that disturb nothing. */
typedef struct filler {
    point a, b, out;
    msm_pair row[8];
} filler;

static void fill_row(filler *f, const msm_pair *pairs, size_t n) {
    memset(&f->a, 0, sizeof f->a);
    memset(&f->b, 0, sizeof f->b);
    f->b.x[0][0] = 1;
    for (size_t i = 0; i < 8; i++)
        f->row[i] = i < n ? pairs[i] : (msm_pair){&f->out, &f->a, (uintptr_t)&f->b};
}

static bool add(const msm_pair *pairs, size_t n, void *scratch_memory, const msm_pair *next, size_t n_next);

/* Some operands have the same x: the batch without them, then they. */
static NOINLINE bool add_sorted(const msm_pair *pairs, size_t n, scratch *s) {
    size_t kept = 0, special = 0;
    __mmask8 same = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % 8 == 0) {
            same = 0xff;
            for (size_t c = 0; c < COMPONENTS; c++)
                same &= fp8v_zero(fp8v_tighten(fp8v_load(&s->difference[i / 8].c[c])));
        }
        if (same >> (i % 8) & 1) {
            s->sorted[BATCH - ++special] = pairs[i];
        } else {
            s->sorted[kept++] = pairs[i];
        }
    }
    bool vanished = kept > 0 && add(s->sorted, kept, s, NULL, 0);
    return add_special(s->sorted + BATCH - special, special, s) || vanished;
}

static bool add(const msm_pair *pairs, size_t n, void *scratch_memory, const msm_pair *next, size_t n_next) {
    scratch *s = scratch_memory;
    filler last, idle;
    fill_row(&idle, NULL, 0);
    const msm_pair *rows[ROWS];
    size_t n_rows = (n + 7) / 8;
    for (size_t r = 0; r < n_rows; r++) rows[r] = pairs + 8 * r;
    if (n % 8 != 0) {
        fill_row(&last, pairs + n - n % 8, n % 8);
        rows[n_rows - 1] = last.row;
    }
    ELEMENT inverse;
    set_all(&s->prefix[0], &COORD_ONE);
    first_row(s, rows[0]);
    for (size_t r = 0; r < n_rows; r++) forward(s, r, r + 1 < n_rows ? rows[r + 1] : idle.row);
    if (!invert(&inverse, &s->prefix[n_rows])) return add_sorted(pairs, n, s);
    backward(s, n_rows, rows, idle.row, &inverse, next, n_next / 8);
    return false;
}

/* Byte numbers that take limb i from byte 6.5 i on; byte 63 is zero. For odd i four bits are then too many.
 * The last table is for the value times 2^36: limb i from byte 6.5 i - 4.5 on, four bits too many for even i.
 */
static const uint8_t little_endian[64] = {0,  1,  2,  3,  4,  5,  6,  7,  6,  7,  8,  9,  10, 11, 12, 13,
                                          13, 14, 15, 16, 17, 18, 19, 20, 19, 20, 21, 22, 23, 24, 25, 26,
                                          26, 27, 28, 29, 30, 31, 32, 33, 32, 33, 34, 35, 36, 37, 38, 39,
                                          39, 40, 41, 42, 43, 44, 45, 46, 45, 46, 47, 63, 63, 63, 63, 63};
static const uint8_t big_endian[64] = {47, 46, 45, 44, 43, 42, 41, 40, 41, 40, 39, 38, 37, 36, 35, 34,
                                       34, 33, 32, 31, 30, 29, 28, 27, 28, 27, 26, 25, 24, 23, 22, 21,
                                       21, 20, 19, 18, 17, 16, 15, 14, 15, 14, 13, 12, 11, 10, 9,  8,
                                       8,  7,  6,  5,  4,  3,  2,  1,  2,  1,  0,  63, 63, 63, 63, 63};
static const uint8_t times_2_36[64] = {63, 63, 63, 63, 63, 0,  1,  2,  2,  3,  4,  5,  6,  7,  8,  9,
                                       8,  9,  10, 11, 12, 13, 14, 15, 15, 16, 17, 18, 19, 20, 21, 22,
                                       21, 22, 23, 24, 25, 26, 27, 28, 28, 29, 30, 31, 32, 33, 34, 35,
                                       34, 35, 36, 37, 38, 39, 40, 41, 41, 42, 43, 44, 45, 46, 47, 63};

/* The limbs of an integer of 48 bytes. */
FP8_INLINE __m512i limbs_of(const uint8_t *from, const uint8_t order[64]) {
    const __m512i shift = _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0);
    __m512i t = _mm512_maskz_loadu_epi8(0xffffffffffff, from);
    t = _mm512_srlv_epi64(_mm512_permutexvar_epi8(_mm512_loadu_si512(order), t), shift);
    return _mm512_and_si512(t, _mm512_set1_epi64(FP8_MASK));
}

/* The same divided by 2^16 mod p, below 2p: times 2^36, and a step of Montgomery's reduction. The top limb
 * has a bit more than others then, and the result's limbs are not carried. */
FP8_INLINE __m512i limbs_over_2_16(const uint8_t *from) {
    static const uint64_t p[FP8_LIMBS] = FP8_P;
    const __m512i shift = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4), zero = _mm512_setzero_si512();
    const __m512i mask =
        _mm512_set_epi64(-1, FP8_MASK, FP8_MASK, FP8_MASK, FP8_MASK, FP8_MASK, FP8_MASK, FP8_MASK);
    __m512i t = _mm512_maskz_loadu_epi8(0xffffffffffff, from), modulus = _mm512_loadu_si512(p);
    t = _mm512_srlv_epi64(_mm512_permutexvar_epi8(_mm512_loadu_si512(times_2_36), t), shift);
    t = _mm512_and_si512(t, mask);
    __m512i q = _mm512_broadcastq_epi64(_mm512_castsi512_si128(fp8_low(zero, t, _mm512_set1_epi64(FP8_INV))));
    t = fp8_low(t, q, modulus); /* the lowest limb is 0 or 2^52 */
    __m512i carry = _mm512_maskz_srli_epi64(1, t, 52);
    return _mm512_add_epi64(carry, fp8_high(_mm512_alignr_epi64(zero, t, 1), q, modulus));
}

/* The limbs of eight integers of 48 bytes each, one integer a row. */
FP8_INLINE fp8v gather_bytes(const void *const *from, size_t at, const uint8_t order[64]) {
    fp8v r;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) r.l[k] = limbs_of((const uint8_t *)from[k] + at, order);
    return r;
}

/* Write component c of x, or of y with c + COMPONENTS, of the first n points. */
FP8_INLINE void put_rows(point *out, size_t n, size_t component, fp8v rows) {
    for (size_t k = 0; k < n; k++) _mm512_store_si512((uint64_t *)&out[k] + 8 * component, rows.l[k]);
}

static void spread(fp8 *out, const uint64_t limbs[8]) {
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) _mm512_store_si512(out->l[i], _mm512_set1_epi64((long long)limbs[i]));
}

/* Bases are taken in the order of memory, but with gaps. */
static void fetch_base(const void *base, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) msm_fetch((const char *)base + at);
    msm_fetch((const char *)base + bytes - 1);
}

/* Eight bases from n of them: the last one is repeated. */
FP8_INLINE void fill_pointers(const void *out[8], const void *const *from, size_t n) {
    for (size_t k = 0; k < 8; k++) out[k] = from[k < n ? k : n - 1];
}

static void load(void *out, const void *const *affine, size_t n) {
    point *to = out;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = affine[i];
        if (i + AHEAD < n) fetch_base(affine[i + AHEAD], sizeof(AFFINE));
        for (size_t c = 0; c < COMPONENTS; c++) {
            _mm512_store_si512(to[i].x[c], limbs_of(from + 48 * c, little_endian));
            _mm512_store_si512(to[i].y[c], limbs_over_2_16(from + 48 * (COMPONENTS + c)));
        }
    }
}

/* Decode up to eight encodings; the lanes that are points of the curve and not the identity. */
static __mmask8 decode_row(point *out, const void *const from[8], size_t n, const fp8 *b) {
    ELEMENT x, y, t;
    __mmask8 good = 0xff;
    for (size_t c = 0; c < COMPONENTS; c++) {
        /* The highest component comes first. A flag makes a coordinate exceed p. */
        size_t at = 48 * (COMPONENTS - 1 - c);
        fp8v rows = gather_bytes(from, at, big_endian), limbs = fp8v_transpose(rows);
        put_rows(out, n, c, rows);
        good &= fp8v_below_p(limbs);
        fp8v_store(&x.c[c], limbs);
        limbs = fp8v_transpose(gather_bytes(from, 48 * COMPONENTS + at, big_endian));
        good &= fp8v_below_p(limbs);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) fp8v_reduce_high(&limbs, fp8v_reduce_low(&limbs)); /* over 2^208 */
        limbs = fp8v_carry(limbs);
        fp8v_store(&y.c[c], limbs);
        put_rows(out, n, COMPONENTS + c, fp8v_transpose(limbs));
    }
    SQR(&t, &x);
    MUL(&t, &x, &t);
    SQR(&y, &y);
    for (size_t c = 0; c < COMPONENTS; c++) {
        fp8v rest = fp8v_sub(fp8v_sub(fp8v_load(&y.c[c]), fp8v_load(&t.c[c])), fp8v_load(b));
        good &= fp8v_zero(fp8v_tighten(fp8v_add_p(rest, 3)));
    }
    return good;
}

static size_t decode(void *out, const uint8_t *const *encoded, size_t n) {
    /* u^6 times 4 in Montgomery form; in both components for G2. */
    static const uint64_t four[8] = {0x3358d25cf27d8, 0x6e29ffe61f294, 0xfcdc6956e807d, 0x86a08ae1615f2,
                                     0x71b71ff934e15, 0x8b4e45c2bcc23, 0xad87c02136d3,  0x426b};
    point *to = out;
    fp8 b;
    spread(&b, four);
    for (size_t i = 0; i < n; i += 8) {
        const void *from[8];
        size_t some = n - i < 8 ? n - i : 8;
        for (size_t k = i + AHEAD; k < i + AHEAD + 8 && k < n; k++) fetch_base(encoded[k], ENCODED_BYTES);
        fill_pointers(from, (const void *const *)encoded + i, some);
        unsigned bad = (uint8_t)~decode_row(to + i, from, some, &b);
        if (bad != 0 && (size_t)__builtin_ctz(bad) < some) return i + (size_t)__builtin_ctz(bad);
    }
    return n;
}

static void sum_add_point(msm_sum *sum, const void *from) {
    AFFINE t;
    unpack(&t, from);
    P(add_mixed)(&sum->SUM, &sum->SUM, &t);
}

/* The Jacobian (X, Y, Z) stands for (X / Z^2, Y / Z^3): times u, Z takes u out of both. */
static void sum_finish(msm_sum *sum, bool decoded) {
    /* Products of single elements divide by 2^384. */
    static const fp two_176 = {{0, 0, (uint64_t)1 << 48}}, two_368 = {{0, 0, 0, 0, 0, (uint64_t)1 << 48}};
    fp *z = (fp *)&sum->SUM.z;
    for (size_t c = 0; c < COMPONENTS; c++) fp_mul(&z[c], &z[c], decoded ? &two_176 : &two_368);
}

const msm_kernel KERNEL = {
    .point_bytes = sizeof(point),
    .affine_bytes = sizeof(AFFINE),
    .encoded_bytes = ENCODED_BYTES,
    .batch = BATCH,
    .scratch_bytes = sizeof(scratch),
    .add_ns = ADD_NS,
    .sum_ns = SUM_NS,
    .load = load,
    .decode = decode,
    .store = store,
    .explain = explain,
    .add = add,
    .copy = copy,
    .sum_clear = sum_clear,
    .sum_dbl = sum_dbl,
    .sum_add = sum_add,
    .sum_add_point = sum_add_point,
    .sum_finish = sum_finish,
};
