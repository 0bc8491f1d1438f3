/* The engine's threads with a backend that does what its script says: jobs, duplicates, cancelling, failures,
 * results. What runs when is the scheduler's, which has tests of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "fake_backend.h"
#include "temp_dir.h"

static engine_config config(void) {
    engine_config c;
    engine_config_default(&c);
    c.threads = 2;
    c.memory_budget = 64u << 20;
    for (unsigned k = 1; k < JOB_KINDS; k++) c.backends[k] = k == JOB_SNAP ? NULL : &fake_backend;
    return c;
}

static engine *create(const engine_config *c) {
    engine *e;
    cuzk_error err;
    assert_int_equal(engine_create(&e, c, &err), CUZK_OK);
    return e;
}

static void destroy(engine *e) {
    engine_destroy(e);
    assert_int_equal(fake_alive(), 0);
}

/* --- waiting for a result --- */

typedef struct ended {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
    job_state state;
    uint8_t proof[64 * CUZK_PROOF_BYTES];
    size_t proof_size;
    engine_timings timings;
    char message[256];
} ended;

static void ended_init(ended *w) {
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->cond, NULL);
}

static void on_done(void *ctx, const engine_result *r) {
    ended *w = ctx;
    pthread_mutex_lock(&w->mutex);
    w->state = r->state;
    w->timings = r->timings;
    w->proof_size = r->proof_size;
    if (r->proof_size > 0) memcpy(w->proof, r->proof, r->proof_size);
    if (r->error) snprintf(w->message, sizeof w->message, "%.255s", r->error->message);
    w->done = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->mutex);
}

static job_state wait_for(ended *w) {
    pthread_mutex_lock(&w->mutex);
    while (!w->done) pthread_cond_wait(&w->cond, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->cond);
    return w->state;
}

static engine_receipt submit(engine *e, job_request r, unsigned flags) {
    engine_receipt receipt;
    cuzk_error err;
    cuzk_code code = engine_submit(e, &r, flags, &receipt, NULL, &err);
    if (code != CUZK_OK) print_error("%s\n", err.message);
    assert_int_equal(code, CUZK_OK);
    return receipt;
}

static engine_watch watch(engine *e, const char *id, ended *w) {
    engine_watch handle;
    ended_init(w);
    assert_int_equal(engine_watch_job(&handle, e, id, on_done, w, NULL), CUZK_OK);
    return handle;
}

static job_state run_job(engine *e, const char *id, const char *script, ended *w) {
    engine_receipt receipt = submit(e, fake_request(id, script), 0);
    watch(e, receipt.id, w);
    return wait_for(w);
}

static void wait_until_begun(stage_kind stage, unsigned n) {
    while (fake_begun(stage) < n) usleep(500);
}

/* --- tests --- */

static void test_proof_in_order(void **state) {
    (void)state;
    engine_config c = config();
    engine *e = create(&c);
    const char *script = "partitions=7 check=2 synthesis=1 prove=3 verify=1";
    ended w;
    assert_int_equal(run_job(e, "a job", script, &w), JOB_COMPLETED);
    assert_int_equal(w.proof_size, 7 * CUZK_PROOF_BYTES);
    for (uint32_t k = 0; k < 7; k++) {
        uint8_t expected[CUZK_PROOF_BYTES];
        fake_proof(expected, script, k);
        assert_memory_equal(w.proof + k * CUZK_PROOF_BYTES, expected, CUZK_PROOF_BYTES);
    }
    /* The result is kept, for anybody who asks. */
    ended again;
    watch(e, "a job", &again);
    assert_int_equal(wait_for(&again), JOB_COMPLETED);
    assert_memory_equal(again.proof, w.proof, w.proof_size);
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.completed[JOB_POREP], 1);
    assert_int_equal(counters.partitions_proved, 7);
    assert_int_equal(counters.pending[JOB_POREP] + counters.running[JOB_POREP], 0);
    assert_int_equal(counters.queued_by_priority[JOB_NORMAL], 0);
    assert_int_equal(counters.memory_reserved, 0);
    engine_forget(e, "a job");
    engine_watch none;
    cuzk_error err;
    assert_int_equal(engine_watch_job(&none, e, "a job", on_done, &again, &err), CUZK_ERR_USAGE);
    assert_string_equal(err.message, "job not found: a job");
    destroy(e);
}

