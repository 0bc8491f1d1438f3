/*
 * The parts of the daemon are started in the order they need each other and stopped in reverse; `supervise`
 * runs in between. Jobs that an earlier process left are taken up by a thread, since that can take long: only
 * then is the daemon ready. Whatever fails at the start stops what was started, so nothing half of it serves.
 * Parts that were not started are NULL, which their stop functions take.
 */
#include "daemon.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/engine.h"
#include "preload.h"
#include "rpc/messages.h"
#include "server/engine_settings.h"
#include "server/event_log.h"
#include "server/http.h"
#include "server/journal.h"
#include "server/service.h"

/* What calls may still take for their answers when the last job has ended. */
#define FAREWELL_SECONDS 5.0

typedef struct parts {
    const settings *settings;
    config *config;
    server_stats stats;
    journal *journal; /* NULL: jobs live in memory alone */
    engine *engine;
    bool supported[JOB_KINDS];
    service *service;
    rpc_server *rpc;
    http_server *http;
    preload *preload;
    pthread_t opener;
    bool opener_runs;
    atomic_int started;    /* a supervise_start, set by the opener */
    cuzk_error open_error; /* of a start that failed, once `started` says so */
} parts;

/* --- starting and stopping --------------------------------------------------------------------------------
 */

static void engine_settings_of(engine_config *out, const config *c) {
    engine_config_default(out);
    engine_settings(out, c);
    out->event = event_log;
}

static journal_limits limits_of(const config *c) {
    return (journal_limits){(double)c->daemon.result_ttl_ms * 1e-3, c->daemon.result_bytes};
}

static cuzk_code start_engine(parts *p, cuzk_error *err) {
    engine_config tuning;
    engine_settings_of(&tuning, p->config);
    if (*p->config->daemon.state_dir) {
        const journal_limits limits = limits_of(p->config);
        TRY(journal_open(&p->journal, p->config->daemon.state_dir, &limits, err));
        tuning.store = journal_store(p->journal);
    }
    for (unsigned kind = 0; kind < JOB_KINDS; kind++) p->supported[kind] = tuning.backends[kind] != NULL;
    TRY(engine_create(&p->engine, &tuning, err));
    server_stats_init(&p->stats, tuning.synthesis_lookahead); /* the engine has chosen the code variant */
    return CUZK_OK;
}

/* Clients can connect from here on, and wait until the doors open. */
static cuzk_code listen_for_grpc(parts *p, cuzk_error *err) {
    const config *c = p->config;
    const rpc_options options = {.max_message_bytes = c->daemon.max_message_size,
                                 .max_message_setting = "daemon.max_message_size",
                                 .max_held_bytes = c->daemon.request_budget,
                                 .upload_timeout = (double)c->daemon.upload_stall_timeout_ms * 1e-3,
                                 .max_connections = (uint32_t)c->daemon.max_connections};
    service_config with = {.engine = p->engine, .stats = &p->stats};
    memcpy(with.supported, p->supported, sizeof with.supported);
    TRY(service_create(&p->service, &with, (unsigned)c->scheduler.max_queue, err));
    const rpc_handlers handlers = service_handlers(p->service);
    TRY(rpc_server_create(&p->rpc, &proving_service, &handlers, &options, err));
    return rpc_server_listen(p->rpc, c->daemon.listen, err);
}

static cuzk_code start_http(parts *p, cuzk_error *err) {
    const char *listen = p->config->daemon.status_listen;
    if (!*listen) return CUZK_OK;
    TRY(http_server_start(&p->http, listen, http_engine_source(p->engine), &p->stats, err));
    log_info("status pages are served", LOG_TEXT("address", http_server_address(p->http)));
    return CUZK_OK;
}

static cuzk_code resume(parts *p, cuzk_error *err) {
    journal_resumed resumed;
    if (!p->journal) return CUZK_OK;
    TRY(journal_resume(&resumed, p->journal, p->engine, err));
    log_info("jobs taken up again", LOG_TEXT("state_dir", p->config->daemon.state_dir),
             LOG_COUNT("jobs", resumed.jobs), LOG_COUNT("results", resumed.results),
             LOG_COUNT("failed", resumed.failed));
    return CUZK_OK;
}

/* Doors open when the jobs of before are in the engine. */
static void *open_doors(void *ctx) {
    parts *p = ctx;
    cuzk_code code = resume(p, &p->open_error);
    if (code == CUZK_OK) code = rpc_server_start(p->rpc, &p->open_error);
    if (code != CUZK_OK) {
        atomic_store(&p->started, SUPERVISE_START_FAILED);
        return NULL;
    }
    if (p->http) http_server_set_ready(p->http, true);
    log_info("serving", LOG_TEXT("address", rpc_server_address(p->rpc, 0)),
             LOG_COUNT("threads", p->config->engine.threads),
             LOG_COUNT("memory_bytes", p->config->memory.total_budget),
             LOG_TEXT("params", p->config->srs.param_cache));
    atomic_store(&p->started, SUPERVISE_STARTED);
    return NULL;
}

