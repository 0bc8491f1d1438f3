/*
 * One loop around a signalfd. Its timeout is short while starting and draining, because the end of the start
 * or of the last job is asked for, and otherwise what the watchdog and the status line need.
 */
#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "notify.h"

#define DRAIN_POLL_SECONDS 0.05
#define STATUS_SECONDS     2.0
#define CANCEL_SECONDS     30.0 /* cancelled work stops within a second; this is for a machine in trouble */

typedef enum phase { SERVING, DRAINING, CANCELLING, ABANDONED } phase;

typedef struct loop {
    const supervised *s;
    int fd;
    phase phase;
    bool announced;       /* READY=1 was sent */
    double deadline;      /* of the phase */
    double watchdog, fed; /* seconds between feedings, 0 = none; when last */
    double described;     /* when the status line was last sent */
    char status[256];     /* as sent */
} loop;

static void watched_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
}

cuzk_code supervise_block_signals(cuzk_error *err) {
    sigset_t set;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    watched_signals(&set);
    int failure = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (failure == 0 && sigaction(SIGPIPE, &ignore, NULL) != 0) failure = errno;
    if (failure == 0) return CUZK_OK;
    return error_errno(err, CUZK_ERR_INTERNAL, NULL, failure, "cannot block signals");
}

static void enter_cancelling(loop *l, const char *why) {
    log_warn("cancelling the jobs that are left", LOG_TEXT("why", why));
    l->phase = CANCELLING;
    l->deadline = clock_seconds() + CANCEL_SECONDS;
    l->s->cancel(l->s->ctx);
}

static void enter_draining(loop *l, const char *signal_name) {
    double seconds = (double)l->s->drain_ms(l->s->ctx) * 1e-3;
    log_info("draining: no new jobs, waiting for those accepted", LOG_TEXT("signal", signal_name),
             LOG_REAL("seconds", seconds));
    notify_send("STOPPING=1");
    l->phase = DRAINING;
    l->deadline = clock_seconds() + seconds;
    l->s->drain(l->s->ctx);
}

static void handle_hangup(loop *l) {
    if (l->phase != SERVING) {
        log_info("draining: the settings are not read again");
        return;
    }
    struct timespec now;
    char text[64];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    if (l->announced) notify_send(text);
    l->s->reload(l->s->ctx);
    if (l->announced) notify_send("READY=1");
}

static void handle_signal(loop *l, uint32_t number) {
    if (number == SIGHUP) {
        handle_hangup(l);
        return;
    }
    const char *name = number == SIGTERM ? "SIGTERM" : "SIGINT";
    if (l->phase == SERVING)
        enter_draining(l, name);
    else if (l->phase == DRAINING)
        enter_cancelling(l, name);
    else
        l->phase = ABANDONED;
}

static void feed(loop *l, double now) {
    if (l->watchdog > 0 && now - l->fed >= l->watchdog / 2) {
        l->fed = now;
        if (l->s->alive(l->s->ctx))
            notify_send("WATCHDOG=1");
        else
            log_error("the daemon does not answer itself; the watchdog is not fed");
    }
    if (!notify_wanted() || now - l->described < STATUS_SECONDS) return;
    l->described = now;
    char line[200], text[sizeof line + 16];
    l->s->describe(l->s->ctx, line, sizeof line);
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' '; /* a new line would begin another field */
    snprintf(text, sizeof text, "STATUS=%s", line);
    if (strcmp(text, l->status) == 0) return;
    snprintf(l->status, sizeof l->status, "%s", text);
    notify_send(text);
}

static int timeout_ms(const loop *l) {
    double seconds = notify_wanted() ? STATUS_SECONDS : 60;
    if (l->watchdog > 0 && l->watchdog / 4 < seconds) seconds = l->watchdog / 4;
    if ((l->phase != SERVING || !l->announced) && DRAIN_POLL_SECONDS < seconds) seconds = DRAIN_POLL_SECONDS;
    return (int)(seconds * 1e3) + 1;
}

static cuzk_code wait_for_signal(loop *l, cuzk_error *err) {
    struct pollfd p = {l->fd, POLLIN, 0};
    int ready = poll(&p, 1, timeout_ms(l));
    if (ready < 0 && errno != EINTR)
        return error_errno(err, CUZK_ERR_INTERNAL, NULL, errno, "cannot wait for signals");
    if (ready <= 0) return CUZK_OK;
    struct signalfd_siginfo info;
    ssize_t size = read(l->fd, &info, sizeof info);
    if (size == (ssize_t)sizeof info) handle_signal(l, info.ssi_signo);
    return CUZK_OK;
}

static cuzk_code run(loop *l, supervise_end *out, cuzk_error *err) {
    for (;;) {
        if (!l->announced && l->phase == SERVING) {
            supervise_start state = l->s->started(l->s->ctx);
            l->announced = state == SUPERVISE_STARTED;
            if (state == SUPERVISE_START_FAILED) {
                *out = SUPERVISE_DRAINED;
                return CUZK_OK;
            }
            if (l->announced) notify_send("READY=1");
        }
        feed(l, clock_seconds());
        if (l->phase == ABANDONED) break;
        if (l->phase != SERVING && l->s->finished(l->s->ctx)) break;
        if (l->phase == DRAINING && clock_seconds() >= l->deadline)
            enter_cancelling(l, "the drain time is over");
        else if (l->phase == CANCELLING && clock_seconds() >= l->deadline)
            break;
        else
            TRY(wait_for_signal(l, err));
    }
    *out = l->phase == DRAINING ? SUPERVISE_DRAINED : SUPERVISE_CANCELLED;
    return CUZK_OK;
}

cuzk_code supervise(supervise_end *out, const supervised *s, cuzk_error *err) {
    sigset_t set;
    watched_signals(&set);
    loop l = {.s = s, .phase = SERVING, .watchdog = notify_watchdog_seconds(), .described = -STATUS_SECONDS};
    l.fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (l.fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot receive signals");
    cuzk_code code = run(&l, out, err);
    close(l.fd);
    return code;
}
