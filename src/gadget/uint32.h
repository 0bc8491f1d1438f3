/*
 * 32-bit words of Booleans (bellperson gadgets/uint32.rs): bit 0 is the least significant.
 */
#ifndef CUZK_GADGET_UINT32_H
#define CUZK_GADGET_UINT32_H

#include "gadget/multieq.h"

typedef struct uint32 {
    boolean bits[32];
} uint32;

#define UINT32_MAX_OPERANDS 10u

void uint32_constant(uint32 *out, uint32_t value);
/* From 32 Booleans, most significant first, and back. */
void uint32_from_bits_be(uint32 *out, const boolean bits[32]);
void uint32_to_bits_be(boolean bits[32], const uint32 *a);
/* The value as an integer, of constants and, in a system with witness, of any word. */
uint32_t uint32_value(const uint32 *a);

/* Free of constraints. out is not a. */
void uint32_rotr(uint32 *out, const uint32 *a, unsigned n);
void uint32_shr(uint32 *out, const uint32 *a, unsigned n);

/* Bit by bit, from bit 0. out may be an operand. */
void uint32_xor(cs *system, uint32 *out, const uint32 *a, const uint32 *b);
void uint32_ch(cs *system, uint32 *out, const uint32 *a, const uint32 *b, const uint32 *c);
void uint32_maj(cs *system, uint32 *out, const uint32 *a, const uint32 *b, const uint32 *c);

/* Sum modulo 2^32 of n operands, 2 <= n <= UINT32_MAX_OPERANDS. When all are constant, so is the result.
 * Otherwise every bit of the full integer sum is allocated, carries too, and the equality goes to m. out may
 * be an operand. */
void uint32_addmany(multieq *m, uint32 *out, const uint32 *const *operands, unsigned n);

#endif
