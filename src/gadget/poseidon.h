/*
 * Poseidon as a circuit: neptune's first one (circuit.rs), which the deployed parameters use. Variables and
 * constraints for arity 2, 4, 8, 11: 311, 377, 505, 598.
 */
#ifndef CUZK_GADGET_POSEIDON_H
#define CUZK_GADGET_POSEIDON_H

#include "gadget/num.h"
#include "hash/poseidon.h"

/* The digest of constants->arity numbers. */
num poseidon_circuit(cs *system, const poseidon_constants *constants, poseidon_tag tag, const num *preimage);

/* The same with POSEIDON_TREE for n numbers; CUZK_ERR_INTERNAL for an arity without constants. */
num poseidon_tree_circuit(cs *system, const num *preimage, unsigned n);

#endif
