/*
 * The body of kernel_g1.c and kernel_g2.c: the kernel over single field elements, one point after the other.
 *
 * The including file defines AFFINE, COORD, COORD_ONE, COORD_ZERO, SUM (the member of msm_sum),
 * ENCODED_BYTES, ADD_NS, SUM_NS, KERNEL (the name of the table), P(name) and F(name).
 *
 * A batch is inverted by Montgomery's trick: prefix products of all denominators, one inversion, then
 * backwards. Equal operands are doubled in the same batch (denominator 2y instead of the difference of the
 * x), opposite ones have denominator zero and are left out of the product.
 */

/* Sizes kept to multiples of 64 bytes, so that a point touches as few cache lines as it can. */
typedef struct point {
    _Alignas(64) AFFINE at;
} point;

static const AFFINE *second_point(const msm_pair *pair) {
    return (const AFFINE *)(pair->b & ~MSM_NEGATE);
}

static void second_y(COORD *out, const msm_pair *pair) {
    *out = second_point(pair)->y;
    if (pair->b & MSM_NEGATE) F(neg)(out, out);
}

/* What to divide by; zero when the sum is the identity. */
static void denominator(COORD *out, const msm_pair *pair) {
    const AFFINE *a = pair->a, *b = second_point(pair);
    F(sub)(out, &b->x, &a->x);
    if (!F(is_zero)(out)) return;
    COORD y;
    second_y(&y, pair);
    F(add)(&y, &y, &a->y);
    *out = y; /* zero, or 2y */
}

static void slope(COORD *out, const msm_pair *pair, const COORD *inverse) {
    const AFFINE *a = pair->a, *b = second_point(pair);
    COORD t;
    if (F(eq)(&a->x, &b->x)) {
        F(sqr)(&t, &a->x);
        F(dbl)(out, &t);
        F(add)(&t, &t, out);
    } else {
        second_y(&t, pair);
        F(sub)(&t, &t, &a->y);
    }
    F(mul)(out, &t, inverse);
}

/* The second point of a pair is read from memory in order: the processor foresees that. */
static void fetch(const msm_pair *pair) {
    msm_fetch(pair->a);
    msm_fetch((const char *)pair->a + sizeof(AFFINE) / 2);
}

static bool add(const msm_pair *pairs, size_t n, void *scratch, const msm_pair *next, size_t n_next) {
    COORD *d = scratch, *prefix = d + MSM_SCALAR_BATCH, product = COORD_ONE;
    bool vanished = false;
    for (size_t i = 0; i < n; i++) {
        denominator(&d[i], &pairs[i]);
        prefix[i] = product;
        if (F(is_zero)(&d[i])) {
            vanished = true;
        } else {
            F(mul)(&product, &product, &d[i]);
        }
    }
    F(inv)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (i < n_next) fetch(&next[i]);
        AFFINE *out = pairs[i].out;
        if (F(is_zero)(&d[i])) {
            out->x = COORD_ZERO;
            out->y = COORD_ZERO;
            continue;
        }
        const AFFINE *a = pairs[i].a, *b = second_point(&pairs[i]);
        COORD inverse, lambda, x, y;
        F(mul)(&inverse, &product, &prefix[i]);
        F(mul)(&product, &product, &d[i]);
        slope(&lambda, &pairs[i], &inverse);
        F(sqr)(&x, &lambda);
        F(sub)(&x, &x, &a->x);
        F(sub)(&x, &x, &b->x);
        F(sub)(&y, &a->x, &x);
        F(mul)(&y, &y, &lambda);
        F(sub)(&out->y, &y, &a->y);
        out->x = x;
    }
    return vanished;
}

static void copy(void *out, const void *from, bool negate) {
    AFFINE *to = out;
    memcpy(to, from, sizeof *to);
    if (negate) F(neg)(&to->y, &to->y);
}

static void load(void *out, const void *const *affine, size_t n) {
    point *to = out;
    for (size_t i = 0; i < n; i++) memcpy(&to[i].at, affine[i], sizeof to[i].at);
}

static size_t decode(void *out, const uint8_t *const *encoded, size_t n) {
    point *to = out;
    for (size_t i = 0; i < n; i++)
        if (P(decode_unchecked)(&to[i].at, encoded[i]) != POINT_OK || P(affine_is_identity)(&to[i].at))
            return i;
    return n;
}

static void store(void *affine, const void *from) {
    memcpy(affine, from, sizeof(AFFINE));
}

static void sum_add_point(msm_sum *sum, const void *from) {
    P(add_mixed)(&sum->SUM, &sum->SUM, from);
}
static void sum_finish(msm_sum *sum, bool decoded) {
    (void)sum;
    (void)decoded;
}

const msm_kernel KERNEL = {
    .point_bytes = sizeof(point),
    .affine_bytes = sizeof(AFFINE),
    .encoded_bytes = ENCODED_BYTES,
    .batch = MSM_SCALAR_BATCH,
    .scratch_bytes = 2 * MSM_SCALAR_BATCH * sizeof(COORD),
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
