/*
 * The HTTP server, live on loopback: every page, HEAD, wrong paths and methods, readiness, addresses that are
 * none or taken, garbage, slow clients and more connections than it takes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <pthread.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "scene.h"
#include "server/dashboard.h"
#include "server/http.h"

static server_stats stats;
static http_server *server;
static scene current = SCENE_BUSY;
static atomic_bool broken;

static cuzk_code snapshot(void *ctx, engine_snapshot *out, size_t max_jobs, cuzk_error *err) {
    (void)ctx;
    if (atomic_load(&broken)) return error_no_memory(err, 1, "a snapshot");
    scene_make(out, current, 50);
    if (out->n_jobs > max_jobs) out->n_jobs = max_jobs;
    return CUZK_OK;
}

static const http_source source = {.ctx = NULL, .snapshot = snapshot, .release = scene_free};

static int start(void **state) {
    (void)state;
    server_stats_init(&stats, 2);
    return http_server_start(&server, "127.0.0.1:0", source, &stats, NULL) == CUZK_OK ? 0 : -1;
}

static int stop(void **state) {
    (void)state;
    http_server_stop(server);
    return 0;
}

static uint16_t port_of(const http_server *h) {
    return (uint16_t)strtoul(strrchr(http_server_address(h), ':') + 1, NULL, 10);
}

static int dial(void) {
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(port_of(server)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {.tv_sec = 60};
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* Everything that comes until the other side closes; free() it. */
static char *receive(int fd, size_t *size) {
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    for (ssize_t got = 1; got > 0; *size += got > 0 ? (size_t)got : 0) {
        if (room - *size < 65536) text = realloc(text, room = 2 * room + 131072);
        assert_non_null(text);
        got = recv(fd, text + *size, room - *size - 1, 0);
    }
    text[*size] = 0;
    return text;
}

/* Send bytes as they are and read the whole answer. */
static char *exchange(const char *request, size_t length, size_t *size) {
    int fd = dial();
    assert_int_equal(send(fd, request, length, MSG_NOSIGNAL), length);
    char *answer = receive(fd, size);
    close(fd);
    return answer;
}

typedef struct reply {
    int status;
    char *text; /* the whole, free() it */
    const char *body;
    size_t body_size;
} reply;

static reply ask(const char *method, const char *path) {
    char request[512];
    size_t size;
    int length = snprintf(request, sizeof request,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path);
    reply r = {.text = exchange(request, (size_t)length, &size)};
    const char *end = strstr(r.text, "\r\n\r\n");
    if (sscanf(r.text, "HTTP/1.1 %d", &r.status) != 1 || !end) fail_msg("%s: no answer: %.80s", path, r.text);
    r.body = end + 4;
    r.body_size = size - (size_t)(r.body - r.text);
    return r;
}

static bool has_header(const reply *r, const char *line) {
    const char *found = strcasestr(r->text, line);
    return found && found < r->body;
}

static void status_page(void **state) {
    (void)state;
    reply r = ask("GET", "/status");
    assert_int_equal(r.status, 200);
    assert_true(has_header(&r, "\r\nContent-Type: application/json\r\n"));
    assert_true(has_header(&r, "\r\nAccess-Control-Allow-Origin: *\r\n"));
    assert_true(has_header(&r, "\r\nConnection: close\r\n"));
    yajl_val d = yajl_tree_parse(r.body, NULL, 0);
    const char *path[] = {"jobs_total", NULL};
    assert_non_null(d);
    assert_true(YAJL_GET_INTEGER(yajl_tree_get(d, path, yajl_t_number)) > 5);
    yajl_tree_free(d);
    free(r.text);
}

static size_t jobs_listed(const char *path, int *status) {
    reply r = ask("GET", path);
    const char *jobs[] = {"jobs", NULL};
    yajl_val d = r.status == 200 ? yajl_tree_parse(r.body, NULL, 0) : NULL;
    size_t n = d ? YAJL_GET_ARRAY(yajl_tree_get(d, jobs, yajl_t_array))->len : 0;
    *status = r.status;
    if (d) yajl_tree_free(d);
    free(r.text);
    return n;
}

