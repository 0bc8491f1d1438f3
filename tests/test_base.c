/* The base layer: errors, thread pool, big buffers and their budget, code-variant choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/progress.h"

static void errors_carry_place_and_text(void **state) {
    (void)state;
    cuzk_error err;
    assert_int_equal(error_set(&err, CUZK_ERR_INPUT, "a/b.json", 17, "%d bytes, expected %d", 3, 4),
                     CUZK_ERR_INPUT);
    assert_int_equal(err.code, CUZK_ERR_INPUT);
    assert_string_equal(err.path, "a/b.json");
    assert_int_equal(err.offset, 17);
    assert_string_equal(err.message, "3 bytes, expected 4");
    assert_int_equal(error_set(NULL, CUZK_ERR_PARAMS, NULL, 0, "unseen"), CUZK_ERR_PARAMS);
    char long_path[2000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = 0;
    error_set(&err, CUZK_ERR_INPUT, long_path, 0, "%s", long_path);
    assert_int_equal(strlen(err.path), sizeof err.path - 1);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

typedef struct tally {
    _Atomic unsigned *hits;
    pool *p;
} tally;

static void count_range(void *ctx, size_t begin, size_t end) {
    tally *t = ctx;
    for (size_t i = begin; i < end; i++) atomic_fetch_add(&t->hits[i], 1);
}

static void count_nested(void *ctx, size_t begin, size_t end) {
    tally *t = ctx;
    for (size_t i = begin; i < end; i++) {
        tally inner = {t->hits + 100 * i, t->p};
        pool_for(t->p, 100, 7, count_range, &inner);
    }
}

static void loops_visit_every_index_once(void **state) {
    (void)state;
    static const unsigned thread_counts[] = {1, 2, 3, 8};
    for (size_t t = 0; t < sizeof thread_counts / sizeof thread_counts[0]; t++) {
        pool *p;
        assert_int_equal(pool_create(&p, thread_counts[t], NULL), CUZK_OK);
        assert_int_equal(pool_threads(p), thread_counts[t]);
        for (size_t n = 0; n < 300; n = n * 2 + 1) {
            _Atomic unsigned hits[300] = {0};
            tally mine = {hits, p};
            pool_for(p, n, 1 + n / 10, count_range, &mine);
            for (size_t i = 0; i < 300; i++) assert_int_equal(hits[i], i < n);
        }
        _Atomic unsigned *hits = calloc(10000, sizeof *hits);
        tally mine = {hits, p};
        for (int round = 0; round < 50; round++) pool_for(p, 100, 1, count_nested, &mine);
        for (size_t i = 0; i < 10000; i++) assert_int_equal(hits[i], 50);
        free(hits);
        pool_destroy(p);
    }
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, 1025, &err), CUZK_ERR_USAGE);
    assert_null(p);
    assert_int_equal(pool_threads(NULL), 1);
}

static void set_flag(void *ctx) {
    *(int *)ctx = 1;
}

static void both_run(void **state) {
    (void)state;
    pool *p;
    assert_int_equal(pool_create(&p, 2, NULL), CUZK_OK);
    for (int i = 0; i < 100; i++) {
        int a = 0, b = 0;
        pool_both(i % 2 ? p : NULL, set_flag, &a, set_flag, &b);
        assert_int_equal(a + b, 2);
    }
    pool_destroy(p);
}

static void big_buffers_are_counted(void **state) {
    (void)state;
    uint64_t before = mem_in_use();
    const size_t sizes[] = {1, 4096, 5000, (2u << 20) - 1, 2u << 20, (7u << 20) + 123};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *buffer;
        assert_int_equal(mem_big_alloc((void **)&buffer, sizes[i], "a test", NULL), CUZK_OK);
        assert_int_equal(mem_in_use(), before + sizes[i]);
        assert_true(mem_peak() >= before + sizes[i]);
        assert_int_equal((uintptr_t)buffer % 4096, 0);
        for (size_t k = 0; k < sizes[i]; k += 997) assert_int_equal(buffer[k], 0);
        buffer[sizes[i] - 1] = 1;
        mem_big_free(buffer, sizes[i]);
        assert_int_equal(mem_in_use(), before);
    }
    void *none;
    assert_int_equal(mem_big_alloc(&none, 0, "nothing", NULL), CUZK_OK);
    assert_null(none);

    cuzk_error err;
    mem_set_budget(before + 1000);
    assert_int_equal(mem_big_alloc(&none, 1001, "too much", &err), CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, "too much"));
    assert_non_null(strstr(err.message, "1001"));
    assert_int_equal(mem_require(1001, "the proof", &err), CUZK_ERR_RESOURCES);
    assert_int_equal(mem_require(1000, "the proof", &err), CUZK_OK);
    assert_int_equal(mem_in_use(), before);
    mem_set_budget(0);
    assert_true(mem_budget() > 1u << 28);
}

static void variants_are_chosen_by_name(void **state) {
    (void)state;
    cpu_isa isa;
    cuzk_error err;
    setenv("CUZK_ISA", "portable", 1);
    assert_int_equal(cpu_choose(&isa, &err), CUZK_OK);
    assert_int_equal(isa, CPU_PORTABLE);
    setenv("CUZK_ISA", "sse9", 1);
    assert_int_equal(cpu_choose(&isa, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.message, "sse9"));
    unsetenv("CUZK_ISA");
    assert_int_equal(cpu_choose(&isa, &err), CUZK_OK);
    assert_int_equal(isa, cpu_best());
}

static bool refuse(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    (void)ctx, (void)phase;
    return done < total;
}

static void progress_can_stop_the_work(void **state) {
    (void)state;
    cuzk_progress progress = {refuse, NULL};
    cuzk_error err;
    assert_int_equal(progress_report(NULL, "x", 2, 2, &err), CUZK_OK);
    assert_int_equal(progress_report(&progress, "x", 1, 2, &err), CUZK_OK);
    assert_int_equal(progress_report(&progress, "x", 2, 2, &err), CUZK_ERR_CANCELLED);
    assert_string_equal(err.message, "stopped during x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_carry_place_and_text),
        cmocka_unit_test(loops_visit_every_index_once),
        cmocka_unit_test(both_run),
        cmocka_unit_test(big_buffers_are_counted),
        cmocka_unit_test(variants_are_chosen_by_name),
        cmocka_unit_test(progress_can_stop_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
