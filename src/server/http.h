/*
 * The HTTP side of the daemon, for people, monitoring and load balancers:
 *
 *   /         the dashboard: one page without outside resources that polls /status
 *   /status   the engine's state as JSON (status_json.h); ?jobs=N lists at most N running, waiting and ended
 *             jobs each. May be read by pages of any origin
 *   /metrics  Prometheus text (metrics.h)
 *   /healthz  200 while the process answers at all
 *   /readyz   200 while jobs are accepted, else 503 with the reason: starting or draining
 *
 * GET and HEAD only. One thread answers, from snapshots of bounded size; connections are limited in number,
 * memory and time, so that a flood here costs the prover little.
 */
#ifndef CUZK_SERVER_HTTP_H
#define CUZK_SERVER_HTTP_H

#include "engine/engine.h"
#include "server/stats.h"

/* Where the state comes from; http_engine_source makes one of an engine. */
typedef struct http_source {
    void *ctx;
    cuzk_code (*snapshot)(void *ctx, engine_snapshot *out, size_t max_jobs, cuzk_error *err);
    void (*release)(engine_snapshot *s);
} http_source;
http_source http_engine_source(engine *e);

typedef struct http_server http_server;

/* Listen on "IP:PORT" or "[IPv6]:PORT" (port 0: the kernel chooses) and answer. CUZK_ERR_USAGE for an address
 * that is none, CUZK_ERR_RESOURCES for one that cannot be had. `stats` must outlive the server. At first the
 * server is not ready. */
cuzk_code http_server_start(http_server **out, const char *listen, http_source source,
                            const server_stats *stats, cuzk_error *err);
/* Ends open connections. NULL is fine. */
void http_server_stop(http_server *h);

/* "127.0.0.1:9821", with the port the kernel chose. */
const char *http_server_address(const http_server *h);
/* What /readyz says while the engine is not draining. */
void http_server_set_ready(http_server *h, bool ready);

#endif