static void test_many_jobs_at_once(void **state) {
    (void)state;
    engine_config c = config();
    c.max_batch_size = 3;
    c.max_batch_wait = 0.01;
    engine *e = create(&c);
    enum { JOBS = 60 };
    static ended w[JOBS];
    static char scripts[JOBS][96];
    for (int i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        snprintf(scripts[i], sizeof scripts[i], "partitions=%d prove=%d circuit=c%d", 1 + i % 4, i % 3,
                 i % 2);
        job_request r = fake_request(id, scripts[i]);
        r.priority = (job_priority)(i % 5);
        r.kind = i % 7 == 0 ? JOB_WINNING_POST : JOB_POREP;
        submit(e, r, 0);
        watch(e, id, &w[i]);
    }
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(wait_for(&w[i]), JOB_COMPLETED);
        for (int k = 0; k < 1 + i % 4; k++) {
            uint8_t expected[CUZK_PROOF_BYTES];
            fake_proof(expected, scripts[i], (uint32_t)k);
            assert_memory_equal(w[i].proof + k * (int)CUZK_PROOF_BYTES, expected, CUZK_PROOF_BYTES);
        }
    }
    engine_snapshot s;
    assert_int_equal(engine_snapshot_take(&s, e, 20, NULL), CUZK_OK);
    assert_int_equal(s.n_jobs, 20);
    assert_int_equal(s.total_jobs, JOBS);
    engine_snapshot_free(&s);
    destroy(e);
}

static void expect_refused(engine *e, job_request r, cuzk_code code, const char *text, bool retry) {
    engine_receipt receipt;
    cuzk_error err;
    bool can_retry = !retry;
    assert_int_equal(engine_submit(e, &r, 0, &receipt, &can_retry, &err), code);
    if (!strstr(err.message, text)) print_error("%s\n", err.message);
    assert_non_null(strstr(err.message, text));
    assert_int_equal(can_retry, retry);
}

static void test_bad_requests(void **state) {
    (void)state;
    engine_config c = config();
    c.max_queue = 2;
    engine *e = create(&c);
    job_request r = fake_request("x", "prove=1");
    r.kind = (job_kind)9;
    expect_refused(e, r, CUZK_ERR_USAGE, "invalid proof_kind: 9", false);
    r.kind = JOB_SNAP;
    expect_refused(e, r, CUZK_ERR_USAGE, "no circuit for proofs of kind snap-update", false);
    expect_refused(e, fake_request("\xff\xfe", "prove=1"), CUZK_ERR_USAGE, "not UTF-8", false);
    expect_refused(e, fake_request("\xed\xa0\x80", "prove=1"), CUZK_ERR_USAGE, "not UTF-8", false);
    char longest[JOB_ID_BYTES + 1];
    memset(longest, 'x', JOB_ID_BYTES);
    longest[JOB_ID_BYTES] = 0;
    expect_refused(e, fake_request(longest, "prove=1"), CUZK_ERR_USAGE, "request_id of 256 bytes", false);
    expect_refused(e, fake_request("x", "nonsense"), CUZK_ERR_INPUT, "'nonsense' is not", false);
    expect_refused(e, fake_request("x", "vectors=99000000"), CUZK_ERR_RESOURCES, "the budget is 64 MiB",
                   false);
    submit(e, fake_request("1", "fail=check:0:1:hang"), 0);
    submit(e, fake_request("2", "prove=1"), 0);
    expect_refused(e, fake_request("3", "prove=1"), CUZK_ERR_RESOURCES, "the queue is full", true);
    engine_drain(e, false);
    expect_refused(e, fake_request("4", "prove=1"), CUZK_ERR_CANCELLED, "shutting down", false);
    assert_int_equal(engine_unfinished(e), 2);
    destroy(e);
}

