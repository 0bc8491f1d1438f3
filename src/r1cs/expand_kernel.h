/* The code variants behind expand.h: one source, expand_template.h, compiled for each. */
#ifndef CUZK_R1CS_EXPAND_KERNEL_H
#define CUZK_R1CS_EXPAND_KERNEL_H

#include "r1cs/expand.h"

/* Where the values of a range of rows go. */
typedef struct row_sink {
    uint64_t first; /* row number of element 0 */
    fr *out[3];     /* A, B, C; NULL: not wanted */
    bool stream;
    uint64_t *planes, *full; /* instead: codes of up to 64 rows, six words and one */
    uint64_t bad;            /* not zero: a self-check failed */
} row_sink;

typedef struct expand_kernel {
    void (*rows)(row_sink *sink, const compact_witness *w, expansion_path path, uint64_t first, size_t n);
    /* Self-checks alone; false if one failed. */
    bool (*check)(const compact_witness *w, uint64_t first, size_t n);
    void (*aux)(const compact_witness *w, uint32_t first, size_t n, fr *out, bool stream);
} expand_kernel;

extern const expand_kernel expand_portable;
extern const expand_kernel expand_ifma; /* only where cpu_best() is CPU_IFMA */

#endif
