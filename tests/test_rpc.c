/* rpc/server and rpc/client with each other, over TCP and Unix sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rpc_fixture.h"
#include "temp_dir.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTHING ((wire_view){NULL, 0})

static fixture f;
static char unix_address[300];

static const char *socket_address(const char *name) {
    snprintf(unix_address, sizeof unix_address, "unix://%s", temp_path(name));
    return unix_address;
}

static uint8_t *pattern(size_t size) {
    uint8_t *bytes = malloc(size ? size : 1);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    return bytes;
}

static void calls_of_every_size(const char *address) {
    fixture_start(&f, address, NULL);
    rpc_client *c = fixture_client(&f);
    const size_t sizes[] = {0, 1, 16379, 16380, 16384, 65536, 65537, 1 << 20, (2 << 20) + 1, (4 << 20) + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *bytes = pattern(sizes[i]);
        expect_prove(c, (wire_view){bytes, sizes[i]});
        assert_int_equal(f.last_size, sizes[i]);
        free(bytes);
    }
    rpc_reply reply;
    rpc_client_call(c, proving_methods[METHOD_GET_METRICS].path, NOTHING, 0, &reply);
    assert_int_equal(reply.status, RPC_OK);
    assert_int_equal(reply.size, 3 << 20);
    rpc_reply_free(&reply);
    rpc_client_set_limit(c, 1 << 20);
    expect_call(c, METHOD_GET_METRICS, NOTHING, 0, RPC_RESOURCE_EXHAUSTED,
                "3145728 bytes, the limit is 1048576");
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    rpc_client_destroy(c);
    WAIT_UNTIL(rpc_server_counters(f.server).connections == 0);
    rpc_counters counters = rpc_server_counters(f.server);
    assert_int_equal(counters.bytes_held, 0);
    assert_int_equal(counters.calls, 0);
    assert_int_equal(counters.connections_total, 1);
    fixture_stop(&f);
}

static void over_tcp(void **state) {
    (void)state;
    calls_of_every_size(NULL);
}
static void over_unix_socket(void **state) {
    (void)state;
    calls_of_every_size(socket_address("a.sock"));
}
static void over_localhost(void **state) {
    (void)state;
    fixture_start(&f, "http://localhost:0", NULL);
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 5, RPC_OK, NULL);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

static void big_message(void **state) {
    (void)state;
    fixture_start(&f, socket_address("big.sock"), NULL);
    uint64_t before = mem_in_use();
    size_t size = 60u << 20;
    uint8_t *bytes = pattern(size);
    rpc_client *c = fixture_client(&f);
    expect_prove(c, (wire_view){bytes, size});
    /* Taken over, it outlives the call, and counts until it is freed. */
    expect_call(c, METHOD_CANCEL_PROOF, (wire_view){bytes, size}, 0, RPC_OK, NULL);
    assert_int_equal(rpc_server_counters(f.server).bytes_held, size);
    assert_int_equal(mem_in_use(), before + size);
    wire_view kept = rpc_body_view(f.bodies[0]);
    assert_int_equal(kept.size, size);
    assert_memory_equal(kept.data, bytes, size);
    fixture_free_bodies(&f);
    assert_int_equal(rpc_server_counters(f.server).bytes_held, 0);
    assert_int_equal(mem_in_use(), before);
    free(bytes);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

/* A body may outlive the server. */
static void body_outlives_the_server(void **state) {
    (void)state;
    fixture_start(&f, NULL, NULL);
    uint8_t *bytes = pattern(100000);
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_CANCEL_PROOF, (wire_view){bytes, 100000}, 0, RPC_OK, NULL);
    rpc_body *body = f.bodies[0];
    f.body_count = 0;
    rpc_client_destroy(c);
    fixture_stop(&f);
    assert_memory_equal(rpc_body_view(body).data, bytes, 100000);
    rpc_body_free(body);
    free(bytes);
}

typedef struct caller {
    pthread_t thread;
    size_t size;
    int rounds;
} caller;

static void *call_often(void *arg) {
    caller *a = arg;
    rpc_client *c = fixture_client(&f);
    uint8_t *bytes = pattern(a->size);
    for (int i = 0; i < a->rounds; i++) {
        expect_prove(c, (wire_view){bytes, a->size});
        expect_call(c, METHOD_GET_STATUS, NOTHING, 60, RPC_OK, NULL);
    }
    free(bytes);
    rpc_client_destroy(c);
    return NULL;
}

