/*
 * The witness of one SHA-256 compression, computed on whole words instead of bit by bit.
 *
 * A wire_word is 32 wires of the circuit: for each bit its value, whether it is a constant, and, if not,
 * whether the wire is the negation of a variable. The function follows the allocation order of
 * gadget/sha256.h exactly (constant folding included) but computes values only; the constraints exist there
 * alone. Tests hold the two equal for every pattern of constants that occurs.
 */
#ifndef CUZK_GADGET_SHA256_WITNESS_H
#define CUZK_GADGET_SHA256_WITNESS_H

#include "r1cs/block.h"

typedef struct wire_word {
    uint32_t value;    /* of each wire, whatever its form */
    uint32_t constant; /* bit i: wire i is a constant */
    uint32_t negated;  /* bit i: wire i is 1 - variable; 0 where constant */
} wire_word;

#define SHA256_MAX_AUX 26166u /* variables of a compression with no constant input */

/* Append the value of every variable the compression allocates, in order. block: words 0..15; state: H0..H7,
 * replaced by the output (never constant or negated wires, unless all inputs are constant). */
void sha256_witness(bit_writer *out, const wire_word block[16], wire_word state[8]);

/* The same as a block's witness: operands H0..H7, then block words 0..15, bit 0 of every word first. */
void sha256_block_witness(block_writer *out, const block_operands *in);

#endif
