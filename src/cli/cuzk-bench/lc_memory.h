/*
 * Where the terms of linear combinations live in the study of their storage: heap, pool or arena, behind one
 * pair of functions each, and the account of the memory they touch.
 *
 * LC_resize makes room for `wanted` cells (a power of two, at least LC_FIRST_CELLS) and keeps the first n;
 * `old` may be NULL. It returns NULL when memory runs out, sets `failed`, and leaves the old buffer alone.
 * LC_release takes a buffer back, or NULL.
 */
#ifndef CUZK_BENCH_LC_MEMORY_H
#define CUZK_BENCH_LC_MEMORY_H

#include <stdlib.h>

#include "lc_trace.h"

/* A term as bellperson's combinations hold it: (usize, Scalar). */
typedef struct lc_cell {
    uint64_t key;
    fr coeff;
} lc_cell;

#define LC_FIRST_CELLS 4u /* of the first buffer of a Vec with elements of this size */

typedef struct lc_chunk {
    struct lc_chunk *next;
    size_t bytes;
} lc_chunk;

/* Zeroed at first. */
typedef struct lc_memory {
    bool failed;
    lc_cell *pool[64]; /* class k: free buffers of 2^k cells, each with the address of the next in its key */
    lc_chunk *chunks;  /* of the arena, newest (and largest) first */
    char *at, *end;    /* free memory of the newest */
    lc_trace *trace;   /* NULL unless counting */
} lc_memory;

void lc_memory_free(lc_memory *m);

/* ---- heap ---- */

static inline lc_cell *heap_resize(lc_memory *m, lc_cell *old, uint64_t n, uint64_t capacity,
                                   uint64_t wanted) {
    (void)n, (void)capacity;
    lc_cell *cells = realloc(old, wanted * sizeof *cells);
    if (!cells) m->failed = true;
    return cells;
}

static inline void heap_release(lc_memory *m, lc_cell *cells, uint64_t capacity) {
    (void)m, (void)capacity;
    free(cells);
}

static inline void heap_reset(lc_memory *m) {
    (void)m;
}

/* ---- pool: buffers go back to a list by size and are taken from there ---- */

static inline void pool_release(lc_memory *m, lc_cell *cells, uint64_t capacity) {
    if (!cells) return;
    lc_cell **list = &m->pool[__builtin_ctzll(capacity)];
    cells->key = (uint64_t)(uintptr_t)*list;
    *list = cells;
}

static inline lc_cell *pool_resize(lc_memory *m, lc_cell *old, uint64_t n, uint64_t capacity,
                                   uint64_t wanted) {
    lc_cell **list = &m->pool[__builtin_ctzll(wanted)];
    lc_cell *cells = *list;
    if (cells)
        *list = (lc_cell *)(uintptr_t)cells->key;
    else
        cells = malloc(wanted * sizeof *cells);
    if (!cells) {
        m->failed = true;
        return NULL;
    }
    if (n) memcpy(cells, old, n * sizeof *cells);
    pool_release(m, old, capacity);
    return cells;
}

static inline void pool_reset(lc_memory *m) {
    (void)m;
}

/* ---- arena: the next bytes of a chunk; all are free again after each constraint ---- */

/* Start another chunk with room for this many bytes. */
bool arena_grow(lc_memory *m, size_t bytes);
/* Give all chunks but the newest back. */
void arena_trim(lc_memory *m);

static inline lc_cell *arena_resize(lc_memory *m, lc_cell *old, uint64_t n, uint64_t capacity,
                                    uint64_t wanted) {
    if (old && (char *)(old + capacity) == m->at &&
        (size_t)(m->end - m->at) >= (wanted - capacity) * sizeof *old) {
        m->at += (wanted - capacity) * sizeof *old; /* the last one taken grows where it is */
        return old;
    }
    const size_t bytes = wanted * sizeof *old;
    if ((size_t)(m->end - m->at) < bytes && !arena_grow(m, bytes)) return NULL;
    lc_cell *cells = (lc_cell *)(void *)m->at;
    m->at += bytes;
    if (n) memcpy(cells, old, n * sizeof *cells);
    return cells;
}

static inline void arena_release(lc_memory *m, lc_cell *cells, uint64_t capacity) {
    (void)m, (void)cells, (void)capacity;
}

static inline void arena_reset(lc_memory *m) {
    if (!m->chunks) return;
    if (m->chunks->next) arena_trim(m);
    m->at = (char *)(m->chunks + 1);
}

#endif
