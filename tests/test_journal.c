/* Jobs that outlive the process: what is recorded, what comes back and in which order, what damage and a full
 * disk do, and that killing the process at any moment loses nothing that was acknowledged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_backend.h"
#include "rng.h"
#include "server/job_input.h"
#include "server/journal.h"
#include "temp_dir.h"

/* --- an engine on a journal --- */

static atomic_bool held; /* no job gets past its first stage */

static cuzk_code held_check(void *task, const backend_stage *s, cuzk_error *err) {
    while (held) {
        if (pool_check(s->lane, err) != CUZK_OK) return CUZK_ERR_CANCELLED;
        usleep(500);
    }
    return fake_backend.check(task, s, err);
}

static engine_backend backend;

static pthread_mutex_t order_mutex = PTHREAD_MUTEX_INITIALIZER;
static char submitted[64][JOB_ID_BYTES]; /* in order */
static unsigned n_submitted;

static void on_event(void *ctx, const engine_event *event) {
    (void)ctx;
    if (event->kind != ENGINE_SUBMITTED) return;
    pthread_mutex_lock(&order_mutex);
    if (n_submitted < 64) snprintf(submitted[n_submitted++], JOB_ID_BYTES, "%s", event->job_id);
    pthread_mutex_unlock(&order_mutex);
}

static const journal_limits roomy = {3600, UINT64_C(64) << 20};

typedef struct house {
    journal *j;
    engine *e;
    journal_resumed resumed;
} house;

static cuzk_code enter(house *h, const char *directory, const journal_limits *limits, cuzk_error *err) {
    engine_config c;
    engine_config_default(&c);
    backend = fake_backend;
    backend.check = held_check;
    c.threads = 2;
    c.memory_budget = 256u << 20;
    c.max_queue = 4096;
    c.backends[JOB_POREP] = &backend;
    c.event = on_event;
    *h = (house){.j = NULL};
    n_submitted = 0;
    TRY(journal_open(&h->j, directory, limits, err));
    c.store = journal_store(h->j);
    cuzk_code code = engine_create(&h->e, &c, err);
    if (code == CUZK_OK) code = journal_resume(&h->resumed, h->j, h->e, err);
    return code;
}

static void leave(house *h) {
    engine_destroy(h->e);
    journal_close(h->j);
    assert_int_equal(fake_alive(), 0);
}

static house start_limited(const char *directory, const journal_limits *limits) {
    house h;
    cuzk_error err;
    cuzk_code code = enter(&h, directory, limits, &err);
    if (code != CUZK_OK) print_error("%s: %s\n", err.path, err.message);
    assert_int_equal(code, CUZK_OK);
    return h;
}
static house start(const char *directory) {
    return start_limited(directory, &roomy);
}

static cuzk_code submit(house *h, const char *id, const char *script, unsigned flags, cuzk_error *err) {
    job_request r = fake_request(id, script);
    engine_receipt receipt;
    return engine_submit(h->e, &r, flags, &receipt, NULL, err);
}
static void submit_durable(house *h, const char *id, const char *script) {
    cuzk_error err;
    cuzk_code code = submit(h, id, script, ENGINE_DURABLE, &err);
    if (code != CUZK_OK) print_error("%s: %s\n", err.path, err.message);
    assert_int_equal(code, CUZK_OK);
}

typedef struct ended {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
    job_state state;
    uint8_t proof[8 * CUZK_PROOF_BYTES];
    size_t proof_size;
    char message[768], path[512];
} ended;

static void on_done(void *ctx, const engine_result *r) {
    ended *w = ctx;
    pthread_mutex_lock(&w->mutex);
    w->state = r->state;
    w->proof_size = r->proof_size;
    if (r->proof_size > 0 && r->proof_size <= sizeof w->proof) memcpy(w->proof, r->proof, r->proof_size);
    if (r->error) {
        snprintf(w->message, sizeof w->message, "%s", r->error->message);
        snprintf(w->path, sizeof w->path, "%s", r->error->path);
    }
    w->done = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->mutex);
}

/* Wait for a job's end. False when it is unknown. */
static bool wait_for(ended *w, house *h, const char *id) {
    engine_watch handle;
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->cond, NULL);
    bool known = engine_watch_job(&handle, h->e, id, on_done, w, NULL) == CUZK_OK;
    pthread_mutex_lock(&w->mutex);
    while (known && !w->done) pthread_cond_wait(&w->cond, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->cond);
    return known;
}

