/*
 * How soon an urgent lane gets its cores while a proof runs below it:
 *     bench_lanes C1 PARAMS_FILE [threads [proofs]]
 *
 * A lane of level 0 checks, synthesizes and proves partition 0 of the C1, `proofs` times. Meanwhile a lane of
 * level 1 asks, some milliseconds after it got them last, for one core (pool_enter) and then for all of them
 * (a loop whose pieces wait for each other). Prints, by the phase that was interrupted, how often, and the
 * mean and the longest time until it had one core and until it had all.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "circuit/porep.h"
#include "field/field.h"
#include "filecoin/c1.h"
#include "filecoin/vanilla.h"
#include "groth16/prove.h"
#include "r1cs/synthesis.h"

#define MAX_PHASES 16

static cuzk_error err;

static void check(cuzk_code code) {
    if (code == CUZK_OK) return;
    fprintf(stderr, "%s %s\n", err.path, err.message);
    exit((int)code);
}

typedef struct waits {
    const char *phase; /* the one reported last; `after` it when that was its end */
    bool after;
    unsigned count;
    double one, all, longest_one, longest_all;
} waits;

typedef struct probe {
    pool *lane;
    const char *_Atomic phase;
    atomic_bool after;
    atomic_bool stop;
    atomic_uint present;
    double got_all;
    waits seen[MAX_PHASES];
} probe;

static void meet(void *ctx, size_t begin, size_t end) {
    probe *p = ctx;
    for (size_t i = begin; i < end; i++) {
        unsigned threads = pool_threads(p->lane);
        if (++p->present == threads) p->got_all = clock_seconds();
        while (p->present < threads) __builtin_ia32_pause();
    }
}

static waits *waits_of(probe *p, const char *phase, bool after) {
    waits *w = p->seen;
    while (w->phase && (strcmp(w->phase, phase) != 0 || w->after != after) && w + 1 < p->seen + MAX_PHASES)
        w++;
    w->phase = phase;
    w->after = after;
    return w;
}

static void *run_probe(void *ctx) {
    probe *p = ctx;
    unsigned random = 1;
    while (!p->stop) {
        random = random * 1103515245 + 12345;
        nanosleep(&(struct timespec){.tv_nsec = 1000000 + random / 65536 % 16 * 1000000}, NULL);
        const char *phase = p->phase;
        bool after = p->after;
        double asked = clock_seconds();
        pool_enter(p->lane);
        double one = clock_seconds() - asked;
        p->present = 0;
        pool_for(p->lane, pool_threads(p->lane), 1, meet, p);
        pool_leave(p->lane);
        double all = p->got_all - asked;
        waits *w = waits_of(p, phase, after);
        w->count++;
        w->one += one;
        w->all += all;
        if (one > w->longest_one) w->longest_one = one;
        if (all > w->longest_all) w->longest_all = all;
    }
    return NULL;
}

static bool note_phase(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    probe *p = ctx;
    p->phase = phase;
    p->after = done == total;
    return true;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_lanes C1 PARAMS_FILE [threads [proofs]]\n");
        return 2;
    }
    unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 2;
    int proofs = argc > 4 ? atoi(argv[4]) : 3;
    pool *base, *low;
    c1 *sector;
    srs params;
    check(field_init(&err));
    check(pool_create(&base, threads, &err));
    check(pool_lane_create(&low, base, 0, &err));
    probe p = {.phase = "start"};
    check(pool_lane_create(&p.lane, base, 1, &err));
    check(c1_read(&sector, argv[1], &err));
    check(srs_open(&params, argv[2], NULL, low, &err));
    porep_circuit porep;
    r1cs_circuit circuit;
    r1cs_parts parts;
    porep_of_c1(&porep, &circuit, sector, 0);
    porep_parts(&parts, &porep);
    synthesizer kept = {.m = NULL};
    assignment w = {.a = NULL};
    check(synthesize(&w, &kept, &circuit, &parts, SYNTHESIS_TEMPLATES, low, NULL, &err));

    pthread_t thread;
    cuzk_progress progress = {note_phase, &p};
    if (pthread_create(&thread, NULL, run_probe, &p) != 0) return 1;
    double start = clock_seconds(), cpu = clock_cpu_seconds();
    pool_enter(low);
    for (int i = 0; i < proofs; i++) {
        groth16_proof proof;
        check(vanilla_verify(sector, low, &progress, &err));
        check(synthesize(&w, &kept, &circuit, &parts, SYNTHESIS_TEMPLATES, low, &progress, &err));
        check(groth16_prove(&proof, &params, &w, NULL, low, &progress, NULL, &err));
    }
    pool_leave(low);
    printf("%d proofs on %u threads: %.2f s, CPU %.2f s, cores held by the low lane %.2f s\n", proofs,
           threads, clock_seconds() - start, clock_cpu_seconds() - cpu, pool_lane_core_seconds(low));
    p.stop = true;
    pthread_join(thread, NULL);
    printf("%-16s %6s   %20s   %20s\n", "phase", "times", "one core, mean, max", "all cores, mean, max");
    for (size_t i = 0; i < MAX_PHASES && p.seen[i].phase; i++) {
        const waits *s = &p.seen[i];
        printf("%-5s %-10s %6u   %7.2f %7.2f ms   %7.2f %7.2f ms\n", s->after ? "after" : "", s->phase,
               s->count, s->one / s->count * 1e3, s->longest_one * 1e3, s->all / s->count * 1e3,
               s->longest_all * 1e3);
    }
    assignment_free(&w);
    synthesizer_free(&kept);
    srs_close(&params);
    c1_free(sector);
    pool_destroy(p.lane);
    pool_destroy(low);
    pool_destroy(base);
    return 0;
}
