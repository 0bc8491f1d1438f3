/*
 * Eight independent elements of Fp at a time, for processors with AVX-512 IFMA. Call only when
 * field.isa == CPU_IFMA.
 *
 * An fp8 is eight integers, limb-sliced: l[i][k] is limb i (weight 2^(52 i)) of element k. The Montgomery
 * radix is 2^416, 35 bits more than p, so that sums need no reduction before a product. Two kinds:
 *
 *   tight: limbs below 2^52, value below p (1 + 2^-12). Not unique: a value in [0, 2^-12 p) may have p added.
 *   loose: limbs below 2^52, value below 16 p.
 *
 * Products take loose operands and give tight results, below p (1 + 2^-26). A limb of 2^52 or more would
 * silently lose bits. All functions accept aliased arguments.
 */
#ifndef CUZK_FIELD_FP8_H
#define CUZK_FIELD_FP8_H

#include "field/fp.h"

typedef struct fp8 {
    _Alignas(64) uint64_t l[8][8];
} fp8;

/* a * b / 2^416, a * a / 2^416, (a * b + c * d) / 2^416. */
void fp8_mul(fp8 *out, const fp8 *a, const fp8 *b);
void fp8_sqr(fp8 *out, const fp8 *a);
void fp8_mul_add(fp8 *out, const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d);

/* a + b of two tight ones, and a - b + 2p for a loose a below 14 p and a tight b: loose results. */
void fp8_add(fp8 *out, const fp8 *a, const fp8 *b);
void fp8_sub(fp8 *out, const fp8 *a, const fp8 *b);

/* Loose to tight (value below 8 p), and to the one value below p. */
void fp8_tighten(fp8 *out, const fp8 *a);
void fp8_canonical(fp8 *out, const fp8 *a);

/* From eight limbs below 2^63, of a value up to 2p, to six limbs of 64 bits and below p; and back, of a value
 * below 2^384. */
void fp8_join(uint64_t out[6], const uint64_t limbs[8]);
void fp8_split(uint64_t limbs[8], const uint64_t value[6]);

/* Element k as an fp, and back. */
void fp8_to_fp(fp *out, const fp8 *a, size_t k); /* a tight */
void fp8_from_fp(fp8 *out, size_t k, const fp *value);

#endif