static void expect_proof(house *h, const char *id, const char *script, unsigned partitions) {
    ended w;
    assert_true(wait_for(&w, h, id));
    if (w.state != JOB_COMPLETED) print_error("%s: %s\n", id, w.message);
    assert_int_equal(w.state, JOB_COMPLETED);
    assert_int_equal(w.proof_size, partitions * CUZK_PROOF_BYTES);
    for (uint32_t k = 0; k < partitions; k++) {
        uint8_t expected[CUZK_PROOF_BYTES];
        fake_proof(expected, script, k);
        assert_memory_equal(w.proof + k * CUZK_PROOF_BYTES, expected, CUZK_PROOF_BYTES);
    }
}

static void expect_failure(house *h, const char *id, job_state state, const char *message) {
    ended w;
    assert_true(wait_for(&w, h, id));
    assert_int_equal(w.state, state);
    if (!strstr(w.message, message)) print_error("%s\n", w.message);
    assert_non_null(strstr(w.message, message));
}

/* --- what lies in the directory --- */

static const char *fresh(const char *name) {
    return temp_path(name);
}

/* Files in inputs; the path of one of them in `path`, unless NULL. */
static unsigned inputs(const char *directory, char path[1024]) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s/inputs", directory);
    DIR *d = opendir(folder);
    unsigned n = 0;
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (entry->d_name[0] == '.') continue;
        n++;
        if (path) snprintf(path, 1024, "%s/%s", folder, entry->d_name);
    }
    closedir(d);
    return n;
}

static void change_byte(const char *path, off_t at) {
    int fd = open(path, O_RDWR);
    uint8_t byte;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x40;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static uint8_t *slurp(size_t *size, const char *path) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    uint8_t *bytes = malloc(1u << 22);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1u << 22, f);
    fclose(f);
    return bytes;
}

/* Run SQL on a database that nobody has open; returns the first column of the last row. */
static int64_t query(const char *directory, const char *text) {
    char path[512];
    sqlite3 *db;
    sqlite3_stmt *s;
    int64_t out = -1;
    snprintf(path, sizeof path, "%s/jobs.db", directory);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) out = sqlite3_column_int64(s, 0);
    assert_int_equal(rc, SQLITE_DONE);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return out;
}

/* --- tests --- */

static void test_input_file(void **state) {
    (void)state;
    const job_bytes proofs[] = {{(const uint8_t *)"one", 3}, {NULL, 0}, {(const uint8_t *)"three", 5}};
    const job_request all = {.kind = JOB_SNAP,
                             .sector_size = 2048,
                             .registered_proof = 17,
                             .vanilla_proof = {(const uint8_t *)"{}", 2},
                             .vanilla_proofs = proofs,
                             .n_vanilla_proofs = 3,
                             .sector_number = 1u << 20,
                             .miner_id = UINT64_MAX,
                             .randomness = {(const uint8_t *)"random", 6},
                             .partition_index = 9,
                             .comm_r_old = {(const uint8_t *)"old", 3},
                             .comm_r_new = {(const uint8_t *)"newer", 5},
                             .comm_d_new = {(const uint8_t *)"d", 1}};
    uint8_t digest[32], other[32] = {1};
    cuzk_error err;
    job_request back;
    const char *path = temp_path("input");
    job_request_digest(digest, &all);
    assert_int_equal(job_input_write(path, digest, &all, &err), CUZK_OK);
    assert_int_equal(job_input_read(&back, path, digest, &err), CUZK_OK);
    assert_int_equal(back.kind, JOB_SNAP);
    assert_int_equal(back.miner_id, UINT64_MAX);
    assert_int_equal(back.partition_index, 9);
    assert_int_equal(back.n_vanilla_proofs, 3);
    assert_memory_equal(back.vanilla_proofs[2].data, "three", 5);
    assert_memory_equal(back.comm_r_new.data, "newer", 5);
    job_request_release(&back);
    assert_int_equal(job_input_read(&back, path, other, &err), CUZK_ERR_INPUT);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, job_input_size(&all));
    /* Every byte counts, and so does the length. */
    for (off_t at = 0; at < status.st_size; at++) {
        change_byte(path, at);
        assert_int_equal(job_input_read(&back, path, digest, &err), CUZK_ERR_INPUT);
        assert_null(back.owner);
        change_byte(path, at);
    }
    for (off_t size = status.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(job_input_read(&back, path, digest, &err), CUZK_ERR_INPUT);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(job_input_read(&back, path, digest, &err), CUZK_ERR_INPUT);
}

