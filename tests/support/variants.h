/* Running one list of tests on every code variant that this processor has. Include after cmocka.h. */
#ifndef CUZK_TEST_VARIANTS_H
#define CUZK_TEST_VARIANTS_H

#include "field/field.h"

/* Adds the number of failed tests to `failed`; `tests` is an array of struct CMUnitTest. */
#define RUN_ON_VARIANTS(failed, tests)                                                                       \
    for (int variant = CPU_PORTABLE; variant <= (int)cpu_best(); variant++) {                                \
        field_select((cpu_isa)variant);                                                                      \
        failed += cmocka_run_group_tests_name(cpu_isa_name((cpu_isa)variant), tests, NULL, NULL);            \
    }

#endif
