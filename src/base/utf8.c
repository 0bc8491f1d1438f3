#include "base/utf8.h"

unsigned utf8_length(const uint8_t *p, size_t left) {
    if (left == 0) return 0;
    unsigned lead = p[0];
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    unsigned n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    /* The second byte rules out overlong forms, surrogates and what is beyond U+10FFFF. */
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (left < n || p[1] < low || p[1] > high) return 0;
    for (unsigned i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return n;
}

bool utf8_is_valid(const uint8_t *text, size_t size) {
    for (size_t at = 0; at < size;) {
        unsigned n = utf8_length(text + at, size - at);
        if (n == 0) return false;
        at += n;
    }
    return true;
}
