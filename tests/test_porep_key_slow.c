/* The 2 KiB PoRep of the reference: the whole key (1.1 GB, by its SHA-256) and a proof. About 50
 * core-seconds, and 1.1 GB in /tmp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "recorded_circuit.h"
#include "reference_key.h"
#include "temp_dir.h"

static void porep(void **state) {
    (void)state;
    recorded_circuit r;
    recorded_circuit_read(&r, "r1cs/porep-2k", "c1/2k-v1_1/meta.json", "public_inputs_per_partition/0");
    check_reference_key_and_proof(&r.circuit, "032d3138d22506ec0082ed72b2dcba18", "c1/2k-v1_1/proof.bin", 0);
    recorded_circuit_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(porep)};
    field_init(NULL);
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
