/*
 * The server's side of a connection, without sockets. The input is either the connection's bytes as they are,
 * or a list of steps: frames with canned or raw headers, messages whole and in pieces, resets, time that
 * passes, handlers that finish, a drain. Afterwards nothing may be left: no call, no byte held, and each
 * admitted call was either abandoned or released.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "base/mem.h"
#include "rpc/messages.h"
#include "rpc/session.h"

#include <string.h>

#define MAX_WAITING 256

typedef struct handler_state {
    rpc_call *waiting[MAX_WAITING];
    size_t count;
    bool later; /* handlers keep calls instead of finishing them */
    unsigned admitted, abandoned, handled, released;
} handler_state;

static void admit(void *ctx, rpc_call *call, uint64_t size, rpc_refusal *out) {
    handler_state *state = ctx;
    if (size != RPC_SIZE_UNKNOWN && size > 1000) {
        out->status = RPC_RESOURCE_EXHAUSTED;
        out->retry_ms = 7;
        return;
    }
    (void)call;
    state->admitted++;
}

static void sized(void *ctx, rpc_call *call, uint64_t size, rpc_refusal *out) {
    (void)ctx;
    (void)call;
    if (size == 13) out->status = RPC_INVALID_ARGUMENT;
}

static void abandoned(void *ctx, rpc_call *call) {
    (void)call;
    ((handler_state *)ctx)->abandoned++;
}

static void finish(rpc_call *call) {
    wire_view body = rpc_call_body(call);
    const schema *s = proving_methods[rpc_call_method(call)].request;
    union {
        submit_proof_request submit;
        prove_request prove;
    } request;
    cuzk_error err;
    if (schema_decode(s, &request, body, &err) == CUZK_OK) {
        uint8_t *copy = malloc(body.size + 1);
        FUZZ_CHECK(copy);
        if (body.size) memcpy(copy, body.data, body.size);
        rpc_call_finish(call, RPC_OK, NULL, copy, body.size);
    } else {
        rpc_call_finish(call, RPC_INVALID_ARGUMENT, err.message, NULL, 0);
    }
    schema_free(s, &request);
}

static void handle(void *ctx, rpc_call *call) {
    handler_state *state = ctx;
    state->handled++;
    if (state->later && state->count < MAX_WAITING) {
        state->waiting[state->count++] = call;
    } else {
        finish(call);
    }
}

static void released(void *ctx, rpc_call *call) {
    (void)call;
    ((handler_state *)ctx)->released++;
}

static void finish_waiting(handler_state *state) {
    while (state->count) finish(state->waiting[--state->count]);
}

static void nothing(void *ctx) {
    (void)ctx;
}

/* ---- A list of steps as bytes for the session ---- */

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint8_t next(input *in) {
    return in->at < in->end ? *in->at++ : 0;
}
static wire_view take(input *in, size_t size) {
    size_t left = (size_t)(in->end - in->at);
    wire_view v = {in->at, size < left ? size : left};
    in->at += v.size;
    return v;
}

static void put_frame(wire_buffer *b, uint8_t type, uint8_t flags, uint32_t stream, const uint8_t *payload,
                      size_t size) {
    uint8_t head[9] = {
        (uint8_t)(size >> 16),   (uint8_t)(size >> 8),    (uint8_t)size,          type,           flags,
        (uint8_t)(stream >> 24), (uint8_t)(stream >> 16), (uint8_t)(stream >> 8), (uint8_t)stream};
    wire_put(b, head, 9);
    wire_put(b, payload, size);
}

/* HPACK: a literal that is not indexed. */
static void put_header(wire_buffer *b, const char *name, const char *value) {
    size_t sizes[2] = {strlen(name), strlen(value)};
    const char *texts[2] = {name, value};
    wire_put(b, "", 1);
    for (int i = 0; i < 2; i++) {
        FUZZ_CHECK(sizes[i] < 127);
        uint8_t size = (uint8_t)sizes[i];
        wire_put(b, &size, 1);
        wire_put(b, texts[i], sizes[i]);
    }
}

static const char *const other_paths[] = {
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/cuzk.v1.ProvingEngine/Missing",
};

static void put_request(wire_buffer *b, uint32_t stream, uint8_t which, uint8_t bits) {
    wire_buffer headers = {0};
    put_header(&headers, ":method", bits & 1 ? "GET" : "POST");
    put_header(&headers, ":scheme", "http");
    put_header(&headers, ":path",
               which % 12 < METHOD_COUNT ? proving_methods[which % 12].path
                                         : other_paths[which % 12 - METHOD_COUNT]);
    put_header(&headers, ":authority", "localhost");
    put_header(&headers, "content-type", bits & 2 ? "text/plain" : "application/grpc+proto");
    if (bits & 4) put_header(&headers, "grpc-timeout", bits & 8 ? "1n" : "10S");
    if (bits & 16) put_header(&headers, "grpc-encoding", "gzip");
    if (bits & 32) put_header(&headers, "content-length", bits & 64 ? "9" : "9999");
    put_frame(b, 1, (uint8_t)(4 | (bits >> 7)), stream, headers.data, headers.size);
    wire_buffer_free(&headers);
}

