/* Lanes of the thread pool: who gets a core and when, that none is lost or taken twice, and cancelling. */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "groth16/prove.h"
#include "r1cs/synthesis.h"
#include "rng.h"
#include "text_circuit.h"
#include "variants.h"

static pool *make_base(unsigned threads) {
    pool *p;
    assert_int_equal(pool_create(&p, threads, NULL), CUZK_OK);
    return p;
}

static pool *make_lane(pool *base, int level) {
    pool *p;
    assert_int_equal(pool_lane_create(&p, base, level, NULL), CUZK_OK);
    assert_int_equal(pool_threads(p), pool_threads(base));
    return p;
}

static pthread_t start(void *(*run)(void *), void *ctx) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, ctx), 0);
    return thread;
}

static void join(pthread_t thread) {
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* For others to get on, on a busy machine too. */
static void pause_briefly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void until_waiting(const pool *p, unsigned threads) {
    while (pool_waiting(p) < threads) pause_briefly();
}

/* What happened, in order. */
typedef struct record {
    atomic_uint n;
    _Atomic int what[4096];
} record;

static void note(record *r, int what) {
    r->what[atomic_fetch_add(&r->n, 1)] = what;
}

/* --- every index once ---------------------------------------------------------------------------------- */

typedef struct tally {
    _Atomic unsigned *hits;
    pool *lane;
} tally;

static void count_range(void *ctx, size_t begin, size_t end) {
    tally *t = ctx;
    for (size_t i = begin; i < end; i++) atomic_fetch_add(&t->hits[i], 1);
}

static void count_nested(void *ctx, size_t begin, size_t end) {
    tally *t = ctx;
    for (size_t i = begin; i < end; i++) {
        tally inner = {t->hits + 50 * i, t->lane};
        pool_for(t->lane, 50, 7, count_range, &inner);
    }
}

static void *count_often(void *ctx) {
    tally *t = ctx;
    for (int round = 0; round < 30; round++) {
        if (round % 2) pool_enter(t->lane);
        pool_for(t->lane, 40, 1 + (size_t)round % 3, count_nested, t);
        if (round % 2) pool_leave(t->lane);
    }
    return NULL;
}

static void loops_visit_every_index_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        enum { LANES = 5 };
        pool *base = make_base(threads);
        tally lanes[LANES];
        pthread_t running[LANES];
        for (int i = 0; i < LANES; i++) {
            lanes[i] = (tally){calloc(2000, sizeof(_Atomic unsigned)), make_lane(base, i / 2)};
            assert_non_null(lanes[i].hits);
        }
        for (int i = 0; i < LANES; i++) running[i] = start(count_often, &lanes[i]);
        for (int i = 0; i < LANES; i++) join(running[i]);
        assert_int_equal(pool_running(base), 0);
        assert_int_equal(pool_waiting(base), 0);
        for (int i = 0; i < LANES; i++) {
            for (size_t k = 0; k < 2000; k++) assert_int_equal(lanes[i].hits[k], 30);
            assert_true(pool_lane_core_seconds(lanes[i].lane) > 0);
            pool_destroy(lanes[i].lane);
            free(lanes[i].hits);
        }
        pool_destroy(base);
    }
}

static void no_pool_and_no_lane(void **state) {
    (void)state;
    pool *base = make_base(2), *none = base;
    pool *const all[] = {NULL, base};
    assert_int_equal(pool_lane_create(&none, NULL, 3, NULL), CUZK_OK);
    assert_null(none);
    for (size_t i = 0; i < 2; i++) {
        pool *p = all[i];
        pool_enter(p);
        pool_yield(p);
        pool_lane_cancel(p);
        pool_lane_set_level(p, 1);
        assert_false(pool_lane_cancelled(p));
        assert_int_equal(pool_check(p, NULL), CUZK_OK);
        assert_int_equal(pool_running(p), 0);
        assert_true(pool_lane_core_seconds(p) == 0);
        _Atomic unsigned hits[100] = {0};
        tally t = {hits, NULL};
        pool_for(p, 100, 3, count_range, &t);
        for (size_t k = 0; k < 100; k++) assert_int_equal(hits[k], 1);
        pool_leave(p);
    }
    pool_destroy(base);
}

