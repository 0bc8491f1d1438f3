/* Whole keys and proofs of the reference, for its recorded PoSt circuits of 2 KiB sectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "recorded_circuit.h"
#include "reference_key.h"
#include "temp_dir.h"
#include "variants.h"

static void window_post(void **state) {
    (void)state;
    recorded_circuit r;
    recorded_circuit_read(&r, "post/window", "post/window/meta.json", "public_inputs");
    check_reference_key_and_proof(&r.circuit, "0170db1f394b35d995252228ee359194", "post/window/proof.bin", 2);
    recorded_circuit_free(&r);
}

static void winning_post(void **state) {
    (void)state;
    recorded_circuit r;
    recorded_circuit_read(&r, "post/winning", "post/winning/meta.json", "public_inputs");
    check_reference_key_and_proof(&r.circuit, "3ea05428c9d11689f23529cde32fd30a", "post/winning/proof.bin",
                                  3);
    recorded_circuit_free(&r);
}

int main(void) {
    const struct CMUnitTest each_variant[] = {cmocka_unit_test(window_post)};
    const struct CMUnitTest best_variant[] = {cmocka_unit_test(winning_post)};
    if (temp_dir_make(NULL) != 0) return 1;
    int failed = 0;
    RUN_ON_VARIANTS(failed, each_variant);
    field_select(cpu_best());
    failed += cmocka_run_group_tests(best_variant, NULL, NULL);
    temp_dir_remove(NULL);
    return failed;
}
