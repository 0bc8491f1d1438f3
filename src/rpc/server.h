/*
 * A gRPC server: unary calls over HTTP/2 without TLS, on Unix sockets and TCP, with health and reflection.
 *
 * One thread of its own does all input and output and makes all callbacks, so they must not block. A call is
 * answered by rpc_call_finish from any thread, at any later time. The life of a call:
 *
 *     admit (headers are in) -> sized (length is known) -> handle (request is complete)
 *        refused: nothing        lost or refused after        -> cancelled, at most once, if the client
 *        follows                 admit: abandoned                goes away or its deadline passes
 *                                                             -> rpc_call_finish, exactly once, by the
 * handler, cancelled or not
 *                                                             -> released: the call no longer exists
 *
 * cancelled can run while another thread is in rpc_call_finish, so what a handler keeps for a call must live
 * until `released`. A handler that is slow to finish a cancelled call delays nothing but rpc_server_destroy.
 *
 * Memory: a request lies in one buffer of exactly its size, committed as its bytes arrive, and counted
 * against options.max_held_bytes from when its length is known until it is freed. What does not fit is
 * refused before it is uploaded.
 */
#ifndef CUZK_RPC_SERVER_H
#define CUZK_RPC_SERVER_H

#include "rpc/service.h"
#include "rpc/status.h"
#include "rpc/wire.h"

typedef struct rpc_server rpc_server;
typedef struct rpc_call rpc_call;
typedef struct rpc_body rpc_body;

#define RPC_SIZE_UNKNOWN UINT64_MAX

/* Why a call is not taken. */
typedef struct rpc_refusal {
    rpc_status status; /* RPC_OK: taken */
    int64_t retry_ms;  /* when to try again, told to the client; negative for no hint */
    char message[256];
} rpc_refusal;

typedef struct rpc_handlers {
    void *ctx;
    /* May refuse the call before anything is uploaded by setting out->status (preset: RPC_OK, no hint).
     * size: bytes of the request if the client declared it, else RPC_SIZE_UNKNOWN. May be NULL. */
    void (*admit)(void *ctx, rpc_call *call, uint64_t size, rpc_refusal *out);
    /* The same once the exact size is known and fits the server's own limits. May be NULL. */
    void (*sized)(void *ctx, rpc_call *call, uint64_t size, rpc_refusal *out);
    /* An admitted call that will not be handled. May be NULL. */
    void (*abandoned)(void *ctx, rpc_call *call);
    /* The request is complete: see rpc_call_body. */
    void (*handle)(void *ctx, rpc_call *call);
    /* Nobody waits for the answer any more. why: RPC_CANCELLED or RPC_DEADLINE_EXCEEDED. May be NULL. */
    void (*cancelled)(void *ctx, rpc_call *call, rpc_status why);
    /* Last use of a handled call. May be NULL. */
    void (*released)(void *ctx, rpc_call *call);
    /* Something an operator may want to know (a full table of files, a broken listener). May be NULL. */
    void (*log)(void *ctx, const char *text);
} rpc_handlers;

/* Zero means the default. */
typedef struct rpc_options {
    uint64_t max_message_bytes;      /* of one request: 256 MiB */
    const char *max_message_setting; /* what sets it, said to who exceeds it; lives as long as the server */
    uint64_t max_held_bytes;         /* of all requests: 1 GiB */
    double upload_timeout;    /* seconds without progress after which an upload, a handshake or a client that
                                 does not read its answers is given up: 60 */
    uint32_t max_connections; /* 16384; more wait until others close */
} rpc_options;

typedef struct rpc_counters {
    uint64_t connections, connections_total;
    uint64_t calls, calls_total; /* in progress, whether uploading or handled; ever begun */
    uint64_t refused_total;      /* by admit, sized, the byte budget or the message limit */
    uint64_t cancelled_total;    /* by clients or deadlines */
    uint64_t bytes_held, bytes_received_total;
} rpc_counters;

/* Nothing listens yet. `service`, what it points to and handlers->ctx must outlive the server. */
cuzk_code rpc_server_create(rpc_server **out, const rpc_service *service, const rpc_handlers *handlers,
                            const rpc_options *options, cuzk_error *err);

/* Listen on "unix:///path", "unix:path", "127.0.0.1:9820", "http://127.0.0.1:9820", "[::1]:9820" or
 * "localhost:9820"; port 0 lets the kernel choose. Several times, before rpc_server_start. A Unix socket gets
 * mode 0660; one that exists is replaced only if nobody answers on it; a lock file beside it ("path.lock")
 * keeps two servers from taking it at once; both are gone after rpc_server_destroy. CUZK_ERR_USAGE for an
 * address that is none, CUZK_ERR_RESOURCES for one that cannot be had. */
cuzk_code rpc_server_listen(rpc_server *s, const char *address, cuzk_error *err);
/* The addresses in the order they were added, with the port the kernel chose; NULL from `index` = count on.
 */
const char *rpc_server_address(const rpc_server *s, size_t index);

cuzk_code rpc_server_start(rpc_server *s, cuzk_error *err);

/* The following may be called from any thread. */
void rpc_server_set_serving(rpc_server *s, bool serving); /* what health says; at first: serving */
rpc_counters rpc_server_counters(rpc_server *s);
/* Take no new connections and no new calls, let those there are finish, and stop. After `seconds` the rest is
 * cancelled. A second call can only shorten the time. */
void rpc_server_drain(rpc_server *s, double seconds);
/* Has a drained server stopped? Waits for it at most `seconds`. */
bool rpc_server_wait(rpc_server *s, double seconds);

/* Drain at once; returns when every handled call was finished. No callback runs afterwards. NULL is fine. */
void rpc_server_destroy(rpc_server *s);

/* Of a call in a callback, and until its handler finishes it, from any thread. */
size_t rpc_call_method(const rpc_call *call);    /* index in service->methods */
const char *rpc_call_peer(const rpc_call *call); /* "127.0.0.1:4711", "unix:pid=12,uid=1000" */
double rpc_call_deadline(const rpc_call *call);  /* on base/clock.h's clock; INFINITY without one */
bool rpc_call_is_cancelled(const rpc_call *call);
/* Room for the handler, NULL at first. Set it in callbacks only. */
void rpc_call_set_data(rpc_call *call, void *data);
void *rpc_call_data(const rpc_call *call);

/* The request's bytes, valid until the call is finished. */
wire_view rpc_call_body(const rpc_call *call);
/* Take the buffer over, so that it can outlive the call (and even the server) or go earlier; once, from
 * handle on. rpc_body_free gives its bytes back to the budget, from any thread. */
rpc_body *rpc_call_take_body(rpc_call *call);
wire_view rpc_body_view(const rpc_body *body);
void rpc_body_free(rpc_body *body); /* NULL is fine */

/* Answer a handled call: RPC_OK with a message of `size` bytes at `bytes`, or an error with a text (NULL:
 * none; made valid UTF-8, cut at 4 KiB). bytes is malloc'd and belongs to the server from here on, also when
 * nobody waits any more; NULL is an empty message. The call must not be used afterwards. */
void rpc_call_finish(rpc_call *call, rpc_status status, const char *message, uint8_t *bytes, size_t size);

#endif
