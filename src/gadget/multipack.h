/*
 * Bits packed into field elements, and the bit orders of the circuits (bellperson gadgets/multipack.rs,
 * storage-proofs-core util.rs and gadgets/uint64.rs).
 */
#ifndef CUZK_GADGET_MULTIPACK_H
#define CUZK_GADGET_MULTIPACK_H

#include "gadget/num.h"

/* alloc v; (sum 2^i bits[i]) * 1 = v over at most the first 254 bits. */
num pack_bits(cs *system, const boolean *bits, size_t n);

/* Per chunk of 254 bits: alloc_input i; (sum 2^i bits[i]) * 1 = i. No bits: nothing. */
void pack_into_inputs(cs *system, const boolean *bits, size_t n);

/* 64 allocated bits, least significant first. */
void uint64_alloc(cs *system, boolean bits[64], uint64_t value);

/* Field bits, least significant first, to the bit order of SHA-256 input and back: constant zeros up to a
 * multiple of 8, then each group of 8 reversed. `out` holds n rounded up to a multiple of 8 and is not `in`.
 */
void reverse_bit_numbering(boolean *out, const boolean *in, size_t n);

#endif
