/*
 * cuzk-bench single: one proof through a daemon, as the reference's tool of that name prints it. Other than
 * there, a proof that failed ends the program with 1.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "daemon.h"
#include "proof_input.h"

#define SHOWN_WHOLE 256u /* bytes of a proof */
#define SHOWN       128u /* of a longer one */

enum { KEY_PARTITION = 1, KEY_REQUEST_ID, KEY_OUT };

static const struct argp_option options[] = {
    {"partition", KEY_PARTITION, "K", 0, "Partition index of a window PoSt (default 0)", 11},
    {"request-id", KEY_REQUEST_ID, "ID", 0,
     "Name of the job: the same id and input attach to the job that runs or ran (default: a random UUID)",
     20},
    {"out", KEY_OUT, "FILE", 0, "Write the proof's bytes", 20},
    {0}};

typedef struct arguments {
    daemon_options daemon;
    proof_input input;
    uint32_t partition;
    const char *request_id, *out;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->input;
        state->child_inputs[1] = &a->daemon;
        return 0;
    case KEY_PARTITION:
        a->partition = (uint32_t)option_u64(arg, 0, UINT32_MAX, "--partition", state);
        return 0;
    case KEY_REQUEST_ID:
        if (!wire_is_utf8(wire_text(arg))) argp_error(state, "--request-id: not UTF-8");
        a->request_id = arg;
        return 0;
    case KEY_OUT:
        a->out = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&proof_input_argp, 0, "The proof:", 10}, {&daemon_argp, 0, "The daemon:", 80}, {0}};

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Have a daemon make one proof and show the result.\v"
    "Examples:\n"
    "  cuzk-bench single -t porep --c1 c1.json\n"
    "  cuzk-bench -a unix:///run/curio/cuzk.sock single -t porep --c1 c1.json --out proof.bin\n"
    "  cuzk-bench single -t winning --vanilla winning-vanilla.json --registered-proof 3 --timeout "
    "60\n\n" DAEMON_CODES_HELP,
    children,
    NULL,
    NULL};

static char *hex_of(const uint8_t *bytes, size_t size) {
    char *text = malloc(2 * size + 1);
    if (text) format_hex(text, bytes, size);
    if (text && size == 0) text[0] = 0;
    return text;
}

static void print_result(const await_proof_response *r, double wall) {
    printf("\n=== Proof Result ===\nstatus:    %s\njob_id:    ", proof_status_name(r->status));
    daemon_print(r->job_id, SIZE_MAX);
    if (r->status != PROOF_STATUS_COMPLETED) {
        printf("\nerror:     ");
        daemon_print(r->error_message, SIZE_MAX);
        putchar('\n');
        return;
    }
    size_t shown = r->proof.size <= SHOWN_WHOLE ? r->proof.size : SHOWN;
    char hex[2 * SHOWN_WHOLE + 1] = "";
    format_hex(hex, r->proof.data, shown);
    printf("\ntimings:   total=%" PRIu64 " ms (queue=%" PRIu64 " ms, srs=%" PRIu64 " ms, synth=%" PRIu64
           " ms, gpu=%" PRIu64 " ms)\n",
           r->total_ms, r->queue_wait_ms, r->srs_load_ms, r->synthesis_ms, r->gpu_compute_ms);
    printf("wall time: %.0f ms\nproof:     %zu bytes (hex: %s%s)\n", 1000 * wall, r->proof.size, hex,
           shown < r->proof.size ? "..." : "");
}

static cuzk_code put_json(const arguments *a, const await_proof_response *r, double wall, cuzk_error *err) {
    char *hex = hex_of(r->proof.data, r->proof.size);
    if (!hex) return error_no_memory(err, 2 * r->proof.size, "the proof in hex");
    yajl_gen g = json_begin();
    json_string(g, "status", proof_status_name(r->status));
    json_view(g, "job_id", r->job_id);
    json_double(g, "wall_ms", 1000 * wall);
    json_u64(g, "total_ms", r->total_ms);
    json_u64(g, "queue_wait_ms", r->queue_wait_ms);
    json_u64(g, "srs_load_ms", r->srs_load_ms);
    json_u64(g, "synthesis_ms", r->synthesis_ms);
    json_u64(g, "gpu_compute_ms", r->gpu_compute_ms);
    json_u64(g, "proof_bytes", r->proof.size);
    json_string(g, "proof", hex);
    json_view(g, "error_message", r->error_message);
    free(hex);
    return daemon_put_json(g, &a->daemon, err);
}

/* Show a result and keep its proof; an error for a proof that is none. */
static cuzk_code finish(const arguments *a, const prove_response *response, double wall, cuzk_error *err) {
    const await_proof_response *r = &response->result;
    if (!response->has_result)
        return error_set(err, CUZK_ERR_PROOF, NULL, CUZK_NO_OFFSET, "the daemon's answer holds no result");
    if (daemon_wants_text(&a->daemon)) print_result(r, wall);
    if (a->daemon.json) TRY(put_json(a, r, wall, err));
    if (r->status == PROOF_STATUS_COMPLETED && a->out)
        return file_write_all(a->out, r->proof.data, r->proof.size, err);
    return CUZK_OK;
}

static cuzk_code run(arguments *a, daemon_link *d, bool *completed, cuzk_error *err) {
    char id[37];
    make_request_id(id);
    TRY(proof_input_load(&a->input, err));
    TRY(daemon_open(d, a->daemon.address, err));
    prove_request request = {.has_submit = true};
    prove_response response = {.has_result = false};
    proof_input_request(&request.submit, &a->input, a->request_id ? a->request_id : id);
    double start = clock_seconds();
    if (daemon_call(d, METHOD_PROVE, &request, a->daemon.timeout, &response) != RPC_OK)
        return daemon_error(d, err);
    cuzk_code code = finish(a, &response, clock_seconds() - start, err);
    *completed = response.result.status == PROOF_STATUS_COMPLETED;
    daemon_free_response(METHOD_PROVE, &response);
    return code;
}

int single_main(int argc, char **argv) {
    arguments a = {.out = NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    a.input.partition = a.partition;
    daemon_link d = {.client = NULL};
    bool completed = false;
    cuzk_error err;
    cuzk_code code = run(&a, &d, &completed, &err);
    int status = code != CUZK_OK ? daemon_report("cuzk-bench single", &a.daemon, &err)
                 : completed     ? 0
                                 : exit_code(CUZK_ERR_PROOF);
    daemon_close(&d);
    proof_input_free(&a.input);
    return status;
}
