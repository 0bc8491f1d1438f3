#include "rpc/client.h"

#include "base/clock.h"
#include "rpc/address.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RECEIVE_SIZE      ((size_t)64 << 10)
#define STREAM_WINDOW     (1u << 20)
#define CONNECTION_WINDOW (4 << 20)

/* A call in progress. */
typedef struct exchange {
    rpc_client *client;
    rpc_reply *reply;
    int32_t stream;
    uint8_t prefix[5]; /* of the request */
    wire_view request;
    size_t sent;
    double deadline;

    bool done, has_status, is_answer; /* is_answer: HTTP 200 with gRPC's content type */
    char http_status[4];
    uint8_t answer_prefix[5];
    size_t answer_prefix_size, answer_size;
} exchange;

struct rpc_client {
    rpc_address address;
    char authority[280];
    uint64_t limit;
    nghttp2_session_callbacks *callbacks;
    nghttp2_session *session; /* NULL: not connected */
    int fd;
    int cancel_fd; /* eventfd */
    const uint8_t *unsent;
    size_t unsent_size;
    uint8_t *receive_buffer;
    exchange *current;
};

static void end(exchange *x, rpc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first end counts. */
static void end(exchange *x, rpc_status status, const char *format, ...) {
    if (x->done) return;
    va_list args;
    va_start(args, format);
    vsnprintf(x->reply->message, sizeof x->reply->message, format, args);
    va_end(args);
    x->reply->status = status;
    x->done = true;
}

/* ---- nghttp2's events ---- */

static exchange *exchange_of(void *ctx, int32_t stream) {
    exchange *x = ((rpc_client *)ctx)->current;
    return x && x->stream == stream && !x->done ? x : NULL;
}

static ssize_t read_request(nghttp2_session *h2, int32_t stream, uint8_t *buffer, size_t room,
                            uint32_t *flags, nghttp2_data_source *source, void *ctx) {
    (void)h2;
    (void)source;
    exchange *x = exchange_of(ctx, stream);
    if (!x) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* the request's bytes may be gone */
    size_t n = 0;
    if (x->sent < 5) {
        n = 5 - x->sent < room ? 5 - x->sent : room;
        memcpy(buffer, x->prefix + x->sent, n);
        x->sent += n;
    }
    size_t total = x->request.size + 5, left = total - x->sent;
    if (x->sent >= 5 && left) {
        size_t more = left < room - n ? left : room - n;
        memcpy(buffer + n, x->request.data + (x->sent - 5), more);
        x->sent += more;
        n += more;
    }
    if (x->sent == total) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static bool is_name(const uint8_t *name, size_t size, const char *wanted) {
    return size == strlen(wanted) && memcmp(name, wanted, size) == 0;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t value_size, uint8_t flags, void *ctx) {
    (void)h2;
    (void)flags;
    exchange *x = exchange_of(ctx, frame->hd.stream_id);
    if (!x) return 0;
    char text[24];
    snprintf(text, sizeof text, "%.*s", value_size < 23 ? (int)value_size : 23, (const char *)value);
    if (is_name(name, name_size, ":status")) {
        snprintf(x->http_status, sizeof x->http_status, "%.3s", text);
    } else if (is_name(name, name_size, "content-type")) {
        x->is_answer = value_size >= 16 && memcmp(value, "application/grpc", 16) == 0;
    } else if (is_name(name, name_size, "grpc-status")) {
        unsigned long code = strtoul(text, NULL, 10);
        x->reply->status = code <= RPC_UNAUTHENTICATED ? (rpc_status)code : RPC_UNKNOWN;
        x->has_status = true;
    } else if (is_name(name, name_size, "grpc-message")) {
        rpc_message_decode(x->reply->message, sizeof x->reply->message, (const char *)value, value_size);
    } else if (is_name(name, name_size, "grpc-retry-pushback-ms")) {
        x->reply->retry_ms = strtoll(text, NULL, 10);
    }
    return 0;
}

static void begin_answer(exchange *x) {
    const uint8_t *p = x->answer_prefix;
    uint64_t size = (uint64_t)p[1] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 8 | p[4];
    if (p[0] != 0) {
        end(x, RPC_INTERNAL, "the answer is compressed, which was not asked for");
    } else if (size > x->client->limit) {
        end(x, RPC_RESOURCE_EXHAUSTED, "the answer has %llu bytes, the limit is %llu",
            (unsigned long long)size, (unsigned long long)x->client->limit);
    } else if (size) {
        x->reply->data = malloc(size);
        if (!x->reply->data) end(x, RPC_RESOURCE_EXHAUSTED, "no memory for an answer");
    }
    x->answer_size = (size_t)size;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream, const uint8_t *data, size_t size,
                   void *ctx) {
    (void)h2;
    (void)flags;
    exchange *x = exchange_of(ctx, stream);
    while (x && size && !x->done && x->is_answer) {
        size_t n;
        if (x->answer_prefix_size < 5) {
            n = 5 - x->answer_prefix_size < size ? 5 - x->answer_prefix_size : size;
            memcpy(x->answer_prefix + x->answer_prefix_size, data, n);
            x->answer_prefix_size += n;
            if (x->answer_prefix_size == 5) begin_answer(x);
        } else {
            size_t left = x->answer_size - x->reply->size;
            if (!left) {
                end(x, RPC_INTERNAL, "there is more than one answer");
                return 0;
            }
            n = left < size ? left : size;
            memcpy(x->reply->data + x->reply->size, data, n);
            x->reply->size += n;
        }
        data += n;
        size -= n;
    }
    return 0;
}

/* The server's last word, and what is missing from it. */
static void conclude(exchange *x, uint32_t error_code) {
    if (x->has_status && x->reply->status != RPC_OK) {
        x->done = true;
    } else if (x->has_status && x->answer_prefix_size == 5 && x->reply->size == x->answer_size) {
        x->done = true;
    } else if (x->has_status) {
        end(x, RPC_INTERNAL, "the server said OK without a whole answer");
    } else if (x->http_status[0] && !x->is_answer) {
        end(x, RPC_INTERNAL, "the peer does not speak gRPC: HTTP status %s", x->http_status);
    } else if (error_code == NGHTTP2_REFUSED_STREAM) {
        end(x, RPC_UNAVAILABLE, "the server did not take the call");
    } else {
        end(x, error_code == NGHTTP2_CANCEL ? RPC_CANCELLED : RPC_UNAVAILABLE,
            "the server ended the call without a status (%s)", nghttp2_http2_strerror(error_code));
    }
}

static int on_stream_close(nghttp2_session *h2, int32_t stream, uint32_t error_code, void *ctx) {
    (void)h2;
    exchange *x = exchange_of(ctx, stream);
    if (x) conclude(x, error_code);
    return 0;
}

/* ---- The connection ---- */

static void disconnect(rpc_client *c) {
    nghttp2_session_del(c->session);
    c->session = NULL;
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    c->unsent_size = 0;
}

/* Wait for the socket or the end of the call; false when the call is over. */
static bool wait_for(rpc_client *c, exchange *x, short events) {
    struct pollfd fds[2] = {{c->fd, events, 0}, {c->cancel_fd, POLLIN, 0}};
    double left = ceil((x->deadline - clock_seconds()) * 1000);
    if (left <= 0) {
        end(x, RPC_DEADLINE_EXCEEDED, "no answer within the deadline");
        return false;
    }
    poll(fds, 2, left > 60000 ? 60000 : (int)left);
    if (fds[1].revents & POLLIN) {
        uint64_t count;
        ssize_t n = read(c->cancel_fd, &count, sizeof count);
        (void)n; /* only to make it unreadable */
        end(x, RPC_CANCELLED, "the call was cancelled");
        return false;
    }
    return true;
}

static bool connect_socket(rpc_client *c, exchange *x) {
    struct sockaddr_storage address;
    socklen_t size;
    cuzk_error err;
    if (address_resolve(&c->address, false, &address, &size, &err) != CUZK_OK) {
        end(x, RPC_UNAVAILABLE, "%s", err.message);
        return false;
    }
    c->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int number = 0;
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, size) != 0) number = errno;
    while (number == EINPROGRESS) {
        if (!wait_for(c, x, POLLOUT)) return false;
        struct pollfd fd = {c->fd, POLLOUT, 0};
        socklen_t number_size = sizeof number;
        if (poll(&fd, 1, 0) == 1) getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &number, &number_size);
    }
    if (number != 0) {
        char text[128];
        end(x, RPC_UNAVAILABLE, "cannot connect to %s: %s",
            c->address.is_unix ? c->address.path : c->authority, strerror_r(number, text, sizeof text));
        return false;
    }
    address_tune(c->fd, address.ss_family);
    return true;
}

