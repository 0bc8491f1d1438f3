/* The commands of `cuzk`; each parses its own arguments and returns the exit code. */
#ifndef CUZK_CLI_COMMANDS_H
#define CUZK_CLI_COMMANDS_H

#include "command.h"

int prove_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int replay_main(int argc, char **argv);
int params_setup_main(int argc, char **argv);
int params_check_main(int argc, char **argv);
int params_list_main(int argc, char **argv);
int c1_inspect_main(int argc, char **argv);
int c1_generate_main(int argc, char **argv);
int r1cs_digest_main(int argc, char **argv);

#endif
