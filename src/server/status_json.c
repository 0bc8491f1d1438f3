/* One function per object of the document; `writer` keeps the generator and the time of the snapshot. */
#include "server/status_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "server/text.h"

#define PIPELINE_SECONDS 30.0 /* that an ended job stays in "pipelines" */

typedef struct writer {
    yajl_gen g;
    const engine_snapshot *s;
    double now;
    size_t max_jobs;
} writer;

static void put_text(writer *w, const char *text) {
    char clean[2048];
    size_t size = text_to_utf8(clean, sizeof clean, text);
    yajl_gen_string(w->g, (const unsigned char *)clean, size);
}

static void put_uint(writer *w, uint64_t value) {
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, value);
    yajl_gen_number(w->g, digits, (size_t)size);
}

/* Three decimals, which is what clocks are good for; null for what is not a number. */
static void put_real(writer *w, double value) {
    char digits[352];
    if (!isfinite(value)) {
        yajl_gen_null(w->g);
        return;
    }
    int size = snprintf(digits, sizeof digits, "%.3f", value);
    yajl_gen_number(w->g, digits, (size_t)size);
}

static void field_text(writer *w, const char *name, const char *value) {
    put_text(w, name);
    put_text(w, value);
}

static void field_uint(writer *w, const char *name, uint64_t value) {
    put_text(w, name);
    put_uint(w, value);
}

static void field_real(writer *w, const char *name, double value) {
    put_text(w, name);
    put_real(w, value);
}

static void field_null(writer *w, const char *name) {
    put_text(w, name);
    yajl_gen_null(w->g);
}

/* A time that is negative where there is none yet. */
static void field_time(writer *w, const char *name, double value) {
    if (value < 0)
        field_null(w, name);
    else
        field_real(w, name, value);
}

static void field_bool(writer *w, const char *name, bool value) {
    put_text(w, name);
    yajl_gen_bool(w->g, value);
}

static void field_map(writer *w, const char *name) {
    put_text(w, name);
    yajl_gen_map_open(w->g);
}

static void field_array(writer *w, const char *name) {
    put_text(w, name);
    yajl_gen_array_open(w->g);
}

static void close_map(writer *w) {
    yajl_gen_map_close(w->g);
}

static void close_array(writer *w) {
    yajl_gen_array_close(w->g);
}

static uint64_t sum_kinds(const uint64_t counts[JOB_KINDS]) {
    uint64_t sum = 0;
    for (unsigned k = 1; k < JOB_KINDS; k++) sum += counts[k];
    return sum;
}

static const char *kind_name(job_kind kind) {
    const char *name = job_kind_name(kind);
    return name ? name : "unknown";
}

/* --- the reference's objects ------------------------------------------------------------------------------
 */

static void put_memory(writer *w, const engine_counters *c) {
    field_map(w, "memory");
    field_uint(w, "total_bytes", c->memory_budget);
    field_uint(w, "used_bytes", c->memory_used);
    field_uint(w, "available_bytes",
               c->memory_budget > c->memory_used ? c->memory_budget - c->memory_used : 0);
    field_uint(w, "reserved_bytes", c->memory_reserved);
    field_uint(w, "peak_bytes", c->memory_peak);
    field_uint(w, "resident_bytes", c->resident_bytes);
    close_map(w);
}

static const char *pipeline_state(partition_state state) {
    switch (state) {
    case PARTITION_PENDING:
        return "pending";
    case PARTITION_SYNTHESIZING:
        return "synthesizing";
    case PARTITION_SYNTHESIZED:
        return "synth_done";
    case PARTITION_PROVING:
        return "gpu";
    case PARTITION_DONE:
        return "done";
    case PARTITION_FAILED:
        return "failed";
    }
    return "pending";
}

/* Milliseconds from start to end, or to `now` while it lasts; null before it began. */
static void field_span_ms(writer *w, const char *name, double start, double end, double now) {
    double until = end >= 0 ? end : now;
    put_text(w, name);
    if (start < 0)
        yajl_gen_null(w->g);
    else
        put_uint(w, until > start ? (uint64_t)(1000 * (until - start) + 0.5) : 0);
}

