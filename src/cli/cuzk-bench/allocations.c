/*
 * The linker (--wrap, CMakeLists.txt) sends every call of an allocation function in the objects of cuzk-bench
 * here; the function itself remains whatever the process has, be it libc's, a preloaded one or a sanitizer's.
 * Each thread counts in a cache line of its own, so that counting costs next to nothing.
 */
#include "allocations.h"

#include <stdatomic.h>
#include <stddef.h>

#define COUNTERS 2048u /* later threads share the last one */

typedef struct counter {
    _Alignas(64) _Atomic uint64_t calls;
} counter;

static counter counters[COUNTERS];
static _Atomic unsigned used;
static _Thread_local counter *mine;

static inline void count(void) {
    if (!mine) {
        const unsigned i = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
        mine = &counters[i < COUNTERS ? i : COUNTERS - 1];
    }
    if (mine == &counters[COUNTERS - 1])
        atomic_fetch_add_explicit(&mine->calls, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&mine->calls, atomic_load_explicit(&mine->calls, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

uint64_t allocations_count(void) {
    uint64_t calls = 0;
    for (unsigned i = 0; i < COUNTERS; i++)
        calls += atomic_load_explicit(&counters[i].calls, memory_order_relaxed);
    return calls;
}

/* The names are the linker's. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
    count();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
    count();
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size) {
    count();
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    count();
    return __real_aligned_alloc(alignment, size);
}
