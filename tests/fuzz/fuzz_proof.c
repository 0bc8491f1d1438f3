/* Proofs from any bytes: what is accepted encodes to the same bytes again. */
#include "fuzz.h"

#include <string.h>

#include "groth16/proof.h"

#define MOST 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    groth16_proof proofs[MOST];
    size_t n = size / PROOF_BYTES < MOST ? size / PROOF_BYTES : MOST;
    cuzk_error err = {.code = CUZK_OK};
    cuzk_code code = proof_decode(proofs, n, data, size, "bytes", &err);
    if (code == CUZK_OK) {
        FUZZ_CHECK(size == n * PROOF_BYTES);
        for (size_t i = 0; i < n; i++) {
            uint8_t back[PROOF_BYTES];
            FUZZ_CHECK(g1_on_curve(&proofs[i].a) && g2_on_curve(&proofs[i].b) && g1_on_curve(&proofs[i].c));
            proof_encode(back, &proofs[i]);
            FUZZ_CHECK(memcmp(back, data + i * PROOF_BYTES, PROOF_BYTES) == 0);
        }
    } else {
        FUZZ_CHECK(code == CUZK_ERR_INPUT && err.code == code && err.message[0]);
        FUZZ_CHECK(err.offset == CUZK_NO_OFFSET || err.offset < size);
    }
    return 0;
}