static void test_results_stay(void **state) {
    (void)state;
    const char *directory = fresh("results");
    house h = start(directory);
    submit_durable(&h, "good", "partitions=3 prove=2");
    submit_durable(&h, "bad", "fail=check:0:1:error");
    expect_proof(&h, "good", "partitions=3 prove=2", 3);
    expect_failure(&h, "bad", JOB_FAILED, "check of partition 0 fails as told");
    assert_int_equal(inputs(directory, NULL), 0);
    leave(&h);
    unsigned begun = fake_begun(STAGE_PROVE);
    h = start(directory);
    assert_int_equal(h.resumed.results, 2);
    assert_int_equal(h.resumed.jobs, 0);
    expect_proof(&h, "good", "partitions=3 prove=2", 3);
    expect_failure(&h, "bad", JOB_FAILED, "check of partition 0 fails as told");
    assert_int_equal(fake_begun(STAGE_PROVE), begun);
    /* The same id and input gets the result; other input does not; after a failure it is a fresh run. */
    cuzk_error err;
    submit_durable(&h, "good", "partitions=3 prove=2");
    assert_int_equal(fake_begun(STAGE_PROVE), begun);
    assert_int_equal(submit(&h, "good", "partitions=4", ENGINE_DURABLE, &err), CUZK_ERR_USAGE);
    submit_durable(&h, "bad", "prove=1");
    expect_proof(&h, "bad", "prove=1", 1);
    engine_forget(h.e, "good");
    leave(&h);
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs"), 1);
    h = start(directory);
    ended w;
    assert_false(wait_for(&w, &h, "good"));
    expect_proof(&h, "bad", "prove=1", 1);
    leave(&h);
    /* A proof that is not as it was recorded is not given out. */
    query(directory, "UPDATE jobs SET proof = zeroblob(192)");
    h = start(directory);
    expect_failure(&h, "bad", JOB_FAILED, "damaged");
    leave(&h);
}

static void test_resume_in_order(void **state) {
    (void)state;
    const char *directory = fresh("order");
    house h = start(directory);
    char id[32];
    held = true;
    for (unsigned i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "job %u", i * 7 % 20);
        submit_durable(&h, id, i % 2 ? "partitions=2" : "partitions=1");
    }
    cuzk_error err;
    assert_int_equal(submit(&h, "in memory", "partitions=3", 0, &err), CUZK_OK);
    job_request late = fake_request("late", "partitions=4");
    late.deadline = 0.05;
    engine_receipt receipt;
    assert_int_equal(inputs(directory, NULL), 2); /* shared */
    assert_int_equal(engine_submit(h.e, &late, ENGINE_DURABLE, &receipt, NULL, &err), CUZK_OK);
    bool was_running;
    engine_cancel(h.e, "job 0", &was_running);
    expect_failure(&h, "job 0", JOB_CANCELLED, "cancelled");
    leave(&h); /* cuts the others off: they go on in the next process */
    usleep(60000);
    for (unsigned round = 0; round < 2; round++) {
        h = start(directory);
        assert_int_equal(h.resumed.jobs, 19);
        assert_int_equal(h.resumed.results + h.resumed.failed, 2);
        expect_failure(&h, "job 0", JOB_CANCELLED, "cancelled");
        expect_failure(&h, "late", JOB_TIMEOUT, "deadline passed");
        ended w;
        assert_false(wait_for(&w, &h, "in memory"));
        if (round == 0) leave(&h);
    }
    held = false;
    for (unsigned i = 1; i < 20; i++) {
        snprintf(id, sizeof id, "job %u", i * 7 % 20);
        expect_proof(&h, id, i % 2 ? "partitions=2" : "partitions=1", i % 2 ? 2 : 1);
    }
    pthread_mutex_lock(&order_mutex);
    assert_int_equal(n_submitted, 19);
    for (unsigned i = 1; i < 20; i++) {
        snprintf(id, sizeof id, "job %u", i * 7 % 20);
        assert_string_equal(submitted[i - 1], id);
    }
    pthread_mutex_unlock(&order_mutex);
    while (engine_unfinished(h.e) > 0) usleep(1000);
    assert_int_equal(inputs(directory, NULL), 0);
    leave(&h);
}

