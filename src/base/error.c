#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(cuzk_error *err, cuzk_code code, const char *path, uint64_t offset, const char *format,
                 va_list args) {
    err->code = code;
    err->offset = offset;
    snprintf(err->path, sizeof err->path, "%s", path ? path : "");
    vsnprintf(err->message, sizeof err->message, format, args);
}

cuzk_code error_set(cuzk_error *err, cuzk_code code, const char *path, uint64_t offset, const char *format,
                    ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, code, path, offset, format, args);
        va_end(args);
    }
    return code;
}

cuzk_code error_errno(cuzk_error *err, cuzk_code code, const char *path, int errnum, const char *format,
                      ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, code, path, CUZK_NO_OFFSET, format, args);
        va_end(args);
        size_t used = strlen(err->message);
        char text[128];
        snprintf(err->message + used, sizeof err->message - used, ": %s",
                 strerror_r(errnum, text, sizeof text));
    }
    return code;
}

cuzk_code error_no_memory(cuzk_error *err, size_t bytes, const char *what) {
    return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "out of memory: %zu bytes for %s", bytes,
                     what);
}
