#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rpc_fixture.h"

#include <stdio.h>
#include <unistd.h>

uint64_t fixture_sum(wire_view bytes) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes.size; i++) sum = (sum ^ bytes.data[i]) * 0x100000001b3u;
    return sum;
}

void fixture_sleep_ms(unsigned ms) {
    usleep(ms * 1000);
}

static void finish_with(rpc_call *call, const void *bytes, size_t size) {
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    rpc_call_finish(call, RPC_OK, NULL, copy, size);
}

static void admit(void *ctx, rpc_call *call, uint64_t size, rpc_refusal *out) {
    fixture *f = ctx;
    f->last_admit_size = size;
    if (rpc_call_method(call) == METHOD_PRELOAD_SRS) {
        out->status = RPC_RESOURCE_EXHAUSTED;
        out->retry_ms = 1500;
        snprintf(out->message, sizeof out->message, "no slot is free");
        return;
    }
    f->admitted++;
    rpc_call_set_data(call, f);
}

static void sized(void *ctx, rpc_call *call, uint64_t size, rpc_refusal *out) {
    (void)ctx;
    if (rpc_call_method(call) == METHOD_EVICT_SRS && size > 100) {
        out->status = RPC_RESOURCE_EXHAUSTED;
        snprintf(out->message, sizeof out->message, "%llu bytes are too many", (unsigned long long)size);
    }
}

static void abandoned(void *ctx, rpc_call *call) {
    fixture *f = ctx;
    if (rpc_call_data(call) == f) f->abandoned++;
}

static void handle(void *ctx, rpc_call *call) {
    fixture *f = ctx;
    f->handled++;
    f->last_size = rpc_call_body(call).size;
    pthread_mutex_lock(&f->lock);
    switch (rpc_call_method(call)) {
    case METHOD_PROVE:
        f->jobs[f->job_count++] = call;
        pthread_cond_signal(&f->changed);
        break;
    case METHOD_AWAIT_PROOF:
        f->waiting[f->waiting_count++] = call;
        break;
    case METHOD_SUBMIT_PROOF:
        rpc_call_finish(call, RPC_INVALID_ARGUMENT, BAD_TEXT, NULL, 0);
        break;
    case METHOD_GET_METRICS: {
        uint8_t *bytes = calloc(1, 3 << 20);
        rpc_call_finish(call, RPC_OK, NULL, bytes, 3 << 20);
        break;
    }
    case METHOD_CANCEL_PROOF:
        f->bodies[f->body_count++] = rpc_call_take_body(call);
        rpc_call_finish(call, RPC_OK, NULL, NULL, 0);
        break;
    default:
        finish_with(call, "abc", 3);
    }
    pthread_mutex_unlock(&f->lock);
}

/* The worker finishes it, as an engine would. */
static void cancelled(void *ctx, rpc_call *call, rpc_status why) {
    fixture *f = ctx;
    f->cancelled++;
    if (why == RPC_DEADLINE_EXCEEDED) f->deadline_passed++;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->waiting_count; i++) {
        if (f->waiting[i] == call) {
            f->waiting[i] = f->waiting[--f->waiting_count];
            f->jobs[f->job_count++] = call;
            pthread_cond_signal(&f->changed);
            break;
        }
    }
    pthread_mutex_unlock(&f->lock);
}

static void released(void *ctx, rpc_call *call) {
    fixture *f = ctx;
    if (rpc_call_data(call) == f) f->released++;
}

static void *work(void *ctx) {
    fixture *f = ctx;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->job_count && !f->stopping) pthread_cond_wait(&f->changed, &f->lock);
        if (!f->job_count) break;
        rpc_call *call = f->jobs[--f->job_count];
        pthread_mutex_unlock(&f->lock);
        if (rpc_call_is_cancelled(call)) {
            rpc_call_finish(call, RPC_CANCELLED, "cancelled", NULL, 0);
        } else {
            wire_view body = rpc_call_body(call);
            uint64_t answer[2] = {body.size, fixture_sum(body)};
            finish_with(call, answer, sizeof answer);
        }
        pthread_mutex_lock(&f->lock);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

void fixture_start(fixture *f, const char *address, const rpc_options *options) {
    if (f->server) fail_msg("the test before has left its server running");
    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    rpc_handlers handlers = {.ctx = f,
                             .admit = admit,
                             .sized = sized,
                             .abandoned = abandoned,
                             .handle = handle,
                             .cancelled = cancelled,
                             .released = released};
    cuzk_error err = {.message = ""};
    assert_int_equal(rpc_server_create(&f->server, &proving_service, &handlers, options, &err), CUZK_OK);
    if (rpc_server_listen(f->server, address ? address : "127.0.0.1:0", &err) != CUZK_OK)
        fail_msg("%s", err.message);
    f->address = rpc_server_address(f->server, 0);
    assert_int_equal(rpc_server_start(f->server, &err), CUZK_OK);
    assert_int_equal(pthread_create(&f->worker, NULL, work, f), 0);
}

void fixture_release_all(fixture *f) {
    pthread_mutex_lock(&f->lock);
    while (f->waiting_count) finish_with(f->waiting[--f->waiting_count], "done", 4);
    pthread_mutex_unlock(&f->lock);
}

void fixture_free_bodies(fixture *f) {
    pthread_mutex_lock(&f->lock);
    while (f->body_count) rpc_body_free(f->bodies[--f->body_count]);
    pthread_mutex_unlock(&f->lock);
}

void fixture_stop(fixture *f) {
    rpc_server_destroy(f->server);
    f->server = NULL;
    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->worker, NULL);
    fixture_free_bodies(f);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    assert_int_equal(f->released, f->handled);
    assert_int_equal(f->admitted, f->abandoned + f->released);
}

rpc_client *fixture_client(const fixture *f) {
    rpc_client *c;
    cuzk_error err;
    assert_int_equal(rpc_client_create(&c, f->address, &err), CUZK_OK);
    return c;
}

void expect_call(rpc_client *c, proving_method method, wire_view request, double timeout, rpc_status status,
                 const char *message_part) {
    rpc_reply reply;
    rpc_client_call(c, proving_methods[method].path, request, timeout, &reply);
    if (reply.status != status) {
        fail_msg("%s: %s (%s) instead of %s", proving_methods[method].name, rpc_status_name(reply.status),
                 reply.message, rpc_status_name(status));
    }
    if (message_part && !strstr(reply.message, message_part)) {
        fail_msg("\"%s\" lacks \"%s\"", reply.message, message_part);
    }
    rpc_reply_free(&reply);
}

void expect_prove(rpc_client *c, wire_view request) {
    rpc_reply reply;
    rpc_client_call(c, proving_methods[METHOD_PROVE].path, request, 0, &reply);
    if (reply.status != RPC_OK) fail_msg("%s: %s", rpc_status_name(reply.status), reply.message);
    uint64_t wanted[2] = {request.size, fixture_sum(request)};
    assert_int_equal(reply.size, sizeof wanted);
    assert_memory_equal(reply.data, wanted, sizeof wanted);
    rpc_reply_free(&reply);
}
