/* The kernel of G1 over single field elements; everything is in kernel_template.h. */
#include "msm/kernel.h"

#include <string.h>

#define AFFINE        g1_affine
#define COORD         fp
#define COORD_ZERO    FP_ZERO
#define COORD_ONE     FP_ONE
#define SUM           in_g1
#define ENCODED_BYTES G1_UNCOMPRESSED
#define ADD_NS        260
#define SUM_NS        900
#define KERNEL        msm_g1_scalar
#define P(name)       g1_##name
#define F(name)       fp_##name

#include "msm/kernel_sum_template.h"

#include "msm/kernel_template.h"

const msm_kernel *msm_kernel_g1(void) {
    return field.isa == CPU_IFMA ? &msm_g1_ifma : &msm_g1_scalar;
}
