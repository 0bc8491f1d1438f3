#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "raw_h2.h"

#include "rpc/address.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t value_size, uint8_t flags, void *ctx) {
    (void)name_size;
    (void)flags;
    (void)ctx;
    raw_stream *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
    if (!s) return 0;
    const char *key = (const char *)name, *text = (const char *)value; /* nghttp2 terminates both */
    if (strcmp(key, ":status") == 0) s->http_status = atoi(text);
    if (strcmp(key, "grpc-status") == 0) s->grpc_status = atoi(text);
    if (strcmp(key, "grpc-message") == 0) rpc_message_decode(s->message, sizeof s->message, text, value_size);
    if (strcmp(key, "grpc-retry-pushback-ms") == 0) s->retry_ms = atoll(text);
    if (strcmp(key, "grpc-accept-encoding") == 0)
        snprintf(s->accept_encoding, sizeof s->accept_encoding, "%s", text);
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream, const uint8_t *data, size_t size,
                   void *ctx) {
    (void)flags;
    (void)ctx;
    raw_stream *s = nghttp2_session_get_stream_user_data(h2, stream);
    if (s) wire_put(&s->data, data, size);
    return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *ctx) {
    (void)h2;
    if (frame->hd.type == NGHTTP2_GOAWAY) ((raw_h2 *)ctx)->got_goaway = true;
    return 0;
}

static int on_close(nghttp2_session *h2, int32_t stream, uint32_t error_code, void *ctx) {
    (void)ctx;
    raw_stream *s = nghttp2_session_get_stream_user_data(h2, stream);
    if (s) {
        s->closed = true;
        s->error_code = error_code;
    }
    return 0;
}

static ssize_t read_upload(nghttp2_session *h2, int32_t stream, uint8_t *buffer, size_t room, uint32_t *flags,
                           nghttp2_data_source *source, void *ctx) {
    (void)h2;
    (void)stream;
    (void)ctx;
    raw_stream *s = source->ptr;
    size_t left = s->upload.size - s->uploaded, n = left < room ? left : room;
    if (n) memcpy(buffer, s->upload.data + s->uploaded, n);
    s->uploaded += n;
    if (n == left && s->upload_ends) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (n == 0) {
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

int raw_connect(const char *text) {
    rpc_address address;
    struct sockaddr_storage storage;
    socklen_t size;
    assert_int_equal(address_parse(&address, text, NULL), CUZK_OK);
    assert_int_equal(address_resolve(&address, false, &storage, &size, NULL), CUZK_OK);
    int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&storage, size), 0);
    return fd;
}

void raw_open(raw_h2 *h, const char *address) {
    *h = (raw_h2){.fd = raw_connect(address)};
    nghttp2_session_callbacks *callbacks;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    assert_int_equal(nghttp2_session_client_new(&h->session, callbacks, h), 0);
    nghttp2_session_callbacks_del(callbacks);
    assert_int_equal(nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, NULL, 0), 0);
}

void raw_close(raw_h2 *h) {
    nghttp2_session_del(h->session);
    close(h->fd);
}

static nghttp2_nv header(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

void raw_start(raw_h2 *h, raw_stream *s, const char *path, const char *const *more) {
    *s = (raw_stream){.grpc_status = -1, .retry_ms = -1};
    nghttp2_nv headers[32] = {header(":method", "POST"), header(":scheme", "http"),
                              header(":path", path),     header(":authority", "localhost"),
                              header("te", "trailers"),  header("content-type", "application/grpc")};
    size_t count = 6;
    for (; more && *more; more += 2) {
        size_t at = count;
        for (size_t i = 0; i < count; i++) { /* replaces one of the above */
            if (strcmp((char *)headers[i].name, more[0]) == 0) at = i;
        }
        headers[at] = header(more[0], more[1]);
        if (at == count) count++;
    }
    nghttp2_data_provider provider = {.source.ptr = s, .read_callback = read_upload};
    s->id = nghttp2_submit_request(h->session, NULL, headers, count, &provider, s);
    assert_true(s->id > 0);
}

void raw_upload(raw_h2 *h, raw_stream *s, const void *data, size_t size, bool ends) {
    wire_put(&s->upload, data, size);
    assert_false(s->upload.failed);
    s->upload_ends = ends;
    nghttp2_session_resume_data(h->session, s->id);
}

void raw_message(raw_h2 *h, raw_stream *s, const void *data, size_t size, bool ends) {
    uint8_t prefix[5] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
                         (uint8_t)size};
    raw_upload(h, s, prefix, 5, false);
    raw_upload(h, s, data, size, ends);
}

void raw_reset(raw_h2 *h, raw_stream *s, uint32_t error_code) {
    assert_int_equal(nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, error_code), 0);
}

void raw_step(raw_h2 *h, int ms) {
    const uint8_t *data;
    ssize_t n;
    while (!h->closed && (n = nghttp2_session_mem_send(h->session, &data)) > 0) {
        for (ssize_t sent = 0; sent < n && !h->closed;) {
            ssize_t part = send(h->fd, data + sent, (size_t)(n - sent), MSG_NOSIGNAL);
            if (part <= 0) h->closed = true;
            if (part > 0) sent += part;
        }
    }
    struct pollfd fd = {h->fd, POLLIN, 0};
    while (poll(&fd, 1, ms) == 1) {
        uint8_t buffer[16384];
        ssize_t got = recv(h->fd, buffer, sizeof buffer, 0);
        if (got <= 0) {
            h->closed = true;
            return;
        }
        if (nghttp2_session_mem_recv(h->session, buffer, (size_t)got) != got) h->closed = true;
        ms = 0;
    }
}

void raw_stream_free(raw_stream *s) {
    wire_buffer_free(&s->data);
    wire_buffer_free(&s->upload);
}
