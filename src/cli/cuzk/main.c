#include "commands.h"

#include <stdio.h>
#include <string.h>

static const command params_commands[] = {
    {"setup", "Make INSECURE parameters for tests", params_setup_main, NULL},
    {"check", "Check the parameter files of a directory", params_check_main, NULL},
    {"list", "List the circuits and their parameter files", params_list_main, NULL},
    {NULL, NULL, NULL, NULL}};

static const command c1_commands[] = {
    {"inspect", "Show a phase-1 output and check its vanilla proofs", c1_inspect_main, NULL},
    {"generate", "Make a phase-1 output without a sector, for benchmarks", c1_generate_main, NULL},
    {NULL, NULL, NULL, NULL}};

static const command r1cs_commands[] = {
    {"digest", "Count and hash the constraints of a circuit", r1cs_digest_main, NULL},
    {NULL, NULL, NULL, NULL}};

static const command commands[] = {{"prove", "Prove a sector from its phase-1 output", prove_main, NULL},
                                   {"verify", "Verify a proof against its sector", verify_main, NULL},
                                   {"replay", "Repeat a proof whose self-check failed", replay_main, NULL},
                                   {"params", "Groth16 parameter files", NULL, params_commands},
                                   {"c1", "Phase-1 outputs", NULL, c1_commands},
                                   {"r1cs", "Constraint systems", NULL, r1cs_commands},
                                   {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        cuzk *engine;
        cuzk_error err;
        common_options options = {.engine = {.threads = 1}};
        if (cuzk_create(&engine, &options.engine, &err) != CUZK_OK)
            return report_error("cuzk", &options, &err);
        cuzk_build build;
        cuzk_get_build(&build);
        printf("cuzk %s\ncommit:       %s\ncode variant: %s\nSHA-256:      %s\n", build.version, build.commit,
               build.variant, build.sha256);
        cuzk_destroy(engine);
        return 0;
    }
    return command_dispatch(
        "cuzk", commands,
        "Filecoin proofs: from a sector's vanilla proofs to Groth16 proofs, checked.\n"
        "'cuzk --version' shows version, commit and the code variant this processor gets.",
        argc, argv);
}