static void test_attached(void **state) {
    (void)state;
    const char *directory = fresh("attached");
    house h = start(directory);
    cuzk_error err;
    /* To a job that only memory has, before and after its end. */
    assert_int_equal(submit(&h, "first", "partitions=2", 0, &err), CUZK_OK);
    expect_proof(&h, "first", "partitions=2", 2);
    submit_durable(&h, "first", "partitions=2");
    held = true;
    assert_int_equal(submit(&h, "second", "partitions=3", 0, &err), CUZK_OK);
    for (unsigned i = 0; i < 3; i++) submit_durable(&h, "second", "partitions=3");
    assert_int_equal(inputs(directory, NULL), 1);
    leave(&h);
    held = false;
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs"), 2);
    h = start(directory);
    assert_int_equal(h.resumed.jobs, 1);
    assert_int_equal(h.resumed.results, 1);
    expect_proof(&h, "first", "partitions=2", 2);
    expect_proof(&h, "second", "partitions=3", 3);
    leave(&h);
}

static void *attach(void *arg) {
    house *h = arg;
    for (unsigned i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "shared %u", i);
        if (submit(h, id, "partitions=2", i % 3 ? ENGINE_DURABLE : 0, NULL) != CUZK_OK) return h;
    }
    return NULL;
}

/* Equal submissions from several threads: one row each, one input for all. */
static void test_attach_at_once(void **state) {
    (void)state;
    const char *directory = fresh("at once");
    house h = start(directory);
    pthread_t threads[4];
    for (unsigned t = 0; t < 4; t++) assert_int_equal(pthread_create(&threads[t], NULL, attach, &h), 0);
    for (unsigned t = 0; t < 4; t++) {
        void *failed;
        pthread_join(threads[t], &failed);
        assert_null(failed);
    }
    for (unsigned i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "shared %u", i);
        expect_proof(&h, id, "partitions=2", 2);
    }
    assert_int_equal(inputs(directory, NULL), 0);
    leave(&h);
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs WHERE state = 2"), 13);
}

static void test_damaged_inputs(void **state) {
    (void)state;
    static const char *const scripts[] = {"prove=1", "prove=2", "prove=3"};
    char path[1024];
    struct stat status;
    for (unsigned how = 0; how < 3; how++) {
        char name[32];
        snprintf(name, sizeof name, "inputs%u", how);
        const char *directory = fresh(name);
        house h = start(directory);
        held = true;
        submit_durable(&h, "damaged", scripts[how]);
        assert_int_equal(inputs(directory, path), 1);
        submit_durable(&h, "whole", "prove=4");
        leave(&h);
        assert_int_equal(stat(path, &status), 0);
        if (how == 0) assert_int_equal(truncate(path, status.st_size - 1), 0);
        if (how == 1) assert_int_equal(unlink(path), 0);
        if (how == 2) change_byte(path, status.st_size - 1);
        held = false;
        h = start(directory);
        assert_int_equal(h.resumed.failed, 1);
        assert_int_equal(h.resumed.jobs, 1);
        expect_failure(&h, "damaged", JOB_FAILED, how == 1 ? "No such file" : "damaged");
        expect_proof(&h, "whole", "prove=4", 1);
        leave(&h);
        h = start(directory);
        assert_int_equal(h.resumed.results, 2);
        expect_failure(&h, "damaged", JOB_FAILED, how == 1 ? "No such file" : "damaged");
        leave(&h);
        assert_int_equal(inputs(directory, NULL), 0);
    }
}

