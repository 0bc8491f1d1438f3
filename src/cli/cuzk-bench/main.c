#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "daemon.h"
#include "version.h"

static const command commands[] = {
    {"single", "One proof through a daemon", single_main, NULL},
    {"batch", "The same proof many times through a daemon, so many at a time", batch_main, NULL},
    {"status", "What a daemon is doing", status_main, NULL},
    {"preload", "Have a daemon load a key", preload_main, NULL},
    {"metrics", "A daemon's metrics", metrics_main, NULL},
    {"stress", "Many calls, some cancelled, some dropped; is anything left behind?", stress_main, NULL},
    {"status-latency", "How long GetStatus takes while large requests arrive", status_latency_main, NULL},
    {"timeline", "A chart of what a daemon did, from its log or live", timeline_main, NULL},
    {"synth-only", "Time synthesis alone, from a phase-1 output", synth_only_main, NULL},
    {"pce-bench", "Synthesis from precomputed matrices, compared with the generic path", pce_bench_main,
     NULL},
    {"pce-pipeline", "Proofs through the engine, with a simulated prover", pce_pipeline_main, NULL},
    {"lc-study", "What linear combinations cost, stored in different ways", lc_study_main, NULL},
    {"kernels", "Time field multiplications, transforms and multi-scalar multiplications", kernels_main,
     NULL},
    {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("cuzk-bench %s\ncommit: %s\n", CUZK_VERSION, CUZK_COMMIT);
        return 0;
    }
    argc = daemon_global_options(argc, argv);
    if (argc < 0) return CUZK_ERR_USAGE;
    return command_dispatch(
        "cuzk-bench", commands,
        "Benchmarks of cuzk: through a daemon (-a ADDRESS, also in front of the command), and "
        "in this process.\nbench/README.md tells how to compare with other libraries.",
        argc, argv);
}
