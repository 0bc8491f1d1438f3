/*
 * Editing JSON texts as texts, to damage them in one place. For texts without white space. A path names a
 * value as in "a.b[2].c"; an empty path is the whole text. What is not there fails the running test. Results
 * are the caller's to free.
 */
#ifndef CUZK_TEST_JSON_EDIT_H
#define CUZK_TEST_JSON_EDIT_H

#include <stdbool.h>
#include <stddef.h>

/* The end of the value that starts at p. */
const char *json_skip(const char *p);

/* The value at a path; with `key` its key instead, where it has one. */
const char *json_find(const char *text, const char *path, bool key);
size_t json_offset_of(const char *text, const char *path, bool key);

/* The text with `length` bytes at `at` replaced. */
char *json_splice(const char *text, size_t at, size_t length, const char *with);

typedef enum json_operation {
    JSON_SET,    /* replace the value */
    JSON_DROP,   /* remove the element or member */
    JSON_DOUBLE, /* repeat it after itself */
    JSON_BEFORE, /* put text before the value */
    JSON_RENAME  /* replace the key, quotes and colon included */
} json_operation;

char *json_edit(const char *text, json_operation what, const char *path, const char *with);

#endif
