/*
 * What the command-line tools share: subcommands, option values, errors and exit codes, the progress bar, and
 * JSON output. Only here and in the commands is anything printed or the process ended.
 */
#ifndef CUZK_CLI_COMMAND_H
#define CUZK_CLI_COMMAND_H

#include <argp.h>
#include <yajl/yajl_gen.h>

#include "cuzk/cuzk.h"

/* A command or a group of commands; a list ends with a NULL name. run gets argv[0] = "tool command". */
typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
    const struct command *sub; /* a group: run is NULL */
} command;

/* Find and run the command argv names. Help of a group lists its commands. Returns the exit code. */
int command_dispatch(const char *tool, const command *commands, const char *intro, int argc, char **argv);

/* Exit codes: 0 to 5 are cuzk_code; 70 an internal defect; 130 interrupted. */
int exit_code(cuzk_code code);
/* The list of exit codes for the end of help texts. */
#define EXIT_CODES_HELP                                                                                      \
    "Exit codes: 0 ok, 1 proof invalid, 2 usage, 3 bad input file, 4 parameters missing or bad, 5 "          \
    "resources "                                                                                             \
    "(memory, disk), 70 internal defect, 130 interrupted."

/* --- options every command has ------------------------------------------------------------------------- */

typedef struct common_options {
    bool json, quiet;
    cuzk_options engine;
} common_options;

/* A child parser for --json, --quiet, --threads, --memory-budget. Its input is a common_options. */
extern const struct argp common_argp;
/* The argp child list that a command's argp names, and the call its parser makes on ARGP_KEY_INIT. */
extern const struct argp_child common_children[];
/* For commands whose --json takes a file. */
extern const struct argp_child common_children_without_json[];

/* Parse or end the process with exit code 2 and a message that names the option. */
uint64_t option_u64(const char *text, uint64_t low, uint64_t high, const char *option,
                    const struct argp_state *s);
uint64_t option_bytes(const char *text, const char *option,
                      const struct argp_state *s); /* 4GiB, 512MiB, 1000 */
void option_hex(uint8_t *out, size_t size, const char *text, const char *option, const struct argp_state *s);
/* A required option that is missing. */
void option_missing(const char *option, const struct argp_state *s);

/* --- errors --------------------------------------------------------------------------------------------- */

/* Print "command: path: offset N: message" on stderr, or with --json an error object on stdout. Returns the
 * exit code. */
int report_error(const char *command_name, const common_options *options, const cuzk_error *err);

/* --- progress ------------------------------------------------------------------------------------------- */

typedef struct progress_bar {
    bool enabled, terminal;
    char phase[32];
    double phase_start, last_drawn;
    bool drawn;
} progress_bar;

/* A bar on stderr: redrawn in place on a terminal, a line now and then elsewhere, nothing when quiet. SIGINT
 * and SIGTERM make the next report stop the work. */
cuzk_progress progress_start(progress_bar *bar, const common_options *options);
void progress_finish(progress_bar *bar);

/* --- output --------------------------------------------------------------------------------------------- */

/* "1.2 GiB", "345 MiB", "17 bytes" into a buffer of at least 32. */
const char *format_bytes(char out[32], uint64_t bytes);
const char *format_hex(char *out, const uint8_t *bytes, size_t size); /* 2 * size + 1 */

yajl_gen json_begin(void);
void json_end(yajl_gen g); /* print on stdout with a newline, and free */
/* The same to a file, whole or not at all; "-" is stdout. */
cuzk_code json_end_to(yajl_gen g, const char *path, cuzk_error *err);
void json_key(yajl_gen g, const char *key);
void json_string(yajl_gen g, const char *key, const char *value);
void json_u64(yajl_gen g, const char *key, uint64_t value);
void json_double(yajl_gen g, const char *key, double value);
void json_bool(yajl_gen g, const char *key, bool value);
/* At most 64 bytes. */
void json_hex(yajl_gen g, const char *key, const uint8_t *bytes, size_t size);

#endif
