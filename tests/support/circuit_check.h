/* Comparing a circuit with reference fixtures. Every difference fails the running cmocka test. */
#ifndef CUZK_TEST_CIRCUIT_CHECK_H
#define CUZK_TEST_CIRCUIT_CHECK_H

#include "r1cs/cs.h"

/* Synthesize structure and values, and compare all figures with the digest in JSON file `name`. */
void check_digest(const r1cs_circuit *circuit, const char *name);

/* The same for the structure alone. */
void check_structure(const r1cs_circuit *circuit, const char *name);

/* Compare the figures that tables give; a negative count is not looked at. */
void check_figures(const r1cs_circuit *circuit, long long aux, long long constraints, const char *sha256);

/* Compare the text dump, with values, with `name` (comments there are not looked at), line by line. */
void check_dump(const r1cs_circuit *circuit, const char *name);

/* Compare the namespaces, as deep as the file shows them, with a namespaces.tsv. */
void check_namespaces(const r1cs_circuit *circuit, const char *name);

#endif
