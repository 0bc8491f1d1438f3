#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

/* --- events ----------------------------------------------------------------------------------------------
 */

/* The reference engine's line of the same name, for tools that draw timelines: milliseconds since the start,
 * event, job, detail. "GPU" is whatever proves. */
static void log_timeline(const engine_event *event) {
    static const char *const names[STAGE_KINDS][2] = {
        [STAGE_SYNTHESIS] = {"SYNTH_START", "SYNTH_END"}, [STAGE_PROVE] = {"GPU_START", "GPU_END"}};
    const char *name = names[event->stage][event->kind == ENGINE_STAGE_END];
    if (!name) return;
    char line[JOB_ID_BYTES + 96];
    snprintf(line, sizeof line, "TIMELINE,%.0f,%s,%s,partition=%u", event->time * 1000, name, event->job_id,
             event->partition);
    log_debug(line);
}

static void log_stage(const engine_event *event, const char *what) {
    log_field fields[] = {{0},
                          LOG_JOB(event->job_id),
                          LOG_TEXT("stage", stage_name(event->stage)),
                          LOG_COUNT("partition", event->partition),
                          LOG_REAL("seconds", event->seconds)};
    size_t n = sizeof fields / sizeof fields[0];
    if (event->kind != ENGINE_STAGE_END) n--;
    if (event->partition == ENGINE_NO_PARTITION) { /* of the whole job */
        fields[3] = fields[n - 1];
        n--;
    }
    if (log_enabled(LOG_LEVEL_DEBUG)) log_write(LOG_LEVEL_DEBUG, what, fields, n);
}

static void log_finished(const engine_event *event) {
    if (event->state == JOB_COMPLETED)
        log_info("job completed", LOG_JOB(event->job_id), LOG_TEXT("kind", job_kind_name(event->job_kind)),
                 LOG_REAL("seconds", event->seconds));
    else if (event->state == JOB_FAILED)
        log_error("job failed", LOG_JOB(event->job_id), LOG_TEXT("kind", job_kind_name(event->job_kind)),
                  LOG_REAL("seconds", event->seconds), LOG_TEXT("error", event->message));
    else
        log_warn("job ended without a proof", LOG_JOB(event->job_id),
                 LOG_TEXT("kind", job_kind_name(event->job_kind)),
                 LOG_TEXT("state", job_state_name(event->state)), LOG_REAL("seconds", event->seconds),
                 LOG_TEXT("reason", event->message));
}

static void on_event(void *ctx, const engine_event *event) {
    (void)ctx;
    switch (event->kind) {
    case ENGINE_SUBMITTED:
        log_info("job accepted", LOG_JOB(event->job_id), LOG_TEXT("kind", job_kind_name(event->job_kind)),
                 LOG_TEXT("priority", job_priority_name(event->priority)));
        break;
    case ENGINE_STAGE_START:
        log_stage(event, "stage begins");
        log_timeline(event);
        break;
    case ENGINE_STAGE_END:
        log_stage(event, "stage ends");
        log_timeline(event);
        break;
    case ENGINE_PAUSED:
        log_stage(event, "stage paused for a more urgent job");
        break;
    case ENGINE_RESUMED:
        log_stage(event, "stage resumed");
        break;
    case ENGINE_RETRY:
        log_error("self-check failed", LOG_JOB(event->job_id), LOG_TEXT("stage", stage_name(event->stage)),
                  LOG_COUNT("partition", event->partition), LOG_TEXT("error", event->message));
        break;
    case ENGINE_FINISHED:
        log_finished(event);
        break;
    }
}

/* --- the engine ------------------------------------------------------------------------------------------
 */

static const char *or_null(const char *text) {
    return *text ? text : NULL;
}

void host_engine_config(engine_config *out, const config *c) {
    engine_config_default(out);
    out->threads = (unsigned)c->engine.threads;
    out->memory_budget = c->memory.total_budget;
    out->params_dir = or_null(c->srs.param_cache);
    out->lock_keys = c->keys.lock;
    out->eviction_min_idle = (double)c->memory.eviction_min_idle_ms / 1000;
    out->synthesis_lookahead = (unsigned)c->pipeline.synthesis_lookahead;
    out->max_queue = (unsigned)c->scheduler.max_queue;
    out->max_batch_size = (unsigned)c->scheduler.max_batch_size;
    out->max_batch_wait = (double)c->scheduler.max_batch_wait_ms / 1000;
    out->ageing = (double)c->scheduler.ageing_ms / 1000;
    out->group_by_circuit = c->scheduler.sort_by_type;
    out->result_ttl = (double)c->daemon.result_ttl_ms / 1000;
    out->result_bytes = c->daemon.result_bytes;
    out->failure_dir = or_null(c->daemon.failure_dir);
    out->failure_bytes = c->daemon.failure_bytes;
    out->event = on_event;
}

cuzk_code host_start(engine **out, const config *c, const engine_store *store, cuzk_error *err) {
    engine_config settings;
    host_engine_config(&settings, c);
    settings.store = store;
    return engine_create(out, &settings, err);
}

/* --- preloading ------------------------------------------------------------------------------------------
 */

typedef struct preload {
    engine *e;
    const config *c;
} preload;

static preload preload_job;
static pthread_t preload_thread;
static bool preload_runs;

static void *preload_main(void *arg) {
    const preload *job = arg;
    for (size_t i = 0; i < job->c->keys.preload.count; i++) {
        const char *circuit = job->c->keys.preload.items[i];
        double start = clock_seconds();
        bool already;
        cuzk_error err;
        log_info("loading a key", LOG_TEXT("circuit", circuit));
        if (engine_preload(job->e, circuit, &already, &err) == CUZK_OK)
            log_info("key loaded", LOG_TEXT("circuit", circuit),
                     LOG_REAL("seconds", clock_seconds() - start));
        else
            log_error("key not loaded", LOG_TEXT("circuit", circuit), LOG_TEXT("path", err.path),
                      LOG_TEXT("error", err.message));
    }
    return NULL;
}

cuzk_code host_preload(engine *e, const config *c, cuzk_error *err) {
    if (c->keys.preload.count == 0) return CUZK_OK;
    preload_job = (preload){e, c};
    int rc = pthread_create(&preload_thread, NULL, preload_main, &preload_job);
    if (rc != 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting the thread that loads keys");
    preload_runs = true;
    return CUZK_OK;
}

void host_preload_join(void) {
    if (preload_runs) pthread_join(preload_thread, NULL);
    preload_runs = false;
}
