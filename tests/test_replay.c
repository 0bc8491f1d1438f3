/* Repeating a kept proof: what is read of its folder, what counts as a difference, and with a key (the folder
 * named by CUZK_TEST_KEY, which has that of porep-2k) how runs report faults and crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fault.h"
#include "replay.h"
#include "temp_dir.h"

/* --- folders --- */

#define GOOD                                                                                                 \
    "{\"id\": \"job 7\", \"kind\": \"porep-c2\", \"circuit\": \"porep-2k\", \"miner_id\": 1000, "            \
    "\"sector_number\": 1, \"self_check_failures\": 2, \"error\": \"self-check failed\", \"variant\": "      \
    "\"adx\"}"

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void expect_bad(const char *description, const char *message) {
    replay_job job;
    cuzk_error err;
    write_text(temp_path("kept/job.json"), description);
    assert_int_equal(replay_job_read(&job, temp_path("kept"), &err), CUZK_ERR_INPUT);
    if (!strstr(err.message, message)) print_error("%s: %s\n", description, err.message);
    assert_non_null(strstr(err.message, message));
    assert_string_equal(err.path, temp_path("kept/job.json"));
}

static void test_folder(void **state) {
    (void)state;
    replay_job job;
    cuzk_error err;
    const char *kept = temp_path("kept"), *input = temp_path("kept/input.json");
    assert_int_equal(replay_job_read(&job, kept, &err), CUZK_ERR_INPUT);
    assert_int_equal(mkdir(kept, 0700), 0);
    assert_int_equal(replay_job_read(&job, kept, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, temp_path("kept/job.json"));
    write_text(temp_path("kept/job.json"), GOOD);
    assert_int_equal(replay_job_read(&job, kept, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, input);
    write_text(input, "{}");
    assert_int_equal(replay_job_read(&job, kept, &err), CUZK_OK);
    assert_true(job.described);
    assert_string_equal(job.input, input);
    assert_string_equal(job.id, "job 7");
    assert_string_equal(job.variant, "adx");
    assert_string_equal(job.version, "");
    assert_int_equal(job.miner_id, 1000);
    assert_int_equal(job.self_check_failures, 2);
    assert_int_equal(replay_job_read(&job, input, &err), CUZK_OK);
    assert_false(job.described);

    expect_bad("", "not JSON");
    expect_bad("{\"kind\": ", "not JSON");
    expect_bad("[1, 2]", "not a JSON object");
    expect_bad("{}", "'kind' is missing, expected a string");
    expect_bad("{\"kind\": 1}", "'kind' is something else");
    expect_bad("{\"kind\": \"window-post\"}", "'window-post', this build repeats proofs of kind porep-c2");
    expect_bad("{\"kind\": \"porep-c2\", \"circuit\": \"porep-2k\", \"miner_id\": -1}", "'miner_id'");
    expect_bad("{\"kind\": \"porep-c2\", \"circuit\": \"porep-2k\", \"miner_id\": 1.5}", "'miner_id'");
    expect_bad("{\"kind\": \"porep-c2\", \"circuit\": \"porep-2k\", \"miner_id\": 18446744073709551616}",
               "at most 64 bits");
    expect_bad("{\"kind\": \"porep-c2\", \"circuit\": \"porep-2k\", \"miner_id\": 1}",
               "'sector_number' is missing");
    char *large = malloc((2u << 20) + 1);
    assert_non_null(large);
    memset(large, ' ', 2u << 20);
    large[2u << 20] = 0;
    expect_bad(large, "expected a small file");
    free(large);
}

/* --- differences --- */

#define BLOCKS 3u

static void make_run(replay_run *r, replay_digests *d) {
    *d = (replay_digests){.values = {0}};
    for (unsigned v = 0; v < REPLAY_VECTORS; v++) {
        d->values[v] = (BLOCKS - 1) * R1CS_DIGEST_VALUES_CHUNK + 10 + v;
        d->of[v].chunks = BLOCKS;
        d->of[v].chunk_sha256 = calloc(BLOCKS, 32);
        assert_non_null(d->of[v].chunk_sha256);
    }
    *r = (replay_run){.partitions = 1, .digests = d};
}

static void change(replay_run *r, unsigned vector, unsigned block) {
    r->digests->of[vector].sha256[7]++;
    r->digests->of[vector].chunk_sha256[block][31] ^= 1;
}

static void test_compare(void **state) {
    (void)state;
    replay_run x, y, none = {.partitions = 0};
    replay_digests dx, dy;
    replay_difference d;
    make_run(&x, &dx);
    make_run(&y, &dy);
    assert_false(replay_compare(&d, &x, &y));
    assert_false(replay_compare(&d, &x, &none));
    change(&y, 3, 2);
    assert_true(replay_compare(&d, &x, &y));
    assert_int_equal(d.vector, 3);
    assert_int_equal(d.first, 2 * R1CS_DIGEST_VALUES_CHUNK);
    assert_int_equal(d.last, 2 * R1CS_DIGEST_VALUES_CHUNK + 12);
    change(&x, 1, 0);
    change(&x, 1, 1);
    assert_true(replay_compare(&d, &x, &y));
    assert_string_equal(replay_vector_name(d.vector), "a");
    assert_int_equal(d.first, 0);
    assert_int_equal(d.last, R1CS_DIGEST_VALUES_CHUNK - 1);
    assert_false(d.exact);
    for (unsigned v = 0; v < REPLAY_VECTORS; v++) {
        free(dx.of[v].chunk_sha256);
        free(dy.of[v].chunk_sha256);
    }
}

/* --- runs --- */

/* The portable variant gets one number of the witness wrong; the others crash when they come to the proof. */
static void faults(const char *where, void *data, size_t bytes) {
    const char *variant = getenv("CUZK_ISA");
    bool wrong = variant && strcmp(variant, "portable") == 0;
    if (wrong && strcmp(where, "witness numbers") == 0) ((uint8_t *)data)[bytes / 2 & ~(size_t)31] ^= 1;
    if (!wrong && strcmp(where, "ntt") == 0) raise(SIGKILL);
}

/* Only the first time: a disturbance of the machine. The file tells, for each run has its own memory. */
static void once(const char *where, void *data, size_t bytes) {
    if (strcmp(where, "witness numbers") == 0 && access(temp_path("disturbed"), F_OK) != 0) {
        ((uint8_t *)data)[bytes / 2 & ~(size_t)31] ^= 1;
        FILE *f = fopen(temp_path("disturbed"), "w");
        if (f) fclose(f);
    }
    if (strcmp(where, "ntt") == 0) raise(SIGKILL);
}

static replay_run run_with(const replay_options *o, replay_stage stage, const char *message) {
    replay_run r;
    cuzk_error err;
    assert_int_equal(replay_run_start(&r, o, &err), CUZK_OK);
    if (!strstr(r.error.message, message))
        print_error("%s: %s\n", replay_stage_name(r.stage), r.error.message);
    assert_non_null(strstr(r.error.message, message));
    assert_int_equal(r.code, CUZK_ERR_INTERNAL);
    assert_int_equal(r.stage, stage);
    assert_true(r.in_partition);
    assert_int_equal(r.partition, 0);
    assert_int_equal(r.partitions, 1);
    return r;
}

static void test_faults(void **state) {
    (void)state;
    const char *key = getenv("CUZK_TEST_KEY");
    if (!key || cpu_best() == CPU_PORTABLE) skip();
    replay_job job;
    cuzk_error err;
    assert_int_equal(replay_job_read(&job, CUZK_TEST_DATA "/c1/2k-v1_1/c1.json", &err), CUZK_OK);
    replay_options bad = {.job = &job, .params = key, .variant = "portable", .quiet = true};
    replay_options good = bad;
    good.variant = cpu_isa_name(cpu_best());
    replay_difference d;
    fault_hook = faults;
    replay_run x = run_with(&bad, REPLAY_CONSTRAINTS, "do not satisfy constraint");
    replay_run y = run_with(&good, REPLAY_PROVE, "ended by signal 9");
    assert_string_equal(x.variant, "portable");
    assert_string_equal(y.variant, good.variant);
    assert_string_equal(y.circuit, "porep-2k");
    assert_true(replay_compare(&d, &x, &y));
    assert_int_equal(d.vector, 0);
    assert_int_equal(replay_locate(&d, &bad, &good, &err), CUZK_OK);
    assert_true(d.exact);
    assert_memory_not_equal(d.found, d.expected, 32);
    replay_run_free(&x);

    fault_hook = once;
    x = run_with(&good, REPLAY_CONSTRAINTS, "do not satisfy constraint");
    assert_true(replay_compare(&d, &x, &y));
    assert_int_equal(replay_locate(&d, &good, &good, &err), CUZK_OK);
    assert_false(d.exact);
    fault_hook = NULL;
    replay_run_free(&x);
    replay_run_free(&y);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folder), cmocka_unit_test(test_compare),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests_name("replay", tests, temp_dir_make, temp_dir_remove);
}
