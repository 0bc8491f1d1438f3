/* rpc/server against clients that stall, flood, reset, leave, and send what is no gRPC or no HTTP/2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "raw_h2.h"
#include "rng.h"
#include "rpc_fixture.h"
#include "temp_dir.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOTHING      ((wire_view){NULL, 0})
#define PATH(method) proving_methods[method].path

static fixture f;

static void start(const char *socket, const rpc_options *options) {
    char address[300];
    snprintf(address, sizeof address, "unix://%s", temp_path(socket));
    fixture_start(&f, address, options);
}

/* The server still answers, and holds nothing of what was. */
static void expect_healthy(void) {
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 60, RPC_OK, NULL);
    rpc_client_destroy(c);
    WAIT_UNTIL(rpc_server_counters(f.server).connections == 0);
    assert_int_equal(rpc_server_counters(f.server).calls, 0);
    assert_int_equal(rpc_server_counters(f.server).bytes_held, 0);
}

static void expect_status(raw_h2 *h, raw_stream *s, rpc_status status, const char *message_part) {
    RAW_UNTIL(h, s->closed || h->closed);
    if (s->grpc_status != (int)status || !strstr(s->message, message_part)) {
        fail_msg("status %d \"%s\" instead of %d \"%s\"", s->grpc_status, s->message, (int)status,
                 message_part);
    }
    raw_stream_free(s);
}

/* Requests that are malformed above HTTP/2, each on a stream of one connection, which goes on. */
static void malformed_requests(void **state) {
    (void)state;
    start("malformed.sock", NULL);
    raw_h2 h;
    raw_stream s;
    raw_open(&h, f.address);

    raw_start(&h, &s, PATH(METHOD_GET_STATUS), NULL);
    raw_upload(&h, &s, "", 0, true);
    expect_status(&h, &s, RPC_INTERNAL, "ended before its message was complete");
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), NULL);
    raw_upload(&h, &s, "\0\0\0\0\5abcd", 9, true);
    expect_status(&h, &s, RPC_INTERNAL, "ended before its message was complete");
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), NULL);
    raw_upload(&h, &s, "\0\0\0\0\1ab", 7, true);
    expect_status(&h, &s, RPC_INTERNAL, "more after the request's message");
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), NULL);
    raw_upload(&h, &s, "\1\0\0\0\1a", 6, true);
    expect_status(&h, &s, RPC_INTERNAL, "without a compression named");
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), NULL);
    raw_upload(&h, &s, "\7\0\0\0\1a", 6, true);
    expect_status(&h, &s, RPC_INTERNAL, "flag is 7");

    const char *gzip[] = {"grpc-encoding", "gzip", NULL};
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), gzip);
    raw_upload(&h, &s, "\1\0\0\0\1a", 6, true);
    RAW_UNTIL(&h, s.closed);
    assert_string_equal(s.accept_encoding, "identity");
    expect_status(&h, &s, RPC_UNIMPLEMENTED, "compressed");
    /* Announced but not used is fine. */
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), gzip);
    raw_message(&h, &s, "a", 1, true);
    expect_status(&h, &s, RPC_OK, "");

    const char *timeout[] = {"grpc-timeout", "soon", NULL};
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), timeout);
    raw_message(&h, &s, "", 0, true);
    expect_status(&h, &s, RPC_INVALID_ARGUMENT, "grpc-timeout");

    char *value = malloc(20000);
    memset(value, 'x', 19999);
    value[19999] = 0;
    const char *large[] = {"x-large", value, NULL};
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), large);
    raw_message(&h, &s, "", 0, true);
    expect_status(&h, &s, RPC_RESOURCE_EXHAUSTED, "headers are larger");
    value[0] = '/';
    value[300] = 0;
    raw_start(&h, &s, value, NULL);
    raw_message(&h, &s, "", 0, true);
    expect_status(&h, &s, RPC_UNIMPLEMENTED, "unknown method");
    free(value);

    const char *get[] = {":method", "GET", NULL}, *json[] = {"content-type", "application/json", NULL};
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), get);
    RAW_UNTIL(&h, s.closed);
    assert_int_equal(s.http_status, 405);
    raw_stream_free(&s);
    raw_start(&h, &s, PATH(METHOD_GET_STATUS), json);
    raw_message(&h, &s, "", 0, true);
    RAW_UNTIL(&h, s.closed);
    assert_int_equal(s.http_status, 415);
    raw_stream_free(&s);

    assert_int_equal(rpc_server_counters(f.server).connections_total, 1);
    raw_close(&h);
    expect_healthy();
    fixture_stop(&f);
}

