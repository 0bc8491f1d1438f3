/* Expansion with AVX-512 stores and bit operations; everything is in expand_template.h. */
#if defined(__x86_64__)
#define KERNEL expand_ifma
#include "r1cs/expand_template.h"
#endif
