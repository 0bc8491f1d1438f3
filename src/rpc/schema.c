#include "rpc/schema.h"

#include <stdio.h>
#include <stdlib.h>

static void *place(void *message, size_t offset) {
    return (char *)message + offset;
}
static const void *place_const(const void *message, size_t offset) {
    return (const char *)message + offset;
}

static wire_type wire_type_of(schema_kind kind) {
    return kind == SCHEMA_UINT32 || kind == SCHEMA_UINT64 || kind == SCHEMA_ENUM || kind == SCHEMA_BOOL
               ? WIRE_VARINT
               : WIRE_LENGTH;
}

static const schema_field *find(const schema *s, const wire_field *field) {
    for (size_t i = 0; i < s->field_count; i++) {
        const schema_field *f = &s->fields[i];
        if (f->number == field->number) return wire_type_of(f->kind) == field->type ? f : NULL;
    }
    return NULL;
}

/* Room for one more item: a new zeroed one at *out. Arrays double, so count is enough to know the capacity.
 */
static cuzk_code append(schema_list *list, size_t item_size, void **out, const char *name, cuzk_error *err) {
    if (list->count >= SCHEMA_LIST_MAX) {
        return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s has more than %u entries", name,
                         SCHEMA_LIST_MAX);
    }
    if ((list->count & (list->count - 1)) == 0) { /* 0, 1, 2, 4, ... */
        size_t capacity = list->count ? 2 * list->count : 1;
        void *items = realloc(list->items, capacity * item_size);
        if (!items) return error_no_memory(err, capacity * item_size, name);
        list->items = items;
    }
    *out = (char *)list->items + list->count * item_size;
    memset(*out, 0, item_size);
    list->count++;
    return CUZK_OK;
}

static cuzk_code decode_fields(const schema *s, void *out, wire_view in, size_t base, cuzk_error *err);

static cuzk_code store(const schema_field *f, void *out, const wire_field *field, size_t offset,
                       cuzk_error *err) {
    void *at = place(out, f->offset), *item;
    switch (f->kind) {
    case SCHEMA_STRING:
        if (!wire_is_utf8(field->bytes)) {
            return error_set(err, CUZK_ERR_INPUT, NULL, offset, "%s is not valid UTF-8", f->name);
        }
        *(wire_view *)at = field->bytes;
        break;
    case SCHEMA_BYTES:
        *(wire_view *)at = field->bytes;
        break;
    case SCHEMA_UINT32:
        *(uint32_t *)at = (uint32_t)field->value;
        break;
    case SCHEMA_UINT64:
        *(uint64_t *)at = field->value;
        break;
    case SCHEMA_ENUM:
        *(int32_t *)at = (int32_t)(uint32_t)field->value;
        break;
    case SCHEMA_BOOL:
        *(bool *)at = field->value != 0;
        break;
    case SCHEMA_MESSAGE:
        *(bool *)place(out, f->presence) = true;
        return decode_fields(f->message, at, field->bytes, offset, err);
    case SCHEMA_BYTES_LIST:
        TRY(append(at, sizeof(wire_view), &item, f->name, err));
        *(wire_view *)item = field->bytes;
        break;
    case SCHEMA_MESSAGE_LIST:
        TRY(append(at, f->message->size, &item, f->name, err));
        return decode_fields(f->message, item, field->bytes, offset, err);
    }
    return CUZK_OK;
}

/* base: where `in` starts in the whole message, for the offsets in errors. */
static cuzk_code decode_fields(const schema *s, void *out, wire_view in, size_t base, cuzk_error *err) {
    wire_reader r = wire_read(in);
    for (;;) {
        wire_field field;
        bool more;
        cuzk_code code = wire_next(&r, &field, &more, err);
        if (code != CUZK_OK) {
            if (err && err->offset != CUZK_NO_OFFSET) err->offset += base;
            return code;
        }
        if (!more) return CUZK_OK;
        const schema_field *f = find(s, &field);
        if (!f) continue;
        size_t end = (size_t)(r.at - r.start);
        TRY(store(f, out, &field, base + end - field.bytes.size, err));
    }
}

cuzk_code schema_decode(const schema *s, void *out, wire_view in, cuzk_error *err) {
    memset(out, 0, s->size);
    cuzk_code code = decode_fields(s, out, in, 0, err);
    if (code != CUZK_OK && err) {
        char text[sizeof err->message];
        snprintf(text, sizeof text, "%s: %.600s", s->name, err->message);
        memcpy(err->message, text, sizeof text);
    }
    return code;
}

