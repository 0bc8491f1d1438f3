#include "fixture.h"

#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

static char *read_raw(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *data = malloc((size_t)length + 1);
    assert_non_null(data);
    if (fread(data, 1, (size_t)length, file) != (size_t)length) fail_msg("cannot read %s", path);
    fclose(file);
    data[length] = 0;
    *size = (size_t)length;
    return data;
}

char *fixture_read(const char *name, size_t *size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    char *data = read_raw(path, size);
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, ".zst") != 0) return data;

    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t capacity = 1u << 20;
    char *plain = malloc(capacity + 1);
    ZSTD_inBuffer in = {data, *size, 0};
    ZSTD_outBuffer out = {plain, capacity, 0};
    for (;;) {
        size_t rc = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(rc)) fail_msg("%s: %s", path, ZSTD_getErrorName(rc));
        if (rc == 0 && in.pos == in.size) break;
        if (out.pos == out.size) {
            capacity *= 2;
            plain = realloc(plain, capacity + 1);
            assert_non_null(plain);
            out.dst = plain;
            out.size = capacity;
        } else if (in.pos == in.size) {
            fail_msg("%s: truncated", path);
        }
    }
    ZSTD_freeDStream(stream);
    free(data);
    plain[out.pos] = 0;
    *size = out.pos;
    return plain;
}

yajl_val fixture_json(const char *name) {
    size_t size;
    char *text = fixture_read(name, &size), message[256];
    yajl_val tree = yajl_tree_parse(text, message, sizeof message);
    if (!tree) fail_msg("%s: %s", name, message);
    free(text);
    return tree;
}

yajl_val json_at(yajl_val node, const char *path) {
    const char *rest = path;
    while (*rest) {
        size_t length = strcspn(rest, "/");
        char key[256];
        snprintf(key, sizeof key, "%.*s", (int)length, rest);
        yajl_val next = NULL;
        if (YAJL_IS_ARRAY(node)) {
            size_t index = strtoul(key, NULL, 10);
            if (index < node->u.array.len) next = node->u.array.values[index];
        } else {
            const char *keys[] = {key, NULL};
            next = yajl_tree_get(node, keys, yajl_t_any);
        }
        if (!next) fail_msg("no '%s' of '%s' in the fixture", key, path);
        node = next;
        rest += length + (rest[length] == '/');
    }
    return node;
}

const char *json_str(yajl_val node, const char *path) {
    yajl_val found = json_at(node, path);
    if (!YAJL_IS_STRING(found)) fail_msg("'%s' is not a string", path);
    return YAJL_GET_STRING(found);
}

long long json_int(yajl_val node, const char *path) {
    yajl_val found = json_at(node, path);
    if (!YAJL_IS_INTEGER(found)) fail_msg("'%s' is not an integer", path);
    return YAJL_GET_INTEGER(found);
}

size_t json_len(yajl_val node, const char *path) {
    yajl_val found = json_at(node, path);
    if (!YAJL_IS_ARRAY(found)) fail_msg("'%s' is not an array", path);
    return found->u.array.len;
}

void hex_decode(uint8_t *out, const char *hex, size_t size) {
    assert_int_equal(strlen(hex), 2 * size);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) fail_msg("bad hex %s", hex);
        out[i] = (uint8_t)byte;
    }
}

void hex_encode(char *out, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * size] = 0;
}

void assert_hex(const uint8_t *bytes, size_t size, const char *hex) {
    char *text = malloc(2 * size + 1);
    hex_encode(text, bytes, size);
    assert_string_equal(text, hex);
    free(text);
}

void assert_sha256(const void *bytes, size_t size, const char *hex) {
    uint8_t digest[32];
    SHA256(bytes, size, digest);
    assert_hex(digest, sizeof digest, hex);
}
