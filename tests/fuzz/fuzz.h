/* For the fuzz targets: one claim that must hold for every input. */
#ifndef CUZK_FUZZ_H
#define CUZK_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* libFuzzer's entry point; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stop as a crash, so that libFuzzer keeps the input. */
#define FUZZ_CHECK(claim)                                                                                    \
    do {                                                                                                     \
        if (!(claim)) {                                                                                      \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #claim);                       \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