static size_t encoded_size(const schema *s, const void *message);

/* The value of a varint field; 0 is the default. */
static uint64_t varint_value(const schema_field *f, const void *at) {
    switch (f->kind) {
    case SCHEMA_UINT32:
        return *(const uint32_t *)at;
    case SCHEMA_UINT64:
        return *(const uint64_t *)at;
    case SCHEMA_ENUM:
        return (uint64_t)(int64_t) * (const int32_t *)at; /* a negative one takes ten bytes */
    default:
        return *(const bool *)at;
    }
}

static size_t tag_size(const schema_field *f) {
    return wire_varint_size((uint64_t)f->number << 3);
}
static size_t delimited_size(const schema_field *f, size_t size) {
    return tag_size(f) + wire_varint_size(size) + size;
}

static size_t field_size(const schema_field *f, const void *message) {
    const void *at = place_const(message, f->offset);
    size_t total = 0;
    switch (f->kind) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES: {
        const wire_view *v = at;
        return v->size ? delimited_size(f, v->size) : 0;
    }
    case SCHEMA_MESSAGE:
        return *(const bool *)place_const(message, f->presence)
                   ? delimited_size(f, encoded_size(f->message, at))
                   : 0;
    case SCHEMA_BYTES_LIST: {
        const schema_list *list = at;
        const wire_view *items = list->items;
        for (size_t i = 0; i < list->count; i++) total += delimited_size(f, items[i].size);
        return total;
    }
    case SCHEMA_MESSAGE_LIST: {
        const schema_list *list = at;
        for (size_t i = 0; i < list->count; i++) {
            const void *item = (const char *)list->items + i * f->message->size;
            total += delimited_size(f, encoded_size(f->message, item));
        }
        return total;
    }
    default: {
        uint64_t value = varint_value(f, at);
        return value ? tag_size(f) + wire_varint_size(value) : 0;
    }
    }
}

static size_t encoded_size(const schema *s, const void *message) {
    size_t total = 0;
    for (size_t i = 0; i < s->field_count; i++) total += field_size(&s->fields[i], message);
    return total;
}

static void encode_fields(const schema *s, const void *message, wire_buffer *out);

static void encode_message(const schema_field *f, const void *message, wire_buffer *out) {
    wire_put_tag(out, f->number, WIRE_LENGTH);
    wire_put_varint(out, encoded_size(f->message, message));
    encode_fields(f->message, message, out);
}

static void encode_fields(const schema *s, const void *message, wire_buffer *out) {
    for (size_t i = 0; i < s->field_count; i++) {
        const schema_field *f = &s->fields[i];
        const void *at = place_const(message, f->offset);
        const schema_list *list = at;
        switch (f->kind) {
        case SCHEMA_STRING:
        case SCHEMA_BYTES:
            if (((const wire_view *)at)->size) wire_put_bytes(out, f->number, *(const wire_view *)at);
            break;
        case SCHEMA_MESSAGE:
            if (*(const bool *)place_const(message, f->presence)) encode_message(f, at, out);
            break;
        case SCHEMA_BYTES_LIST:
            for (size_t k = 0; k < list->count; k++) {
                wire_put_bytes(out, f->number, ((const wire_view *)list->items)[k]);
            }
            break;
        case SCHEMA_MESSAGE_LIST:
            for (size_t k = 0; k < list->count; k++) {
                encode_message(f, (const char *)list->items + k * f->message->size, out);
            }
            break;
        default: {
            uint64_t value = varint_value(f, at);
            if (value) wire_put_uint(out, f->number, value);
        }
        }
    }
}

void schema_encode(const schema *s, const void *message, wire_buffer *out) {
    if (wire_reserve(out, encoded_size(s, message))) encode_fields(s, message, out);
}

void schema_free(const schema *s, void *message) {
    for (size_t i = 0; i < s->field_count; i++) {
        const schema_field *f = &s->fields[i];
        void *at = place(message, f->offset);
        schema_list *list = at;
        if (f->kind == SCHEMA_MESSAGE) schema_free(f->message, at);
        if (f->kind == SCHEMA_MESSAGE_LIST) {
            for (size_t k = 0; k < list->count; k++) {
                schema_free(f->message, (char *)list->items + k * f->message->size);
            }
        }
        if (f->kind == SCHEMA_MESSAGE_LIST || f->kind == SCHEMA_BYTES_LIST) free(list->items);
    }
    memset(message, 0, s->size);
}