/* --- who is served first ------------------------------------------------------------------------------- */

typedef struct claimant {
    pool *lane;
    record *log;
    int name;
} claimant;

static void *claim(void *ctx) {
    claimant *c = ctx;
    pool_enter(c->lane);
    note(c->log, c->name);
    pool_leave(c->lane);
    return NULL;
}

static void cores_go_to_the_most_urgent(void **state) {
    (void)state;
    pool *base = make_base(1), *holder = make_lane(base, 0);
    record log = {0};
    /* One of them is raised while it waits; those of the same level come in the order of their lanes. */
    static const int level[] = {1, 5, 3, 5, 2}, order[] = {4, 1, 3, 2, 0};
    claimant c[5];
    pthread_t threads[5];
    for (int i = 0; i < 5; i++) c[i] = (claimant){make_lane(base, level[i]), &log, i};
    pool_enter(holder);
    pool_lane_set_level(holder, 9);
    for (int i = 4; i >= 0; i--) {
        threads[i] = start(claim, &c[i]);
        until_waiting(c[i].lane, 1);
    }
    pool_yield(holder);
    assert_int_equal(pool_running(base), 1);
    assert_int_equal(pool_running(holder), 1);
    assert_int_equal(pool_waiting(base), 5);
    assert_int_equal(log.n, 0);
    pool_lane_set_level(c[4].lane, 6);
    pool_leave(holder);
    for (int i = 0; i < 5; i++) join(threads[i]);
    for (unsigned i = 0; i < 5; i++) assert_int_equal(log.what[i], order[i]);
    for (int i = 0; i < 5; i++) pool_destroy(c[i].lane);
    pool_destroy(holder);
    pool_destroy(base);
}

/* A loop that is interrupted at one of its pieces. */
typedef struct interrupted {
    pool *lane;
    claimant other;
    pthread_t thread;
    int raise_to; /* the other's level from then on */
    bool serial;  /* the pieces are steps of serial code */
} interrupted;

enum { STEPS = 20, INTERRUPTED_AT = 7, OTHER = 1000 };

static void step(void *ctx, size_t begin, size_t end) {
    interrupted *t = ctx;
    for (size_t i = begin; i < end; i++) {
        note(t->other.log, (int)i);
        if (i != INTERRUPTED_AT) continue;
        t->thread = start(claim, &t->other);
        until_waiting(t->other.lane, 1);
        pool_lane_set_level(t->other.lane, t->raise_to);
    }
}

static void loops_give_way_and_go_on(void **state) {
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        record log = {0};
        pool *base = make_base(1), *high = make_lane(base, variant & 1 ? 8 : 1);
        interrupted t = {make_lane(base, 5), {high, &log, OTHER}, 0, 8, variant & 2};
        if (variant & 4) t.raise_to = 5; /* no more urgent than the one that has the core */
        if (t.serial) {
            pool_enter(t.lane);
            for (size_t i = 0; i < STEPS; i++) {
                step(&t, i, i + 1);
                pool_yield(t.lane);
            }
            pool_leave(t.lane);
        } else {
            pool_for(t.lane, STEPS, 1, step, &t);
        }
        join(t.thread);
        assert_int_equal(log.n, STEPS + 1);
        int at = variant & 4 ? STEPS : INTERRUPTED_AT + 1;
        for (int i = 0; i <= STEPS; i++) assert_int_equal(log.what[i], i < at ? i : i == at ? OTHER : i - 1);
        pool_destroy(high);
        pool_destroy(t.lane);
        pool_destroy(base);
    }
}

/* A loop whose pieces wait for each other needs all cores at once. */
typedef struct meeting {
    pool *lane;
    atomic_uint present, *finished;
    unsigned expected;
} meeting;

