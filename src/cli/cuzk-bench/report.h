/* What a benchmark measured, and showing it: a table for people, JSON for programs (bench/README.md, "The
 * output"). */
#ifndef CUZK_BENCH_REPORT_H
#define CUZK_BENCH_REPORT_H

#include "command.h"

#define BENCH_MAX_REPEAT  100u
#define BENCH_MAX_RESULTS 64u

typedef struct bench_clock {
    double wall, cpu;
} bench_clock;

typedef struct bench_result {
    const char *work;
    const char *variant; /* the code variant measured, "" when it is the chosen one */
    uint64_t n;          /* size, as the other programs under bench/ give it */
    uint64_t items;      /* what a time per item is divided by */
    unsigned threads;
    unsigned repeat; /* seconds[0 .. repeat) are filled */
    double seconds[BENCH_MAX_REPEAT], cpu_seconds[BENCH_MAX_REPEAT];
    char checksum[2 * 96 + 1];
} bench_result;

typedef struct bench_report {
    uint64_t seed;
    unsigned threads;
    const char *variant; /* chosen for this processor */
    unsigned count;
    bench_result results[BENCH_MAX_RESULTS];
} bench_report;

typedef struct bench_spread {
    double median, least, most;
} bench_spread;
/* Of 1 to BENCH_MAX_REPEAT values. */
bench_spread bench_spread_of(const double *values, unsigned n);

bench_clock bench_start(void);
/* Append the time since start, of the wall clock and of all threads of the process. */
void bench_stop(bench_result *result, bench_clock start);

/* One line: processor, CPUs, memory, kernel, huge pages, load. */
void bench_print_machine(void);
/* The key "machine" and what this machine is. */
void bench_put_machine(yajl_gen g);

void bench_print_table(const bench_report *report);
/* To the file, or to stdout when path is "-". */
cuzk_code bench_print_json(const bench_report *report, const char *path, cuzk_error *err);

#endif
