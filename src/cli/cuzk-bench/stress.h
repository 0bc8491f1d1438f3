/* A stress run: what is drawn by lot, what came of it, and the report (stress_report.c). */
#ifndef CUZK_BENCH_STRESS_H
#define CUZK_BENCH_STRESS_H

#include "daemon_state.h"
#include "proof_input.h"
#include "status_sampler.h"

#define STRESS_MAX_MIX 16u

/* How a call ended: a proof_status, or STRESS_RPC + rpc_status, or dropped by us. */
#define STRESS_RPC      5u
#define STRESS_DROPPED  (STRESS_RPC + 17u)
#define STRESS_OUTCOMES (STRESS_DROPPED + 1u)
const char *stress_outcome_name(unsigned outcome);

typedef struct stress_entry {
    proof_kind kind;
    proof_priority priority;
    unsigned weight;
    proof_input input;
    latency times; /* of completed proofs */
    uint64_t outcomes[STRESS_OUTCOMES];
    uint64_t sent, cancels, drops; /* cancels, drops: drawn */
} stress_entry;

typedef struct stress_result {
    const daemon_options *daemon;
    uint64_t seed;
    unsigned concurrency;
    double seconds;
    stress_entry *mix;
    unsigned n_mix;
    status_sampler sampler;
    daemon_state before, after;
    double settle_seconds;
    bool left; /* something is left behind */
    char leftover[512];
    uint64_t tolerated; /* bit by outcome */
    bool ok;
} stress_result;

/* Sets r->ok. */
void stress_judge(stress_result *r);
void stress_print(stress_result *r);
cuzk_code stress_put_json(stress_result *r, cuzk_error *err);

#endif