static void meet(void *ctx, size_t begin, size_t end) {
    meeting *m = ctx;
    for (size_t i = begin; i < end; i++) {
        m->present++;
        while (m->present < m->expected) pause_briefly();
    }
}

static void *hold_meeting(void *ctx) {
    meeting *m = ctx;
    pool_for(m->lane, m->expected, 1, meet, m);
    (*m->finished)++;
    return NULL;
}

typedef struct background {
    pool *lane;
    atomic_uint *stop;
    unsigned until, depth;
    atomic_uint pieces;
} background;

static void idle_piece(void *ctx, size_t begin, size_t end) {
    background *b = ctx;
    (void)begin, (void)end;
    b->pieces++;
}

static void nest(void *ctx, size_t begin, size_t end) {
    background *b = ctx;
    (void)begin, (void)end;
    while (*b->stop < b->until) pool_for(b->lane, 6, 1, idle_piece, b);
}

static void *run_background(void *ctx) {
    background *b = ctx;
    while (*b->stop < b->until)
        if (b->depth > 0)
            pool_for(b->lane, 8, 1, nest, b);
        else
            pool_for(b->lane, 1000, 1, idle_piece, b);
    return NULL;
}

/* All cores go over, also those of workers in the middle of nested loops, and come back. */
static void all_cores_go_over(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++)
        for (unsigned depth = 0; depth < 2; depth++) {
            atomic_uint finished = 0;
            pool *base = make_base(threads);
            background low = {make_lane(base, -1), &finished, 20, depth, 0};
            meeting m = {.lane = make_lane(base, 1), .expected = threads, .finished = &finished};
            pthread_t running = start(run_background, &low);
            for (unsigned round = 0; round < 20; round++) {
                unsigned pieces = low.pieces;
                while (low.pieces == pieces) pause_briefly(); /* it goes on */
                m.present = 0;
                join(start(hold_meeting, &m));
            }
            join(running);
            pool_destroy(m.lane);
            pool_destroy(low.lane);
            pool_destroy(base);
        }
}

/* --- cancelling ---------------------------------------------------------------------------------------- */

typedef struct doomed {
    pool *lane;
    atomic_uint pieces;
} doomed;

static void cancel_own(void *ctx, size_t begin, size_t end) {
    doomed *d = ctx;
    (void)end;
    d->pieces++;
    if (begin == 10) pool_lane_cancel(d->lane);
    while (begin > 10 && !pool_lane_cancelled(d->lane)) pause_briefly();
}

static void *run_doomed(void *ctx) {
    doomed *d = ctx;
    pool_for(d->lane, 100, 1, cancel_own, d);
    return NULL;
}

static void cancelled_lanes_begin_nothing(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++)
        for (int entered = 0; entered < 2; entered++) {
            pool *base = make_base(threads);
            doomed d = {make_lane(base, 0), 0};
            cuzk_error err;
            assert_int_equal(pool_check(d.lane, &err), CUZK_OK);
            if (entered) pool_enter(d.lane);
            pool_for(d.lane, 10000, 1, cancel_own, &d);
            assert_true(pool_lane_cancelled(d.lane));
            assert_int_equal(pool_check(d.lane, &err), CUZK_ERR_CANCELLED);
            assert_true(d.pieces >= 11 && d.pieces <= 11 + threads);
            unsigned before = d.pieces;
            pool_for(d.lane, 1, 1, cancel_own, &d);
            pool_for(d.lane, 100, 1, cancel_own, &d);
            assert_int_equal(d.pieces, before);
            pool_yield(d.lane);
            if (entered) pool_leave(d.lane);
            assert_int_equal(pool_running(base), 0);
            pool_destroy(d.lane);
            pool_destroy(base);
        }
}

