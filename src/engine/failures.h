/*
 * Kept inputs of jobs whose proof failed its self-check twice: what is needed to compute them again
 * (`cuzk replay`). Each is a folder NUMBER-KIND in the failure directory with `job.json` (id, kind, circuit,
 * sector, miner, error, build and processor) and `input.json` (a phase-1 output as `cuzk prove` reads it).
 */
#ifndef CUZK_ENGINE_FAILURES_H
#define CUZK_ENGINE_FAILURES_H

#include "engine/engine_internal.h"

/* Keep a job's input; the oldest folders go until all together take at most max_bytes. What cannot be written
 * is left out silently: keeping evidence must not fail anything else. */
void failure_keep(const char *directory, uint64_t max_bytes, const record *r);

#endif
