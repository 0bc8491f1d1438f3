/*
 * Fp: the base field of BLS12-381,
 * p = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab.
 *
 * An `fp` holds a * 2^384 mod p (Montgomery form) in six little-endian limbs, always fully reduced. An
 * `fp_repr` holds a plain integer. All functions accept aliased arguments. Not constant-time.
 */
#ifndef CUZK_FIELD_FP_H
#define CUZK_FIELD_FP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/verify.h"
#include "field/field.h"
#include "field/limbs.h"
#include "field/limbs_x86.h"

typedef struct fp {
    uint64_t l[6];
} fp;

typedef struct fp_repr {
    uint64_t l[6];
} fp_repr;

static const fp_repr FP_MODULUS = {{0xb9feffffffffaaabu, 0x1eabfffeb153ffffu, 0x6730d2a0f6b0f624u,
                                    0x64774b84f38512bfu, 0x4b1ba7b6434bacd7u, 0x1a0111ea397fe69au}};
static const fp FP_ZERO = {{0, 0, 0, 0, 0, 0}};
/* 2^384 mod p: one. 2^768 mod p: for conversion. */
static const fp FP_ONE = {{0x760900000002fffdu, 0xebf4000bc40c0002u, 0x5f48985753c758bau, 0x77ce585370525745u,
                           0x5c071a97a256ec6du, 0x15f65ec3fa80e493u}};
static const fp FP_R2 = {{0xf4df1f341c341746u, 0x0a76e6a609d104f1u, 0x8de5476c4c95b6d5u, 0x67eb88a9939d83c0u,
                          0x9a793e85b519952du, 0x11988fe592cae3aau}};
#define FP_INV 0x89f3fffcfffcfffdu /* -p^-1 mod 2^64 */

/* Below the modulus, as every element must be. */
static inline bool fp_is_reduced(const fp *a) {
    return limbs_less(a->l, FP_MODULUS.l, 6);
}
static inline bool fp_is_zero(const fp *a) {
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3] | a->l[4] | a->l[5]) == 0;
}
static inline bool fp_eq(const fp *a, const fp *b) {
    uint64_t d = 0;
    for (int i = 0; i < 6; i++) d |= a->l[i] ^ b->l[i];
    return d == 0;
}
static inline bool fp_is_one(const fp *a) {
    return fp_eq(a, &FP_ONE);
}

static inline void fp_add(fp *out, const fp *a, const fp *b) {
    VERIFY_CHECK(fp_is_reduced(a) && fp_is_reduced(b));
#if defined(__x86_64__)
    X86_LIMBS6_ADD_MOD(out->l, a->l, b->l, FP_MODULUS);
#else
    limbs_add_mod(out->l, a->l, b->l, FP_MODULUS.l, 6);
#endif
    VERIFY_CHECK(fp_is_reduced(out));
}

static inline void fp_sub(fp *out, const fp *a, const fp *b) {
    VERIFY_CHECK(fp_is_reduced(a) && fp_is_reduced(b));
#if defined(__x86_64__)
    X86_LIMBS6_SUB_MOD(out->l, a->l, b->l, FP_MODULUS);
#else
    limbs_sub_mod(out->l, a->l, b->l, FP_MODULUS.l, 6);
#endif
    VERIFY_CHECK(fp_is_reduced(out));
}

static inline void fp_neg(fp *out, const fp *a) {
    fp_sub(out, &FP_ZERO, a);
}
static inline void fp_dbl(fp *out, const fp *a) {
    fp_add(out, a, a);
}
static inline void fp_mul(fp *out, const fp *a, const fp *b) {
    VERIFY_CHECK(fp_is_reduced(a) && fp_is_reduced(b));
    field.fp_mul(out, a, b);
    VERIFY_CHECK(fp_is_reduced(out));
}
static inline void fp_sqr(fp *out, const fp *a) {
    VERIFY_CHECK(fp_is_reduced(a));
    field.fp_sqr(out, a);
    VERIFY_CHECK(fp_is_reduced(out));
}
/* out = a b + c d, cheaper than two products. */
static inline void fp_dot2(fp *out, const fp *a, const fp *b, const fp *c, const fp *d) {
    VERIFY_CHECK(fp_is_reduced(a) && fp_is_reduced(b) && fp_is_reduced(c) && fp_is_reduced(d));
    field.fp_dot2(out, a, b, c, d);
    VERIFY_CHECK(fp_is_reduced(out));
}

void fp_from_u64(fp *out, uint64_t value);
void fp_from_repr(fp *out, const fp_repr *value);
void fp_to_repr(fp_repr *out, const fp *a);
bool fp_repr_is_valid(const fp_repr *value); /* below p? */

/* 48 big-endian bytes, as in the point encodings. False (out untouched) when the value is not below p. */
bool fp_from_bytes_be(fp *out, const uint8_t bytes[48]);
void fp_to_bytes_be(uint8_t bytes[48], const fp *a);

/* Is the plain value larger than (p-1)/2, that is, the larger of a and -a? */
bool fp_is_lexicographically_larger(const fp *a);

/* out = a^e; e has `limbs` little-endian limbs. */
void fp_pow(fp *out, const fp *a, const uint64_t *e, size_t limbs);
/* out = 1/a; 0 for 0. */
void fp_inv(fp *out, const fp *a);
/* A square root (either one); false when there is none. */
bool fp_sqrt(fp *out, const fp *a);

#endif
