/*
 * Equalities of small integers, packed into few constraints (bellperson gadgets/multieq.rs): n-bit equalities
 * L = R are summed with disjoint weights, 2^used L and 2^used R, and one constraint (sum L) * 1 = sum R is
 * emitted when the next one would not fit 253 bits, and at the end.
 *
 * Use: multieq_make_room(n), then add the two sides to lhs and rhs, every coefficient times `weight`, then
 * multieq_added(n).
 */
#ifndef CUZK_GADGET_MULTIEQ_H
#define CUZK_GADGET_MULTIEQ_H

#include "gadget/num.h"

typedef struct multieq {
    cs *system;
    lc lhs, rhs;
    fr weight; /* 2^used */
    unsigned used;
    lc sum, operand; /* scratch for whoever adds an equality */
} multieq;

void multieq_start(multieq *m, cs *system);
/* Emit what is pending if n bits more do not fit. */
void multieq_make_room(multieq *m, unsigned n);
/* n bits were added; next_weight = weight * 2^n. */
void multieq_added(multieq *m, unsigned n, const fr *next_weight);
/* Emit what is pending and free the memory. */
void multieq_finish(multieq *m);

#endif
