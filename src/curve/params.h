/* Parameters of the BLS12-381 curve family, for the files of this folder. */
#ifndef CUZK_CURVE_PARAMS_H
#define CUZK_CURVE_PARAMS_H

#include <stdint.h>

/* The family's parameter is x = -0xd201000000010000: r = x^4 - x^2 + 1, p = (x - 1)^2 r / 3 + x. */
#define CURVE_ABS_X 0xd201000000010000u

#endif
