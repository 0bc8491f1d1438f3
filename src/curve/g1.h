/*
 * G1: y^2 = x^3 + 4 over Fp, the subgroup of order r.
 *
 * g1_affine: x, y in Montgomery form; (0, 0) is the identity (it is not on the curve). g1: Jacobian
 * (X/Z^2, Y/Z^3); the identity is any point with Z = 0. Additions are complete: equal, opposite and identity
 * operands give the right result. Points need not be in the subgroup unless a comment says so.
 *
 * Encodings are those of ZCash/blst: compressed 48 bytes (x big-endian; flags in byte 0: 0x80 compressed,
 * 0x40 infinity, 0x20 y is the larger of y and -y), uncompressed 96 bytes (x, y big-endian; flag 0x40
 * infinity).
 */
#ifndef CUZK_CURVE_G1_H
#define CUZK_CURVE_G1_H

#include "field/fp.h"
#include "field/fr.h"

typedef struct g1_affine {
    fp x, y;
} g1_affine;

typedef struct g1 {
    fp x, y, z;
} g1;

#define G1_COMPRESSED   48u
#define G1_UNCOMPRESSED 96u

void g1_generator(g1_affine *out);
void g1_set_identity(g1 *out);
bool g1_is_identity(const g1 *p);
static inline bool g1_affine_is_identity(const g1_affine *p) {
    return fp_is_zero(&p->x) && fp_is_zero(&p->y);
}
bool g1_eq(const g1 *p, const g1 *q);
bool g1_affine_eq(const g1_affine *p, const g1_affine *q);

void g1_from_affine(g1 *out, const g1_affine *p);
void g1_to_affine(g1_affine *out, const g1 *p);
/* n points with one inversion; scratch holds n elements. */
void g1_to_affine_n(g1_affine *out, const g1 *p, size_t n, fp *scratch);

void g1_neg(g1 *out, const g1 *p);
void g1_affine_neg(g1_affine *out, const g1_affine *p);
void g1_dbl(g1 *out, const g1 *p);
void g1_add(g1 *out, const g1 *p, const g1 *q);
void g1_add_mixed(g1 *out, const g1 *p, const g1_affine *q);
/* out = k * p for a plain integer k below 2^256. */
void g1_mul(g1 *out, const g1 *p, const fr_repr *k);
void g1_mul_fr(g1 *out, const g1 *p, const fr *k);

bool g1_on_curve(const g1_affine *p);    /* the identity counts as on the curve */
bool g1_in_subgroup(const g1_affine *p); /* p must be on the curve */

/* Why an encoding was refused. */
typedef enum point_status {
    POINT_OK,
    POINT_BAD_FLAGS,    /* compression, infinity or sign bit wrong for this encoding */
    POINT_BAD_COORD,    /* a coordinate is not below p */
    POINT_BAD_INFINITY, /* infinity with other bits set */
    POINT_NOT_ON_CURVE,
    POINT_NOT_IN_SUBGROUP
} point_status;
/* A phrase for messages: "not on the curve", ... */
const char *point_status_text(point_status status);

void g1_compress(uint8_t out[G1_COMPRESSED], const g1_affine *p);
void g1_encode(uint8_t out[G1_UNCOMPRESSED], const g1_affine *p);
/* Full validation, subgroup included; the identity is accepted. On failure *out is untouched. */
point_status g1_decompress(g1_affine *out, const uint8_t in[G1_COMPRESSED]);
point_status g1_decode(g1_affine *out, const uint8_t in[G1_UNCOMPRESSED]);
/* Encoding and curve equation, no subgroup check (how parameter files are read). */
point_status g1_decode_unchecked(g1_affine *out, const uint8_t in[G1_UNCOMPRESSED]);

#endif