static void jobs_argument(void **state) {
    (void)state;
    int status;
    current = SCENE_THOUSAND;
    assert_int_equal(jobs_listed("/status", &status), 202);
    assert_int_equal(jobs_listed("/status?jobs=7", &status), 9);
    assert_int_equal(jobs_listed("/status?jobs=0", &status), 0);
    assert_int_equal(jobs_listed("/status?jobs=999999&other=1", &status), 1002);
    assert_int_equal(jobs_listed("/status?unknown=1", &status), 202);
    static const char *const bad[] = {"/status?jobs=", "/status?jobs=-1", "/status?jobs=1e3",
                                      "/status?jobs=1000000", "/status?jobs=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        jobs_listed(bad[i], &status);
        assert_int_equal(status, 400);
    }
    current = SCENE_BUSY;
}

static void metrics_page(void **state) {
    (void)state;
    reply r = ask("GET", "/metrics");
    assert_int_equal(r.status, 200);
    assert_true(has_header(&r, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert_non_null(strstr(r.body, "\ncuzk_uptime_seconds 4050.000\n"));
    free(r.text);
}

static void dashboard_page(void **state) {
    (void)state;
    reply r = ask("GET", "/");
    assert_int_equal(r.status, 200);
    assert_true(has_header(&r, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
    assert_true(has_header(&r, "\r\nContent-Security-Policy: default-src 'none'; script-src 'sha256-"));
    assert_true(has_header(&r, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_int_equal(r.body_size, dashboard_html_size);
    assert_memory_equal(r.body, dashboard_html, dashboard_html_size);
    free(r.text);
}

static void check_page(const char *method, const char *path, int status, const char *body) {
    reply r = ask(method, path);
    assert_int_equal(r.status, status);
    if (body) assert_string_equal(r.body, body);
    free(r.text);
}

static void health_and_readiness(void **state) {
    (void)state;
    http_server_set_ready(server, false);
    check_page("GET", "/healthz", 200, "ok\n");
    check_page("GET", "/readyz", 503, "starting\n");
    http_server_set_ready(server, true);
    check_page("GET", "/readyz", 200, "ready\n");
    current = SCENE_FAILURES; /* drains */
    check_page("GET", "/readyz", 503, "draining\n");
    http_server_set_ready(server, false); /* no longer ready is not starting */
    check_page("GET", "/readyz", 503, "draining\n");
    http_server_set_ready(server, true);
    check_page("GET", "/healthz", 200, "ok\n");
    current = SCENE_BUSY;
    atomic_store(&broken, true);
    check_page("GET", "/readyz", 503, "the state cannot be read now\n");
    check_page("GET", "/status", 503, "the state cannot be read now\n");
    check_page("GET", "/metrics", 503, NULL);
    check_page("GET", "/healthz", 200, NULL);
    atomic_store(&broken, false);
    check_page("GET", "/status", 200, NULL);
}

static void head_has_no_body(void **state) {
    (void)state;
    static const char *const paths[] = {"/", "/status", "/metrics", "/healthz", "/none"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        reply get = ask("GET", paths[i]), head = ask("HEAD", paths[i]);
        char line[64];
        assert_int_equal(head.status, get.status);
        assert_int_equal(head.body_size, 0);
        snprintf(line, sizeof line, "\r\nContent-Length: %zu\r\n", get.body_size);
        assert_true(has_header(&head, line));
        free(get.text);
        free(head.text);
    }
}

static void what_is_not_there(void **state) {
    (void)state;
    static const char *const paths[] = {"/statusx",       "/status/", "/index.html", "//",
                                        "/../etc/passwd", "/%2e%2e",  "/favicon.ico"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        check_page("GET", paths[i], 404, "404 Not Found\n");
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "WHAT"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        reply r = ask(methods[i], "/status");
        assert_int_equal(r.status, 405);
        assert_true(has_header(&r, "\r\nAllow: GET, HEAD\r\n"));
        free(r.text);
    }
}

/* A connection is kept for further requests when the client wants that. */
static void connection_is_reused(void **state) {
    (void)state;
    static const char first[] = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char last[] = "GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    char both[sizeof first + sizeof last];
    size_t size;
    snprintf(both, sizeof both, "%s%s", first, last);
    char *answer = exchange(both, strlen(both), &size);
    assert_non_null(strstr(answer, "ok\n"));
    assert_non_null(strstr(answer, "ready\n"));
    free(answer);
}

static void garbage_is_survived(void **state) {
    (void)state;
    static const char *const requests[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /status\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET /status HTTP/1.1\r\nno colon\r\n\r\n",
        "POST /status HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n"};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        int fd = dial();
        send(fd, requests[i], strlen(requests[i]), MSG_NOSIGNAL);
        char byte; /* an answer or the end, if it comes soon; what waits for more is left in the middle */
        struct timeval soon = {.tv_usec = 100000};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
        if (recv(fd, &byte, 1, 0) > 0) assert_int_not_equal(byte, 0);
        close(fd);
    }
    size_t size;
    char *headers = calloc(1, 65536); /* more than a request may have */
    assert_non_null(headers);
    size_t used = (size_t)snprintf(headers, 65536, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    memset(headers + used, 'x', 40000);
    strcat(headers, "\r\n\r\n");
    int fd = dial();
    send(fd, headers, strlen(headers), MSG_NOSIGNAL);
    char *answer = receive(fd, &size);
    assert_null(strstr(answer, "200 OK"));
    free(answer);
    free(headers);
    close(fd);
    check_page("GET", "/healthz", 200, "ok\n");
}

/* Idle connections beyond the limit are refused; once they are gone, there is room again. */
static void connections_are_limited(void **state) {
    (void)state;
    int fds[300];
    for (unsigned i = 0; i < 300; i++) fds[i] = dial();
    unsigned closed = 0;
    for (unsigned i = 0; i < 300; i++) {
        char byte;
        struct timeval soon = {.tv_usec = 20000};
        setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
        ssize_t got = recv(fds[i], &byte, 1, 0);
        closed += got == 0 || (got < 0 && errno == ECONNRESET);
    }
    assert_true(closed >= 300 - 128);
    for (unsigned i = 0; i < 300; i++) close(fds[i]);
    for (unsigned i = 0;; i++) { /* the server learns of it in its own time */
        size_t size;
        static const char request[] = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        int fd = dial();
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL);
        char *answer = receive(fd, &size);
        close(fd);
        bool served = strstr(answer, "ok\n") != NULL;
        free(answer);
        if (served) break;
        assert_true(i < 1000);
        usleep(10000);
    }
}

static void *many_requests(void *arg) {
    for (unsigned i = 0; i < 20; i++) {
        reply r = ask("GET", i % 2 ? "/status" : "/metrics");
        if (r.status != 200) atomic_fetch_add((atomic_uint *)arg, 1);
        free(r.text);
    }
    return NULL;
}

static void several_clients_at_once(void **state) {
    (void)state;
    pthread_t threads[8];
    atomic_uint wrong = 0;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_requests, &wrong), 0);
    for (unsigned i = 0; i < 200; i++) {
        server_stats_refuse(&stats, REFUSED_INPUT);
        http_server_set_ready(server, true);
    }
    for (unsigned i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

static void addresses(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "127.0.0.1",
                                      ":9821",
                                      "localhost:9821",
                                      "127.0.0.1:",
                                      "127.0.0.1:x",
                                      "127.0.0.1:65536",
                                      "1.2.3:80",
                                      "[::1]",
                                      "[::1:80",
                                      "::1:80",
                                      "[127.0.0.1]:1",
                                      "127.0.0.1:1 ",
                                      "[]:1",
                                      "unix:///x",
                                      "[",
                                      "[]",
                                      "]:1",
                                      "127.0.0.1:-1",
                                      "127.0.0.1:000080"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        http_server *h;
        cuzk_error err = {0};
        assert_int_equal(http_server_start(&h, bad[i], source, &stats, &err), CUZK_ERR_USAGE);
        assert_null(h);
        assert_non_null(strstr(err.message, "expected IP:PORT"));
    }
    http_server *h;
    cuzk_error err = {0};
    assert_int_equal(http_server_start(&h, http_server_address(server), source, &stats, &err),
                     CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, http_server_address(server)));
    assert_non_null(strstr(err.message, "in use"));
    assert_int_equal(http_server_start(&h, "192.0.2.1:80", source, &stats, &err),
                     CUZK_ERR_RESOURCES);                                    /* nobody's */
    if (http_server_start(&h, "[::1]:0", source, &stats, &err) == CUZK_OK) { /* not every machine has IPv6 */
        assert_int_equal(strncmp(http_server_address(h), "[::1]:", 6), 0);
        http_server_stop(h);
    }
    http_server_stop(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_page),
        cmocka_unit_test(jobs_argument),
        cmocka_unit_test(metrics_page),
        cmocka_unit_test(dashboard_page),
        cmocka_unit_test(health_and_readiness),
        cmocka_unit_test(head_has_no_body),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(connection_is_reused),
        cmocka_unit_test(garbage_is_survived),
        cmocka_unit_test(connections_are_limited),
        cmocka_unit_test(several_clients_at_once),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
