/* The vector variant behind poseidon_trace and poseidon_hash. */
#ifndef CUZK_HASH_POSEIDON_KERNEL_H
#define CUZK_HASH_POSEIDON_KERNEL_H

#include "hash/poseidon.h"

/* As poseidon_trace, from the whole initial state (the tag first), for constants of poseidon_for. False, and
 * nothing done, for a width that gains nothing. Only where field.isa is CPU_IFMA. */
bool poseidon_trace_ifma(fr *out, const poseidon_constants *c, const fr *initial);

#endif