/* Leftovers of writes that were cut off go; files of others stay. */
static void test_leftovers(void **state) {
    (void)state;
    static const char *const names[] = {
        "inputs/0000000000000000000000000000000000000000000000000000000000000000",
        "inputs/0000000000000000000000000000000000000000000000000000000000000001.77-0.tmp",
        "jobs.db.new",
        "jobs.db.new-journal",
        "inputs/README",
        "inputs/000000000000000000000000000000000000000000000000000000000000000g",
    };
    const char *directory = fresh("leftovers");
    char path[1024];
    snprintf(path, sizeof path, "%s/inputs", directory);
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    for (unsigned i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs("text", f);
        fclose(f);
    }
    house h = start(directory);
    for (unsigned i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_int_equal(access(path, F_OK) == 0, i >= 4);
    }
    leave(&h);
}

/* Each is refused, and stays as it was to the byte. */
static void expect_refused(const char *directory, const char *message) {
    char path[1024];
    size_t before_size, after_size;
    cuzk_error err;
    journal *j;
    snprintf(path, sizeof path, "%s/jobs.db", directory);
    uint8_t *before = slurp(&before_size, path);
    assert_int_equal(journal_open(&j, directory, &roomy, &err), CUZK_ERR_INPUT);
    assert_null(j);
    if (!strstr(err.message, message)) print_error("%s\n", err.message);
    assert_non_null(strstr(err.message, message));
    assert_string_equal(err.path, path);
    uint8_t *after = slurp(&after_size, path);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_foreign_databases(void **state) {
    (void)state;
    const char *directory = fresh("foreign");
    char path[1024], id[32];
    assert_int_equal(mkdir(directory, 0700), 0);
    snprintf(path, sizeof path, "%s/jobs.db", directory);
    write_file(path, "");
    expect_refused(directory, "no SQLite database");
    write_file(path,
               "not a database, but more than a hundred bytes, so that a whole header could be read of it: "
               "it is text, and it matters to somebody.");
    expect_refused(directory, "no SQLite database");
    unlink(path);
    query(directory, "CREATE TABLE jobs (seq INTEGER, id TEXT)");
    expect_refused(directory, "application 00000000");
    unlink(path);

    house h = start(directory);
    held = false;
    for (unsigned i = 0; i < 60; i++) {
        snprintf(id, sizeof id, "%u", i);
        submit_durable(&h, id, "partitions=4");
        expect_proof(&h, id, "partitions=4", 4);
    }
    leave(&h);
    query(directory, "PRAGMA user_version = 2");
    expect_refused(directory, "version 2, this build reads 1");
    query(directory, "PRAGMA user_version = 1");
    h = start(directory);
    leave(&h);
    /* Damage in the pages: the first byte of each tells what it is. */
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size > 3 * 4096);
    for (off_t page = 1; page * 4096 < status.st_size; page += 5) {
        change_byte(path, page * 4096);
        expect_refused(directory, "");
        change_byte(path, page * 4096);
    }
    assert_int_equal(truncate(path, status.st_size - 4096), 0);
    expect_refused(directory, "");
}

