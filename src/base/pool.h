/*
 * A pool of worker threads for data-parallel loops, and lanes: pools that share its cores by priority.
 *
 * pool_for splits [0, n) into pieces of at most `grain` and runs them on all workers and on the calling
 * thread; it returns when all are done. Calls may be nested and may come from several threads at once: a
 * waiting caller works on its own loop, so no thread ever waits for a worker to become free. A NULL pool runs
 * everything on the calling thread.
 *
 * A lane is a pool to whoever is given one. All lanes of a base together run on at most as many threads at a
 * time as the base has: a thread holds a core while it runs a piece of a lane's loop or is between pool_enter
 * and pool_leave. Free cores go to the lane of the highest level that has work, within a level to the lane
 * that was made first. Before each piece a thread looks whether a lane of a higher level waits for a core; if
 * so it gives up its own, and the loop goes on later where it was. Loops on the base itself hold no cores and
 * are outside of all this: where there are lanes, use nothing else.
 *
 * A thread must not block on anything but this pool while it holds a core, nor call in here with a lock held
 * that the threads of other lanes take. It may hold cores of at most POOL_NESTED_BASES bases at a time.
 */
#ifndef CUZK_BASE_POOL_H
#define CUZK_BASE_POOL_H

#include "base/error.h"

#define POOL_NESTED_BASES 4

typedef struct pool pool;

/* threads counts the caller: 1 means no extra thread, 0 one per CPU this process may use. At most 1024. */
cuzk_code pool_create(pool **out, unsigned threads, cuzk_error *err);
/* Of a lane too, which no thread may be using. A base goes after its lanes. NULL is ignored. */
void pool_destroy(pool *p);

/* Number of threads a loop may use, the caller included. 1 for NULL. */
unsigned pool_threads(const pool *p);

/* CPUs this process may run on. */
unsigned pool_cpu_count(void);

typedef void (*pool_fn)(void *ctx, size_t begin, size_t end);
void pool_for(pool *p, size_t n, size_t grain, pool_fn fn, void *ctx);

/* Run a and b, at the same time when a thread is free. */
void pool_both(pool *p, void (*a)(void *), void *a_ctx, void (*b)(void *), void *b_ctx);

/* ---- lanes. Except for pool_lane_create, all of these do nothing on NULL and on a base. ---- */

/* base may itself be a lane: its base is meant then. The lane of NULL is NULL. */
cuzk_code pool_lane_create(pool **out, pool *base, int level, cuzk_error *err);

/* Higher is more urgent. At any time, from any thread; whoever waits for a core is served accordingly. */
void pool_lane_set_level(pool *lane, int level);

/* From now on and for good, no piece of the lane's loops is begun: pool_for returns as soon as the pieces at
 * work are done, with whatever it should have computed undefined. Cores go to a cancelled lane first, so that
 * it comes to its end. */
void pool_lane_cancel(pool *lane);
bool pool_lane_cancelled(const pool *lane);
/* CUZK_ERR_CANCELLED when the pool is a cancelled lane: to be asked after a loop whose results matter. */
cuzk_code pool_check(const pool *p, cuzk_error *err);

/* The calling thread holds a core in between, waiting for one as long as more urgent lanes have all of them.
 * A pool_for inside uses it, and between two loops it stays. May be nested. */
void pool_enter(pool *lane);
void pool_leave(pool *lane);
/* Between steps of serial code, with a core held: when a more urgent lane waits for one, hand it over and
 * wait to get one back. Cheap otherwise. */
void pool_yield(pool *lane);

/* Core time held so far, in seconds. */
double pool_lane_core_seconds(const pool *lane);
/* Cores held now: by the lane, or of a base by all its lanes. */
unsigned pool_running(const pool *p);
/* Threads that wait for one: of the lane, or of all lanes of a base. */
unsigned pool_waiting(const pool *p);

#endif
