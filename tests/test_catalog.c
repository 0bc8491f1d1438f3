/* The table of circuits: lookups by name and by size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "circuit/catalog.h"

static void entries_are_found(void **state) {
    (void)state;
    size_t n;
    const catalog_entry *all = catalog_all(&n);
    assert_int_equal(n, 20);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(catalog_find(all[i].id), &all[i]);
        assert_ptr_equal(catalog_find_size(all[i].kind, all[i].sector_bytes), &all[i]);
        assert_int_equal(strlen(all[i].r1cs_sha256), 64);
    }
    assert_null(catalog_find("porep-3k"));
    assert_null(catalog_find_size(PROOF_POREP, 4096));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
