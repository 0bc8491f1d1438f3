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

#ifdef __cplusplus
}
#endif
#endif
