/* Bit sets of variables: bit v % 64 of word v / 64. */
#ifndef CUZK_R1CS_DENSITY_H
#define CUZK_R1CS_DENSITY_H

#include "r1cs/lc.h"

static inline size_t density_words(uint32_t variables) {
    return ((size_t)variables + 63) / 64;
}

static inline bool density_has(const uint64_t *bits, uint32_t index) {
    return bits[index / 64] >> index % 64 & 1;
}

/* Add every variable that occurs in l with a nonzero coefficient. `inputs` may be NULL: then only aux. */
static inline void density_mark(uint64_t *inputs, uint64_t *aux, const lc *l) {
    for (const lc_term *t = l->terms, *end = t + l->n; t < end; t++) {
        uint64_t *bits = r1cs_is_aux(t->var) ? aux : inputs;
        uint32_t index = r1cs_index(t->var);
        if (bits && !fr_is_zero(&t->coeff)) bits[index / 64] |= (uint64_t)1 << index % 64;
    }
}

static inline size_t density_count(const uint64_t *bits, uint32_t variables) {
    size_t count = 0;
    for (size_t i = 0; i < density_words(variables); i++) count += (size_t)__builtin_popcountll(bits[i]);
    return count;
}

#endif
