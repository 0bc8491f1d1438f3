/* Comparing the fast ways to an assignment with the generic one. Every difference fails the running cmocka
 * test. */
#ifndef CUZK_TEST_SYNTHESIS_CHECK_H
#define CUZK_TEST_SYNTHESIS_CHECK_H

#include "r1cs/assignment.h"
#include "r1cs/matrices.h"

/* Matrices of the circuit, or the test fails. */
matrices *check_matrices(const r1cs_circuit *circuit, const r1cs_parts *parts);

/* The matrices' rows and densities are those of the circuit. */
void check_same_structure(const matrices *m, const r1cs_circuit *circuit);

/* A witness filled on this many threads, expanded in both ways, is the generic assignment. */
void check_same_values(const matrices *m, const r1cs_circuit *circuit, const r1cs_parts *parts,
                       const assignment *generic, unsigned threads);

/* All of these, on one thread. */
void check_synthesis(const r1cs_circuit *circuit, const r1cs_parts *parts);

#endif
