/* A thread that asks a daemon for its status again and again, on a connection of its own, and keeps how long
 * each answer took: what an operator's tools, or Curio's before each task, see of a busy daemon. */
#ifndef CUZK_BENCH_STATUS_SAMPLER_H
#define CUZK_BENCH_STATUS_SAMPLER_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon.h"
#include "latency.h"

typedef struct status_sampler {
    daemon_link link;
    double interval; /* seconds between the beginnings of two calls */
    pthread_t thread;
    atomic_bool stop;
    latency times;
    size_t failed;     /* calls that got no status */
    char message[256]; /* of the last of them */
} status_sampler;

cuzk_code status_sampler_start(status_sampler *s, const char *address, double interval, cuzk_error *err);
/* Ends the thread; the results stay. */
void status_sampler_stop(status_sampler *s);
void status_sampler_free(status_sampler *s);

#endif
