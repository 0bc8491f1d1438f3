/*
 * Messages as C structs, described by tables. One decoder and one encoder serve every message: a table says
 * which field number lies where in the struct.
 *
 * Decoding follows proto3: unknown fields (and known ones with another wire type) are skipped, the last of
 * several scalars wins, a repeated singular message is merged, varints are cut to the width of the field,
 * enums are open. Strings must be valid UTF-8. Bytes and strings are views of the input, which must outlive
 * the struct; only arrays of repeated fields are allocated. Encoding leaves out fields with the default
 * value.
 */
#ifndef CUZK_RPC_SCHEMA_H
#define CUZK_RPC_SCHEMA_H

#include "rpc/wire.h"

typedef enum schema_kind {
    SCHEMA_STRING,  /* wire_view */
    SCHEMA_BYTES,   /* wire_view */
    SCHEMA_UINT32,  /* uint32_t */
    SCHEMA_UINT64,  /* uint64_t */
    SCHEMA_ENUM,    /* int32_t */
    SCHEMA_BOOL,    /* bool */
    SCHEMA_MESSAGE, /* the struct itself; a bool at `presence` tells if it was there */
    SCHEMA_BYTES_LIST,
    SCHEMA_MESSAGE_LIST,
} schema_kind;

/* A repeated field. items: wire_view, or structs of the message's size. */
typedef struct schema_list {
    void *items; /* malloc'd by the decoder; an encoder's caller may point anywhere */
    size_t count;
} schema_list;

/* Entries that a decoded list may have: what a message of empty entries could otherwise make of little input
 * is many times its size. */
#define SCHEMA_LIST_MAX 65536u

typedef struct schema_field {
    uint32_t number;
    schema_kind kind;
    const char *name;
    size_t offset, presence;
    const struct schema *message;
} schema_field;

typedef struct schema {
    const char *name; /* "SubmitProofRequest" */
    size_t size;      /* of the struct */
    const schema_field *fields;
    size_t field_count;
} schema;

/* *out is filled; schema_free it, also after an error. CUZK_ERR_INPUT names field and offset. */
cuzk_code schema_decode(const schema *s, void *out, wire_view in, cuzk_error *err);
/* Appends to *out, whose `failed` tells of missing memory. */
void schema_encode(const schema *s, const void *message, wire_buffer *out);
/* Frees what the decoder allocated, and zeroes the struct. */
void schema_free(const schema *s, void *message);

#endif
