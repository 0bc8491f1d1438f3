/*
 * Open loops form a list. Each holds an atomic cursor; whoever wants work takes the next piece of the newest
 * loop that has any left. A loop lives on its caller's stack: the caller takes pieces until none is left,
 * unlinks the loop, then waits until the helpers that hold it have let go.
 *
 * Cores are counted, not bound: `free` of them are held by nobody. Whoever needs one and has none is either a
 * waiter (a thread in the middle of something, on a list) or a loop with pieces left that an idle worker
 * could take. settle() runs after every change and gives free cores to the most urgent of these: a waiter
 * gets it handed over, for a loop a worker is woken, which looks for the most urgent loop itself; until it
 * has, a core is kept back for it (`waking`). What remains unserved raises a flag in every less urgent lane,
 * which is all that threads look at between pieces.
 *
 * A worker at the top of its stack leaves a loop to give its core up, and is idle. One inside a nested loop
 * has to wait there and is no help to others: for each of those another worker is started, so that there are
 * always as many that can move as there are cores.
 */
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* How long a caller keeps its core for helpers that are about to finish: less than it takes to get it back
 * from another lane. */
#define GRACE_NS 500000

enum { CANCELLED = 1, PREEMPTED = 2 }; /* of a lane, a more urgent one waits */

typedef struct crew crew;

struct pool {
    crew *crew;
    /* Of a lane, guarded by the crew's mutex but for the flags' readers. */
    bool is_lane;
    pool *next;
    uint64_t number;
    int level;
    atomic_uint flags;
    unsigned held;
    double seconds; /* of cores given back, less the times when those held now were taken */
};

typedef struct loop {
    struct loop *next;
    pool *lane; /* NULL: holds no cores */
    pool_fn fn;
    void *ctx;
    size_t n, grain;
    atomic_size_t cursor;
    unsigned helpers;      /* workers inside, guarded by the mutex */
    pthread_cond_t *owner; /* where the caller waits, or NULL */
} loop;

/* A thread that waits for a core. */
typedef struct waiter {
    struct waiter *next;
    pool *lane;
    bool granted;
    pthread_cond_t cond;
} waiter;

typedef struct worker {
    struct worker *next, *next_idle;
    crew *crew;
    bool idle; /* on the list of those */
    pthread_cond_t cond;
    pthread_t thread;
} worker;

/* The threads and cores of a base and its lanes. */
struct crew {
    pthread_mutex_t mutex;
    unsigned threads; /* cores too */
    loop *open;
    worker *workers, *idle;
    unsigned n_workers, parked; /* all, and those that wait inside a nested loop */
    waiter *waiting;            /* first come first */
    unsigned free, waking;
    pool *lanes;
    uint64_t next_number;
    bool closing;
};

/* A core that this thread holds, or waits to get back. */
typedef struct core {
    crew *crew; /* NULL: unused */
    pool *lane;
    unsigned depth;
} core;

static _Thread_local core cores[POOL_NESTED_BASES];
static _Thread_local worker *self; /* NULL for other threads */

static core *core_find(const crew *c) {
    for (size_t i = 0; i < POOL_NESTED_BASES; i++)
        if (cores[i].crew == c) return &cores[i];
    return NULL;
}

unsigned pool_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

/* ---- who gets a core; all of this with the mutex held ---- */

static unsigned lane_flags(const pool *lane) {
    return atomic_load_explicit(&lane->flags, memory_order_relaxed);
}

static int64_t urgency(const pool *lane) {
    return lane_flags(lane) & CANCELLED ? INT64_MAX : lane->level;
}

/* Has the loop pieces that nobody has begun? */
static bool has_work(const loop *l) {
    return atomic_load_explicit(&l->cursor, memory_order_relaxed) < l->n &&
           !(l->lane && lane_flags(l->lane) & CANCELLED);
}

static bool wants_helper(const crew *c, const loop *l) {
    return l->helpers + 1 < c->threads && has_work(l);
}

/* The most urgent need for a core: a waiter's, or else a loop's. */
typedef struct need {
    const pool *lane; /* NULL: none */
    waiter *waiter;
    loop *loop;
} need;

