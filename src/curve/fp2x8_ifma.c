/*
 * Products as two sums of products with one reduction each. Karatsuba's method would save a third of the
 * products but only where unreduced products of 16 vectors are kept, and moving those costs more.
 */
#include "curve/fp2x8.h"

#include "field/fp8_inline.h"

void fp2x8_mul(fp2x8 *out, const fp2x8 *a, const fp2x8 *b) {
    fp8 minus_b1, c0;
    fp8v zero;
    for (int i = 0; i < FP8_LIMBS; i++) zero.l[i] = _mm512_setzero_si512();
    fp8v_store(&minus_b1, fp8v_carry(fp8v_sub(fp8v_add_p(zero, 2), fp8v_load(&b->c[1]))));
    fp8_mul_add(&c0, &a->c[0], &b->c[0], &a->c[1], &minus_b1);
    fp8_mul_add(&out->c[1], &a->c[0], &b->c[1], &a->c[1], &b->c[0]);
    out->c[0] = c0;
}

void fp2x8_sqr(fp2x8 *out, const fp2x8 *a) {
    fp8 sum, difference, twice;
    fp8_add(&sum, &a->c[0], &a->c[1]);
    fp8_sub(&difference, &a->c[0], &a->c[1]);
    fp8_add(&twice, &a->c[0], &a->c[0]);
    fp8_mul(&out->c[1], &twice, &a->c[1]);
    fp8_mul(&out->c[0], &sum, &difference);
}
