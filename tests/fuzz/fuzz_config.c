/*
 * Settings files from any bytes. What is refused is refused with one error that has a place in the text; what
 * is accepted can be written as TOML and read back as the same.
 */
#include "fuzz.h"

#include <string.h>

#include "server/config.h"

static cuzk_code parse(config **out, const char *text, size_t size, cuzk_error *err) {
    const config_inputs in = {.path = NULL};
    *err = (cuzk_error){.code = CUZK_OK};
    cuzk_code code = config_parse(out, text, size, "text", &in, err);
    FUZZ_CHECK((code == CUZK_OK) == (*out != NULL));
    return code;
}

/* "text:LINE:COLUMN" with a line that the text has, or the column after its end. */
static void check_place(const char *place, const uint8_t *data, size_t size) {
    unsigned line, column, lines = 1;
    char rest;
    FUZZ_CHECK(sscanf(place, "text:%u:%u%c", &line, &column, &rest) == 2);
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    FUZZ_CHECK(line >= 1 && line <= lines && column >= 1 && column <= size + 1);
}

static char *write_all(const config *c) {
    char *text = NULL;
    size_t size, n;
    FILE *out = open_memstream(&text, &size);
    FUZZ_CHECK(out);
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char *value = config_value_text(c, &keys[i]);
        FUZZ_CHECK((value != NULL) == (keys[i].status == CONFIG_USED));
        if (value) fprintf(out, "%s = %s\n", keys[i].key, value);
        free(value);
    }
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    config *c, *again;
    cuzk_error err;
    cuzk_code code = parse(&c, (const char *)data, size, &err);
    if (code != CUZK_OK) {
        FUZZ_CHECK(code == CUZK_ERR_INPUT && err.code == code && err.message[0]);
        check_place(err.path, data, size);
        return 0;
    }
    char *first = write_all(c);
    FUZZ_CHECK(parse(&again, first, strlen(first), &err) == CUZK_OK);
    char *second = write_all(again);
    FUZZ_CHECK(strcmp(first, second) == 0);
    free(first);
    free(second);
    config_free(again);
    config_free(c);
    return 0;
}
