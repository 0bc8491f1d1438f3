#include "rpc/builtin.h"

#include "rpc/descriptors.h"

#include <stdarg.h>
#include <stdio.h>

enum { HEALTH_SERVING = 1, HEALTH_NOT_SERVING = 2 };

__attribute__((format(printf, 3, 4))) static void refuse(rpc_refusal *out, rpc_status status,
                                                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out->message, sizeof out->message, format, args);
    va_end(args);
    out->status = status;
}

void builtin_health(const rpc_service *service, bool serving, wire_view request, wire_buffer *out,
                    rpc_refusal *refusal) {
    wire_reader r = wire_read(request);
    wire_field field;
    wire_view name = {NULL, 0};
    cuzk_error err;
    for (bool more = true;;) {
        if (wire_next(&r, &field, &more, &err) != CUZK_OK) {
            refuse(refusal, RPC_INTERNAL, "%.200s", err.message);
            return;
        }
        if (!more) break;
        if (field.number == 1 && field.type == WIRE_LENGTH) name = field.bytes;
    }
    if (name.size && !wire_equal(name, wire_text(service->name)) &&
        !wire_equal(name, wire_text(HEALTH_SERVICE)) && !wire_equal(name, wire_text(REFLECTION_SERVICE)) &&
        !wire_equal(name, wire_text(REFLECTION_ALPHA_SERVICE))) {
        refuse(refusal, RPC_NOT_FOUND, "unknown service");
        return;
    }
    wire_put_uint(out, 1, serving ? HEALTH_SERVING : HEALTH_NOT_SERVING);
    if (out->failed) refuse(refusal, RPC_RESOURCE_EXHAUSTED, "out of memory");
}

/* ---- Reflection ---- */

/* Field numbers of descriptor.proto. */
enum {
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    ANY_NAME = 1,
    MESSAGE_FIELD = 2,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    SERVICE_METHOD = 2,
};

/* The first length-delimited field of that number; empty without one. */
static wire_view member(wire_view in, uint32_t number) {
    wire_reader r = wire_read(in);
    wire_field field;
    bool more;
    while (wire_next(&r, &field, &more, NULL) == CUZK_OK && more) {
        if (field.number == number && field.type == WIRE_LENGTH) return field.bytes;
    }
    return (wire_view){NULL, 0};
}

/* If symbol is `name` or starts with "name.", cut that off. */
static bool cut(wire_view *symbol, wire_view name) {
    if (symbol->size < name.size || (name.size && memcmp(symbol->data, name.data, name.size) != 0))
        return false;
    if (symbol->size == name.size) {
        symbol->size = 0;
        return true;
    }
    if (symbol->data[name.size] != '.') return false;
    symbol->data += name.size + 1;
    symbol->size -= name.size + 1;
    return true;
}

/* Does the message, enum or service `in`, or something in it, have the name `symbol`? */
static bool defines(wire_view in, wire_view symbol, bool is_message) {
    if (!cut(&symbol, member(in, ANY_NAME))) return false;
    if (symbol.size == 0) return true;
    wire_reader r = wire_read(in);
    wire_field field;
    bool more;
    while (wire_next(&r, &field, &more, NULL) == CUZK_OK && more) {
        if (field.type != WIRE_LENGTH) continue;
        bool nested = is_message && field.number == MESSAGE_NESTED;
        bool named = field.number == MESSAGE_FIELD || (is_message && field.number == MESSAGE_ENUM);
        if (nested && defines(field.bytes, symbol, true)) return true;
        if (named && wire_equal(member(field.bytes, ANY_NAME), symbol)) return true;
    }
    return false;
}
_Static_assert(MESSAGE_FIELD == (int)SERVICE_METHOD, "fields and methods are found the same way");

static bool file_defines(wire_view file, wire_view symbol) {
    if (!cut(&symbol, member(file, FILE_PACKAGE)) || symbol.size == 0) return false;
    wire_reader r = wire_read(file);
    wire_field field;
    bool more;
    while (wire_next(&r, &field, &more, NULL) == CUZK_OK && more) {
        bool has_names =
            field.number == FILE_MESSAGE || field.number == FILE_ENUM || field.number == FILE_SERVICE;
        if (has_names && defines(field.bytes, symbol, field.number == FILE_MESSAGE)) return true;
    }
    return false;
}

static void put_error(wire_buffer *out, rpc_status status, const char *text) {
    wire_buffer error = {0};
    wire_put_uint(&error, 1, (uint64_t)status);
    wire_put_bytes(&error, 2, wire_text(text));
    wire_put_bytes(out, 7, (wire_view){error.data, error.size});
    out->failed |= error.failed;
    wire_buffer_free(&error);
}

static void put_file(const rpc_service *service, wire_view wanted, bool by_name, wire_buffer *out) {
    wire_view files[] = {*service->descriptor, health_descriptor, reflection_descriptor,
                         reflection_alpha_descriptor};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (by_name ? wire_equal(member(files[i], FILE_NAME), wanted) : file_defines(files[i], wanted)) {
            wire_buffer list = {0};
            wire_put_bytes(&list, 1, files[i]);
            wire_put_bytes(out, 4, (wire_view){list.data, list.size});
            out->failed |= list.failed;
            wire_buffer_free(&list);
            return;
        }
    }
    put_error(out, RPC_NOT_FOUND, by_name ? "no such file" : "no such symbol");
}

static void put_services(const rpc_service *service, wire_buffer *out) {
    const char *names[] = {service->name, HEALTH_SERVICE, REFLECTION_SERVICE, REFLECTION_ALPHA_SERVICE};
    wire_buffer list = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wire_put_tag(&list, 1, WIRE_LENGTH);
        wire_put_varint(&list, 2 + strlen(names[i])); /* tag and length take a byte each */
        wire_put_bytes(&list, 1, wire_text(names[i]));
    }
    wire_put_bytes(out, 6, (wire_view){list.data, list.size});
    out->failed |= list.failed;
    wire_buffer_free(&list);
}

void builtin_reflection(const rpc_service *service, wire_view request, wire_buffer *out,
                        rpc_refusal *refusal) {
    wire_reader r = wire_read(request);
    wire_field field, query = {.number = 0};
    wire_view host = {NULL, 0};
    cuzk_error err;
    for (bool more = true;;) {
        if (wire_next(&r, &field, &more, &err) != CUZK_OK) {
            refuse(refusal, RPC_INTERNAL, "%.200s", err.message);
            return;
        }
        if (!more) break;
        if (field.type != WIRE_LENGTH) continue;
        if (field.number == 1) host = field.bytes;
        if (field.number >= 3 && field.number <= 7) query = field;
    }
    if (!wire_is_utf8(host) || (query.number != 5 && !wire_is_utf8(query.bytes))) {
        refuse(refusal, RPC_INTERNAL, "a text of the request is not valid UTF-8");
        return;
    }
    if (host.size) wire_put_bytes(out, 1, host);
    wire_put_bytes(out, 2, request);
    switch (query.number) {
    case 3:
        put_file(service, query.bytes, true, out);
        break;
    case 4:
        put_file(service, query.bytes, false, out);
        break;
    case 5:
    case 6:
        put_error(out, RPC_NOT_FOUND, "there are no extensions");
        break;
    case 7:
        put_services(service, out);
        break;
    default:
        put_error(out, RPC_UNIMPLEMENTED, "unknown kind of request");
    }
}
