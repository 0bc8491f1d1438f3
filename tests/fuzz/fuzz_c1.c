/*
 * The C1 reader on any text. What it accepts it writes and reads back unchanged; what it refuses it refuses
 * with one error whose place is in the text. In the wrapper the same text has the same fate, for a bare C1.
 */
#include "fuzz.h"

#include <string.h>
#include <tomcrypt.h>

#include "base/mem.h"
#include "filecoin/c1.h"
#include "filecoin/c1_write.h"

static cuzk_code parse(c1 **out, const void *text, size_t size, cuzk_error *err) {
    uint64_t memory = mem_in_use();
    *err = (cuzk_error){.offset = 0};
    cuzk_code code = c1_parse(out, text, size, "text", err);
    if (code == CUZK_OK) {
        FUZZ_CHECK(*out);
        return code;
    }
    FUZZ_CHECK(!*out && mem_in_use() == memory);
    FUZZ_CHECK(code == CUZK_ERR_INPUT && err->code == code);
    FUZZ_CHECK(err->message[0] && strncmp(err->path, "text", 4) == 0);
    FUZZ_CHECK(err->path[4] || err->offset == CUZK_NO_OFFSET || err->offset <= size);
    return code;
}

static char *wrap(const uint8_t *text, size_t size, uint64_t sector_size, size_t *wrapped_size) {
    char tail[64];
    size_t tail_size =
        (size_t)snprintf(tail, sizeof tail, "\",\"SectorSize\":%llu}", (unsigned long long)sector_size);
    const char head[] = "{\"SectorNum\":7,\"Phase1Out\":\"";
    unsigned long chars = (unsigned long)((size + 2) / 3 * 4 + 1);
    char *out = malloc(sizeof head + chars + tail_size);
    FUZZ_CHECK(out);
    memcpy(out, head, sizeof head - 1);
    FUZZ_CHECK(base64_encode(text, size, (uint8_t *)out + sizeof head - 1, &chars) == CRYPT_OK);
    memcpy(out + sizeof head - 1 + chars, tail, tail_size);
    *wrapped_size = sizeof head - 1 + chars + tail_size;
    return out;
}

static void check_same_text(const c1 *a, const c1 *b) {
    char *texts[2];
    size_t sizes[2];
    FUZZ_CHECK(c1_write(&texts[0], &sizes[0], a, C1_BARE, NULL) == CUZK_OK);
    FUZZ_CHECK(c1_write(&texts[1], &sizes[1], b, C1_BARE, NULL) == CUZK_OK);
    FUZZ_CHECK(sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0);
    free(texts[0]);
    free(texts[1]);
}

/* A C1 that was accepted, written and read back. */
static void check_round_trip(const c1 *c, c1_form form) {
    char *text;
    size_t size;
    cuzk_error err;
    c1 *again;
    FUZZ_CHECK(c1_write(&text, &size, c, form, NULL) == CUZK_OK);
    FUZZ_CHECK(parse(&again, text, size, &err) == CUZK_OK);
    check_same_text(c, again);
    c1_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    c1 *bare, *wrapped;
    cuzk_error bare_err, wrapped_err;
    cuzk_code code = parse(&bare, data, size, &bare_err);
    size_t wrapped_size;
    char *text = wrap(data, size, bare ? bare->sector->bytes : 2048, &wrapped_size);
    cuzk_code wrapped_code = parse(&wrapped, text, wrapped_size, &wrapped_err);
    free(text);
    if (wrapped) FUZZ_CHECK(wrapped->has_sector_num && wrapped->sector_num == 7);

    if (code == CUZK_OK && wrapped_code == CUZK_OK) {
        check_same_text(bare, wrapped);
        check_round_trip(bare, C1_WRAPPER_GO);
    } else if (wrapped_code == CUZK_OK) {
        check_round_trip(wrapped,
                         C1_BARE); /* only a SectorSize or SectorNum beside it can spoil a bare one */
    } else if (code == CUZK_OK) {
        check_round_trip(bare, C1_BARE); /* the input was a wrapper, which does not nest */
    }
    c1_free(bare);
    c1_free(wrapped);
    return 0;
}
