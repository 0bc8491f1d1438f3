/*
 * The daemon as a whole within this process: it starts from a settings file, answers over HTTP, takes new
 * settings, and ends by signal; and a start that fails leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <arpa/inet.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "daemon.h"
#include "rpc/client.h"
#include "rpc/messages.h"

static char directory[64], path[96];

/* --- the log, as this process hears it -------------------------------------------------------------------
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t heard = PTHREAD_COND_INITIALIZER;
static char lines[65536];

static void keep(void *context, log_level level, const char *line, size_t size) {
    (void)context;
    (void)level;
    pthread_mutex_lock(&lock);
    size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%.*s", (int)size, line);
    pthread_cond_broadcast(&heard);
    pthread_mutex_unlock(&lock);
}

/* Wait for a line with `part`; copy what follows it on its line. */
static void await_line(const char *part, char *rest, size_t size) {
    pthread_mutex_lock(&lock);
    const char *found;
    while (!(found = strstr(lines, part)) || !strchr(found, '\n')) pthread_cond_wait(&heard, &lock);
    found += strlen(part);
    if (rest) snprintf(rest, size, "%.*s", (int)strcspn(found, "\n"), found);
    pthread_mutex_unlock(&lock);
}

static bool has_line(const char *part) {
    pthread_mutex_lock(&lock);
    bool found = strstr(lines, part) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* --- a daemon in a thread --------------------------------------------------------------------------------
 */

typedef struct serving {
    settings settings;
    config *config;
    supervise_end end;
    cuzk_code code;
    cuzk_error err;
    pthread_t thread;
} serving;

static void *serve(void *context) {
    serving *d = context;
    d->code = daemon_serve(&d->end, &d->settings, d->config, &d->err);
    return NULL;
}

static void write_settings(const char *more) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "[daemon]\nlisten = 'unix://%s/cuzk.sock'\n[memory]\ntotal_budget = '512MiB'\n[srs]\nparam_cache "
            "= '%s'\n"
            "[engine]\nthreads = 1\n%s",
            directory, directory, more);
    fclose(file);
}

/* status_listen: "IP:PORT", which goes over the environment, as it would in a unit. */
static void start(serving *d, const char *status_listen) {
    *d = (serving){.settings = {.path = path}};
    setenv("CUZK_DAEMON_STATUS_LISTEN", status_listen, 1);
    if (settings_load(&d->config, &d->settings, &d->err) != CUZK_OK)
        fail_msg("%s: %s", d->err.path, d->err.message);
    log_set_sink(keep, NULL);
    log_set_level(LOG_LEVEL_INFO);
    assert_int_equal(pthread_create(&d->thread, NULL, serve, d), 0);
}

static void finish(serving *d) {
    pthread_join(d->thread, NULL);
    log_set_sink(NULL, NULL);
    unsetenv("CUZK_DAEMON_STATUS_LISTEN");
}

static int make_directory(void **state) {
    (void)state;
    strcpy(directory, "/tmp/cuzk-daemon.XXXXXX");
    if (!mkdtemp(directory)) return -1;
    snprintf(path, sizeof path, "%s/cuzk.toml", directory);
    lines[0] = 0;
    return 0;
}

static int drop(const char *name, const struct stat *st, int kind, struct FTW *walk) {
    (void)st, (void)kind, (void)walk;
    return remove(name);
}

static int remove_directory(void **state) {
    (void)state;
    char state_dir[80];
    snprintf(state_dir, sizeof state_dir, "%s/state", directory);
    nftw(state_dir, drop, 8, FTW_DEPTH | FTW_PHYS);
    unlink(path);
    return rmdir(directory); /* fails when the daemon left something beside its state */
}

/* The first line of the answer to a request. */
static void get(const char *address, const char *target, char *out, size_t size) {
    char request[256];
    const char *colon = strrchr(address, ':');
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
    assert_int_equal(inet_pton(AF_INET, "127.0.0.1", &to.sin_addr), 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    int length =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target);
    assert_int_equal(send(fd, request, (size_t)length, MSG_NOSIGNAL), length);
    size_t used = 0;
    ssize_t n;
    while (used + 1 < size && (n = recv(fd, out + used, size - 1 - used, 0)) > 0) used += (size_t)n;
    out[used] = 0;
    close(fd);
}

