/* Text from outside, made fit to be shown: protobuf strings, JSON and metrics must be UTF-8. */
#ifndef CUZK_SERVER_TEXT_H
#define CUZK_SERVER_TEXT_H

#include <stddef.h>

/* Copy `text` to out[room] with a NUL. Each byte that belongs to no character becomes U+FFFD; what does not
 * fit is cut between characters. Returns the length. */
size_t text_to_utf8(char *out, size_t room, const char *text);

#endif
