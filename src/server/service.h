/*
 * The gRPC service cuzk.v1.ProvingEngine on an engine.
 *
 * Nothing that takes long runs on the I/O thread. GetStatus, GetMetrics, AwaitProof and CancelProof are
 * answered there from state of bounded size; requests for proofs are decoded and parsed by a few threads
 * here, and keys are preloaded and evicted by one more. A request for a proof is refused before its upload
 * when the queue is full or the request does not fit the memory budget (RESOURCE_EXHAUSTED, with a time to
 * wait), or the engine drains (UNAVAILABLE).
 *
 *   SubmitProof   the job goes on without the client; with a store it is durable when the answer comes
 *   Prove         the call's deadline is the job's; when the client goes away and nobody else waits for the
 *                 job, it is cancelled. Wrong input is INVALID_ARGUMENT, also when only the check of the
 *                 vanilla proofs finds it; every other end is OK with the status of the job
 *   AwaitProof    OK with status TIMEOUT when the job still runs after timeout_ms (0: no limit)
 *   CancelProof   OK, was_running tells
 *   PreloadSRS    INTERNAL, as in the reference, for an unknown circuit and for a file that is missing or bad
 *   EvictSRS      NOT_FOUND for an unknown circuit, FAILED_PRECONDITION for a key in use
 *
 * The same request_id with the same input attaches to the job there is; with other input it is
 * ALREADY_EXISTS. A kind of proof without a circuit is UNIMPLEMENTED.
 */
#ifndef CUZK_SERVER_SERVICE_H
#define CUZK_SERVER_SERVICE_H

#include "engine/engine.h"
#include "rpc/server.h"
#include "server/stats.h"

typedef struct service service;

typedef struct service_config {
    engine *engine;
    server_stats *stats;
    unsigned threads;          /* that decode and parse requests; 0: 2 */
    bool supported[JOB_KINDS]; /* kinds the engine has a backend for */
} service_config;

/* *config is copied; what it points to must outlive the service. max_queue as engine_config's. */
cuzk_code service_create(service **out, const service_config *config, unsigned max_queue, cuzk_error *err);
/* After the rpc server of the handlers is destroyed, before the engine is. NULL is fine. */
void service_destroy(service *s);

/* Follow engine_reconfigure. */
void service_set_max_queue(service *s, unsigned max_queue);

/* For rpc_server_create, with proving_service of rpc/messages.h. */
rpc_handlers service_handlers(service *s);

#endif
