/* Every allocation of yajl is on a list, so that a parse that leaves yajl by longjmp can free them all. */
#include "filecoin/c1_json.h"

#include <stdlib.h>
#include <string.h>

struct json_block {
    json_block *next, *previous;
    max_align_t data[];
};

static json_block *block_of(void *data) {
    return (json_block *)((char *)data - offsetof(json_block, data));
}

static void *stream_realloc(void *ctx, void *old, size_t size) {
    json_stream *s = ctx;
    json_block *block =
        size <= SIZE_MAX - sizeof *block ? realloc(old ? block_of(old) : NULL, sizeof *block + size) : NULL;
    if (!block) {
        s->wanted = size;
        longjmp(s->no_memory, 1);
    }
    if (!old) *block = (json_block){.next = s->blocks};
    if (block->next) block->next->previous = block;
    if (block->previous)
        block->previous->next = block;
    else
        s->blocks = block;
    return block->data;
}

static void *stream_malloc(void *ctx, size_t size) {
    return stream_realloc(ctx, NULL, size);
}

static void stream_free(void *ctx, void *data) {
    json_stream *s = ctx;
    if (!data) return;
    json_block *block = block_of(data);
    if (block->next) block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else
        s->blocks = block->next;
    free(block);
}

static cuzk_code out_of_memory(const json_stream *s, cuzk_error *err) {
    return error_no_memory(err, s->wanted, "the JSON parser");
}

cuzk_code json_open(json_stream *s, const char *name, const yajl_callbacks *callbacks, void *ctx,
                    cuzk_error *err) {
    *s = (json_stream){.name = name};
    yajl_alloc_funcs functions = {stream_malloc, stream_realloc, stream_free, s}; /* copied by yajl */
    if (setjmp(s->no_memory)) return out_of_memory(s, err);
    s->yajl = yajl_alloc(callbacks, &functions, ctx);
    return CUZK_OK;
}

void json_close(json_stream *s) {
    while (s->blocks) stream_free(s, s->blocks->data);
    s->yajl = NULL;
}

/* yajl's message without its kind, verbosity and end of line. */
static cuzk_code syntax_error(json_stream *s, cuzk_error *err) {
    char *text = (char *)yajl_get_error(s->yajl, 0, NULL, 0);
    const char *message = strstr(text, ": ");
    message = message ? message + 2 : text;
    int length = (int)strcspn(message, "\n");
    uint64_t end = json_offset(s);
    cuzk_code code = error_set(err, CUZK_ERR_INPUT, s->name, end > 0 ? end - 1 : 0, "not valid JSON: %.*s",
                               length, message);
    yajl_free_error(s->yajl, (unsigned char *)text);
    return code;
}

cuzk_code json_feed(json_stream *s, const void *text, size_t size, cuzk_error *err) {
    if (setjmp(s->no_memory)) return out_of_memory(s, err);
    s->piece = text;
    s->piece_size = size;
    s->before = s->fed;
    s->fed += size;
    switch (yajl_parse(s->yajl, text, size)) {
    case yajl_status_ok:
        return CUZK_OK;
    case yajl_status_client_canceled:
        return CUZK_ERR_INPUT;
    default:
        return syntax_error(s, err);
    }
}

bool json_finish(json_stream *s) {
    s->before = s->fed;
    s->piece_size = 0;
    return setjmp(s->no_memory) == 0 && yajl_complete_parse(s->yajl) == yajl_status_ok;
}

uint64_t json_content_offset(const json_stream *s, const void *string, size_t size) {
    uintptr_t at = (uintptr_t)string, piece = (uintptr_t)s->piece;
    bool inside = at >= piece && at + size <= piece + s->piece_size;
    return inside ? s->before + (at - piece) : CUZK_NO_OFFSET;
}

uint64_t json_string_offset(const json_stream *s, const void *string, size_t size) {
    uint64_t content = json_content_offset(s, string, size);
    if (content != CUZK_NO_OFFSET) return content - 1;
    /* With escapes it is longer in the text: go back from the closing quote to the one not escaped. */
    size_t quote = yajl_get_bytes_consumed(s->yajl) - 1;
    for (size_t i = quote; i-- > 0;) {
        size_t slashes = 0;
        while (slashes < i && s->piece[i - 1 - slashes] == '\\') slashes++;
        if (s->piece[i] == '"' && slashes % 2 == 0) return s->before + i;
    }
    return s->before + quote - size - 1; /* begun in the piece before: exact without escapes */
}

/* The well-formed sequences of the Unicode standard, table 3-7. */
bool json_is_utf8(const void *text, size_t size) {
    const uint8_t *p = text, *end = p + size;
    while (p < end) {
        uint8_t lead = *p++, low = 0x80, high = 0xbf; /* bounds of the second byte */
        unsigned more;
        if (lead < 0x80) continue;
        if (lead >= 0xc2 && lead <= 0xdf)
            more = 1;
        else if (lead >= 0xe0 && lead <= 0xef)
            more = 2;
        else if (lead >= 0xf0 && lead <= 0xf4)
            more = 3;
        else
            return false;
        if (lead == 0xe0) low = 0xa0;
        if (lead == 0xed) high = 0x9f;
        if (lead == 0xf0) low = 0x90;
        if (lead == 0xf4) high = 0x8f;
        for (; more > 0; more--, p++) {
            if (p == end || *p < low || *p > high) return false;
            low = 0x80;
            high = 0xbf;
        }
    }
    return true;
}
