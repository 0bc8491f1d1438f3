#include "server/engine_settings.h"

static double seconds(uint64_t ms) {
    return (double)ms * 1e-3;
}

/* The table keeps every number within what its field holds. */
void engine_settings(engine_config *out, const config *c) {
    out->threads = (unsigned)c->engine.threads;
    out->memory_budget = c->memory.total_budget;
    out->params_dir = c->srs.param_cache;
    out->lock_keys = c->keys.lock;
    out->eviction_min_idle = seconds(c->memory.eviction_min_idle_ms);
    out->synthesis_lookahead = (unsigned)c->pipeline.synthesis_lookahead;
    out->max_queue = (unsigned)c->scheduler.max_queue;
    out->max_batch_size = (unsigned)c->scheduler.max_batch_size;
    out->max_batch_wait = seconds(c->scheduler.max_batch_wait_ms);
    out->ageing = seconds(c->scheduler.ageing_ms);
    out->group_by_circuit = c->scheduler.sort_by_type;
    out->result_ttl = seconds(c->daemon.result_ttl_ms);
    out->result_bytes = c->daemon.result_bytes;
    out->failure_dir = *c->daemon.failure_dir ? c->daemon.failure_dir : NULL;
    out->failure_bytes = c->daemon.failure_bytes;
}
