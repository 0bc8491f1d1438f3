/*
 * The inputs of the kernel benchmarks, derived from a seed in a way that is easy to repeat in any language:
 * bench/README.md, "Inputs".
 */
#ifndef CUZK_BENCH_INPUTS_H
#define CUZK_BENCH_INPUTS_H

#include "base/pool.h"
#include "curve/g1.h"
#include "curve/g2.h"

/* Scalar i: 254 uniform bits. */
void input_scalar(fr_repr *out, uint64_t seed, uint64_t i);
/* Scalar i as a PoRep witness has it: bits, and every 61st a full scalar. */
void input_witness(fr_repr *out, uint64_t seed, uint64_t i);

void input_scalars(fr_repr *out, size_t n, uint64_t seed, bool witness, pool *p);
/* The same uniform scalars in Montgomery form. */
void input_elements(fr *out, size_t n, uint64_t seed, pool *p);

/* Base i is (start + i step) times the generator; start and step are scalars 2^64 - 1 and 2^64 - 2. */
cuzk_code input_bases_g1(g1_affine *out, size_t n, uint64_t seed, pool *p, cuzk_error *err);
cuzk_code input_bases_g2(g2_affine *out, size_t n, uint64_t seed, pool *p, cuzk_error *err);

/* What sum_i scalars[i] base_i is as a multiple of the generator. */
void input_expected(fr *out, const fr_repr *scalars, size_t n, uint64_t seed);

#endif