static bool before(const pool *a, const pool *b) {
    if (!b) return true;
    int64_t of_a = urgency(a), of_b = urgency(b);
    return of_a != of_b ? of_a > of_b : a->number < b->number;
}

static need most_urgent(const crew *c, bool loops) {
    need best = {NULL, NULL, NULL};
    for (waiter *w = c->waiting; w; w = w->next)
        if (before(w->lane, best.lane)) best = (need){w->lane, w, NULL};
    for (loop *l = loops ? c->open : NULL; l; l = l->next)
        if (l->lane && before(l->lane, best.lane) && wants_helper(c, l)) best = (need){l->lane, NULL, l};
    return best;
}

static void core_taken(crew *c, pool *lane) {
    c->free--;
    lane->held++;
    lane->seconds -= clock_seconds();
}

static void core_returned(crew *c, pool *lane) {
    c->free++;
    lane->held--;
    lane->seconds += clock_seconds();
}

static void remove_waiter(crew *c, waiter *w) {
    waiter **link = &c->waiting;
    while (*link != w) link = &(*link)->next;
    *link = w->next;
}

static void grant(crew *c, waiter *w) {
    remove_waiter(c, w);
    core_taken(c, w->lane);
    w->granted = true;
    pthread_cond_signal(&w->cond);
}

static void wake_worker(crew *c) {
    worker *w = c->idle;
    c->idle = w->next_idle;
    w->idle = false;
    c->waking++;
    pthread_cond_signal(&w->cond);
}

/* Give free cores away and tell the lanes that hold cores others need more. */
static void settle(crew *c) {
    if (!c->lanes) return;
    need next;
    while (c->free > c->waking && (next = most_urgent(c, c->idle != NULL)).lane) {
        if (next.waiter)
            grant(c, next.waiter);
        else
            wake_worker(c);
    }
    next = c->free > c->waking ? (need){NULL, NULL, NULL} : most_urgent(c, true);
    for (pool *lane = c->lanes; lane; lane = lane->next) {
        unsigned flags = lane_flags(lane), now = flags & CANCELLED;
        if (next.lane && urgency(next.lane) > urgency(lane)) now |= PREEMPTED;
        if (now != flags) atomic_store_explicit(&lane->flags, now, memory_order_relaxed);
    }
}

static void *worker_main(void *arg);

static int start_worker(crew *c) {
    worker *w = calloc(1, sizeof *w);
    if (!w) return ENOMEM;
    w->crew = c;
    pthread_cond_init(&w->cond, NULL);
    int rc = pthread_create(&w->thread, NULL, worker_main, w);
    if (rc != 0) {
        pthread_cond_destroy(&w->cond);
        free(w);
        return rc;
    }
    w->next = c->workers;
    c->workers = w;
    c->n_workers++;
    return 0;
}

/* This thread stops to be of use to others, with something on its stack. */
static void park(crew *c) {
    if (!self || self->crew != c) return;
    c->parked++;
    /* Without memory for one more there is less done at a time, but nothing stops. */
    if (c->n_workers - c->parked < c->threads) (void)start_worker(c);
}

static void unpark(crew *c) {
    if (self && self->crew == c) c->parked--;
}

static bool is_done(const loop *l) {
    return l->helpers == 0 && !has_work(l);
}

/* Wait for a core, or (until given) for that loop to be done without it. True with a core. */
static bool acquire(crew *c, pool *lane, loop *until) {
    waiter w = {.lane = lane, .cond = PTHREAD_COND_INITIALIZER};
    waiter **link = &c->waiting;
    while (*link) link = &(*link)->next;
    *link = &w;
    settle(c);
    if (!w.granted) {
        park(c);
        if (until) until->owner = &w.cond;
        while (!w.granted && !(until && is_done(until))) pthread_cond_wait(&w.cond, &c->mutex);
        if (until) until->owner = NULL;
        unpark(c);
        if (!w.granted) {
            remove_waiter(c, &w);
            settle(c);
        }
    }
    pthread_cond_destroy(&w.cond);
    return w.granted;
}

/* Hand the core over if a more urgent lane has use for it, and get one back. */
static void yield_core(crew *c, pool *lane) {
    pthread_mutex_lock(&c->mutex);
    need next = most_urgent(c, c->idle != NULL);
    if (next.lane && urgency(next.lane) > urgency(lane)) {
        core_returned(c, lane);
        acquire(c, lane, NULL);
    } else {
        settle(c);
    }
    pthread_mutex_unlock(&c->mutex);
}