static void test_same_id(void **state) {
    (void)state;
    engine_config c = config();
    engine *e = create(&c);
    ended first, second, third;
    unsigned proved = fake_begun(STAGE_PROVE);
    submit(e, fake_request("porep-1-2", "prove=40"), 0);
    watch(e, "porep-1-2", &first);
    engine_receipt receipt = submit(e, fake_request("porep-1-2", "prove=40"), 0);
    assert_true(receipt.attached);
    watch(e, "porep-1-2", &second);
    expect_refused(e, fake_request("porep-1-2", "prove=41"), CUZK_ERR_USAGE,
                   "in use by a job with other input", false);
    assert_int_equal(wait_for(&first), JOB_COMPLETED);
    assert_int_equal(wait_for(&second), JOB_COMPLETED);
    receipt = submit(e, fake_request("porep-1-2", "prove=40"), 0);
    assert_true(receipt.attached);
    assert_int_equal(fake_begun(STAGE_PROVE), proved + 1);
    /* After a failure the same request runs afresh, and so may another with its id. */
    assert_int_equal(run_job(e, "f", "fail=check:0:1:error", &third), JOB_FAILED);
    assert_string_equal(third.message, "check of partition 0 fails as told");
    assert_int_equal(run_job(e, "f", "fail=check:0:1:error", &third), JOB_FAILED);
    assert_int_equal(run_job(e, "f", "prove=1", &third), JOB_COMPLETED);
    /* Ids are made where none is given. */
    receipt = submit(e, fake_request(NULL, "prove=1"), 0);
    assert_int_equal(strlen(receipt.id), 36);
    destroy(e);
}

static void test_failures_at_every_stage(void **state) {
    (void)state;
    const char *dir = temp_path("failures");
    engine_config c = config();
    c.failure_dir = dir;
    engine *e = create(&c);
    static const char *const stages[] = {"check", "synthesis", "prove", "verify"};
    for (unsigned s = 0; s < 4; s++) {
        char script[128], id[32];
        ended w;
        snprintf(script, sizeof script, "partitions=3 fail=%s:0:1:error", stages[s]);
        snprintf(id, sizeof id, "error-%u", s);
        assert_int_equal(run_job(e, id, script, &w), JOB_FAILED);
        /* A self-check that fails once leads to a second computation, twice to a failure. */
        snprintf(script, sizeof script, "partitions=3 fail=%s:0:1:selfcheck", stages[s]);
        snprintf(id, sizeof id, "once-%u", s);
        assert_int_equal(run_job(e, id, script, &w), s == 0 ? JOB_FAILED : JOB_COMPLETED);
        snprintf(script, sizeof script, "partitions=3 fail=%s:0:1:selfcheck fail=%s:0:2:selfcheck", stages[s],
                 stages[s]);
        snprintf(id, sizeof id, "twice-%u", s);
        assert_int_equal(run_job(e, id, script, &w), JOB_FAILED);
        assert_string_equal(w.message, "self-check failed: as told");
    }
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.self_check_failures, 2 + 3 * 3);
    assert_int_equal(counters.retries, 3 * 2);
    destroy(e);
    /* The inputs of jobs that failed their self-checks are kept, five of them. */
    unsigned kept = 0;
    DIR *d = opendir(dir);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/job.json", dir, entry->d_name);
        assert_int_equal(access(path, R_OK), 0);
        kept++;
    }
    closedir(d);
    assert_int_equal(kept, 5);
}

/* What does not go from the folder of failures holds nobody up, and does not keep the others. */
static void test_kept_inputs_are_bounded(void **state) {
    (void)state;
    const char *dir = temp_path("bounded");
    char path[512];
    engine_config c = config();
    c.failure_dir = dir;
    c.failure_bytes = 2000;
    engine *e = create(&c);
    for (int i = 0; i < 12; i++) {
        char id[32];
        ended w;
        snprintf(id, sizeof id, "bad-%d", i);
        assert_int_equal(run_job(e, id, "fail=check:0:1:selfcheck", &w), JOB_FAILED);
        if (i > 0) continue;
        snprintf(path, sizeof path, "%s/000001-porep-c2/notes", dir);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fclose(f);
    }
    destroy(e);
    unsigned kept = 0;
    DIR *d = opendir(dir);
    for (struct dirent *entry; (entry = readdir(d));) kept += entry->d_name[0] != '.';
    closedir(d);
    assert_in_range(kept, 2, 7);
    assert_int_equal(access(path, F_OK), 0);
}

