/*
 * Multi-scalar multiplication on every variant the processor has, in both groups. Bases are small multiples
 * d_i G, so that sum k_i d_i mod r gives the result by one multiplication; small multiples also collide
 * constantly: equal and opposite points meet in buckets and in the additions after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#include "base/mem.h"
#include "msm/msm.h"

#define MULTIPLES 20000u
#define MAX_BYTES G2_UNCOMPRESSED

/* One group behind byte encodings, so that every test is written once. */
typedef struct group {
    const char *vector_key;
    size_t affine_bytes, encoded_bytes;
    void *multiples; /* affine; number i is i G */
    void (*make_multiples)(void *affine, size_t n);
    void (*negate)(void *affine);
    void (*encode)(uint8_t *out, const void *affine);
    void (*mul_generator)(uint8_t *out, const fr *k);
    cuzk_code (*msm)(uint8_t *out, const msm_bases *bases, const msm_scalars *scalars, pool *p,
                     const cuzk_progress *progress, cuzk_error *err);
} group;

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
    static cuzk_code G##_msm(uint8_t *out, const msm_bases *bases, const msm_scalars *scalars, pool *p,      \
                             const cuzk_progress *progress, cuzk_error *err) {                               \
        G sum;                                                                                               \
        G##_affine a;                                                                                        \
        TRY(msm_##G(&sum, bases, scalars, p, progress, "test", err));                                        \
        G##_to_affine(&a, &sum);                                                                             \
        G##_encode(out, &a);                                                                                 \
        return CUZK_OK;                                                                                      \
    }                                                                                                        \
    static group in_##G = {KEY,        sizeof(G##_affine), ENCODED,           NULL,   G##_make_multiples,    \
                           G##_negate, G##_write,          G##_mul_generator, G##_msm};

DEFINE_GROUP(g1, "g1", fp, G1_UNCOMPRESSED)
DEFINE_GROUP(g2, "g2", fp2, G2_UNCOMPRESSED)

static group *const groups[] = {&in_g1, &in_g2};
static pool *pools[4]; /* 1, 2, 3 and 8 threads */

static uint64_t random_state;
static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static void random_scalar(fr_repr *out) {
    do {
        for (int i = 0; i < 4; i++) out->l[i] = random_u64();
        out->l[3] >>= 1;
    } while (!fr_repr_is_valid(out));
}
static fr_repr small_scalar(uint64_t k) {
    return (fr_repr){{k, 0, 0, 0}};
}
static fr_repr negative_scalar(uint64_t k) { /* r - k */
    fr_repr out;
    uint64_t borrow = 0;
    out.l[0] = limb_sub(FR_MODULUS.l[0], k, &borrow);
    for (int i = 1; i < 4; i++) out.l[i] = limb_sub(FR_MODULUS.l[i], 0, &borrow);
    return out;
}

/* A sum of n terms k_i (d_i G) under test; d_i < 0 means -(|d_i| G), 0 the identity. */
typedef struct sum {
    size_t n;
    int *d;
    fr_repr *k;
} sum;

static sum make_sum(size_t n) {
    sum s = {n, calloc(n + 1, sizeof(int)), calloc(n + 1, sizeof(fr_repr))};
    assert_non_null(s.d);
    assert_non_null(s.k);
    for (size_t i = 0; i < n; i++) s.d[i] = (int)(1 + i % (MULTIPLES - 1));
    return s;
}

static void free_sum(sum *s) {
    free(s->d);
    free(s->k);
}

static void expected(uint8_t *out, const group *g, const sum *s) {
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

/* The bases in memory, or encoded at an odd address. Free *memory. */
static msm_bases make_bases(const group *g, const sum *s, bool encoded, void **memory) {
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

static void check_with(const group *g, const sum *s, pool *p, bool encoded) {
    uint8_t want[MAX_BYTES], got[MAX_BYTES];
    void *memory;
    cuzk_error err = {.message = ""};
    msm_bases bases = make_bases(g, s, encoded, &memory);
    msm_scalars scalars = {s->k, s->n, NULL};
    expected(want, g, s);
    cuzk_code code = g->msm(got, &bases, &scalars, p, NULL, &err);
    if (code != CUZK_OK) fail_msg("%s", err.message);
    assert_memory_equal(got, want, g->encoded_bytes);
    free(memory);
}

static void check(const group *g, const sum *s) {
    check_with(g, s, NULL, false);
    bool identity = false;
    for (size_t i = 0; i < s->n; i++) identity |= s->d[i] == 0;
    if (!identity) check_with(g, s, pools[1], true);
}

/* Point i is (i^2 + 1) G. */
static void vectors(void **state) {
    (void)state;
    yajl_val root = fixture_json("vectors/msm.json");
    size_t n_cases = json_len(root, "cases");
    assert_true(n_cases > 3);
    for (size_t at = 0; at < 2; at++) {
        const group *g = groups[at];
        uint8_t *points = malloc(1000 * g->encoded_bytes);
        assert_non_null(points);
        for (uint64_t i = 0; i < 1000; i++) {
            fr k;
            fr_from_u64(&k, i * i + 1);
            g->mul_generator(points + i * g->encoded_bytes, &k);
        }
        for (size_t i = 0; i < n_cases; i++) {
            yajl_val c = json_at(root, "cases")->u.array.values[i];
            sum s = make_sum(json_len(c, "scalars"));
            for (size_t j = 0; j < s.n; j++)
                hex_decode((uint8_t *)&s.k[j], json_at(c, "scalars")->u.array.values[j]->u.string, 32);
            assert_true(s.n <= 1000);
            uint8_t got[MAX_BYTES];
            char path[32];
            msm_bases bases = {points, s.n, true};
            msm_scalars scalars = {s.k, s.n, NULL};
            assert_int_equal(g->msm(got, &bases, &scalars, pools[1], NULL, NULL), CUZK_OK);
            snprintf(path, sizeof path, "%s/uncompressed", g->vector_key);
            assert_hex(got, g->encoded_bytes, json_str(c, path));
            free_sum(&s);
        }
        free(points);
    }
    yajl_tree_free(root);
}

static void sizes(void **state) {
    (void)state;
    static const size_t n[] = {0, 1, 2, 3, 7, 8, 9, 31, 33, 100, 511, 512, 513, 1023, 1024, 1025, 2049, 5003};
    for (size_t at = 0; at < 2; at++)
        for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
            sum s = make_sum(n[i]);
            for (size_t j = 0; j < s.n; j++) random_scalar(&s.k[j]);
            check(groups[at], &s);
            free_sum(&s);
        }
}

/* Every term has the same scalar: the worst distribution, one bucket a window. */
static void uniform_scalars(void **state) {
    (void)state;
    fr_repr k[12] = {small_scalar(0),    small_scalar(1),    small_scalar(2),
                     negative_scalar(1), negative_scalar(2), small_scalar(UINT64_MAX)};
    for (int i = 0; i < 4; i++) k[6].l[i] = i < 3 ? 0x8000800080008000u : 0x4000800080008000u;
    for (int i = 0; i < 4; i++) k[7].l[i] = i < 3 ? 0xffffffffffffffffu : 0x3fffffffffffffffu;
    k[8] = (fr_repr){
        {0x7fffffff80000000u, 0xa9ded2017fff2dffu, 0x199cec0404d0ec02u, 0x39f6d3a994cebea4u}}; /* (r-1)/2 */
    k[9] = k[8];
    k[9].l[0]++;
    k[10] = (fr_repr){{0, 0, 0, (uint64_t)1 << 62}};
    random_scalar(&k[11]);
    for (size_t at = 0; at < 2; at++)
        for (size_t i = 0; i < 12; i++) {
            sum s = make_sum(at == 0 ? 1500 : 700);
            for (size_t j = 0; j < s.n; j++) s.k[j] = k[i];
            check(groups[at], &s);
            free_sum(&s);
        }
}

static void powers_of_two(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++) {
        sum s = make_sum(2 * 255);
        for (size_t j = 0; j < 255; j++) {
            s.k[j].l[j / 64] = (uint64_t)1 << (j % 64);
            s.k[255 + j] = s.k[j];
            if (j > 0) s.k[255 + j].l[0]--; /* 2^j - 1; and 2^0 again */
            if (j > 0)
                for (size_t i = 0; i < j / 64; i++) s.k[255 + j].l[i] = UINT64_MAX;
            if (j % 64 == 0 && j > 0) s.k[255 + j].l[j / 64] = 0;
        }
        check(groups[at], &s);
        free_sum(&s);
    }
}

/* Mixtures of 0, 1, -1, small and large scalars over repeated, opposite and identity bases. */
static void mixtures(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++)
        for (int kind = 0; kind < 8; kind++) {
            sum s = make_sum(at == 0 ? 3001 : 1003);
            for (size_t j = 0; j < s.n; j++) {
                uint64_t v = random_u64();
                switch (v % 64 < 50 && kind % 2 == 0 ? v % 2 : 2 + v % 5) {
                case 0:
                    s.k[j] = small_scalar(0);
                    break;
                case 1:
                    s.k[j] = small_scalar(1);
                    break;
                case 2:
                    s.k[j] = negative_scalar(1);
                    break;
                case 3:
                    s.k[j] = small_scalar(v >> 48);
                    break;
                case 4:
                    s.k[j] = negative_scalar(v >> 40);
                    break;
                default:
                    random_scalar(&s.k[j]);
                    break;
                }
                v = random_u64();
                switch (kind / 2) {
                case 0:
                    s.d[j] = 7;
                    break; /* one point */
                case 1:
                    s.d[j] = v & 1 ? 5 : -5;
                    break; /* a point and its opposite */
                case 2:
                    s.d[j] = (int)(v % 7) - 3;
                    break; /* with the identity */
                default:
                    s.d[j] = (int)(v % (2 * MULTIPLES - 1)) - (int)MULTIPLES + 1;
                    break;
                }
            }
            check(groups[at], &s);
            free_sum(&s);
        }
}

