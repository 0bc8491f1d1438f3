/*
 * The parts of the daemon are started in the order they need each other and stopped in reverse; `supervise`
 * runs in between. Whatever fails at the start stops what was started, so nothing half of it serves. Parts
 * that were not started are NULL, which their stop functions take.
 */
#include "daemon.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "engine/engine.h"
#include "preload.h"
#include "server/engine_settings.h"
#include "server/event_log.h"
#include "server/http.h"

typedef struct parts {
    const settings *settings;
    config *config;
    server_stats stats;
    engine *engine;
    http_server *http;
    preload *preload;
} parts;

/* --- starting and stopping --------------------------------------------------------------------------------
 */

static void engine_settings_of(engine_config *out, const config *c) {
    engine_config_default(out);
    engine_settings(out, c);
    out->event = event_log;
}

static cuzk_code start_http(parts *p, cuzk_error *err) {
    const char *listen = p->config->daemon.status_listen;
    if (!*listen) return CUZK_OK;
    TRY(http_server_start(&p->http, listen, http_engine_source(p->engine), &p->stats, err));
    log_info("status pages are served", LOG_TEXT("address", http_server_address(p->http)));
    return CUZK_OK;
}

static cuzk_code start(parts *p, cuzk_error *err) {
    engine_config tuning;
    engine_settings_of(&tuning, p->config);
    server_stats_init(&p->stats, tuning.synthesis_lookahead);
    TRY(engine_create(&p->engine, &tuning, err));
    TRY(start_http(p, err));
    TRY(preload_start(&p->preload, p->engine, &p->config->keys.preload, err));
    if (p->http) http_server_set_ready(p->http, true);
    log_info("serving", LOG_COUNT("threads", p->config->engine.threads),
             LOG_COUNT("memory_bytes", p->config->memory.total_budget),
             LOG_TEXT("params", p->config->srs.param_cache));
    return CUZK_OK;
}

static void stop(parts *p) {
    if (p->engine) engine_drain(p->engine, true);
    preload_join(p->preload);
    http_server_stop(p->http);
    engine_destroy(p->engine);
}

/* --- what supervise asks for ------------------------------------------------------------------------------
 */

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
    if (code == CUZK_OK) code = engine_reconfigure(p->engine, &tuning, &err);
    for (size_t i = 0; i < notes.count; i++)
        log_info("settings read again", LOG_TEXT("note", notes.items[i]));
    if (notes.count == 0) log_info("settings read again; nothing changed");
    if (code != CUZK_OK) log_error("not all settings were taken", LOG_TEXT("error", err.message));
    config_list_free(&notes);
}

static void drain(void *ctx) {
    parts *p = ctx;
    if (p->http) http_server_set_ready(p->http, false);
    engine_drain(p->engine, false);
}

static uint64_t drain_ms(void *ctx) {
    return ((parts *)ctx)->config->daemon.drain_timeout_ms;
}

static void cancel(void *ctx) {
    engine_drain(((parts *)ctx)->engine, true);
}

static bool finished(void *ctx) {
    return engine_unfinished(((parts *)ctx)->engine) == 0;
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
             c.draining ? "draining: " : "", running, waiting, completed, failed, c.memory_used >> 20,
             c.memory_budget >> 20);
}

cuzk_code daemon_serve(supervise_end *end, const settings *s, config *c, cuzk_error *err) {
    parts p = {.settings = s, .config = c};
    const supervised hooks = {&p, reload, drain, drain_ms, cancel, finished, alive, describe};
    TRY(supervise_block_signals(err));
    cuzk_code code = start(&p, err);
    if (code == CUZK_OK) code = supervise(end, &hooks, err);
    stop(&p);
    return code;
}
