/* Times of calls, and their distribution. */
#ifndef CUZK_BENCH_LATENCY_H
#define CUZK_BENCH_LATENCY_H

#include "command.h"

/* Zero-initialize. For one thread at a time. */
typedef struct latency {
    double *seconds;
    size_t n, capacity, dropped; /* dropped: there was no memory for these */
} latency;

void latency_add(latency *l, double seconds);
/* Add all of another. */
void latency_merge(latency *l, const latency *other);
void latency_free(latency *l);

typedef struct latency_summary {
    size_t n;
    double p50, p90, p99, most, mean; /* seconds; 0 without any */
} latency_summary;

/* Nearest rank. Sorts. */
latency_summary latency_sum_up(latency *l);

/* An object: count, and p50, p90, p99, max and mean in milliseconds. */
void json_latency(yajl_gen g, const char *key, const latency_summary *s);

#endif
