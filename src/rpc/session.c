#include "rpc/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A full table of streams makes clients queue, status queries behind long proofs: it must not fill. */
#define MAX_STREAMS       4096u
#define STREAM_WINDOW     (1u << 20)
#define CONNECTION_WINDOW (4 << 20)
#define HEADER_LIST_SIZE  (16u << 10)
/* Streams that a client may reset: so many at once, and then so many a second. Cancelling costs us little,
 * and a client that gives up thousands of waiting calls is no attacker. */
#define RESET_BURST 20000
#define RESET_RATE  1000

/* ---- nghttp2's events ---- */

static rpc_call *call_of_stream(nghttp2_session *h2, int32_t stream) {
    return nghttp2_session_get_stream_user_data(h2, stream);
}

static int on_begin_headers(nghttp2_session *h2, const nghttp2_frame *frame, void *ctx) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    rpc_call *c = call_begin(ctx, frame->hd.stream_id);
    if (!c) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return nghttp2_session_set_stream_user_data(h2, frame->hd.stream_id, c);
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t value_size, uint8_t flags, void *ctx) {
    (void)flags;
    (void)ctx;
    rpc_call *c = call_of_stream(h2, frame->hd.stream_id);
    if (c && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        call_header(c, (const char *)name, name_size, (const char *)value, value_size);
    }
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream, const uint8_t *data, size_t size,
                   void *ctx) {
    (void)flags;
    (void)ctx;
    rpc_call *c = call_of_stream(h2, stream);
    if (c) call_receive(c, data, size);
    return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *ctx) {
    rpc_session *s = ctx;
    rpc_call *c = frame->hd.stream_id ? call_of_stream(h2, frame->hd.stream_id) : NULL;
    switch (frame->hd.type) {
    case NGHTTP2_SETTINGS:
        s->greeted = true;
        break;
    case NGHTTP2_PING:
        /* Our ping of session_drain came back: what the client sent before it saw our notice is here. */
        if (s->draining && !s->goodbye_sent && frame->hd.flags & NGHTTP2_FLAG_ACK) {
            s->goodbye_sent = true;
            nghttp2_submit_goaway(h2, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h2),
                                  NGHTTP2_NO_ERROR, NULL, 0);
        }
        break;
    case NGHTTP2_HEADERS:
        if (c && frame->headers.cat == NGHTTP2_HCAT_REQUEST) call_headers_end(c);
        if (c && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) call_upload_end(c);
        break;
    case NGHTTP2_DATA:
        if (c && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) call_upload_end(c);
        break;
    }
    return 0;
}

/* An answer that came before the upload's end: tell the client to stop, but only after the trailers are out,
 * which a reset would discard. */
