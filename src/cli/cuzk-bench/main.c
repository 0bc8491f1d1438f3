#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "version.h"

static const command commands[] = {
    {"synth-only", "Time synthesis alone, from a phase-1 output", synth_only_main, NULL},
    {"pce-bench", "Synthesis from precomputed matrices, compared with the generic path", pce_bench_main,
     NULL},
    {"lc-study", "What linear combinations cost, stored in different ways", lc_study_main, NULL},
    {"kernels", "Time field multiplications, transforms and multi-scalar multiplications", kernels_main,
     NULL},
    {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("cuzk-bench %s\ncommit: %s\n", CUZK_VERSION, CUZK_COMMIT);
        return 0;
    }
    return command_dispatch("cuzk-bench", commands,
                            "Benchmarks of cuzk. bench/README.md tells how to compare with other libraries.",
                            argc, argv);
}