/* An answer before the upload's end ends the upload, with the status arriving first. */
static void early_answers(void **state) {
    (void)state;
    rpc_options options = {.max_message_bytes = 1 << 20};
    start("early.sock", &options);
    raw_h2 h;
    raw_stream s;
    raw_open(&h, f.address);
    raw_start(&h, &s, PATH(METHOD_PRELOAD_SRS), NULL);
    RAW_UNTIL(&h, s.closed); /* not a byte was uploaded */
    assert_int_equal(s.retry_ms, 1500);
    assert_int_equal(s.error_code, NGHTTP2_NO_ERROR);
    expect_status(&h, &s, RPC_RESOURCE_EXHAUSTED, "no slot is free; retry in 1.500 s");

    raw_start(&h, &s, PATH(METHOD_PROVE), NULL);
    raw_upload(&h, &s, "\0\x7f\xff\xff\xff", 5, false);
    expect_status(&h, &s, RPC_RESOURCE_EXHAUSTED, "2147483647 bytes, the limit is 1048576");
    assert_int_equal(f.abandoned, 1);

    const char *length[] = {"content-length", "1005", NULL};
    raw_start(&h, &s, PATH(METHOD_EVICT_SRS), length);
    raw_upload(&h, &s, "\0\0\0\3\xe8", 5, false);
    expect_status(&h, &s, RPC_RESOURCE_EXHAUSTED, "1000 bytes are too many");
    assert_int_equal(f.last_admit_size, 1000);
    raw_close(&h);
    expect_healthy();
    fixture_stop(&f);
}

static void declared_sizes_cost_little(void **state) {
    (void)state;
    rpc_options options = {.max_held_bytes = 400u << 20};
    start("declared.sock", &options);
    raw_h2 h;
    raw_stream s[10];
    raw_open(&h, f.address);
    /* A body of one byte of a declared 100 MiB is given its place in the budget, and no memory. */
    for (size_t i = 0; i < 10; i++) {
        raw_start(&h, &s[i], PATH(METHOD_PROVE), NULL);
        raw_upload(&h, &s[i], "\0\6\x40\0\0a", 6, false);
    }
    for (size_t i = 4; i < 10; i++) expect_status(&h, &s[i], RPC_RESOURCE_EXHAUSTED, "does not fit now");
    assert_int_equal(rpc_server_counters(f.server).bytes_held, 400u << 20);
    for (size_t i = 0; i < 4; i++) raw_reset(&h, &s[i], NGHTTP2_CANCEL);
    RAW_UNTIL(&h, rpc_server_counters(f.server).bytes_held == 0);
    assert_int_equal(f.abandoned, 10);
    for (size_t i = 0; i < 4; i++) raw_stream_free(&s[i]);
    raw_close(&h);
    expect_healthy();
    fixture_stop(&f);
}

static void stalled_upload(void **state) {
    (void)state;
    rpc_options options = {.upload_timeout = 0.2};
    start("stalled.sock", &options);
    raw_h2 h;
    raw_stream s;
    raw_open(&h, f.address);
    raw_start(&h, &s, PATH(METHOD_PROVE), NULL);
    raw_upload(&h, &s, "\0\0\x10\0\0abc", 8, false);
    expect_status(&h, &s, RPC_DEADLINE_EXCEEDED, "no progress");
    assert_int_equal(f.abandoned, 1);
    /* A deadline during the upload. */
    const char *timeout[] = {"grpc-timeout", "50m", NULL};
    raw_start(&h, &s, PATH(METHOD_PROVE), timeout);
    raw_upload(&h, &s, "\0\0\x10\0\0abc", 8, false);
    expect_status(&h, &s, RPC_DEADLINE_EXCEEDED, "deadline has passed");
    /* A handled call may take longer than any upload. */
    raw_start(&h, &s, PATH(METHOD_AWAIT_PROOF), NULL);
    raw_message(&h, &s, "", 0, true);
    for (int i = 0; i < 50; i++) raw_step(&h, 10);
    assert_false(s.closed);
    fixture_release_all(&f);
    expect_status(&h, &s, RPC_OK, "");
    raw_close(&h);
    /* A connection that says nothing at all. */
    int fd = raw_connect(f.address);
    char byte;
    while (recv(fd, &byte, 1, 0) == 1) {
    }
    close(fd);
    expect_healthy();
    fixture_stop(&f);
}

