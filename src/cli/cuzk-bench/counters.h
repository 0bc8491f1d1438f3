/*
 * The processor's event counters, through perf_event_open: user mode, this thread and the threads it creates
 * after counters_open. Each event is there or not by itself; virtual machines often have none.
 */
#ifndef CUZK_BENCH_COUNTERS_H
#define CUZK_BENCH_COUNTERS_H

#include <stdbool.h>

typedef enum counter_event {
    COUNTER_CYCLES,
    COUNTER_INSTRUCTIONS,
    COUNTER_BRANCHES,
    COUNTER_BRANCH_MISSES,
    COUNTER_L1D_MISSES, /* loads */
    COUNTER_L2_MISSES,  /* known on Intel since Skylake and AMD Zen */
    COUNTER_EVENTS
} counter_event;

typedef struct counters {
    int fd[COUNTER_EVENTS]; /* -1: this machine does not count it */
    char why[160];          /* why there are none, "" when there are some */
    double start[COUNTER_EVENTS][3];
} counters;

typedef struct counter_values {
    bool have[COUNTER_EVENTS];
    double count[COUNTER_EVENTS]; /* extrapolated where the kernel shared a counter among events */
} counter_values;

const char *counter_name(counter_event event); /* "cycles", "l1d_misses", ... */

/* Are there any? Otherwise c->why says why not; the other functions may be called all the same. */
bool counters_open(counters *c);
void counters_close(counters *c);

void counters_start(counters *c);
/* What happened since the start. */
void counters_stop(counters *c, counter_values *out);

#endif
