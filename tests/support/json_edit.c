#include "json_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char *json_skip(const char *p) {
    unsigned depth = 0;
    do {
        if (*p == '"') {
            for (p++; *p != '"'; p++) p += *p == '\\';
            p++;
        } else if (*p == '[' || *p == '{') {
            depth++;
            p++;
        } else if (*p == ']' || *p == '}') {
            depth--;
            p++;
        } else if (*p == ',' || *p == ':') {
            p++;
        } else {
            p += strcspn(p, ",:]}");
        }
        if (!*p) break;
    } while (depth > 0);
    return p;
}

const char *json_find(const char *text, const char *path, bool key) {
    const char *p = text;
    while (*path) {
        const char *start = p;
        path += *path == '.';
        if (*path == '[') {
            unsigned long index = strtoul(path + 1, (char **)&path, 10);
            path++;
            for (p++; index > 0; index--) p = json_skip(p) + 1;
            continue;
        }
        size_t length = strcspn(path, ".[");
        for (p++; strncmp(p + 1, path, length) != 0 || p[length + 1] != '"';) {
            p = json_skip(json_skip(p) + 1);
            if (*p++ != ',') fail_msg("no '%.*s' in %.40s", (int)length, path, start);
        }
        path += length;
        if (*path || !key) p = json_skip(p) + 1;
    }
    return p;
}

size_t json_offset_of(const char *text, const char *path, bool key) {
    return (size_t)(json_find(text, path, key) - text);
}

char *json_splice(const char *text, size_t at, size_t length, const char *with) {
    size_t size = strlen(text), added = strlen(with);
    char *out = malloc(size - length + added + 1);
    assert_non_null(out);
    memcpy(out, text, at);
    memcpy(out + at, with, added);
    memcpy(out + at + added, text + at + length, size - at - length + 1);
    return out;
}

char *json_edit(const char *text, json_operation what, const char *path, const char *with) {
    const char *value = json_find(text, path, false), *end = json_skip(value),
               *start = json_find(text, path, true);
    size_t at = (size_t)(start - text), size = (size_t)(end - start);
    switch (what) {
    case JSON_SET:
        return json_splice(text, (size_t)(value - text), (size_t)(end - value), with);
    case JSON_BEFORE:
        return json_splice(text, (size_t)(value - text), 0, with);
    case JSON_RENAME:
        return json_splice(text, at, (size_t)(value - start), with);
    case JSON_DROP:
        if (*end == ',') return json_splice(text, at, size + 1, "");
        return start[-1] == ',' ? json_splice(text, at - 1, size + 1, "") : json_splice(text, at, size, "");
    case JSON_DOUBLE: {
        char *copy = malloc(size + 2);
        copy[0] = ',';
        memcpy(copy + 1, start, size);
        copy[size + 1] = 0;
        char *out = json_splice(text, (size_t)(end - text), 0, copy);
        free(copy);
        return out;
    }
    }
    return NULL;
}
