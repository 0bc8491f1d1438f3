/*
 * echo_server LIMIT ADDRESS...: the service's door without a prover behind it, for clients to be tried on.
 * Every valid request is "proved" at once by 1920 bytes that follow from its input; ids that start with
 * "slow-" take half a second. Prints the addresses, one a line, and runs until its standard input ends; then
 * it drains.
 */
#include "base/clock.h"
#include "rpc/messages.h"
#include "rpc/server.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROOF_SIZE 1920
#define SLOW       0.5
#define MAX_JOBS   4096

typedef struct slow_call {
    rpc_call *call;
    double due;
} slow_call;

typedef struct echo {
    pthread_mutex_t lock;
    slow_call slow[MAX_JOBS];
    size_t slow_count;
    bool stopping;
    /* What SubmitProof was given; the server's thread alone. */
    char *ids[MAX_JOBS];
    uint64_t sums[MAX_JOBS];
    size_t id_count;
} echo;

static uint64_t sum_of(const submit_proof_request *r) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < r->vanilla_proof.size; i++)
        sum = (sum ^ r->vanilla_proof.data[i]) * 0x100000001b3u;
    const wire_view *proofs = r->vanilla_proofs.items;
    for (size_t k = 0; k < r->vanilla_proofs.count; k++) sum = (sum ^ proofs[k].size) * 0x100000001b3u;
    return sum;
}

static void answer(rpc_call *call, const schema *s, const void *message) {
    wire_buffer out = {0};
    schema_encode(s, message, &out);
    rpc_call_finish(call, out.failed ? RPC_RESOURCE_EXHAUSTED : RPC_OK, NULL, out.data, out.size);
}

__attribute__((format(printf, 3, 4))) static void refuse(rpc_call *call, rpc_status status,
                                                         const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rpc_call_finish(call, status, text, NULL, 0);
}

/* A completed proof; the bytes are the caller's to keep until it was encoded. */
static await_proof_response completed(wire_view id, uint64_t sum, uint8_t proof[PROOF_SIZE]) {
    for (size_t i = 0; i < PROOF_SIZE; i++) proof[i] = (uint8_t)(sum >> (i % 8 * 8));
    return (await_proof_response){
        .job_id = id, .status = PROOF_STATUS_COMPLETED, .proof = {proof, PROOF_SIZE}, .total_ms = 1};
}

static void answer_prove(rpc_call *call, const submit_proof_request *r) {
    uint8_t proof[PROOF_SIZE];
    prove_response out = {.has_result = true, .result = completed(r->request_id, sum_of(r), proof)};
    answer(call, &prove_response_schema, &out);
}

static bool is_valid(rpc_call *call, const submit_proof_request *r) {
    if (r->proof_kind >= PROOF_KIND_POREP_SEAL_COMMIT && r->proof_kind <= PROOF_KIND_WINNING_POST)
        return true;
    refuse(call, RPC_INVALID_ARGUMENT, "invalid proof_kind: %d", r->proof_kind);
    return false;
}

static void prove(echo *e, rpc_call *call, const prove_request *r) {
    if (!r->has_submit) {
        refuse(call, RPC_INVALID_ARGUMENT, "missing submit field");
        return;
    }
    if (!is_valid(call, &r->submit)) return;
    wire_view id = r->submit.request_id;
    bool slow = id.size >= 5 && memcmp(id.data, "slow-", 5) == 0;
    pthread_mutex_lock(&e->lock);
    slow = slow && e->slow_count < MAX_JOBS;
    if (slow) e->slow[e->slow_count++] = (slow_call){call, clock_seconds() + SLOW};
    pthread_mutex_unlock(&e->lock);
    if (!slow) answer_prove(call, &r->submit);
}

static void submit(echo *e, rpc_call *call, const submit_proof_request *r) {
    if (!is_valid(call, r)) return;
    if (e->id_count < MAX_JOBS) {
        e->sums[e->id_count] = sum_of(r);
        e->ids[e->id_count] =
            strndup(r->request_id.data ? (const char *)r->request_id.data : "", r->request_id.size);
        if (e->ids[e->id_count]) e->id_count++;
    }
    submit_proof_response out = {.job_id = r->request_id};
    answer(call, &submit_proof_response_schema, &out);
}

static void await(echo *e, rpc_call *call, const await_proof_request *r) {
    for (size_t i = 0; i < e->id_count; i++) {
        if (wire_equal(wire_text(e->ids[i]), r->job_id)) {
            uint8_t proof[PROOF_SIZE];
            await_proof_response out = completed(r->job_id, e->sums[i], proof);
            answer(call, &await_proof_response_schema, &out);
            return;
        }
    }
    refuse(call, RPC_NOT_FOUND, "job not found: %.*s", (int)r->job_id.size, (const char *)r->job_id.data);
}

