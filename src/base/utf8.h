/* Text from outside: which bytes are characters. */
#ifndef CUZK_BASE_UTF8_H
#define CUZK_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at p, of which `left` bytes may be read; 0 when there is none: overlong forms,
 * surrogates and values above U+10FFFF are no characters. Reads nothing behind a byte that cannot go on, so
 * `left` may be 4 anywhere before the end of a terminated string. */
unsigned utf8_length(const uint8_t *p, size_t left);

/* Is it nothing but characters? */
bool utf8_is_valid(const uint8_t *text, size_t size);

#endif
