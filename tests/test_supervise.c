/*
 * The daemon's main thread with a daemon that does nothing: signals, draining, cancelling, and what systemd
 * is told. Signals are real, and sent to this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "notify.h"
#include "stderr_log.h"
#include "supervise.h"

typedef struct fake {
    atomic_int state; /* a supervise_start */
    atomic_uint reloads, drains, cancels, asked, alive_asked;
    atomic_bool done, dead, stops_on_cancel;
    uint64_t drain_ms;
    supervise_end end;
    cuzk_code code;
} fake;

static supervise_start started(void *ctx) {
    return (supervise_start)atomic_load(&((fake *)ctx)->state);
}
static void reload(void *ctx) {
    atomic_fetch_add(&((fake *)ctx)->reloads, 1);
}
static void drain(void *ctx) {
    atomic_fetch_add(&((fake *)ctx)->drains, 1);
}
static uint64_t drain_ms(void *ctx) {
    return ((fake *)ctx)->drain_ms;
}
static void cancel(void *ctx) {
    fake *f = ctx;
    atomic_fetch_add(&f->cancels, 1);
    if (f->stops_on_cancel) f->done = true;
}
static bool finished(void *ctx) {
    fake *f = ctx;
    atomic_fetch_add(&f->asked, 1);
    return f->done;
}
static bool alive(void *ctx) {
    fake *f = ctx;
    atomic_fetch_add(&f->alive_asked, 1);
    return !f->dead;
}
static void describe(void *ctx, char *text, size_t size) {
    snprintf(text, size, "%u reloads\nEXTRA=1", atomic_load(&((fake *)ctx)->reloads));
}

static void *run(void *ctx) {
    supervised s = {ctx, started, reload, drain, drain_ms, cancel, finished, alive, describe};
    fake *f = ctx;
    f->code = supervise(&f->end, &s, NULL);
    return NULL;
}

static void until(atomic_uint *counter, unsigned value) {
    while (atomic_load(counter) < value) usleep(1000);
}

static pthread_t start(fake *f) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, f), 0);
    return thread;
}

static supervise_end join(fake *f, pthread_t thread) {
    pthread_join(thread, NULL);
    assert_int_equal(f->code, CUZK_OK);
    return f->end;
}

static void first_signal_drains(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    for (unsigned i = 0; i < 2; i++) {
        fake f = {.state = SUPERVISE_STARTED, .drain_ms = 3600000};
        pthread_t thread = start(&f);
        kill(getpid(), SIGHUP);
        until(&f.reloads, 1);
        kill(getpid(), signals[i]);
        until(&f.asked, 3); /* still waiting for its jobs */
        assert_int_equal(f.drains, 1);
        kill(getpid(), SIGHUP); /* does nothing any more */
        f.done = true;
        assert_int_equal(join(&f, thread), SUPERVISE_DRAINED);
        assert_int_equal(f.reloads, 1);
        assert_int_equal(f.cancels, 0);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGHUP); /* it may have come too late for the loop */
        struct timespec none = {0, 0};
        sigtimedwait(&set, NULL, &none);
    }
}

static void second_signal_cancels(void **state) {
    (void)state;
    fake f = {.state = SUPERVISE_STARTED, .drain_ms = 3600000, .stops_on_cancel = true};
    pthread_t thread = start(&f);
    kill(getpid(), SIGTERM);
    until(&f.drains, 1);
    assert_int_equal(f.cancels, 0);
    kill(getpid(), SIGINT);
    assert_int_equal(join(&f, thread), SUPERVISE_CANCELLED);
    assert_int_equal(f.cancels, 1);
}

static void end_of_drain_time_cancels(void **state) {
    (void)state;
    fake f = {.state = SUPERVISE_STARTED, .drain_ms = 1, .stops_on_cancel = true};
    pthread_t thread = start(&f);
    kill(getpid(), SIGTERM);
    assert_int_equal(join(&f, thread), SUPERVISE_CANCELLED);
    assert_int_equal(f.drains, 1);
    assert_int_equal(f.cancels, 1);
}

