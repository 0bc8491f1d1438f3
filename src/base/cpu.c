#include "base/cpu.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

cpu_isa cpu_best(void) {
    __builtin_cpu_init();
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return CPU_PORTABLE;
    bool adx = (ebx & (1u << 8)) && (ebx & (1u << 19)); /* BMI2, ADX */
    if (!adx) return CPU_PORTABLE;
    /* __builtin_cpu_supports also checks that the operating system saves the vector registers. */
    bool ifma = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
    return ifma ? CPU_IFMA : CPU_ADX;
}

static const char *const isa_names[] = {"portable", "adx", "ifma"};

const char *cpu_isa_name(cpu_isa isa) {
    return isa_names[isa];
}

cuzk_code cpu_choose(cpu_isa *out, cuzk_error *err) {
    cpu_isa best = cpu_best();
    const char *wish = getenv("CUZK_ISA");
    *out = best;
    if (!wish || !*wish) return CUZK_OK;
    for (cpu_isa isa = CPU_PORTABLE; isa <= CPU_IFMA; isa++) {
        if (strcmp(wish, isa_names[isa]) != 0) continue;
        if (isa > best)
            return error_set(err, CUZK_ERR_USAGE, "CUZK_ISA", CUZK_NO_OFFSET,
                             "this processor cannot run '%s'; the best it has is '%s'", wish,
                             isa_names[best]);
        *out = isa;
        return CUZK_OK;
    }
    return error_set(err, CUZK_ERR_USAGE, "CUZK_ISA", CUZK_NO_OFFSET,
                     "unknown code variant '%s', expected portable, adx or ifma", wish);
}

bool cpu_has_sha(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & (1u << 29));
}
