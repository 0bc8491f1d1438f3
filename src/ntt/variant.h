/*
 * Inside the NTT: the interface between the plan (ntt.c) and the passes over memory (passes.h), which are
 * compiled once per instruction set.
 *
 * A vector of n = A B A elements is indexed by three digits, i = (i1 B + i2) A + i3 with i1, i3 < A, i2 < B.
 * The transform goes digit by digit, in place, and ends with digits one and three exchanged, in natural
 * order: outer:  for each (i2, i3), DFT over i1 -> k1; then times w^(A i2 k1) middle: for each (k1, i3), DFT
 * over i2 -> k2; then times w^(i3 (k1 + A k2)) inner:  for each (k1, k2), DFT over i3 -> k3; result k1 + A k2
 * + A B k3 goes to (k3, k2, k1) Coset shifts and 1/n ride along: 7^i is split over the three digits, and so
 * is 7^-k.
 *
 * Work is counted in units of NTT_UNIT columns: unit u of the outer pass is (i2, i3 / NTT_UNIT), of the
 * middle pass (k1, i3 / NTT_UNIT); of the inner pass it is a whole k2. Any split of the units over threads
 * will do.
 */
#ifndef CUZK_NTT_VARIANT_H
#define CUZK_NTT_VARIANT_H

#include "field/fr.h"

#define NTT_UNIT 8u

typedef struct ntt_request {
    unsigned log_a, log_b; /* both at least 3 */
    const void *roots;     /* roots_fill's, of the direction */
    fr root;               /* w, or 1/w for the inverse */
    fr before;             /* element i is multiplied by before^i first; one or the coset generator */
    fr after, factor;      /* result k is multiplied by factor * after^k */
    bool shift_before, shift_after; /* is the shift other than one? */
} ntt_request;

typedef struct ntt_variant {
    /* Roots for all digits of up to `log_size` bits: entry b < 2^(log_size-1) is exp(2 pi i bitrev(b) / ..),
     * the root that splits block b of a decimation in time. */
    size_t (*roots_bytes)(unsigned log_size);
    void (*roots_fill)(void *roots, unsigned log_size, const fr *root);
    /* Constants of one transform. */
    size_t (*setup_bytes)(unsigned log_a, unsigned log_b);
    void (*setup)(void *setup, const ntt_request *request);
    /* One thread's scratch. */
    size_t (*scratch_bytes)(unsigned log_a, unsigned log_b);
    void (*outer)(const void *setup, fr *values, size_t begin, size_t end, void *scratch);
    void (*middle)(const void *setup, fr *values, size_t begin, size_t end, void *scratch);
    void (*inner)(const void *setup, fr *values, size_t begin, size_t end, void *scratch);
} ntt_variant;

extern const ntt_variant ntt_scalar, ntt_ifma;

#endif