static void third_signal_ends_it(void **state) {
    (void)state;
    fake f = {.state = SUPERVISE_STARTED, .drain_ms = 0};
    pthread_t thread = start(&f);
    kill(getpid(), SIGTERM);
    until(&f.cancels, 1);
    kill(getpid(), SIGTERM);
    assert_int_equal(join(&f, thread), SUPERVISE_CANCELLED);
}

/* --- systemd ------------------------------------------------------------------------------------------- */

static char directory[64], path[80];

static int listen_for_notes(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(directory, sizeof directory, "/tmp/cuzk-notify.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/socket", directory);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    return fd;
}

static void stop_listening(int fd) {
    close(fd);
    unlink(path);
    rmdir(directory);
    unsetenv("NOTIFY_SOCKET");
}

/* Receive until a note begins with `part`; others may come before it, but none with `never`. */
static void await_note(int fd, const char *part, const char *never) {
    char text[512];
    for (;;) {
        ssize_t size = recv(fd, text, sizeof text - 1, 0);
        assert_true(size > 0);
        text[size] = 0;
        if (never && strncmp(text, never, strlen(never)) == 0) fail_msg("'%s' before '%s'", text, part);
        if (strncmp(text, part, strlen(part)) == 0) return;
    }
}

static void systemd_hears_all(void **state) {
    (void)state;
    int fd = listen_for_notes();
    setenv("WATCHDOG_USEC", "20000", 1);
    fake f = {.state = SUPERVISE_STARTED, .drain_ms = 3600000};
    pthread_t thread = start(&f);
    await_note(fd, "READY=1", "WATCHDOG");
    await_note(fd, "STATUS=0 reloads EXTRA=1", NULL); /* one line, whatever was in it */
    await_note(fd, "WATCHDOG=1", NULL);
    await_note(fd, "WATCHDOG=1", NULL);
    kill(getpid(), SIGHUP);
    await_note(fd, "RELOADING=1\nMONOTONIC_USEC=", NULL);
    await_note(fd, "READY=1", NULL);
    kill(getpid(), SIGTERM);
    await_note(fd, "STOPPING=1", NULL);
    await_note(fd, "WATCHDOG=1", NULL); /* while draining too */
    f.done = true;
    assert_int_equal(join(&f, thread), SUPERVISE_DRAINED);
    unsetenv("WATCHDOG_USEC");
    stop_listening(fd);
}

static void a_start_takes_its_time(void **state) {
    (void)state;
    int fd = listen_for_notes();
    fake f = {.state = SUPERVISE_STARTING};
    pthread_t thread = start(&f);
    await_note(fd, "STATUS=", "READY"); /* already while it starts */
    f.state = SUPERVISE_STARTED;
    await_note(fd, "READY=1", NULL);
    f.done = true;
    kill(getpid(), SIGTERM);
    assert_int_equal(join(&f, thread), SUPERVISE_DRAINED);
    stop_listening(fd);

    fd = listen_for_notes();
    f = (fake){.state = SUPERVISE_STARTING, .drain_ms = 3600000, .done = true};
    thread = start(&f);
    kill(getpid(), SIGTERM); /* nobody is told that it was ready */
    await_note(fd, "STOPPING=1", "READY");
    assert_int_equal(join(&f, thread), SUPERVISE_DRAINED);
    assert_int_equal(f.drains, 1);
    stop_listening(fd);

    f = (fake){.state = SUPERVISE_START_FAILED};
    thread = start(&f);
    assert_int_equal(join(&f, thread), SUPERVISE_DRAINED);
    assert_int_equal(f.drains, 0);
}

