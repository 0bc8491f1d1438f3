/* Counters and views. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/engine_internal.h"

/* Live values of the stages that run now: there are few. */
static void add_running(engine_counters *c, const engine *e) {
    for (const sched_task *task = scheduler_tasks(e->scheduler); task; task = task->next) {
        const run *x = task->user;
        if (x) c->core_seconds[task->stage] += pool_lane_core_seconds(x->lane);
    }
}

static void fill_counters(engine_counters *c, engine *e) {
    uint64_t external = engine_external_bytes(e);
    *c = e->counters;
    c->uptime = engine_now(e);
    c->draining = e->draining;
    c->cores = pool_threads(e->cores);
    c->cores_busy = pool_running(e->cores);
    add_running(c, e);
    c->synthesized = scheduler_synthesized(e->scheduler);
    c->key_evictions = keys_evictions(e->keys);
    c->memory_budget = mem_budget();
    c->memory_used = mem_in_use() + external - e->charged + e->task_bytes; /* requests lie in big buffers */
    c->memory_peak = mem_peak();
    c->memory_reserved = scheduler_reserved(e->scheduler) + external;
}

void engine_get_counters(engine_counters *out, engine *e) {
    pthread_mutex_lock(&e->mutex);
    fill_counters(out, e);
    pthread_mutex_unlock(&e->mutex);
    out->resident_bytes = mem_resident();
}

static partition_state state_of(const sched_partition *p) {
    static const partition_state states[] = {[SCHED_PENDING] = PARTITION_PENDING,
                                             [SCHED_SYNTHESIZING] = PARTITION_SYNTHESIZING,
                                             [SCHED_SYNTHESIZED] = PARTITION_SYNTHESIZED,
                                             [SCHED_PROVING] = PARTITION_PROVING,
                                             [SCHED_PROVED] = PARTITION_DONE};
    return states[p->state];
}

static void view_run(engine_partition_view *v, const run *x) {
    uint64_t done = atomic_load_explicit(&x->done, memory_order_relaxed),
             total = atomic_load_explicit(&x->total, memory_order_relaxed);
    v->progress = total > 0 ? (float)((double)done / (double)total) : 0;
    v->paused = x->paused_since >= 0;
    snprintf(v->phase, sizeof v->phase, "%s", atomic_load_explicit(&x->phase, memory_order_relaxed));
}

static void view_partition(engine_partition_view *v, const record *r, uint32_t k) {
    const partition_record *p = &r->partition[k];
    *v = (engine_partition_view){.synth_start = p->synth_start,
                                 .synth_end = p->synth_end,
                                 .prove_start = p->prove_start,
                                 .prove_end = p->prove_end};
    if (r->job) {
        v->state = state_of(&r->job->partition[k]);
        v->attempts = r->job->partition[k].attempts;
    } else {
        bool done = r->state == JOB_COMPLETED || (p->prove_end >= 0 && !p->failed);
        v->state = done ? PARTITION_DONE : p->failed ? PARTITION_FAILED : PARTITION_PENDING;
    }
    if (p->run) view_run(v, p->run);
}

static void view_job(engine_job_view *v, const record *r) {
    *v = (engine_job_view){.kind = r->kind,
                           .priority = r->priority,
                           .effective = r->job ? r->job->effective : r->priority,
                           .state = r->state,
                           .sector_number = r->sector_number,
                           .miner_id = r->miner_id,
                           .accepted = r->accepted,
                           .started = r->started,
                           .ended = r->ended,
                           .deadline = r->deadline > 0 ? r->deadline : -1,
                           .partitions = r->plan.partitions,
                           .partitions_done = r->partitions_proved,
                           .checking = r->check != NULL,
                           .verifying = r->verify != NULL,
                           .timings = r->timings};
    snprintf(v->id, sizeof v->id, "%s", r->id);
    snprintf(v->circuit, sizeof v->circuit, "%s", r->circuit);
    if (r->state != JOB_COMPLETED) snprintf(v->message, sizeof v->message, "%.255s", r->error.message);
    if (r->job)
        v->memory_bytes = r->plan.task_bytes + r->job->synthesized * r->plan.witness_bytes +
                          r->job->synthesizing * (r->plan.witness_bytes + r->plan.synthesis_bytes) +
                          r->job->proving * (r->plan.witness_bytes + r->plan.prove_bytes);
}

/* Has it partitions to show? */
static bool has_partitions(const record *r) {
    return r->partition && r->started >= 0;
}

/* Choose the jobs to show, in order: running, waiting by urgency, ended. */
static size_t choose(const record **out, size_t max, const engine *e) {
    size_t n = 0, recent = e->ended.count < RECENT_JOBS ? e->ended.count : RECENT_JOBS;
    size_t room = max > recent ? max - recent : 0;
    for (const record *r = e->live.first; r && n < room; r = r->next)
        if (!r->accepting && r->started >= 0) out[n++] = r;
    for (int priority = JOB_CRITICAL; priority >= JOB_LOW; priority--)
        for (const record *r = e->live.first; r && n < room; r = r->next) {
            int effective = (int)(r->job ? r->job->effective : r->priority);
            if (!r->accepting && r->started < 0 && effective == priority) out[n++] = r;
        }
    for (const record *r = e->ended.last; r && n < max; r = r->previous) out[n++] = r;
    return n;
}

cuzk_code engine_snapshot_take(engine_snapshot *out, engine *e, size_t max_jobs, cuzk_error *err) {
    *out = (engine_snapshot){.jobs = NULL};
    if (max_jobs > MAX_ENDED) max_jobs = MAX_ENDED;
    const record **chosen = malloc((max_jobs + 1) * sizeof *chosen);
    out->jobs = calloc(max_jobs + 1, sizeof *out->jobs);
    out->keys = calloc(KEYS_MAX, sizeof *out->keys);
    if (!chosen || !out->jobs || !out->keys) {
        free(chosen);
        engine_snapshot_free(out);
        return error_no_memory(err, max_jobs * sizeof *out->jobs, "a status view");
    }
    pthread_mutex_lock(&e->mutex);
    fill_counters(&out->counters, e);
    out->n_jobs = choose(chosen, max_jobs, e);
    out->total_jobs = engine_count_unfinished(e) + e->ended.count;
    size_t partitions = 0;
    for (size_t i = 0; i < out->n_jobs; i++)
        if (has_partitions(chosen[i])) partitions += chosen[i]->plan.partitions;
    /* A little allocation under the mutex: the number of partitions is only known here. */
    out->partition_views = calloc(partitions + 1, sizeof *out->partition_views);
    engine_partition_view *next = out->partition_views;
    for (size_t i = 0; i < out->n_jobs; i++) {
        view_job(&out->jobs[i], chosen[i]);
        if (!next || !has_partitions(chosen[i])) continue;
        out->jobs[i].partition = next;
        for (uint32_t k = 0; k < chosen[i]->plan.partitions; k++) view_partition(next++, chosen[i], k);
    }
    pthread_mutex_unlock(&e->mutex);
    free(chosen);
    out->n_keys = keys_list(e->keys, out->keys, KEYS_MAX);
    out->counters.resident_bytes = mem_resident();
    return CUZK_OK;
}

void engine_snapshot_free(engine_snapshot *s) {
    free(s->jobs);
    free(s->keys);
    free(s->partition_views);
    *s = (engine_snapshot){.jobs = NULL};
}
