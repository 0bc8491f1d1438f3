/* What the engine kept of a job whose proof failed its self-check (engine/failures.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yajl/yajl_tree.h>

#include "base/file.h"
#include "replay.h"

#define MAX_DESCRIPTION (UINT64_C(1) << 20)

static yajl_val member(yajl_val map, const char *name) {
    const char *const path[] = {name, NULL};
    return yajl_tree_get(map, (const char **)(uintptr_t)path, yajl_t_any);
}

static cuzk_code read_text(char *out, size_t size, yajl_val map, const char *name, bool required,
                           const char *path, cuzk_error *err) {
    yajl_val v = member(map, name);
    *out = 0;
    if (!v && !required) return CUZK_OK;
    const char *text = YAJL_GET_STRING(v);
    if (!text)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "'%s' is %s, expected a string", name,
                         v ? "something else" : "missing");
    snprintf(out, size, "%s", text);
    return CUZK_OK;
}

static cuzk_code read_number(uint64_t *out, yajl_val map, const char *name, const char *path,
                             cuzk_error *err) {
    yajl_val v = member(map, name);
    const char *digits = v && YAJL_IS_NUMBER(v) ? YAJL_GET_NUMBER(v) : "";
    char *end;
    errno = 0;
    *out = strtoull(digits, &end, 10);
    if (!*digits || strspn(digits, "0123456789") != strlen(digits) || errno != 0)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "'%s' is %s, expected a whole number of at most 64 bits", name,
                         v ? "something else" : "missing");
    return CUZK_OK;
}

static cuzk_code read_fields(replay_job *out, yajl_val map, const char *path, cuzk_error *err) {
    if (!YAJL_IS_OBJECT(map))
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "not a JSON object");
    TRY(read_text(out->kind, sizeof out->kind, map, "kind", true, path, err));
    if (strcmp(out->kind, job_kind_name(JOB_POREP)) != 0)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "'kind' is '%s', this build repeats proofs of kind %s", out->kind,
                         job_kind_name(JOB_POREP));
    TRY(read_text(out->circuit, sizeof out->circuit, map, "circuit", true, path, err));
    TRY(read_number(&out->miner_id, map, "miner_id", path, err));
    TRY(read_number(&out->sector_number, map, "sector_number", path, err));
    TRY(read_number(&out->self_check_failures, map, "self_check_failures", path, err));
    TRY(read_text(out->id, sizeof out->id, map, "id", false, path, err));
    TRY(read_text(out->error, sizeof out->error, map, "error", false, path, err));
    TRY(read_text(out->version, sizeof out->version, map, "version", false, path, err));
    TRY(read_text(out->commit, sizeof out->commit, map, "commit", false, path, err));
    return read_text(out->variant, sizeof out->variant, map, "variant", false, path, err);
}

static cuzk_code read_description(replay_job *out, const char *path, cuzk_error *err) {
    file_map map;
    TRY(file_map_open(&map, path, CUZK_ERR_INPUT, err));
    const char *data = map.size > 0 ? (const char *)map.data : "";
    char *text = map.size <= MAX_DESCRIPTION ? strndup(data, map.size) : NULL;
    uint64_t size = map.size;
    file_map_close(&map);
    if (size > MAX_DESCRIPTION)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "%" PRIu64 " bytes, expected a small file", size);
    if (!text) return error_no_memory(err, size, "a description");
    char why[256] = "";
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    free(text);
    for (char *c = why; *c; c++)
        if (*c == '\n') *c = ' ';
    if (!root)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "not JSON: %s",
                         *why ? why : "it is empty");
    cuzk_code code = read_fields(out, root, path, err);
    yajl_tree_free(root);
    return code;
}

cuzk_code replay_job_read(replay_job *out, const char *path, cuzk_error *err) {
    struct stat status;
    *out = (replay_job){.described = false};
    if (stat(path, &status) != 0) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot open");
    if (strlen(path) > sizeof out->input - 16)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "a path of %zu bytes", strlen(path));
    if (!S_ISDIR(status.st_mode)) {
        snprintf(out->input, sizeof out->input, "%s", path);
        return CUZK_OK;
    }
    snprintf(out->input, sizeof out->input, "%s/job.json", path);
    TRY(read_description(out, out->input, err));
    out->described = true;
    snprintf(out->input, sizeof out->input, "%s/input.json", path);
    if (stat(out->input, &status) != 0)
        return error_errno(err, CUZK_ERR_INPUT, out->input, errno, "cannot open the kept input");
    return CUZK_OK;
}
