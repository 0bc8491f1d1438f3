/* Multi-scalar multiplication by several threads: the same sums whatever their number, several at a time,
 * selected terms, bad bases, memory, cancelling. Few points: this also runs under sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "msm_sums.h"

#include "base/fault.h"
#include "base/mem.h"
#include "msm/bucket.h"
#include "variants.h"

static void thread_counts(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++) {
        sum s = make_sum(at == 0 ? 2501 : 801);
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
            assert_int_equal(g->msm(got, &bases, &scalars, 0, pools[2], NULL, NULL), CUZK_OK);
            assert_memory_equal(got, want, g->encoded_bytes);

            cuzk_error err;
            bases.n++;
            assert_int_equal(g->msm(got, &bases, &scalars, 0, NULL, NULL, &err), CUZK_ERR_USAGE);
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
                    assert_int_equal(g->msm(got, &bases, &scalars, 0, pools[where % 4], NULL, &err),
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
        assert_int_equal(groups[at]->msm(got, &bases, &scalars, 0, pools[1], &progress, &err), CUZK_OK);
        assert_true(calls > 0);
        progress.report = stop_at_once;
        assert_int_equal(groups[at]->msm(got, &bases, &scalars, 0, pools[1], &progress, &err),
                         CUZK_ERR_CANCELLED);
        mem_set_budget(before + 100000);
        assert_int_equal(groups[at]->msm(got, &bases, &scalars, 0, pools[1], NULL, &err), CUZK_ERR_RESOURCES);
        mem_set_budget(0);
        free(memory);
        free_sum(&s);
    }
    assert_int_equal(mem_in_use(), before);
}

/* --- several sums at a time ---------------------------------------------------------------------------- */

static void fill_scalars(sum *sums, size_t count, int kind) {
    for (size_t i = 0; i < sums->n; i++) {
        bool bit = random_u64() % 20 != 0;
        for (size_t k = 0; k < count; k++) {
            fr_repr *out = &sums[k].k[i];
            uint64_t v = random_u64();
            if (kind == 0 || (kind == 1 && !bit) || (kind == 2 && v % 16 < 3))
                random_scalar(out);
            else if (kind == 1 && v % 64 == 0)
                *out = negative_scalar(1 + v / 64 % 2);
            else
                *out = small_scalar(v >> 32 & 1);
        }
    }
}

static void several_at_once(void **state) {
    (void)state;
    static const size_t counts[] = {2, 3, 10};
    for (size_t at = 0; at < 2; at++)
        for (int kind = 0; kind < 4; kind++) /* general, a witness, mixed, bits alone */
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                const group *g = groups[at];
                const size_t count = counts[c];
                sum sums[10] = {0};
                msm_scalars scalars[10] = {0};
                uint8_t want[10][MAX_BYTES], got[10 * MAX_BYTES];
                for (size_t k = 0; k < count; k++) sums[k] = make_sum(at == 0 ? 300 : 100);
                for (size_t i = 0; i < sums[0].n; i++) {
                    int d = random_u64() % 3 ? (int)(1 + random_u64() % 50) : -(int)(1 + random_u64() % 50);
                    for (size_t k = 0; k < count; k++) sums[k].d[i] = d;
                }
                fill_scalars(sums, count, kind);
                for (size_t k = 0; k < count; k++) {
                    scalars[k] = (msm_scalars){sums[k].k, sums[k].n, NULL};
                    expected(want[k], g, &sums[k]);
                }
                for (int encoded = 0; encoded < 2; encoded++) {
                    void *memory;
                    cuzk_error err = {.message = ""};
                    msm_bases bases = make_bases(g, &sums[0], encoded, &memory);
                    pool *p = pools[(c + (size_t)kind) % 3];
                    if (g->msm(got, &bases, scalars, count, p, NULL, &err) != CUZK_OK)
                        fail_msg("%s", err.message);
                    for (size_t k = 0; k < count; k++)
                        assert_memory_equal(got + k * g->encoded_bytes, want[k], g->encoded_bytes);
                    if (count > 1) {
                        scalars[1].n--;
                        assert_int_equal(g->msm(got, &bases, scalars, count, p, NULL, &err), CUZK_ERR_USAGE);
                        scalars[1].n++;
                    }
                    free(memory);
                }
                for (size_t k = 0; k < count; k++) free_sum(&sums[k]);
            }
}

/* Where memory is short, fewer at a time; the result stays, and only the last failure is one. */
static void several_in_little_memory(void **state) {
    (void)state;
    enum { COUNT = 3 };
    const group *g = groups[0];
    sum sums[COUNT];
    msm_scalars scalars[COUNT];
    uint8_t want[COUNT][MAX_BYTES], got[COUNT * MAX_BYTES];
    for (size_t k = 0; k < COUNT; k++) sums[k] = make_sum(1000);
    fill_scalars(sums, COUNT, 0);
    for (size_t k = 0; k < COUNT; k++) {
        scalars[k] = (msm_scalars){sums[k].k, sums[k].n, NULL};
        expected(want[k], g, &sums[k]);
    }
    void *memory;
    msm_bases bases = make_bases(g, &sums[0], true, &memory);
    const uint64_t before = mem_in_use();
    unsigned succeeded = 0, refused = 0;
    for (uint64_t budget = (uint64_t)32 << 20; budget > 1u << 20; budget = budget * 2 / 3) {
        cuzk_error err;
        mem_set_budget(before + budget);
        cuzk_code code = g->msm(got, &bases, scalars, COUNT, pools[1], NULL, &err);
        if (code == CUZK_OK) {
            assert_int_equal(refused, 0);
            succeeded++;
            for (size_t k = 0; k < COUNT; k++)
                assert_memory_equal(got + k * g->encoded_bytes, want[k], g->encoded_bytes);
        } else {
            assert_int_equal(code, CUZK_ERR_RESOURCES);
            refused++;
        }
    }
    mem_set_budget(0);
    assert_true(succeeded > 5 && refused > 0);
    assert_int_equal(mem_in_use(), before);
    free(memory);
    for (size_t k = 0; k < COUNT; k++) free_sum(&sums[k]);
}

