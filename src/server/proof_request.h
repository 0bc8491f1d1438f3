/* A SubmitProof or Prove message as the engine's request. */
#ifndef CUZK_SERVER_PROOF_REQUEST_H
#define CUZK_SERVER_PROOF_REQUEST_H

#include "engine/job.h"
#include "rpc/server.h"

/*
 * Decode the body of a call, which is taken over: *out has views of it and gives it back with
 * job_request_release, as it does everything allocated here. within_prove: the body is a ProveRequest.
 * CUZK_ERR_INPUT for bytes that are no such message, CUZK_ERR_USAGE for a missing or unusable field, with the
 * text for the client. On errors nothing is kept.
 */
cuzk_code proof_request_read(job_request *out, rpc_body *body, bool within_prove, cuzk_error *err);

#endif
