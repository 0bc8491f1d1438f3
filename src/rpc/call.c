/*
 * A call from its headers to its trailers. The stream and, from handle to released, the handler hold it; it
 * is freed when both have let go, always on the server's thread. Fields are the server thread's alone, but
 * for the `result` ones, which a handler's thread fills and core->lock hands over.
 */
#include "rpc/call.h"

#include "base/clock.h"
#include "rpc/builtin.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADER_LIMIT   ((size_t)16 << 10) /* bytes of all headers of a request, as HTTP/2 counts them */
#define MESSAGE_LIMIT  ((size_t)4 << 10)  /* of an error's text */
#define BUILTIN_LIMIT  ((size_t)64 << 10) /* request of a service of ours */
#define UNREAD_LIMIT   ((size_t)1 << 20)  /* answers of a stream that the client does not read */
#define PROGRESS_BYTES ((size_t)64 << 10) /* what counts as progress of an upload */

size_t rpc_call_method(const rpc_call *call) {
    return call->method;
}
const char *rpc_call_peer(const rpc_call *call) {
    return call->peer;
}
double rpc_call_deadline(const rpc_call *call) {
    return call->deadline;
}
bool rpc_call_is_cancelled(const rpc_call *call) {
    return call->is_cancelled;
}
void rpc_call_set_data(rpc_call *call, void *data) {
    call->data = data;
}
void *rpc_call_data(const rpc_call *call) {
    return call->data;
}
wire_view rpc_call_body(const rpc_call *call) {
    return call->body ? rpc_body_view(call->body) : (wire_view){NULL, 0};
}
rpc_body *rpc_call_take_body(rpc_call *call) {
    rpc_body *body = call->body;
    call->body = NULL;
    return body;
}

/* Free the call if neither stream nor handler holds it. */
static void let_go(rpc_call *c) {
    if (c->session || c->handed) return;
    timer_clear(&c->core->timers, &c->timer);
    rpc_body_free(c->body);
    wire_buffer_free(&c->out);
    free(c->message);
    atomic_fetch_sub(&c->core->counters.calls, 1);
    free(c);
}

/* ---- The answer ---- */

/* Bytes of the answer, then the trailers. */
static ssize_t read_answer(nghttp2_session *h2, int32_t stream, uint8_t *buffer, size_t room, uint32_t *flags,
                           nghttp2_data_source *source, void *ctx) {
    (void)stream;
    (void)ctx;
    rpc_call *c = source->ptr;
    size_t left = c->out.size - c->sent, n = left < room ? left : room;
    if (n) memcpy(buffer, c->out.data + c->sent, n);
    c->sent += n;
    if (n < left) return (ssize_t)n;
    if (!c->ending) {
        if (n == 0) return NGHTTP2_ERR_DEFERRED;
        c->out.size = c->sent = 0;
        return (ssize_t)n;
    }
    char status[16];
    snprintf(status, sizeof status, "%d", (int)c->status);
    nghttp2_nv trailers[2] = {
        {(uint8_t *)"grpc-status", (uint8_t *)status, 11, strlen(status), NGHTTP2_NV_FLAG_NONE},
        {(uint8_t *)"grpc-message", (uint8_t *)c->message, 12, c->message ? strlen(c->message) : 0,
         NGHTTP2_NV_FLAG_NONE},
    };
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    if (nghttp2_submit_trailer(h2, c->stream, trailers, c->message ? 2 : 1) != 0) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return (ssize_t)n;
}

