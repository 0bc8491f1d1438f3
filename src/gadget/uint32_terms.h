/* The two sides of a sum of words as linear combinations; for uint32.c. */
#ifndef CUZK_GADGET_UINT32_TERMS_H
#define CUZK_GADGET_UINT32_TERMS_H

#include "gadget/uint32.h"

/* m->sum = sum of the operands, every bit i times weights[i]. The constant part is added up as an integer and
 * enters once. */
static inline void uint32_sum_operands(multieq *m, const fr *weights, const uint32 *const *operands,
                                       unsigned n) {
    uint64_t constant = 0;
    lc_clear(&m->sum);
    for (unsigned k = 0; k < n; k++) {
        lc_clear(&m->operand);
        for (unsigned i = 0; i < 32; i++) {
            boolean bit = operands[k]->bits[i];
            if (bit.form == BOOLEAN_IS) {
                lc_add_term(&m->operand, bit.var, &weights[i]);
            } else if (bit.form == BOOLEAN_NOT) {
                fr minus;
                fr_neg(&minus, &weights[i]);
                lc_add_term(&m->operand, bit.var, &minus);
            }
            if (bit.form == BOOLEAN_NOT || (bit.form == BOOLEAN_CONSTANT && bit.value))
                constant += (uint64_t)1 << i;
        }
        lc_add(&m->sum, &m->operand);
    }
    if (constant) {
        fr value;
        fr_from_u64(&value, constant);
        fr_mul(&value, &value, &weights[0]);
        lc_add_term(&m->sum, R1CS_ONE, &value);
    }
}

/* m->lhs += sum of the n operands, m->rhs += the result bits, each bit i times weights[i]. */
static inline void uint32_add_sums(multieq *m, const fr *weights, const uint32 *const *operands, unsigned n,
                                   const boolean *result, unsigned bits) {
    uint32_sum_operands(m, weights, operands, n);
    lc_add(&m->lhs, &m->sum);
    for (unsigned i = 0; i < bits; i++) lc_add_term(&m->rhs, result[i].var, &weights[i]);
}

#endif
