/* The processor features that select code variants, and the operator's override of that choice. */
#ifndef CUZK_BASE_CPU_H
#define CUZK_BASE_CPU_H

#include "base/error.h"

/* Code variants, each a superset of the one before. */
typedef enum cpu_isa {
    CPU_PORTABLE, /* C only */
    CPU_ADX,      /* BMI2 MULX and ADCX/ADOX */
    CPU_IFMA      /* AVX-512 F, DQ, BW, VL, IFMA and VBMI, and ADX */
} cpu_isa;

/* The best variant this processor and operating system can run. */
cpu_isa cpu_best(void);

/* The variant to use: CUZK_ISA=portable|adx|ifma when set, else cpu_best(). An unknown name, or a variant the
 * processor lacks, is CUZK_ERR_USAGE. */
cuzk_code cpu_choose(cpu_isa *out, cuzk_error *err);

const char *cpu_isa_name(cpu_isa isa);

/* Does the processor have the SHA extensions (SHA-NI)? */
bool cpu_has_sha(void);

#endif