static void test_cancel(void **state) {
    (void)state;
    engine_config c = config();
    engine *e = create(&c);
    static const char *const stages[] = {"check", "synthesis", "prove", "verify"};
    for (unsigned s = 0; s < 4; s++) {
        char script[64], id[32];
        ended w;
        bool was_running;
        unsigned begun = fake_begun((stage_kind)s);
        snprintf(script, sizeof script, "partitions=2 fail=%s:0:1:hang", stages[s]);
        snprintf(id, sizeof id, "c%u", s);
        submit(e, fake_request(id, script), 0);
        watch(e, id, &w);
        wait_until_begun((stage_kind)s, begun + 1);
        engine_cancel(e, id, &was_running);
        assert_true(was_running);
        assert_int_equal(wait_for(&w), JOB_CANCELLED);
        engine_cancel(e, id, &was_running);
        assert_false(was_running);
    }
    /* The reason is the cancellation, not what a first attempt failed with. */
    ended again;
    unsigned tried = fake_begun(STAGE_PROVE);
    submit(e, fake_request("again", "fail=prove:0:1:selfcheck fail=prove:0:2:hang"), 0);
    watch(e, "again", &again);
    wait_until_begun(STAGE_PROVE, tried + 2);
    engine_cancel(e, "again", NULL);
    assert_int_equal(wait_for(&again), JOB_CANCELLED);
    assert_string_equal(again.message, "cancelled");
    /* A deadline does the same. */
    job_request r = fake_request("late", "fail=prove:0:1:hang");
    r.deadline = 0.05;
    ended w;
    submit(e, r, 0);
    watch(e, "late", &w);
    assert_int_equal(wait_for(&w), JOB_TIMEOUT);
    /* And so does the last watcher's leaving, if nobody else wants the result. */
    ended never;
    unsigned begun = fake_begun(STAGE_PROVE);
    engine_receipt receipt = submit(e, fake_request("lonely", "fail=prove:0:1:hang"), ENGINE_WHILE_WATCHED);
    engine_watch handle = watch(e, "lonely", &never);
    assert_true(engine_unwatch(e, receipt.hold));
    wait_until_begun(STAGE_PROVE, begun + 1);
    assert_true(engine_unwatch(e, handle));
    assert_false(engine_unwatch(e, handle));
    while (engine_unfinished(e) > 0) usleep(1000);
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.cancelled[JOB_POREP], 6);
    assert_int_equal(counters.timed_out[JOB_POREP], 1);
    assert_int_equal(counters.memory_reserved, 0);
    assert_int_equal(counters.cores_busy, 0);
    destroy(e);
}

/* In a batch with a job that goes on: the cancelled one ends now, the other one when it is proved. */
static void test_cancel_in_a_batch(void **state) {
    (void)state;
    engine_config c = config();
    c.max_batch_size = 3;
    c.max_batch_wait = 30;
    engine *e = create(&c);
    unsigned begun = fake_begun(STAGE_PROVE);
    ended w[3], again;
    static const char *const ids[] = {"first", "second", "third"};
    static const char *const scripts[] = {"prove=2", "fail=prove:0:1:hang", "prove=3"};
    for (int i = 0; i < 3; i++) {
        job_request r = fake_request(ids[i], scripts[i]);
        if (i == 2) r.deadline = 1;
        submit(e, r, 0);
        watch(e, ids[i], &w[i]);
    }
    wait_until_begun(STAGE_PROVE, begun + 2);
    engine_cancel(e, "first", NULL);
    assert_int_equal(wait_for(&w[0]), JOB_CANCELLED);
    assert_int_equal(wait_for(&w[2]), JOB_TIMEOUT);
    /* Nobody has to wait for the batch to try again. */
    job_request urgent = fake_request("first", "prove=2");
    urgent.priority = JOB_CRITICAL;
    assert_false(submit(e, urgent, 0).attached);
    watch(e, "first", &again);
    assert_int_equal(wait_for(&again), JOB_COMPLETED);
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.pending[JOB_POREP] + counters.running[JOB_POREP], 1);
    assert_int_equal(counters.queued_by_priority[JOB_NORMAL], 1);
    engine_cancel(e, "second", NULL);
    assert_int_equal(wait_for(&w[1]), JOB_CANCELLED);
    while (fake_alive() > 0) usleep(1000);
    engine_get_counters(&counters, e);
    assert_int_equal(counters.partitions_by_stage[STAGE_PROVE], 0);
    assert_int_equal(counters.running[JOB_POREP], 0);
    assert_int_equal(counters.memory_reserved, 0);
    assert_int_equal(counters.paused_now, 0);
    destroy(e);
}

/* Who has submitted is not forgotten before it watches, however others come and go, and its deadline counts.
 */
