/*
 * Errors are values: a cuzk_code returned, and a cuzk_error filled when the caller gave one.
 * The code says who can mend it; the message what was found and what was expected; path and offset where.
 */
#ifndef CUZK_BASE_ERROR_H
#define CUZK_BASE_ERROR_H

#include "cuzk/cuzk.h"

/* Fill *err (unless NULL) and return code, so that a failing function can `return error_set(...)`.
 * path may be NULL. */
cuzk_code error_set(cuzk_error *err, cuzk_code code, const char *path, uint64_t offset, const char *format,
                    ...) __attribute__((format(printf, 5, 6)));

/* The same with the text of an errno value appended. */
cuzk_code error_errno(cuzk_error *err, cuzk_code code, const char *path, int errnum, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

cuzk_code error_no_memory(cuzk_error *err, size_t bytes, const char *what);

#define TRY(expression)                                                                                      \
    do {                                                                                                     \
        cuzk_code try_code = (expression);                                                                   \
        if (try_code != CUZK_OK) return try_code;                                                            \
    } while (0)

#endif
