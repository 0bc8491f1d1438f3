/*
 * Number-theoretic transforms over Fr on domains of 2^log_n points, 0 <= log_n <= 30.
 *
 * Natural order in and out, in place. With w the 2^log_n-th root of unity of fr.h:
 *   forward: y_k = sum_i x_i w^(ik)              inverse: x_i = 1/n sum_k y_k w^(-ik)
 *   coset forward: the forward transform of x_i * 7^i
 *   coset inverse: the inverse transform, then element i times 7^-i
 */
#ifndef CUZK_NTT_NTT_H
#define CUZK_NTT_NTT_H

#include "base/pool.h"
#include "field/fr.h"

typedef enum ntt_kind { NTT_FORWARD, NTT_INVERSE, NTT_COSET_FORWARD, NTT_COSET_INVERSE } ntt_kind;

/* Tables for one size, shared by any number of concurrent transforms. Whatever takes a pool here is
 * CUZK_ERR_CANCELLED when that is a cancelled lane. */
typedef struct ntt_domain ntt_domain;

/* Bounded tables (well below one vector), built in parallel. */
cuzk_code ntt_domain_create(ntt_domain **out, unsigned log_n, pool *p, cuzk_error *err);
void ntt_domain_destroy(ntt_domain *d);
unsigned ntt_domain_log_n(const ntt_domain *d);

/* Transform values[0 .. 2^log_n) in place on all threads of p. May allocate bounded scratch. */
cuzk_code ntt_run(const ntt_domain *d, ntt_kind kind, fr *values, pool *p, cuzk_error *err);

/* Groth16's quotient: with a, b, c the values of A, B, C on the domain, leave in a the coefficients of
 * h = (a b - c) / Z, where Z = X^n - 1. b and c are destroyed. Coefficient n - 1 is 0 when the system holds.
 * progress phases: "ntt". */
cuzk_code ntt_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p, const cuzk_progress *progress,
                       cuzk_error *err);

#endif
