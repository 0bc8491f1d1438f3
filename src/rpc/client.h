/*
 * A blocking gRPC client for unary calls over HTTP/2 without TLS: one connection, one call at a time. An
 * object must not be used by two threads at once; several objects are independent.
 *
 * The connection is made by the first call and again by a later one if the server has closed it meanwhile.
 */
#ifndef CUZK_RPC_CLIENT_H
#define CUZK_RPC_CLIENT_H

#include "rpc/status.h"
#include "rpc/wire.h"

typedef struct rpc_client rpc_client;

/* What came of a call: the server's status, or UNAVAILABLE (no connection), DEADLINE_EXCEEDED, CANCELLED,
 * INTERNAL (not gRPC, what came back) or RESOURCE_EXHAUSTED (an answer over the limit, no memory) from here.
 */
typedef struct rpc_reply {
    rpc_status status;
    char message[1024];
    int64_t retry_ms; /* the server's hint when to try again; negative without one */
    uint8_t *data;    /* the response when status is RPC_OK; rpc_reply_free */
    size_t size;
} rpc_reply;

/* "unix:///path", "unix:path", "http://host:port" or "host:port". CUZK_ERR_USAGE for what is none of these.
 */
cuzk_code rpc_client_create(rpc_client **out, const char *address, cuzk_error *err);
void rpc_client_destroy(rpc_client *c); /* NULL is fine */

/* Answers longer than this are refused. 256 MiB at first. */
void rpc_client_set_limit(rpc_client *c, uint64_t bytes);

/* Call `path` ("/package.Service/Method"). timeout: seconds, sent to the server as well; 0 or INFINITY for
 * none. *reply is filled in any case. */
void rpc_client_call(rpc_client *c, const char *path, wire_view request, double timeout, rpc_reply *reply);
/* End the call that another thread is in (status CANCELLED), or the next one. Also for signal handlers. */
void rpc_client_cancel(rpc_client *c);

void rpc_reply_free(rpc_reply *reply); /* harmless twice */

#endif
