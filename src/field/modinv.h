/*
 * Inversion modulo a prime of up to 381 bits, for both fields: some ten times faster than a power. Plain
 * little-endian integers below the modulus; the inverse of 0 is 0. Not constant-time.
 */
#ifndef CUZK_FIELD_MODINV_H
#define CUZK_FIELD_MODINV_H

#include <stdint.h>

/* out = 1/a mod p, and mod r. */
void modinv_p(uint64_t out[6], const uint64_t a[6]);
void modinv_r(uint64_t out[4], const uint64_t a[4]);

#endif
