/*
 * A pool of worker threads for data-parallel loops.
 *
 * pool_for splits [0, n) into pieces of at most `grain` and runs them on all workers and on the calling
 * thread; it returns when all are done. Calls may be nested and may come from several threads at once: a
 * waiting caller works on its own loop, so no thread ever waits for a worker to become free. A NULL pool runs
 * everything on the calling thread.
 */
#ifndef CUZK_BASE_POOL_H
#define CUZK_BASE_POOL_H

#include "base/error.h"

typedef struct pool pool;

/* threads counts the caller: 1 means no extra thread, 0 one per CPU this process may use. At most 1024. */
cuzk_code pool_create(pool **out, unsigned threads, cuzk_error *err);
void pool_destroy(pool *p);

/* Number of threads a loop may use, the caller included. 1 for NULL. */
unsigned pool_threads(const pool *p);

/* CPUs this process may run on. */
unsigned pool_cpu_count(void);

typedef void (*pool_fn)(void *ctx, size_t begin, size_t end);
void pool_for(pool *p, size_t n, size_t grain, pool_fn fn, void *ctx);

/* Run a and b, at the same time when a thread is free. */
void pool_both(pool *p, void (*a)(void *), void *a_ctx, void (*b)(void *), void *b_ctx);

#endif
