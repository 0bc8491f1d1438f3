/* A circuit read from a text dump (tests/data/gadgets/NAME.txt.zst): it replays the allocations, with their
 * values, and the constraints. What is malformed fails the running cmocka test. */
#ifndef CUZK_TEST_TEXT_CIRCUIT_H
#define CUZK_TEST_TEXT_CIRCUIT_H

#include "r1cs/cs.h"

typedef struct text_circuit {
    r1cs_circuit circuit; /* ctx points at this struct */
    char *lines;          /* each ends in NUL, the last is empty */
} text_circuit;

/* `name` is relative to tests/data. `out` must stay where it is. */
void text_circuit_read(text_circuit *out, const char *name);
/* The same from a string without empty lines. */
void text_circuit_from(text_circuit *out, const char *text);
void text_circuit_free(text_circuit *t);

#endif
