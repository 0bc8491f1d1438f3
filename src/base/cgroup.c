/*
 * A limit holds for everything below it, so the group's own files and those of each parent are read: a
 * service's MemoryMax= is in its own group, a slice's above it. In a container the path may be one of the
 * host, which does not exist inside; then the root is what counts, and is always read.
 */
#include "base/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "max" and whatever else is no number is no limit. */
static uint64_t read_limit(const char *directory, const char *name) {
    char path[4200];
    uint64_t value = UINT64_MAX;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path) return value;
    FILE *file = fopen(path, "re");
    if (!file) return value;
    if (fscanf(file, "%" SCNu64, &value) != 1) value = UINT64_MAX;
    fclose(file);
    return value;
}

/* `group` begins with '/'. */
static uint64_t least_upwards(const char *base, const char *group, const char *name) {
    char directory[4160];
    size_t root = strlen(base);
    int length = snprintf(directory, sizeof directory, "%s%s", base, group);
    if (length < 0 || (size_t)length >= sizeof directory) return read_limit(base, name);
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t limit = read_limit(directory, name);
        if (limit < least) least = limit;
        char *slash = strrchr(directory + root, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

/* Is "memory" one of the controllers, which commas separate? */
static int has_memory(const char *controllers) {
    while (*controllers) {
        size_t length = strcspn(controllers, ",");
        if (length == 6 && strncmp(controllers, "memory", 6) == 0) return 1;
        controllers += length + (controllers[length] == ',');
    }
    return 0;
}

uint64_t cgroup_memory_limit(const char *root, const char *membership) {
    char v1_root[256], line[4096];
    snprintf(v1_root, sizeof v1_root, "%s/memory", root);
    uint64_t least = read_limit(root, "memory.max"), limit = read_limit(v1_root, "memory.limit_in_bytes");
    if (limit < least) least = limit;
    FILE *file = fopen(membership, "re");
    if (!file) return least;
    while (fgets(line, sizeof line, file)) {
        /* "ID:CONTROLLERS:/PATH"; the second version has no controllers here */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || group[1] != '/') continue;
        *group++ = 0;
        controllers++;
        limit = UINT64_MAX;
        if (!*controllers)
            limit = least_upwards(root, group, "memory.max");
        else if (has_memory(controllers))
            limit = least_upwards(v1_root, group, "memory.limit_in_bytes");
        if (limit < least) least = limit;
    }
    fclose(file);
    return least;
}
