#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "msm_sums.h"

#define DEFINE_GROUP(G, KEY, COORD, ENCODED)                                                                 \
    static void G##_make_multiples(void *affine, size_t n) {                                                 \
        G##_affine generator;                                                                                \
        G *points = malloc(n * sizeof *points);                                                              \
        COORD *scratch = malloc(n * sizeof *scratch);                                                        \
        assert_non_null(points);                                                                             \
        assert_non_null(scratch);                                                                            \
        G##_generator(&generator);                                                                           \
        G##_set_identity(&points[0]);                                                                        \
        for (size_t i = 1; i < n; i++) G##_add_mixed(&points[i], &points[i - 1], &generator);                \
        G##_to_affine_n(affine, points, n, scratch);                                                         \
        free(points);                                                                                        \
        free(scratch);                                                                                       \
    }                                                                                                        \
    static void G##_negate(void *affine) {                                                                   \
        G##_affine_neg(affine, affine);                                                                      \
    }                                                                                                        \
    static void G##_write(uint8_t *out, const void *affine) {                                                \
        G##_encode(out, affine);                                                                             \
    }                                                                                                        \
    static void G##_mul_generator(uint8_t *out, const fr *k) {                                               \
        G##_affine a;                                                                                        \
        G p;                                                                                                 \
        G##_generator(&a);                                                                                   \
        G##_from_affine(&p, &a);                                                                             \
        G##_mul_fr(&p, &p, k);                                                                               \
        G##_to_affine(&a, &p);                                                                               \
        G##_encode(out, &a);                                                                                 \
    }                                                                                                        \
    static cuzk_code G##_msm(uint8_t *out, const msm_bases *bases, const msm_scalars *scalars, size_t n,     \
                             pool *p, const cuzk_progress *progress, cuzk_error *err) {                      \
        G sums[20];                                                                                          \
        G##_affine a;                                                                                        \
        assert_true(n <= 20);                                                                                \
        if (n == 0)                                                                                          \
            TRY(msm_##G(sums, bases, scalars, p, progress, "test", err));                                    \
        else                                                                                                 \
            TRY(msm_##G##_many(sums, bases, scalars, n, p, progress, "test", err));                          \
        for (size_t i = 0; i < (n ? n : 1); i++) {                                                           \
            G##_to_affine(&a, &sums[i]);                                                                     \
            G##_encode(out + i * ENCODED, &a);                                                               \
        }                                                                                                    \
        return CUZK_OK;                                                                                      \
    }                                                                                                        \
    static group in_##G = {KEY,        sizeof(G##_affine), ENCODED,           NULL,   G##_make_multiples,    \
                           G##_negate, G##_write,          G##_mul_generator, G##_msm};

DEFINE_GROUP(g1, "g1", fp, G1_UNCOMPRESSED)
DEFINE_GROUP(g2, "g2", fp2, G2_UNCOMPRESSED)

group *const groups[2] = {&in_g1, &in_g2};
pool *pools[4];

uint64_t random_state = 1;
uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
void random_scalar(fr_repr *out) {
    do {
        for (int i = 0; i < 4; i++) out->l[i] = random_u64();
        out->l[3] >>= 1;
    } while (!fr_repr_is_valid(out));
}
fr_repr small_scalar(uint64_t k) {
    return (fr_repr){{k, 0, 0, 0}};
}
fr_repr negative_scalar(uint64_t k) { /* r - k */
    fr_repr out;
    uint64_t borrow = 0;
    out.l[0] = limb_sub(FR_MODULUS.l[0], k, &borrow);
    for (int i = 1; i < 4; i++) out.l[i] = limb_sub(FR_MODULUS.l[i], 0, &borrow);
    return out;
}

sum make_sum(size_t n) {
    sum s = {n, calloc(n + 1, sizeof(int)), calloc(n + 1, sizeof(fr_repr))};
    assert_non_null(s.d);
    assert_non_null(s.k);
    for (size_t i = 0; i < n; i++) s.d[i] = (int)(1 + i % (MULTIPLES - 1));
    return s;
}

void free_sum(sum *s) {
    free(s->d);
    free(s->k);
}

void expected(uint8_t *out, const group *g, const sum *s) {
    fr total = FR_ZERO, k, d;
    for (size_t i = 0; i < s->n; i++) {
        fr_from_repr(&k, &s->k[i]);
        fr_from_u64(&d, (uint64_t)abs(s->d[i]));
        if (s->d[i] < 0) fr_neg(&d, &d);
        fr_mul(&k, &k, &d);
        fr_add(&total, &total, &k);
    }
    g->mul_generator(out, &total);
}

msm_bases make_bases(const group *g, const sum *s, bool encoded, void **memory) {
    size_t size = encoded ? g->encoded_bytes : g->affine_bytes;
    uint8_t *out = malloc(s->n * size + 1);
    assert_non_null(out);
    *memory = out;
    if (encoded) out++;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t point[MAX_BYTES / 8];
        memcpy(point, (uint8_t *)g->multiples + (size_t)abs(s->d[i]) * g->affine_bytes, g->affine_bytes);
        if (s->d[i] < 0) g->negate(point);
        if (encoded) {
            g->encode(out + i * size, point);
        } else {
            memcpy(out + i * size, point, size);
        }
    }
    return (msm_bases){out, s->n, encoded};
}

void check_with(const group *g, const sum *s, pool *p, bool encoded) {
    uint8_t want[MAX_BYTES], got[MAX_BYTES];
    void *memory;
    cuzk_error err = {.message = ""};
    msm_bases bases = make_bases(g, s, encoded, &memory);
    msm_scalars scalars = {s->k, s->n, NULL};
    expected(want, g, s);
    cuzk_code code = g->msm(got, &bases, &scalars, 0, p, NULL, &err);
    if (code != CUZK_OK) fail_msg("%s", err.message);
    assert_memory_equal(got, want, g->encoded_bytes);
    free(memory);
}

void check(const group *g, const sum *s) {
    check_with(g, s, NULL, false);
    bool identity = false;
    for (size_t i = 0; i < s->n; i++) identity |= s->d[i] == 0;
    if (!identity) check_with(g, s, pools[1], true);
}

bool sums_begin(void) {
    static const unsigned threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < 4; i++)
        if (pool_create(&pools[i], threads[i], NULL) != CUZK_OK) return false;
    field_select(cpu_best());
    for (size_t i = 0; i < 2; i++) {
        groups[i]->multiples = malloc(MULTIPLES * groups[i]->affine_bytes);
        if (!groups[i]->multiples) return false;
        groups[i]->make_multiples(groups[i]->multiples, MULTIPLES);
    }
    return true;
}

void sums_end(void) {
    for (size_t i = 0; i < 4; i++) pool_destroy(pools[i]);
    for (size_t i = 0; i < 2; i++) free(groups[i]->multiples);
}
