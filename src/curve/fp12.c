/*
 * Fp12 over Fp6 by Karatsuba; Frobenius by multiplying the coefficient of w^i (conjugated for odd powers)
 * with (1 + u)^(i (p^k - 1) / 6); squaring in the cyclotomic subgroup by R. Granger and M. Scott, "Faster
 * squaring in the cyclotomic subgroup of sixth degree extensions" (PKC 2010).
 */
#include "curve/fp12.h"

void fp12_set_one(fp12 *out) {
    *out = (fp12){.c0.c0 = FP2_ONE};
}

bool fp12_is_one(const fp12 *a) {
    return fp2_is_one(&a->c0.c0) && fp2_is_zero(&a->c0.c1) && fp2_is_zero(&a->c0.c2) && fp6_is_zero(&a->c1);
}

void fp12_mul(fp12 *out, const fp12 *a, const fp12 *b) {
    fp6 low, high, s, t;
    fp6_mul(&low, &a->c0, &b->c0);
    fp6_mul(&high, &a->c1, &b->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_add(&t, &b->c0, &b->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &low);
    fp6_sub(&out->c1, &s, &high);
    fp6_mul_by_v(&high, &high);
    fp6_add(&out->c0, &low, &high);
}

void fp12_sqr(fp12 *out, const fp12 *a) {
    /* c0^2 + v c1^2 = (c0 + c1)(c0 + v c1) - c0 c1 - v c0 c1. */
    fp6 product, s, t;
    fp6_mul(&product, &a->c0, &a->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul_by_v(&t, &a->c1);
    fp6_add(&t, &t, &a->c0);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &product);
    fp6_mul_by_v(&t, &product);
    fp6_sub(&out->c0, &s, &t);
    fp6_dbl(&out->c1, &product);
}

void fp12_conj(fp12 *out, const fp12 *a) {
    out->c0 = a->c0;
    fp6_neg(&out->c1, &a->c1);
}

void fp12_inv(fp12 *out, const fp12 *a) {
    fp6 s, t; /* 1 / (c0^2 - v c1^2) */
    fp6_mul(&s, &a->c0, &a->c0);
    fp6_mul(&t, &a->c1, &a->c1);
    fp6_mul_by_v(&t, &t);
    fp6_sub(&s, &s, &t);
    fp6_inv(&s, &s);
    fp6_mul(&out->c0, &a->c0, &s);
    fp6_mul(&t, &a->c1, &s);
    fp6_neg(&out->c1, &t);
}

void fp12_frobenius(fp12 *out, const fp12 *a, unsigned power) {
    static const fp2 first[5] = {
        {{{0x07089552b319d465u, 0xc6695f92b50a8313u, 0x97e83cccd117228fu, 0xa35baecab2dc29eeu,
           0x1ce393ea5daace4du, 0x08f2220fb0fb66ebu}},
         {{0xb2f66aad4ce5d646u, 0x5842a06bfc497cecu, 0xcf4895d42599d394u, 0xc11b9cba40a8e8d0u,
           0x2e3813cbe5a0de89u, 0x110eefda88847fafu}}},
        {{{0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u}},
         {{0xcd03c9e48671f071u, 0x5dab22461fcda5d2u, 0x587042afd3851b95u, 0x8eb60ebe01bacb9eu,
           0x03f97d6e83d050d2u, 0x18f0206554638741u}}},
        {{{0x7bcfa7a25aa30fdau, 0xdc17dec12a927e7cu, 0x2f088dd86b4ebef1u, 0xd1ca2087da74d4a7u,
           0x2da2596696cebc1du, 0x0e2b7eedbbfd87d2u}},
         {{0x7bcfa7a25aa30fdau, 0xdc17dec12a927e7cu, 0x2f088dd86b4ebef1u, 0xd1ca2087da74d4a7u,
           0x2da2596696cebc1du, 0x0e2b7eedbbfd87d2u}}},
        {{{0x890dc9e4867545c3u, 0x2af322533285a5d5u, 0x50880866309b7e2cu, 0xa20d1b8c7e881024u,
           0x14e4f04fe2db9068u, 0x14e56d3f1564853au}},
         {{0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
           0x0000000000000000u, 0x0000000000000000u}}},
        {{{0x82d83cf50dbce43fu, 0xa2813e53df9d018fu, 0xc6f0caa53c65e181u, 0x7525cf528d50fe95u,
           0x4a85ed50f4798a6bu, 0x171da0fd6cf8eebdu}},
         {{0x3726c30af242c66cu, 0x7c2ac1aad1b6fe70u, 0xa04007fbba4b14a2u, 0xef517c3266341429u,
           0x0095ba654ed2226bu, 0x02e370eccc86f7ddu}}},
    };
    static const fp second[5] = {
        {{0xecfb361b798dba3au, 0xc100ddb891865a2cu, 0x0ec08ff1232bda8eu, 0xd5c13cc6f1ca4721u,
          0x47222a47bf7b5c04u, 0x0110f184e51c5f59u}},
        {{0x30f1361b798a64e8u, 0xf3b8ddab7ece5a2au, 0x16a8ca3ac61577f7u, 0xc26a2ff874fd029bu,
          0x3636b76660701c6eu, 0x051ba4ab241b6160u}},
        {{0x43f5fffffffcaaaeu, 0x32b7fff2ed47fffdu, 0x07e83a49a2e99d69u, 0xeca8f3318332bb7au,
          0xef148d1ea0f4c069u, 0x040ab3263eff0206u}},
        {{0xcd03c9e48671f071u, 0x5dab22461fcda5d2u, 0x587042afd3851b95u, 0x8eb60ebe01bacb9eu,
          0x03f97d6e83d050d2u, 0x18f0206554638741u}},
        {{0x890dc9e4867545c3u, 0x2af322533285a5d5u, 0x50880866309b7e2cu, 0xa20d1b8c7e881024u,
          0x14e4f04fe2db9068u, 0x14e56d3f1564853au}},
    };
    const fp2 *in[6] = {&a->c0.c0, &a->c1.c0, &a->c0.c1, &a->c1.c1, &a->c0.c2, &a->c1.c2};
    fp2 *to[6] = {&out->c0.c0, &out->c1.c0, &out->c0.c1, &out->c1.c1, &out->c0.c2, &out->c1.c2};
    for (int i = 0; i < 6; i++) {
        if (power == 2) {
            *to[i] = *in[i];
            if (i > 0) fp2_mul_fp(to[i], to[i], &second[i - 1]);
        } else {
            fp2_conj(to[i], in[i]);
            if (i > 0) fp2_mul(to[i], to[i], &first[i - 1]);
        }
    }
}

void fp12_mul_by_014(fp12 *out, const fp12 *a, const fp2 *b0, const fp2 *b1, const fp2 *b4) {
    fp6 low, high, s;
    fp2 b14;
    fp6_mul_by_01(&low, &a->c0, b0, b1);
    fp6_mul_by_1(&high, &a->c1, b4);
    fp6_add(&s, &a->c0, &a->c1);
    fp2_add(&b14, b1, b4);
    fp6_mul_by_01(&s, &s, b0, &b14);
    fp6_sub(&s, &s, &low);
    fp6_sub(&out->c1, &s, &high);
    fp6_mul_by_v(&high, &high);
    fp6_add(&out->c0, &low, &high);
}

/* (a + b s)^2 = t0 + t1 s in Fp4 = Fp2[s] / (s^2 - (1 + u)). */
static void fp4_sqr(fp2 *t0, fp2 *t1, const fp2 *a, const fp2 *b) {
    fp2 aa, bb, sum;
    fp2_sqr(&aa, a);
    fp2_sqr(&bb, b);
    fp2_add(&sum, a, b);
    fp2_sqr(&sum, &sum);
    fp2_sub(&sum, &sum, &aa);
    fp2_sub(t1, &sum, &bb);
    fp2_mul_by_nonresidue(&bb, &bb);
    fp2_add(t0, &aa, &bb);
}

/* out = 3 t - 2 z and out = 3 t + 2 z. */
static void three_minus_two(fp2 *out, const fp2 *t, const fp2 *z) {
    fp2 d;
    fp2_sub(&d, t, z);
    fp2_dbl(&d, &d);
    fp2_add(out, &d, t);
}
static void three_plus_two(fp2 *out, const fp2 *t, const fp2 *z) {
    fp2 s;
    fp2_add(&s, t, z);
    fp2_dbl(&s, &s);
    fp2_add(out, &s, t);
}

void fp12_cyclotomic_sqr(fp12 *out, const fp12 *a) {
    fp2 a0, a1, b0, b1, c0, c1;
    fp4_sqr(&a0, &a1, &a->c0.c0, &a->c1.c1);
    fp4_sqr(&b0, &b1, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&c0, &c1, &a->c0.c1, &a->c1.c2);
    fp2_mul_by_nonresidue(&c1, &c1);
    three_minus_two(&out->c0.c0, &a0, &a->c0.c0);
    three_minus_two(&out->c0.c1, &b0, &a->c0.c1);
    three_minus_two(&out->c0.c2, &c0, &a->c0.c2);
    three_plus_two(&out->c1.c0, &c1, &a->c1.c0);
    three_plus_two(&out->c1.c1, &a1, &a->c1.c1);
    three_plus_two(&out->c1.c2, &b1, &a->c1.c2);
}
