/*
 * A metric's head comes from the list, its samples from `samples`, which has a case for every identifier: the
 * compiler says when one is missing.
 */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/metric_names.h"

#define METRIC_ID(id, type, name, labels, help) METRIC_##id,
typedef enum metric_id { METRIC_NAMES(METRIC_ID) METRIC_COUNT } metric_id;

typedef enum metric_type { METRIC_TYPE_COUNTER, METRIC_TYPE_GAUGE, METRIC_TYPE_HISTOGRAM } metric_type;
static const char *const type_names[] = {"counter", "gauge", "histogram"};

typedef struct metric {
    metric_type type;
    const char *name, *labels, *help;
} metric;
#define METRIC_ROW(id, type, name, labels, help) {METRIC_TYPE_##type, name, labels, help},
static const metric metrics[] = {METRIC_NAMES(METRIC_ROW)};

typedef struct writer {
    FILE *out;
    const metric *m;
} writer;

/* A label value: backslash, quote and newline are escaped. */
static void put_value(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\\' || *text == '"') fputc('\\', out);
        if (*text == '\n')
            fputs("\\n", out);
        else
            fputc(*text, out);
    }
}

/* name[suffix]{labels...,extra} without the value. `values` are those of the metric's labels in order. */
static void put_name(const writer *w, const char *suffix, const char *const *values, const char *le) {
    fprintf(w->out, "%s%s", w->m->name, suffix);
    const char *label = w->m->labels;
    const char *separator = "{";
    for (size_t i = 0; *label; i++) {
        size_t length = strcspn(label, ",");
        fprintf(w->out, "%s%.*s=\"", separator, (int)length, label);
        put_value(w->out, values[i]);
        fputc('"', w->out);
        separator = ",";
        label += length + (label[length] == ',');
    }
    if (le) {
        fprintf(w->out, "%sle=\"%s\"", separator, le);
        separator = ",";
    }
    fputs(*separator == ',' ? "} " : " ", w->out);
}

static void put_count(const writer *w, const char *const *values, uint64_t value) {
    put_name(w, "", values, NULL);
    fprintf(w->out, "%" PRIu64 "\n", value);
}

static void put_real(const writer *w, const char *const *values, double value) {
    put_name(w, "", values, NULL);
    fprintf(w->out, "%.3f\n", value);
}

static void put_histogram(const writer *w, const char *value, const engine_histogram *h) {
    const char *const values[] = {value};
    uint64_t below = 0;
    for (unsigned i = 0; i < ENGINE_BUCKETS; i++) {
        char bound[32] = "+Inf";
        if (i + 1 < ENGINE_BUCKETS) snprintf(bound, sizeof bound, "%.3f", 0.001 * (double)(1u << i));
        below += h->counts[i];
        put_name(w, "_bucket", values, bound);
        fprintf(w->out, "%" PRIu64 "\n", below);
    }
    put_name(w, "_sum", values, NULL);
    fprintf(w->out, "%.6f\n", h->sum);
    put_name(w, "_count", values, NULL);
    fprintf(w->out, "%" PRIu64 "\n", below);
}

static uint64_t sum_kinds(const uint64_t counts[JOB_KINDS]) {
    uint64_t sum = 0;
    for (unsigned k = 1; k < JOB_KINDS; k++) sum += counts[k];
    return sum;
}

static uint64_t sum_jobs(const uint32_t counts[JOB_KINDS]) {
    uint64_t sum = 0;
    for (unsigned k = 1; k < JOB_KINDS; k++) sum += counts[k];
    return sum;
}

/* Kinds seen so far. A kind that was seen stays: its counters may not vanish again. */
static bool kind_seen(const engine_counters *c, unsigned k) {
    return c->completed[k] + c->failed[k] + c->cancelled[k] + c->timed_out[k] + c->pending[k] +
               c->running[k] >
           0;
}

static void put_kinds(const writer *w, const engine_counters *c, const uint64_t counts[JOB_KINDS]) {
    for (unsigned k = 1; k < JOB_KINDS; k++)
        if (kind_seen(c, k)) put_count(w, (const char *const[]){job_kind_label(k)}, counts[k]);
}

static void put_jobs(const writer *w, const engine_counters *c) {
    for (unsigned k = 1; k < JOB_KINDS; k++) {
        if (!kind_seen(c, k)) continue;
        put_count(w, (const char *const[]){job_kind_label(k), "queued"}, c->pending[k]);
        put_count(w, (const char *const[]){job_kind_label(k), "running"}, c->running[k]);
    }
}

static void put_keys(const writer *w, const engine_snapshot *s) {
    static const char *const tiers[] = {"hot", "warm", "cold"};
    for (size_t i = 0; i < s->n_keys; i++) {
        const key_view *k = &s->keys[i];
        put_count(w, (const char *const[]){k->circuit, tiers[k->tier]}, k->bytes);
    }
}

static const char *stage_label(unsigned stage) {
    return stage_name((stage_kind)stage);
}

