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
#define ADD_NS        250
#define KERNEL        msm_g2_ifma
#define SCALAR_KERNEL msm_g2_scalar
#define P(name)       g2_##name
#define F(name)       fp2_##name
#define ELEMENT       fp2x8
#define MUL           fp2x8_mul
#define SQR           fp2x8_sqr

#include "msm/kernel_sum_template.h"

#include "msm/kernel_ifma_template.h"
