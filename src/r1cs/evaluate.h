/*
 * Evaluating linear combinations. Nearly all variables of the circuits are bits and nearly all coefficients
 * 1, -1 or a power of two that meets a bit, so the values 0 and 1 and the coefficients 1 and -1 are looked
 * for first, and nothing is multiplied that has a cheaper way.
 */
#ifndef CUZK_R1CS_EVALUATE_H
#define CUZK_R1CS_EVALUATE_H

#include "field/fr.h"

/* sum += coeff * value */
static inline void evaluate_term(fr *sum, const fr *coeff, const fr *value) {
    if (fr_is_zero(value)) return;
    if (fr_is_one(value)) {
        fr_add(sum, sum, coeff);
    } else if (fr_is_one(coeff)) {
        fr_add(sum, sum, value);
    } else if (fr_eq(coeff, &FR_MINUS_ONE)) {
        fr_sub(sum, sum, value);
    } else {
        fr product;
        fr_mul(&product, coeff, value);
        fr_add(sum, sum, &product);
    }
}

#endif