/* ---- loops ---- */

static bool run_piece(loop *l) {
    size_t begin = atomic_fetch_add_explicit(&l->cursor, l->grain, memory_order_relaxed);
    if (begin >= l->n) return false;
    size_t left = l->n - begin;
    l->fn(l->ctx, begin, begin + (left < l->grain ? left : l->grain));
    return true;
}

static void run_pieces(loop *l) {
    while (run_piece(l)) {
    }
}

/* With a core held. A worker at the top of its stack returns when the core is wanted elsewhere. */
static void run_lane_pieces(loop *l, const core *held, bool at_top) {
    do {
        if (lane_flags(l->lane) & CANCELLED) return;
        if (lane_flags(held->lane) & PREEMPTED) {
            if (at_top) return;
            yield_core(held->crew, held->lane);
        }
    } while (run_piece(l));
}

static void leave_loop(loop *l) {
    if (--l->helpers == 0 && l->owner) pthread_cond_signal(l->owner);
}

static loop *find_plain(const crew *c) {
    for (loop *l = c->open; l; l = l->next)
        if (!l->lane && wants_helper(c, l)) return l;
    return NULL;
}

/* The most urgent loop, with a core for it. */
static loop *take_loop(crew *c) {
    need next;
    while (c->free > c->waking && (next = most_urgent(c, true)).lane) {
        if (next.loop) {
            core_taken(c, next.loop->lane);
            return next.loop;
        }
        grant(c, next.waiter);
    }
    return NULL;
}

static void help(crew *c, loop *l) {
    core *held = core_find(NULL);
    l->helpers++;
    settle(c);
    pthread_mutex_unlock(&c->mutex);
    if (l->lane) {
        *held = (core){c, l->lane, 1};
        run_lane_pieces(l, held, true);
        *held = (core){NULL, NULL, 0};
    } else {
        run_pieces(l);
    }
    pthread_mutex_lock(&c->mutex);
    if (l->lane) core_returned(c, l->lane);
    leave_loop(l);
}