static void put_pipeline(writer *w, const engine_job_view *j) {
    double since = j->ended >= 0 ? j->ended : w->now;
    yajl_gen_map_open(w->g);
    field_text(w, "job_id", j->id);
    field_text(w, "proof_kind", kind_name(j->kind));
    field_real(w, "started_secs_ago", w->now - (j->started >= 0 ? j->started : j->accepted));
    field_uint(w, "total_partitions", j->partitions);
    field_uint(w, "partitions_done", j->partitions_done);
    field_array(w, "partitions");
    for (uint32_t i = 0; i < j->partitions; i++) {
        const engine_partition_view *p = &j->partition[i];
        yajl_gen_map_open(w->g);
        field_uint(w, "index", i);
        field_text(w, "state", pipeline_state(p->state));
        field_span_ms(w, "synth_ms", (double)p->synth_start, (double)p->synth_end, since - j->accepted);
        field_span_ms(w, "gpu_ms", (double)p->prove_start, (double)p->prove_end, since - j->accepted);
        close_map(w);
    }
    close_array(w);
    close_map(w);
}

/* Jobs whose partitions have begun; ended ones for a while, as in the reference. */
static void put_pipelines(writer *w) {
    field_array(w, "pipelines");
    size_t listed = 0;
    for (size_t i = 0; i < w->s->n_jobs && listed < STATUS_PARTITIONED_JOBS; i++) {
        const engine_job_view *j = &w->s->jobs[i];
        bool over = j->ended >= 0 && w->now - j->ended > PIPELINE_SECONDS;
        if (!j->partition || over) continue;
        put_pipeline(w, j);
        listed++;
    }
    close_array(w);
}

/* The prover as the one worker: what it is at, the longest first. */
static void put_workers(writer *w) {
    const engine_job_view *job = NULL;
    uint32_t partition = 0;
    double since = 0;
    for (size_t i = 0; i < w->s->n_jobs; i++) {
        const engine_job_view *j = &w->s->jobs[i];
        for (uint32_t k = 0; j->partition && k < j->partitions; k++) {
            const engine_partition_view *p = &j->partition[k];
            if (p->state != PARTITION_PROVING || p->prove_start < 0) continue;
            double start = j->accepted + (double)p->prove_start;
            if (job && start >= since) continue;
            job = j;
            partition = k;
            since = start;
        }
    }
    field_array(w, "gpu_workers");
    yajl_gen_map_open(w->g);
    field_uint(w, "worker_id", 0);
    field_uint(w, "gpu_ordinal", 0);
    field_text(w, "state", job ? "proving" : "idle");
    if (job) {
        field_text(w, "current_job", job->id);
        field_uint(w, "current_partition", partition);
        field_real(w, "busy_secs", w->now > since ? w->now - since : 0);
    } else {
        field_null(w, "current_job");
        field_null(w, "current_partition");
        field_null(w, "busy_secs");
    }
    close_map(w);
    close_array(w);
}

static void put_allocation(writer *w, const key_view *k, uint64_t bytes) {
    yajl_gen_map_open(w->g);
    field_text(w, "circuit_id", k->circuit);
    field_uint(w, "bytes", bytes);
    field_real(w, "last_used_secs_ago", k->users ? 0 : k->idle);
    field_bool(w, "evictable", k->users == 0);
    close_map(w);
}

/* Keys as "srs", their matrices as "pce". */
static void put_allocations(writer *w) {
    field_map(w, "allocations");
    field_array(w, "srs");
    for (size_t i = 0; i < w->s->n_keys; i++)
        if (w->s->keys[i].tier != KEY_COLD) put_allocation(w, &w->s->keys[i], w->s->keys[i].bytes);
    close_array(w);
    field_array(w, "pce");
    for (size_t i = 0; i < w->s->n_keys; i++)
        if (w->s->keys[i].matrices_bytes) put_allocation(w, &w->s->keys[i], w->s->keys[i].matrices_bytes);
    close_array(w);
    close_map(w);
}

/* Only kinds that were seen, as in the reference. */
static void put_by_kind(writer *w, const char *name, const uint64_t counts[JOB_KINDS]) {
    field_map(w, name);
    for (unsigned k = 1; k < JOB_KINDS; k++)
        if (counts[k]) field_uint(w, job_kind_name(k), counts[k]);
    close_map(w);
}

static void put_counters(writer *w, const engine_counters *c) {
    uint64_t pending = 0;
    for (unsigned k = 1; k < JOB_KINDS; k++) pending += c->pending[k];
    field_map(w, "counters");
    field_uint(w, "total_completed", sum_kinds(c->completed));
    field_uint(w, "total_failed", sum_kinds(c->failed));
    put_by_kind(w, "completed_by_kind", c->completed);
    put_by_kind(w, "failed_by_kind", c->failed);
    field_uint(w, "queue_depth", pending);
    field_uint(w, "total_cancelled", sum_kinds(c->cancelled));
    field_uint(w, "total_timed_out", sum_kinds(c->timed_out));
    field_uint(w, "submitted", c->submitted);
    field_uint(w, "partitions_proved", c->partitions_proved);
    field_uint(w, "self_check_failures", c->self_check_failures);
    field_uint(w, "retries", c->retries);
    field_uint(w, "key_evictions", c->key_evictions);
    close_map(w);
}

