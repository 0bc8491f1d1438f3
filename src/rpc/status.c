#include "rpc/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

const char *rpc_status_name(rpc_status status) {
    static const char *const names[] = {
        "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED",
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "UNKNOWN";
}

static size_t put_escaped(char *out, const char *bytes, size_t n) {
    static const char hex[] = "0123456789ABCDEF";
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        if (byte >= 0x20 && byte <= 0x7e && byte != '%') {
            out[used++] = (char)byte;
        } else {
            out[used++] = '%';
            out[used++] = hex[byte >> 4];
            out[used++] = hex[byte & 15];
        }
    }
    return used;
}

char *rpc_message_encode(const char *text, size_t limit) {
    size_t length = strlen(text);
    size_t cut = length < limit ? length : limit;
    char *out = malloc(cut * 9 + 3); /* a bad byte becomes three escaped ones */
    if (!out) return NULL;
    size_t used = 0, i = 0;
    /* HTTP/2 forbids a space at either end of a value. */
    if (cut && text[0] == ' ') {
        memcpy(out, "%20", 3);
        used = 3;
        i = 1;
    }
    while (i < cut) {
        size_t n = utf8_length((const uint8_t *)text + i, length - i);
        if (n > cut - i) break;
        used += n ? put_escaped(out + used, text + i, n) : put_escaped(out + used, "\xef\xbf\xbd", 3);
        i += n ? n : 1;
    }
    if (used && out[used - 1] == ' ') {
        memcpy(out + used - 1, "%20", 3);
        used += 2;
    }
    out[used] = 0;
    return out;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void rpc_message_decode(char *out, size_t size, const char *value, size_t length) {
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < size;) {
        if (value[i] == '%' && length - i > 2 && hex_digit(value[i + 1]) >= 0 &&
            hex_digit(value[i + 2]) >= 0) {
            out[used++] = (char)(hex_digit(value[i + 1]) << 4 | hex_digit(value[i + 2]));
            i += 3;
        } else {
            out[used++] = value[i++];
        }
    }
    out[used] = 0;
}

static const struct {
    char name;
    double seconds;
} units[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'S', 1}, {'M', 60}, {'H', 3600}};

bool rpc_timeout_parse(double *seconds, const char *value, size_t length) {
    if (length < 2 || length > 9) return false;
    double number = 0;
    for (size_t i = 0; i + 1 < length; i++) {
        if (value[i] < '0' || value[i] > '9') return false;
        number = number * 10 + (value[i] - '0');
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].name == value[length - 1]) {
            *seconds = number * units[i].seconds;
            return true;
        }
    }
    return false;
}

void rpc_timeout_format(char out[16], double seconds) {
    const double most = 99999999;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double number = ceil((seconds > 0 ? seconds : 0) / units[i].seconds);
        if (number <= most) {
            snprintf(out, 16, "%u%c", (unsigned)number, units[i].name);
            return;
        }
    }
    snprintf(out, 16, "%uH", (unsigned)most);
}
