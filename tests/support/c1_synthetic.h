/* C1s of every registered proof, of the right shape but with random values: nothing in them verifies. */
#ifndef CUZK_TEST_C1_SYNTHETIC_H
#define CUZK_TEST_C1_SYNTHETIC_H

#include "filecoin/c1.h"

/* The same values for the same seed. NULL when memory is short; c1_free() it. */
c1 *c1_synthetic(const char *registered_proof, uint64_t seed);

#endif
