#include "groth16/proof.h"

#include <string.h>

enum { A_AT = 0, B_AT = 48, C_AT = 144 };

void proof_encode(uint8_t out[PROOF_BYTES], const groth16_proof *proof) {
    g1_compress(out + A_AT, &proof->a);
    g2_compress(out + B_AT, &proof->b);
    g1_compress(out + C_AT, &proof->c);
}

static cuzk_code point_error(cuzk_error *err, const char *path, size_t index, size_t at, const char *name,
                             point_status status) {
    return error_set(err, CUZK_ERR_INPUT, path, index * PROOF_BYTES + at, "proof %zu: point %s: %s", index,
                     name, status == POINT_OK ? "the identity" : point_status_text(status));
}

static cuzk_code decode_one(groth16_proof *out, const uint8_t *bytes, size_t index, const char *path,
                            cuzk_error *err) {
    point_status status = g1_decompress(&out->a, bytes + A_AT);
    if (status != POINT_OK || g1_affine_is_identity(&out->a))
        return point_error(err, path, index, A_AT, "A", status);
    status = g2_decompress(&out->b, bytes + B_AT);
    if (status != POINT_OK || g2_affine_is_identity(&out->b))
        return point_error(err, path, index, B_AT, "B", status);
    status = g1_decompress(&out->c, bytes + C_AT);
    if (status != POINT_OK || g1_affine_is_identity(&out->c))
        return point_error(err, path, index, C_AT, "C", status);
    return CUZK_OK;
}

cuzk_code proof_decode(groth16_proof *out, size_t n, const uint8_t *bytes, size_t size, const char *path,
                       cuzk_error *err) {
    if (size % PROOF_BYTES != 0 || size / PROOF_BYTES != n)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "%zu bytes, expected %zu: %u for each of %zu proofs", size, n * PROOF_BYTES,
                         PROOF_BYTES, n);
    for (size_t i = 0; i < n; i++) TRY(decode_one(&out[i], bytes + i * PROOF_BYTES, i, path, err));
    return CUZK_OK;
}