static void concurrent_callers(void **state) {
    (void)state;
    fixture_start(&f, socket_address("many.sock"), NULL);
    caller callers[8];
    for (size_t i = 0; i < 8; i++) {
        callers[i] = (caller){.size = (size_t)1 << (3 * i), .rounds = 20};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (size_t i = 0; i < 8; i++) pthread_join(callers[i].thread, NULL);
    assert_int_equal(f.handled, 8 * 20 * 2);
    fixture_stop(&f);
}

static void errors_and_refusals(void **state) {
    (void)state;
    rpc_options options = {.max_message_bytes = 1 << 20, .max_message_setting = "daemon.max_message_size"};
    fixture_start(&f, NULL, &options);
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_SUBMIT_PROOF, NOTHING, 0, RPC_INVALID_ARGUMENT,
                "100% wrong: \xef\xbf\xbd \xc3\xa4\n");
    /* Refused before the upload, and the connection goes on. */
    uint8_t *bytes = pattern(1 << 20);
    rpc_reply reply;
    rpc_client_call(c, proving_methods[METHOD_PRELOAD_SRS].path, (wire_view){bytes, 1 << 20}, 0, &reply);
    assert_int_equal(reply.status, RPC_RESOURCE_EXHAUSTED);
    assert_string_equal(reply.message, "no slot is free; retry in 1.500 s");
    assert_int_equal(reply.retry_ms, 1500);
    assert_int_equal(f.admitted, 1);
    assert_int_equal(f.last_admit_size, RPC_SIZE_UNKNOWN);
    expect_call(c, METHOD_EVICT_SRS, (wire_view){bytes, 101}, 0, RPC_RESOURCE_EXHAUSTED,
                "101 bytes are too many");
    assert_int_equal(f.abandoned, 1);
    expect_call(c, METHOD_EVICT_SRS, (wire_view){bytes, 100}, 0, RPC_OK, NULL);
    expect_prove(c, (wire_view){bytes, 1 << 20});
    free(bytes);
    bytes = pattern((1 << 20) + 1);
    expect_call(c, METHOD_PROVE, (wire_view){bytes, (1 << 20) + 1}, 0, RPC_RESOURCE_EXHAUSTED,
                "1048577 bytes, the limit is 1048576 (daemon.max_message_size)");
    free(bytes);
    rpc_client_call(c, "/cuzk.v1.ProvingEngine/Nothing", NOTHING, 0, &reply);
    assert_int_equal(reply.status, RPC_UNIMPLEMENTED);
    rpc_client_call(c, "/other/GetStatus", NOTHING, 0, &reply);
    assert_int_equal(reply.status, RPC_UNIMPLEMENTED);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    assert_int_equal(rpc_server_counters(f.server).refused_total, 3);
    assert_int_equal(rpc_server_counters(f.server).connections_total, 1);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

static void byte_budget(void **state) {
    (void)state;
    rpc_options options = {.max_held_bytes = 5 << 20};
    fixture_start(&f, socket_address("budget.sock"), &options);
    rpc_client *c = fixture_client(&f);
    uint8_t *bytes = pattern(2 << 20);
    wire_view request = {bytes, 2 << 20};
    expect_call(c, METHOD_CANCEL_PROOF, request, 0, RPC_OK, NULL);
    expect_call(c, METHOD_CANCEL_PROOF, request, 0, RPC_OK, NULL);
    rpc_reply reply;
    rpc_client_call(c, proving_methods[METHOD_CANCEL_PROOF].path, request, 0, &reply);
    assert_int_equal(reply.status, RPC_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(reply.message, "4194304 of 5242880 bytes"));
    assert_true(reply.retry_ms > 0);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    fixture_free_bodies(&f);
    expect_prove(c, request);
    free(bytes);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

static void *cancel_soon(void *client) {
    WAIT_UNTIL(f.handled == 2);
    rpc_client_cancel(client);
    return NULL;
}

static void deadlines_and_cancelling(void **state) {
    (void)state;
    fixture_start(&f, socket_address("wait.sock"), NULL);
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_AWAIT_PROOF, NOTHING, 0.1, RPC_DEADLINE_EXCEEDED, NULL);
    WAIT_UNTIL(f.cancelled == 1 && f.released == 1);
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_soon, c);
    expect_call(c, METHOD_AWAIT_PROOF, NOTHING, 0, RPC_CANCELLED, NULL);
    pthread_join(thread, NULL);
    WAIT_UNTIL(f.cancelled == 2 && f.released == 2);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    assert_int_equal(rpc_server_counters(f.server).connections_total, 1);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

static void nobody_there(void **state) {
    (void)state;
    cuzk_error err;
    rpc_client *c;
    assert_int_equal(rpc_client_create(&c, "nonsense", &err), CUZK_ERR_USAGE);
    assert_int_equal(rpc_client_create(&c, socket_address("none.sock"), &err), CUZK_OK);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_UNAVAILABLE, "none.sock: No such file");
    rpc_client_destroy(c);
    /* A server that comes back is found again. */
    fixture_start(&f, unix_address, NULL);
    c = fixture_client(&f);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    fixture_stop(&f);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_UNAVAILABLE, NULL);
    fixture_start(&f, unix_address, NULL);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

