/*
 * Talking to a cuzk daemon: the options of every command that does, one connection, calls with their messages
 * encoded and decoded, and how errors are shown.
 *
 * Text goes to stdout as the reference's tool prints it. --json FILE writes the same as JSON besides; "-" is
 * stdout, in place of the text.
 */
#ifndef CUZK_BENCH_DAEMON_H
#define CUZK_BENCH_DAEMON_H

#include "command.h"
#include "rpc/client.h"
#include "rpc/messages.h"

typedef struct daemon_options {
    const char *address; /* as given, or the default: never NULL after parsing */
    const char *json;    /* NULL: not wanted */
    double timeout;      /* of each call in seconds; 0: none */
} daemon_options;

/* -a/--addr, --timeout and --json, for a command's argp. Input: a daemon_options. */
extern const struct argp daemon_argp;

/* Take -a/--addr and --log-level in front of the command, where the reference has them, out of argv and
 * remember the address. Returns the new argc, or -1 with a message when a value is missing or bad. */
int daemon_global_options(int argc, char **argv);

/* Exit codes: a proof that failed and errors from the daemon are 1, no (timely) answer is 5. */
#define DAEMON_CODES_HELP                                                                                    \
    "The daemon is found at --addr, else at $CUZK_ADDR, else at http://127.0.0.1:9820.\n"                    \
    "Exit codes: 0 ok, 1 a proof failed or the daemon refused, 2 usage, 3 bad input file, 5 no answer (not " \
    "running, too busy, too late) or no memory or disk, 130 interrupted."

/* One connection, made by the first call. For one thread at a time, daemon_interrupt excepted. */
typedef struct daemon_link {
    rpc_client *client;
    char address[512];
    wire_buffer request;
    rpc_reply reply; /* of the last call: its status, message and bytes */
} daemon_link;

/* CUZK_ERR_USAGE for an address that is none. */
cuzk_code daemon_open(daemon_link *d, const char *address, cuzk_error *err);
void daemon_close(daemon_link *d); /* harmless on a zeroed or closed one */

/* Call with a request struct of the method. On RPC_OK *response is filled with views of d->reply; free its
 * lists with daemon_free_response. timeout: seconds, 0: none. */
rpc_status daemon_call(daemon_link *d, proving_method method, const void *request, double timeout,
                       void *response);
void daemon_free_response(proving_method method, void *response);
/* End the call another thread is in, or the next one. */
void daemon_interrupt(daemon_link *d);

/* What the last call's failure means for the command, as an error for report: code by status (above), and
 * for a connection refused what to start. */
cuzk_code daemon_error(const daemon_link *d, cuzk_error *err);

/* Show an error on stderr, and as JSON where --json wants it. Returns the exit code. */
int daemon_report(const char *name, const daemon_options *options, const cuzk_error *err);

/* Is text wanted on stdout? */
bool daemon_wants_text(const daemon_options *options);
/* End and write the JSON of a command, if it is wanted; else drop it. */
cuzk_code daemon_put_json(yajl_gen g, const daemon_options *options, cuzk_error *err);

/* A string from the daemon, for people: control characters become '?'. At most `most` bytes. */
void daemon_print(wire_view text, size_t most);
void json_view(yajl_gen g, const char *key, wire_view text);

/* "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "UNKNOWN". */
const char *proof_status_name(int32_t status);

#endif