static void get_status(echo *e, rpc_call *call) {
    pthread_mutex_lock(&e->lock);
    queue_status queue = {.proof_kind = wire_text("porep"), .in_progress = (uint32_t)e->slow_count};
    pthread_mutex_unlock(&e->lock);
    get_status_response out = {.queues = {&queue, 1}};
    answer(call, &get_status_response_schema, &out);
}

static void answer_decoded(echo *e, rpc_call *call, size_t method, const void *request) {
    cancel_proof_response not_running = {.was_running = false};
    evict_srs_response not_loaded = {.was_loaded = false};
    get_metrics_response metrics = {.prometheus_text = wire_text("cuzk_up 1\n")};
    switch (method) {
    case METHOD_PROVE:
        prove(e, call, request);
        break;
    case METHOD_SUBMIT_PROOF:
        submit(e, call, request);
        break;
    case METHOD_AWAIT_PROOF:
        await(e, call, request);
        break;
    case METHOD_CANCEL_PROOF:
        answer(call, &cancel_proof_response_schema, &not_running);
        break;
    case METHOD_GET_STATUS:
        get_status(e, call);
        break;
    case METHOD_GET_METRICS:
        answer(call, &get_metrics_response_schema, &metrics);
        break;
    case METHOD_PRELOAD_SRS: {
        wire_view id = ((const preload_srs_request *)request)->circuit_id;
        refuse(call, RPC_INTERNAL, "unknown circuit ID: %.*s", (int)id.size, (const char *)id.data);
        break;
    }
    default:
        answer(call, &evict_srs_response_schema, &not_loaded);
    }
}

static void handle(void *ctx, rpc_call *call) {
    size_t method = rpc_call_method(call);
    const schema *s = proving_methods[method].request;
    union {
        prove_request prove;
        submit_proof_request submit;
    } request;
    cuzk_error err;
    if (schema_decode(s, &request, rpc_call_body(call), &err) != CUZK_OK) {
        refuse(call, RPC_INTERNAL, "%.200s", err.message);
    } else {
        answer_decoded(ctx, call, method, &request);
    }
    schema_free(s, &request);
}

static bool finish_one_slow(echo *e) {
    pthread_mutex_lock(&e->lock);
    rpc_call *call = NULL;
    for (size_t i = 0; i < e->slow_count && !call; i++) {
        if (e->slow[i].due <= clock_seconds() || rpc_call_is_cancelled(e->slow[i].call)) {
            call = e->slow[i].call;
            e->slow[i] = e->slow[--e->slow_count];
        }
    }
    pthread_mutex_unlock(&e->lock);
    if (!call) return false;
    prove_request r;
    if (schema_decode(&prove_request_schema, &r, rpc_call_body(call), NULL) == CUZK_OK) {
        answer_prove(call, &r.submit);
    } else {
        refuse(call, RPC_RESOURCE_EXHAUSTED, "out of memory");
    }
    schema_free(&prove_request_schema, &r);
    return true;
}

static void *finish_slow(void *ctx) {
    echo *e = ctx;
    for (bool stopping = false; !stopping;) {
        while (finish_one_slow(e)) {
        }
        usleep(2000);
        pthread_mutex_lock(&e->lock);
        stopping = e->stopping && !e->slow_count;
        pthread_mutex_unlock(&e->lock);
    }
    return NULL;
}

static int serve(rpc_server *server, int count, char **addresses) {
    cuzk_error err;
    for (int i = 0; i < count; i++) {
        if (rpc_server_listen(server, addresses[i], &err) != CUZK_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        printf("%s\n", rpc_server_address(server, (size_t)i));
    }
    if (rpc_server_start(server, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
    rpc_server_drain(server, 10);
    return rpc_server_wait(server, 20) ? 0 : 1;
}

int main(int argc, char **argv) {
    static echo e = {.lock = PTHREAD_MUTEX_INITIALIZER};
    if (argc < 3) {
        fprintf(stderr, "usage: echo_server LIMIT ADDRESS...\n");
        return 2;
    }
    rpc_handlers handlers = {.ctx = &e, .handle = handle};
    rpc_options options = {.max_message_bytes = strtoull(argv[1], NULL, 10)};
    rpc_server *server;
    cuzk_error err;
    if (rpc_server_create(&server, &proving_service, &handlers, &options, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, finish_slow, &e) != 0) return 1;
    int status = serve(server, argc - 2, argv + 2);
    rpc_server_destroy(server);
    pthread_mutex_lock(&e.lock);
    e.stopping = true;
    pthread_mutex_unlock(&e.lock);
    pthread_join(thread, NULL);
    while (e.id_count) free(e.ids[--e.id_count]);
    return status;
}