static nghttp2_nv header(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static void submit(rpc_call *c, const nghttp2_nv *headers, size_t count, bool with_body) {
    nghttp2_data_provider provider = {.source.ptr = c, .read_callback = read_answer};
    if (nghttp2_submit_response(c->session->h2, c->stream, headers, count, with_body ? &provider : NULL) !=
        0) {
        nghttp2_submit_rst_stream(c->session->h2, NGHTTP2_FLAG_NONE, c->stream, NGHTTP2_INTERNAL_ERROR);
    }
    c->started = true;
    c->session->on_work(c->session->ctx);
}

/* Headers of an answer that has a body. */
static void start_answer(rpc_call *c) {
    nghttp2_nv headers[] = {header(":status", "200"), header("content-type", "application/grpc"),
                            header("grpc-accept-encoding", "identity")};
    submit(c, headers, 3, true);
}

/* Nothing of the upload is of use any more. */
static void drop_upload(rpc_call *c) {
    timer_clear(&c->core->timers, &c->timer);
    if (!c->handed) {
        rpc_body_free(c->body);
        c->body = NULL;
        if (c->admitted && c->core->handlers.abandoned) {
            c->core->handlers.abandoned(c->core->handlers.ctx, c);
        }
        c->admitted = false;
    }
}

/* End the call with an error. */
static void fail_text(rpc_call *c, rpc_status status, int64_t retry_ms, const char *text) {
    if (c->answered) return;
    c->answered = true;
    c->status = status;
    c->message = rpc_message_encode(text, MESSAGE_LIMIT);
    drop_upload(c);
    if (!c->session) return;
    if (c->started) { /* a stream of answers: the trailers come after what was said */
        c->ending = true;
        nghttp2_session_resume_data(c->session->h2, c->stream);
        c->session->on_work(c->session->ctx);
        return;
    }
    char number[16], pushback[24];
    snprintf(number, sizeof number, "%d", (int)status);
    snprintf(pushback, sizeof pushback, "%lld", (long long)retry_ms);
    nghttp2_nv headers[6] = {header(":status", "200"), header("content-type", "application/grpc"),
                             header("grpc-status", number), header("grpc-accept-encoding", "identity")};
    size_t count = 4;
    if (c->message) headers[count++] = header("grpc-message", c->message);
    if (retry_ms >= 0) headers[count++] = header("grpc-retry-pushback-ms", pushback);
    submit(c, headers, count, false);
}

__attribute__((format(printf, 3, 4))) static void fail(rpc_call *c, rpc_status status, const char *format,
                                                       ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail_text(c, status, -1, text);
}

/* The refusal of a callback or a limit; its hint is also said in words. */
static void refuse(rpc_call *c, const rpc_refusal *refusal) {
    char text[320];
    int64_t ms = refusal->retry_ms;
    if (ms >= 0) {
        snprintf(text, sizeof text, "%s; retry in %lld.%03d s", refusal->message, (long long)(ms / 1000),
                 (int)(ms % 1000));
    }
    atomic_fetch_add(&c->core->counters.refused_total, 1);
    fail_text(c, refusal->status, ms, ms >= 0 ? text : refusal->message);
}

/* Append a message with its prefix. */
static bool put_message(wire_buffer *out, const uint8_t *bytes, size_t size) {
    uint8_t prefix[5] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
                         (uint8_t)size};
    if (size > UINT32_MAX || !wire_reserve(out, size + 5)) return false;
    wire_put(out, prefix, 5);
    wire_put(out, bytes, size);
    return true;
}

static void answer(rpc_call *c, const uint8_t *bytes, size_t size) {
    if (!put_message(&c->out, bytes, size)) {
        wire_buffer_free(&c->out);
        fail(c, RPC_RESOURCE_EXHAUSTED, "no memory for an answer of %zu bytes", size);
        return;
    }
    c->answered = true;
    c->status = RPC_OK;
    c->ending = true;
    drop_upload(c);
    start_answer(c);
}

/* ---- Cancellation and time ---- */

static void cancel(rpc_call *c, rpc_status why) {
    atomic_fetch_add(&c->core->counters.cancelled_total, 1);
    c->is_cancelled = true;
    if (c->handed && c->core->handlers.cancelled) c->core->handlers.cancelled(c->core->handlers.ctx, c, why);
}

static rpc_call *call_of(rpc_timer *t) {
    return (rpc_call *)((char *)t - offsetof(rpc_call, timer));
}

static void on_timer(rpc_timer *t) {
    rpc_call *c = call_of(t);
    double now = clock_seconds();
    if (now >= c->deadline) {
        cancel(c, RPC_DEADLINE_EXCEEDED);
        fail(c, RPC_DEADLINE_EXCEEDED, "the deadline has passed");
        return;
    }
    if (!c->handed && now >= c->progress_due) {
        if (c->received - c->mark < PROGRESS_BYTES) {
            cancel(c, RPC_DEADLINE_EXCEEDED);
            fail(c, RPC_DEADLINE_EXCEEDED, "the upload made no progress for %g s",
                 c->core->options.upload_timeout);
            return;
        }
        c->mark = c->received;
        c->progress_due = now + c->core->options.upload_timeout;
    }
    double next = c->handed || c->deadline < c->progress_due ? c->deadline : c->progress_due;
    timer_set(&c->core->timers, t, next);
}

