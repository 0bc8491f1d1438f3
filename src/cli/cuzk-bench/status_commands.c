/* cuzk-bench status, preload and metrics: what a daemon says of itself, as the reference's tool prints it. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon.h"

static const struct argp_child children[] = {{&daemon_argp, 0, "The daemon:", 80}, {0}};

static error_t parse_daemon_only(int key, char *arg, struct argp_state *state) {
    (void)arg;
    if (key != ARGP_KEY_INIT) return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

/* Connect and call; *response is to be freed when the result is CUZK_OK. */
static cuzk_code ask(daemon_link *d, const daemon_options *o, proving_method method, const void *request,
                     void *response, cuzk_error *err) {
    TRY(daemon_open(d, o->address, err));
    if (daemon_call(d, method, request, o->timeout, response) == RPC_OK) return CUZK_OK;
    return daemon_error(d, err);
}

/* --- status --------------------------------------------------------------------------------------------- */

static const struct argp status_argp = {
    NULL,
    parse_daemon_only,
    NULL,
    "Show what a daemon is doing: counts, keys, queues.\v"
    "Example:\n  cuzk-bench -a unix:///run/curio/cuzk.sock status\n\n" DAEMON_CODES_HELP,
    children,
    NULL,
    NULL};

static void print_worker(const gpu_status *gpu) {
    printf("  [%u] ", gpu->ordinal);
    daemon_print(gpu->name, SIZE_MAX);
    printf(" — %" PRIu64 " MiB / %" PRIu64 " MiB VRAM — ", gpu->vram_free_bytes >> 20,
           gpu->vram_total_bytes >> 20);
    if (gpu->current_job_id.size == 0) {
        printf("idle\n");
        return;
    }
    printf("proving ");
    daemon_print(gpu->current_proof_kind, SIZE_MAX);
    printf(" (");
    daemon_print(gpu->current_job_id, 8);
    printf(")\n");
}

static void print_status(const get_status_response *r) {
    printf("=== cuzk daemon status ===\nuptime:           %" PRIu64 "s\nproofs completed: %" PRIu64
           "\nproofs failed:    %" PRIu64 "\npinned memory:    %" PRIu64 " / %" PRIu64 " bytes\n",
           r->uptime_seconds, r->total_proofs_completed, r->total_proofs_failed, r->pinned_memory_bytes,
           r->pinned_memory_limit_bytes);
    const gpu_status *gpus = r->gpus.items;
    if (r->gpus.count) printf("\nGPUs:\n");
    for (size_t i = 0; i < r->gpus.count; i++) print_worker(&gpus[i]);
    const srs_status *keys = r->loaded_srs.items;
    if (r->loaded_srs.count) printf("\nLoaded SRS:\n");
    for (size_t i = 0; i < r->loaded_srs.count; i++) {
        printf("  ");
        daemon_print(keys[i].circuit_id, SIZE_MAX);
        printf(" (tier=%d, size=%" PRIu64 " bytes, refs=%u)\n", keys[i].tier, keys[i].size_bytes,
               keys[i].ref_count);
    }
    const queue_status *queues = r->queues.items;
    if (r->queues.count) printf("\nQueues:\n");
    for (size_t i = 0; i < r->queues.count; i++) {
        printf("  ");
        daemon_print(queues[i].proof_kind, SIZE_MAX);
        printf(": pending=%u, in_progress=%u\n", queues[i].pending, queues[i].in_progress);
    }
}