static void samples(const writer *w, metric_id id, const engine_snapshot *s, const server_stats *stats) {
    const engine_counters *c = &s->counters;
    switch (id) {
    case METRIC_UPTIME:
        put_real(w, NULL, c->uptime);
        break;
    case METRIC_BUILD_INFO:
        put_count(w, (const char *const[]){stats->build.version, stats->build.commit, stats->build.variant},
                  1);
        break;
    case METRIC_DRAINING:
        put_count(w, NULL, c->draining);
        break;
    case METRIC_COMPLETED_TOTAL:
        put_count(w, NULL, sum_kinds(c->completed));
        break;
    case METRIC_FAILED_TOTAL:
        put_count(w, NULL, sum_kinds(c->failed));
        break;
    case METRIC_COMPLETED:
        put_kinds(w, c, c->completed);
        break;
    case METRIC_FAILED:
        put_kinds(w, c, c->failed);
        break;
    case METRIC_CANCELLED:
        put_kinds(w, c, c->cancelled);
        break;
    case METRIC_TIMED_OUT:
        put_kinds(w, c, c->timed_out);
        break;
    case METRIC_DURATION:
        for (unsigned k = 1; k < JOB_KINDS; k++)
            if (kind_seen(c, k)) put_histogram(w, job_kind_label(k), &c->total[k]);
        break;
    case METRIC_PHASE_DURATION:
        for (unsigned i = 0; i < STAGE_KINDS; i++) put_histogram(w, stage_label(i), &c->stage[i]);
        break;
    case METRIC_QUEUE_WAIT:
        for (unsigned p = JOB_LOW; p <= JOB_CRITICAL; p++)
            put_histogram(w, job_priority_name((job_priority)p), &c->queue_wait[p]);
        break;
    case METRIC_QUEUE_DEPTH:
        put_count(w, NULL, sum_jobs(c->pending));
        break;
    case METRIC_RUNNING_JOBS:
        put_count(w, NULL, sum_jobs(c->running));
        break;
    case METRIC_JOBS:
        put_jobs(w, c);
        break;
    case METRIC_JOBS_BY_PRIORITY:
        for (unsigned p = JOB_LOW; p <= JOB_CRITICAL; p++)
            put_count(w, (const char *const[]){job_priority_name((job_priority)p)}, c->queued_by_priority[p]);
        break;
    case METRIC_SUBMITTED:
        put_count(w, NULL, c->submitted);
        break;
    case METRIC_REFUSED:
        for (unsigned i = 0; i < REFUSALS; i++)
            put_count(w, (const char *const[]){refusal_name(i)},
                      atomic_load_explicit(&stats->refused[i], memory_order_relaxed));
        break;
    case METRIC_STAGES:
        for (unsigned i = 0; i < STAGE_KINDS; i++)
            put_count(w, (const char *const[]){stage_label(i)}, c->partitions_by_stage[i]);
        break;
    case METRIC_SYNTHESIZED:
        put_count(w, NULL, c->synthesized);
        break;
    case METRIC_PAUSED:
        put_count(w, NULL, c->paused_now);
        break;
    case METRIC_PARTITIONS_PROVED:
        put_count(w, NULL, c->partitions_proved);
        break;
    case METRIC_RETRIES:
        put_count(w, NULL, c->retries);
        break;
    case METRIC_SELF_CHECK_FAILURES:
        put_count(w, NULL, c->self_check_failures);
        break;
    case METRIC_GPU_WORKERS:
        put_count(w, NULL, 0);
        break;
    case METRIC_CORES:
        put_count(w, NULL, c->cores);
        break;
    case METRIC_CORES_BUSY:
        put_count(w, NULL, c->cores_busy);
        break;
    case METRIC_CORE_SECONDS:
        for (unsigned i = 0; i < STAGE_KINDS; i++)
            put_real(w, (const char *const[]){stage_label(i)}, c->core_seconds[i]);
        break;
    case METRIC_MEMORY_BUDGET:
        put_count(w, NULL, c->memory_budget);
        break;
    case METRIC_MEMORY_USED:
        put_count(w, NULL, c->memory_used);
        break;
    case METRIC_MEMORY_RESERVED:
        put_count(w, NULL, c->memory_reserved);
        break;
    case METRIC_MEMORY_PEAK:
        put_count(w, NULL, c->memory_peak);
        break;
    case METRIC_RESIDENT:
        put_count(w, NULL, c->resident_bytes);
        break;
    case METRIC_KEYS:
        put_keys(w, s);
        break;
    case METRIC_KEY_EVICTIONS:
        put_count(w, NULL, c->key_evictions);
        break;
    case METRIC_COUNT:
        break;
    }
}

cuzk_code metrics_text(char **out, size_t *size, const engine_snapshot *s, const server_stats *stats,
                       cuzk_error *err) {
    *out = NULL;
    FILE *stream = open_memstream(out, size);
    if (!stream) return error_no_memory(err, 0, "the metrics");
    for (unsigned id = 0; id < METRIC_COUNT; id++) {
        const metric *m = &metrics[id];
        fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, type_names[m->type]);
        samples(&(writer){stream, m}, (metric_id)id, s, stats);
    }
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(*out);
        *out = NULL;
        return error_no_memory(err, 0, "the metrics");
    }
    return CUZK_OK;
}