/* Terms that cancel in pairs: the result is the identity, and buckets empty while others fill. */
static void cancelling(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++)
        for (int kind = 0; kind < 3; kind++) {
            sum s = make_sum(at == 0 ? 4000 : 1500);
            for (size_t j = 0; j < s.n; j += 2) {
                size_t other = kind == 2 ? s.n - 1 - j : j + 1;
                if (kind == 0) {
                    random_scalar(&s.k[j]);
                } else {
                    s.k[j] = small_scalar(2 + random_u64() % 1000);
                }
                s.k[other] = s.k[j];
                s.d[j] = (int)(1 + random_u64() % 100);
                s.d[other] = -s.d[j];
            }
            uint8_t want[MAX_BYTES] = {0x40}, got[MAX_BYTES];
            expected(got, groups[at], &s);
            assert_memory_equal(got, want, groups[at]->encoded_bytes);
            check(groups[at], &s);
            free_sum(&s);
        }
}

static void thread_counts(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++) {
        sum s = make_sum(at == 0 ? 15001 : 4001);
        for (size_t j = 0; j < s.n; j++) {
            random_scalar(&s.k[j]);
            if (j % 3 == 0) s.k[j] = small_scalar(j / 3 % 2);
            if (random_u64() & 1) s.d[j] = -s.d[j];
        }
        for (size_t t = 0; t < 4; t++)
            for (int encoded = 0; encoded < 2; encoded++) check_with(groups[at], &s, pools[t], encoded != 0);
        free_sum(&s);
    }
}