static void test_one_user(void **state) {
    (void)state;
    const char *directory = fresh("one user");
    char text[64];
    cuzk_error err;
    journal *second;
    house h = start(directory);
    snprintf(text, sizeof text, "in use by another daemon, process %ld", (long)getpid());
    assert_int_equal(journal_open(&second, directory, &roomy, &err), CUZK_ERR_RESOURCES);
    assert_string_equal(err.message, text);
    assert_string_equal(err.path, directory);
    submit_durable(&h, "a", "prove=1");
    expect_proof(&h, "a", "prove=1", 1);
    leave(&h);
    assert_int_equal(journal_open(&second, directory, &roomy, &err), CUZK_OK);
    journal_close(second);
    char deep[600];
    snprintf(deep, sizeof deep, "%s/absent/deep", directory);
    assert_int_equal(journal_open(&second, deep, &roomy, &err), CUZK_ERR_USAGE);
}

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that takes no more: of inputs, then of the database. */
static void test_full_disk(void **state) {
    (void)state;
    const char *directory = fresh("full");
    char large[4096];
    cuzk_error err;
    ended w;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    house h = start(directory);
    submit_durable(&h, "before", "prove=1");
    expect_proof(&h, "before", "prove=1", 1);
    memset(large, ' ', sizeof large);
    memcpy(large, "prove=1", 7);
    large[sizeof large - 1] = 0;
    held = true;
    limit_files(2000);
    assert_int_equal(submit(&h, "input", large, ENGINE_DURABLE, &err), CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, "bytes"));
    assert_int_equal(submit(&h, "row", "prove=2", ENGINE_DURABLE, &err), CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, "recording a job"));
    limit_files(before.rlim_cur);
    assert_int_equal(inputs(directory, NULL), 0);
    held = false;
    while (engine_unfinished(h.e) > 0) usleep(1000);
    /* An end that cannot be written: the job is over here, and runs again in the next process. */
    submit_durable(&h, "after", "prove=2");
    expect_proof(&h, "after", "prove=2", 1);
    held = true;
    submit_durable(&h, "again", "prove=3");
    limit_files(2000);
    held = false;
    expect_proof(&h, "again", "prove=3", 1);
    limit_files(before.rlim_cur);
    leave(&h);
    h = start(directory);
    assert_int_equal(h.resumed.results, 2);
    assert_int_equal(h.resumed.jobs, 1);
    assert_false(wait_for(&w, &h, "input"));
    assert_false(wait_for(&w, &h, "row"));
    expect_proof(&h, "before", "prove=1", 1);
    expect_proof(&h, "again", "prove=3", 1);
    leave(&h);
    /* No room for a new journal: nothing stays of it. */
    const char *none = fresh("none");
    limit_files(2000);
    journal *j;
    assert_int_equal(journal_open(&j, none, &roomy, &err), CUZK_ERR_RESOURCES);
    limit_files(before.rlim_cur);
    char path[1024];
    static const char *const names[] = {"jobs.db", "jobs.db.new", "jobs.db.new-journal"};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", none, names[i]);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(journal_open(&j, none, &roomy, &err), CUZK_OK);
    journal_close(j);
    signal(SIGXFSZ, SIG_DFL);
}

static void test_bounded(void **state) {
    (void)state;
    const char *directory = fresh("bounded");
    journal_limits few = {3600, 5 * (512 + 192)};
    house h = start_limited(directory, &few);
    char id[32];
    for (unsigned i = 0; i < 12; i++) {
        snprintf(id, sizeof id, "%u", i);
        submit_durable(&h, id, "prove=1");
        expect_proof(&h, id, "prove=1", 1);
    }
    leave(&h);
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs"), 5);
    assert_int_equal(query(directory, "SELECT min(cast(id AS INTEGER)) FROM jobs"), 7);
    /* Too old: the clock of the rows is the system's. */
    query(directory, "UPDATE jobs SET ended = ended - 3601000 WHERE id IN ('8', '10')");
    h = start_limited(directory, &few);
    assert_int_equal(h.resumed.results, 3);
    ended w;
    assert_false(wait_for(&w, &h, "8"));
    journal_limits none = {3600, 0};
    journal_set_limits(h.j, &none);
    submit_durable(&h, "last", "prove=1");
    expect_proof(&h, "last", "prove=1", 1);
    leave(&h);
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs"), 0);
}

/* --- kill -9 --- */

#define ROUNDS     30u
#define ROUND_JOBS 300u

static void killed_job(char id[32], char script[64], uint32_t n) {
    snprintf(id, 32, "killed %u", n);
    snprintf(script, 64, "partitions=%u prove=%u task=%u", 1 + n % 3, n % 4, 1000 + n);
}

/* Take up what is there, then submit one job after the other and tell each that is acknowledged. */
static void child(const char *directory, uint32_t first, int out) {
    house h;
    uint32_t failure = UINT32_MAX;
    if (enter(&h, directory, &roomy, NULL) == CUZK_OK) {
        for (uint32_t n = first; n < first + ROUND_JOBS; n++) {
            char id[32], script[64];
            killed_job(id, script, n);
            if (submit(&h, id, script, ENGINE_DURABLE, NULL) != CUZK_OK) break;
            if (write(out, &n, sizeof n) != sizeof n) break;
            if (n == first + ROUND_JOBS - 1) pause();
        }
    }
    if (write(out, &failure, sizeof failure) != sizeof failure) _exit(2);
    _exit(1);
}

static unsigned finishes[ROUNDS * ROUND_JOBS];
static const engine_store *real_store;

