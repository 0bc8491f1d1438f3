/* Expansion in portable C; everything is in expand_template.h. */
#define KERNEL expand_portable
#include "r1cs/expand_template.h"
