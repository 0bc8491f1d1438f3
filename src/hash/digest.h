/*
 * Plain hashes and stream ciphers, thin over libraries: SHA-256 from libcrypto (SHA-NI where the processor
 * has it), BLAKE2b and ChaCha from LibTomCrypt (which offers ChaCha8 and both counter forms).
 */
#ifndef CUZK_HASH_DIGEST_H
#define CUZK_HASH_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/sha.h>

/* Streaming SHA-256; reset by sha256_start. */
typedef struct sha256 {
    SHA256_CTX ctx;
} sha256;
void sha256_start(sha256 *s);
void sha256_update(sha256 *s, const void *data, size_t size);
void sha256_finish(sha256 *s, uint8_t out[32]);
void sha256_once(uint8_t out[32], const void *data, size_t size);
/* One compression: state (eight words) updated with a 64-byte block. */
void sha256_compress(uint32_t state[8], const uint8_t block[64]);

/* SHA-256 with the two top bits of byte 31 cleared, so that the little-endian value is below 2^254. */
void sha256_to_field(uint8_t out[32], const void *data, size_t size);

/* BLAKE2b with `out_size` bytes (1..64) and an optional key (NULL, 0). */
void blake2b(uint8_t *out, size_t out_size, const void *key, size_t key_size, const void *data, size_t size);

/* Keystream of ChaCha20 with a 96-bit nonce and a 32-bit block counter that starts at `block` (RFC 8439). */
void chacha20_ietf(uint8_t *out, size_t size, const uint8_t key[32], const uint8_t nonce[12], uint32_t block);
/* Keystream of ChaCha8 with a 64-bit zero nonce and a 64-bit counter from 0 (the original form). */
void chacha8(uint8_t *out, size_t size, const uint8_t key[32]);

#endif
