#include "text_circuit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

/* Decimal below 2^64, -n for r - n, or 0x and big-endian hex. */
static const char *read_number(fr *out, const char *s) {
    char *end;
    bool negative = *s == '-';
    s += negative;
    if (s[0] == '0' && s[1] == 'x') {
        size_t digits = strspn(s + 2, "0123456789abcdef");
        char text[65];
        uint8_t bytes[32];
        if (digits > 64) fail_msg("long number %.80s", s);
        memset(text, '0', 64);
        memcpy(text + 64 - digits, s + 2, digits);
        text[64] = 0;
        hex_decode(bytes, text, 32);
        for (int i = 0; i < 16; i++) {
            uint8_t swap = bytes[i];
            bytes[i] = bytes[31 - i];
            bytes[31 - i] = swap;
        }
        if (!fr_from_bytes(out, bytes)) fail_msg("number not below r: %.80s", s);
        return s + 2 + digits;
    }
    fr_from_u64(out, strtoull(s, &end, 10));
    if (end == s) fail_msg("no number: %.80s", s);
    if (negative) fr_neg(out, out);
    return end;
}

static const char *expect(const char *s, const char *literal) {
    size_t length = strlen(literal);
    if (strncmp(s, literal, length) != 0) fail_msg("'%s' expected before '%.60s'", literal, s);
    return s + length;
}

static const char *read_lc(lc *out, const char *s) {
    lc_clear(out);
    s = expect(s, "[");
    while (*s != ']') {
        if (*s == ' ') s++;
        r1cs_var flag = *s == 'W' ? R1CS_AUX : 0;
        if (*s != 'W' && *s != 'I') fail_msg("no variable: %.60s", s);
        char *end;
        r1cs_var v = flag | (r1cs_var)strtoul(s + 1, &end, 10);
        fr coeff;
        s = read_number(&coeff, expect(end, "*"));
        lc_add_term(out, v, &coeff);
    }
    return s + 1;
}

static void synthesize(const void *ctx, cs *system) {
    const text_circuit *t = ctx;
    lc a = LC_EMPTY, b = LC_EMPTY, c = LC_EMPTY;
    for (const char *line = t->lines; *line; line += strlen(line) + 1) {
        fr value;
        if (*line == 'a') {
            const char *s = strstr(line, "= ");
            read_number(&value, s + 2);
            cs_alloc(system, &value);
        } else if (*line == 'i') {
            const char *s = strstr(line, "= ");
            read_number(&value, s + 2);
            cs_alloc_input(system, &value);
        } else if (*line == 'C') {
            const char *s = read_lc(&a, strstr(line, ": ") + 2);
            s = read_lc(&b, expect(s, " * "));
            read_lc(&c, expect(s, " = "));
            cs_enforce(system, &a, &b, &c);
        } else if (*line != '#') {
            fail_msg("odd line: %.80s", line);
        }
    }
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
}

void text_circuit_from(text_circuit *out, const char *text) {
    size_t size = strlen(text);
    out->lines = malloc(size + 2);
    assert_non_null(out->lines);
    memcpy(out->lines, text, size);
    out->lines[size] = out->lines[size + 1] = 0;
    for (size_t i = 0; i < size; i++)
        if (out->lines[i] == '\n') out->lines[i] = 0;
    out->circuit = (r1cs_circuit){.name = "text", .synthesize = synthesize, .ctx = out};
    assert_int_equal(r1cs_measure(&out->circuit.shape, &out->circuit, NULL), CUZK_OK);
}

void text_circuit_read(text_circuit *out, const char *name) {
    size_t size;
    char *text = fixture_read(name, &size);
    text_circuit_from(out, text);
    free(text);
}

void text_circuit_free(text_circuit *t) {
    free(t->lines);
    t->lines = NULL;
}
