/* Reading test fixtures: whole files (zstd decompressed when the name ends in .zst), hex, and JSON trees.
 * Any failure fails the running cmocka test with the file's name. */
#ifndef CUZK_TEST_FIXTURE_H
#define CUZK_TEST_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

/* `name` is relative to tests/data. The result is NUL-terminated after *size bytes; free() it. */
char *fixture_read(const char *name, size_t *size);

/* Parse a JSON fixture; yajl_tree_free() it. */
yajl_val fixture_json(const char *name);

/* Follow a path of object keys separated by '/'; array elements by decimal index. Fails when absent. */
yajl_val json_at(yajl_val node, const char *path);
const char *json_str(yajl_val node, const char *path);
long long json_int(yajl_val node, const char *path);
size_t json_len(yajl_val node, const char *path); /* of an array */

/* Decode exactly `size` bytes of hex. */
void hex_decode(uint8_t *out, const char *hex, size_t size);
/* Write 2 * size hex digits and a NUL. */
void hex_encode(char *out, const uint8_t *bytes, size_t size);

/* Fail unless the bytes equal the hex string. */
void assert_hex(const uint8_t *bytes, size_t size, const char *hex);
/* Fail unless SHA-256 of the bytes is `hex`. */
void assert_sha256(const void *bytes, size_t size, const char *hex);

#endif
