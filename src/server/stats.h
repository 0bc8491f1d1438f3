/*
 * What status pages tell beside the engine's own state: the build, settings, and why requests were refused.
 * One for the daemon; the counters may be changed and read from any thread.
 */
#ifndef CUZK_SERVER_STATS_H
#define CUZK_SERVER_STATS_H

#include <stdatomic.h>

#include "base/error.h"

/* Why a request was turned away before any work on it. */
typedef enum refusal {
    REFUSED_QUEUE_FULL, /* as many unfinished jobs as allowed */
    REFUSED_MEMORY,     /* requests being held, or a job that does not fit the budget */
    REFUSED_DRAINING,
    REFUSED_INPUT,       /* malformed, or vanilla proofs of the wrong shape */
    REFUSED_UNSUPPORTED, /* a kind or circuit this build has no prover for, or no key */
    REFUSED_CONFLICT     /* the id of another input's job */
} refusal;
#define REFUSALS 6u
const char *refusal_name(unsigned reason); /* "queue_full" */

typedef struct server_stats {
    cuzk_build build;
    unsigned max_synthesis; /* partitions that may be synthesized ahead of the prover */
    atomic_uint_least64_t refused[REFUSALS];
} server_stats;

/* After an engine was created, which chooses the code variant. */
void server_stats_init(server_stats *s, unsigned max_synthesis);
void server_stats_refuse(server_stats *s, refusal reason);

#endif
