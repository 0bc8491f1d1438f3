/* The test key of the reference: its toxic waste and the randomness of its proofs are constants, so that keys
 * and proofs can be compared byte for byte. */
#ifndef CUZK_TEST_REFERENCE_KEY_H
#define CUZK_TEST_REFERENCE_KEY_H

#include "groth16/setup.h"

/* 32 little-endian bytes: 31 times `byte`, then 0. */
void reference_element(fr *out, uint8_t byte);
void reference_waste(toxic_waste *out);

/* Make the key of `blank` in the temporary directory, prove `circuit` with the reference's r and s, and
 * compare: SHA-256 of the parameters with that of the file whose name contains `name` in params/sha256.txt,
 * and the proof with the fixture `proof`. Fails the running cmocka test. Include temp_dir.h's setup and
 * teardown. */
void check_reference_key_and_proof(const r1cs_circuit *circuit, const char *name, const char *proof,
                                   unsigned threads);

#endif