/* A call without a body: GetStatus. */
static rpc_status get_status(void) {
    char address[96];
    rpc_client *client;
    rpc_reply reply;
    snprintf(address, sizeof address, "unix://%s/cuzk.sock", directory);
    assert_int_equal(rpc_client_create(&client, address, NULL), CUZK_OK);
    rpc_client_call(client, "/cuzk.v1.ProvingEngine/GetStatus", (wire_view){NULL, 0}, 30, &reply);
    rpc_status status = reply.status;
    rpc_reply_free(&reply);
    rpc_client_destroy(client);
    return status;
}

static void serves_reloads_and_drains(void **state) {
    (void)state;
    serving d;
    char address[64], answer[8192];
    write_settings("[keys]\npreload = ['porep-2k']\n[scheduler]\nmax_queue = 6\n");
    start(&d, "127.0.0.1:0");
    await_line("status pages are served address=", address, sizeof address);
    await_line(" INFO serving ", NULL, 0);
    assert_int_equal(get_status(), RPC_OK);
    get(address, "/readyz", answer, sizeof answer);
    assert_non_null(strstr(answer, "200 OK"));
    cuzk_build build;
    char variant[64];
    cuzk_get_build(&build);
    snprintf(variant, sizeof variant, "\"variant\":\"%s\"", build.variant);
    get(address, "/status", answer, sizeof answer);
    assert_non_null(strstr(answer, variant));
    await_line("ERROR key not loaded circuit=porep-2k", NULL, 0); /* it serves all the same */

    write_settings("[scheduler]\nmax_queue = 5\n[logging]\nlevel = 'debug'\n[synthesis]\nthreads = 9\n");
    kill(getpid(), SIGHUP);
    await_line("scheduler.max_queue is now 5, was 6", NULL, 0);
    await_line("keys.preload stays", NULL, 0);
    write_settings("[scheduler]\nmax_queue = 0\n");
    kill(getpid(), SIGHUP);
    await_line("ERROR the settings stay as they were place=", answer, sizeof answer);
    assert_non_null(strstr(answer, "cuzk.toml:10:1 error=\"scheduler.max_queue: 0, expected 1 to 1000000\""));
    assert_int_equal(log_get_level(), LOG_LEVEL_DEBUG);

    kill(getpid(), SIGTERM);
    finish(&d);
    assert_int_equal(d.config->scheduler.max_queue, 5);
    config_free(d.config);
    assert_int_equal(d.code, CUZK_OK);
    assert_int_equal(d.end, SUPERVISE_DRAINED);
    assert_true(has_line("draining: no new jobs"));
}

static void a_port_that_is_taken_is_an_error(void **state) {
    (void)state;
    struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof mine;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&mine, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&mine, &size), 0);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(mine.sin_port));
    serving d;
    write_settings("");
    start(&d, address);
    finish(&d);
    config_free(d.config);
    close(fd);
    assert_int_equal(d.code, CUZK_ERR_RESOURCES);
    assert_non_null(strstr(d.err.message, address));
    assert_false(has_line(" INFO serving "));
}

static void jobs_of_before_come_first(void **state) {
    (void)state;
    serving d;
    char state_dir[80], database[96];
    snprintf(state_dir, sizeof state_dir, "%s/state", directory);
    snprintf(database, sizeof database, "%s/jobs.db", state_dir);
    setenv("CUZK_DAEMON_STATE_DIR", state_dir, 1);
    write_settings("");
    start(&d, "");
    await_line(" INFO jobs taken up again state_dir=", NULL, 0);
    await_line("/state jobs=0 results=0 failed=0\n", NULL, 0);
    await_line(" INFO serving ", NULL, 0);
    kill(getpid(), SIGTERM);
    finish(&d);
    config_free(d.config);
    assert_int_equal(d.code, CUZK_OK);

    FILE *file = fopen(database, "w"); /* a database that is none */
    assert_non_null(file);
    fprintf(file, "%01000d", 7);
    fclose(file);
    lines[0] = 0;
    start(&d, "");
    finish(&d);
    config_free(d.config);
    unsetenv("CUZK_DAEMON_STATE_DIR");
    assert_int_equal(d.code, CUZK_ERR_INPUT);
    assert_false(has_line(" INFO serving "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(serves_reloads_and_drains, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(jobs_of_before_come_first, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(a_port_that_is_taken_is_an_error, make_directory, remove_directory),
    };
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    if (supervise_block_signals(NULL) != CUZK_OK) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
