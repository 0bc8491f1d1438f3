#include "base/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cgroup.h"

#define HUGE_PAGE ((size_t)2 << 20)

static _Atomic uint64_t budget_setting; /* 0: mem_available() */
static _Atomic uint64_t bytes_in_use;
static _Atomic uint64_t bytes_peak;
static _Thread_local mem_account *account;

static uint64_t read_number(const char *path, uint64_t fallback) {
    FILE *file = fopen(path, "re");
    if (!file) return fallback;
    uint64_t value = fallback;
    if (fscanf(file, "%" SCNu64, &value) != 1) value = fallback; /* "max" */
    fclose(file);
    return value;
}

/* Bytes of address space still free under RLIMIT_AS. */
static uint64_t address_space_left(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    uint64_t pages = read_number("/proc/self/statm", 0);
    uint64_t mapped = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return mapped < limit.rlim_cur ? limit.rlim_cur - mapped : 0;
}

static uint64_t physical_or_cgroup(void) {
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t cgroup = cgroup_memory_limit(CGROUP_ROOT, CGROUP_MEMBERSHIP);
    return cgroup < physical ? cgroup : physical;
}

/* What RLIMIT_AS lets big buffers have in all. */
static uint64_t reachable(void) {
    uint64_t left = address_space_left();
    return left > UINT64_MAX - mem_in_use() ? UINT64_MAX : left + mem_in_use();
}

uint64_t mem_limit(void) {
    uint64_t least = physical_or_cgroup(), space = reachable();
    return space < least ? space : least;
}

uint64_t mem_available(void) {
    uint64_t least = physical_or_cgroup(), space = reachable();
    least -= least / 16;
    return space < least ? space : least;
}

void mem_set_budget(uint64_t bytes) {
    budget_setting = bytes;
}

uint64_t mem_budget(void) {
    uint64_t setting = budget_setting;
    return setting ? setting : mem_available();
}

uint64_t mem_in_use(void) {
    return bytes_in_use;
}
uint64_t mem_peak(void) {
    return bytes_peak;
}

void mem_account_begin(mem_account *a) {
    *a = (mem_account){0, 0};
    account = a;
}
void mem_account_end(void) {
    account = NULL;
}

/* A buffer that another thread allocated may be freed here. */
static void account_change(uint64_t allocated, uint64_t freed) {
    mem_account *a = account;
    if (!a) return;
    a->now = a->now + allocated > freed ? a->now + allocated - freed : 0;
    if (a->now > a->peak) a->peak = a->now;
}

uint64_t mem_resident(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    uint64_t pages = 0;
    if (fscanf(file, "%*u %" SCNu64, &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t mem_peak_rss(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

cuzk_code mem_require(uint64_t bytes, const char *what, cuzk_error *err) {
    uint64_t budget = mem_budget(), used = mem_in_use();
    uint64_t left = used < budget ? budget - used : 0;
    uint64_t space = address_space_left();
    if (space < left) left = space;
    if (bytes <= left) return CUZK_OK;
    return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                     "%s needs %" PRIu64 " MiB of memory, %" PRIu64 " MiB are left of the limit", what,
                     (bytes + (1u << 20) - 1) >> 20, left >> 20);
}

cuzk_code mem_big_alloc(void **out, size_t bytes, const char *what, cuzk_error *err) {
    *out = NULL;
    if (bytes == 0) return CUZK_OK;
    uint64_t budget = mem_budget();
    uint64_t now = atomic_fetch_add(&bytes_in_use, bytes) + bytes;
    if (now > budget) {
        atomic_fetch_sub(&bytes_in_use, bytes);
        return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                         "%zu bytes for %s do not fit the memory budget of %" PRIu64
                         " bytes, of which %" PRIu64 " are in use",
                         bytes, what, budget, now - bytes);
    }
    /* Map with room to align to a huge page, then return the slack. */
    size_t slack = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *map = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        atomic_fetch_sub(&bytes_in_use, bytes);
        return error_no_memory(err, bytes, what);
    }
    if (slack) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        size_t head = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
        if (head) munmap(map, head);
        size_t body = (bytes + page - 1) / page * page;
        size_t total = (bytes + slack + page - 1) / page * page;
        if (total > head + body) munmap(map + head + body, total - head - body);
        map += head;
        madvise(map, bytes, MADV_HUGEPAGE);
    }
    uint64_t peak = bytes_peak;
    while (now > peak && !atomic_compare_exchange_weak(&bytes_peak, &peak, now)) {
    }
    account_change(bytes, 0);
    *out = map;
    return CUZK_OK;
}

void mem_big_free(void *buffer, size_t bytes) {
    if (!buffer) return;
    munmap(buffer, bytes);
    atomic_fetch_sub(&bytes_in_use, bytes);
    account_change(0, bytes);
}

void mem_wipe(void *buffer, size_t bytes) {
    explicit_bzero(buffer, bytes);
}
