/*
 * Inside the NTT: the interface between the plan (ntt.c) and the passes over memory (passes.h), which are
 * compiled once for single elements and once for vectors of them.
 *
 * A vector of n = A B A elements is indexed by three digits, i = (i1 B + i2) A + i3 with i1, i3 < A, i2 < B.
 * A transform goes digit by digit, in place; the last pass exchanges the first and the third digit, which
 * leaves the result in natural order:
 * - outer: for each (i2, i3), DFT over i1, giving k1; then times w^(A i2 k1).
 * - middle: for each (k1, i3), DFT over i2, giving k2; then times w^(i3 (k1 + A k2)).
 * - inner: for each (k1, k2), DFT over i3, giving k3; result k = k1 + A k2 + A B k3 goes to (k3, k2, k1).
 * Coset shifts and constants ride along: before^i and after^k are split over the three digits.
 *
 * The quotient undoes one transform by the next, so it need not restore the natural order in between. Its
 * coefficients stay at (k1, k2, k3), and the transform back to values works on the digits in reverse order:
 * - inner_through: the inner pass without the exchange; times after^k but for its k1 part; for each (k1, k2)
 *   DFT over k3, giving j3; times w^(A j3 k2).
 * - middle_back: for each (k1, j3), DFT over k2, giving j2; times after^k1 w^(k1 (j2 A + j3)).
 * - outer_through: for each (j2, j3), DFT over k1, giving value j = (j1, j2, j3), of two vectors; their
 * product; and the outer pass of the next transform.
 * - inner_difference: the inner pass of two vectors; the second is subtracted from the first.
 */
#ifndef CUZK_NTT_VARIANT_H
#define CUZK_NTT_VARIANT_H

#include "field/fr.h"

/* Columns that are transformed together. */
#define NTT_UNIT 8u

/* What one transform's constants are made from. */
typedef struct ntt_request {
    unsigned log_a, log_b; /* both at least 3 */
    const void *roots;     /* roots_fill's, for the direction */
    fr root;               /* w, a 2^log_n-th root of unity */
    fr before;             /* element i is multiplied by before^i first */
    fr after, factor;      /* result k is multiplied by factor * after^k */
} ntt_request;

/* What one pass works on; each pass uses the members it needs. */
typedef struct ntt_operands {
    const void *setup; /* of the transform, or of the one that begins in this pass */
    const void *from;  /* inner_through, outer_through: of the transform that ends in this pass */
    fr *values;        /* in and out */
    fr *other;         /* the second input of outer_through and inner_difference */
    bool stream;       /* write around the caches, where a pass writes whole lines; values is aligned to 64 */
} ntt_operands;

/* Do the units [begin, end) of a pass with one thread's scratch. The inner passes have B units, the values of
 * k2. The others have B A / NTT_UNIT (outer) or A A / NTT_UNIT (middle), each NTT_UNIT adjacent columns. */
typedef void (*ntt_pass)(const ntt_operands *operands, size_t begin, size_t end, void *scratch);

typedef struct ntt_variant {
    /* Roots for digits of up to log_size bits, of a 2^log_size-th root of unity. */
    size_t (*roots_bytes)(unsigned log_size);
    void (*roots_fill)(void *roots, unsigned log_size, const fr *root);
    size_t (*setup_bytes)(unsigned log_a);
    void (*setup_fill)(void *setup, const ntt_request *request);
    size_t (*scratch_bytes)(unsigned log_a, unsigned log_b);
    /* outer_through leaves 2^-product_shift times the products. */
    unsigned product_shift;
    ntt_pass outer, middle, inner, inner_through, middle_back, outer_through, inner_difference;
} ntt_variant;

extern const ntt_variant ntt_scalar, ntt_ifma; /* the latter for CPU_IFMA only */

#endif
