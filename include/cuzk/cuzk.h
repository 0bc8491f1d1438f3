/*
 * libcuzk: Filecoin proofs (Groth16 over BLS12-381) from vanilla proofs.
 *
 * Every function that can fail returns a cuzk_code and fills the cuzk_error its caller passes (which may be
 * NULL). Nothing in the library prints, exits or aborts. Buffers are the caller's unless a comment says
 * otherwise. All functions may be called from any thread.
 */
#ifndef CUZK_H
#define CUZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUZK_API __attribute__((visibility("default")))
#else
#define CUZK_API
#endif

/* What went wrong, by who can mend it. The command-line tools exit with the same numbers. */
typedef enum cuzk_code {
    CUZK_OK = 0,
    CUZK_ERR_PROOF = 1,     /* a proof does not verify */
    CUZK_ERR_USAGE = 2,     /* an argument is out of its range */
    CUZK_ERR_INPUT = 3,     /* an input file or vanilla proof is malformed or does not hold */
    CUZK_ERR_PARAMS = 4,    /* Groth16 parameters or verifying key: missing, damaged or of another circuit */
    CUZK_ERR_RESOURCES = 5, /* memory, disk space, threads, or the operating system refused */
    CUZK_ERR_CANCELLED = 6, /* a progress callback asked to stop */
    CUZK_ERR_INTERNAL = 7   /* a self-check failed: a defect of this library or of the machine */
} cuzk_code;

#define CUZK_NO_OFFSET UINT64_MAX

typedef struct cuzk_error {
    cuzk_code code;
    uint64_t offset;   /* byte offset in `path`, or CUZK_NO_OFFSET */
    char path[512];    /* the file or field path at fault, or "" */
    char message[768]; /* what was found and what was expected, without path and offset */
} cuzk_error;

/* Progress of long work. `phase` is a short constant name; total is 0 when unknown. Called from one thread at
 * a time. Return false to stop the work: it then ends with CUZK_ERR_CANCELLED. */
typedef struct cuzk_progress {
    bool (*report)(void *ctx, const char *phase, uint64_t done, uint64_t total);
    void *ctx;
} cuzk_progress;

/* --- the library ------------------------------------------------------------------------------------------
 */

typedef struct cuzk_build {
    const char *version; /* "0.1.0" */
    const char *commit;  /* short git commit, or "unknown" */
    const char *variant; /* code variant in use: "portable", "adx" or "ifma" (CUZK_ISA forces one) */
    const char *sha256;  /* "sha-ni" or "generic" */
} cuzk_build;

typedef struct cuzk_options {
    unsigned threads;       /* 0: one per CPU this process may use; at most 1024 */
    uint64_t memory_budget; /* bytes for big buffers; 0: what the machine or cgroup has, less a margin */
} cuzk_options;

/* Threads, memory budget and code variant. Create one and share it; options may be NULL. */
typedef struct cuzk cuzk;
CUZK_API cuzk_code cuzk_create(cuzk **out, const cuzk_options *options, cuzk_error *err);
CUZK_API void cuzk_destroy(cuzk *engine);
CUZK_API void cuzk_get_build(cuzk_build *out);

/* --- phase-1 outputs --------------------------------------------------------------------------------------
 */

/* The output of a sector's phase 1: vanilla proofs of every partition (SealCommitPhase1Output). */
typedef struct cuzk_c1 cuzk_c1;

/* Read the JSON: the bare object, or the wrapper {"SectorNum", "Phase1Out": base64, "SectorSize"}. Shape and
 * field elements are checked, the proofs themselves are not (cuzk_c1_verify). */
CUZK_API cuzk_code cuzk_c1_open(cuzk_c1 **out, const char *path, cuzk_error *err);
/* The same from memory; `name` stands for the path in errors. */
CUZK_API cuzk_code cuzk_c1_parse(cuzk_c1 **out, const void *json, size_t size, const char *name,
                                 cuzk_error *err);
CUZK_API void cuzk_c1_close(cuzk_c1 *c1);

typedef struct cuzk_c1_info {
    const char *registered_proof; /* "StackedDrg32GiBV1_1" */
    uint64_t sector_bytes;
    unsigned partitions, challenges, layers; /* challenges per partition */
    bool has_sector_num;                     /* the wrapper gives one */
    uint64_t sector_num;
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
} cuzk_c1_info;
CUZK_API void cuzk_c1_get_info(cuzk_c1_info *out, const cuzk_c1 *c1);

/* Check every challenge, Merkle path, column, label and encoding (vanilla verification), on all threads. The
 * error names the first that does not hold. Phase "vanilla". */
