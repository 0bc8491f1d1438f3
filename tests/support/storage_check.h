/* Comparing strategies of storing linear combinations. Every difference fails the running cmocka test.
 * Programs that use this are linked with cuzk-bench's lc_*.c (tests/CMakeLists.txt). */
#ifndef CUZK_TEST_STORAGE_CHECK_H
#define CUZK_TEST_STORAGE_CHECK_H

#include <stdbool.h>

#include "r1cs/assignment.h"

/* All values, the witness and the densities are equal, bit for bit. */
void check_same_assignment(const char *what, const assignment *found, const assignment *expected);

/* Partition 0 of the C1, through every strategy: the figures of the digest file (both below tests/data). */
void check_storage(const char *c1_name, const char *digest_name, bool variants);

#endif
