/*
 * cuzk-bench status-latency: how long GetStatus takes while large requests are uploaded and a proof runs.
 *
 * Each of the --uploads threads sends one large Prove request after the other on a connection of its own:
 * --upload-file, or --upload-size bytes that are no proof's input, so that the daemon refuses them once they
 * are there and the next upload begins. With --c1, another thread has proofs of it made meanwhile.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "commands.h"
#include "proof_input.h"
#include "report.h"
#include "status_sampler.h"

#define MAX_UPLOADS 256u

enum { KEY_C1 = 1, KEY_UPLOADS, KEY_FILE, KEY_SIZE, KEY_DURATION, KEY_INTERVAL };

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output to have proved meanwhile, again and again (default: nothing)",
     1},
    {"uploads", KEY_UPLOADS, "N", 0, "Requests being uploaded at a time (default 4)", 1},
    {"upload-size", KEY_SIZE, "SIZE", 0, "Bytes of each, filled with blanks (default 51500000)", 1},
    {"upload-file", KEY_FILE, "FILE", 0, "Upload this phase-1 output instead", 1},
    {"duration", KEY_DURATION, "SECONDS", 0, "Measure for so long (default 10)", 1},
    {"interval", KEY_INTERVAL, "MS", 0, "Between two calls (default 5)", 1},
    {0}};

typedef struct arguments {
    daemon_options daemon;
    const char *c1, *upload_file;
    uint64_t upload_size;
    unsigned uploads, duration, interval_ms;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->daemon;
        return 0;
    case KEY_C1:
        a->c1 = arg;
        return 0;
    case KEY_UPLOADS:
        a->uploads = (unsigned)option_u64(arg, 0, MAX_UPLOADS, "--uploads", state);
        return 0;
    case KEY_SIZE:
        a->upload_size = option_bytes(arg, "--upload-size", state);
        if (a->upload_size == 0 || a->upload_size > UINT32_MAX)
            argp_error(state, "--upload-size: from 1 byte to 4 GiB");
        return 0;
    case KEY_FILE:
        a->upload_file = arg;
        return 0;
    case KEY_DURATION:
        a->duration = (unsigned)option_u64(arg, 1, 86400, "--duration", state);
        return 0;
    case KEY_INTERVAL:
        a->interval_ms = (unsigned)option_u64(arg, 1, 60000, "--interval", state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&daemon_argp, 0, "The daemon:", 80}, {0}};

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Measure how long GetStatus takes while large requests arrive and a proof runs.\v"
    "Example:\n  cuzk-bench status-latency --c1 c1.json --uploads 4 --duration 20\n\n" DAEMON_CODES_HELP,
    children,
    NULL,
    NULL};

/* One thread that makes the same request again and again. */
typedef struct load {
    const arguments *a;
    wire_view vanilla_proof;
    daemon_link link;
    pthread_t thread;
    bool running;
    atomic_bool *stop;
    uint64_t calls, by_status[17];
    uint64_t completed; /* proofs */
    char message[512];  /* of the last that was neither proved nor cancelled by us */
} load;

static void one_call(load *l) {
    char id[37];
    make_request_id(id);
    prove_request request = {.has_submit = true,
                             .submit = {.request_id = wire_text(id),
                                        .proof_kind = PROOF_KIND_POREP_SEAL_COMMIT,
                                        .sector_size = UINT64_C(32) << 30,
                                        .vanilla_proof = l->vanilla_proof,
                                        .sector_number = 1,
                                        .miner_id = 1000}};
    prove_response response = {.has_result = false};
    rpc_status status = daemon_call(&l->link, METHOD_PROVE, &request, 0, &response);
    if (atomic_load(l->stop)) return; /* ended by us */
    l->calls++;
    l->by_status[status]++;
    bool proved = status == RPC_OK && response.has_result && response.result.status == PROOF_STATUS_COMPLETED;
    l->completed += proved;
    if (status != RPC_OK)
        snprintf(l->message, sizeof l->message, "%s: %.400s", rpc_status_name(status), l->link.reply.message);
    int64_t retry = status == RPC_OK ? -1 : l->link.reply.retry_ms;
    daemon_free_response(METHOD_PROVE, &response);
    if (retry > 0) usleep((useconds_t)(1000 * (retry < 1000 ? retry : 1000)));
    if (status == RPC_UNAVAILABLE) usleep(100000);
}

