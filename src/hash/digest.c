/*
 * SHA-256 goes through libcrypto's low-level functions: the EVP layer costs several times a short hash in
 * look-ups. The LibTomCrypt calls below fail only on argument values that digest.h excludes.
 */
#include "hash/digest.h"

#include <string.h>

#include <tomcrypt.h>

void sha256_start(sha256 *s) {
    SHA256_Init(&s->ctx);
}

void sha256_update(sha256 *s, const void *data, size_t size) {
    SHA256_Update(&s->ctx, data, size);
}

void sha256_finish(sha256 *s, uint8_t out[32]) {
    SHA256_Final(out, &s->ctx);
}

void sha256_once(uint8_t out[32], const void *data, size_t size) {
    sha256 s;
    sha256_start(&s);
    sha256_update(&s, data, size);
    sha256_finish(&s, out);
}

void sha256_compress(uint32_t state[8], const uint8_t block[64]) {
    SHA256_CTX ctx;
    SHA256_Init(&ctx);
    memcpy(ctx.h, state, sizeof ctx.h);
    SHA256_Transform(&ctx, block);
    memcpy(state, ctx.h, sizeof ctx.h);
}

void sha256_to_field(uint8_t out[32], const void *data, size_t size) {
    sha256_once(out, data, size);
    out[31] &= 0x3f;
}

void blake2b(uint8_t *out, size_t out_size, const void *key, size_t key_size, const void *data, size_t size) {
    hash_state state;
    uint8_t digest[64];
    blake2b_init(&state, out_size, key_size ? key : NULL, key_size);
    if (size) blake2b_process(&state, data, size);
    blake2b_done(&state, digest);
    memcpy(out, digest, out_size);
}

void chacha20_ietf(uint8_t *out, size_t size, const uint8_t key[32], const uint8_t nonce[12],
                   uint32_t block) {
    chacha_state state;
    chacha_setup(&state, key, 32, 20);
    chacha_ivctr32(&state, nonce, 12, block);
    if (size) chacha_keystream(&state, out, size);
}

void chacha8(uint8_t *out, size_t size, const uint8_t key[32]) {
    static const uint8_t nonce[8];
    chacha_state state;
    chacha_setup(&state, key, 32, 8);
    chacha_ivctr64(&state, nonce, 8, 0);
    if (size) chacha_keystream(&state, out, size);
}
