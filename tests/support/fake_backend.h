/*
 * A backend that proves nothing but behaves like one: for tests of the engine and of what stands on it. A
 * request's vanilla proof is its script, words of NAME=VALUE:
 *     partitions=N  check=MS  synthesis=MS  prove=MS  verify=MS   core time, in pieces of 1 ms
 *     task=BYTES  witness=BYTES  vectors=BYTES                     memory it says it needs
 *     circuit=NAME
 *     fail=STAGE:PARTITION:ATTEMPT:HOW   HOW is error, selfcheck, or hang (until it is cancelled); may be
 * repeated Its proofs are fake_proof. Anything else is an error of parsing.
 */
#ifndef CUZK_TESTS_FAKE_BACKEND_H
#define CUZK_TESTS_FAKE_BACKEND_H

#include "engine/engine.h"

extern const engine_backend fake_backend;

/* The proof of a partition of a script. */
void fake_proof(uint8_t out[CUZK_PROOF_BYTES], const char *script, uint32_t partition);

/* Tasks and witnesses alive: 0 when nothing leaks. */
unsigned fake_alive(void);

/* Stages that have begun since the program's start. */
unsigned fake_begun(stage_kind stage);

/* A request for it; id may be NULL. The script must stay until it is released. */
job_request fake_request(const char *id, const char *script);

#endif
