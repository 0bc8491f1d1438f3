/* Verifying keys from any bytes: what is accepted encodes to the same bytes again, and can be prepared. */
#include "fuzz.h"

#include <string.h>

#include "groth16/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    verifying_key k;
    cuzk_error err = {.code = CUZK_OK};
    cuzk_code code = vk_decode(&k, data, size, "bytes", NULL, &err);
    if (code == CUZK_OK) {
        size_t used = vk_bytes(k.ic_count);
        verifier *v;
        FUZZ_CHECK(used <= size && k.ic_count > 0);
        uint8_t *back = malloc(used);
        FUZZ_CHECK(back);
        vk_encode(back, &k);
        FUZZ_CHECK(memcmp(back, data, used) == 0);
        free(back);
        FUZZ_CHECK(verifier_create(&v, &k, NULL) == CUZK_OK);
        FUZZ_CHECK(verifier_inputs(v) == k.ic_count - 1);
        verifier_destroy(v);
    } else {
        FUZZ_CHECK(code == CUZK_ERR_PARAMS && err.code == code && err.message[0] && !k.ic);
        FUZZ_CHECK(err.offset == CUZK_NO_OFFSET || err.offset < size);
    }
    vk_free(&k);
    return 0;
}
