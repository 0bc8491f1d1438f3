/* The kernel of G2 over eight elements at a time; everything is in kernel_ifma_template.h. */
#include "msm/kernel.h"

#include <string.h>

#include "curve/fp2x8.h"
#include "field/fp8_inline.h"

#define AFFINE        g2_affine
#define COORD         fp2
#define COORD_ONE     FP2_ONE
#define COMPONENTS    2u
#define SUM           in_g2
#define ENCODED_BYTES G2_UNCOMPRESSED
#define BATCH         256u
#define ADD_NS        215
#define SUM_NS        2800
#define KERNEL        msm_g2_ifma
#define SCALAR_KERNEL msm_g2_scalar
#define P(name)       g2_##name
#define F(name)       fp2_##name
#define ELEMENT       fp2x8
#define MUL           fp2x8_mul
#define SQR           fp2x8_sqr

/* A tight second factor b, with 2p - b_1, so that a_0 b_0 - a_1 b_1 is a sum of products. */
typedef struct factor {
    const fp2x8 *b;
    fp8 minus;
} factor;

FP8_INLINE factor make_factor(const fp2x8 *b) {
    factor f = {.b = b};
    fp8v zero;
#pragma GCC unroll 8
    for (int i = 0; i < FP8_LIMBS; i++) zero.l[i] = _mm512_setzero_si512();
    fp8v_store(&f.minus, fp8v_carry(fp8v_sub(fp8v_add_p(zero, 2), fp8v_load(&b->c[1]))));
    return f;
}

FP8_INLINE fp8v product(const fp2x8 *a, const factor *f, size_t c) {
    return fp8v_mul_add(&a->c[0], &f->b->c[c], &a->c[1], c ? &f->b->c[0] : &f->minus);
}

/* (a_0 + a_1)(a_0 - a_1) and 2 a_0 a_1. */
typedef struct square_operands {
    fp8 left[2], right[2];
} square_operands;

FP8_INLINE square_operands make_square_operands(const fp2x8 *a) {
    square_operands o;
    fp8v a0 = fp8v_load(&a->c[0]), a1 = fp8v_load(&a->c[1]);
    fp8v_store(&o.left[0], fp8v_carry(fp8v_add(a0, a1)));
    fp8v_store(&o.right[0], fp8v_carry(fp8v_add_p(fp8v_sub(a0, a1), 2)));
    fp8v_store(&o.left[1], fp8v_carry(fp8v_add(a0, a0)));
    fp8v_store(&o.right[1], a1);
    return o;
}

#define FACTOR(f, b)     factor f = make_factor(b)
#define PRODUCT(a, f, c) product(a, &(f), c)
#define PRODUCT_BEGIN(p, a, f, c)                                                                            \
    fp8_sum p = fp8_sum_begin(&(a)->c[0], &(f).b->c[c], &(a)->c[1], (c) ? &(f).b->c[0] : &(f).minus)
#define PRODUCT_STEP(p, i)       fp8_sum_step(&p, i)
#define SQUARE_OPERANDS(name, a) square_operands name = make_square_operands(a)
#define SQUARE(name, c)          fp8v_mul(&name.left[c], &name.right[c])

#include "msm/kernel_sum_template.h"

#include "msm/kernel_ifma_template.h"
