/*
 * Counts from valgrind's cachegrind, for machines without event counters: every strategy once, over a slice
 * of the circuit, with the first two levels of this machine's data caches. They are exact and the same every
 * time, but they are a model's: no prefetching, and a simple branch predictor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lc_study.h"

/* "--D1=size,ways,line" from sysconf; a usual cache where the system does not tell, or tells what cachegrind
 * does not take. */
static void cache_option(char out[64], const char *name, int size_key, int ways_key, int line_key,
                         const char *usual) {
    const long size = sysconf(size_key), ways = sysconf(ways_key), line = sysconf(line_key);
    const long sets = size > 0 && ways > 0 && line > 0 ? size / ways / line : 0;
    if (line >= 16 && sets > 0 && (sets & (sets - 1)) == 0 && sets * ways * line == size)
        snprintf(out, 64, "--%s=%ld,%ld,%ld", name, size, ways, line);
    else
        snprintf(out, 64, "--%s=%s", name, usual);
}

/* The value under `event` in a cachegrind file: its "events:" line names the columns of its "summary:". */
static bool column(const char *events, const char *summary, const char *event, double *value) {
    char names[512], values[512], *name_rest, *value_rest;
    snprintf(names, sizeof names, "%s", events);
    snprintf(values, sizeof values, "%s", summary);
    const char *v = strtok_r(values, " \n", &value_rest);
    for (const char *n = strtok_r(names, " \n", &name_rest); n && v; n = strtok_r(NULL, " \n", &name_rest)) {
        if (strcmp(n, event) == 0) {
            *value = strtod(v, NULL);
            return true;
        }
        v = strtok_r(NULL, " \n", &value_rest);
    }
    return false;
}

/* The sum of two columns. */
static void sum_columns(counter_values *out, counter_event event, const char *events, const char *summary,
                        const char *first, const char *second) {
    double a = 0, b = 0;
    out->have[event] = column(events, summary, first, &a) && (!second || column(events, summary, second, &b));
    out->count[event] = a + b;
}

static bool read_counts(counter_values *out, const char *path) {
    char line[1024], events[512] = "", summary[512] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "events:", 7) == 0) snprintf(events, sizeof events, "%.511s", line + 7);
        if (strncmp(line, "summary:", 8) == 0) snprintf(summary, sizeof summary, "%.511s", line + 8);
    }
    fclose(file);
    memset(out, 0, sizeof *out);
    sum_columns(out, COUNTER_INSTRUCTIONS, events, summary, "Ir", NULL);
    sum_columns(out, COUNTER_BRANCHES, events, summary, "Bc", "Bi");
    sum_columns(out, COUNTER_BRANCH_MISSES, events, summary, "Bcm", "Bim");
    sum_columns(out, COUNTER_L1D_MISSES, events, summary, "D1mr", "D1mw");
    sum_columns(out, COUNTER_L2_MISSES, events, summary, "DLmr", "DLmw");
    return out->have[COUNTER_INSTRUCTIONS];
}

static bool simulate_row(study *s, unsigned row, const char *d1, const char *l2, const char *path) {
    char numbers[4][24], names[64], text[4096], file_option[512];
    const char *argv[48] = {"valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes",
                            d1,         l2,   file_option};
    snprintf(file_option, sizeof file_option, "--cachegrind-out-file=%s", path);
    study_worker_arguments(argv + 8, numbers, names, sizeof names, s, &row, 1, s->slice);
    const int status = study_spawn(argv, NULL, text, sizeof text, false);
    if (status == 127)
        snprintf(s->source_note, sizeof s->source_note,
                 "valgrind, which could count instead, is not installed");
    else if (status != 0 || !read_counts(&s->rows[row].simulated, path))
        snprintf(s->source_note, sizeof s->source_note,
                 "valgrind, which could count instead, failed (code %d)", status);
    else
        return true;
    return false;
}

bool study_simulate(study *s, void (*progress)(void *ctx, const char *strategy), void *ctx) {
    const char *folder = getenv("TMPDIR");
    char path[400], d1[64], l2[64];
    snprintf(path, sizeof path, "%s/cuzk-cachegrind-XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0) {
        snprintf(s->source_note, sizeof s->source_note, "no temporary file for cachegrind");
        return false;
    }
    close(fd);
    cache_option(d1, "D1", _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE,
                 "32768,8,64");
    cache_option(l2, "LL", _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE,
                 "1048576,16,64");
    bool done = true;
    for (unsigned i = 0; i < s->n && done; i++) {
        progress(ctx, s->rows[i].strategy->name);
        done = simulate_row(s, i, d1, l2, path);
    }
    unlink(path);
    if (done)
        snprintf(s->source_note, sizeof s->source_note,
                 "cachegrind, a simulation: the first %llu constraints, L1d %s, L2 %s (size, ways, line)",
                 (unsigned long long)s->slice, d1 + 5, l2 + 5);
    return done;
}
