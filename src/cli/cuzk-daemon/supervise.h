/*
 * The main thread of a running daemon: waits for signals, drains and cancels, and tells systemd how it goes.
 *
 *     supervise_block_signals();     before the first thread starts
 *     ... start; what takes long goes on in a thread ...
 *     supervise(&daemon);            returns when it is time to tear down
 *
 * SIGTERM or SIGINT drain; the next one, or the end of the drain time, cancels; one more returns at once.
 * SIGHUP reloads. A peer that goes away is never a signal (SIGPIPE is ignored).
 */
#ifndef CUZK_CLI_DAEMON_SUPERVISE_H
#define CUZK_CLI_DAEMON_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum supervise_start {
    SUPERVISE_STARTING,
    SUPERVISE_STARTED,
    SUPERVISE_START_FAILED
} supervise_start;

/* What is supervised. All calls come from the thread of supervise() and must return soon. */
typedef struct supervised {
    void *ctx;
    supervise_start (*started)(void *ctx); /* asked until it has started, or failed to, which ends it */
    void (*reload)(void *ctx);
    void (*drain)(void *ctx);        /* take no more jobs */
    uint64_t (*drain_ms)(void *ctx); /* asked once, when draining begins */
    void (*cancel)(void *ctx);       /* cancel the jobs that are left */
    bool (*finished)(void *ctx);     /* asked again and again while draining: is nothing left? */
    bool (*alive)(void *ctx);        /* does it still answer? While not, the watchdog is not fed */
    void (*describe)(void *ctx, char *text, size_t size); /* a line for `systemctl status` */
} supervised;

typedef enum supervise_end {
    SUPERVISE_DRAINED,  /* every job ended by itself, or the start failed */
    SUPERVISE_CANCELLED /* jobs were cancelled, or are left */
} supervise_end;

/* Every thread started later inherits it. */
cuzk_code supervise_block_signals(cuzk_error *err);

/* Says READY=1 once it has started: when clients can connect. */
cuzk_code supervise(supervise_end *out, const supervised *s, cuzk_error *err);

#endif
