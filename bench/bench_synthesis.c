/*
 * Time the ways from a C1 to an assignment:
 *     bench_synthesis C1 [threads [repeats]]      partition 0 of a C1 file
 *     bench_synthesis SIZE [threads [repeats]]    of a fabricated C1, "2k" or "32g"
 * Memory is allocated, and touched by a first run, before anything is timed. Each figure is the least of all
 * repetitions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "field/field.h"
#include "filecoin/fabricate.h"
#include "r1cs/assignment.h"
#include "r1cs/expand.h"

static cuzk_error err;

static void check(cuzk_code code) {
    if (code == CUZK_OK) return;
    fprintf(stderr, "%s\n", err.message);
    exit((int)code);
}

/* The least of some runs, the first of which is not timed: wall time, and the processor time of all threads.
 */
typedef struct timing {
    double wall, cpu, wall_start, cpu_start;
} timing;

static void begin(timing *t) {
    t->wall_start = clock_seconds();
    t->cpu_start = clock_cpu_seconds();
}

static void end(timing *t, int run) {
    double wall = clock_seconds() - t->wall_start, cpu = clock_cpu_seconds() - t->cpu_start;
    if (run == 0) t->wall = t->cpu = 1e9;
    if (run == 0) return;
    if (wall < t->wall) t->wall = wall;
    if (cpu < t->cpu) t->cpu = cpu;
}

static void show(const char *what, const timing *t, uint64_t rows) {
    printf("%-28s wall %9.2f ms, cpu %9.2f ms, %7.3f ns a constraint\n", what, t->wall * 1e3, t->cpu * 1e3,
           t->cpu * 1e9 / (double)rows);
    fflush(stdout);
}

static void add(timing *sum, const timing *t) {
    sum->wall += t->wall;
    sum->cpu += t->cpu;
}

typedef struct expand_job {
    const compact_witness *w;
    expansion_path path;
    assignment *out;
} expand_job;

static void expand_some_rows(void *ctx, size_t begin, size_t end) {
    const expand_job *j = ctx;
    if (!expand_rows(j->w, j->path, begin, end - begin, j->out->a + begin, j->out->b + begin,
                     j->out->c + begin, true))
        abort();
}

static void expand_some_aux(void *ctx, size_t begin, size_t end) {
    const expand_job *j = ctx;
    expand_aux(j->w, (uint32_t)begin, end - begin, j->out->aux + begin, true);
}

static void check_some(void *ctx, size_t begin, size_t end) {
    const expand_job *j = ctx;
    if (!expand_check(j->w, begin, end - begin)) abort();
}

int main(int argc, char **argv) {
    const char *input = argc > 1 ? argv[1] : "2k";
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    int repeats = argc > 3 ? atoi(argv[3]) : 5;
    pool *p;
    c1 *sector;
    check(field_init(&err));
    check(pool_create(&p, threads, &err));
    const sector_shape *size = sector_by_name(input);
    if (size) {
        const registered_porep *kind = NULL;
        size_t n;
        const registered_porep *all = registered_poreps(&n);
        for (size_t i = 0; i < n; i++)
            if (all[i].sector == size && all[i].feature == POREP_INTERACTIVE) kind = &all[i];
        check(c1_fabricate(&sector, kind, 1000, 1, 0, p, &err));
    } else {
        check(c1_read(&sector, input, &err));
    }
    porep_circuit porep;
    r1cs_circuit circuit;
    r1cs_parts parts;
    porep_of_c1(&porep, &circuit, sector, 0);
    porep_parts(&parts, &porep);
    const uint64_t rows = circuit.shape.constraints;

    matrices *m = NULL;
    timing t, sum = {0};
    for (int i = 0; i <= 1; i++) {
        matrices_free(m);
        begin(&t);
        check(matrices_create(&m, &circuit, &parts, NULL, &err));
        end(&t, i);
    }
    show("matrices", &t, rows);
    printf("  %.1f MB, %u templates, %u instances, %u other rows\n", (double)matrices_bytes(m) / 1e6,
           m->n_templates, m->n_instances, m->residual.n);
    for (uint32_t i = 0; i < m->n_templates; i++) {
        const block_template *k = &m->templates[i];
        printf("  %-10s %4" PRIu64
               ": %6u rows, %6u variables, %5u no bits, %5u ops, %3u shapes, %4u full rows\n",
               k->name, k->parameter & UINT32_MAX, k->rows.n, k->n_aux, k->n_full, k->program.n_ops,
               k->program.n_shapes, k->program.n_full);
    }

    compact_witness w;
    check(witness_create(&w, m, &err));
    for (int i = 0; i <= repeats; i++) {
        begin(&t);
        check(witness_fill(&w, &circuit, &parts, p, NULL, &err));
        end(&t, i);
    }
    show("compact witness", &t, rows);
    printf("  %.1f MB\n", (double)witness_bytes(m) / 1e6);
    add(&sum, &t);

    assignment a = {.shape = circuit.shape};
    expand_job job = {&w, EXPAND_TEMPLATES, &a};
    for (int i = 0; i <= repeats; i++) {
        begin(&t);
        pool_for(p, rows, 1 << 15, check_some, &job);
        end(&t, i);
    }
    show("check on codes", &t, rows);

    uint64_t bytes = rows * sizeof(fr), aux_bytes = circuit.shape.aux * sizeof(fr);
    if (mem_require(3 * bytes + aux_bytes, "full vectors", &err)) return 0;
    check(mem_big_alloc((void **)&a.a, bytes, "A", &err));
    check(mem_big_alloc((void **)&a.b, bytes, "B", &err));
    check(mem_big_alloc((void **)&a.c, bytes, "C", &err));
    check(mem_big_alloc((void **)&a.aux, aux_bytes, "the witness", &err));
    for (int i = 0; i <= repeats; i++) {
        begin(&t);
        pool_for(p, rows, 1 << 15, expand_some_rows, &job);
        end(&t, i);
    }
    show("A, B, C in full", &t, rows);
    add(&sum, &t);
    for (int i = 0; i <= repeats; i++) {
        begin(&t);
        pool_for(p, circuit.shape.aux, 1 << 15, expand_some_aux, &job);
        end(&t, i);
    }
    show("witness in full", &t, rows);
    add(&sum, &t);
    show("all in full (sum)", &sum, rows);
    job.path = EXPAND_PRODUCTS;
    for (int i = 0; i <= 1 && rows < 10000000; i++) {
        begin(&t);
        pool_for(p, rows, 1 << 15, expand_some_rows, &job);
        end(&t, i);
    }
    if (rows < 10000000) show("A, B, C by products", &t, rows);
    return 0;
}