/* ---- The request's headers ---- */

rpc_call *call_begin(rpc_session *s, int32_t stream) {
    rpc_call *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (rpc_call){.core = s->core,
                    .session = s,
                    .next = s->calls,
                    .stream = stream,
                    .content_length = RPC_SIZE_UNKNOWN,
                    .deadline = INFINITY,
                    .retry_ms = -1,
                    .timer = {.fire = on_timer}};
    memcpy(c->peer, s->peer, sizeof c->peer);
    if (s->calls) s->calls->previous = c;
    s->calls = c;
    atomic_fetch_add(&s->core->counters.calls, 1);
    atomic_fetch_add(&s->core->counters.calls_total, 1);
    return c;
}

static bool is_name(const char *name, size_t size, const char *wanted) {
    return size == strlen(wanted) && memcmp(name, wanted, size) == 0;
}

static bool is_grpc_type(const char *value, size_t size) {
    size_t n = strlen("application/grpc");
    return size >= n && memcmp(value, "application/grpc", n) == 0 &&
           (size == n || value[n] == '+' || value[n] == ';');
}

void call_header(rpc_call *c, const char *name, size_t name_size, const char *value, size_t value_size) {
    c->header_bytes += name_size + value_size + 32;
    if (c->header_bytes > HEADER_LIMIT) return;
    if (is_name(name, name_size, ":path")) {
        /* Cut if need be: no method of ours has so long a name. */
        snprintf(c->path, sizeof c->path, "%.*s", (int)value_size, value);
    } else if (is_name(name, name_size, ":method")) {
        c->is_post = is_name(value, value_size, "POST");
    } else if (is_name(name, name_size, "content-type")) {
        c->is_grpc = is_grpc_type(value, value_size);
    } else if (is_name(name, name_size, "content-length") && value_size < 16) {
        /* nghttp2 has checked that these are digits, and checks the length against the data. */
        char text[16];
        memcpy(text, value, value_size);
        text[value_size] = 0;
        c->content_length = strtoull(text, NULL, 10);
    } else if (is_name(name, name_size, "grpc-timeout")) {
        double seconds;
        c->bad_timeout = !rpc_timeout_parse(&seconds, value, value_size);
        if (!c->bad_timeout) c->deadline = clock_seconds() + seconds;
    } else if (is_name(name, name_size, "grpc-encoding")) {
        c->is_compressed = !is_name(value, value_size, "identity");
    }
}

/* What the path names. */
static void find_method(rpc_call *c) {
    const rpc_service *service = c->core->service;
    if (strcmp(c->path, "/" HEALTH_SERVICE "/Check") == 0) {
        c->kind = CALL_HEALTH;
    } else if (strcmp(c->path, "/" REFLECTION_SERVICE "/ServerReflectionInfo") == 0 ||
               strcmp(c->path, "/" REFLECTION_ALPHA_SERVICE "/ServerReflectionInfo") == 0) {
        c->kind = CALL_REFLECTION;
    }
    size_t size = strlen(service->name);
    if (c->path[0] != '/' || strncmp(c->path + 1, service->name, size) != 0 || c->path[size + 1] != '/') {
        return;
    }
    for (size_t i = 0; i < service->method_count; i++) {
        if (strcmp(c->path + size + 2, service->methods[i]) == 0) {
            c->kind = CALL_METHOD;
            c->method = i;
        }
    }
}

/* Something that is no gRPC request. */
static void reject_http(rpc_call *c, const char *status) {
    nghttp2_nv headers[] = {header(":status", status), header("content-length", "0")};
    c->answered = true;
    submit(c, headers, 2, false);
}

static void watch_upload(rpc_call *c) {
    double now = clock_seconds();
    c->progress_due = now + c->core->options.upload_timeout;
    double next = c->deadline < c->progress_due ? c->deadline : c->progress_due;
    if (!timer_set(&c->core->timers, &c->timer, next)) {
        fail(c, RPC_RESOURCE_EXHAUSTED, "no memory for the call");
    }
}

