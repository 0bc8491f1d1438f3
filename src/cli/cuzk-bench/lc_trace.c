#include "lc_trace.h"

#include <stdlib.h>

#define FIRST_SIZE 256u

/* Where the line is, or would be. */
static uint64_t *place(uint64_t *set, size_t size, uint64_t line) {
    size_t i = (size_t)(line * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (set[i] && set[i] != line) i = (i + 1) & (size - 1);
    return &set[i];
}

static bool grow(lc_trace *t) {
    const size_t size = t->size ? 2 * t->size : FIRST_SIZE;
    uint64_t *set = calloc(size, sizeof *set);
    if (!set) return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->set[i]) *place(set, size, t->set[i]) = t->set[i];
    free(t->set);
    t->set = set;
    t->size = size;
    return true;
}

static void touch(lc_trace *t, const void *at, size_t bytes) {
    if (!bytes) return;
    const uint64_t first = (uintptr_t)at / LC_LINE_BYTES, last = ((uintptr_t)at + bytes - 1) / LC_LINE_BYTES;
    for (uint64_t line = first; line <= last; line++) {
        if (2 * t->used >= t->size && !grow(t)) {
            t->failed = true;
            return;
        }
        uint64_t *found = place(t->set, t->size, line);
        t->used += *found == 0;
        *found = line;
    }
}

void lc_trace_read(lc_trace *t, const void *at, size_t bytes) {
    t->read += bytes;
    touch(t, at, bytes);
}

void lc_trace_write(lc_trace *t, const void *at, size_t bytes) {
    t->written += bytes;
    touch(t, at, bytes);
}

void lc_trace_next(lc_trace *t) {
    t->enforces++;
    t->lines += t->used;
    if (t->used) memset(t->set, 0, t->size * sizeof *t->set);
    t->used = 0;
}

void lc_trace_free(lc_trace *t) {
    free(t->set);
    t->set = NULL;
    t->size = t->used = 0;
}
