/* Multi-scalar multiplication on every variant the processor has, in both groups: all kinds of scalars and
 * bases. See msm_sums.h; test_msm_threads.c has the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "msm_sums.h"

#include "base/mem.h"
#include "variants.h"

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
            assert_int_equal(g->msm(got, &bases, &scalars, 0, pools[1], NULL, NULL), CUZK_OK);
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

/* More points than a chunk: buckets stay filled from one chunk to the next. */
static void several_chunks(void **state) {
    (void)state;
    sum s = make_sum(140000);
    for (size_t j = 0; j < s.n; j++) random_scalar(&s.k[j]);
    mem_set_budget(mem_in_use() + ((uint64_t)80 << 20));
    check_with(groups[0], &s, pools[1], true);
    mem_set_budget(0);
    check_with(groups[0], &s, pools[1], false);
    free_sum(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors),         cmocka_unit_test(sizes),
                                       cmocka_unit_test(uniform_scalars), cmocka_unit_test(powers_of_two),
                                       cmocka_unit_test(mixtures),        cmocka_unit_test(cancelling),
                                       cmocka_unit_test(several_chunks)};
    if (!sums_begin()) return 1;
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests);
    sums_end();
    return failed;
}