static int on_sent(nghttp2_session *h2, const nghttp2_frame *frame, void *ctx) {
    (void)ctx;
    if (frame->hd.type != NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    rpc_call *c = call_of_stream(h2, frame->hd.stream_id);
    if (c && !c->uploaded) {
        nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
}

static int on_stream_close(nghttp2_session *h2, int32_t stream, uint32_t error_code, void *ctx) {
    (void)error_code;
    (void)ctx;
    rpc_call *c = call_of_stream(h2, stream);
    if (c) call_stream_closed(c);
    return 0;
}

/* ---- Core ---- */

static rpc_options with_defaults(const rpc_options *given) {
    rpc_options o = given ? *given : (rpc_options){0};
    if (!o.max_message_bytes) o.max_message_bytes = 256u << 20;
    if (!o.max_held_bytes) o.max_held_bytes = 1u << 30;
    if (!(o.upload_timeout > 0)) o.upload_timeout = 60;
    if (!o.max_connections) o.max_connections = 16384;
    return o;
}

static bool make_h2_objects(rpc_core *c) {
    if (nghttp2_option_new(&c->h2_options) != 0 || nghttp2_session_callbacks_new(&c->callbacks) != 0) {
        return false;
    }
    nghttp2_option_set_stream_reset_rate_limit(c->h2_options, RESET_BURST, RESET_RATE);
    nghttp2_option_set_no_closed_streams(c->h2_options, 1);
    nghttp2_session_callbacks_set_on_begin_headers_callback(c->callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(c->callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c->callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c->callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(c->callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(c->callbacks, on_stream_close);
    return true;
}

cuzk_code core_init(rpc_core *c, const rpc_service *service, const rpc_handlers *handlers,
                    const rpc_options *options, cuzk_error *err) {
    *c = (rpc_core){.service = service, .handlers = *handlers, .options = with_defaults(options)};
    c->serving = true;
    pthread_mutex_init(&c->lock, NULL);
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->wake_fd < 0) {
        cuzk_code code = error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot make an eventfd");
        core_destroy(c);
        return code;
    }
    c->budget = budget_create(c->options.max_held_bytes);
    if (!c->budget || !make_h2_objects(c)) {
        core_destroy(c);
        return error_no_memory(err, sizeof *c, "the gRPC server");
    }
    return CUZK_OK;
}

void core_destroy(rpc_core *c) {
    budget_release(c->budget);
    timers_free(&c->timers);
    nghttp2_option_del(c->h2_options);
    nghttp2_session_callbacks_del(c->callbacks);
    if (c->wake_fd >= 0) close(c->wake_fd);
    pthread_mutex_destroy(&c->lock);
}

void core_run_finished(rpc_core *c) {
    pthread_mutex_lock(&c->lock);
    rpc_call *newest = c->finished;
    c->finished = NULL;
    pthread_mutex_unlock(&c->lock);
    rpc_call *oldest = NULL;
    while (newest) { /* first come first served */
        rpc_call *next = newest->next_finished;
        newest->next_finished = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        rpc_call *next = oldest->next_finished;
        call_finished(oldest);
        oldest = next;
    }
}

/* ---- Session ---- */

cuzk_code session_create(rpc_session **out, rpc_core *core, const char *peer, void (*on_work)(void *),
                         void *ctx, cuzk_error *err) {
    rpc_session *s = calloc(1, sizeof *s);
    if (!s) return error_no_memory(err, sizeof *s, "a connection");
    *s = (rpc_session){.core = core, .on_work = on_work, .ctx = ctx};
    snprintf(s->peer, sizeof s->peer, "%s", peer);
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MAX_STREAMS},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_SIZE},
    };
    if (nghttp2_session_server_new2(&s->h2, core->callbacks, s, core->h2_options) != 0 ||
        nghttp2_submit_settings(s->h2, NGHTTP2_FLAG_NONE, settings, 3) != 0 ||
        nghttp2_session_set_local_window_size(s->h2, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) != 0) {
        nghttp2_session_del(s->h2);
        free(s);
        return error_no_memory(err, sizeof *s, "a connection");
    }
    atomic_fetch_add(&core->counters.connections, 1);
    atomic_fetch_add(&core->counters.connections_total, 1);
    *out = s;
    return CUZK_OK;
}

void session_destroy(rpc_session *s) {
    while (s->calls) call_stream_closed(s->calls);
    nghttp2_session_del(s->h2);
    atomic_fetch_sub(&s->core->counters.connections, 1);
    free(s);
}

bool session_receive(rpc_session *s, const uint8_t *data, size_t size) {
    atomic_fetch_add(&s->core->counters.bytes_received_total, size);
    return nghttp2_session_mem_recv(s->h2, data, size) == (ssize_t)size;
}

ptrdiff_t session_produce(rpc_session *s, const uint8_t **data) {
    return nghttp2_session_mem_send(s->h2, data);
}

bool session_is_greeted(const rpc_session *s) {
    return s->greeted;
}

bool session_is_over(const rpc_session *s) {
    if (nghttp2_session_want_write(s->h2)) return false;
    return !nghttp2_session_want_read(s->h2) || (s->goodbye_sent && !s->calls);
}

void session_drain(rpc_session *s) {
    if (s->draining) return;
    s->draining = true;
    nghttp2_submit_shutdown_notice(s->h2);
    nghttp2_submit_ping(s->h2, NGHTTP2_FLAG_NONE, NULL);
    s->on_work(s->ctx);
}
