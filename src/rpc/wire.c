#include "rpc/wire.h"

#include <stdlib.h>

#include "base/utf8.h"

bool wire_is_utf8(wire_view text) {
    return utf8_is_valid(text.data, text.size);
}

wire_reader wire_read(wire_view in) {
    static const uint8_t nothing[1];
    const uint8_t *start = in.data ? in.data : nothing;
    return (wire_reader){start, start, start + in.size};
}

static cuzk_code malformed(const wire_reader *r, const char *what, cuzk_error *err) {
    return error_set(err, CUZK_ERR_INPUT, NULL, (uint64_t)(r->at - r->start), "malformed protobuf: %s", what);
}

static cuzk_code read_varint(wire_reader *r, uint64_t *out, cuzk_error *err) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (r->at == r->end) return malformed(r, "a number is cut off", err);
        uint8_t byte = *r->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift; /* bits beyond 64 are dropped */
        if (byte < 0x80) {
            *out = value;
            return CUZK_OK;
        }
    }
    return malformed(r, "a number of more than ten bytes", err);
}

static cuzk_code read_fixed(wire_reader *r, size_t size, uint64_t *out, cuzk_error *err) {
    if ((size_t)(r->end - r->at) < size) return malformed(r, "a fixed-size number is cut off", err);
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | r->at[i];
    r->at += size;
    *out = value;
    return CUZK_OK;
}

cuzk_code wire_next(wire_reader *r, wire_field *out, bool *more, cuzk_error *err) {
    *more = r->at < r->end;
    if (!*more) return CUZK_OK;
    uint64_t tag;
    TRY(read_varint(r, &tag, err));
    if (tag > UINT32_MAX || tag >> 3 == 0) return malformed(r, "a field number out of range", err);
    wire_field field = {.number = (uint32_t)tag >> 3, .type = (wire_type)(tag & 7)};
    switch (field.type) {
    case WIRE_VARINT:
        TRY(read_varint(r, &field.value, err));
        break;
    case WIRE_FIXED64:
        TRY(read_fixed(r, 8, &field.value, err));
        break;
    case WIRE_FIXED32:
        TRY(read_fixed(r, 4, &field.value, err));
        break;
    case WIRE_LENGTH:
        TRY(read_varint(r, &field.value, err));
        if (field.value > (uint64_t)(r->end - r->at)) {
            return error_set(err, CUZK_ERR_INPUT, NULL, (uint64_t)(r->at - r->start),
                             "malformed protobuf: field %u has %llu bytes, %zu are left", field.number,
                             (unsigned long long)field.value, (size_t)(r->end - r->at));
        }
        field.bytes = (wire_view){r->at, (size_t)field.value};
        r->at += field.bytes.size;
        break;
    default:
        return malformed(r, "a group or an unknown wire type", err);
    }
    *out = field;
    return CUZK_OK;
}

void wire_buffer_free(wire_buffer *b) {
    free(b->data);
    *b = (wire_buffer){0};
}

bool wire_reserve(wire_buffer *b, size_t more) {
    if (b->failed) return false;
    if (more <= b->capacity - b->size) return true;
    size_t capacity = b->capacity + b->capacity / 2;
    if (more > SIZE_MAX - b->size) {
        b->failed = true;
        return false;
    }
    if (capacity < b->size + more) capacity = b->size + more;
    if (capacity < 64) capacity = 64;
    uint8_t *data = realloc(b->data, capacity);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

void wire_put(wire_buffer *b, const void *data, size_t size) {
    if (size == 0 || !wire_reserve(b, size)) return;
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void wire_put_varint(wire_buffer *b, uint64_t value) {
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    wire_put(b, bytes, n);
}

void wire_put_tag(wire_buffer *b, uint32_t number, wire_type type) {
    wire_put_varint(b, (uint64_t)number << 3 | (uint64_t)type);
}

void wire_put_uint(wire_buffer *b, uint32_t number, uint64_t value) {
    wire_put_tag(b, number, WIRE_VARINT);
    wire_put_varint(b, value);
}

void wire_put_bytes(wire_buffer *b, uint32_t number, wire_view bytes) {
    wire_put_tag(b, number, WIRE_LENGTH);
    wire_put_varint(b, bytes.size);
    wire_put(b, bytes.data, bytes.size);
}

size_t wire_varint_size(uint64_t value) {
    size_t n = 1;
    for (; value >= 0x80; value >>= 7) n++;
    return n;
}
