/* Multiplications in the lanes of vectors, for the field benchmarks. Call only when field.isa == CPU_IFMA. */
#ifndef CUZK_BENCH_LANES_H
#define CUZK_BENCH_LANES_H

#include "field/fr.h"

/* Multiply each of eight values n times by *factor. */
void lanes_fr_mul(fr values[8], const fr *factor, size_t n);

#endif
