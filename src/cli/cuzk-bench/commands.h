/* The commands of `cuzk-bench`; each parses its own arguments and returns the exit code. */
#ifndef CUZK_BENCH_COMMANDS_H
#define CUZK_BENCH_COMMANDS_H

#include "command.h"

/* Through a daemon. */
int single_main(int argc, char **argv);
int batch_main(int argc, char **argv);
int status_main(int argc, char **argv);
int preload_main(int argc, char **argv);
int metrics_main(int argc, char **argv);
int stress_main(int argc, char **argv);
int status_latency_main(int argc, char **argv);
int timeline_main(int argc, char **argv);

/* In this process. */
int kernels_main(int argc, char **argv);
int synth_only_main(int argc, char **argv);
int pce_bench_main(int argc, char **argv);
int pce_pipeline_main(int argc, char **argv);
int lc_study_main(int argc, char **argv);

#endif
