#include "field/field.h"

#include "field/fp.h"
#include "field/fr.h"

field_table field;

/* Vectors gain nothing on single elements, so the IFMA variant has the ADX kernels. */
static const field_table *const variants[] = {
    [CPU_PORTABLE] = &field_portable, [CPU_ADX] = &field_adx, [CPU_IFMA] = &field_adx};

void field_select(cpu_isa isa) {
    field = *variants[isa];
    field.isa = isa;
}

/* Before main: whoever does not call field_init still computes, in portable C. */
__attribute__((constructor)) static void start_portable(void) {
    field_select(CPU_PORTABLE);
}

cuzk_code field_init(cuzk_error *err) {
    cpu_isa isa;
    cuzk_code code = cpu_choose(&isa, err);
    if (code == CUZK_OK) field_select(isa);
    return code;
}