static cuzk_code put_status(const get_status_response *r, const daemon_options *o, cuzk_error *err) {
    yajl_gen g = json_begin();
    json_u64(g, "uptime_seconds", r->uptime_seconds);
    json_u64(g, "total_proofs_completed", r->total_proofs_completed);
    json_u64(g, "total_proofs_failed", r->total_proofs_failed);
    json_u64(g, "pinned_memory_bytes", r->pinned_memory_bytes);
    json_u64(g, "pinned_memory_limit_bytes", r->pinned_memory_limit_bytes);
    json_key(g, "gpus");
    yajl_gen_array_open(g);
    for (const gpu_status *p = r->gpus.items, *end = p + r->gpus.count; p < end; p++) {
        yajl_gen_map_open(g);
        json_u64(g, "ordinal", p->ordinal);
        json_view(g, "name", p->name);
        json_u64(g, "vram_total_bytes", p->vram_total_bytes);
        json_u64(g, "vram_free_bytes", p->vram_free_bytes);
        json_view(g, "current_job_id", p->current_job_id);
        json_view(g, "current_proof_kind", p->current_proof_kind);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    json_key(g, "loaded_srs");
    yajl_gen_array_open(g);
    for (const srs_status *p = r->loaded_srs.items, *end = p + r->loaded_srs.count; p < end; p++) {
        yajl_gen_map_open(g);
        json_view(g, "circuit_id", p->circuit_id);
        json_u64(g, "tier", (uint64_t)p->tier);
        json_u64(g, "size_bytes", p->size_bytes);
        json_u64(g, "ref_count", p->ref_count);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    json_key(g, "queues");
    yajl_gen_array_open(g);
    for (const queue_status *p = r->queues.items, *end = p + r->queues.count; p < end; p++) {
        yajl_gen_map_open(g);
        json_view(g, "proof_kind", p->proof_kind);
        json_u64(g, "pending", p->pending);
        json_u64(g, "in_progress", p->in_progress);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    return daemon_put_json(g, o, err);
}

int status_main(int argc, char **argv) {
    daemon_options o = {.json = NULL};
    argp_parse(&status_argp, argc, argv, 0, NULL, &o);
    daemon_link d = {.client = NULL};
    get_status_request request = {0};
    get_status_response r = {.uptime_seconds = 0};
    cuzk_error err;
    cuzk_code code = ask(&d, &o, METHOD_GET_STATUS, &request, &r, &err);
    if (code == CUZK_OK && daemon_wants_text(&o)) print_status(&r);
    if (code == CUZK_OK && o.json) code = put_status(&r, &o, &err);
    daemon_free_response(METHOD_GET_STATUS, &r);
    int status = code == CUZK_OK ? 0 : daemon_report("cuzk-bench status", &o, &err);
    daemon_close(&d);
    return status;
}

/* --- preload -------------------------------------------------------------------------------------------- */

typedef struct preload_arguments {
    daemon_options daemon;
    const char *circuit;
} preload_arguments;

static const struct argp_option preload_options[] = {
    {"circuit-id", 'c', "ID", 0, "Circuit whose key to load, such as porep-32g", 1}, {0}};

static error_t parse_preload(int key, char *arg, struct argp_state *state) {
    preload_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->daemon;
        return 0;
    case 'c':
        if (!wire_is_utf8(wire_text(arg))) argp_error(state, "--circuit-id: not UTF-8");
        a->circuit = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->circuit) option_missing("--circuit-id", state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp preload_argp = {
    preload_options,
    parse_preload,
    NULL,
    "Have a daemon load a circuit's key before the first proof needs it.\v"
    "Example:\n  cuzk-bench preload -c porep-32g\n\n" DAEMON_CODES_HELP,
    children,
    NULL,
    NULL};

int preload_main(int argc, char **argv) {
    preload_arguments a = {.circuit = NULL};
    argp_parse(&preload_argp, argc, argv, 0, NULL, &a);
    daemon_link d = {.client = NULL};
    preload_srs_request request = {.circuit_id = a.circuit ? wire_text(a.circuit) : (wire_view){NULL, 0}};
    preload_srs_response r = {.already_loaded = false};
    cuzk_error err;
    cuzk_code code = ask(&d, &a.daemon, METHOD_PRELOAD_SRS, &request, &r, &err);
    if (code == CUZK_OK && daemon_wants_text(&a.daemon)) {
        if (r.already_loaded)
            printf("%s already loaded\n", a.circuit);
        else
            printf("%s loaded in %" PRIu64 " ms\n", a.circuit, r.load_time_ms);
    }
    if (code == CUZK_OK && a.daemon.json) {
        yajl_gen g = json_begin();
        json_string(g, "circuit_id", a.circuit);
        json_bool(g, "already_loaded", r.already_loaded);
        json_u64(g, "load_time_ms", r.load_time_ms);
        code = daemon_put_json(g, &a.daemon, &err);
    }
    int status = code == CUZK_OK ? 0 : daemon_report("cuzk-bench preload", &a.daemon, &err);
    daemon_close(&d);
    return status;
}

/* --- metrics -------------------------------------------------------------------------------------------- */

static const struct argp metrics_argp = {
    NULL,
    parse_daemon_only,
    NULL,
    "Print a daemon's metrics as Prometheus reads them.\v"
    "Example:\n  cuzk-bench metrics | grep cuzk_queue\n\n" DAEMON_CODES_HELP,
    children,
    NULL,
    NULL};

int metrics_main(int argc, char **argv) {
    daemon_options o = {.json = NULL};
    argp_parse(&metrics_argp, argc, argv, 0, NULL, &o);
    daemon_link d = {.client = NULL};
    get_metrics_request request = {0};
    get_metrics_response r = {.prometheus_text = {NULL, 0}};
    cuzk_error err;
    cuzk_code code = ask(&d, &o, METHOD_GET_METRICS, &request, &r, &err);
    if (code == CUZK_OK && daemon_wants_text(&o))
        fwrite(r.prometheus_text.size ? r.prometheus_text.data : (const uint8_t *)"", 1,
               r.prometheus_text.size, stdout);
    if (code == CUZK_OK && o.json) {
        yajl_gen g = json_begin();
        json_view(g, "prometheus_text", r.prometheus_text);
        code = daemon_put_json(g, &o, &err);
    }
    int status = code == CUZK_OK ? 0 : daemon_report("cuzk-bench metrics", &o, &err);
    daemon_close(&d);
    return status;
}
