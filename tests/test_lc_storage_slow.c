/* The storage of linear combinations on the 8 MiB sector: all strategies give the reference's digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storage_check.h"

static void sector_8m(void **unused) {
    (void)unused;
    check_storage("c1/8m-v1_1/c1.json", "r1cs/porep-8m/digest.json", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sector_8m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