static void test_one_of_several_leaves(void **state) {
    (void)state;
    engine_config c = config();
    engine *e = create(&c);
    unsigned begun = fake_begun(STAGE_PROVE);
    ended never, w;
    job_request r = fake_request("shared", "prove=60");
    r.deadline = 600;
    engine_receipt first = submit(e, r, ENGINE_WHILE_WATCHED);
    r = fake_request("shared", "prove=60");
    r.deadline = 3600;
    engine_receipt second = submit(e, r, ENGINE_WHILE_WATCHED);
    assert_true(second.attached);
    engine_snapshot s;
    assert_int_equal(engine_snapshot_take(&s, e, 100, NULL), CUZK_OK);
    assert_int_equal(s.n_jobs, 1);
    assert_true(s.jobs[0].deadline > 1000);
    engine_snapshot_free(&s);
    engine_watch handle = watch(e, "shared", &never);
    assert_true(engine_unwatch(e, first.hold));
    assert_true(engine_unwatch(e, handle));
    wait_until_begun(STAGE_PROVE, begun + 1);
    watch(e, "shared", &w);
    assert_true(engine_unwatch(e, second.hold));
    assert_int_equal(wait_for(&w), JOB_COMPLETED);
    /* A result that is there needs no holding. */
    engine_receipt third = submit(e, fake_request("shared", "prove=60"), ENGINE_WHILE_WATCHED);
    assert_true(third.attached);
    assert_int_equal(third.hold, 0);
    /* One who leaves without ever watching. */
    engine_receipt last = submit(e, fake_request("unwanted", "fail=prove:0:1:hang"), ENGINE_WHILE_WATCHED);
    assert_true(engine_unwatch(e, last.hold));
    while (engine_unfinished(e) > 0) usleep(1000);
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.cancelled[JOB_POREP], 1);
    destroy(e);
}

/* Stages that start in quick succession all get a thread, whether or not those that are idle have woken. */
static void test_every_stage_gets_a_thread(void **state) {
    (void)state;
    engine_config c = config();
    c.threads = 16; /* cores for all of them */
    for (int round = 0; round < 10; round++) {
        engine *e = create(&c);
        ended w;
        assert_int_equal(run_job(e, "first", "prove=1", &w), JOB_COMPLETED);
        while (engine_unfinished(e) > 0) usleep(200);
        unsigned begun = fake_begun(STAGE_CHECK);
        for (int p = JOB_LOW; p <= JOB_CRITICAL; p++) {
            char id[32];
            snprintf(id, sizeof id, "job-%d", p);
            job_request r = fake_request(id, "fail=check:0:1:hang");
            r.priority = (job_priority)p;
            submit(e, r, 0);
        }
        wait_until_begun(STAGE_CHECK, begun + 4);
        destroy(e);
    }
}

static void test_submit_and_cancel_often(void **state) {
    (void)state;
    engine_config c = config();
    c.max_queue = 20000;
    engine *e = create(&c);
    enum { JOBS = 10000 };
    for (int i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "n%d", i);
        submit(e, fake_request(id, "partitions=2 synthesis=1 prove=2"), 0);
        if (i % 50 == 0) usleep(2000);
        engine_cancel(e, id, NULL);
    }
    while (engine_unfinished(e) > 0) usleep(1000);
    assert_int_equal(fake_alive(), 0);
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.completed[JOB_POREP] + counters.cancelled[JOB_POREP], JOBS);
    assert_int_equal(counters.memory_reserved, 0);
    destroy(e);
}

typedef struct order {
    pthread_mutex_t mutex;
    char text[4096];
} order;

static void note_event(void *ctx, const engine_event *event) {
    order *o = ctx;
    if (event->kind != ENGINE_FINISHED && event->kind != ENGINE_PAUSED && event->kind != ENGINE_RESUMED)
        return;
    pthread_mutex_lock(&o->mutex);
    size_t at = strlen(o->text);
    const char *what = event->kind == ENGINE_FINISHED ? "finished"
                       : event->kind == ENGINE_PAUSED ? "paused"
                                                      : "resumed";
    snprintf(o->text + at, sizeof o->text - at, "%s %s,", event->job_id, what);
    pthread_mutex_unlock(&o->mutex);
}

