/* Calls of malloc, calloc, realloc and aligned_alloc that this program's own code has made so far, by all
 * threads. What libraries allocate for themselves is not counted, nor are big buffers (base/mem.h). */
#ifndef CUZK_BENCH_ALLOCATIONS_H
#define CUZK_BENCH_ALLOCATIONS_H

#include <stdint.h>

uint64_t allocations_count(void);

#endif