/* Whoever waits in vain is let go. */
static void cancelled_lanes_wait_no_more(void **state) {
    (void)state;
    pool *base = make_base(1), *high = make_lane(base, 5);
    doomed d = {make_lane(base, 0), 0};
    pool_enter(high);
    pthread_t thread = start(run_doomed, &d);
    until_waiting(d.lane, 1);
    pool_lane_cancel(d.lane);
    join(thread);
    assert_int_equal(d.pieces, 0);
    pool_leave(high);
    pool_destroy(d.lane);
    pool_destroy(high);
    pool_destroy(base);
}

/* --- everything at once -------------------------------------------------------------------------------- */

typedef struct storm {
    pool *base;
    unsigned threads;
    atomic_uint inside, most;
    pool *_Atomic lanes[6];
} storm;

typedef struct gust {
    storm *s;
    pool *lane;
    unsigned number;
} gust;

static void blow(void *ctx, size_t begin, size_t end) {
    gust *g = ctx;
    unsigned inside = ++g->s->inside, most = g->s->most;
    while (inside > most && !atomic_compare_exchange_weak(&g->s->most, &most, inside)) {
    }
    if (begin % 4 == 0) pause_briefly();
    (void)end;
    g->s->inside--;
}

static void blow_nested(void *ctx, size_t begin, size_t end) {
    gust *g = ctx;
    for (size_t i = begin; i < end; i++) pool_for(g->lane, 5, 1 + i % 2, blow, g);
}

static void *storm_thread(void *ctx) {
    gust g = *(gust *)ctx;
    uint64_t seed = 77 + g.number;
    for (unsigned round = 0; round < 40; round++) {
        uint64_t random = rng_next(&seed);
        assert_int_equal(pool_lane_create(&g.lane, g.s->base, (int)(random % 7), NULL), CUZK_OK);
        g.s->lanes[g.number] = g.lane;
        for (unsigned i = 0; i < 6; i++) {
            random = rng_next(&seed);
            if (random % 2) pool_enter(g.lane);
            if (random % 3 == 0) pool_for(g.lane, 9, 1, blow_nested, &g);
            if (random % 3 == 1) pool_for(g.lane, 20, 2, blow, &g);
            if (random % 2) pool_yield(g.lane);
            if (random % 2) pool_for(g.lane, 3, 5, blow, &g);
            if (random % 2) pool_leave(g.lane);
            if (random % 5 == 0) pool_lane_set_level(g.lane, (int)(random / 8 % 7));
            if (random % 41 == 0) pool_lane_cancel(g.lane);
        }
        g.s->lanes[g.number] = NULL;
        pool_destroy(g.lane);
    }
    return NULL;
}

static void many_lanes_at_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        enum { GUSTS = 6 };
        storm s = {.base = make_base(threads), .threads = threads};
        gust gusts[GUSTS];
        pthread_t running[GUSTS];
        double begin = clock_seconds();
        pool *whole = make_lane(s.base, 3);
        for (unsigned i = 0; i < GUSTS; i++) gusts[i] = (gust){&s, NULL, i};
        for (unsigned i = 0; i < GUSTS; i++) running[i] = start(storm_thread, &gusts[i]);
        doomed d = {whole, 0};
        for (unsigned i = 0; i < 200; i++) {
            assert_true(pool_running(s.base) <= threads);
            pool_lane_set_level(whole, (int)(i % 8));
            pool_for(whole, 4, 1, idle_piece, &(background){.lane = d.lane});
        }
        for (unsigned i = 0; i < GUSTS; i++) join(running[i]);
        assert_true(s.most >= 1 && s.most <= threads);
        assert_int_equal(s.inside, 0);
        assert_int_equal(pool_running(s.base), 0);
        assert_int_equal(pool_waiting(s.base), 0);
        assert_true(pool_lane_core_seconds(whole) <= threads * (clock_seconds() - begin));
        pool_destroy(whole);
        pool_destroy(s.base);
    }
}

/* --- a real proof -------------------------------------------------------------------------------------- */

#define SMALL "groth16-small/"

typedef struct proving {
    text_circuit small;
    srs params;
    synthesizer kept;
} proving;

