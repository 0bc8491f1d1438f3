/*
 * Jobs that outlive the process. The journal is the engine's store (engine_store) in a directory:
 *
 *     jobs.db           an SQLite database: every accepted job, and the results of ended ones
 *     inputs/<digest>   the input of unfinished jobs, one file for all with equal requests
 *     lock              held by the daemon that uses the directory
 *
 * A job counts as acknowledged when engine_submit with ENGINE_DURABLE has returned CUZK_OK: by then its input
 * and its row are on the disk. From then on it survives the end of the process at any moment; the next one
 * runs it again, or has its result. Results go when they are older than result_ttl, the oldest also when all
 * take more than result_bytes, and with engine_forget. What was cut off half-way (an input without a row) is
 * removed on opening. Formats are in docs/formats.md.
 *
 * A disk that is full fails the submission that meets it, and nothing of it stays. An end that cannot be
 * written is logged; the job then runs again in the next process.
 */
#ifndef CUZK_SERVER_JOURNAL_H
#define CUZK_SERVER_JOURNAL_H

#include "engine/engine.h"

typedef struct journal journal;

typedef struct journal_limits {
    double result_ttl;     /* seconds a result is kept, above 0 */
    uint64_t result_bytes; /* of proofs, and 512 for each ended job */
} journal_limits;

/* Open or make the journal in `directory`, which is made if only it is missing. CUZK_ERR_RESOURCES: another
 * process uses it (its id is in the message), or the system refused. CUZK_ERR_INPUT: the database there is
 * damaged, newer than this build or of something else; it is left as it was. */
cuzk_code journal_open(journal **out, const char *directory, const journal_limits *limits, cuzk_error *err);

/* After engine_destroy of the engine that has its store. */
void journal_close(journal *j);

/* For engine_config; lives as long as the journal. */
const engine_store *journal_store(journal *j);

void journal_set_limits(journal *j, const journal_limits *limits);

typedef struct journal_resumed {
    uint32_t results; /* of ended jobs, for who asks for them */
    uint32_t jobs;    /* unfinished ones, queued again */
    uint32_t failed;  /* unfinished ones that cannot be: recorded as failed, with the reason */
} journal_resumed;

/* Give an engine, whose store this is, the results kept and the unfinished jobs, in the order they were
 * accepted. Before the engine takes jobs of others. Takes as long as parsing them, and waits while the engine
 * has no room for more. A job whose input is missing or damaged, whose deadline has passed or that the engine
 * refuses for good is recorded as ended. CUZK_ERR_CANCELLED when the engine is draining,
 * CUZK_ERR_RESOURCES without memory, CUZK_ERR_INPUT when the database turns out damaged: the rest stays
 * unfinished. */
cuzk_code journal_resume(journal_resumed *out, journal *j, engine *e, cuzk_error *err);

#endif