static void cancelled_streams(void **state) {
    (void)state;
    start("cancel.sock", NULL);
    raw_h2 h;
    static raw_stream s[3000];
    raw_open(&h, f.address);
    for (size_t i = 0; i < 3000; i++) {
        raw_start(&h, &s[i], PATH(METHOD_AWAIT_PROOF), NULL);
        raw_message(&h, &s[i], "", 0, true);
    }
    RAW_UNTIL(&h, f.handled == 3000);
    for (size_t i = 0; i < 1500; i++) raw_reset(&h, &s[i], NGHTTP2_CANCEL);
    RAW_UNTIL(&h, f.cancelled == 1500 && f.released == 1500);
    assert_false(h.closed);
    assert_int_equal(rpc_server_counters(f.server).calls, 1500);
    raw_close(&h); /* the rest by losing the connection */
    WAIT_UNTIL(f.cancelled == 3000 && f.released == 3000);
    for (size_t i = 0; i < 3000; i++) raw_stream_free(&s[i]);
    expect_healthy();
    fixture_stop(&f);
}

/* Streams opened and reset without end: the server ends the connection. */
static void reset_flood(void **state) {
    (void)state;
    start("flood.sock", NULL);
    raw_h2 h;
    raw_open(&h, f.address);
    raw_step(&h, 100);
    for (int i = 0; i < 60000 && !h.closed && !h.got_goaway; i++) {
        raw_stream s;
        raw_start(&h, &s, PATH(METHOD_AWAIT_PROOF), NULL);
        nghttp2_session_set_stream_user_data(h.session, s.id, NULL);
        raw_step(&h, 0);
        raw_reset(&h, &s, NGHTTP2_CANCEL);
        raw_step(&h, 0);
    }
    RAW_UNTIL(&h, h.closed || h.got_goaway);
    raw_close(&h);
    expect_healthy();
    fixture_stop(&f);
}

/* Bytes that are no HTTP/2, and a good beginning followed by garbage. */
static void garbage(void **state) {
    (void)state;
    rpc_options options = {.upload_timeout = 0.2};
    start("garbage.sock", &options);
    uint64_t g = 11;
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    const char *openings[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", "PRI * HTTP/2.0\r\n\r\nSN", preface};
    for (int i = 0; i < 200; i++) {
        int fd = raw_connect(f.address);
        const char *opening = openings[i % 4];
        size_t size = opening == preface ? sizeof preface - 1 : strlen(opening);
        uint8_t noise[600];
        for (size_t k = 0; k < sizeof noise; k++) noise[k] = (uint8_t)rng_next(&g);
        if (i % 8 == 7) { /* a frame with a credible head */
            noise[0] = noise[1] = 0;
            noise[3] = (uint8_t)(rng_next(&g) % 10);
            noise[5] = noise[6] = noise[7] = 0;
            noise[8] = (uint8_t)(rng_next(&g) % 4);
        }
        (void)!send(fd, opening, size, MSG_NOSIGNAL);
        (void)!send(fd, noise, sizeof noise, MSG_NOSIGNAL);
        if (i % 3 == 0) shutdown(fd, SHUT_WR);
        if (i % 5 == 0) {
            struct linger hard = {1, 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        }
        close(fd);
    }
    expect_healthy();
    fixture_stop(&f);
}

/* A client that sends requests and never reads the answers. */
static void answers_unread(void **state) {
    (void)state;
    rpc_options options = {.upload_timeout = 0.3};
    start("unread.sock", &options);
    raw_h2 h;
    raw_stream s[8];
    raw_open(&h, f.address);
    nghttp2_session_set_local_window_size(h.session, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30};
    nghttp2_submit_settings(h.session, NGHTTP2_FLAG_NONE, &window, 1);
    raw_step(&h, 100);
    for (size_t i = 0; i < 8; i++) {
        raw_start(&h, &s[i], PATH(METHOD_GET_METRICS), NULL);
        raw_message(&h, &s[i], "", 0, true);
    }
    const uint8_t *data;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(h.session, &data)) > 0) {
        assert_int_equal(send(h.fd, data, (size_t)n, MSG_NOSIGNAL), n);
    }
    WAIT_UNTIL(f.handled > 0); /* the rest may never be read */
    WAIT_UNTIL(rpc_server_counters(f.server).connections == 0);
    raw_close(&h);
    for (size_t i = 0; i < 8; i++) raw_stream_free(&s[i]);
    expect_healthy();
    fixture_stop(&f);
}

