/* Limits of control groups, read from a tree of files laid out as the kernel does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cgroup.h"
#include "base/mem.h"

static char root[64], membership[96];

static void put(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int start(void **state) {
    (void)state;
    strcpy(root, "/tmp/cuzk-cgroup.XXXXXX");
    if (!mkdtemp(root)) return -1;
    snprintf(membership, sizeof membership, "%s/self", root);
    return 0;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *walk) {
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static int end(void **state) {
    (void)state;
    return nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void nothing_there(void **state) {
    (void)state;
    assert_true(cgroup_memory_limit(root, membership) == UINT64_MAX);
    put("self", "garbage\n0:\n0::\n::\n0::relative\n5:memory\n\n");
    assert_true(cgroup_memory_limit(root, membership) == UINT64_MAX);
}

static void the_least_on_the_way_up_counts(void **state) {
    (void)state;
    put("self", "0::/system.slice/cuzk.service\n");
    put("system.slice/cuzk.service/memory.max", "5000\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 5000);
    put("system.slice/memory.max", "4000\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 4000);
    put("system.slice/cuzk.service/memory.max", "max\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 4000);
    put("memory.max", "3000\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 3000);
    put("system.slice/other.service/memory.max", "10\n"); /* not around this process */
    assert_int_equal(cgroup_memory_limit(root, membership), 3000);
}

static void first_version(void **state) {
    (void)state;
    put("self", "4:cpu,cpuacct:/a\n5:memory:/docker/x\n1:name=systemd:/b\n");
    put("memory/docker/x/memory.limit_in_bytes", "7000\n");
    put("memory/a/memory.limit_in_bytes", "70\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 7000);
    put("self", "5:hugetlb,memory:/docker/x\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 7000);
    put("self", "5:memory_like:/docker/x\n");
    assert_true(cgroup_memory_limit(root, membership) == UINT64_MAX);
}

/* Inside a container the path may be the host's. */
static void path_that_is_not_there(void **state) {
    (void)state;
    put("self", "0::/docker/0123\n");
    put("memory.max", "9000\n");
    assert_int_equal(cgroup_memory_limit(root, membership), 9000);
}

static void limits_of_this_process(void **state) {
    (void)state;
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(mem_available() > 0 && mem_available() < mem_limit());
    assert_true(mem_limit() <= physical);
    assert_true(mem_limit() <= cgroup_memory_limit(CGROUP_ROOT, CGROUP_MEMBERSHIP));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_there, start, end),
        cmocka_unit_test_setup_teardown(the_least_on_the_way_up_counts, start, end),
        cmocka_unit_test_setup_teardown(first_version, start, end),
        cmocka_unit_test_setup_teardown(path_that_is_not_there, start, end),
        cmocka_unit_test(limits_of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
