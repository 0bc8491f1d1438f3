/* Files that are truncated while they are mapped: an error in the end, whatever was being done, and no crash.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/file_guard.h"
#include "base/mem.h"
#include "fixture.h"
#include "groth16/prove.h"
#include "r1cs/matrices_file.h"
#include "r1cs/synthesis.h"
#include "temp_dir.h"
#include "text_circuit.h"
#include "variants.h"

#define SMALL "groth16-small/"

static size_t page;

/* --- the handler that was there before ----------------------------------------------------------------- */

static sigjmp_buf back;
static volatile sig_atomic_t foreign;

static void on_foreign(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    foreign++;
    siglongjmp(back, 1);
}

static volatile uint8_t sink;

/* The test library handles SIGBUS itself, and anew in every test. */
static void guard(void **state) {
    (void)state;
    struct sigaction action = {.sa_sigaction = on_foreign, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
    file_guard_install();
    file_guard_install();
}

static void other_faults_go_to_the_handler_before(void **state) {
    guard(state);
    const char *path = temp_path("unguarded");
    char *content = calloc(4, page);
    assert_int_equal(file_write_all(path, content, 4 * page, NULL), CUZK_OK);
    int fd = open(path, O_RDWR);
    volatile uint8_t *map = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(ftruncate(fd, (off_t)page), 0);
    sink = map[page - 1];
    assert_int_equal(foreign, 0);
    if (sigsetjmp(back, 1) == 0) sink = map[page];
    assert_int_equal(foreign, 1);
    if (sigsetjmp(back, 1) == 0) raise(SIGBUS);
    assert_int_equal(foreign, 2);
    munmap((void *)(uintptr_t)map, 4 * page);
    close(fd);
    free(content);
}

/* --- maps ---------------------------------------------------------------------------------------------- */

static void lost_pages_are_zeros_and_an_error(void **state) {
    guard(state);
    enum { MAPS = 200, PAGES = 5 }; /* more than stand in a block of guards */
    const char *path = temp_path("mapped");
    file_map maps[MAPS], empty;
    cuzk_error err;
    char *content = malloc(PAGES * page);
    memset(content, 'x', PAGES * page);
    for (size_t i = 0; i < MAPS; i++) {
        if (i % 20 == 0) assert_int_equal(file_write_all(path, content, PAGES * page - 7, &err), CUZK_OK);
        assert_int_equal(file_map_open(&maps[i], path, i % 40 < 20 ? CUZK_ERR_INPUT : CUZK_ERR_PARAMS, &err),
                         CUZK_OK);
    }
    assert_int_equal(file_write_all(temp_path("empty"), "", 0, &err), CUZK_OK);
    assert_int_equal(file_map_open(&empty, temp_path("empty"), CUZK_ERR_INPUT, &err), CUZK_OK);
    /* The file of the last 20: cut, and later restored. */
    assert_int_equal(truncate(path, (off_t)(2 * page)), 0);
    for (size_t i = 0; i < MAPS; i++) {
        const file_map *m = &maps[i];
        const bool lost = i >= MAPS - 20;
        for (size_t at = m->size; at-- > 0;) assert_int_equal(m->data[at], lost && at >= 2 * page ? 0 : 'x');
        assert_int_equal(file_map_check(m, &err), !lost ? CUZK_OK : CUZK_ERR_PARAMS);
        if (lost) assert_non_null(strstr(err.message, "truncated while in use"));
        if (lost) assert_string_equal(err.path, path);
    }
    assert_int_equal(truncate(path, (off_t)(PAGES * page - 7)), 0);
    for (size_t i = 0; i < MAPS; i++) {
        const bool lost = i >= MAPS - 20;
        assert_int_equal(file_map_check(&maps[i], &err), lost ? CUZK_ERR_PARAMS : CUZK_OK);
        if (lost) assert_non_null(strstr(err.message, "could not be read"));
        assert_int_equal(file_map_outcome(&maps[i], CUZK_ERR_INTERNAL, &err),
                         lost ? CUZK_ERR_PARAMS : CUZK_ERR_INTERNAL);
        assert_int_equal(file_map_outcome(&maps[i], CUZK_ERR_CANCELLED, &err), CUZK_ERR_CANCELLED);
        file_map_close(&maps[i]);
    }
    assert_int_equal(file_map_check(&empty, &err), CUZK_OK);
    file_map_close(&empty);
    /* A guard that is used again knows nothing of the past. */
    for (size_t i = 0; i < MAPS; i++)
        assert_int_equal(file_map_open(&maps[i], path, CUZK_ERR_INPUT, &err), CUZK_OK);
    for (size_t i = 0; i < MAPS; i++) {
        assert_int_equal(file_map_check(&maps[i], &err), CUZK_OK);
        file_map_close(&maps[i]);
    }
    free(content);
}

/* --- keys and matrices --------------------------------------------------------------------------------- */

static void copy_fixture(const char *name, const char *path) {
    size_t size;
    char *content = fixture_read(name, &size);
    assert_int_equal(file_write_all(path, content, size, NULL), CUZK_OK);
    free(content);
}

typedef struct cutter {
    const char *path;
    off_t size;
    int left; /* reports until the file is cut */
} cutter;

static bool cut_later(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    cutter *c = ctx;
    (void)phase, (void)done, (void)total;
    if (c->left-- == 0) assert_int_equal(truncate(c->path, c->size), 0);
    return true;
}

static void keys_cut_during_a_proof(void **state) {
    guard(state);
    const char *path = temp_path("small.params");
    text_circuit small;
    cuzk_error err = {.message = ""};
    pool *p;
    assert_int_equal(pool_create(&p, 2, &err), CUZK_OK);
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    bool finished = false;
    unsigned refused = 0;
    for (int reports = 0; !finished; reports += 2) {
        copy_fixture(SMALL "v28-small.params", path);
        srs params;
        assert_int_equal(srs_open(&params, path, NULL, p, &err), CUZK_OK);
        assert_true(params.file.size > 2 * page);
        cutter c = {path, reports % 4 ? 0 : (off_t)page, reports};
        cuzk_progress progress = {cut_later, &c};
        assignment w;
        groth16_proof proof, untouched;
        memset(&proof, 0x5a, sizeof proof);
        untouched = proof;
        assert_int_equal(assignment_create(&w, &small.circuit, NULL, &err), CUZK_OK);
        cuzk_code code = groth16_prove(&proof, &params, &w, NULL, p, &progress, NULL, &err);
        finished = c.left >= 0;
        if (finished) {
            assert_int_equal(code, CUZK_OK);
        } else {
            refused++;
            assert_int_equal(code, CUZK_ERR_PARAMS);
            assert_non_null(strstr(err.message, "truncated while in use"));
            assert_string_equal(err.path, path);
            assert_memory_equal(&proof, &untouched, sizeof proof);
            cuzk_progress none = {NULL, NULL};
            assert_int_equal(srs_validate(&params, false, p, &none, &err), CUZK_ERR_PARAMS);
            assert_non_null(strstr(err.message, "truncated while in use"));
        }
        assignment_free(&w);
        srs_close(&params);
    }
    assert_true(refused > 5);
    text_circuit_free(&small);
    pool_destroy(p);
    assert_int_equal(mem_in_use(), 0);
}

/* Matrices are copied when they are opened: what happens to the file afterwards does not matter. */
static void matrices_cut_after_opening(void **state) {
    guard(state);
    const char *path = temp_path("small.pce");
    cuzk_error err = {.message = ""};
    text_circuit small;
    text_circuit_read(&small, SMALL "circuit.txt.zst");
    matrices *m;
    assert_int_equal(matrices_create(&m, &small.circuit, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(matrices_save(m, path, &err), CUZK_OK);
    matrices_free(m);
    synthesizer kept = {.m = NULL};
    assert_int_equal(matrices_open(&kept.m, path, &small.circuit, &err), CUZK_OK);
    assert_int_equal(truncate(path, 0), 0);
    assignment w = {.a = NULL};
    assert_int_equal(synthesize(&w, &kept, &small.circuit, NULL, SYNTHESIS_TEMPLATES, NULL, NULL, &err),
                     CUZK_OK);
    assert_true(assignment_first_unsatisfied(&w) == UINT64_MAX);
    assignment_free(&w);
    synthesizer_free(&kept);
    assert_int_equal(matrices_open(&m, path, &small.circuit, &err), CUZK_ERR_INPUT);
    text_circuit_free(&small);
    assert_int_equal(mem_in_use(), 0);
}

int main(void) {
    const struct CMUnitTest maps[] = {cmocka_unit_test(other_faults_go_to_the_handler_before),
                                      cmocka_unit_test(lost_pages_are_zeros_and_an_error)};
    const struct CMUnitTest users[] = {cmocka_unit_test(keys_cut_during_a_proof),
                                       cmocka_unit_test(matrices_cut_after_opening)};
    page = (size_t)sysconf(_SC_PAGESIZE);
    cuzk_error err;
    if (field_init(&err) != CUZK_OK || temp_dir_make(NULL) != 0) return 1;
    int failed = cmocka_run_group_tests(maps, NULL, NULL);
    RUN_ON_VARIANTS(failed, users);
    return temp_dir_remove(NULL) == 0 ? failed : 1;
}
