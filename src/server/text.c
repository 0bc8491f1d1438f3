#include "server/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

size_t text_to_utf8(char *out, size_t room, const char *text) {
    size_t size = strlen(text), used = 0;
    for (size_t i = 0; i < size;) {
        size_t n = utf8_length((const uint8_t *)text + i, size - i);
        const char *from = n ? text + i : "\xef\xbf\xbd";
        size_t bytes = n ? n : 3;
        if (used + bytes >= room) break;
        memcpy(out + used, from, bytes);
        used += bytes;
        i += n ? n : 1;
    }
    out[used] = 0;
    return used;
}

void text_of_error(char out[TEXT_ERROR_BYTES], const cuzk_error *err) {
    char offset[40] = "", line[TEXT_ERROR_BYTES];
    if (err->offset != CUZK_NO_OFFSET) snprintf(offset, sizeof offset, "offset %" PRIu64 ": ", err->offset);
    snprintf(line, sizeof line, "%s%s%s%s", err->path, *err->path ? ": " : "", offset, err->message);
    text_to_utf8(out, TEXT_ERROR_BYTES, line);
}
