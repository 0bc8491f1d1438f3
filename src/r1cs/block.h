/*
 * Blocks: pieces of a circuit that occur many times with one structure, such as a compression of SHA-256, a
 * Poseidon hash or the bits of a number.
 *
 * A gadget that is a block describes what it is about to do as a block_call and hands that to block_run. The
 * system may take it over (cs->block): then it knows the structure already and needs only the values. If it
 * does not, the body runs: the ordinary gadget code, which stays the one definition of the variables and
 * constraints.
 *
 * A body depends on nothing but its call: the type, the parameter, how many operands and results there are,
 * the forms of the Booleans and the values of constant ones, and, for values alone, the values of operands.
 * It allocates no inputs. Every result is a constant, one of the operands (perhaps negated), or made by the
 * body.
 */
#ifndef CUZK_R1CS_BLOCK_H
#define CUZK_R1CS_BLOCK_H

#include "r1cs/bits.h"
#include "r1cs/cs.h"
#include "r1cs/wire.h"

#define BLOCK_MAX_BITS 1024u /* Boolean operands, and results */
#define BLOCK_MAX_NUMS 16u   /* numbers among operands, and results */

/* Where a native witness goes: every variable of the body in order, bits and other numbers apart. */
typedef struct block_writer {
    bit_writer bits; /* one bit a variable; 0 for one that is no bit */
    fr *full;        /* the next of the variables that are no bits */
} block_writer;

/* The next variables are these n bits, n <= 64. */
static inline void block_put_bits(block_writer *w, uint64_t bits, unsigned n) {
    bits_put(&w->bits, bits, n);
}
/* The next variables are n numbers, which the caller stores at the pointer returned. */
static inline fr *block_put_full(block_writer *w, unsigned n) {
    fr *at = w->full;
    w->full += n;
    bits_put_zeros(&w->bits, n);
    return at;
}

/* The values of a call's operands. In the bit arrays, bit k is Boolean operand k. */
typedef struct block_operands {
    uint64_t parameter;
    unsigned n_bits, n_nums;
    const uint64_t *values;   /* of the Booleans themselves */
    const uint64_t *constant; /* the Boolean is a constant */
    const uint64_t *negated;  /* the Boolean is the negation of a variable */
    const fr *nums;
} block_operands;

typedef struct block_call block_call;

typedef struct block_type {
    const char *name; /* unique, at most 31 characters: it stands for the type in files */
    void (*body)(cs *system, const block_call *call);
    /* The values of all variables of the body, in order, computed without running it. Which variables are
     * bits must follow from the constraints. May be NULL: then the body runs when values are wanted. */
    void (*witness)(block_writer *out, const block_operands *in);
} block_type;

struct block_call {
    const block_type *type;
    uint64_t parameter;
    const boolean *bits;
    const num *nums;
    unsigned n_bits, n_nums;
    boolean *out_bits; /* results; no operands */
    num *out_nums;
    unsigned n_out_bits, n_out_nums;
};

static inline void block_run(cs *system, const block_call *call) {
    if (!system->block || !system->block(system, call)) call->type->body(system, call);
}

#endif
