/*
 * TOML as a flat list: every key of a document with its full name, its place and its value, in the order of
 * the text. A C face of toml++; what the keys mean is up to the caller.
 */
#ifndef CUZK_SERVER_TOML_H
#define CUZK_SERVER_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "base/error.h"

/* The largest text taken. */
#define TOML_TEXT_MOST ((size_t)1 << 20)

typedef enum toml_type {
    TOML_STRING,
    TOML_INTEGER,
    TOML_REAL,
    TOML_BOOLEAN,
    TOML_DATE,
    TOML_ARRAY,
    TOML_TABLE
} toml_type;

typedef struct toml_item {
    const char *key;       /* "section.name", parts that are not bare keys in quotes; "" for array elements */
    uint32_t line, column; /* of the key; of the value for array elements. From 1 */
    toml_type type;
    bool boolean;
    int64_t integer;
    const char *string;               /* NUL-terminated UTF-8 without other NULs */
    const struct toml_item *elements; /* of an array */
    size_t count;
} toml_item;

typedef struct toml_document toml_document;

/* Any failure is CUZK_ERR_INPUT with the path "NAME:LINE:COLUMN", or CUZK_ERR_RESOURCES. */
cuzk_code toml_parse(toml_document **out, const char *text, size_t size, const char *name, cuzk_error *err);
void toml_free(toml_document *d);

/* Every key, tables among them: a table's own item stands before those of its keys. */
const toml_item *toml_items(const toml_document *d, size_t *n);

/* "a string", "an integer", ... */
const char *toml_type_name(toml_type type);

#ifdef __cplusplus
}
#endif
#endif