static void connections_come_and_go(void **state) {
    (void)state;
    start("come.sock", NULL);
    expect_healthy();
    for (int i = 0; i < 1000; i++) {
        if (i % 10) {
            int fd = raw_connect(f.address);
            if (i % 3) (void)!send(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24, MSG_NOSIGNAL);
            close(fd);
        } else { /* gone in the middle of an upload */
            raw_h2 h;
            raw_stream s;
            raw_open(&h, f.address);
            raw_start(&h, &s, PATH(METHOD_PROVE), NULL);
            raw_upload(&h, &s, "\0\0\x40\0\0abc", 8, false);
            raw_step(&h, 0);
            raw_close(&h);
            raw_stream_free(&s);
        }
    }
    WAIT_UNTIL(rpc_server_counters(f.server).connections_total >= 1000);
    expect_healthy();
    fixture_stop(&f);
}

/* Without descriptors the server waits instead of spinning, and takes the connections once it can. */
static void no_descriptors_left(void **state) {
    (void)state;
    start("files.sock", NULL);
    int fds[40];
    struct rlimit old, low;
    for (size_t i = 0; i < 40; i++) fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &old);
    low = (struct rlimit){(rlim_t)next + 1, old.rlim_max};
    rpc_client *c = fixture_client(&f); /* takes the last for its eventfd... */
    setrlimit(RLIMIT_NOFILE, &low);
    rpc_reply reply; /* ...and cannot connect */
    rpc_client_call(c, PATH(METHOD_GET_STATUS), NOTHING, 5, &reply);
    assert_int_equal(reply.status, RPC_UNAVAILABLE);
    low.rlim_cur = (rlim_t)next + 2; /* a socket for the client, none for the server */
    setrlimit(RLIMIT_NOFILE, &low);
    rpc_client_call(c, PATH(METHOD_GET_STATUS), NOTHING, 0.3, &reply);
    assert_int_equal(reply.status, RPC_DEADLINE_EXCEEDED);
    setrlimit(RLIMIT_NOFILE, &old);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 60, RPC_OK, NULL);
    rpc_client_destroy(c);
    for (size_t i = 0; i < 40; i++) close(fds[i]);
    expect_healthy();
    fixture_stop(&f);
}

static void connection_limit(void **state) {
    (void)state;
    rpc_options options = {.max_connections = 2};
    start("limit.sock", &options);
    rpc_client *a = fixture_client(&f), *b = fixture_client(&f), *c = fixture_client(&f);
    expect_call(a, METHOD_GET_STATUS, NOTHING, 60, RPC_OK, NULL);
    expect_call(b, METHOD_GET_STATUS, NOTHING, 60, RPC_OK, NULL);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0.1, RPC_DEADLINE_EXCEEDED, NULL);
    rpc_client_destroy(a);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 60, RPC_OK, NULL);
    rpc_client_destroy(b);
    rpc_client_destroy(c);
    expect_healthy();
    fixture_stop(&f);
}

/* ---- Reflection: a stream of requests and answers ---- */

