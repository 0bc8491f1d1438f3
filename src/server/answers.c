#include "server/answers.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/text.h"

rpc_status answer_status(cuzk_code code, bool can_retry) {
    switch (code) {
    case CUZK_OK:
        return RPC_OK;
    case CUZK_ERR_USAGE:
    case CUZK_ERR_INPUT:
        return RPC_INVALID_ARGUMENT;
    case CUZK_ERR_PARAMS:
        return RPC_FAILED_PRECONDITION;
    case CUZK_ERR_RESOURCES:
        return can_retry ? RPC_RESOURCE_EXHAUSTED : RPC_FAILED_PRECONDITION;
    case CUZK_ERR_CANCELLED:
        return RPC_UNAVAILABLE;
    case CUZK_ERR_PROOF:
    case CUZK_ERR_INTERNAL:
        break;
    }
    return RPC_INTERNAL;
}

static proof_status status_of(job_state state) {
    switch (state) {
    case JOB_COMPLETED:
        return PROOF_STATUS_COMPLETED;
    case JOB_FAILED:
        return PROOF_STATUS_FAILED;
    case JOB_CANCELLED:
        return PROOF_STATUS_CANCELLED;
    case JOB_TIMEOUT:
        return PROOF_STATUS_TIMEOUT;
    case JOB_QUEUED:
    case JOB_RUNNING:
        break;
    }
    return PROOF_STATUS_UNKNOWN;
}

void answer_result(wire_buffer *out, const engine_result *r, bool within_prove) {
    char text[TEXT_ERROR_BYTES] = "";
    if (r->error) text_of_error(text, r->error);
    prove_response m = {.has_result = true,
                        .result = {.job_id = wire_text(r->id),
                                   .status = (int32_t)status_of(r->state),
                                   .error_message = wire_text(text),
                                   .queue_wait_ms = r->timings.queue_wait,
                                   .srs_load_ms = r->timings.key_load,
                                   .synthesis_ms = r->timings.synthesis,
                                   .gpu_compute_ms = r->timings.compute,
                                   .total_ms = r->timings.total}};
    if (r->state == JOB_COMPLETED) m.result.proof = (wire_view){r->proof, r->proof_size};
    if (within_prove)
        schema_encode(&prove_response_schema, &m, out);
    else
        schema_encode(&await_proof_response_schema, &m.result, out);
}

void answer_still_running(wire_buffer *out, const char *id, uint64_t waited_ms) {
    char text[64];
    snprintf(text, sizeof text, "still running after %" PRIu64 " ms", waited_ms);
    await_proof_response m = {
        .job_id = wire_text(id), .status = PROOF_STATUS_TIMEOUT, .error_message = wire_text(text)};
    schema_encode(&await_proof_response_schema, &m, out);
}

/* The first job that is being proved, else the first that runs. */
static const engine_job_view *current_job(const engine_snapshot *s) {
    const engine_job_view *running = NULL;
    for (size_t i = 0; i < s->n_jobs; i++) {
        const engine_job_view *j = &s->jobs[i];
        if (j->state != JOB_RUNNING) continue;
        if (!running) running = j;
        for (uint32_t k = 0; j->partition && k < j->partitions; k++)
            if (j->partition[k].state == PARTITION_PROVING && !j->partition[k].paused) return j;
    }
    return running;
}

static gpu_status prover_of(const engine_snapshot *s, const char *name) {
    const engine_counters *c = &s->counters;
    const engine_job_view *j = current_job(s);
    gpu_status g = {.name = wire_text(name), .vram_total_bytes = c->memory_budget};
    if (c->memory_budget > c->memory_used) g.vram_free_bytes = c->memory_budget - c->memory_used;
    if (j) {
        g.current_job_id = wire_text(j->id);
        g.current_proof_kind = wire_text(job_kind_name(j->kind));
    }
    return g;
}

void answer_server_status(wire_buffer *out, const engine_snapshot *s, const server_stats *stats) {
    const engine_counters *c = &s->counters;
    char name[64];
    snprintf(name, sizeof name, "CPU (%u cores, %s)", c->cores, stats->build.variant);
    gpu_status prover = prover_of(s, name);
    srs_status keys_loaded[KEYS_MAX];
    queue_status queues[JOB_KINDS];
    get_status_response m = {.gpus = {&prover, 1}, .loaded_srs = {keys_loaded, 0}, .queues = {queues, 0}};
    for (size_t i = 0; i < s->n_keys && i < KEYS_MAX; i++) {
        const key_view *k = &s->keys[i];
        if (k->tier == KEY_COLD) continue;
        keys_loaded[m.loaded_srs.count++] = (srs_status){.circuit_id = wire_text(k->circuit),
                                                         .tier = (int32_t)k->tier,
                                                         .size_bytes = k->bytes,
                                                         .ref_count = k->users};
    }
    for (unsigned k = 1; k < JOB_KINDS; k++) {
        m.total_proofs_completed += c->completed[k];
        m.total_proofs_failed += c->failed[k];
        if (c->pending[k] + c->running[k] == 0) continue;
        queues[m.queues.count++] = (queue_status){.proof_kind = wire_text(job_kind_name(k)),
                                                  .pending = c->pending[k],
                                                  .in_progress = c->running[k]};
    }
    m.uptime_seconds = (uint64_t)c->uptime;
    m.pinned_memory_bytes = c->memory_used;
    m.pinned_memory_limit_bytes = c->memory_budget;
    schema_encode(&get_status_response_schema, &m, out);
}
