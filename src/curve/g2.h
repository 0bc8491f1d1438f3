/*
 * G2: y^2 = x^3 + 4(1 + u) over Fp2, the subgroup of order r.
 *
 * g2_affine: x, y in Montgomery form; (0, 0) is the identity (it is not on the curve). g2: Jacobian
 * (X/Z^2, Y/Z^3); the identity is any point with Z = 0. Additions are complete: equal, opposite and identity
 * operands give the right result. Points need not be in the subgroup unless a comment says so.
 *
 * Encodings are those of ZCash/blst: compressed 96 bytes (x.c1 then x.c0, big-endian; flags in byte 0 as in
 * g1.h, "larger" compares c1 first), uncompressed 192 bytes (x.c1, x.c0, y.c1, y.c0; flag 0x40 infinity).
 */
#ifndef CUZK_CURVE_G2_H
#define CUZK_CURVE_G2_H

#include "curve/fp2.h"
#include "curve/g1.h" /* point_status */
#include "field/fr.h"

typedef struct g2_affine {
    fp2 x, y;
} g2_affine;

typedef struct g2 {
    fp2 x, y, z;
} g2;

#define G2_COMPRESSED   96u
#define G2_UNCOMPRESSED 192u

void g2_generator(g2_affine *out);
void g2_set_identity(g2 *out);
bool g2_is_identity(const g2 *p);
static inline bool g2_affine_is_identity(const g2_affine *p) {
    return fp2_is_zero(&p->x) && fp2_is_zero(&p->y);
}
bool g2_eq(const g2 *p, const g2 *q);
bool g2_affine_eq(const g2_affine *p, const g2_affine *q);

void g2_from_affine(g2 *out, const g2_affine *p);
void g2_to_affine(g2_affine *out, const g2 *p);
/* n points with one inversion; scratch holds n elements. */
void g2_to_affine_n(g2_affine *out, const g2 *p, size_t n, fp2 *scratch);

void g2_neg(g2 *out, const g2 *p);
void g2_affine_neg(g2_affine *out, const g2_affine *p);
void g2_dbl(g2 *out, const g2 *p);
void g2_add(g2 *out, const g2 *p, const g2 *q);
void g2_add_mixed(g2 *out, const g2 *p, const g2_affine *q);
/* out = k * p for a plain integer k below 2^256. */
void g2_mul(g2 *out, const g2 *p, const fr_repr *k);
void g2_mul_fr(g2 *out, const g2 *p, const fr *k);

bool g2_on_curve(const g2_affine *p);    /* the identity counts as on the curve */
bool g2_in_subgroup(const g2_affine *p); /* p must be on the curve */

void g2_compress(uint8_t out[G2_COMPRESSED], const g2_affine *p);
void g2_encode(uint8_t out[G2_UNCOMPRESSED], const g2_affine *p);
/* Full validation, subgroup included; the identity is accepted. On failure *out is untouched. */
point_status g2_decompress(g2_affine *out, const uint8_t in[G2_COMPRESSED]);
point_status g2_decode(g2_affine *out, const uint8_t in[G2_UNCOMPRESSED]);
/* Encoding and curve equation, no subgroup check (how parameter files are read). */
point_status g2_decode_unchecked(g2_affine *out, const uint8_t in[G2_UNCOMPRESSED]);

#endif
