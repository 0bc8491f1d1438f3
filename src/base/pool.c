/*
 * Open loops form a list. Each holds an atomic cursor; whoever wants work takes the next piece of the newest
 * loop that has any left. A loop lives on its caller's stack: the caller takes pieces until none is left,
 * unlinks the loop, then waits until the helpers that hold it have let go.
 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct loop {
    struct loop *next;
    pool_fn fn;
    void *ctx;
    size_t n, grain;
    atomic_size_t cursor;
    unsigned helpers; /* workers inside, guarded by the pool's mutex */
} loop;

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t work; /* a loop was opened, or the pool closes */
    pthread_cond_t idle; /* a helper left a loop */
    loop *open;
    bool closing;
    unsigned workers;
    pthread_t *threads;
};

unsigned pool_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

static void run_pieces(loop *l) {
    for (;;) {
        size_t begin = atomic_fetch_add_explicit(&l->cursor, l->grain, memory_order_relaxed);
        if (begin >= l->n) return;
        size_t left = l->n - begin;
        l->fn(l->ctx, begin, begin + (left < l->grain ? left : l->grain));
    }
}

static loop *find_work(pool *p) {
    for (loop *l = p->open; l; l = l->next)
        if (atomic_load_explicit(&l->cursor, memory_order_relaxed) < l->n) return l;
    return NULL;
}

static void *worker_main(void *arg) {
    pool *p = arg;
    pthread_mutex_lock(&p->mutex);
    while (!p->closing) {
        loop *l = find_work(p);
        if (!l) {
            pthread_cond_wait(&p->work, &p->mutex);
            continue;
        }
        l->helpers++;
        pthread_mutex_unlock(&p->mutex);
        run_pieces(l);
        pthread_mutex_lock(&p->mutex);
        if (--l->helpers == 0) pthread_cond_broadcast(&p->idle);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

cuzk_code pool_create(pool **out, unsigned threads, cuzk_error *err) {
    *out = NULL;
    if (threads == 0) threads = pool_cpu_count();
    if (threads > 1024)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "%u threads, expected 1 to 1024",
                         threads);
    pool *p = calloc(1, sizeof *p);
    if (!p) return error_no_memory(err, sizeof *p, "the thread pool");
    p->threads = calloc(threads, sizeof *p->threads);
    if (!p->threads) {
        free(p);
        return error_no_memory(err, threads * sizeof(pthread_t), "the thread pool");
    }
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->idle, NULL);
    for (; p->workers + 1 < threads; p->workers++) {
        int rc = pthread_create(&p->threads[p->workers], NULL, worker_main, p);
        if (rc != 0) {
            unsigned made = p->workers;
            pool_destroy(p);
            return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting thread %u of %u", made + 2,
                               threads);
        }
    }
    *out = p;
    return CUZK_OK;
}

void pool_destroy(pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->mutex);
    p->closing = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->mutex);
    for (unsigned i = 0; i < p->workers; i++) pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->mutex);
    free(p->threads);
    free(p);
}

unsigned pool_threads(const pool *p) {
    return p ? p->workers + 1 : 1;
}

void pool_for(pool *p, size_t n, size_t grain, pool_fn fn, void *ctx) {
    if (n == 0) return;
    if (grain == 0) grain = 1;
    loop l = {.fn = fn, .ctx = ctx, .n = n, .grain = grain};
    if (!p || p->workers == 0 || n <= grain) {
        run_pieces(&l);
        return;
    }
    pthread_mutex_lock(&p->mutex);
    l.next = p->open;
    p->open = &l;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->mutex);

    run_pieces(&l);

    pthread_mutex_lock(&p->mutex);
    loop **link = &p->open;
    while (*link != &l) link = &(*link)->next;
    *link = l.next;
    while (l.helpers > 0) pthread_cond_wait(&p->idle, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
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
