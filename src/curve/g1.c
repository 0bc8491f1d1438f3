/* G1: the constants, the endomorphism and the subgroup test; everything else is point_template.h. */
#include "curve/g1.h"

#include <string.h>

#include "curve/params.h"

#define POINT       g1
#define AFFINE      g1_affine
#define COORD       fp
#define COORD_ZERO  FP_ZERO
#define COORD_ONE   FP_ONE
#define COORD_BYTES 48u
#define P(name)     g1_##name
#define F(name)     fp_##name

static const fp CURVE_B = {{0xaa270000000cfff3u, 0x53cc0032fc34000au, 0x478fe97a6b0a807fu,
                            0xb1d37ebee6ba24d7u, 0x8ec9733bbf78ab2fu, 0x09d645513d83de7eu}};
static const g1_affine GENERATOR = {{{0x5cb38790fd530c16u, 0x7817fc679976fff5u, 0x154f95c7143ba1c1u,
                                      0xf0ae6acdf3d0e747u, 0xedce6ecc21dbf440u, 0x120177419e0bfb75u}},
                                    {{0xbaac93d50ce72271u, 0x8c22631a7918fd8eu, 0xdd595f13570725ceu,
                                      0x51ac582950405194u, 0x0e1c8c3fad0059c0u, 0x0bbc3efc5008a26au}}};

#include "curve/point_template.h"

bool g1_in_subgroup(const g1_affine *p) {
    /* phi(x, y) = (beta x, y) with beta a primitive cube root of one satisfies phi^2 + phi + 1 = 0 on the
     * whole curve. If phi(P) = -[x^2] P then [x^4 - x^2 + 1] P = [r] P = 0, and on G1 the equation holds for
     * this choice of beta (M. Scott, "A note on group membership tests", ePrint 2021/1130). */
    static const fp beta = {{0x30f1361b798a64e8u, 0xf3b8ddab7ece5a2au, 0x16a8ca3ac61577f7u,
                             0xc26a2ff874fd029bu, 0x3636b76660701c6eu, 0x051ba4ab241b6160u}};
    g1 multiple, image;
    g1_from_affine(&multiple, p);
    g1_from_affine(&image, p);
    fp_mul(&image.x, &image.x, &beta);
    mul_by_abs_x(&multiple, &multiple);
    mul_by_abs_x(&multiple, &multiple);
    g1_neg(&multiple, &multiple);
    return g1_eq(&multiple, &image);
}

const char *point_status_text(point_status status) {
    switch (status) {
    case POINT_OK:
        return "valid";
    case POINT_BAD_FLAGS:
        return "compression or sign flag wrong for this encoding";
    case POINT_BAD_COORD:
        return "coordinate not below the field modulus";
    case POINT_BAD_INFINITY:
        return "infinity with other bits set";
    case POINT_NOT_ON_CURVE:
        return "not on the curve";
    case POINT_NOT_IN_SUBGROUP:
        return "not in the subgroup of order r";
    }
    return "unknown point status";
}
