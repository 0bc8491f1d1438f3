/* A circuit of the reference, recorded whole: every constraint and the value of every variable. It replays
 * them, so that keys and proofs can be checked without any gadget. What is malformed fails the running cmocka
 * test. */
#ifndef CUZK_TEST_RECORDED_CIRCUIT_H
#define CUZK_TEST_RECORDED_CIRCUIT_H

#include "r1cs/cs.h"

typedef struct recorded_circuit {
    r1cs_circuit circuit; /* ctx points at this struct */
    char *constraints; /* per constraint: u32 number of aux allocated before it; then for A, B, C: u32 number
                        * of terms, and per term u32 variable (even: input v/2; odd: v >> 1 aux back from
                        * the number allocated) and u32 coefficient number */
    size_t constraints_size;
    fr *coefficients, *aux, *inputs; /* inputs without ONE */
    size_t coefficient_count, aux_count, input_count;
} recorded_circuit;

/* Reads constraints.bin.zst, coefficients.bin and aux.bin.zst in `directory` (relative to tests/data), and
 * the public inputs at `inputs` in the JSON fixture `meta`. `out` must stay where it is. */
void recorded_circuit_read(recorded_circuit *out, const char *directory, const char *meta,
                           const char *inputs);
void recorded_circuit_free(recorded_circuit *r);

#endif