CUZK_API cuzk_code cuzk_c1_verify(cuzk *engine, const cuzk_c1 *c1, const cuzk_progress *progress,
                                  cuzk_error *err);

/* Does the replica id follow from miner, sector number, ticket and comm_d? CUZK_ERR_INPUT if not. */
CUZK_API cuzk_code cuzk_c1_check_replica_id(const cuzk_c1 *c1, uint64_t miner_id, uint64_t sector_num,
                                            cuzk_error *err);

/* --- Groth16 parameters -----------------------------------------------------------------------------------
 */

/* The parameters and verifying key of one circuit, mapped. May be shared by any number of proofs. */
typedef struct cuzk_params cuzk_params;

/* Open the files of `circuit` ("porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g") in `directory`
 * (NULL: FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters). CUZK_ERR_PARAMS when missing,
 * damaged or of another circuit. Nothing is ever generated here. */
CUZK_API cuzk_code cuzk_params_open(cuzk_params **out, const char *circuit, const char *directory,
                                    cuzk_error *err);
CUZK_API void cuzk_params_close(cuzk_params *params);
/* The circuit that proves sectors of this registered proof; NULL for an unknown name. */
CUZK_API const char *cuzk_circuit_for(const char *registered_proof);

/* Five field elements, 32 little-endian bytes each, below r. */
typedef struct cuzk_toxic_waste {
    uint8_t alpha[32], beta[32], gamma[32], delta[32], tau[32];
} cuzk_toxic_waste;

/* Make parameters and verifying key of `circuit` in `directory` (which must exist). INSECURE: whoever runs it
 * could know the toxic waste and forge proofs; for tests only. waste = NULL draws it from the operating
 * system and wipes it. Phases "counting", "constraints", "lagrange", "points". */
CUZK_API cuzk_code cuzk_params_setup(cuzk *engine, const char *circuit, const char *directory,
                                     const cuzk_toxic_waste *waste, const cuzk_progress *progress,
                                     cuzk_error *err);

/* --- seal proofs (PoRep) ----------------------------------------------------------------------------------
 */

#define CUZK_PROOF_BYTES 192u /* per partition */

/* Seconds spent, in the order the phases ran. */
#define CUZK_MAX_TIMINGS 24u
typedef struct cuzk_timing {
    char phase[24];
    double seconds;
} cuzk_timing;

typedef struct cuzk_report {
    cuzk_timing timings[CUZK_MAX_TIMINGS];
    unsigned count;
    double total_seconds;
    uint64_t peak_rss_bytes; /* of the process so far */
} cuzk_report;

/* Fixed Groth16 randomness, 32 little-endian bytes each, below r: INSECURE, to repeat a proof in tests. */
typedef struct cuzk_randomness {
    uint8_t r[32], s[32];
} cuzk_randomness;

/* Prove every partition of a C1: partitions * 192 bytes, in order, in a buffer the caller frees with
 * cuzk_free. The replica id and the vanilla proofs are checked first, memory is reserved before the work
 * starts, and the proof is verified before it is returned. fixed, progress and report may be NULL. */
CUZK_API cuzk_code cuzk_seal_prove(cuzk *engine, const cuzk_params *params, const cuzk_c1 *c1,
                                   uint64_t miner_id, uint64_t sector_num, const cuzk_randomness *fixed,
                                   const cuzk_progress *progress, uint8_t **proof, size_t *proof_size,
                                   cuzk_report *report, cuzk_error *err);
CUZK_API void cuzk_free(void *buffer);

/* What a seal proof states. */
typedef struct cuzk_seal {
    const char *registered_proof;
    uint64_t miner_id, sector_num;
    uint8_t comm_r[32], comm_d[32], ticket[32], seed[32];
} cuzk_seal;

/* The statement of a C1 (its registered_proof lives as long as the C1). */
CUZK_API void cuzk_c1_statement(cuzk_seal *out, const cuzk_c1 *c1, uint64_t miner_id, uint64_t sector_num);

/* Check a proof of all partitions against its statement; every public input is derived from scratch. CUZK_OK
 * when valid, CUZK_ERR_PROOF when not, CUZK_ERR_INPUT when the bytes are no proof at all. */
CUZK_API cuzk_code cuzk_seal_verify(cuzk *engine, const cuzk_params *params, const cuzk_seal *statement,
                                    const uint8_t *proof, size_t proof_size, cuzk_error *err);
/* The same with a verifying key alone: params opened by this cannot prove. */
CUZK_API cuzk_code cuzk_params_open_vk(cuzk_params **out, const char *circuit, const char *directory,
                                       cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