static void the_dead_do_not_feed_the_watchdog(void **state) {
    (void)state;
    int fd = listen_for_notes();
    setenv("WATCHDOG_USEC", "2000", 1);
    fake f = {.state = SUPERVISE_STARTED, .drain_ms = 0, .dead = true, .stops_on_cancel = true};
    pthread_t thread = start(&f);
    until(&f.alive_asked, 3);
    kill(getpid(), SIGTERM);
    await_note(fd, "STOPPING=1", "WATCHDOG");
    assert_int_equal(join(&f, thread), SUPERVISE_CANCELLED);
    unsetenv("WATCHDOG_USEC");
    stop_listening(fd);
}

static void nobody_listens(void **state) {
    (void)state;
    static const char *const bad[] = {"", "/", "relative", "/nowhere/at/all", "@cuzk-nobody-is-here"};
    assert_false(notify_wanted());
    assert_false(notify_send("READY=1"));
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        assert_false(notify_send("READY=1"));
    }
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[0] = '/';
    longer[sizeof longer - 1] = 0;
    setenv("NOTIFY_SOCKET", longer, 1);
    assert_false(notify_wanted());
    unsetenv("NOTIFY_SOCKET");
    /* the watchdog of somebody else, and numbers that are none */
    assert_true(notify_watchdog_seconds() == 0);
    setenv("WATCHDOG_USEC", "3000000", 1);
    assert_true(notify_watchdog_seconds() == 3);
    setenv("WATCHDOG_PID", "1", 1);
    assert_true(notify_watchdog_seconds() == 0);
    unsetenv("WATCHDOG_PID");
    setenv("WATCHDOG_USEC", "3s", 1);
    assert_true(notify_watchdog_seconds() == 0);
    unsetenv("WATCHDOG_USEC");
}

static void lines_on_stderr(void **state) {
    (void)state;
    int ends[2], kept = dup(STDERR_FILENO);
    char text[600], stream[64];
    struct stat st;
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    stderr_log_start();
    log_warn("plain");
    fstat(STDERR_FILENO, &st);
    snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    stderr_log_start();
    log_error("journal");
    log_info("journal");
    log_set_sink(NULL, NULL);
    unsetenv("JOURNAL_STREAM");
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    ssize_t size = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(size > 0);
    text[size] = 0;
    assert_true(text[0] == '2'); /* the year */
    assert_non_null(strstr(text, " WARN plain\n<3>2"));
    assert_non_null(strstr(text, "ERROR journal\n<6>2"));
}

static void a_reader_that_stops(void **state) {
    (void)state;
    enum { LINES = 20000, ROOM = 1 << 20 };
    int ends[2], kept = dup(STDERR_FILENO);
    char *text = malloc(ROOM);
    assert_non_null(text);
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    stderr_log_start();
    for (int i = 0; i < LINES; i++) log_info("nobody reads this");
    ssize_t size = read(ends[0], text, ROOM); /* as much as a pipe holds */
    assert_true(size > 0);
    log_info("somebody reads again");
    log_set_sink(NULL, NULL);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    size = read(ends[0], text, ROOM - 1);
    close(ends[0]);
    assert_true(size > 0);
    text[size] = 0;
    unsigned long long lines = 0;
    const char *notice = strchr(text, '(');
    assert_non_null(notice);
    assert_int_equal(sscanf(notice, "(%llu lines were lost: nobody read them)", &lines), 1);
    assert_true(lines > 0 && lines < LINES);
    assert_non_null(strstr(notice, "somebody reads again"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_signal_drains),
        cmocka_unit_test(second_signal_cancels),
        cmocka_unit_test(end_of_drain_time_cancels),
        cmocka_unit_test(third_signal_ends_it),
        cmocka_unit_test(systemd_hears_all),
        cmocka_unit_test(a_start_takes_its_time),
        cmocka_unit_test(the_dead_do_not_feed_the_watchdog),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(lines_on_stderr),
        cmocka_unit_test(a_reader_that_stops),
    };
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    if (supervise_block_signals(NULL) != CUZK_OK) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