static void admit(rpc_call *c) {
    uint64_t size = c->content_length;
    if (size != RPC_SIZE_UNKNOWN) size = size < 5 ? 0 : size - 5;
    rpc_refusal refusal = {.retry_ms = -1};
    rpc_handlers *handlers = &c->core->handlers;
    if (handlers->admit) handlers->admit(handlers->ctx, c, size, &refusal);
    c->admitted = refusal.status == RPC_OK;
    if (!c->admitted) refuse(c, &refusal);
}

void call_headers_end(rpc_call *c) {
    if (c->header_bytes > HEADER_LIMIT) {
        fail(c, RPC_RESOURCE_EXHAUSTED, "the request's headers are larger than %zu bytes", HEADER_LIMIT);
    } else if (!c->is_post) {
        reject_http(c, "405");
    } else if (!c->is_grpc) {
        reject_http(c, "415");
    } else if (c->bad_timeout) {
        fail(c, RPC_INVALID_ARGUMENT, "malformed grpc-timeout");
    } else if (c->session->draining) {
        fail(c, RPC_UNAVAILABLE, "the server is shutting down");
    } else {
        find_method(c);
        if (c->kind == CALL_UNKNOWN) {
            fail(c, RPC_UNIMPLEMENTED, "unknown method %.200s", c->path);
            return;
        }
        watch_upload(c);
        if (c->kind == CALL_METHOD && !c->answered) admit(c);
        if (c->kind == CALL_REFLECTION && !c->answered) start_answer(c);
    }
}

/* ---- The request's messages ---- */

static uint64_t message_limit(const rpc_call *c) {
    return c->kind == CALL_METHOD ? c->core->options.max_message_bytes : BUILTIN_LIMIT;
}

/* The prefix is in: check it and make room. */
static void begin_message(rpc_call *c) {
    size_t size =
        (size_t)c->prefix[1] << 24 | (size_t)c->prefix[2] << 16 | (size_t)c->prefix[3] << 8 | c->prefix[4];
    if (c->prefix[0] > 1 || (c->prefix[0] == 1 && !c->is_compressed)) {
        fail(c, RPC_INTERNAL, "malformed message: its flag is %d without a compression named", c->prefix[0]);
        return;
    }
    if (c->prefix[0] == 1) {
        fail(c, RPC_UNIMPLEMENTED, "compressed messages are not accepted");
        return;
    }
    rpc_refusal refusal = {.retry_ms = -1};
    if (size > message_limit(c)) {
        const char *setting = c->kind == CALL_METHOD ? c->core->options.max_message_setting : NULL;
        refusal.status = RPC_RESOURCE_EXHAUSTED;
        snprintf(refusal.message, sizeof refusal.message,
                 "the message has %zu bytes, the limit is %llu%s%s%s", size,
                 (unsigned long long)message_limit(c), setting ? " (" : "", setting ? setting : "",
                 setting ? ")" : "");
        refuse(c, &refusal);
        return;
    }
    cuzk_error err;
    if (body_create(&c->body, c->core->budget, size, &err) != CUZK_OK) {
        refusal.status = RPC_RESOURCE_EXHAUSTED;
        refusal.retry_ms = 1000;
        snprintf(refusal.message, sizeof refusal.message, "%.250s", err.message);
        refuse(c, &refusal);
        return;
    }
    const rpc_handlers *handlers = &c->core->handlers;
    if (c->kind == CALL_METHOD && handlers->sized) {
        handlers->sized(handlers->ctx, c, size, &refusal);
        if (refusal.status != RPC_OK) refuse(c, &refusal);
    }
}

/* A whole message of a stream is in. */
static void answer_reflection(rpc_call *c) {
    rpc_refusal refusal = {.retry_ms = -1};
    wire_buffer response = {0};
    builtin_reflection(c->core->service, rpc_body_view(c->body), &response, &refusal);
    rpc_body_free(c->body);
    c->body = NULL;
    c->prefix_size = 0;
    if (refusal.status == RPC_OK && (response.failed || c->out.size - c->sent > UNREAD_LIMIT ||
                                     !put_message(&c->out, response.data, response.size))) {
        refusal.status = RPC_RESOURCE_EXHAUSTED;
        snprintf(refusal.message, sizeof refusal.message, "too many answers are unread");
    }
    wire_buffer_free(&response);
    if (refusal.status != RPC_OK) {
        refuse(c, &refusal);
    } else {
        nghttp2_session_resume_data(c->session->h2, c->stream);
        c->session->on_work(c->session->ctx);
    }
}