static void test_attaching_raises_the_priority(void **state) {
    (void)state;
    order o = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    engine_config c = config();
    c.event = note_event;
    c.event_ctx = &o;
    engine *e = create(&c);
    ended slow, wanted;
    unsigned begun = fake_begun(STAGE_PROVE);
    submit(e, fake_request("slow", "prove=300"), 0);
    watch(e, "slow", &slow);
    submit(e, fake_request("wanted", "prove=10"), 0);
    watch(e, "wanted", &wanted);
    wait_until_begun(STAGE_PROVE, begun + 1);
    job_request again = fake_request("wanted", "prove=10");
    again.priority = JOB_CRITICAL;
    assert_true(submit(e, again, 0).attached);
    engine_counters counters;
    assert_int_equal(wait_for(&wanted), JOB_COMPLETED);
    assert_int_equal(wait_for(&slow), JOB_COMPLETED);
    engine_get_counters(&counters, e);
    for (unsigned p = 0; p < JOB_PRIORITIES; p++) assert_int_equal(counters.queued_by_priority[p], 0);
    destroy(e);
    const char *wanted_end = strstr(o.text, "wanted finished,"), *slow_end = strstr(o.text, "slow finished,");
    assert_non_null(wanted_end);
    assert_non_null(slow_end);
    assert_true(wanted_end < slow_end);
}

static void test_results_are_bounded(void **state) {
    (void)state;
    engine_config c = config();
    c.result_bytes = 4 * CUZK_PROOF_BYTES;
    engine *e = create(&c);
    ended w;
    for (int i = 0; i < 10; i++) {
        char id[32];
        snprintf(id, sizeof id, "r%d", i);
        assert_int_equal(run_job(e, id, "prove=1", &w), JOB_COMPLETED);
    }
    engine_snapshot s;
    unsigned kept = 100;
    for (int tries = 0; tries < 1000 && kept > 4; tries++) {
        assert_int_equal(engine_snapshot_take(&s, e, 20, NULL), CUZK_OK);
        kept = (unsigned)s.n_jobs;
        engine_snapshot_free(&s);
        usleep(1000);
    }
    assert_int_equal(kept, 4);
    engine_watch none;
    assert_int_equal(engine_watch_job(&none, e, "r0", on_done, &w, NULL), CUZK_ERR_USAGE);
    assert_int_equal(run_job(e, "r9", "prove=1", &w), JOB_COMPLETED);
    destroy(e);
}

static void test_urgent_job_overtakes(void **state) {
    (void)state;
    order o = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    engine_config c = config();
    c.event = note_event;
    c.event_ctx = &o;
    engine *e = create(&c);
    ended slow, quick;
    unsigned begun = fake_begun(STAGE_PROVE);
    submit(e, fake_request("slow", "prove=600"), 0);
    watch(e, "slow", &slow);
    wait_until_begun(STAGE_PROVE, begun + 1);
    job_request r = fake_request("quick", "prove=20");
    r.kind = JOB_WINNING_POST;
    submit(e, r, 0);
    watch(e, "quick", &quick);
    assert_int_equal(wait_for(&quick), JOB_COMPLETED);
    assert_int_equal(wait_for(&slow), JOB_COMPLETED);
    destroy(e);
    assert_non_null(strstr(o.text, "slow paused,"));
    char *quick_end = strstr(o.text, "quick finished,"), *slow_end = strstr(o.text, "slow finished,");
    assert_non_null(quick_end);
    assert_non_null(slow_end);
    assert_true(quick_end < slow_end);
    assert_true(quick.timings.total < slow.timings.total);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_proof_in_order),
                                       cmocka_unit_test(test_many_jobs_at_once),
                                       cmocka_unit_test(test_bad_requests),
                                       cmocka_unit_test(test_same_id),
                                       cmocka_unit_test(test_failures_at_every_stage),
                                       cmocka_unit_test(test_kept_inputs_are_bounded),
                                       cmocka_unit_test(test_cancel),
                                       cmocka_unit_test(test_cancel_in_a_batch),
                                       cmocka_unit_test(test_one_of_several_leaves),
                                       cmocka_unit_test(test_every_stage_gets_a_thread),
                                       cmocka_unit_test(test_submit_and_cancel_often),
                                       cmocka_unit_test(test_attaching_raises_the_priority),
                                       cmocka_unit_test(test_results_are_bounded),
                                       cmocka_unit_test(test_urgent_job_overtakes)};
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