static cuzk_code start(parts *p, cuzk_error *err) {
    TRY(start_engine(p, err));
    TRY(listen_for_grpc(p, err));
    TRY(start_http(p, err));
    TRY(preload_start(&p->preload, p->engine, &p->config->keys.preload, err));
    int failure = pthread_create(&p->opener, NULL, open_doors, p);
    if (failure) return error_errno(err, CUZK_ERR_RESOURCES, NULL, failure, "cannot start a thread");
    p->opener_runs = true;
    return CUZK_OK;
}

static void stop(parts *p) {
    if (p->engine) engine_drain(p->engine, true); /* ends what the threads wait for */
    if (p->opener_runs) pthread_join(p->opener, NULL);
    preload_join(p->preload);
    rpc_server_destroy(p->rpc);
    service_destroy(p->service);
    http_server_stop(p->http);
    engine_destroy(p->engine);
    journal_close(p->journal);
}

/* --- what supervise asks for ------------------------------------------------------------------------------
 */

static supervise_start started(void *ctx) {
    return (supervise_start)atomic_load(&((parts *)ctx)->started);
}

static void reload(void *ctx) {
    parts *p = ctx;
    config *fresh;
    cuzk_error err;
    config_list notes = {NULL, 0};
    engine_config tuning;
    if (settings_load(&fresh, p->settings, &err) != CUZK_OK) {
        log_error("the settings stay as they were", LOG_TEXT("place", err.path),
                  LOG_TEXT("error", err.message));
        return;
    }
    cuzk_code code = config_reload(p->config, fresh, &notes, &err);
    config_free(fresh);
    log_set_level((log_level)p->config->logging.level);
    log_set_format((log_format)p->config->logging.format);
    engine_settings_of(&tuning, p->config);
    if (p->journal) {
        const journal_limits limits = limits_of(p->config);
        journal_set_limits(p->journal, &limits);
        tuning.store = journal_store(p->journal);
    }
    if (code == CUZK_OK) code = engine_reconfigure(p->engine, &tuning, &err);
    service_set_max_queue(p->service, tuning.max_queue);
    for (size_t i = 0; i < notes.count; i++)
        log_info("settings read again", LOG_TEXT("note", notes.items[i]));
    if (notes.count == 0) log_info("settings read again; nothing changed");
    if (code != CUZK_OK) log_error("not all settings were taken", LOG_TEXT("error", err.message));
    config_list_free(&notes);
}

static void drain(void *ctx) {
    parts *p = ctx;
    if (p->http) http_server_set_ready(p->http, false);
    rpc_server_set_serving(p->rpc, false);
    engine_drain(p->engine, false);
}

static uint64_t drain_ms(void *ctx) {
    return ((parts *)ctx)->config->daemon.drain_timeout_ms;
}

static void cancel(void *ctx) {
    engine_drain(((parts *)ctx)->engine, true);
}

/* While jobs run, clients may ask how they are; when none is left, the last answers go out. */
static bool finished(void *ctx) {
    parts *p = ctx;
    supervise_start state = started(p);
    if (state == SUPERVISE_STARTING || engine_unfinished(p->engine) > 0) return false;
    if (state == SUPERVISE_START_FAILED) return true;
    rpc_server_drain(p->rpc, FAREWELL_SECONDS);
    return rpc_server_wait(p->rpc, 0);
}

/* An engine that is stuck with its lock held never returns from here, and then the watchdog is not fed. */
static bool alive(void *ctx) {
    engine_counters counters;
    engine_get_counters(&counters, ((parts *)ctx)->engine);
    return true;
}

static void describe(void *ctx, char *text, size_t size) {
    engine_counters c;
    uint64_t running = 0, waiting = 0, completed = 0, failed = 0;
    engine_get_counters(&c, ((parts *)ctx)->engine);
    for (unsigned kind = 0; kind < JOB_KINDS; kind++) {
        running += c.running[kind];
        waiting += c.pending[kind];
        completed += c.completed[kind];
        failed += c.failed[kind];
    }
    snprintf(text, size,
             "%s%" PRIu64 " running, %" PRIu64 " waiting; %" PRIu64 " proved, %" PRIu64 " failed; %" PRIu64
             " of %" PRIu64 " MiB in use",
             c.draining                           ? "draining: "
             : started(ctx) == SUPERVISE_STARTING ? "starting: "
                                                  : "",
             running, waiting, completed, failed, c.memory_used >> 20, c.memory_budget >> 20);
}

cuzk_code daemon_serve(supervise_end *end, const settings *s, config *c, cuzk_error *err) {
    parts p = {.settings = s, .config = c};
    const supervised hooks = {&p, started, reload, drain, drain_ms, cancel, finished, alive, describe};
    TRY(supervise_block_signals(err));
    cuzk_code code = start(&p, err);
    if (code == CUZK_OK) code = supervise(end, &hooks, err);
    stop(&p);
    if (code != CUZK_OK || atomic_load(&p.started) != SUPERVISE_START_FAILED) return code;
    if (p.open_error.code == CUZK_ERR_CANCELLED) return CUZK_OK; /* a signal while it started */
    if (err) *err = p.open_error;
    return p.open_error.code;
}
