/*
 * A client that does what no decent one would: an HTTP/2 connection whose streams are steered frame by frame.
 * Include after cmocka.h.
 */
#ifndef CUZK_TEST_RAW_H2_H
#define CUZK_TEST_RAW_H2_H

#include "rpc/status.h"
#include "rpc/wire.h"

#include <nghttp2/nghttp2.h>
#include <stdbool.h>

typedef struct raw_stream {
    int32_t id;
    int http_status;
    int grpc_status; /* -1: none came */
    long long retry_ms;
    char message[1024];
    char accept_encoding[32];
    wire_buffer data; /* as received, prefixes included */
    bool closed;
    uint32_t error_code;
    /* The upload. */
    wire_buffer upload;
    size_t uploaded;
    bool upload_ends;
} raw_stream;

typedef struct raw_h2 {
    int fd;
    nghttp2_session *session;
    bool closed; /* by the server, or broken */
    bool got_goaway;
} raw_h2;

int raw_connect(const char *address); /* a blocking socket */
void raw_open(raw_h2 *h, const char *address);
void raw_close(raw_h2 *h);
/* A POST with gRPC's headers, and others (NULL-terminated pairs; may be NULL). The stream stays with the
 * caller, until raw_close or closed. */
void raw_start(raw_h2 *h, raw_stream *s, const char *path, const char *const *more);
/* Queue upload bytes; ends: after them the stream's end. */
void raw_upload(raw_h2 *h, raw_stream *s, const void *data, size_t size, bool ends);
/* The same, as one gRPC message. */
void raw_message(raw_h2 *h, raw_stream *s, const void *data, size_t size, bool ends);
void raw_reset(raw_h2 *h, raw_stream *s, uint32_t error_code);
/* Exchange what there is for at most ms; returns after the first thing received. */
void raw_step(raw_h2 *h, int ms);
void raw_stream_free(raw_stream *s);

/* Exchange until the condition holds, at most a minute. */
#define RAW_UNTIL(h, condition)                                                                              \
    do {                                                                                                     \
        for (int raw_left = 6000; !(condition) && raw_left > 0; raw_left--) raw_step(h, 10);                 \
        assert_true(condition);                                                                              \
    } while (0)

#endif
