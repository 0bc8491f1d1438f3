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

static const command commands[] = {{"config", "The daemon's settings", NULL, config_commands},
                                   {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("cuzk-daemon %s\ncommit: %s\n", CUZK_VERSION, CUZK_COMMIT);
        return 0;
    }
    return command_dispatch("cuzk-daemon", commands,
                            "The proving daemon. docs/operations.md tells how to run it.\n"
                            "Example: cuzk-daemon config dump --config /etc/cuzk/cuzk.toml",
                            argc, argv);
}
