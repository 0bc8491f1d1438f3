/* Sizes, hex and JSON for people and machines. JSON through yajl's generator. */
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

const char *format_bytes(char out[32], uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    unsigned unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(out, 32, "%" PRIu64 " bytes", bytes);
    else
        snprintf(out, 32, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[unit]);
    return out;
}

const char *format_hex(char *out, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return out;
}

yajl_gen json_begin(void) {
    yajl_gen g = yajl_gen_alloc(NULL);
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_indent_string, "  ");
    yajl_gen_map_open(g);
    return g;
}

void json_end(yajl_gen g) {
    yajl_gen_map_close(g);
    const unsigned char *text;
    size_t length;
    if (yajl_gen_get_buf(g, &text, &length) == yajl_gen_status_ok) fwrite(text, 1, length, stdout);
    yajl_gen_free(g);
}

cuzk_code json_end_to(yajl_gen g, const char *path, cuzk_error *err) {
    if (strcmp(path, "-") == 0) {
        json_end(g);
        return CUZK_OK;
    }
    yajl_gen_map_close(g);
    const unsigned char *text;
    size_t length;
    cuzk_code code = CUZK_OK;
    if (yajl_gen_get_buf(g, &text, &length) == yajl_gen_status_ok)
        code = file_write_all(path, text, length, err);
    yajl_gen_free(g);
    return code;
}

static void put_string(yajl_gen g, const char *text) {
    yajl_gen_string(g, (const unsigned char *)text, strlen(text));
}

void json_key(yajl_gen g, const char *key) {
    put_string(g, key);
}

void json_string(yajl_gen g, const char *key, const char *value) {
    put_string(g, key);
    put_string(g, value);
}

void json_u64(yajl_gen g, const char *key, uint64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_string(g, key);
    yajl_gen_number(g, digits, (size_t)length);
}

void json_double(yajl_gen g, const char *key, double value) {
    char digits[40];
    int length = snprintf(digits, sizeof digits, "%.6f", value);
    put_string(g, key);
    yajl_gen_number(g, digits, (size_t)length);
}

void json_bool(yajl_gen g, const char *key, bool value) {
    put_string(g, key);
    yajl_gen_bool(g, value);
}

void json_hex(yajl_gen g, const char *key, const uint8_t *bytes, size_t size) {
    char text[2 * 64 + 1];
    if (size > 64) size = 64;
    put_string(g, key);
    put_string(g, format_hex(text, bytes, size));
}
