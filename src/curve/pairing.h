/*
 * The optimal ate pairing e: G1 x G2 -> GT (a subgroup of Fp12), and products of pairings with one final
 * exponentiation. Points must be in their subgroups; an identity on either side contributes 1.
 */
#ifndef CUZK_CURVE_PAIRING_H
#define CUZK_CURVE_PAIRING_H

#include "curve/fp12.h"
#include "curve/g1.h"
#include "curve/g2.h"

/* out = prod e(p[i], q[i]) before the final exponentiation. */
void pairing_miller(fp12 *out, const g1_affine *p, const g2_affine *q, size_t n);
/* in^((p^12-1)/r), up to a fixed cube: the same power on both sides of every comparison made here. */
void pairing_final_exp(fp12 *out, const fp12 *in);
/* Both steps for one pair. */
void pairing(fp12 *out, const g1_affine *p, const g2_affine *q);

#endif
