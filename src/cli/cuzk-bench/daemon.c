#include "daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define DEFAULT_ADDRESS "http://127.0.0.1:9820"

/* --- options -------------------------------------------------------------------------------------------- */

static const char *global_address; /* given in front of the command */

enum { KEY_TIMEOUT = 0x2001, KEY_JSON };

static const struct argp_option options[] = {
    {"addr", 'a', "ADDRESS", 0, "The daemon: unix:///PATH or http://HOST:PORT; also in front of the command",
     80},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "Give up a call after this time; the daemon is told (default: never)", 80},
    {"json", KEY_JSON, "FILE", 0,
     "Write the result, or the error, as JSON (\"-\": stdout, in place of the text)", 80},
    {0}};

static const char *default_address(void) {
    const char *environment = getenv("CUZK_ADDR");
    if (global_address) return global_address;
    return environment && *environment ? environment : DEFAULT_ADDRESS;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    daemon_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->address = default_address();
        return 0;
    case 'a':
        o->address = arg;
        return 0;
    case KEY_TIMEOUT:
        o->timeout = (double)option_u64(arg, 1, 1000000, "--timeout", state);
        return 0;
    case KEY_JSON:
        o->json = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp daemon_argp = {.options = options, .parser = parse};

/* The value of argv[i] if it is the option `name` (or `-letter`), with *used words taken; NULL if it is not,
 * or has no value (*used is then 1). */
static const char *global_value(int argc, char **argv, int i, const char *name, const char *letter,
                                int *used) {
    size_t length = strlen(name);
    *used = 0;
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
        *used = 1;
        return argv[i] + length + 1;
    }
    if (letter && strncmp(argv[i], letter, 2) == 0 && argv[i][2]) {
        *used = 1;
        return argv[i] + 2;
    }
    if (strcmp(argv[i], name) != 0 && (!letter || strcmp(argv[i], letter) != 0)) return NULL;
    *used = i + 1 < argc ? 2 : 1;
    return i + 1 < argc ? argv[i + 1] : NULL;
}

int daemon_global_options(int argc, char **argv) {
    int at = 1;
    while (at < argc) {
        int used;
        const char *option = argv[at], *value = global_value(argc, argv, at, "--addr", "-a", &used);
        log_level level;
        if (used && value) global_address = value;
        if (!used) {
            value = global_value(argc, argv, at, "--log-level", NULL, &used);
            if (used && value && !log_level_parse(&level, value)) {
                fprintf(stderr,
                        "cuzk-bench: --log-level: '%s', expected off, error, warn, info, debug or trace\n",
                        value);
                return -1;
            }
        }
        if (!used) break;
        if (!value) {
            fprintf(stderr, "cuzk-bench: %s needs a value\n", option);
            return -1;
        }
        at += used;
    }
    for (int i = at; i <= argc; i++) argv[i - at + 1] = argv[i];
    return argc - at + 1;
}

/* --- calls ---------------------------------------------------------------------------------------------- */

cuzk_code daemon_open(daemon_link *d, const char *address, cuzk_error *err) {
    *d = (daemon_link){.reply = {.status = RPC_OK}};
    snprintf(d->address, sizeof d->address, "%s", address);
    return rpc_client_create(&d->client, address, err);
}

void daemon_close(daemon_link *d) {
    rpc_client_destroy(d->client);
    wire_buffer_free(&d->request);
    rpc_reply_free(&d->reply);
    *d = (daemon_link){.client = NULL};
}

static rpc_status local_failure(daemon_link *d, rpc_status status, const char *what, const char *more) {
    rpc_reply_free(&d->reply);
    d->reply.status = status;
    d->reply.retry_ms = -1;
    snprintf(d->reply.message, sizeof d->reply.message, "%s%s", what, more);
    return status;
}

rpc_status daemon_call(daemon_link *d, proving_method method, const void *request, double timeout,
                       void *response) {
    const proving_method_info *info = &proving_methods[method];
    cuzk_error err;
    d->request.size = 0; /* the memory of a large request is kept for the next */
    d->request.failed = false;
    schema_encode(info->request, request, &d->request);
    if (d->request.failed) return local_failure(d, RPC_RESOURCE_EXHAUSTED, "no memory for the request", "");
    rpc_reply_free(&d->reply);
    rpc_client_call(d->client, info->path, (wire_view){d->request.data, d->request.size}, timeout, &d->reply);
    if (d->reply.status != RPC_OK) return d->reply.status;
    wire_view in = {d->reply.data, d->reply.size};
    if (schema_decode(info->response, response, in, &err) == CUZK_OK) return RPC_OK;
    schema_free(info->response, response);
    return local_failure(d, RPC_INTERNAL, "the answer is no message of this service: ", err.message);
}

