/*
 * A JSON text that arrives in pieces, parsed by yajl: its callbacks, byte offsets in the whole text, and
 * errors as values. yajl does not look at what its allocator returns; here a failed allocation ends the
 * parse with CUZK_ERR_RESOURCES.
 */
#ifndef CUZK_FILECOIN_C1_JSON_H
#define CUZK_FILECOIN_C1_JSON_H

#include <setjmp.h>
#include <yajl/yajl_parse.h>

#include "base/error.h"

typedef struct json_block json_block;

typedef struct json_stream {
    yajl_handle yajl;
    const char *name;  /* the text's name in errors */
    const char *piece; /* being parsed */
    size_t piece_size;
    uint64_t before; /* bytes fed before the piece */
    uint64_t fed;    /* bytes fed in all */
    json_block *blocks;
    size_t wanted; /* the allocation that failed */
    jmp_buf no_memory;
} json_stream;

/* `s` must stay where it is until json_close, which is due even after an error. */
cuzk_code json_open(json_stream *s, const char *name, const yajl_callbacks *callbacks, void *ctx,
                    cuzk_error *err);
void json_close(json_stream *s);

/* Parse one piece. When a callback returns 0 the result is CUZK_ERR_INPUT and *err is left alone: the
 * callback has filled it. Malformed JSON is CUZK_ERR_INPUT with an offset at or just before the token that
 * yajl refused. */
cuzk_code json_feed(json_stream *s, const void *text, size_t size, cuzk_error *err);

/* The text has ended: true if it is complete. */
bool json_finish(json_stream *s);

/* Is a string or key that yajl reports UTF-8? yajl lets over-long forms, surrogates and values beyond
 * U+10FFFF pass. */
bool json_is_utf8(const void *text, size_t size);

/* In a callback: bytes of the text up to the end of the token reported. */
static inline uint64_t json_offset(const json_stream *s) {
    return s->before + yajl_get_bytes_consumed(s->yajl);
}

/* In a callback for a key or string: where its opening quote is. */
uint64_t json_string_offset(const json_stream *s, const void *string, size_t size);

/* The same for its first byte, or CUZK_NO_OFFSET when the string is not in the text as it is: it has escapes,
 * or came in two pieces. */
uint64_t json_content_offset(const json_stream *s, const void *string, size_t size);

#endif