static void *worker_main(void *arg) {
    self = arg;
    crew *c = self->crew;
    pthread_mutex_lock(&c->mutex);
    while (!c->closing) {
        loop *l = find_plain(c);
        if (!l) l = take_loop(c);
        if (l) {
            help(c, l);
            continue;
        }
        self->idle = true;
        self->next_idle = c->idle;
        c->idle = self;
        settle(c);
        while (self->idle) pthread_cond_wait(&self->cond, &c->mutex);
        c->waking--;
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

static void open_loop(crew *c, loop *l) {
    l->next = c->open;
    c->open = l;
}

static void close_loop(crew *c, loop *l) {
    loop **link = &c->open;
    while (*link != l) link = &(*link)->next;
    *link = l->next;
}

static void await_helpers(crew *c, loop *l) {
    if (l->helpers == 0) return;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    l->owner = &cond;
    while (l->helpers > 0) pthread_cond_wait(&cond, &c->mutex);
    l->owner = NULL;
    pthread_cond_destroy(&cond);
}

static void plain_for(crew *c, loop *l) {
    pthread_mutex_lock(&c->mutex);
    open_loop(c, l);
    for (size_t more = (l->n - 1) / l->grain; more > 0 && c->idle; more--) wake_worker(c);
    pthread_mutex_unlock(&c->mutex);

    run_pieces(l);

    pthread_mutex_lock(&c->mutex);
    close_loop(c, l);
    await_helpers(c, l);
    pthread_mutex_unlock(&c->mutex);
}

/* The loop's pieces are all begun, and a core is held that will be needed again. */
static void await_with_core(crew *c, loop *l, core *held) {
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += GRACE_NS;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    l->owner = &cond;
    while (l->helpers > 0 && !(lane_flags(held->lane) & PREEMPTED) &&
           pthread_cond_timedwait(&cond, &c->mutex, &end) == 0) {
    }
    l->owner = NULL;
    pthread_cond_destroy(&cond);
    if (l->helpers == 0) return;
    core_returned(c, held->lane);
    settle(c);
    park(c);
    await_helpers(c, l);
    unpark(c);
    acquire(c, held->lane, NULL);
}

static void lane_for(crew *c, loop *l) {
    core *held = core_find(c);
    const bool own = !held, open = l->n > l->grain && c->threads > 1;
    bool holding = true;
    if (own) held = core_find(NULL);
    pthread_mutex_lock(&c->mutex);
    if (open) open_loop(c, l);
    if (own) {
        holding = acquire(c, l->lane, l);
        *held = (core){c, l->lane, 1};
    } else if (open) {
        settle(c);
    }
    pthread_mutex_unlock(&c->mutex);

    if (holding) run_lane_pieces(l, held, false);

    pthread_mutex_lock(&c->mutex);
    if (open) close_loop(c, l);
    if (own) {
        *held = (core){NULL, NULL, 0};
        if (holding) core_returned(c, l->lane);
        settle(c);
        park(c);
        await_helpers(c, l);
        unpark(c);
    } else if (l->helpers > 0) {
        await_with_core(c, l, held);
    }
    pthread_mutex_unlock(&c->mutex);
}

void pool_for(pool *p, size_t n, size_t grain, pool_fn fn, void *ctx) {
    if (n == 0) return;
    if (grain == 0) grain = 1;
    loop l = {.fn = fn, .ctx = ctx, .n = n, .grain = grain};
    if (p && p->is_lane) {
        l.lane = p;
        lane_for(p->crew, &l);
    } else if (p && p->crew->threads > 1 && n > grain) {
        plain_for(p->crew, &l);
    } else {
        run_pieces(&l);
    }
}

typedef struct pair {
    void (*fn[2])(void *);
    void *ctx[2];
} pair;

static void run_pair(void *ctx, size_t begin, size_t end) {
    pair *both = ctx;
    for (size_t i = begin; i < end; i++) both->fn[i](both->ctx[i]);
}

void pool_both(pool *p, void (*a)(void *), void *a_ctx, void (*b)(void *), void *b_ctx) {
    pair both = {{a, b}, {a_ctx, b_ctx}};
    pool_for(p, 2, 1, run_pair, &both);
}

/* ---- pools ---- */

static void crew_destroy(crew *c) {
    pthread_mutex_lock(&c->mutex);
    c->closing = true;
    while (c->idle) wake_worker(c);
    pthread_mutex_unlock(&c->mutex);
    while (c->workers) {
        worker *w = c->workers;
        pthread_join(w->thread, NULL);
        c->workers = w->next;
        pthread_cond_destroy(&w->cond);
        free(w);
    }
    pthread_mutex_destroy(&c->mutex);
    free(c);
}

/* Start workers until there are that many. */
static cuzk_code hire(crew *c, unsigned count, cuzk_error *err) {
    int rc = 0;
    pthread_mutex_lock(&c->mutex);
    while (rc == 0 && c->n_workers < count) rc = start_worker(c);
    unsigned made = c->n_workers;
    pthread_mutex_unlock(&c->mutex);
    if (rc == 0) return CUZK_OK;
    return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting worker thread %u of %u", made + 1, count);
}

cuzk_code pool_create(pool **out, unsigned threads, cuzk_error *err) {
    *out = NULL;
    if (threads == 0) threads = pool_cpu_count();
    if (threads > 1024)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "%u threads, expected 1 to 1024",
                         threads);
    pool *p = calloc(1, sizeof *p);
    crew *c = calloc(1, sizeof *c);
    if (!p || !c) {
        free(p);
        free(c);
        return error_no_memory(err, sizeof *p + sizeof *c, "the thread pool");
    }
    p->crew = c;
    c->threads = c->free = threads;
    pthread_mutex_init(&c->mutex, NULL);
    cuzk_code code = hire(c, threads - 1, err);
    if (code == CUZK_OK)
        *out = p;
    else
        pool_destroy(p);
    return code;
}

void pool_destroy(pool *p) {
    if (!p) return;
    if (p->is_lane) {
        pthread_mutex_lock(&p->crew->mutex);
        pool **link = &p->crew->lanes;
        while (*link != p) link = &(*link)->next;
        *link = p->next;
        pthread_mutex_unlock(&p->crew->mutex);
    } else {
        crew_destroy(p->crew);
    }
    free(p);
}

unsigned pool_threads(const pool *p) {
    return p ? p->crew->threads : 1;
}

cuzk_code pool_lane_create(pool **out, pool *base, int level, cuzk_error *err) {
    *out = NULL;
    if (!base) return CUZK_OK;
    crew *c = base->crew;
    /* One more than callers need: callers may all be waiting. */
    if (c->threads > 1) TRY(hire(c, c->threads, err));
    pool *lane = calloc(1, sizeof *lane);
    if (!lane) return error_no_memory(err, sizeof *lane, "a lane of the thread pool");
    *lane = (pool){.crew = c, .is_lane = true, .level = level};
    pthread_mutex_lock(&c->mutex);
    lane->number = c->next_number++;
    lane->next = c->lanes;
    c->lanes = lane;
    settle(c);
    pthread_mutex_unlock(&c->mutex);
    *out = lane;
    return CUZK_OK;
}

void pool_lane_set_level(pool *lane, int level) {
    if (!lane || !lane->is_lane) return;
    pthread_mutex_lock(&lane->crew->mutex);
    lane->level = level;
    settle(lane->crew);
    pthread_mutex_unlock(&lane->crew->mutex);
}

void pool_lane_cancel(pool *lane) {
    if (!lane || !lane->is_lane) return;
    crew *c = lane->crew;
    pthread_mutex_lock(&c->mutex);
    atomic_fetch_or_explicit(&lane->flags, CANCELLED, memory_order_relaxed);
    for (waiter *w = c->waiting; w; w = w->next)
        if (w->lane == lane) pthread_cond_signal(&w->cond);
    settle(c);
    pthread_mutex_unlock(&c->mutex);
}

bool pool_lane_cancelled(const pool *lane) {
    return lane && lane_flags(lane) & CANCELLED;
}

cuzk_code pool_check(const pool *p, cuzk_error *err) {
    if (!pool_lane_cancelled(p)) return CUZK_OK;
    return error_set(err, CUZK_ERR_CANCELLED, NULL, CUZK_NO_OFFSET, "stopped: the work was cancelled");
}

void pool_enter(pool *lane) {
    if (!lane || !lane->is_lane) return;
    crew *c = lane->crew;
    core *held = core_find(c);
    if (held) {
        held->depth++;
        return;
    }
    held = core_find(NULL);
    *held = (core){c, lane, 1};
    pthread_mutex_lock(&c->mutex);
    acquire(c, lane, NULL);
    pthread_mutex_unlock(&c->mutex);
}

void pool_leave(pool *lane) {
    if (!lane || !lane->is_lane) return;
    crew *c = lane->crew;
    core *held = core_find(c);
    if (--held->depth > 0) return;
    pthread_mutex_lock(&c->mutex);
    core_returned(c, held->lane);
    *held = (core){NULL, NULL, 0};
    settle(c);
    pthread_mutex_unlock(&c->mutex);
}

void pool_yield(pool *lane) {
    if (!lane || !lane->is_lane) return;
    const core *held = core_find(lane->crew);
    if (held && lane_flags(held->lane) & PREEMPTED) yield_core(held->crew, held->lane);
}

double pool_lane_core_seconds(const pool *lane) {
    if (!lane || !lane->is_lane) return 0;
    pthread_mutex_lock(&lane->crew->mutex);
    double seconds = lane->seconds + lane->held * clock_seconds();
    pthread_mutex_unlock(&lane->crew->mutex);
    return seconds;
}

unsigned pool_running(const pool *p) {
    if (!p) return 0;
    pthread_mutex_lock(&p->crew->mutex);
    unsigned held = p->is_lane ? p->held : p->crew->threads - p->crew->free;
    pthread_mutex_unlock(&p->crew->mutex);
    return held;
}

unsigned pool_waiting(const pool *p) {
    if (!p) return 0;
    unsigned count = 0;
    pthread_mutex_lock(&p->crew->mutex);
    for (const waiter *w = p->crew->waiting; w; w = w->next) count += !p->is_lane || w->lane == p;
    pthread_mutex_unlock(&p->crew->mutex);
    return count;
}
