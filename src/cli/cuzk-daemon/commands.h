/* The commands of cuzk-daemon. */
#ifndef CUZK_CLI_DAEMON_COMMANDS_H
#define CUZK_CLI_DAEMON_COMMANDS_H

#include "command.h"

int run_main(int argc, char **argv);
int config_dump_main(int argc, char **argv);
int config_check_main(int argc, char **argv);
int config_example_main(int argc, char **argv);
int config_reference_main(int argc, char **argv);

#endif
