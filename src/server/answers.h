/* What the service answers, as encoded messages, and which status an error of the engine becomes. */
#ifndef CUZK_SERVER_ANSWERS_H
#define CUZK_SERVER_ANSWERS_H

#include "engine/engine.h"
#include "rpc/messages.h"
#include "rpc/status.h"
#include "server/stats.h"

/* Input and usage: INVALID_ARGUMENT. Parameters: FAILED_PRECONDITION. Resources: RESOURCE_EXHAUSTED when
 * waiting helps, else FAILED_PRECONDITION. Draining: UNAVAILABLE. The rest: INTERNAL. */
rpc_status answer_status(cuzk_code code, bool can_retry);

/* An AwaitProofResponse, within a ProveResponse if asked for: the result of a job. */
void answer_result(wire_buffer *out, const engine_result *result, bool within_prove);
/* The same for a job that is still running after the time the caller wanted to wait. */
void answer_still_running(wire_buffer *out, const char *id, uint64_t waited_ms);

/* A GetStatusResponse. The prover is its one "GPU": its memory is the budget, its job the first one that is
 * being proved. Keys that are loaded, kinds with unfinished jobs, and true numbers. */
void answer_server_status(wire_buffer *out, const engine_snapshot *s, const server_stats *stats);

#endif
