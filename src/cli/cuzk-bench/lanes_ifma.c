#include "lanes.h"

#include "field/fr8.h"

/* fr8_mul divides by 2^260, the form of fr.h asks for 2^256: the factor is taken 16 times. The values stay
 * below r + r / 32. */
void lanes_fr_mul(fr values[8], const fr *factor, size_t n) {
    fr sixteen, f;
    fr_from_u64(&sixteen, 16);
    fr_mul(&f, factor, &sixteen);
    fr8 lanes = fr8_load(values), by = fr8_broadcast(&f);
    for (size_t i = 0; i < n; i++) lanes = fr8_mul(lanes, by);
    fr8_store(values, fr8_canonical(lanes));
}
