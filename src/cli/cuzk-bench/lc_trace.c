#include "lc_trace.h"

#include <stdlib.h>

#define FIRST_SIZE 256u

/* Where the line is, or would be, among those of a constraint. */
static lc_line *place(lc_line *set, size_t size, lc_line wanted) {
    size_t i = (size_t)(wanted.line * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (set[i].enforce == wanted.enforce && set[i].line != wanted.line) i = (i + 1) & (size - 1);
    return &set[i];
}

static bool grow(lc_trace *t, uint64_t enforce) {
    const size_t size = t->size ? 2 * t->size : FIRST_SIZE;
    lc_line *set = calloc(size, sizeof *set);
    if (!set) return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->set[i].enforce == enforce) *place(set, size, t->set[i]) = t->set[i];
    free(t->set);
    t->set = set;
    t->size = size;
    return true;
}

static void touch(lc_trace *t, const void *at, size_t bytes) {
    if (!bytes) return;
    const uint64_t first = (uintptr_t)at / LC_LINE_BYTES, last = ((uintptr_t)at + bytes - 1) / LC_LINE_BYTES;
    for (uint64_t line = first; line <= last; line++) {
        const lc_line wanted = {line, t->enforces + 1};
        if (2 * t->used >= t->size && !grow(t, wanted.enforce)) {
            t->failed = true;
            return;
        }
        lc_line *found = place(t->set, t->size, wanted);
        t->used += found->enforce != wanted.enforce;
        *found = wanted;
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
    t->used = 0;
}

void lc_trace_free(lc_trace *t) {
    free(t->set);
    t->set = NULL;
    t->size = t->used = 0;
}
