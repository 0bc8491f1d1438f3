/*
 * Fr: the scalar field of BLS12-381, r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001.
 *
 * An `fr` holds a * 2^256 mod r (Montgomery form) in four little-endian 64-bit limbs, always fully reduced,
 * so equal values have equal limbs. An `fr_repr` holds a plain integer; on this little-endian target its
 * memory is the 32-byte little-endian wire form. All functions accept aliased arguments. Not constant-time.
 */
#ifndef CUZK_FIELD_FR_H
#define CUZK_FIELD_FR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/verify.h"
#include "field/field.h"
#include "field/limbs.h"
#include "field/limbs_x86.h"

typedef struct fr {
    uint64_t l[4];
} fr;

typedef struct fr_repr {
    uint64_t l[4];
} fr_repr;

#define FR_BITS        255u
#define FR_CAPACITY    254u /* bits that always fit */
#define FR_TWO_ADICITY 32u  /* 2^32 divides r - 1 */

static const fr_repr FR_MODULUS = {
    {0xffffffff00000001u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u, 0x73eda753299d7d48u}};
/* 2^256 mod r: one. 2^512 mod r: for conversion. */
static const fr FR_ONE = {
    {0x00000001fffffffeu, 0x5884b7fa00034802u, 0x998c4fefecbc4ff5u, 0x1824b159acc5056fu}};
static const fr FR_R2 = {
    {0xc999e990f3f29c6du, 0x2b6cedcb87925c23u, 0x05d314967254398fu, 0x0748d9d99f59ff11u}};
static const fr FR_ZERO = {{0, 0, 0, 0}};
static const fr FR_MINUS_ONE = {
    {0xfffffffd00000003u, 0xfb38ec08fffb13fcu, 0x99ad88181ce5880fu, 0x5bc8f5f97cd877d8u}};
#define FR_INV 0xfffffffeffffffffu /* -r^-1 mod 2^64 */

/* Below the modulus, as every element must be. */
static inline bool fr_is_reduced(const fr *a) {
    return limbs_less(a->l, FR_MODULUS.l, 4);
}
static inline bool fr_is_zero(const fr *a) {
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}
static inline bool fr_eq(const fr *a, const fr *b) {
    return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3])) == 0;
}
static inline bool fr_is_one(const fr *a) {
    return fr_eq(a, &FR_ONE);
}

static inline void fr_add(fr *out, const fr *a, const fr *b) {
    VERIFY_CHECK(fr_is_reduced(a) && fr_is_reduced(b));
#if defined(__x86_64__)
    X86_LIMBS4_ADD_MOD(out->l, a->l, b->l, FR_MODULUS);
#else
    limbs_add_mod(out->l, a->l, b->l, FR_MODULUS.l, 4);
#endif
    VERIFY_CHECK(fr_is_reduced(out));
}

static inline void fr_sub(fr *out, const fr *a, const fr *b) {
    VERIFY_CHECK(fr_is_reduced(a) && fr_is_reduced(b));
#if defined(__x86_64__)
    X86_LIMBS4_SUB_MOD(out->l, a->l, b->l, FR_MODULUS);
#else
    limbs_sub_mod(out->l, a->l, b->l, FR_MODULUS.l, 4);
#endif
    VERIFY_CHECK(fr_is_reduced(out));
}

static inline void fr_neg(fr *out, const fr *a) {
    fr_sub(out, &FR_ZERO, a);
}
static inline void fr_dbl(fr *out, const fr *a) {
    fr_add(out, a, a);
}
static inline void fr_mul(fr *out, const fr *a, const fr *b) {
    VERIFY_CHECK(fr_is_reduced(a) && fr_is_reduced(b));
    field.fr_mul(out, a, b);
    VERIFY_CHECK(fr_is_reduced(out));
}
static inline void fr_sqr(fr *out, const fr *a) {
    VERIFY_CHECK(fr_is_reduced(a));
    field.fr_sqr(out, a);
    VERIFY_CHECK(fr_is_reduced(out));
}

void fr_from_u64(fr *out, uint64_t value);
/* Plain integer below r to Montgomery form. */
void fr_from_repr(fr *out, const fr_repr *value);
void fr_to_repr(fr_repr *out, const fr *a);
/* The same for n elements; out may be the same memory as in. */
void fr_from_repr_n(fr *out, const fr_repr *in, size_t n);
void fr_to_repr_n(fr_repr *out, const fr *in, size_t n);

bool fr_repr_is_valid(const fr_repr *value); /* below r? */
int fr_repr_cmp(const fr_repr *a, const fr_repr *b);

/* 32 little-endian bytes. False (out untouched) when the value is not below r. */
bool fr_from_bytes(fr *out, const uint8_t bytes[32]);
void fr_to_bytes(uint8_t bytes[32], const fr *a);

/* out = a^e for a plain 256-bit exponent. */
void fr_pow(fr *out, const fr *a, const fr_repr *e);
void fr_pow_u64(fr *out, const fr *a, uint64_t e);
/* out = 1/a; 0 for 0. */
void fr_inv(fr *out, const fr *a);
/* Invert n elements in place with one inversion; zeros stay zero. scratch holds n elements. */
void fr_batch_inv(fr *values, size_t n, fr *scratch);

/* A uniformly random element from the operating system. Rejection sampling on 255 bits. */
cuzk_code fr_random(fr *out, cuzk_error *err);

/* The multiplicative generator 7, and the 2^log_n-th root of unity (7^((r-1)/2^32))^(2^(32-log_n)). */
void fr_generator(fr *out);
void fr_root_of_unity(fr *out, unsigned log_n);

#endif
