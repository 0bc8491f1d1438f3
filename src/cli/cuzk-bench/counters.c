#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

static const char *const names[COUNTER_EVENTS] = {
    [COUNTER_CYCLES] = "cycles",         [COUNTER_INSTRUCTIONS] = "instructions",
    [COUNTER_BRANCHES] = "branches",     [COUNTER_BRANCH_MISSES] = "branch_misses",
    [COUNTER_L1D_MISSES] = "l1d_misses", [COUNTER_L2_MISSES] = "l2_misses",
};

const char *counter_name(counter_event event) {
    return names[event];
}

/* The processor's own number of the event "a request missed L2", 0 when not known. */
static uint64_t l2_miss_event(void) {
#ifdef __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return 0;
    if (b == signature_INTEL_ebx) return 0x3f24; /* L2_RQSTS.MISS */
    if (b == signature_AMD_ebx) return 0x0864;   /* L2CacheReqStat: data cache requests that miss */
#endif
    return 0;
}

static int open_event(counter_event event) {
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_HARDWARE,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .inherit = 1,
                                   .read_format =
                                       PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    switch (event) {
    case COUNTER_CYCLES:
        attr.config = PERF_COUNT_HW_CPU_CYCLES;
        break;
    case COUNTER_INSTRUCTIONS:
        attr.config = PERF_COUNT_HW_INSTRUCTIONS;
        break;
    case COUNTER_BRANCHES:
        attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
        break;
    case COUNTER_BRANCH_MISSES:
        attr.config = PERF_COUNT_HW_BRANCH_MISSES;
        break;
    case COUNTER_L1D_MISSES:
        attr.type = PERF_TYPE_HW_CACHE;
        attr.config = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                      PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
        break;
    default:
        attr.type = PERF_TYPE_RAW;
        attr.config = l2_miss_event();
        if (!attr.config) {
            errno = ENOENT;
            return -1;
        }
    }
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool counters_open(counters *c) {
    bool any = false;
    int reason = 0;
    for (int e = 0; e < COUNTER_EVENTS; e++) {
        c->fd[e] = open_event((counter_event)e);
        if (c->fd[e] >= 0)
            any = true;
        else if (!reason)
            reason = errno;
    }
    c->why[0] = 0;
    if (any) return true;
    if (reason == EACCES || reason == EPERM)
        snprintf(c->why, sizeof c->why,
                 "no permission to read hardware counters (/proc/sys/kernel/perf_event_paranoid)");
    else if (reason == ENOENT || reason == EOPNOTSUPP || reason == ENODEV)
        snprintf(c->why, sizeof c->why, "this machine has no hardware counters");
    else
        snprintf(c->why, sizeof c->why, "no hardware counters: perf_event_open: %s", strerror(reason));
    return false;
}

void counters_close(counters *c) {
    for (int e = 0; e < COUNTER_EVENTS; e++) {
        if (c->fd[e] >= 0) close(c->fd[e]);
        c->fd[e] = -1;
    }
}

/* Count, time enabled and time running. Zeros when it cannot be read. */
static void read_event(const counters *c, int e, double out[3]) {
    uint64_t raw[3] = {0, 0, 0};
    if (c->fd[e] < 0 || read(c->fd[e], raw, sizeof raw) != (ssize_t)sizeof raw) memset(raw, 0, sizeof raw);
    for (int i = 0; i < 3; i++) out[i] = (double)raw[i];
}

void counters_start(counters *c) {
    for (int e = 0; e < COUNTER_EVENTS; e++) read_event(c, e, c->start[e]);
}

void counters_stop(counters *c, counter_values *out) {
    for (int e = 0; e < COUNTER_EVENTS; e++) {
        double now[3];
        read_event(c, e, now);
        for (int i = 0; i < 3; i++) now[i] -= c->start[e][i];
        out->have[e] = c->fd[e] >= 0 && now[2] > 0;
        out->count[e] = out->have[e] ? now[0] * now[1] / now[2] : 0;
    }
}