static bool make_connection(rpc_client *c, exchange *x) {
    if (!connect_socket(c, x)) return false;
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW}};
    if (nghttp2_session_client_new(&c->session, c->callbacks, c) != 0 ||
        nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) != 0) {
        end(x, RPC_RESOURCE_EXHAUSTED, "no memory for a connection");
        return false;
    }
    return true;
}

/* Take what the server has sent: positive when there was something, 0 when not, negative when the connection
 * is gone. */
static int receive(rpc_client *c) {
    ssize_t n = recv(c->fd, c->receive_buffer, RECEIVE_SIZE, 0);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    return n > 0 && nghttp2_session_mem_recv(c->session, c->receive_buffer, (size_t)n) == n ? 1 : -1;
}

/* Send what there is, as far as the socket takes it; false when the connection is gone. */
static bool transmit(rpc_client *c) {
    for (;;) {
        if (!c->unsent_size) {
            ssize_t size = nghttp2_session_mem_send(c->session, &c->unsent);
            if (size <= 0) return size == 0;
            c->unsent_size = (size_t)size;
        }
        ssize_t n = send(c->fd, c->unsent, c->unsent_size, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        c->unsent += n;
        c->unsent_size -= (size_t)n;
    }
}

/* A connection that the server has closed or is leaving is not used for another call. */
static bool is_usable(rpc_client *c) {
    if (!c->session) return false;
    struct pollfd fd = {c->fd, POLLIN, 0};
    while (poll(&fd, 1, 0) == 1) {
        if (receive(c) < 0) return false;
    }
    return nghttp2_session_check_request_allowed(c->session);
}

/* ---- Calls ---- */

static nghttp2_nv header(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static void start(rpc_client *c, exchange *x, const char *path, double timeout) {
    char limit[16];
    nghttp2_nv headers[8] = {
        header(":method", "POST"),    header(":scheme", "http"),
        header(":path", path),        header(":authority", c->authority),
        header("te", "trailers"),     header("content-type", "application/grpc"),
        header("user-agent", "cuzk"),
    };
    size_t count = 7;
    if (isfinite(timeout)) {
        rpc_timeout_format(limit, timeout);
        headers[count++] = header("grpc-timeout", limit);
    }
    nghttp2_data_provider provider = {.read_callback = read_request};
    x->stream = nghttp2_submit_request(c->session, NULL, headers, count, &provider, NULL);
    if (x->stream < 0) end(x, RPC_INTERNAL, "%s", nghttp2_strerror(x->stream));
}

/* Both directions until the call is over. */
static void run(rpc_client *c, exchange *x) {
    while (!x->done) {
        if (!transmit(c)) {
            /* What it said before it closed may hold the status. */
            while (!x->done && receive(c) > 0) {
            }
            end(x, RPC_UNAVAILABLE, "the connection was closed");
        }
        if (x->done || !wait_for(c, x, c->unsent_size ? POLLIN | POLLOUT : POLLIN)) break;
        if (receive(c) < 0) end(x, RPC_UNAVAILABLE, "the connection was closed");
    }
}

/* The call is over for us: tell the server if it is not for the server. */
static void leave(rpc_client *c, exchange *x) {
    if (x->stream > 0 && nghttp2_session_get_stream_local_close(c->session, x->stream) >= 0 &&
        nghttp2_session_get_stream_remote_close(c->session, x->stream) != 1) {
        nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, x->stream, NGHTTP2_CANCEL);
    }
    c->current = NULL;
    if (!transmit(c) || c->unsent_size) disconnect(c); /* a frame cut in half cannot wait for the next call */
}

void rpc_client_call(rpc_client *c, const char *path, wire_view request, double timeout, rpc_reply *reply) {
    *reply = (rpc_reply){.retry_ms = -1};
    if (!(timeout > 0)) timeout = INFINITY;
    exchange x = {.client = c, .reply = reply, .request = request, .deadline = clock_seconds() + timeout};
    if (request.size > UINT32_MAX) {
        end(&x, RPC_INVALID_ARGUMENT, "a request of %zu bytes is too long for gRPC", request.size);
        return;
    }
    for (int i = 0; i < 4; i++) x.prefix[1 + i] = (uint8_t)(request.size >> (24 - 8 * i));
    if (!is_usable(c)) disconnect(c);
    if (c->session || make_connection(c, &x)) {
        c->current = &x;
        start(c, &x, path, timeout);
        run(c, &x);
        leave(c, &x);
    } else {
        disconnect(c);
    }
    if (reply->status != RPC_OK) {
        free(reply->data);
        reply->data = NULL;
        reply->size = 0;
    }
}

void rpc_client_cancel(rpc_client *c) {
    uint64_t one = 1;
    ssize_t n = write(c->cancel_fd, &one, sizeof one);
    (void)n; /* fails only when the counter is full, which wakes just as well */
}

void rpc_reply_free(rpc_reply *reply) {
    free(reply->data);
    reply->data = NULL;
    reply->size = 0;
}

static bool make_callbacks(rpc_client *c) {
    if (nghttp2_session_callbacks_new(&c->callbacks) != 0) return false;
    nghttp2_session_callbacks_set_on_header_callback(c->callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c->callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(c->callbacks, on_stream_close);
    return true;
}

cuzk_code rpc_client_create(rpc_client **out, const char *address, cuzk_error *err) {
    *out = NULL;
    rpc_client *c = calloc(1, sizeof *c);
    if (!c) return error_no_memory(err, sizeof *c, "a gRPC client");
    c->fd = c->cancel_fd = -1;
    c->limit = 256u << 20;
    cuzk_code code = address_parse(&c->address, address, err);
    if (code == CUZK_OK) {
        bool v6 = strchr(c->address.host, ':') != NULL;
        if (c->address.is_unix) {
            strcpy(c->authority, "localhost");
        } else {
            snprintf(c->authority, sizeof c->authority, "%s%s%s:%s", v6 ? "[" : "", c->address.host,
                     v6 ? "]" : "", c->address.port);
        }
        c->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        c->receive_buffer = malloc(RECEIVE_SIZE);
        if (c->cancel_fd < 0 || !c->receive_buffer || !make_callbacks(c)) {
            code = error_no_memory(err, RECEIVE_SIZE, "a gRPC client");
        }
    }
    if (code != CUZK_OK) {
        rpc_client_destroy(c);
        return code;
    }
    *out = c;
    return CUZK_OK;
}

void rpc_client_destroy(rpc_client *c) {
    if (!c) return;
    disconnect(c);
    if (c->cancel_fd >= 0) close(c->cancel_fd);
    nghttp2_session_callbacks_del(c->callbacks);
    free(c->receive_buffer);
    free(c);
}

void rpc_client_set_limit(rpc_client *c, uint64_t bytes) {
    c->limit = bytes;
}