/* --- cancelling ---------------------------------------------------------------------------------------- */

static pool *doomed;
static atomic_uint faults_left;

static void cancel_at(const char *where, void *data, size_t bytes) {
    (void)where, (void)data, (void)bytes;
    if (atomic_fetch_sub(&faults_left, 1) == 1) pool_lane_cancel(doomed);
}

static void cancelled_lanes(void **state) {
    (void)state;
    for (size_t at = 0; at < 2; at++) {
        const group *g = groups[at];
        sum s = make_sum(2500);
        for (size_t j = 0; j < s.n; j++) s.k[j] = small_scalar(random_u64() % 3);
        for (size_t j = 0; j < s.n; j += 2) random_scalar(&s.k[j]);
        void *memory;
        uint8_t got[2 * MAX_BYTES];
        cuzk_error err;
        msm_bases bases = make_bases(g, &s, true, &memory);
        msm_scalars scalars[2] = {{s.k, s.n, NULL}, {s.k, s.n, NULL}};
        unsigned cancelled = 0;
        cuzk_code code;
        for (unsigned places = 0;; places += 3) { /* cancelled at the first, the fourth, ... */
            assert_int_equal(pool_lane_create(&doomed, pools[places % 3], 0, &err), CUZK_OK);
            if (places == 0) pool_lane_cancel(doomed);
            faults_left = places;
            fault_hook = cancel_at;
            code = g->msm(got, &bases, scalars, 1 + places % 2, doomed, NULL, &err);
            fault_hook = NULL;
            bool reached = pool_lane_cancelled(doomed);
            pool_destroy(doomed);
            if (!reached) break;
            cancelled += code == CUZK_ERR_CANCELLED;
            assert_true(code == CUZK_ERR_CANCELLED || code == CUZK_OK);
        }
        assert_int_equal(code, CUZK_OK);
        assert_true(cancelled > 3);
        free(memory);
        free_sum(&s);
    }
}

/* --- damage -------------------------------------------------------------------------------------------- */

/* A recoded scalar with any bits at all spoils the sum, but nothing outside its window. */
static void damaged_scalars_stay_in_their_window(void **state) {
    (void)state;
    enum { POINTS = 100 };
    for (size_t at = 0; at < 2; at++)
        for (unsigned bits = 3; bits <= 17; bits += 2) {
            const msm_kernel *k = at == 0 ? msm_kernel_g1() : msm_kernel_g2();
            const size_t buckets = (size_t)1 << (bits - 1), words = (buckets + 63) / 64;
            const size_t worker_bytes = msm_worker_bytes(k, buckets, 1);
            msm_digits digits;
            msm_digits_init(&digits, bits);
            void *worker_memory = aligned_alloc(64, worker_bytes);
            uint8_t *points = aligned_alloc(64, POINTS * k->point_bytes);
            uint8_t *table = aligned_alloc(64, buckets * k->point_bytes);
            uint64_t *occupied = calloc(words, sizeof *occupied);
            fr_repr scalars[POINTS + 1];
            const void *affine[POINTS];
            memset(worker_memory, 0, worker_bytes);
            for (size_t i = 0; i < POINTS; i++)
                affine[i] = (uint8_t *)groups[at]->multiples + (1 + i) * groups[at]->affine_bytes;
            k->load(points, affine, POINTS);
            for (size_t i = 0; i < POINTS; i++)
                for (int j = 0; j < 4; j++) scalars[i].l[j] = i % 2 ? UINT64_MAX : random_u64();
            msm_worker w;
            msm_worker_init(&w, k, buckets, 1, worker_memory);
            msm_buckets set = {table, occupied};
            const msm_terms terms = {points, scalars};
            for (unsigned window = 0; window < digits.windows; window++) {
                msm_window digit;
                msm_window_init(&digit, &digits, window);
                memset(occupied, 0, words * sizeof *occupied);
                msm_fill_buckets(&w, &set, &terms, 0, POINTS, &digit, bits - 1);
                for (size_t b = buckets; b < 64 * words; b++)
                    assert_int_equal(occupied[b / 64] >> b % 64 & 1, 0);
            }
            free(worker_memory);
            free(points);
            free(table);
            free(occupied);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_counts),   cmocka_unit_test(selected_scalars),
        cmocka_unit_test(bad_bases),       cmocka_unit_test(progress_and_memory),
        cmocka_unit_test(several_at_once), cmocka_unit_test(several_in_little_memory),
        cmocka_unit_test(cancelled_lanes), cmocka_unit_test(damaged_scalars_stay_in_their_window),
    };
    if (!sums_begin()) return 1;
    int failed = 0;
    RUN_ON_VARIANTS(failed, tests);
    sums_end();
    return failed;
}
