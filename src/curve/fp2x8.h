/*
 * Eight independent elements of Fp2 at a time: c[0] + c[1] u. See field/fp8.h for "tight" and "loose" and for
 * when to call this.
 */
#ifndef CUZK_CURVE_FP2X8_H
#define CUZK_CURVE_FP2X8_H

#include "field/fp8.h"

typedef struct fp2x8 {
    fp8 c[2];
} fp2x8;

/* a loose, b tight; the result is tight. */
void fp2x8_mul(fp2x8 *out, const fp2x8 *a, const fp2x8 *b);
/* a tight; the result is tight. */
void fp2x8_sqr(fp2x8 *out, const fp2x8 *a);

#endif
