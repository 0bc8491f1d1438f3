/*
 * A circuit in parts that can be synthesized at the same time. Part 0 comes first and leaves in `state` what
 * the others use of it; they are independent of each other, and each refers only to its own variables and to
 * those of part 0. All parts in order are the circuit.
 */
#ifndef CUZK_R1CS_PARTS_H
#define CUZK_R1CS_PARTS_H

#include "r1cs/cs.h"

typedef struct r1cs_parts {
    uint32_t count; /* at least 1 */
    size_t state_bytes;
    /* What there is before a part: variables and constraints are numbered from here. start(count) is the
     * circuit's shape, start(0) is {1, 0, 0}. ctx is the circuit's. */
    r1cs_shape (*start)(const void *ctx, uint32_t part);
    /* `system` counts from the start of the part. state is written by part 0 and read by the others. */
    void (*synthesize)(const void *ctx, uint32_t part, void *state, cs *system);
} r1cs_parts;

#endif