void daemon_free_response(proving_method method, void *response) {
    schema_free(proving_methods[method].response, response);
}

void daemon_interrupt(daemon_link *d) {
    rpc_client_cancel(d->client);
}

/* --- errors and output ---------------------------------------------------------------------------------- */

static cuzk_code code_of(rpc_status status) {
    switch (status) {
    case RPC_UNAVAILABLE:
    case RPC_RESOURCE_EXHAUSTED:
    case RPC_DEADLINE_EXCEEDED:
        return CUZK_ERR_RESOURCES;
    default:
        return CUZK_ERR_PROOF;
    }
}

cuzk_code daemon_error(const daemon_link *d, cuzk_error *err) {
    const rpc_reply *r = &d->reply;
    const char *hint = "";
    if (r->status == RPC_UNAVAILABLE && strncmp(r->message, "cannot connect", 14) == 0)
        hint = ". Is cuzk-daemon running there? Start it, or name another address with --addr or CUZK_ADDR";
    char retry[64] = "";
    if (r->retry_ms >= 0) snprintf(retry, sizeof retry, " (try again in %lld ms)", (long long)r->retry_ms);
    return error_set(err, code_of(r->status), NULL, CUZK_NO_OFFSET, "%.200s: %s: %.400s%s%s", d->address,
                     rpc_status_name(r->status), r->message, retry, hint);
}

static const char *kind_name(cuzk_code code) {
    switch (code) {
    case CUZK_ERR_PROOF:
        return "daemon";
    case CUZK_ERR_USAGE:
        return "usage";
    case CUZK_ERR_INPUT:
        return "input";
    case CUZK_ERR_RESOURCES:
        return "resources";
    default:
        return "internal";
    }
}

int daemon_report(const char *name, const daemon_options *o, const cuzk_error *err) {
    fprintf(stderr, "%s: ", name);
    if (err->path[0]) fprintf(stderr, "%s: ", err->path);
    if (err->offset != CUZK_NO_OFFSET) fprintf(stderr, "offset %llu: ", (unsigned long long)err->offset);
    fprintf(stderr, "%s\n", err->message);
    if (o->json) {
        yajl_gen g = json_begin();
        json_key(g, "error");
        yajl_gen_map_open(g);
        json_string(g, "kind", kind_name(err->code));
        json_u64(g, "exit_code", (uint64_t)exit_code(err->code));
        if (err->path[0]) json_string(g, "path", err->path);
        json_string(g, "message", err->message);
        yajl_gen_map_close(g);
        cuzk_error second;
        if (json_end_to(g, o->json, &second) != CUZK_OK)
            fprintf(stderr, "%s: %s: %s\n", name, second.path, second.message);
    }
    return exit_code(err->code);
}

bool daemon_wants_text(const daemon_options *o) {
    return !o->json || strcmp(o->json, "-") != 0;
}

cuzk_code daemon_put_json(yajl_gen g, const daemon_options *o, cuzk_error *err) {
    if (o->json) return json_end_to(g, o->json, err);
    yajl_gen_free(g);
    return CUZK_OK;
}

void daemon_print(wire_view text, size_t most) {
    for (size_t i = 0; i < text.size && i < most; i++)
        putchar(text.data[i] < 0x20 || text.data[i] == 0x7f ? '?' : text.data[i]);
}

void json_view(yajl_gen g, const char *key, wire_view text) {
    json_key(g, key);
    yajl_gen_string(g, text.size ? text.data : (const unsigned char *)"", text.size);
}

const char *proof_status_name(int32_t status) {
    switch (status) {
    case PROOF_STATUS_COMPLETED:
        return "COMPLETED";
    case PROOF_STATUS_FAILED:
        return "FAILED";
    case PROOF_STATUS_CANCELLED:
        return "CANCELLED";
    case PROOF_STATUS_TIMEOUT:
        return "TIMEOUT";
    default:
        return "UNKNOWN";
    }
}