/* ---- Sockets ---- */

static cuzk_code try_listen(const char *address, cuzk_error *err) {
    rpc_server *s;
    rpc_handlers handlers = {.handle = NULL};
    assert_int_equal(rpc_server_create(&s, &proving_service, &handlers, NULL, err), CUZK_OK);
    cuzk_code code = rpc_server_listen(s, address, err);
    rpc_server_destroy(s);
    return code;
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

static void unix_socket_rules(void **state) {
    (void)state;
    cuzk_error err;
    char path[300], lock[310];
    snprintf(path, sizeof path, "%s", temp_path("rules.sock"));
    snprintf(lock, sizeof lock, "%s.lock", path);
    mode_t mask = umask(077);
    fixture_start(&f, socket_address("rules.sock"), NULL);
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0660);
    /* A second server is refused, by its lock, and does no harm. */
    assert_int_equal(try_listen(unix_address, &err), CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, "another server"));
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    rpc_client_destroy(c);
    fixture_stop(&f);
    assert_false(exists(path));
    assert_false(exists(lock));

    /* A dead socket is replaced. */
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof un.sun_path);
    strcpy(un.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
    close(fd);
    assert_true(exists(path));
    assert_int_equal(try_listen(unix_address, &err), CUZK_OK);
    assert_false(exists(path));

    /* One that somebody listens on is not, lock or no lock. */
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(try_listen(unix_address, &err), CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, "another process"));
    assert_true(exists(path));
    assert_false(exists(lock));
    close(fd);
    unlink(path);

    /* What is no socket is left alone. */
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    assert_int_equal(try_listen(unix_address, &err), CUZK_ERR_USAGE);
    assert_true(exists(path));
    unlink(path);

    /* At the end only our own socket is removed. */
    fixture_start(&f, unix_address, NULL);
    unlink(path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
    fixture_stop(&f);
    assert_true(exists(path));
    close(fd);
    unlink(path);

    snprintf(unix_address, sizeof unix_address, "unix://%s/x.sock", temp_path("missing"));
    assert_int_equal(try_listen(unix_address, &err), CUZK_ERR_RESOURCES);
    assert_int_equal(try_listen("example.invalid:1", &err), CUZK_ERR_USAGE);
    assert_int_equal(try_listen("192.0.2.1:0", &err), CUZK_ERR_RESOURCES); /* no address of this machine */
}

