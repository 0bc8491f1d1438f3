/* SHA-256 over Booleans (bellperson gadgets/sha256.rs). */
#ifndef CUZK_GADGET_SHA256_H
#define CUZK_GADGET_SHA256_H

#include "gadget/uint32.h"

/* The digest, 256 bits, of n message bits; both most significant bit first in every byte. Padding is done
 * here. */
void sha256_circuit(cs *system, boolean out[256], const boolean *bits, size_t n);

/* The digest read as a field element, as labels and tree-d nodes are: its bytes little-endian, the two top
 * bits left out; packed into a new variable. */
num sha256_circuit_to_num(cs *system, const boolean *bits, size_t n);

/* Tree-d node of n children: their bits (num_to_bits_le, one after the other), hashed. n <= 8. */
num sha256_tree_node(cs *system, const num *children, unsigned n);

#endif