void call_receive(rpc_call *c, const uint8_t *data, size_t size) {
    c->received += size;
    while (size > 0 && !c->answered) {
        if (c->complete) {
            fail(c, RPC_INTERNAL, "there is more after the request's message");
            return;
        }
        if (c->prefix_size < sizeof c->prefix) {
            size_t n = sizeof c->prefix - c->prefix_size;
            if (n > size) n = size;
            memcpy(c->prefix + c->prefix_size, data, n);
            c->prefix_size += n;
            data += n;
            size -= n;
            if (c->prefix_size == sizeof c->prefix) begin_message(c);
        } else {
            size_t n = body_missing(c->body);
            if (n > size) n = size;
            body_append(c->body, data, n);
            data += n;
            size -= n;
        }
        if (c->answered || !c->body || body_missing(c->body)) continue;
        if (c->kind == CALL_REFLECTION) {
            answer_reflection(c);
        } else {
            c->complete = true;
        }
    }
}

static void hand_over(rpc_call *c) {
    c->handed = true;
    c->admitted = false;
    c->core->handed++;
    timer_clear(&c->core->timers, &c->timer);
    if (isfinite(c->deadline) && !timer_set(&c->core->timers, &c->timer, c->deadline)) {
        /* Without memory for the timer the call just has no deadline here; the client still has it. */
        c->deadline = INFINITY;
    }
    c->core->handlers.handle(c->core->handlers.ctx, c);
}

static void check_health(rpc_call *c) {
    rpc_refusal refusal = {.retry_ms = -1};
    wire_buffer response = {0};
    bool serving = c->core->serving && !c->core->draining;
    builtin_health(c->core->service, serving, rpc_body_view(c->body), &response, &refusal);
    if (refusal.status != RPC_OK) {
        fail_text(c, refusal.status, -1, refusal.message);
    } else {
        answer(c, response.data, response.size);
    }
    wire_buffer_free(&response);
}

void call_upload_end(rpc_call *c) {
    c->uploaded = true;
    if (c->answered) return;
    if (c->kind == CALL_REFLECTION && c->prefix_size == 0) {
        c->answered = true;
        c->ending = true;
        drop_upload(c);
        nghttp2_session_resume_data(c->session->h2, c->stream);
        c->session->on_work(c->session->ctx);
    } else if (!c->complete) {
        fail(c, RPC_INTERNAL, "the request ended before its message was complete");
    } else if (c->kind == CALL_HEALTH) {
        check_health(c);
    } else {
        hand_over(c);
    }
}

/* ---- The end ---- */

void call_stream_closed(rpc_call *c) {
    rpc_session *s = c->session;
    if (c->previous) {
        c->previous->next = c->next;
    } else {
        s->calls = c->next;
    }
    if (c->next) c->next->previous = c->previous;
    c->previous = c->next = NULL;
    if (!c->answered) cancel(c, RPC_CANCELLED);
    c->answered = true;
    drop_upload(c);
    c->session = NULL;
    let_go(c);
}

void rpc_call_finish(rpc_call *call, rpc_status status, const char *message, uint8_t *bytes, size_t size) {
    rpc_core *core = call->core;
    call->result_status = status;
    call->result_message = message ? strdup(message) : NULL;
    call->result = bytes;
    call->result_size = size;
    pthread_mutex_lock(&core->lock);
    bool first = !core->finished;
    call->next_finished = core->finished;
    core->finished = call;
    if (first) {
        uint64_t one = 1;
        ssize_t written = write(core->wake_fd, &one, sizeof one);
        (void)written; /* fails only when the counter is full, which wakes just as well */
    }
    pthread_mutex_unlock(&core->lock);
}

void call_finished(rpc_call *c) {
    rpc_handlers *handlers = &c->core->handlers;
    if (!c->answered) {
        if (c->result_status == RPC_OK) {
            answer(c, c->result, c->result_size);
        } else {
            fail_text(c, c->result_status, -1, c->result_message ? c->result_message : "");
        }
    }
    free(c->result);
    free(c->result_message);
    if (handlers->released) handlers->released(handlers->ctx, c);
    rpc_body_free(c->body);
    c->body = NULL;
    c->handed = false;
    c->core->handed--;
    let_go(c);
}
