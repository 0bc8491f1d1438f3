/* Text from outside, made fit to be shown: protobuf strings, JSON and metrics must be UTF-8. */
#ifndef CUZK_SERVER_TEXT_H
#define CUZK_SERVER_TEXT_H

#include "base/error.h"

/* Copy `text` to out[room] with a NUL. Each byte that belongs to no character becomes U+FFFD; what does not
 * fit is cut between characters. Returns the length. */
size_t text_to_utf8(char *out, size_t room, const char *text);

/* An error as one line, in the words of the command-line tools: path, offset, message. Valid UTF-8. */
#define TEXT_ERROR_BYTES 2048u
void text_of_error(char out[TEXT_ERROR_BYTES], const cuzk_error *err);

#endif