/* The lock of a server that was killed is free, and its socket is replaced. */
static void killed_server_leaves_nothing_in_the_way(void **state) {
    (void)state;
    socket_address("killed.sock");
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        rpc_server *s;
        rpc_handlers handlers = {.handle = NULL};
        bool up = rpc_server_create(&s, &proving_service, &handlers, NULL, NULL) == CUZK_OK &&
                  rpc_server_listen(s, unix_address, NULL) == CUZK_OK;
        if (write(ready[1], up ? "y" : "n", 1) == 1) pause();
        _exit(1);
    }
    char answer;
    assert_int_equal(read(ready[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    cuzk_error err;
    assert_int_equal(try_listen(unix_address, &err), CUZK_ERR_RESOURCES);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
    fixture_start(&f, unix_address, NULL);
    rpc_client *c = fixture_client(&f);
    expect_call(c, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

static void several_listeners(void **state) {
    (void)state;
    rpc_server *s;
    rpc_handlers handlers = {.handle = NULL};
    cuzk_error err;
    assert_int_equal(rpc_server_create(&s, &proving_service, &handlers, NULL, &err), CUZK_OK);
    assert_int_equal(rpc_server_listen(s, "127.0.0.1:0", &err), CUZK_OK);
    assert_int_equal(rpc_server_listen(s, socket_address("two.sock"), &err), CUZK_OK);
    assert_int_equal(strncmp(rpc_server_address(s, 0), "127.0.0.1:", 10), 0);
    assert_string_not_equal(rpc_server_address(s, 0), "127.0.0.1:0");
    assert_string_equal(rpc_server_address(s, 1), unix_address);
    assert_null(rpc_server_address(s, 2));
    assert_int_equal(rpc_server_listen(s, rpc_server_address(s, 0), &err), CUZK_ERR_RESOURCES);
    assert_int_equal(rpc_server_start(s, &err), CUZK_OK);
    for (size_t i = 0; i < 2; i++) {
        rpc_client *c;
        assert_int_equal(rpc_client_create(&c, rpc_server_address(s, i), &err), CUZK_OK);
        rpc_reply reply;
        rpc_client_call(c, "/grpc.health.v1.Health/Check", NOTHING, 0, &reply);
        assert_int_equal(reply.status, RPC_OK);
        rpc_reply_free(&reply);
        rpc_client_destroy(c);
    }
    rpc_server_destroy(s);
}

/* ---- Drain, health ---- */

static void *await_answer(void *client) {
    rpc_reply reply;
    rpc_client_call(client, proving_methods[METHOD_AWAIT_PROOF].path, NOTHING, 0, &reply);
    if (reply.status != RPC_OK) fail_msg("%s: %s", rpc_status_name(reply.status), reply.message);
    assert_memory_equal(reply.data, "done", 4);
    rpc_reply_free(&reply);
    return NULL;
}

static void drains(void **state) {
    (void)state;
    fixture_start(&f, socket_address("drain.sock"), NULL);
    rpc_client *waiting = fixture_client(&f), *idle = fixture_client(&f);
    expect_call(idle, METHOD_GET_STATUS, NOTHING, 0, RPC_OK, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, await_answer, waiting);
    WAIT_UNTIL(f.handled == 2);
    assert_false(rpc_server_wait(f.server, 0));
    rpc_server_drain(f.server, 60);
    WAIT_UNTIL(!exists(temp_path("drain.sock")));
    expect_call(idle, METHOD_GET_STATUS, NOTHING, 0, RPC_UNAVAILABLE, NULL);
    assert_false(rpc_server_wait(f.server, 0.02));
    fixture_release_all(&f);
    pthread_join(thread, NULL); /* got its answer */
    assert_true(rpc_server_wait(f.server, 60));
    rpc_client_destroy(waiting);
    rpc_client_destroy(idle);
    assert_int_equal(f.cancelled, 0);
    fixture_stop(&f);
}

static void *await_failure(void *client) {
    expect_call(client, METHOD_AWAIT_PROOF, NOTHING, 0, RPC_UNAVAILABLE, NULL);
    return NULL;
}

static void drain_has_an_end(void **state) {
    (void)state;
    fixture_start(&f, NULL, NULL);
    rpc_client *c = fixture_client(&f);
    pthread_t thread;
    pthread_create(&thread, NULL, await_failure, c);
    WAIT_UNTIL(f.handled == 1);
    rpc_server_drain(f.server, 60);
    rpc_server_drain(f.server, 0.05);
    assert_true(rpc_server_wait(f.server, 60));
    pthread_join(thread, NULL);
    rpc_client_destroy(c);
    assert_int_equal(f.cancelled, 1);
    fixture_stop(&f);
}

static void expect_health(rpc_client *c, const char *service, rpc_status status, int serving) {
    wire_buffer request = {0};
    wire_put_bytes(&request, 1, wire_text(service));
    rpc_reply reply;
    rpc_client_call(c, "/grpc.health.v1.Health/Check", (wire_view){request.data, request.size}, 0, &reply);
    assert_int_equal(reply.status, status);
    if (status == RPC_OK) {
        assert_int_equal(reply.size, 2);
        assert_int_equal(reply.data[0], 0x08);
        assert_int_equal(reply.data[1], serving);
    }
    rpc_reply_free(&reply);
    wire_buffer_free(&request);
}

static void health(void **state) {
    (void)state;
    fixture_start(&f, NULL, NULL);
    rpc_client *c = fixture_client(&f);
    expect_health(c, "", RPC_OK, 1);
    expect_health(c, PROVING_SERVICE, RPC_OK, 1);
    expect_health(c, "no.such.Service", RPC_NOT_FOUND, 0);
    rpc_server_set_serving(f.server, false);
    expect_health(c, "", RPC_OK, 2);
    rpc_server_set_serving(f.server, true);
    expect_health(c, PROVING_SERVICE, RPC_OK, 1);
    rpc_reply reply;
    rpc_client_call(c, "/grpc.health.v1.Health/Watch", NOTHING, 0, &reply);
    assert_int_equal(reply.status, RPC_UNIMPLEMENTED);
    rpc_client_call(c, "/grpc.health.v1.Health/Check", wire_text("\x0a\x05"), 0, &reply);
    assert_int_equal(reply.status, RPC_INTERNAL);
    rpc_client_destroy(c);
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_tcp),
        cmocka_unit_test(over_unix_socket),
        cmocka_unit_test(over_localhost),
        cmocka_unit_test(big_message),
        cmocka_unit_test(body_outlives_the_server),
        cmocka_unit_test(concurrent_callers),
        cmocka_unit_test(errors_and_refusals),
        cmocka_unit_test(byte_budget),
        cmocka_unit_test(deadlines_and_cancelling),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(unix_socket_rules),
        cmocka_unit_test(killed_server_leaves_nothing_in_the_way),
        cmocka_unit_test(several_listeners),
        cmocka_unit_test(drains),
        cmocka_unit_test(drain_has_an_end),
        cmocka_unit_test(health),
    };
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
