/* The 2 KiB PoRep of the reference: the whole key (1.1 GB, by its SHA-256) and the proof of its C1. About 50
 * core-seconds, and 1.1 GB in /tmp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "circuit/porep.h"
#include "fixture.h"
#include "reference_key.h"
#include "temp_dir.h"

static void porep(void **state) {
    (void)state;
    c1 *sector;
    porep_circuit of_structure, of_sector;
    r1cs_circuit blank, circuit;
    size_t size;
    char *json = fixture_read("c1/2k-v1_1/c1.inner.json", &size);
    assert_int_equal(c1_parse(&sector, json, size, "c1", NULL), CUZK_OK);
    free(json);
    porep_of_c1(&of_sector, &circuit, sector, 0);
    porep_blank(&of_structure, &blank, &of_sector.shape);
    check_reference_key_and_proof(&blank, &circuit, "032d3138d22506ec0082ed72b2dcba18",
                                  "c1/2k-v1_1/proof.bin", 0);
    c1_free(sector);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(porep)};
    field_init(NULL);
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