static void put_buffers(writer *w, const engine_counters *c) {
    field_map(w, "buffers");
    field_uint(w, "synth_in_flight", c->partitions_by_stage[STAGE_SYNTHESIS]);
    field_uint(w, "provers_in_flight", c->partitions_by_stage[STAGE_PROVE]);
    field_uint(w, "aux_in_flight", (uint64_t)c->synthesized + c->partitions_by_stage[STAGE_PROVE]);
    field_uint(w, "shells_in_flight", 0); /* a host shell of a device buffer: there is no device */
    field_uint(w, "pending_handles", c->partitions_by_stage[STAGE_VERIFY]);
    close_map(w);
}

/* --- ours -------------------------------------------------------------------------------------------------
 */

static void put_engine(writer *w, const engine_counters *c) {
    field_map(w, "cores");
    field_uint(w, "total", c->cores);
    field_uint(w, "busy", c->cores_busy);
    field_map(w, "seconds");
    for (unsigned i = 0; i < STAGE_KINDS; i++) field_real(w, stage_name((stage_kind)i), c->core_seconds[i]);
    close_map(w);
    close_map(w);

    field_map(w, "queue");
    for (unsigned p = JOB_CRITICAL; p >= JOB_LOW; p--)
        field_uint(w, job_priority_name((job_priority)p), c->queued_by_priority[p]);
    close_map(w);

    field_map(w, "stages");
    for (unsigned i = 0; i < STAGE_KINDS; i++)
        field_uint(w, stage_name((stage_kind)i), c->partitions_by_stage[i]);
    field_uint(w, "synthesized", c->synthesized);
    field_uint(w, "paused", c->paused_now);
    close_map(w);
}

static void put_refused(writer *w, const server_stats *stats) {
    field_map(w, "refused");
    for (unsigned i = 0; i < REFUSALS; i++)
        field_uint(w, refusal_name(i), atomic_load_explicit(&stats->refused[i], memory_order_relaxed));
    close_map(w);
}

static void put_keys(writer *w) {
    static const char *const tiers[] = {"hot", "warm", "cold"};
    field_array(w, "keys");
    for (size_t i = 0; i < w->s->n_keys; i++) {
        const key_view *k = &w->s->keys[i];
        yajl_gen_map_open(w->g);
        field_text(w, "circuit", k->circuit);
        field_text(w, "tier", tiers[k->tier]);
        field_uint(w, "bytes", k->bytes);
        field_uint(w, "locked_bytes", k->locked_bytes);
        field_uint(w, "matrices_bytes", k->matrices_bytes);
        field_uint(w, "users", k->users);
        field_real(w, "idle_secs", k->idle);
        close_map(w);
    }
    close_array(w);
}

static const char *partition_state_text(partition_state state) {
    static const char *const names[] = {"pending", "synthesis", "synthesized", "prove", "done", "failed"};
    return names[state];
}

static void put_partition(writer *w, const engine_job_view *j, const engine_partition_view *p) {
    double base = j->accepted;
    yajl_gen_map_open(w->g);
    field_text(w, "state", partition_state_text(p->state));
    field_bool(w, "paused", p->paused);
    field_real(w, "progress", (double)p->progress);
    field_text(w, "phase", p->phase);
    field_uint(w, "attempts", p->attempts);
    field_time(w, "synth_start", p->synth_start < 0 ? -1 : base + (double)p->synth_start);
    field_time(w, "synth_end", p->synth_end < 0 ? -1 : base + (double)p->synth_end);
    field_time(w, "prove_start", p->prove_start < 0 ? -1 : base + (double)p->prove_start);
    field_time(w, "prove_end", p->prove_end < 0 ? -1 : base + (double)p->prove_end);
    close_map(w);
}

static void put_timings(writer *w, const engine_timings *t) {
    field_map(w, "timings");
    field_uint(w, "queue_wait_ms", t->queue_wait);
    field_uint(w, "key_load_ms", t->key_load);
    field_uint(w, "check_ms", t->check);
    field_uint(w, "synthesis_ms", t->synthesis);
    field_uint(w, "compute_ms", t->compute);
    field_uint(w, "total_ms", t->total);
    field_uint(w, "peak_bytes", t->peak_bytes);
    close_map(w);
}

