/* One stream of a session: see call.c. Private to the session. */
#ifndef CUZK_RPC_CALL_H
#define CUZK_RPC_CALL_H

#include "rpc/session.h"

typedef enum call_kind { CALL_UNKNOWN, CALL_METHOD, CALL_HEALTH, CALL_REFLECTION } call_kind;

struct rpc_session {
    rpc_core *core;
    nghttp2_session *h2;
    rpc_call *calls;
    char peer[80];
    bool greeted, draining, goodbye_sent;
    void (*on_work)(void *);
    void *ctx;
};

struct rpc_call {
    rpc_core *core;
    rpc_session *session; /* NULL once the stream is closed */
    rpc_call *previous, *next;
    int32_t stream;
    call_kind kind;
    size_t method;
    char peer[80];
    void *data;

    /* From the headers. */
    char path[256];
    size_t header_bytes;
    uint64_t content_length;
    double deadline;
    bool is_post, is_grpc, is_compressed, bad_timeout;

    /* The upload. */
    bool admitted, uploaded; /* uploaded: the client has ended its side */
    uint8_t prefix[5];
    size_t prefix_size;
    rpc_body *body;
    bool complete; /* body is a whole message */
    size_t mark;   /* bytes received at the last look for progress */
    double progress_due;
    uint64_t received;
    rpc_timer timer;

    /* The answer. */
    bool handed, answered; /* handed: with the handler; answered: nothing more is accepted as one */
    bool ending;           /* after `out`, the trailers */
    bool started;          /* response headers were submitted */
    wire_buffer out;
    size_t sent;
    rpc_status status;
    char *message; /* encoded; may be NULL */
    int64_t retry_ms;

    /* What the handler's thread leaves; handed over by core->lock. */
    rpc_call *next_finished;
    rpc_status result_status;
    char *result_message;
    uint8_t *result;
    size_t result_size;
    atomic_bool is_cancelled;
};

/* The session's events. */
rpc_call *call_begin(rpc_session *s, int32_t stream); /* NULL: out of memory */
void call_header(rpc_call *c, const char *name, size_t name_size, const char *value, size_t value_size);
void call_headers_end(rpc_call *c);
void call_receive(rpc_call *c, const uint8_t *data, size_t size);
void call_upload_end(rpc_call *c);
void call_stream_closed(rpc_call *c);
/* Take the handler's answer of a finished call; it may be freed. */
void call_finished(rpc_call *c);

#endif