/* More points than a chunk: buckets stay filled from one chunk to the next. */
static void several_chunks(void **state) {
    (void)state;
    sum s = make_sum(140000);
    for (size_t j = 0; j < s.n; j++) random_scalar(&s.k[j]);
    mem_set_budget(mem_in_use() + ((uint64_t)80 << 20));
    check_with(&in_g1, &s, pools[1], true);
    mem_set_budget(0);
    check_with(&in_g1, &s, pools[1], false);
    free_sum(&s);
}

static void selected_scalars(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++)
        for (size_t n = 1; n < 5000; n = n * 3 + 1) {
            const group *g = groups[at];
            fr_repr *values = calloc(n, sizeof *values);
            uint64_t *bits = calloc(n / 64 + 1, sizeof *bits);
            sum s = make_sum(n);
            assert_non_null(values);
            assert_non_null(bits);
            s.n = 0;
            for (size_t j = 0; j < n; j++) {
                if (j % 2) {
                    random_scalar(&values[j]);
                } else {
                    values[j] = small_scalar(random_u64() % 3);
                }
                if (random_u64() % 3 == 0) continue;
                bits[j / 64] |= (uint64_t)1 << (j % 64);
                s.k[s.n++] = values[j];
            }
            bits[n / 64] |= n % 64 ? UINT64_MAX << (n % 64) : 0; /* bits past the end mean nothing */
            uint8_t want[MAX_BYTES], got[MAX_BYTES];
            void *memory;
            msm_bases bases = make_bases(g, &s, true, &memory);
            msm_scalars scalars = {values, n, bits};
            expected(want, g, &s);
            assert_int_equal(g->msm(got, &bases, &scalars, pools[2], NULL, NULL), CUZK_OK);
            assert_memory_equal(got, want, g->encoded_bytes);

            cuzk_error err;
            bases.n++;
            assert_int_equal(g->msm(got, &bases, &scalars, NULL, NULL, &err), CUZK_ERR_USAGE);
            free(memory);
            free(values);
            free(bits);
            free_sum(&s);
        }
}

