/* Preparing constants for fr8_scale. */
#include "field/fr8.h"

/* 64-bit limbs -> limbs of 52 bits. */
static void split(uint64_t out[5], const uint64_t l[4]) {
    out[0] = l[0] & FR8_MASK;
    for (int i = 1; i < 4; i++) out[i] = (l[i - 1] >> (64 - 12 * i) | l[i] << (12 * i)) & FR8_MASK;
    out[4] = l[3] >> 16;
}

void fr8_factor_set(fr8_factor *out, const fr *w) {
    fr_repr plain;
    fr_to_repr(&plain, w);
    split(out->w, plain.l);
    fr mont = *w; /* w 2^260 mod r */
    for (int i = 0; i < 4; i++) fr_dbl(&mont, &mont);
    uint64_t m[5];
    split(m, mont.l);
    limb2 column = 0;
    for (int k = 0; k < 5; k++) { /* mont times -1/r mod 2^260; at most five products below 2^104 a column */
        for (int i = 0; i <= k; i++) column += (limb2)m[i] * FR8_INV[k - i];
        out->quotient[k] = (uint64_t)column & FR8_MASK;
        column >>= 52;
    }
}

void fr8_lane_factor_set(fr8_lane_factor *out, fr8 w_mont) {
    fr8 one = fr8_zero(), inv;
    one.l[0] = fr8_word(1);
    w_mont = fr8_canonical(w_mont);
    out->w = fr8_mul(w_mont, one); /* (w_mont + q r) / 2^260 with q < 2^260 and w_mont < r: below r */
    for (int i = 0; i < 5; i++) inv.l[i] = fr8_word(FR8_INV[i]);
    out->quotient = fr8_wrap(fr8_mul_low_add(fr8_zero(), w_mont, inv));
}
