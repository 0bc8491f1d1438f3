/* The memory limit of the control group this process is in, of either version. */
#ifndef CUZK_BASE_CGROUP_H
#define CUZK_BASE_CGROUP_H

#include <stdint.h>

#define CGROUP_ROOT       "/sys/fs/cgroup"
#define CGROUP_MEMBERSHIP "/proc/self/cgroup"

/* The least limit, in bytes, of the process's group and all groups around it; UINT64_MAX when none is set or
 * nothing can be read. `membership` is a file like /proc/self/cgroup, `root` where groups are mounted. */
uint64_t cgroup_memory_limit(const char *root, const char *membership);

#endif
