/*
 * The protobuf wire format: a reader over bytes that it never copies, and a writer into a growing buffer.
 * Varints, 64-bit, length-delimited and 32-bit fields; groups (long deprecated) are refused.
 */
#ifndef CUZK_RPC_WIRE_H
#define CUZK_RPC_WIRE_H

#include "base/error.h"

#include <stdbool.h>
#include <string.h>

/* Bytes that belong to someone else. */
typedef struct wire_view {
    const uint8_t *data; /* may be NULL when size is 0 */
    size_t size;
} wire_view;

static inline wire_view wire_text(const char *text) {
    return (wire_view){(const uint8_t *)text, strlen(text)};
}
static inline bool wire_equal(wire_view a, wire_view b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
/* Is it a valid UTF-8 text (no surrogates, no overlong forms, at most U+10FFFF)? */
bool wire_is_utf8(wire_view text);

typedef enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_LENGTH = 2,
    WIRE_FIXED32 = 5,
} wire_type;

typedef struct wire_field {
    uint32_t number; /* 1 to 2^29 - 1 */
    wire_type type;
    uint64_t value;  /* of a varint or fixed field */
    wire_view bytes; /* of a length-delimited one: a view of the input */
} wire_field;

typedef struct wire_reader {
    const uint8_t *start, *at, *end;
} wire_reader;

wire_reader wire_read(wire_view in);
/* The next field. *more is false (and *out untouched) at the end of the input. CUZK_ERR_INPUT with the byte
 * offset when the bytes are no field. */
cuzk_code wire_next(wire_reader *r, wire_field *out, bool *more, cuzk_error *err);

/* A growing buffer. A failed allocation sets `failed`, and everything written after it is dropped: check once
 * at the end. Zero-initialize; data is malloc'd and belongs to whoever holds the buffer. */
typedef struct wire_buffer {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} wire_buffer;

void wire_buffer_free(wire_buffer *b);
/* Room for `more` bytes; false when there is none. */
bool wire_reserve(wire_buffer *b, size_t more);
void wire_put(wire_buffer *b, const void *data, size_t size);
void wire_put_varint(wire_buffer *b, uint64_t value);
void wire_put_tag(wire_buffer *b, uint32_t number, wire_type type);
/* Tag and value. */
void wire_put_uint(wire_buffer *b, uint32_t number, uint64_t value);
void wire_put_bytes(wire_buffer *b, uint32_t number, wire_view bytes);

/* Bytes that a varint takes: 1 to 10. */
size_t wire_varint_size(uint64_t value);

#endif