static void put_job(writer *w, const engine_job_view *j, bool partitions) {
    yajl_gen_map_open(w->g);
    field_text(w, "id", j->id);
    field_text(w, "kind", kind_name(j->kind));
    field_text(w, "priority", job_priority_name(j->priority));
    field_text(w, "effective_priority", job_priority_name(j->effective));
    field_text(w, "state", job_state_name(j->state));
    field_text(w, "circuit", j->circuit);
    field_uint(w, "sector_number", j->sector_number);
    field_uint(w, "miner_id", j->miner_id);
    field_time(w, "accepted", j->accepted);
    field_time(w, "started", j->started);
    field_time(w, "ended", j->ended);
    field_time(w, "deadline", j->deadline);
    field_uint(w, "total_partitions", j->partitions);
    field_uint(w, "partitions_done", j->partitions_done);
    field_uint(w, "memory_bytes", j->memory_bytes);
    field_bool(w, "checking", j->checking);
    field_bool(w, "verifying", j->verifying);
    field_text(w, "message", j->message);
    put_timings(w, &j->timings);
    if (partitions && j->partition) {
        field_array(w, "partitions");
        for (uint32_t i = 0; i < j->partitions; i++) put_partition(w, j, &j->partition[i]);
        close_array(w);
    }
    close_map(w);
}

static void put_jobs(writer *w) {
    size_t listed[3] = {0}; /* running, waiting, ended */
    size_t partitioned = 0;
    field_uint(w, "jobs_total", w->s->total_jobs);
    field_array(w, "jobs");
    for (size_t i = 0; i < w->s->n_jobs; i++) {
        const engine_job_view *j = &w->s->jobs[i];
        size_t *group = &listed[job_state_is_final(j->state) ? 2 : j->state == JOB_QUEUED ? 1 : 0];
        if (++*group > w->max_jobs) continue;
        bool partitions = j->partition && partitioned < STATUS_PARTITIONED_JOBS;
        partitioned += partitions;
        put_job(w, j, partitions);
    }
    close_array(w);
}

static void put_failures(writer *w) {
    size_t listed = 0;
    field_array(w, "failures");
    for (size_t i = 0; i < w->s->n_jobs && listed < STATUS_FAILURES; i++) {
        const engine_job_view *j = &w->s->jobs[i];
        if (!job_state_is_final(j->state) || j->state == JOB_COMPLETED) continue;
        yajl_gen_map_open(w->g);
        field_text(w, "id", j->id);
        field_text(w, "kind", kind_name(j->kind));
        field_text(w, "state", job_state_name(j->state));
        field_text(w, "message", j->message);
        field_real(w, "secs_ago", w->now - j->ended);
        close_map(w);
        listed++;
    }
    close_array(w);
}

cuzk_code status_json(char **out, size_t *size, const engine_snapshot *s, const server_stats *stats,
                      size_t max_jobs, cuzk_error *err) {
    *out = NULL;
    const engine_counters *c = &s->counters;
    writer w = {.g = yajl_gen_alloc(NULL), .s = s, .now = c->uptime, .max_jobs = max_jobs};
    if (!w.g) return error_no_memory(err, sizeof w, "a JSON writer");
    yajl_gen_map_open(w.g);
    field_real(&w, "uptime_secs", c->uptime);
    put_memory(&w, c);
    field_map(&w, "synthesis");
    field_uint(&w, "max_concurrent", stats->max_synthesis);
    field_uint(&w, "active", c->partitions_by_stage[STAGE_SYNTHESIS]);
    close_map(&w);
    put_pipelines(&w);
    put_workers(&w);
    put_allocations(&w);
    put_counters(&w, c);
    put_buffers(&w, c);

    field_text(&w, "version", stats->build.version);
    field_text(&w, "commit", stats->build.commit);
    field_text(&w, "variant", stats->build.variant);
    field_bool(&w, "draining", c->draining);
    put_engine(&w, c);
    put_refused(&w, stats);
    put_keys(&w);
    put_jobs(&w);
    put_failures(&w);
    yajl_gen_map_close(w.g);

    const unsigned char *text;
    size_t length;
    cuzk_code code = CUZK_OK;
    if (yajl_gen_get_buf(w.g, &text, &length) != yajl_gen_status_ok)
        code = error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "the status document is not complete");
    else if (!(*out = malloc(length + 1)))
        code = error_no_memory(err, length, "the status document");
    if (code == CUZK_OK) {
        memcpy(*out, text, length);
        (*out)[length] = 0;
        *size = length;
    }
    yajl_gen_free(w.g);
    return code;
}
