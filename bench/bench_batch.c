/*
 * What proofs in one pass over the key gain against proofs one by one:
 *     bench_batch C1 PARAMS_FILE [threads [rounds]]
 *
 * Per round, interleaved, a batch each of 1, 2 and 4 proofs of partition 0 of the C1: processor time and wall
 * time a proof, for each phase too, and how much of the key was read, once for each pass over a section. Each
 * figure is the least of all rounds. Synthesis is not timed; quotients come first and one by one, so that one
 * assignment at a time is in full.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "field/field.h"
#include "filecoin/c1.h"
#include "groth16/prove.h"
#include "r1cs/synthesis.h"

enum { MOST = 4 };

static cuzk_error err;

static void check(cuzk_code code) {
    if (code == CUZK_OK) return;
    fprintf(stderr, "%s %s\n", err.path, err.message);
    exit((int)code);
}

typedef struct figures {
    double wall, cpu;
    prove_timings phases;
    uint64_t peak;
} figures;

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_batch C1 PARAMS_FILE [threads [rounds]]\n");
        return 2;
    }
    pool *p;
    c1 *sector;
    srs params;
    check(field_init(&err));
    check(pool_create(&p, argc > 3 ? (unsigned)atoi(argv[3]) : 1, &err));
    check(c1_read(&sector, argv[1], &err));
    check(srs_open(&params, argv[2], NULL, p, &err));
    int rounds = argc > 4 ? atoi(argv[4]) : 2;
    porep_circuit porep;
    r1cs_circuit circuit;
    r1cs_parts parts;
    porep_of_c1(&porep, &circuit, sector, 0);
    porep_parts(&parts, &porep);
    synthesizer kept = {.m = NULL};

    static const size_t sizes[] = {1, 2, 4};
    figures best[3];
    for (int round = 0; round < rounds; round++)
        for (size_t s = 0; s < 3; s++) {
            const size_t n = sizes[s];
            assignment made[MOST], *w[MOST];
            groth16_proof proofs[MOST];
            cuzk_code codes[MOST];
            cuzk_error errs[MOST];
            prove_timings t;
            double wall = 0, cpu = 0, quotients = 0;
            for (size_t i = 0; i < n; i++) {
                made[i] = (assignment){.a = NULL};
                w[i] = &made[i];
                check(synthesize(w[i], &kept, &circuit, &parts, SYNTHESIS_TEMPLATES, p, NULL, &err));
                double wall_start = clock_seconds(), cpu_start = clock_cpu_seconds();
                check(groth16_quotient(w[i], p, NULL, &err));
                wall += clock_seconds() - wall_start;
                cpu += clock_cpu_seconds() - cpu_start;
            }
            quotients = wall;
            double wall_start = clock_seconds(), cpu_start = clock_cpu_seconds();
            groth16_prove_many(proofs, codes, errs, &params, w, NULL, n, p, NULL, &t);
            wall += clock_seconds() - wall_start;
            cpu += clock_cpu_seconds() - cpu_start;
            for (size_t i = 0; i < n; i++) {
                err = errs[i];
                check(codes[i]);
                assignment_free(w[i]);
            }
            t.quotient = quotients;
            fprintf(stderr, "round %d, batch of %zu: CPU %.3f s, wall %.3f s a proof\n", round, n,
                    cpu / (double)n, wall / (double)n);
            if (round == 0 || cpu / (double)n < best[s].cpu)
                best[s] = (figures){wall / (double)n, cpu / (double)n, t, mem_peak()};
        }
    printf("%s, %u threads, key of %.0f MiB; seconds a proof\n", cpu_isa_name(field.isa), pool_threads(p),
           (double)params.file.size / 0x1p20);
    printf("%5s %7s %7s %8s | %8s %6s %6s %6s %6s %6s %6s\n", "batch", "CPU", "wall", "key MiB", "quotient",
           "h", "l", "a", "b_g1", "b_g2", "verify");
    for (size_t s = 0; s < 3; s++) {
        const double n = (double)sizes[s];
        const prove_timings *t = &best[s].phases;
        printf("%5zu %7.3f %7.3f %8.0f | %8.3f %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f\n", sizes[s], best[s].cpu,
               best[s].wall, (double)params.file.size / 0x1p20 / n, t->quotient / n, t->h / n, t->l / n,
               t->a / n, t->b_g1 / n, t->b_g2 / n, t->verify / n);
    }
    printf("big buffers at most %.0f MiB\n", (double)mem_peak() / 0x1p20);
    synthesizer_free(&kept);
    srs_close(&params);
    c1_free(sector);
    pool_destroy(p);
    return 0;
}
