/*
 * Groth16 proofs and their encoding: A (48 bytes compressed), B (96), C (48), 192 bytes a proof. A sector's
 * proof is the encodings of its partitions one after another.
 */
#ifndef CUZK_GROTH16_PROOF_H
#define CUZK_GROTH16_PROOF_H

#include "curve/g1.h"
#include "curve/g2.h"

#define PROOF_BYTES 192u

typedef struct groth16_proof {
    g1_affine a;
    g2_affine b;
    g1_affine c;
} groth16_proof;

void proof_encode(uint8_t out[PROOF_BYTES], const groth16_proof *proof);

/* Decode n proofs. The size must be exactly n * PROOF_BYTES, and every point in its subgroup and not the
 * identity; otherwise CUZK_ERR_INPUT with the byte offset of the point. `path` (may be NULL) is for errors.
 */
cuzk_code proof_decode(groth16_proof *out, size_t n, const uint8_t *bytes, size_t size, const char *path,
                       cuzk_error *err);

#endif
