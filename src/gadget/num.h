/*
 * Field elements as variables (bellpepper-core gadgets/num.rs; storage-proofs-core gadgets/constraint.rs and
 * encode.rs).
 */
#ifndef CUZK_GADGET_NUM_H
#define CUZK_GADGET_NUM_H

#include "gadget/boolean.h"

/* alloc v. value may be NULL in a structure-only system. */
num num_alloc(cs *system, const fr *value);
/* alloc_input i; i * 1 = a */
void num_inputize(cs *system, const num *a);
/* alloc p; a * b = p */
num num_mul(cs *system, const num *a, const num *b);
/* alloc p; a * a = p */
num num_square(cs *system, const num *a);
/* alloc s; (a + b) * 1 = s */
num num_add(cs *system, const num *a, const num *b);
/* alloc d; (b + d) * 1 = a */
num num_sub(cs *system, const num *a, const num *b);
/* a * 1 = b */
void num_enforce_equal(cs *system, const num *a, const num *b);

/* The canonical bits, least significant first: 255 allocated bits; 0 * 0 = sum 2^i bit_i - a. Not strict: the
 * constraints also allow the bits of a + r where those fit 255 bits. */
void num_to_bits_le(cs *system, boolean bits[FR_BITS], const num *a);
/* The same, but the last constraint is (sum 2^i bit_i) * 1 = a (storage-proofs-update gadgets.rs). */
void num_to_allocated_bits(cs *system, boolean bits[FR_BITS], const num *a);
/* Strict: constraints allow only the bits of a number below r. */
void num_to_bits_le_strict(cs *system, boolean bits[FR_BITS], const num *a);

#endif
