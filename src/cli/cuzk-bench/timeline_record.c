#include "timeline_record.h"

#include <stdlib.h>
#include <string.h>

const char *const timeline_stage_names[TIMELINE_STAGES] = {"check", "synthesis", "wait",
                                                           "prove", "verify",    "pause"};

/* Room for one more of `size` bytes; false (and t->failed) when there is none. */
static bool grow(timeline *t, void **items, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity) return true;
    size_t wanted = *capacity ? 2 * *capacity : 8;
    void *grown = realloc(*items, wanted * size);
    if (!grown) {
        t->failed = true;
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

void timeline_free(timeline *t) {
    for (size_t i = 0; i < t->n_jobs; i++) {
        timeline_job *job = &t->jobs[i];
        for (size_t k = 0; k < job->n_lanes; k++) free(job->lanes[k].spans);
        free(job->lanes);
        free(job->id);
    }
    free(t->jobs);
    free(t->samples);
    *t = (timeline){.jobs = NULL};
}

static void seen(timeline *t, double time) {
    bool empty = t->first == 0 && t->last == 0;
    if (empty || time < t->first) t->first = time;
    if (empty || time > t->last) t->last = time;
}

timeline_job *timeline_job_named(timeline *t, const char *id) {
    for (size_t i = t->n_jobs; i > 0; i--) /* most often it is a late one */
        if (strcmp(t->jobs[i - 1].id, id) == 0) return &t->jobs[i - 1];
    if (t->n_jobs >= TIMELINE_MAX_LANES) {
        t->failed = true;
        return NULL;
    }
    if (!grow(t, (void **)&t->jobs, t->n_jobs, &t->jobs_capacity, sizeof *t->jobs)) return NULL;
    char *name = strdup(id);
    if (!name) {
        t->failed = true;
        return NULL;
    }
    timeline_job *job = &t->jobs[t->n_jobs++];
    *job = (timeline_job){.id = name, .submitted = -1, .ended = -1};
    return job;
}

/* The order of lanes: the whole job first. */
static uint32_t rank(uint32_t partition) {
    return partition + 1;
}

static timeline_lane *lane_of(timeline *t, timeline_job *job, uint32_t partition) {
    size_t at = 0;
    while (at < job->n_lanes && rank(job->lanes[at].partition) < rank(partition)) at++;
    if (at < job->n_lanes && job->lanes[at].partition == partition) return &job->lanes[at];
    if (t->n_lanes >= TIMELINE_MAX_LANES) {
        t->failed = true;
        return NULL;
    }
    if (!grow(t, (void **)&job->lanes, job->n_lanes, &job->capacity, sizeof *job->lanes)) return NULL;
    memmove(job->lanes + at + 1, job->lanes + at, (job->n_lanes - at) * sizeof *job->lanes);
    job->lanes[at] = (timeline_lane){.partition = partition};
    job->n_lanes++;
    t->n_lanes++;
    return &job->lanes[at];
}

static void append(timeline *t, timeline_lane *lane, timeline_stage stage, double start, double end) {
    if (!lane || !grow(t, (void **)&lane->spans, lane->n_spans, &lane->capacity, sizeof *lane->spans)) return;
    lane->spans[lane->n_spans++] = (timeline_span){stage, start, end};
}

void timeline_start(timeline *t, timeline_job *job, uint32_t partition, timeline_stage stage, double time) {
    seen(t, time);
    append(t, lane_of(t, job, partition), stage, time, -1);
}

void timeline_end(timeline *t, timeline_job *job, uint32_t partition, timeline_stage stage, double time,
                  double seconds) {
    seen(t, time);
    timeline_lane *lane = lane_of(t, job, partition);
    if (!lane) return;
    for (size_t i = lane->n_spans; i > 0; i--) {
        timeline_span *s = &lane->spans[i - 1];
        if (s->stage != stage || s->end >= 0) continue;
        s->end = time > s->start ? time : s->start;
        return;
    }
    if (!(seconds > 0)) return;
    double start = time > seconds ? time - seconds : 0;
    seen(t, start);
    append(t, lane, stage, start, time);
}

void timeline_set(timeline *t, timeline_job *job, uint32_t partition, timeline_stage stage, double start,
                  double end) {
    seen(t, start);
    if (end >= 0) seen(t, end);
    timeline_lane *lane = lane_of(t, job, partition);
    for (size_t i = 0; lane && i < lane->n_spans; i++) {
        timeline_span *s = &lane->spans[i];
        double apart = s->start - start;
        if (s->stage != stage || apart > 0.002 || apart < -0.002) continue;
        s->end = end;
        return;
    }
    append(t, lane, stage, start, end);
}

void timeline_sampled(timeline *t, double time, unsigned busy, unsigned total) {
    seen(t, time);
    if (!grow(t, (void **)&t->samples, t->n_samples, &t->samples_capacity, sizeof *t->samples)) return;
    t->samples[t->n_samples++] = (timeline_sample){time, busy, total};
}

/* Each proof begins after a wait since the synthesis before it. */
static void find_waits(timeline *t, timeline_lane *lane) {
    size_t n = lane->n_spans;
    double synthesized = -1;
    for (size_t i = 0; i < n; i++) {
        timeline_span s = lane->spans[i];
        if (s.stage == TIMELINE_SYNTHESIS) synthesized = s.end;
        if (s.stage != TIMELINE_PROVE) continue;
        if (synthesized >= 0 && s.start > synthesized) append(t, lane, TIMELINE_WAIT, synthesized, s.start);
        synthesized = -1;
    }
}

void timeline_close(timeline *t) {
    for (size_t i = 0; i < t->n_jobs; i++)
        for (size_t k = 0; k < t->jobs[i].n_lanes; k++) {
            timeline_lane *lane = &t->jobs[i].lanes[k];
            double until = t->jobs[i].ended >= 0 ? t->jobs[i].ended : t->last;
            for (size_t m = 0; m < lane->n_spans; m++)
                if (lane->spans[m].end < 0)
                    lane->spans[m].end = until > lane->spans[m].start ? until : lane->spans[m].start;
            find_waits(t, lane);
        }
}

/* --- sums ------------------------------------------------------------------------------------------------
 */

static int compare_starts(const void *a, const void *b) {
    const timeline_span *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static double gaps(timeline_span *spans, size_t n) {
    qsort(spans, n, sizeof *spans, compare_starts);
    double idle = 0, until = n ? spans[0].end : 0;
    for (size_t i = 1; i < n; i++) {
        if (spans[i].start > until) idle += spans[i].start - until;
        if (spans[i].end > until) until = spans[i].end;
    }
    return idle;
}

void timeline_sum(timeline_totals *out, const timeline *t) {
    *out = (timeline_totals){.jobs = t->n_jobs};
    timeline_span *proofs = NULL;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) { /* count, then collect */
        for (size_t i = 0; i < t->n_jobs; i++)
            for (size_t k = 0; k < t->jobs[i].n_lanes; k++) {
                const timeline_lane *lane = &t->jobs[i].lanes[k];
                if (pass == 0 && lane->partition != TIMELINE_WHOLE_JOB) out->partitions++;
                for (size_t m = 0; m < lane->n_spans; m++) {
                    const timeline_span *s = &lane->spans[m];
                    if (pass == 0) {
                        out->stages[s->stage]++;
                        out->seconds[s->stage] += s->end - s->start;
                    } else if (s->stage == TIMELINE_PROVE && proofs) {
                        proofs[n++] = *s;
                    }
                }
            }
        if (pass == 0) proofs = calloc(out->stages[TIMELINE_PROVE] + 1, sizeof *proofs);
    }
    if (proofs) out->prover_idle = gaps(proofs, n);
    free(proofs);
}
