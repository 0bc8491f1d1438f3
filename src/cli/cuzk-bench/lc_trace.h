/*
 * An account of the memory that linear combinations touch: bytes read and written, and the cache lines they
 * lie in, each counted once per constraint. For instances compiled with counting, which are never timed.
 */
#ifndef CUZK_BENCH_LC_TRACE_H
#define CUZK_BENCH_LC_TRACE_H

#include "field/fr.h"

#define LC_LINE_BYTES 64u

/* A line, touched by constraint number `enforce` (from 1). */
typedef struct lc_line {
    uint64_t line, enforce;
} lc_line;

/* Zeroed at first; lc_trace_free in the end. */
typedef struct lc_trace {
    uint64_t enforces, read, written; /* bytes */
    uint64_t lines;                   /* summed over the constraints */
    uint64_t buffers;                 /* taken, or grown, outside the combination itself */
    bool failed;                      /* out of memory: `lines` is too small */
    lc_line *set;                     /* open addressing; lines of earlier constraints count as absent */
    size_t size, used;                /* of the set; the size is a power of two */
} lc_trace;

void lc_trace_read(lc_trace *t, const void *at, size_t bytes);
void lc_trace_write(lc_trace *t, const void *at, size_t bytes);
void lc_trace_next(lc_trace *t); /* end of a constraint */
void lc_trace_free(lc_trace *t);

#endif
