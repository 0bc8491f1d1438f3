/*
 * Verifying keys (bellperson 0.27, groth16/verifying_key.rs).
 *
 * File and parameter-file header alike, big-endian, uncompressed points: alpha_g1 (96), beta_g1 (96),
 * beta_g2 (192), gamma_g2 (192), delta_g1 (96), delta_g2 (192), u32 number of ic points, ic points (96 each).
 * Reading checks every point: encoding, curve, subgroup, and that it is not the identity (bellperson lets
 * alpha, beta and gamma be the identity; such a key proves nothing and no ceremony ends in one).
 */
#ifndef CUZK_GROTH16_VK_H
#define CUZK_GROTH16_VK_H

#include "base/pool.h"
#include "curve/g1.h"
#include "curve/g2.h"

#define VK_FIXED_BYTES 868u /* up to the ic points */

typedef struct verifying_key {
    g1_affine alpha_g1, beta_g1, delta_g1;
    g2_affine beta_g2, gamma_g2, delta_g2;
    g1_affine *ic; /* one per input, ONE first */
    uint32_t ic_count;
} verifying_key;

/* Size of the encoding. */
static inline uint64_t vk_bytes(uint32_t ic_count) {
    return VK_FIXED_BYTES + (uint64_t)ic_count * G1_UNCOMPRESSED;
}

/* Decode the key at the start of `bytes`; more may follow. `path` is for errors, which are CUZK_ERR_PARAMS
 * with the byte offset of the fault. vk_free the result. */
cuzk_code vk_decode(verifying_key *out, const uint8_t *bytes, uint64_t size, const char *path, pool *p,
                    cuzk_error *err);
/* Write vk_bytes(k->ic_count) bytes. */
void vk_encode(uint8_t *out, const verifying_key *k);
void vk_free(verifying_key *k);

/* A whole file; anything after the key is an error. */
cuzk_code vk_read(verifying_key *out, const char *path, pool *p, cuzk_error *err);
cuzk_code vk_write(const char *path, const verifying_key *k, cuzk_error *err);

bool vk_eq(const verifying_key *a, const verifying_key *b);

#endif