static void feed(rpc_session *s, wire_buffer *b, bool *alive) {
    if (*alive && b->size) *alive = session_receive(s, b->data, b->size);
    b->size = 0;
}

static void drain_output(rpc_session *s, size_t most) {
    const uint8_t *data;
    for (ptrdiff_t n; most > 0 && (n = session_produce(s, &data)) > 0; most--) {
    }
}

static void step(rpc_core *core, rpc_session *s, handler_state *state, input *in, uint32_t *newest,
                 bool *alive) {
    wire_buffer b = {0};
    uint8_t op = next(in), flags = next(in);
    uint32_t stream = 2 * (flags >> 4) < *newest ? *newest - 2 * (flags >> 4) : *newest;
    switch (op % 10) {
    case 0:
        *newest += 2;
        put_request(&b, *newest, next(in), flags);
        break;
    case 1: { /* a message, whole */
        wire_view bytes = take(in, next(in));
        wire_buffer message = {0};
        uint8_t prefix[5] = {flags & 2 ? 1 : 0, 0, 0, 0, (uint8_t)bytes.size};
        wire_put(&message, prefix, 5);
        wire_put(&message, bytes.data, bytes.size);
        put_frame(&b, 0, flags & 1, stream, message.data, message.size);
        wire_buffer_free(&message);
        break;
    }
    case 2: { /* bytes of an upload */
        wire_view bytes = take(in, next(in));
        put_frame(&b, 0, flags & 1, stream, bytes.data, bytes.size);
        break;
    }
    case 3: { /* any frame */
        uint8_t type = next(in);
        wire_view bytes = take(in, next(in));
        put_frame(&b, type, flags, stream, bytes.data, bytes.size);
        break;
    }
    case 4:
        put_frame(&b, 3, 0, stream, (const uint8_t[]){0, 0, 0, 8}, 4);
        break;
    case 5:
        state->later = flags & 1;
        if (flags & 2) finish_waiting(state);
        core_run_finished(core);
        break;
    case 6:
        if (flags & 1) core->draining = true;
        if (flags & 2) session_drain(s);
        break;
    case 7:
        timers_run(&core->timers, clock_seconds());
        break;
    case 8:
        drain_output(s, flags);
        break;
    case 9: { /* raw bytes */
        wire_view bytes = take(in, flags);
        wire_put(&b, bytes.data, bytes.size);
        break;
    }
    }
    FUZZ_CHECK(!b.failed);
    feed(s, &b, alive);
    wire_buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    uint64_t memory = mem_in_use();
    handler_state state = {.count = 0};
    rpc_handlers handlers = {.ctx = &state,
                             .admit = admit,
                             .sized = sized,
                             .abandoned = abandoned,
                             .handle = handle,
                             .released = released};
    rpc_options options = {.max_message_bytes = 1 << 20, .max_held_bytes = 3 << 20, .upload_timeout = 1e-9};
    rpc_core core;
    rpc_session *s;
    FUZZ_CHECK(core_init(&core, &proving_service, &handlers, &options, NULL) == CUZK_OK);
    FUZZ_CHECK(session_create(&s, &core, "fuzz", nothing, NULL, NULL) == CUZK_OK);
    input in = {data + 1, data + size};
    bool alive = true;
    if (data[0] & 1) {
        while (in.at < in.end && alive) {
            wire_view piece = take(&in, 1 + (size_t)(data[0] >> 1));
            alive = session_receive(s, piece.data, piece.size);
            drain_output(s, 100);
        }
    } else {
        uint32_t newest = (uint32_t)-1;
        wire_buffer b = {0};
        wire_put(&b, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
        put_frame(&b, 4, 0, 0, NULL, 0);
        feed(s, &b, &alive);
        wire_buffer_free(&b);
        while (in.at < in.end && alive) step(&core, s, &state, &in, &newest, &alive);
    }
    core_run_finished(&core);
    drain_output(s, 1000);
    (void)session_is_over(s);
    session_destroy(s);
    finish_waiting(&state);
    core_run_finished(&core);
    FUZZ_CHECK(core.handed == 0 && core.counters.calls == 0 && core.timers.count == 0);
    FUZZ_CHECK(budget_held(core.budget) == 0 && mem_in_use() == memory);
    FUZZ_CHECK(state.released == state.handled && state.admitted == state.abandoned + state.released);
    core_destroy(&core);
    return 0;
}
