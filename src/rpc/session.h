/*
 * The server without sockets: what all connections share (core), a connection's HTTP/2 session, and its
 * calls. Bytes received go in, bytes to send come out. Used by server.c, and by whoever wants to feed a
 * session bytes of their own making. Everything runs on one thread, except what rpc/server.h allows from
 * others.
 */
#ifndef CUZK_RPC_SESSION_H
#define CUZK_RPC_SESSION_H

#include "rpc/body.h"
#include "rpc/timer.h"

#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct rpc_core {
    const rpc_service *service;
    rpc_handlers handlers;
    rpc_options options; /* defaults filled in */
    rpc_budget *budget;
    rpc_timers timers;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *h2_options;
    size_t handed; /* calls with their handler */
    atomic_bool serving, draining;
    struct {
        _Atomic uint64_t connections, connections_total, calls, calls_total, refused_total, cancelled_total,
            bytes_received_total;
    } counters;

    pthread_mutex_t lock; /* of `finished` */
    rpc_call *finished;   /* by handlers, newest first */
    int wake_fd;          /* eventfd that tells the thread of it */
} rpc_core;

cuzk_code core_init(rpc_core *c, const rpc_service *service, const rpc_handlers *handlers,
                    const rpc_options *options, cuzk_error *err);
void core_destroy(rpc_core *c);
/* Answer what handlers have finished since the last time. */
void core_run_finished(rpc_core *c);

typedef struct rpc_session rpc_session;

/* on_work is called, from any function below or of the core, when the session may have bytes to send. */
cuzk_code session_create(rpc_session **out, rpc_core *core, const char *peer, void (*on_work)(void *),
                         void *ctx, cuzk_error *err);
/* Calls in progress are cancelled. */
void session_destroy(rpc_session *s);

/* false: the peer does not speak HTTP/2 or broke its rules; close the connection once what there is to send
 * was sent. */
bool session_receive(rpc_session *s, const uint8_t *data, size_t size);
/* The next bytes to send, valid until the next call; 0 when there are none now, negative when the session is
 * broken. */
ptrdiff_t session_produce(rpc_session *s, const uint8_t **data);
/* Was the connection's opening (preface and settings) seen? */
bool session_is_greeted(const rpc_session *s);
/* Nothing more will happen: close. */
bool session_is_over(const rpc_session *s);
/* Say goodbye: calls that are there may finish, new ones are refused. */
void session_drain(rpc_session *s);

#endif
