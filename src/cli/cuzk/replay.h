/*
 * The parts of `cuzk replay`: the input kept of a failed job, one run of it, and what differs between runs.
 *
 * A run has a process of its own: the code variant is chosen once per process, and a run that crashes is a
 * result like any other. It reports through a pipe: each stage as it begins, the digests of each partition's
 * values, and how it ended. So the calling process must have no threads yet.
 */
#ifndef CUZK_CLI_REPLAY_H
#define CUZK_CLI_REPLAY_H

#include "engine/job.h"
#include "r1cs/digest.h"

/* --- the input -------------------------------------------------------------------------------------------
 */

typedef struct replay_job {
    char input[1024]; /* path of the phase-1 output */
    bool described;   /* the rest is from job.json */
    uint64_t miner_id, sector_number;
    char id[JOB_ID_BYTES], kind[32], circuit[32], error[768];
    char version[64], commit[64], variant[32]; /* of the build that failed; "" when not told */
    uint64_t self_check_failures;
} replay_job;

/* A folder with job.json and input.json, or a phase-1 output alone. CUZK_ERR_INPUT: missing, no JSON, a field
 * is missing or of the wrong type, a kind that this build cannot prove. */
cuzk_code replay_job_read(replay_job *out, const char *path, cuzk_error *err);

/* --- a run -----------------------------------------------------------------------------------------------
 */

typedef enum replay_stage {
    REPLAY_INPUT,       /* reading it */
    REPLAY_PARAMETERS,  /* opening them, and memory */
    REPLAY_CHECK,       /* vanilla proofs */
    REPLAY_SYNTHESIS,   /* witness and values */
    REPLAY_CONSTRAINTS, /* do the values satisfy them */
    REPLAY_PROVE,       /* with the prover's own self-check */
    REPLAY_VERIFY,      /* all partitions, against the sector's statement */
    REPLAY_STAGES
} replay_stage;
const char *replay_stage_name(replay_stage stage);

typedef struct replay_options {
    const replay_job *job;
    const char *params;  /* directory, or NULL */
    cuzk_options engine; /* threads and memory */
    const char *variant; /* portable, adx, ifma; NULL: CUZK_ISA or the best */
    bool quiet;          /* no progress bar */
} replay_options;

/* Values that are digested, in the order they are computed. */
#define REPLAY_VECTORS 4u
const char *replay_vector_name(unsigned vector); /* "aux", "a", "b", "c" */

typedef struct replay_digests {
    vector_digest of[REPLAY_VECTORS]; /* chunk_sha256 NULL: not computed */
    uint64_t values[REPLAY_VECTORS];
} replay_digests;

typedef struct replay_run {
    char variant[32], circuit[32];
    cuzk_code code;
    replay_stage stage; /* the one that failed */
    bool in_partition;
    uint32_t partition; /* the one at fault */
    cuzk_error error;
    double seconds;
    uint32_t partitions;
    replay_digests *digests; /* `partitions` of them */
} replay_run;

/* Run it. Errors are those of starting the process; how the run went is in *out. */
cuzk_code replay_run_start(replay_run *out, const replay_options *o, cuzk_error *err);
void replay_run_free(replay_run *r);

/* --- differences -----------------------------------------------------------------------------------------
 */

typedef struct replay_difference {
    uint32_t partition;
    unsigned vector;
    uint64_t first, last; /* the block of values that differs first */
    bool exact;           /* `first` is the value itself, found and expected are there */
    uint8_t found[32], expected[32];
} replay_difference;

/* The first value block in which two runs differ, of what both have computed; false when there is none. */
bool replay_compare(replay_difference *out, const replay_run *found, const replay_run *expected);

/* Compute the block once more in both ways and find the value itself. d->exact stays false when they agree
 * now: then the difference came from the machine and not from the code. */
cuzk_code replay_locate(replay_difference *d, const replay_options *found, const replay_options *expected,
                        cuzk_error *err);

#endif