static void *make_load(void *arg) {
    load *l = arg;
    while (!atomic_load(l->stop)) one_call(l);
    return NULL;
}

typedef struct measurement {
    const arguments *a;
    load loads[MAX_UPLOADS + 1]; /* uploads, then the proofs */
    unsigned n;
    atomic_bool stop;
    status_sampler sampler;
    file_map c1, upload;
    uint8_t *blanks;
    double seconds;
} measurement;

static cuzk_code open_inputs(measurement *m, wire_view *upload, cuzk_error *err) {
    const arguments *a = m->a;
    if (a->c1) TRY(file_map_open(&m->c1, a->c1, CUZK_ERR_INPUT, err));
    if (a->upload_file) {
        TRY(file_map_open(&m->upload, a->upload_file, CUZK_ERR_INPUT, err));
        *upload = (wire_view){m->upload.data, (size_t)m->upload.size};
        return CUZK_OK;
    }
    m->blanks = malloc((size_t)a->upload_size);
    if (!m->blanks) return error_no_memory(err, (size_t)a->upload_size, "an upload");
    memset(m->blanks, ' ', (size_t)a->upload_size);
    *upload = (wire_view){m->blanks, (size_t)a->upload_size};
    return CUZK_OK;
}

static cuzk_code start_load(measurement *m, wire_view input, cuzk_error *err) {
    load *l = &m->loads[m->n];
    *l = (load){.a = m->a, .vanilla_proof = input, .stop = &m->stop};
    TRY(daemon_open(&l->link, m->a->daemon.address, err));
    m->n++;
    int rc = pthread_create(&l->thread, NULL, make_load, l);
    l->running = rc == 0;
    return rc == 0 ? CUZK_OK : error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting a thread");
}

static cuzk_code start_loads(measurement *m, wire_view upload, cuzk_error *err) {
    for (unsigned i = 0; i < m->a->uploads; i++) TRY(start_load(m, upload, err));
    return m->a->c1 ? start_load(m, (wire_view){m->c1.data, (size_t)m->c1.size}, err) : CUZK_OK;
}

/* Cancel what is under way and wait for the threads. A call that begins just then is cancelled, too. */
static void end_loads(measurement *m) {
    atomic_store(&m->stop, true);
    for (unsigned i = 0; i < m->n; i++)
        if (m->loads[i].running) daemon_interrupt(&m->loads[i].link);
    for (unsigned i = 0; i < m->n; i++) {
        if (m->loads[i].running) pthread_join(m->loads[i].thread, NULL);
        daemon_close(&m->loads[i].link);
    }
}

static volatile sig_atomic_t interrupted;
static void on_signal(int number) {
    interrupted = 1;
    signal(number, SIG_DFL);
}

static cuzk_code measure(measurement *m, cuzk_error *err) {
    wire_view upload;
    daemon_link first;
    get_status_request request = {0};
    get_status_response response = {.uptime_seconds = 0};
    TRY(open_inputs(m, &upload, err));
    TRY(daemon_open(&first, m->a->daemon.address, err)); /* is there anybody? */
    cuzk_code code = CUZK_OK;
    if (daemon_call(&first, METHOD_GET_STATUS, &request, 30, &response) != RPC_OK)
        code = daemon_error(&first, err);
    daemon_free_response(METHOD_GET_STATUS, &response);
    daemon_close(&first);
    if (code != CUZK_OK) return code;
    code = start_loads(m, upload, err);
    if (code == CUZK_OK)
        code = status_sampler_start(&m->sampler, m->a->daemon.address, (double)m->a->interval_ms / 1000, err);
    if (code == CUZK_OK) {
        double start = clock_seconds();
        while (!interrupted && clock_seconds() - start < m->a->duration) usleep(20000);
        m->seconds = clock_seconds() - start;
        status_sampler_stop(&m->sampler);
    }
    end_loads(m);
    return code;
}

