/*
 * The engine with a real key, for the slow test that makes one: engine_2k PARAMS_DIR C1_JSON WORK_DIR.
 * A proof; two jobs at once of which the urgent one overtakes; a batch; a cancelled proof; a flipped bit,
 * after which the partition is computed again and the job completes; bits that flip every time, after which
 * it fails and its input is kept.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "engine/engine.h"

static int failed;
#define EXPECT(condition, ...)                                                                               \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("FAILED: %s: ", #condition);                                                              \
            printf(__VA_ARGS__);                                                                             \
            printf("\n");                                                                                    \
            failed++;                                                                                        \
        }                                                                                                    \
    } while (0)

/* --- jobs --- */

typedef struct job {
    char id[32];
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
    job_state state;
    size_t proof_size;
    unsigned order; /* in which it ended */
    char message[256];
} job;

static file_map c1_file;
static atomic_uint ended;

static void on_done(void *ctx, const engine_result *r) {
    job *j = ctx;
    pthread_mutex_lock(&j->mutex);
    j->state = r->state;
    j->proof_size = r->proof_size;
    j->order = atomic_fetch_add(&ended, 1);
    if (r->error) snprintf(j->message, sizeof j->message, "%.255s", r->error->message);
    j->done = true;
    pthread_cond_signal(&j->cond);
    pthread_mutex_unlock(&j->mutex);
}

static void start(engine *e, job *j, const char *id, job_priority priority) {
    *j = (job){.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    snprintf(j->id, sizeof j->id, "%s", id);
    job_request r = {.id = id,
                     .kind = JOB_POREP,
                     .priority = priority,
                     .vanilla_proof = {c1_file.data, c1_file.size},
                     .sector_number = 1,
                     .miner_id = 1000};
    engine_receipt receipt;
    engine_watch w;
    cuzk_error err;
    cuzk_code code = engine_submit(e, &r, 0, &receipt, NULL, &err);
    if (code == CUZK_OK) code = engine_watch_job(&w, e, id, on_done, j, &err);
    if (code == CUZK_OK) return;
    printf("FAILED: %s: %s: %s\n", id, err.path, err.message);
    exit(1);
}

static job_state finish(job *j) {
    pthread_mutex_lock(&j->mutex);
    while (!j->done) pthread_cond_wait(&j->cond, &j->mutex);
    pthread_mutex_unlock(&j->mutex);
    return j->state;
}

static void wait_for_stage(engine *e, stage_kind stage) {
    engine_counters c;
    do {
        usleep(2000);
        engine_get_counters(&c, e);
    } while (c.partitions_by_stage[stage] == 0);
}

/* --- faults --- */

static atomic_int flips_left;

static void flip(const char *where, void *data, size_t bytes) {
    if (strcmp(where, "msm points") != 0 || bytes == 0) return;
    if (atomic_fetch_sub(&flips_left, 1) <= 0) {
        atomic_fetch_add(&flips_left, 1);
        return;
    }
    ((uint8_t *)data)[0] ^= 1;
}

/* --- the cases --- */

static void overtaking(engine *e) {
    job slow, quick;
    start(e, &slow, "slow", JOB_NORMAL);
    wait_for_stage(e, STAGE_PROVE);
    start(e, &quick, "quick", JOB_CRITICAL);
    EXPECT(finish(&quick) == JOB_COMPLETED, "%s", quick.message);
    EXPECT(finish(&slow) == JOB_COMPLETED, "%s", slow.message);
    EXPECT(quick.order < slow.order, "the urgent job did not overtake");
    EXPECT(quick.proof_size == CUZK_PROOF_BYTES, "%zu bytes", quick.proof_size);
}

static void batch(engine *e, engine_config *c) {
    job jobs[2];
    c->max_batch_size = 2;
    c->max_batch_wait = 60;
    engine_reconfigure(e, c, NULL);
    start(e, &jobs[0], "batched-1", JOB_NORMAL);
    start(e, &jobs[1], "batched-2", JOB_NORMAL);
    for (int i = 0; i < 2; i++) EXPECT(finish(&jobs[i]) == JOB_COMPLETED, "%s", jobs[i].message);
    c->max_batch_size = 1;
    engine_reconfigure(e, c, NULL);
}

static void cancelling(engine *e) {
    job j;
    bool was_running;
    start(e, &j, "cancelled", JOB_NORMAL);
    wait_for_stage(e, STAGE_PROVE);
    usleep(300000);
    engine_cancel(e, "cancelled", &was_running);
    EXPECT(was_running, "it was");
    EXPECT(finish(&j) == JOB_CANCELLED, "%s", job_state_name(j.state));
    EXPECT(mem_in_use() < (64u << 20), "%llu bytes left", (unsigned long long)mem_in_use());
}

static void faults(engine *e, const char *failures) {
    job j;
    engine_counters before, after;
    engine_get_counters(&before, e);
    fault_hook = flip;
    flips_left = 1;
    start(e, &j, "one-flip", JOB_NORMAL);
    EXPECT(finish(&j) == JOB_COMPLETED, "%s", j.message);
    engine_get_counters(&after, e);
    EXPECT(after.self_check_failures == before.self_check_failures + 1, "%llu self-check failures",
           (unsigned long long)after.self_check_failures);
    flips_left = 1000000;
    start(e, &j, "many-flips", JOB_NORMAL);
    EXPECT(finish(&j) == JOB_FAILED, "%s", job_state_name(j.state));
    EXPECT(strstr(j.message, "self-check failed"), "%s", j.message);
    EXPECT(j.proof_size == 0, "%zu bytes", j.proof_size);
    fault_hook = NULL;
    char path[1024];
    snprintf(path, sizeof path, "%s/000001-porep-c2/input.json", failures);
    EXPECT(access(path, R_OK) == 0, "no %s", path);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    char failures[512];
    snprintf(failures, sizeof failures, "%s/failures", argv[3]);
    engine_config c;
    engine_config_default(&c);
    c.params_dir = argv[1];
    c.failure_dir = failures;
    engine *e;
    cuzk_error err;
    if (file_map_open(&c1_file, argv[2], CUZK_ERR_INPUT, &err) != CUZK_OK ||
        engine_create(&e, &c, &err) != CUZK_OK) {
        printf("FAILED: %s: %s\n", err.path, err.message);
        return 1;
    }
    bool already;
    EXPECT(engine_preload(e, "porep-2k", &already, &err) == CUZK_OK, "%s", err.message);
    overtaking(e);
    batch(e, &c);
    cancelling(e);
    faults(e, failures);
    bool was_loaded;
    uint64_t freed;
    EXPECT(engine_evict(e, "porep-2k", &was_loaded, &freed, &err) == CUZK_OK, "%s", err.message);
    EXPECT(was_loaded && freed > 1000000000, "%llu bytes freed", (unsigned long long)freed);
    engine_destroy(e);
    file_map_close(&c1_file);
    printf("engine with a real key: %s\n", failed ? "failed" : "ok");
    return failed ? 1 : 0;
}
