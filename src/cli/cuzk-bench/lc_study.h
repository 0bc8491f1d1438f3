/*
 * The study of how linear combinations are stored: what it measures, and the pieces of `cuzk-bench lc-study`.
 *
 * Times come from worker processes, this program run again with one allocator or another; a worker runs each
 * strategy once, in the order given. Counts of events come from the processor's counters in the same runs,
 * or else from one run of each strategy in valgrind's cachegrind.
 */
#ifndef CUZK_BENCH_LC_STUDY_H
#define CUZK_BENCH_LC_STUDY_H

#include "counters.h"
#include "lc_strategy.h"
#include "report.h"

#define STUDY_STRATEGIES 32u

typedef enum study_allocator { STUDY_GLIBC, STUDY_JEMALLOC, STUDY_ALLOCATORS } study_allocator;
extern const char *const study_allocator_names[STUDY_ALLOCATORS];

typedef enum study_source { STUDY_AUTO, STUDY_HARDWARE, STUDY_CACHEGRIND, STUDY_NONE } study_source;
extern const char *const study_source_names[];

/* What one run of a strategy gave. */
typedef struct study_run {
    double cpu; /* seconds */
    uint64_t allocations;
    counter_values events;
} study_run;

typedef struct study_row {
    const lc_strategy *strategy;
    study_run runs[STUDY_ALLOCATORS][BENCH_MAX_REPEAT];
    counter_values simulated; /* totals of a cachegrind run */
    lc_trace touched;         /* sums over all constraints; enforces 0 for baselines */
} study_row;

typedef struct study {
    /* as asked for */
    const char *c1, *jemalloc; /* jemalloc: its library, NULL to look for it */
    unsigned partition, repeat;
    uint64_t constraints; /* the first so many; all when 0 */
    uint64_t slice;       /* for cachegrind: the first so many */
    uint64_t memory_budget;
    bool wanted[STUDY_ALLOCATORS];
    study_source source; /* in the end HARDWARE, CACHEGRIND or NONE */
    /* as found */
    uint64_t measured; /* constraints of a run */
    unsigned n, rounds;
    study_row rows[STUDY_STRATEGIES]; /* baselines first: none, direct */
    bool present[STUDY_ALLOCATORS];
    char missing[STUDY_ALLOCATORS][160]; /* why an allocator was not measured */
    char source_note[256];               /* what counted events, or why nothing did */
    lc_terms terms;
} study;

#define STUDY_NONE_ROW   0u
#define STUDY_DIRECT_ROW 1u

/* ---- workers (lc_worker.c) ---- */

/* The worker's side: run the rows' strategies once each and print what they gave. Returns the exit code. */
cuzk_code study_work(const study *s, bool warm_up, cuzk_error *err);

/* Run a worker with an allocator, with the strategies in the order of rows `order`, and add round `round`.
 * When the allocator is not to be had, present[] becomes false and missing[] says why; that is no error. */
cuzk_code study_round(study *s, study_allocator allocator, const unsigned *order, unsigned round,
                      cuzk_error *err);

/* Start argv[0], found like a shell does, with `library` preloaded unless NULL; return its exit code (127:
 * not started, 128 + n: ended by signal n) and its stdout in `text`, cut to `size` with its NUL. Its stderr
 * is shown when `loud`. */
int study_spawn(const char *const *argv, const char *library, char *text, size_t size, bool loud);
/* The arguments that make this program a worker for the strategies of `order`. `names` has room for them. */
void study_worker_arguments(const char *argv[32], char numbers[4][24], char *names, size_t names_size,
                            const study *s, const unsigned *order, unsigned n, uint64_t constraints);
const char *study_program(void); /* the path of this program */

/* ---- cachegrind (lc_cachegrind.c) ---- */

/* Count every row's events in cachegrind; false, with the reason in source_note, when that is not possible.
 */
bool study_simulate(study *s, void (*progress)(void *ctx, const char *strategy), void *ctx);

/* ---- output (lc_report.c, lc_chart.c) ---- */

/* ns of CPU time per constraint over all rounds; `over` is a row whose time in the same round is taken off,
 * or -1. */
bench_spread study_time(const study *s, unsigned row, study_allocator allocator, int over);
/* Allocations per constraint, those of `none` taken off. */
double study_allocations(const study *s, unsigned row, study_allocator allocator);
/* Events per constraint, those of `none` taken off. False when they were not counted. */
bool study_events(const study *s, unsigned row, counter_event event, double *per_constraint);

void study_print(const study *s);
cuzk_code study_write_json(const study *s, const char *path, cuzk_error *err);
cuzk_code study_write_chart(const study *s, const char *path, cuzk_error *err);

#endif
