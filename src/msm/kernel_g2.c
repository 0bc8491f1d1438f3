/* The kernel of G2 over single field elements; everything is in kernel_template.h. */
#include "msm/kernel.h"

#include <string.h>

#define AFFINE        g2_affine
#define COORD         fp2
#define COORD_ZERO    FP2_ZERO
#define COORD_ONE     FP2_ONE
#define SUM           in_g2
#define ENCODED_BYTES G2_UNCOMPRESSED
#define ADD_NS        700
#define SUM_NS        2800
#define KERNEL        msm_g2_scalar
#define P(name)       g2_##name
#define F(name)       fp2_##name

#include "msm/kernel_sum_template.h"

#include "msm/kernel_template.h"

const msm_kernel *msm_kernel_g2(void) {
    return field.isa == CPU_IFMA ? &msm_g2_ifma : &msm_g2_scalar;
}