static void bad_bases(void **state) {
    (void)state;
    static const struct {
        size_t byte;
        uint8_t flip;
        bool whole; /* the identity instead */
        const char *text;
    } damage[] = {{0, 0x80, false, "flag"},    {0, 0x20, false, "flag"},    {20, 0x01, false, "curve"},
                  {95, 0x80, false, "curve"},  {0, 0x1f, false, "modulus"}, {0, 0x40, false, "infinity"},
                  {0, 0, true, "the identity"}};
    for (size_t at = 0; at < 2; at++)
        for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++)
            for (size_t where = 0; where < 5; where++)
                for (int one = 0; one < 2; one++) {
                    const group *g = groups[at];
                    sum s = make_sum(1500);
                    for (size_t j = 0; j < s.n; j++) random_scalar(&s.k[j]);
                    static const size_t places[] = {0, 5, 700, 1024, 1499};
                    size_t bad = places[where];
                    if (one) s.k[bad] = small_scalar(1);
                    void *memory;
                    msm_bases bases = make_bases(g, &s, true, &memory);
                    for (size_t later = bad; later < s.n; later += 131) { /* the first one is reported */
                        uint8_t *base = (uint8_t *)memory + 1 + later * g->encoded_bytes;
                        if (damage[i].whole) {
                            memset(base, 0, g->encoded_bytes);
                            base[0] = 0x40;
                        } else if (damage[i].flip == 0x1f) {
                            base[0] |= 0x1f;
                        } else {
                            base[damage[i].byte] ^= damage[i].flip;
                        }
                    }
                    cuzk_error err = {.message = ""};
                    uint8_t got[MAX_BYTES];
                    msm_scalars scalars = {s.k, s.n, NULL};
                    assert_int_equal(g->msm(got, &bases, &scalars, pools[where % 4], NULL, &err),
                                     CUZK_ERR_PARAMS);
                    assert_int_equal(err.offset, bad * g->encoded_bytes);
                    assert_non_null(strstr(err.message, damage[i].text));
                    free(memory);
                    free_sum(&s);
                }
}

static bool count_reports(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    unsigned *calls = ctx;
    assert_string_equal(phase, "test");
    assert_true(done <= total);
    assert_int_equal(total, 2000);
    return ++*calls < 100;
}
static bool stop_at_once(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    (void)ctx;
    (void)phase;
    (void)done;
    (void)total;
    return false;
}

static void progress_and_memory(void **state) {
    (void)state;
    uint64_t before = mem_in_use();
    for (size_t at = 0; at < 2; at++) {
        sum s = make_sum(2000);
        for (size_t j = 0; j < s.n; j++) random_scalar(&s.k[j]);
        void *memory;
        uint8_t got[MAX_BYTES];
        cuzk_error err;
        msm_bases bases = make_bases(groups[at], &s, true, &memory);
        msm_scalars scalars = {s.k, s.n, NULL};
        unsigned calls = 0;
        cuzk_progress progress = {count_reports, &calls};
        assert_int_equal(groups[at]->msm(got, &bases, &scalars, pools[1], &progress, &err), CUZK_OK);
        assert_true(calls > 0);
        progress.report = stop_at_once;
        assert_int_equal(groups[at]->msm(got, &bases, &scalars, pools[1], &progress, &err),
                         CUZK_ERR_CANCELLED);
        mem_set_budget(before + 100000);
        assert_int_equal(groups[at]->msm(got, &bases, &scalars, pools[1], NULL, &err), CUZK_ERR_RESOURCES);
        mem_set_budget(0);
        free(memory);
        free_sum(&s);
    }
    assert_int_equal(mem_in_use(), before);
}

int main(void) {
    static const unsigned threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < 4; i++)
        if (pool_create(&pools[i], threads[i], NULL) != CUZK_OK) return 1;
    field_select(cpu_best());
    for (size_t i = 0; i < 2; i++) {
        groups[i]->multiples = malloc(MULTIPLES * groups[i]->affine_bytes);
        if (!groups[i]->multiples) return 1;
        groups[i]->make_multiples(groups[i]->multiples, MULTIPLES);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors),
                                       cmocka_unit_test(sizes),
                                       cmocka_unit_test(uniform_scalars),
                                       cmocka_unit_test(powers_of_two),
                                       cmocka_unit_test(mixtures),
                                       cmocka_unit_test(cancelling),
                                       cmocka_unit_test(thread_counts),
                                       cmocka_unit_test(several_chunks),
                                       cmocka_unit_test(selected_scalars),
                                       cmocka_unit_test(bad_bases),
                                       cmocka_unit_test(progress_and_memory)};
    int failed = 0;
    for (cpu_isa isa = CPU_PORTABLE; isa <= cpu_best(); isa++) {
        random_state = 1;
        field_select(isa);
        failed += cmocka_run_group_tests_name(cpu_isa_name(isa), tests, NULL, NULL);
    }
    for (size_t i = 0; i < 4; i++) pool_destroy(pools[i]);
    for (size_t i = 0; i < 2; i++) free(groups[i]->multiples);
    return failed;
}
