/* The generated constant tables behind poseidon_for, one entry per arity. */
#ifndef CUZK_HASH_POSEIDON_CONSTANTS_H
#define CUZK_HASH_POSEIDON_CONSTANTS_H

#include "hash/poseidon.h"

#define POSEIDON_TABLE_SIZE 4u

extern const poseidon_constants poseidon_table[POSEIDON_TABLE_SIZE];

#endif
