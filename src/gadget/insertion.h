/*
 * Choosing and placing numbers by bits (storage-proofs-core gadgets/insertion.rs). Bits are least significant
 * first and not constant.
 */
#ifndef CUZK_GADGET_INSERTION_H
#define CUZK_GADGET_INSERTION_H

#include "gadget/num.h"

#define INSERT_MAX_ARITY 8u

/* condition ? a : b: alloc o; (b - a) * condition = b - o */
num num_pick(cs *system, boolean condition, const num *a, const num *b);

/* list[index] of 2^n_bits numbers. The list is overwritten. */
num num_select(cs *system, num *list, const boolean *bits, unsigned n_bits);

/* out = the arity - 1 siblings in order, with x put in at the position that the bits give. Arity is 2, 4 or
 * 8, with 1, 2 or 3 bits; out is not siblings. */
void num_insert(cs *system, num *out, const num *x, const boolean *bits, const num *siblings, unsigned arity);

#endif