static cuzk_code count_accept(void *ctx, const char *id, const uint8_t digest[32], const job_request *r,
                              cuzk_error *err) {
    return real_store->accept(ctx, id, digest, r, err);
}
static void count_finish(void *ctx, const char *id, job_state state, const uint8_t *proof, size_t size,
                         const cuzk_error *why) {
    unsigned n;
    if (sscanf(id, "killed %u", &n) == 1 && n < ROUNDS * ROUND_JOBS) finishes[n]++;
    real_store->finish(ctx, id, state, proof, size, why);
}
static void count_forget(void *ctx, const char *id) {
    real_store->forget(ctx, id);
}

/* Everything acknowledged is there and gets its own proof; nothing that had one runs again. */
static void check_all(const char *directory, const bool *acknowledged, uint32_t end) {
    house h = {.j = NULL};
    cuzk_error err;
    engine_config c;
    engine_config_default(&c);
    c.threads = 2;
    c.memory_budget = 256u << 20;
    c.max_queue = 3; /* resuming waits for room */
    c.backends[JOB_POREP] = &fake_backend;
    int64_t recorded = query(directory, "SELECT count(*) FROM jobs WHERE state <> 0");
    int64_t open_jobs = query(directory, "SELECT count(*) FROM jobs WHERE state = 0");
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs WHERE state NOT IN (0, 2)"), 0);
    assert_int_equal(journal_open(&h.j, directory, &roomy, &err), CUZK_OK);
    real_store = journal_store(h.j);
    engine_store counting = {real_store->ctx, count_accept, count_finish, count_forget};
    c.store = &counting;
    memset(finishes, 0, sizeof finishes);
    assert_int_equal(engine_create(&h.e, &c, &err), CUZK_OK);
    assert_int_equal(journal_resume(&h.resumed, h.j, h.e, &err), CUZK_OK);
    assert_int_equal(h.resumed.results, recorded);
    assert_int_equal(h.resumed.jobs, open_jobs);
    assert_int_equal(h.resumed.failed, 0);
    for (uint32_t n = 0; n < end; n++) {
        char id[32], script[64];
        killed_job(id, script, n);
        if (acknowledged[n]) expect_proof(&h, id, script, 1 + n % 3);
    }
    while (engine_unfinished(h.e) > 0) usleep(1000);
    leave(&h);
    int64_t total = 0;
    for (uint32_t n = 0; n < end; n++) {
        assert_true(finishes[n] <= 1);
        total += finishes[n];
    }
    assert_int_equal(total, open_jobs);
    assert_int_equal(query(directory, "SELECT count(*) FROM jobs WHERE state = 2"), recorded + open_jobs);
    assert_int_equal(inputs(directory, NULL), 0);
}

static void test_killed(void **state) {
    (void)state;
    static bool acknowledged[ROUNDS * ROUND_JOBS];
    const char *directory = fresh("killed");
    uint64_t random = 2026;
    unsigned total = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int ends[2];
        uint32_t n;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(ends[0]);
            child(directory, round * ROUND_JOBS, ends[1]);
        }
        close(ends[1]);
        /* In some rounds at once, so that resuming and opening are cut off, too. */
        bool wait_first = rng_next(&random) % 4 != 0;
        useconds_t pause_us = (useconds_t)(rng_next(&random) % 60000);
        ssize_t got = wait_first ? read(ends[0], &n, sizeof n) : 0;
        usleep(pause_us);
        kill(pid, SIGKILL);
        while (got == sizeof n || (got = read(ends[0], &n, sizeof n)) == sizeof n) {
            assert_int_not_equal(n, UINT32_MAX);
            acknowledged[n] = true;
            total++;
            got = 0;
        }
        close(ends[0]);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        if (round % 5 == 4) check_all(directory, acknowledged, (round + 1) * ROUND_JOBS);
    }
    assert_true(total >= ROUNDS / 2);
    print_message("%u jobs acknowledged before %u kills\n", total, ROUNDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed), /* first: before there were threads */
        cmocka_unit_test(test_input_file),      cmocka_unit_test(test_results_stay),
        cmocka_unit_test(test_resume_in_order), cmocka_unit_test(test_attached),
        cmocka_unit_test(test_attach_at_once),  cmocka_unit_test(test_damaged_inputs),
        cmocka_unit_test(test_leftovers),       cmocka_unit_test(test_foreign_databases),
        cmocka_unit_test(test_one_user),        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests_name("journal", tests, temp_dir_make, temp_dir_remove);
}
