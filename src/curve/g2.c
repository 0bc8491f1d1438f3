/* G2: the constants, the endomorphism and the subgroup test; everything else is point_template.h. */
#include "curve/g2.h"

#include <string.h>

#include "curve/params.h"

#define POINT       g2
#define AFFINE      g2_affine
#define COORD       fp2
#define COORD_ZERO  FP2_ZERO
#define COORD_ONE   FP2_ONE
#define COORD_BYTES FP2_BYTES
#define P(name)     g2_##name
#define F(name)     fp2_##name

static const fp2 CURVE_B = {{{0xaa270000000cfff3u, 0x53cc0032fc34000au, 0x478fe97a6b0a807fu,
                              0xb1d37ebee6ba24d7u, 0x8ec9733bbf78ab2fu, 0x09d645513d83de7eu}},
                            {{0xaa270000000cfff3u, 0x53cc0032fc34000au, 0x478fe97a6b0a807fu,
                              0xb1d37ebee6ba24d7u, 0x8ec9733bbf78ab2fu, 0x09d645513d83de7eu}}};
static const g2_affine GENERATOR = {{{{0xf5f28fa202940a10u, 0xb3f5fb2687b4961au, 0xa1a893b53e2ae580u,
                                       0x9894999d1a3caee9u, 0x6f67b7631863366bu, 0x058191924350bcd7u}},
                                     {{0xa5a9c0759e23f606u, 0xaaa0c59dbccd60c3u, 0x3bb17e18e2867806u,
                                       0x1b1ab6cc8541b367u, 0xc2b6ed0ef2158547u, 0x11922a097360edf3u}}},
                                    {{{0x4c730af860494c4au, 0x597cfa1f5e369c5au, 0xe7e6856caa0a635au,
                                       0xbbefb5e96e0d495fu, 0x07d3a975f0ef25a2u, 0x0083fd8e7e80dae5u}},
                                     {{0xadc0fc92df64b05du, 0x18aa270a2b1461dcu, 0x86adac6a3be4eba0u,
                                       0x79495c4ec93da33au, 0xe7175850a43ccaedu, 0x0b2bc2a163de1bf2u}}}};

#include "curve/point_template.h"

bool g2_in_subgroup(const g2_affine *p) {
    /* psi = untwist, Frobenius, twist: psi(x, y) = (conj(x) / (1+u)^((p-1)/3), conj(y) / (1+u)^((p-1)/2)).
     * On G2 it is multiplication by x; conversely psi(Q) = [x] Q with psi^2 - [x + 1] psi + [p] = 0 gives
     * [p - x] Q = 0, and gcd(p - x, #E'(Fp2)) = r (M. Scott, ePrint 2021/1130). */
    static const fp2 psi_x = {{{0, 0, 0, 0, 0, 0}},
                              {{0x890dc9e4867545c3u, 0x2af322533285a5d5u, 0x50880866309b7e2cu,
                                0xa20d1b8c7e881024u, 0x14e4f04fe2db9068u, 0x14e56d3f1564853au}}};
    static const fp2 psi_y = {{{0x3e2f585da55c9ad1u, 0x4294213d86c18183u, 0x382844c88b623732u,
                                0x92ad2afd19103e18u, 0x1d794e4fac7cf0b9u, 0x0bd592fc7d825ec8u}},
                              {{0x7bcfa7a25aa30fdau, 0xdc17dec12a927e7cu, 0x2f088dd86b4ebef1u,
                                0xd1ca2087da74d4a7u, 0x2da2596696cebc1du, 0x0e2b7eedbbfd87d2u}}};
    g2 multiple, image;
    g2_from_affine(&multiple, p);
    g2_from_affine(&image, p);
    fp2_conj(&image.x, &image.x);
    fp2_conj(&image.y, &image.y);
    fp2_mul(&image.x, &image.x, &psi_x);
    fp2_mul(&image.y, &image.y, &psi_y);
    mul_by_abs_x(&multiple, &multiple);
    g2_neg(&multiple, &multiple);
    return g2_eq(&multiple, &image);
}