static void reflect(raw_h2 *h, raw_stream *s, uint32_t field, const char *text) {
    wire_buffer request = {0};
    wire_put_bytes(&request, field, wire_text(text));
    raw_message(h, s, request.data, request.size, false);
    wire_buffer_free(&request);
}

/* The next answer: its field `number`, a view into the stream's data, which was advanced by *at. */
static wire_view next_answer(raw_h2 *h, raw_stream *s, size_t *at, uint32_t number) {
    RAW_UNTIL(h, s->data.size >= *at + 5);
    const uint8_t *p = s->data.data + *at;
    size_t size = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    RAW_UNTIL(h, s->data.size >= *at + 5 + size);
    wire_reader r = wire_read((wire_view){s->data.data + *at + 5, size});
    *at += 5 + size;
    wire_field field;
    bool more;
    while (wire_next(&r, &field, &more, NULL) == CUZK_OK && more) {
        if (field.number == number) return field.bytes;
    }
    fail_msg("no field %u in the answer", number);
    return NOTHING;
}

static bool contains(wire_view in, const char *text) {
    return memmem(in.data, in.size, text, strlen(text)) != NULL;
}

static void reflection(void **state) {
    (void)state;
    start("reflect.sock", NULL);
    const char *paths[] = {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                           "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};
    for (size_t i = 0; i < 2; i++) {
        raw_h2 h;
        raw_stream s;
        size_t at = 0;
        raw_open(&h, f.address);
        raw_start(&h, &s, paths[i], NULL);
        reflect(&h, &s, 7, "*");
        wire_view list = next_answer(&h, &s, &at, 6);
        assert_true(contains(list, PROVING_SERVICE) && contains(list, "grpc.health.v1.Health"));
        assert_true(contains(list, "grpc.reflection.v1.ServerReflection"));
        const char *symbols[] = {"cuzk.v1.ProvingEngine", "cuzk.v1.ProvingEngine.Prove",
                                 "cuzk.v1.AwaitProofResponse.Status", "cuzk.v1.GPUStatus.ordinal",
                                 "cuzk.v1.ProofKind"};
        for (size_t k = 0; k < 5; k++) {
            reflect(&h, &s, 4, symbols[k]);
            wire_view file = next_answer(&h, &s, &at, 4);
            assert_true(contains(file, "SubmitProofRequest"));
        }
        reflect(&h, &s, 4, "grpc.health.v1.Health");
        assert_true(contains(next_answer(&h, &s, &at, 4), "ServingStatus"));
        reflect(&h, &s, 3, "cuzk.proto");
        assert_true(contains(next_answer(&h, &s, &at, 4), "SubmitProofRequest"));
        const char *missing[] = {"cuzk.v1.Nothing",       "cuzk.v1", "cuzk", "", "cuzk.v1.ProvingEngine.Pro",
                                 "cuzk.v1.ProvingEngineX"};
        for (size_t k = 0; k < 6; k++) {
            reflect(&h, &s, 4, missing[k]);
            assert_true(contains(next_answer(&h, &s, &at, 7), "no such symbol"));
        }
        reflect(&h, &s, 3, "other.proto");
        assert_true(contains(next_answer(&h, &s, &at, 7), "no such file"));
        raw_upload(&h, &s, "", 0, true);
        expect_status(&h, &s, RPC_OK, "");

        raw_start(&h, &s, paths[i], NULL); /* malformed after a good one */
        at = 0;
        reflect(&h, &s, 7, "");
        next_answer(&h, &s, &at, 6);
        raw_message(&h, &s, "\x3a\x05", 2, false);
        expect_status(&h, &s, RPC_INTERNAL, "malformed protobuf");
        raw_close(&h);
    }
    expect_healthy();
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_requests),
        cmocka_unit_test(early_answers),
        cmocka_unit_test(declared_sizes_cost_little),
        cmocka_unit_test(stalled_upload),
        cmocka_unit_test(cancelled_streams),
        cmocka_unit_test(reset_flood),
        cmocka_unit_test(garbage),
        cmocka_unit_test(answers_unread),
        cmocka_unit_test(connections_come_and_go),
        cmocka_unit_test(no_descriptors_left),
        cmocka_unit_test(connection_limit),
        cmocka_unit_test(reflection),
    };
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
