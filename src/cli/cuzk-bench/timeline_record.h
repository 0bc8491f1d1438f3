/*
 * What happened to jobs over time: for each job and partition the stages it went through, when they paused,
 * and now and then how many cores were busy. Filled from a log (timeline_log.c) or from status documents
 * (timeline_status.c); drawn by timeline_chart.c.
 */
#ifndef CUZK_BENCH_TIMELINE_RECORD_H
#define CUZK_BENCH_TIMELINE_RECORD_H

#include <stdio.h>

#include "base/error.h"

typedef enum timeline_stage {
    TIMELINE_CHECK,
    TIMELINE_SYNTHESIS,
    TIMELINE_WAIT, /* synthesized, the prover is at another: timeline_close finds these */
    TIMELINE_PROVE,
    TIMELINE_VERIFY,
    TIMELINE_PAUSE
} timeline_stage;
#define TIMELINE_STAGES 6u
extern const char *const timeline_stage_names[TIMELINE_STAGES]; /* "check", "synthesis", ... */

#define TIMELINE_WHOLE_JOB UINT32_MAX
#define TIMELINE_MAX_LANES 20000u /* and jobs */

typedef struct timeline_span {
    timeline_stage stage;
    double start, end; /* seconds; end negative: open */
} timeline_span;

/* A partition, or what is of the whole job. */
typedef struct timeline_lane {
    uint32_t partition;
    timeline_span *spans;
    size_t n_spans, capacity;
} timeline_lane;

typedef struct timeline_job {
    char *id;
    char kind[24], priority[16], state[16]; /* "" where unknown */
    double submitted, ended;                /* negative: unknown */
    unsigned retries;
    timeline_lane *lanes; /* whole job first, then by partition */
    size_t n_lanes, capacity;
} timeline_job;

typedef struct timeline_sample {
    double time;
    unsigned busy, total;
} timeline_sample;

typedef struct timeline {
    timeline_job *jobs;
    size_t n_jobs, jobs_capacity, n_lanes;
    timeline_sample *samples;
    size_t n_samples, samples_capacity;
    double first, last; /* of everything; 0, 0 when empty */
    bool failed;        /* memory was short, or there were too many lanes: something is missing */
} timeline;

void timeline_free(timeline *t);

/* The job of this name, made when new; NULL when there is no memory or there are too many (failed is set). */
timeline_job *timeline_job_named(timeline *t, const char *id);

/* A stage begins or ends. The end of a stage that was not seen beginning began `seconds` before. */
void timeline_start(timeline *t, timeline_job *job, uint32_t partition, timeline_stage stage, double time);
void timeline_end(timeline *t, timeline_job *job, uint32_t partition, timeline_stage stage, double time,
                  double seconds);
/* Both at once, again and again: the span with this beginning is made or brought up to date. */
void timeline_set(timeline *t, timeline_job *job, uint32_t partition, timeline_stage stage, double start,
                  double end);
void timeline_sampled(timeline *t, double time, unsigned busy, unsigned total);

/* Nothing more comes: close what is open at the last time, and find where partitions waited. */
void timeline_close(timeline *t);

/* Sums over everything, after timeline_close. */
typedef struct timeline_totals {
    size_t jobs, partitions, stages[TIMELINE_STAGES];
    double seconds[TIMELINE_STAGES];
    double prover_idle; /* between the first and the last time something was being proved */
} timeline_totals;
void timeline_sum(timeline_totals *out, const timeline *t);

/* Read TIMELINE lines (engine/timeline.h) anywhere in a log; other lines are ignored. CUZK_ERR_INPUT when
 * there is none. */
cuzk_code timeline_read_log(timeline *t, const char *path, cuzk_error *err);

/* A status document of cuzk-daemon. Jobs that ended before `since` are left out; *now is its time. */
cuzk_code timeline_add_status(timeline *t, const char *json, double since, double *now, cuzk_error *err);

/* The chart, as SVG. */
void timeline_draw(FILE *out, const timeline *t);

#endif
