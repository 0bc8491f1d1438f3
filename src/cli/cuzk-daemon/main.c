#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "version.h"

static const command config_commands[] = {
    {"check", "Check the settings", config_check_main, NULL},
    {"dump", "Print every setting with its source", config_dump_main, NULL},
    {"example", "Print a settings file with all defaults", config_example_main, NULL},
    {"reference", "Print all settings as a table", config_reference_main, NULL},
    {NULL, NULL, NULL, NULL}};

static const command commands[] = {{"run", "Serve proofs; what happens without a command", run_main, NULL},
                                   {"config", "The daemon's settings", NULL, config_commands},
                                   {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("cuzk-daemon %s\ncommit: %s\n", CUZK_VERSION, CUZK_COMMIT);
        return 0;
    }
    const char *first = argc > 1 ? argv[1] : "-";
    if (first[0] == '-' && strcmp(first, "--help") != 0 && strcmp(first, "-?") != 0) {
        char name[] = "cuzk-daemon";
        argp_err_exit_status = CUZK_ERR_USAGE;
        argv[0] = name;
        return run_main(argc, argv);
    }
    return command_dispatch("cuzk-daemon", commands,
                            "The proving daemon. docs/operations.md tells how to run it.\n"
                            "Example: cuzk-daemon run --config /etc/cuzk/cuzk.toml",
                            argc, argv);
}
