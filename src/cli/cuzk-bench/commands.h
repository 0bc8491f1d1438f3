/* The commands of `cuzk-bench`; each parses its own arguments and returns the exit code. */
#ifndef CUZK_BENCH_COMMANDS_H
#define CUZK_BENCH_COMMANDS_H

#include "command.h"

int kernels_main(int argc, char **argv);
int synth_only_main(int argc, char **argv);
int pce_bench_main(int argc, char **argv);
int lc_study_main(int argc, char **argv);

#endif
