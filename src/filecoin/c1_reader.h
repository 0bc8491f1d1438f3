/* JSON text in, c1 out: the part of the C1 reader that knows the fields. Internal to the C1 files. */
#ifndef CUZK_FILECOIN_C1_READER_H
#define CUZK_FILECOIN_C1_READER_H

#include "filecoin/c1.h"

/*
 * Fill an empty c1 from a whole text of either form. On error *c is partly filled and only good for c1_free.
 */
cuzk_code c1_read_text(c1 *c, const char *text, size_t size, const char *name, cuzk_error *err);

#endif
