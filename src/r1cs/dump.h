/*
 * A circuit as text, one line per allocation and constraint in order of emission, as in the gadget dumps of
 * the reference data:
 *     alloc W0 = 1
 *     input I1 = 0x2a..
 *     C0: [I0*1 W0*-1] * [W0*1] = []
 * Numbers are decimal below 2^64, -n for r - n with n below 2^64, else 64 big-endian hex digits with 0x.
 * Terms whose coefficient is zero are shown.
 */
#ifndef CUZK_R1CS_DUMP_H
#define CUZK_R1CS_DUMP_H

#include <stdio.h>

#include "r1cs/cs.h"

typedef struct r1cs_dump_options {
    uint64_t first, count; /* constraints; an allocation belongs to the next constraint. count 0: all */
    bool values;           /* synthesize with witness and show " = value" after allocations */
    bool paths;            /* "  # namespaces" at the end of lines that lie in one */
} r1cs_dump_options;

/* Writes to `out`; a failed write is CUZK_ERR_RESOURCES. Progress phase "dump". */
cuzk_code r1cs_dump(FILE *out, const r1cs_circuit *circuit, const r1cs_dump_options *options,
                    const cuzk_progress *progress, cuzk_error *err);

#endif
