/* Bytes as lowercase hexadecimal digits. */
#ifndef CUZK_BASE_HEX_H
#define CUZK_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Write 2 * size digits and a NUL; returns out. */
static inline char *hex_write(char *out, const uint8_t *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * size] = 0;
    return out;
}

#endif
