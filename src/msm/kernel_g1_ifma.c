/* The kernel of G1 over eight elements at a time; everything is in kernel_ifma_template.h. */
#include "msm/kernel.h"

#include <string.h>

#include "field/fp8_inline.h"

#define AFFINE        g1_affine
#define COORD         fp
#define COORD_ONE     FP_ONE
#define COMPONENTS    1u
#define SUM           in_g1
#define ENCODED_BYTES G1_UNCOMPRESSED
#define BATCH         512u
#define ADD_NS        70
#define SUM_NS        900
#define KERNEL        msm_g1_ifma
#define SCALAR_KERNEL msm_g1_scalar
#define P(name)       g1_##name
#define F(name)       fp_##name

/* A coordinate, in the shape the template expects. */
typedef struct element {
    fp8 c[1];
} element;

typedef const element *factor;

#define ELEMENT                   element
#define FACTOR(f, b)              factor f = (b)
#define PRODUCT(a, f, c)          fp8v_mul(&(a)->c[c], &(f)->c[c])
#define PRODUCT_BEGIN(p, a, f, c) fp8_product p = fp8_product_begin(&(a)->c[c], &(f)->c[c])
#define PRODUCT_STEP(p, i)        fp8_product_step(&p, i)
#define SQUARE_OPERANDS(name, a)  factor name = (a)
#define SQUARE(name, c)           fp8v_sqr(&(name)->c[c])

static void mul(element *out, const element *a, const element *b) {
    fp8_mul(&out->c[0], &a->c[0], &b->c[0]);
}
static void sqr(element *out, const element *a) {
    fp8_sqr(&out->c[0], &a->c[0]);
}

#define MUL mul
#define SQR sqr

#include "msm/kernel_sum_template.h"

#include "msm/kernel_ifma_template.h"
