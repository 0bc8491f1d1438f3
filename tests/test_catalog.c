/* The table of circuits: lookups by name and by size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "circuit/catalog.h"
#include "filecoin/param_digest.h"

static void entries_are_found(void **state) {
    (void)state;
    size_t n;
    const catalog_entry *all = catalog_all(&n);
    assert_int_equal(n, 20);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(catalog_find(all[i].id), &all[i]);
        assert_ptr_equal(catalog_find_size(all[i].kind, all[i].sector_bytes), &all[i]);
        assert_int_equal(strlen(all[i].r1cs_sha256), 64);
        assert_int_equal(strlen(all[i].params_digest), 32);
        assert_int_equal(strlen(all[i].vk_digest), 32);
    }
    assert_null(catalog_find("porep-3k"));
    assert_null(catalog_find_size(PROOF_POREP, 4096));
}

/* What b2sum says of the file. */
static void files_have_their_digest(void **state) {
    (void)state;
    const char *path = CUZK_TEST_DATA
        "/params/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
        "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk";
    char digest[PARAM_DIGEST_SIZE];
    assert_int_equal(param_digest(digest, path, NULL, NULL), CUZK_OK);
    assert_string_equal(digest, "5e43f1c31705d122cf6115c0942204a5");
    cuzk_error err;
    assert_int_equal(param_digest(digest, "/nonexistent", NULL, &err), CUZK_ERR_PARAMS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_are_found),
                                       cmocka_unit_test(files_have_their_digest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
