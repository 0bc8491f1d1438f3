#include "engine/failures.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "base/cpu.h"
#include "base/file.h"
#include "field/field.h"
#include "version.h"

#define NAME_SIZE 512

static const char *const files[] = {"job.json", "input.json"};

/* Folders are NUMBER-KIND. -1 for any other name. */
static long number_of(const char *name) {
    char *end;
    long n = strtol(name, &end, 10);
    return n > 0 && *end == '-' && name[0] >= '0' && name[0] <= '9' ? n : -1;
}

typedef struct kept {
    long first, last; /* smallest above `after`, and largest number */
    char oldest[256];
    uint64_t bytes;
} kept;

static uint64_t folder_bytes(const char *folder) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[NAME_SIZE * 2];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (stat(path, &status) == 0) bytes += (uint64_t)status.st_size;
    }
    return bytes;
}

static bool look_around(kept *out, const char *directory, long after) {
    *out = (kept){.first = 0};
    DIR *d = opendir(directory);
    if (!d) return false;
    for (struct dirent *entry; (entry = readdir(d));) {
        long n = number_of(entry->d_name);
        if (n < 0) continue;
        char folder[NAME_SIZE];
        snprintf(folder, sizeof folder, "%s/%s", directory, entry->d_name);
        out->bytes += folder_bytes(folder);
        if (n > out->last) out->last = n;
        if (n > after && (out->first == 0 || n < out->first)) {
            out->first = n;
            snprintf(out->oldest, sizeof out->oldest, "%s", entry->d_name);
        }
    }
    closedir(d);
    return true;
}

static void remove_folder(const char *directory, const char *name) {
    char path[NAME_SIZE];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", directory, name, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    rmdir(path);
}

static void text(yajl_gen g, const char *name, const char *value) {
    yajl_gen_string(g, (const unsigned char *)name, strlen(name));
    yajl_gen_string(g, (const unsigned char *)value, strlen(value));
}
static void number(yajl_gen g, const char *name, uint64_t value) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    yajl_gen_string(g, (const unsigned char *)name, strlen(name));
    yajl_gen_number(g, digits, (size_t)n);
}

static cuzk_code write_description(const char *path, const record *r, cuzk_error *err) {
    yajl_gen g = yajl_gen_alloc(NULL);
    if (!g) return error_no_memory(err, 0, "JSON");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_map_open(g);
    text(g, "id", r->id);
    text(g, "kind", job_kind_name((unsigned)r->kind));
    text(g, "circuit", r->plan.circuit);
    number(g, "miner_id", r->miner_id);
    number(g, "sector_number", r->sector_number);
    number(g, "self_check_failures", r->self_check_failures);
    text(g, "error", r->error.message);
    text(g, "version", CUZK_VERSION);
    text(g, "commit", CUZK_COMMIT);
    text(g, "variant", cpu_isa_name(field.isa));
    yajl_gen_map_close(g);
    const unsigned char *bytes;
    size_t size;
    yajl_gen_get_buf(g, &bytes, &size);
    cuzk_code code = file_write_all(path, bytes, size, err);
    yajl_gen_free(g);
    return code;
}

void failure_keep(const char *directory, uint64_t max_bytes, const record *r) {
    kept k;
    char name[64], path[NAME_SIZE];
    cuzk_error err;
    if (!look_around(&k, directory, 0)) {
        if (mkdir(directory, 0750) != 0 || !look_around(&k, directory, 0)) return;
    }
    snprintf(name, sizeof name, "%06ld-%s", k.last + 1, job_kind_name((unsigned)r->kind));
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (mkdir(path, 0750) != 0) return;
    snprintf(path, sizeof path, "%s/%s/job.json", directory, name);
    cuzk_code code = write_description(path, r, &err);
    snprintf(path, sizeof path, "%s/%s/input.json", directory, name);
    if (code == CUZK_OK) code = r->backend->save(r->task, path, &err);
    if (code != CUZK_OK) remove_folder(directory, name);
    /* Each once: one that cannot be removed, or holds something else besides, is left behind. */
    for (long after = 0; look_around(&k, directory, after) && k.first > 0 && k.bytes > max_bytes;) {
        remove_folder(directory, k.oldest);
        after = k.first;
    }
}
