/*
 * The same proof many times through a daemon, so many at a time: what batch measures and timeline draws.
 *
 * Each proof has a fresh request id and a fresh connection; each of the threads takes the next one. A proof
 * that the daemon puts off (it says when to try again) is sent again. An error of a call ends the run: the
 * other threads' calls are cancelled.
 */
#ifndef CUZK_BENCH_PROOF_BATCH_H
#define CUZK_BENCH_PROOF_BATCH_H

#include <pthread.h>

#include "daemon.h"
#include "proof_input.h"

#define BATCH_MAX_COUNT       1000000u
#define BATCH_MAX_CONCURRENCY 1024u

typedef struct batch_outcome {
    bool there;
    int32_t status; /* proof_status */
    double wall;    /* seconds of the call, with what it was put off */
    uint64_t prove_ms, queue_ms, total_ms, synthesis_ms;
    char message[512]; /* not COMPLETED: why */
} batch_outcome;

typedef struct proof_batch {
    const daemon_options *daemon;
    const proof_input *input;
    unsigned count, concurrency;
    /* Called for each outcome in order of submission, as soon as those before it are there, by one thread at
     * a time. May be NULL. */
    void (*tell)(void *ctx, unsigned index, const batch_outcome *o);
    void *ctx;

    batch_outcome *outcomes; /* the result: count of them; proof_batch_free */
    unsigned retries;

    pthread_mutex_t mutex; /* PTHREAD_MUTEX_INITIALIZER; guards the run that goes on */
    struct batch_run *run;
    bool cancelled;
} proof_batch;

/* Run it to its end. The error is that of the first call that failed. */
cuzk_code proof_batch_run(proof_batch *b, cuzk_error *err);
/* End a run that another thread is in, or will be: it returns CUZK_ERR_CANCELLED unless it was over. */
void proof_batch_cancel(proof_batch *b);
void proof_batch_free(proof_batch *b);

#endif
