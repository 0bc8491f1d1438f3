/* Variables of a constraint system. */
#ifndef CUZK_R1CS_VAR_H
#define CUZK_R1CS_VAR_H

#include <stdbool.h>
#include <stdint.h>

/* Inputs are 0, 1, ... (0 is ONE); aux k is R1CS_AUX | k. */
typedef uint32_t r1cs_var;
#define R1CS_ONE ((r1cs_var)0)
#define R1CS_AUX 0x80000000u
static inline bool r1cs_is_aux(r1cs_var v) {
    return v >> 31;
}
static inline uint32_t r1cs_index(r1cs_var v) {
    return v & 0x7fffffffu;
}

#endif