/* --- results ---------------------------------------------------------------------------------------------
 */

typedef struct totals {
    uint64_t uploads, proofs, proof_calls;
    double upload_bytes;
    const char *message; /* what the uploads were answered */
} totals;

static totals sum_up(const measurement *m) {
    totals t = {.message = ""};
    for (unsigned i = 0; i < m->n; i++) {
        const load *l = &m->loads[i];
        if (i == m->a->uploads) {
            t.proofs = l->completed;
            t.proof_calls = l->calls;
            continue;
        }
        t.uploads += l->calls - l->by_status[RPC_RESOURCE_EXHAUSTED] - l->by_status[RPC_UNAVAILABLE];
        if (l->message[0]) t.message = l->message;
    }
    t.upload_bytes = (double)t.uploads * (double)(m->a->upload_file ? m->upload.size : m->a->upload_size);
    return t;
}

static void print_report(measurement *m) {
    totals t = sum_up(m);
    latency_summary s = latency_sum_up(&m->sampler.times);
    printf("=== Status Latency ===\nseconds:   %.1f\nuploads:   %u at a time, %llu done, %.0f MiB/s\n",
           m->seconds, m->a->uploads, (unsigned long long)t.uploads, t.upload_bytes / m->seconds / (1 << 20));
    if (t.message[0]) printf("answered:  %s\n", t.message);
    if (m->a->c1) printf("proofs:    %llu completed, one always running\n", (unsigned long long)t.proofs);
    printf("GetStatus: p50=%.2f ms p90=%.2f ms p99=%.2f ms max=%.2f ms (%zu calls, %zu failed)\n",
           1000 * s.p50, 1000 * s.p90, 1000 * s.p99, 1000 * s.most, s.n, m->sampler.failed);
    if (m->sampler.failed) printf("failed:    %s\n", m->sampler.message);
}

static cuzk_code put_json(measurement *m, cuzk_error *err) {
    totals t = sum_up(m);
    latency_summary s = latency_sum_up(&m->sampler.times);
    yajl_gen g = json_begin();
    json_double(g, "seconds", m->seconds);
    json_u64(g, "concurrent_uploads", m->a->uploads);
    json_u64(g, "uploads", t.uploads);
    json_double(g, "upload_bytes", t.upload_bytes);
    json_u64(g, "proofs_completed", t.proofs);
    json_latency(g, "get_status", &s);
    json_u64(g, "get_status_failed", m->sampler.failed);
    bench_put_machine(g);
    return daemon_put_json(g, &m->a->daemon, err);
}

int status_latency_main(int argc, char **argv) {
    arguments a = {.uploads = 4, .upload_size = 51500000, .duration = 10, .interval_ms = 5};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    cuzk_error err;
    measurement *m = calloc(1, sizeof *m);
    if (!m) {
        error_no_memory(&err, sizeof *m, "a measurement");
        return daemon_report("cuzk-bench status-latency", &a.daemon, &err);
    }
    m->a = &a;
    m->c1.fd = m->upload.fd = -1;
    signal(SIGINT, on_signal);
    cuzk_code code = measure(m, &err);
    if (code == CUZK_OK && daemon_wants_text(&a.daemon)) print_report(m);
    if (code == CUZK_OK && a.daemon.json) code = put_json(m, &err);
    int status = 0;
    if (code != CUZK_OK)
        status = daemon_report("cuzk-bench status-latency", &a.daemon, &err);
    else if (m->sampler.failed > 0 || m->sampler.times.n == 0)
        status = exit_code(CUZK_ERR_PROOF);
    status_sampler_free(&m->sampler);
    file_map_close(&m->c1);
    file_map_close(&m->upload);
    free(m->blanks);
    free(m);
    return status;
}
