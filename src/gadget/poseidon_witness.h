/* The values of all variables of a Poseidon circuit, computed along the permutation. */
#ifndef CUZK_GADGET_POSEIDON_WITNESS_H
#define CUZK_GADGET_POSEIDON_WITNESS_H

#include "hash/poseidon.h"
#include "r1cs/block.h"

/* A block's parameter: what the constants and the tag depend on. */
static inline uint64_t poseidon_parameter(unsigned arity, poseidon_tag tag) {
    return arity | (uint64_t)tag << 32;
}
static inline unsigned poseidon_parameter_arity(uint64_t parameter) {
    return (unsigned)parameter;
}
static inline poseidon_tag poseidon_parameter_tag(uint64_t parameter) {
    return (poseidon_tag)(parameter >> 32);
}

/* A block's witness: the operands are the preimage. */
void poseidon_block_witness(block_writer *out, const block_operands *in);

#endif
