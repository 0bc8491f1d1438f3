/* bench_ntt [log_n [threads [repetitions]]]: median milliseconds of each transform and of the quotient, after
 * one untimed run. CUZK_ISA selects the variant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ntt/ntt.h"

#define MAX_REPETITIONS 102

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void die(const cuzk_error *err) {
    fprintf(stderr, "bench_ntt: %s\n", err->message);
    exit(1);
}

static fr *new_vector(size_t n, uint64_t seed) {
    cuzk_error err;
    void *memory;
    if (mem_big_alloc(&memory, n * sizeof(fr), "a vector", &err) != CUZK_OK) die(&err);
    fr *v = memory;
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            v[i].l[j] = j < 3 ? seed : seed >> 2; /* below r: any limbs are some element's */
        }
    return v;
}

typedef struct timing {
    double wall[MAX_REPETITIONS], cpu[MAX_REPETITIONS];
    double wall_start, cpu_start;
    int n;
} timing;

static void timing_start(timing *t) {
    t->wall_start = clock_seconds();
    t->cpu_start = clock_cpu_seconds();
}

static void timing_stop(timing *t) {
    t->wall[t->n] = clock_seconds() - t->wall_start;
    t->cpu[t->n++] = clock_cpu_seconds() - t->cpu_start;
}

/* The first run is left out. */
static void report(const char *what, const ntt_domain *d, timing *t) {
    size_t n = (size_t)t->n - 1;
    qsort(t->wall + 1, n, sizeof *t->wall, by_value);
    qsort(t->cpu + 1, n, sizeof *t->cpu, by_value);
    printf("  %-14s wall %9.2f ms   cpu %9.2f ms (least %9.2f)  %6.2f cpu ns/element\n", what,
           1e3 * t->wall[1 + n / 2], 1e3 * t->cpu[1 + n / 2], 1e3 * t->cpu[1],
           1e9 * t->cpu[1 + n / 2] / (double)((size_t)1 << ntt_domain_log_n(d)));
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"forward", "inverse", "coset forward", "coset inverse"};
    unsigned log_n = argc > 1 ? (unsigned)atoi(argv[1]) : 20,
             threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    int repetitions = argc > 3 ? atoi(argv[3]) : 11;
    bool quotient = argc <= 4;
    cuzk_error err;
    pool *p;
    ntt_domain *d;
    if (repetitions < 1 || repetitions >= MAX_REPETITIONS) repetitions = 11;
    if (field_init(&err) != CUZK_OK || pool_create(&p, threads, &err) != CUZK_OK) die(&err);
    double start = clock_seconds();
    if (ntt_domain_create(&d, log_n, p, &err) != CUZK_OK) die(&err);
    printf("2^%u, %s, %u threads, tables in %.1f ms\n", log_n, cpu_isa_name(field.isa), pool_threads(p),
           1e3 * (clock_seconds() - start));
    size_t n = (size_t)1 << log_n;
    fr *a = new_vector(n, 1);
    for (int kind = 0; kind < 4; kind++) {
        timing t = {.n = 0};
        while (t.n <= repetitions) {
            timing_start(&t);
            if (ntt_run(d, (ntt_kind)kind, a, p, &err) != CUZK_OK) die(&err);
            timing_stop(&t);
        }
        report(names[kind], d, &t);
    }
    if (quotient) {
        fr *b = new_vector(n, 2), *c = new_vector(n, 3);
        timing t = {.n = 0};
        while (t.n <= repetitions) {
            timing_start(&t);
            if (ntt_quotient(d, a, b, c, p, NULL, &err) != CUZK_OK) die(&err);
            timing_stop(&t);
        }
        report("quotient", d, &t);
    }
    printf("  peak resident %.2f GiB\n", (double)mem_peak_rss() / (1u << 30));
    ntt_domain_destroy(d);
    pool_destroy(p);
    return 0;
}
