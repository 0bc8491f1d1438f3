/*
 * Big buffers: page-aligned, zeroed, on transparent huge pages where the kernel grants them, and counted
 * against one budget for the process. Small allocations use malloc.
 */
#ifndef CUZK_BASE_MEM_H
#define CUZK_BASE_MEM_H

#include "base/error.h"

/* Bytes that mem_big_alloc may have out at once. The default is mem_available(). 0 restores the default. */
void mem_set_budget(uint64_t bytes);
uint64_t mem_budget(void);

/* What this process can have: the least of physical memory, the cgroup's limit and RLIMIT_AS (less what is
 * already mapped). */
uint64_t mem_limit(void);
/* The same with a margin of a sixteenth of memory left to others. */
uint64_t mem_available(void);

/* Allocate `bytes` (zeroed, 2 MiB aligned when that large). `what` names it in errors. CUZK_ERR_RESOURCES
 * with the sizes when the budget or the system refuses. bytes = 0 gives NULL. */
cuzk_code mem_big_alloc(void **out, size_t bytes, const char *what, cuzk_error *err);
void mem_big_free(void *buffer, size_t bytes);

/* Would `bytes` more fit the budget and the address-space limit now? An error that names both sizes if not.
 */
cuzk_code mem_require(uint64_t bytes, const char *what, cuzk_error *err);

/* Bytes of big buffers alive now, and the largest that ever was. */
uint64_t mem_in_use(void);
uint64_t mem_peak(void);

/* What one thread has out: big buffers allocated and freed by the calling thread between begin and end. */
typedef struct mem_account {
    uint64_t now, peak;
} mem_account;
void mem_account_begin(mem_account *a); /* one at a time; must stay until mem_account_end */
void mem_account_end(void);

/* Resident set of the process now, in bytes. */
uint64_t mem_resident(void);
/* Peak resident set of the process in bytes (getrusage). */
uint64_t mem_peak_rss(void);

/* Overwrite with zeros in a way the compiler cannot drop. */
void mem_wipe(void *buffer, size_t bytes);

#endif
