/*
 * The one table through which the kernels on single field elements are reached. It starts as portable C;
 * field_init puts in the best variant for this processor (or the one CUZK_ISA names) before any thread is
 * started. Every variant keeps the contracts of fr.h and fp.h exactly, so results never depend on it.
 */
#ifndef CUZK_FIELD_FIELD_H
#define CUZK_FIELD_FIELD_H

#include "base/cpu.h"

struct fr;
struct fp;

typedef struct field_table {
    const char *name;
    cpu_isa isa;
    /* out = a * b / R and a * a / R: inputs and output in Montgomery form and fully reduced; out may alias.
     */
    void (*fr_mul)(struct fr *out, const struct fr *a, const struct fr *b);
    void (*fr_sqr)(struct fr *out, const struct fr *a);
    void (*fp_mul)(struct fp *out, const struct fp *a, const struct fp *b);
    void (*fp_sqr)(struct fp *out, const struct fp *a);
    /* out = (a b + c d) / R with one reduction. */
    void (*fp_dot2)(struct fp *out, const struct fp *a, const struct fp *b, const struct fp *c,
                    const struct fp *d);
} field_table;

extern field_table field __attribute__((visibility("hidden")));

extern const field_table field_portable;
extern const field_table field_adx; /* only on processors with BMI2 and ADX */

/* Select per cpu_choose. Not thread-safe; call it first. */
cuzk_code field_init(cuzk_error *err);
/* Select a variant the processor can run (for tests). */
void field_select(cpu_isa isa);

#endif