typedef struct canceller {
    pool *lane;
    int left; /* reports until it is cancelled */
} canceller;

static bool cancel_later(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    canceller *c = ctx;
    (void)phase, (void)done, (void)total;
    if (c->left-- == 0) pool_lane_cancel(c->lane);
    return true;
}

static cuzk_code prove_once(proving *p, pool *lane, int reports, int *left) {
    canceller c = {lane, reports};
    cuzk_progress progress = {cancel_later, &c};
    cuzk_error err = {.message = ""};
    assignment w = {.a = NULL};
    groth16_proof proof;
    pool_enter(lane);
    cuzk_code code =
        synthesize(&w, &p->kept, &p->small.circuit, NULL, SYNTHESIS_TEMPLATES, lane, &progress, &err);
    if (code == CUZK_OK) code = groth16_prove(&proof, &p->params, &w, NULL, lane, &progress, NULL, &err);
    pool_leave(lane);
    assignment_free(&w);
    if (code != CUZK_OK && code != CUZK_ERR_CANCELLED) fail_msg("code %d: %s", code, err.message);
    *left = c.left;
    return code;
}

typedef struct later {
    pool *lane;
    unsigned spins;
} later;

static void *cancel_after(void *ctx) {
    later *l = ctx;
    for (unsigned i = 0; i < l->spins; i++) pause_briefly();
    pool_lane_cancel(l->lane);
    return NULL;
}

static void proofs_can_be_cancelled(void **state) {
    (void)state;
    cuzk_error err;
    proving p = {.kept = {.m = NULL}};
    text_circuit_read(&p.small, SMALL "circuit.txt.zst");
    assert_int_equal(srs_open(&p.params, CUZK_TEST_DATA "/" SMALL "v28-small.params", NULL, NULL, &err),
                     CUZK_OK);
    for (unsigned threads = 1; threads <= 2; threads++) {
        pool *base = make_base(threads);
        unsigned cancelled = 0;
        int left;
        bool finished = false;
        /* At every report in turn, until there are no more of them. */
        for (int reports = 0; !finished; reports++) {
            pool *lane = make_lane(base, 0);
            cuzk_code code = prove_once(&p, lane, reports, &left);
            finished = left >= 0;
            if (finished) assert_int_equal(code, CUZK_OK);
            cancelled += code == CUZK_ERR_CANCELLED;
            pool_destroy(lane);
        }
        assert_true(cancelled > 10);
        /* At any time, from outside. */
        uint64_t seed = threads;
        for (unsigned round = 0; round < 10; round++) {
            pool *lane = make_lane(base, 0);
            later l = {lane, (unsigned)(rng_next(&seed) % 100)};
            pthread_t thread = start(cancel_after, &l);
            prove_once(&p, lane, INT_MAX, &left);
            join(thread);
            pool_destroy(lane);
        }
        assert_int_equal(pool_running(base), 0);
        pool_destroy(base);
    }
    synthesizer_free(&p.kept);
    srs_close(&p.params);
    text_circuit_free(&p.small);
    assert_int_equal(mem_in_use(), 0);
}

int main(void) {
    const struct CMUnitTest lanes[] = {
        cmocka_unit_test(loops_visit_every_index_once),
        cmocka_unit_test(no_pool_and_no_lane),
        cmocka_unit_test(cores_go_to_the_most_urgent),
        cmocka_unit_test(loops_give_way_and_go_on),
        cmocka_unit_test(all_cores_go_over),
        cmocka_unit_test(cancelled_lanes_begin_nothing),
        cmocka_unit_test(cancelled_lanes_wait_no_more),
        cmocka_unit_test(many_lanes_at_once),
    };
    const struct CMUnitTest proofs[] = {cmocka_unit_test(proofs_can_be_cancelled)};
    int failed = cmocka_run_group_tests(lanes, NULL, NULL);
    RUN_ON_VARIANTS(failed, proofs);
    return failed;
}
