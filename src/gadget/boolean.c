#include "gadget/boolean.h"

#include "gadget/boolean_terms.h"

static const fr TWO = {{0x00000003fffffffcu, 0xb1096ff400069004u, 0x33189fdfd9789feau, 0x304962b3598a0adfu}};
static const fr MINUS_TWO = {
    {0xfffffffb00000005u, 0xa2b4340efff7cbfau, 0x002138283029381au, 0x43a4449fd0137269u}};

static const fr *bit_value(bool value) {
    return value ? &FR_ONE : &FR_ZERO;
}

/* A new variable in form IS. */
static boolean alloc_bit(cs *system, bool value) {
    return (boolean){cs_alloc(system, bit_value(value)), BOOLEAN_IS, value};
}

void boolean_add_to(lc *l, boolean a) {
    boolean_add_terms(l, &FR_ONE, &FR_MINUS_ONE, a);
}

void boolean_sub_from(lc *l, boolean a) {
    boolean_add_terms(l, &FR_MINUS_ONE, &FR_ONE, a);
}

void boolean_add_scaled(lc *l, const fr *coeff, boolean a) {
    fr minus;
    fr_neg(&minus, coeff);
    boolean_add_terms(l, coeff, &minus, a);
}

/* Clear the scratch combinations of the system. */
static inline void clear(cs *system) {
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
}

static inline void enforce(cs *system) {
    cs_enforce(system, &system->a, &system->b, &system->c);
}

boolean boolean_alloc(cs *system, bool value) {
    boolean v = alloc_bit(system, value);
    clear(system);
    lc_add_one(&system->a, R1CS_ONE);
    lc_sub_one(&system->a, v.var);
    lc_add_one(&system->b, v.var);
    enforce(system);
    return v;
}

boolean boolean_alloc_unless(cs *system, bool value, boolean m) {
    boolean v = alloc_bit(system, value);
    clear(system);
    lc_add_one(&system->a, R1CS_ONE);
    lc_sub_one(&system->a, m.var);
    lc_sub_one(&system->a, v.var);
    lc_add_one(&system->b, v.var);
    enforce(system);
    return v;
}

/* z = x xor y for two variables: (x + x) * y = x + y - z */
static boolean xor_bits(cs *system, r1cs_var x, r1cs_var y, bool value) {
    boolean z = alloc_bit(system, value);
    clear(system);
    lc_add_term(&system->a, x, &TWO);
    lc_add_one(&system->b, y);
    lc_add_one(&system->c, x);
    lc_add_one(&system->c, y);
    lc_sub_one(&system->c, z.var);
    enforce(system);
    return z;
}

boolean boolean_xor(cs *system, boolean a, boolean b) {
    if (boolean_is_constant(a)) return a.value ? boolean_not(b) : b;
    if (boolean_is_constant(b)) return b.value ? boolean_not(a) : a;
    bool value = a.value != b.value;
    if (a.form == b.form) return xor_bits(system, a.var, b.var, value);
    boolean is = a.form == BOOLEAN_IS ? a : b, not = a.form == BOOLEAN_IS ? b : a;
    return boolean_not(xor_bits(system, is.var, not .var, !value));
}

boolean boolean_and(cs *system, boolean a, boolean b) {
    if (boolean_is_constant(a)) return a.value ? b : a;
    if (boolean_is_constant(b)) return b.value ? a : b;
    if (a.form == BOOLEAN_NOT && b.form == BOOLEAN_IS) { /* the operand in form IS comes first */
        boolean swap = a;
        a = b;
        b = swap;
    }
    boolean z = alloc_bit(system, a.value && b.value);
    clear(system);
    boolean_add_to(&system->a, a);
    boolean_add_to(&system->b, b);
    lc_add_one(&system->c, z.var);
    enforce(system);
    return z;
}

static bool is_false(boolean a) {
    return boolean_is_constant(a) && !a.value;
}
static bool is_true(boolean a) {
    return boolean_is_constant(a) && a.value;
}

boolean boolean_ch(cs *system, boolean a, boolean b, boolean c) {
    bool value = a.value ? b.value : c.value;
    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(c))
        return boolean_constant(value);
    if (is_false(a)) return c;
    if (is_false(b)) return boolean_and(system, boolean_not(a), c);
    if (is_false(c)) return boolean_and(system, a, b);
    if (is_true(c)) return boolean_not(boolean_and(system, a, boolean_not(b)));
    if (is_true(b)) return boolean_not(boolean_and(system, boolean_not(a), boolean_not(c)));
    /* (b - c) * a = h - c */
    boolean h = alloc_bit(system, value);
    clear(system);
    boolean_add_to(&system->a, b);
    boolean_sub_from(&system->a, c);
    boolean_add_to(&system->b, a);
    boolean_sub_from(&system->c, c);
    lc_add_one(&system->c, h.var);
    enforce(system);
    return h;
}

boolean boolean_maj(cs *system, boolean a, boolean b, boolean c) {
    bool value = a.value + b.value + c.value >= 2;
    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(c))
        return boolean_constant(value);
    if (is_false(a)) return boolean_and(system, b, c);
    if (is_false(b)) return boolean_and(system, a, c);
    if (is_false(c)) return boolean_and(system, a, b);
    if (is_true(c)) return boolean_not(boolean_and(system, boolean_not(a), boolean_not(b)));
    if (is_true(b)) return boolean_not(boolean_and(system, boolean_not(a), boolean_not(c)));
    if (is_true(a)) return boolean_not(boolean_and(system, boolean_not(b), boolean_not(c)));
    /* With t = b and c: (2 t - b - c) * a = t - m. m comes before t. */
    boolean m = alloc_bit(system, value);
    boolean t = boolean_and(system, b, c);
    clear(system);
    boolean_sub_from(&system->a, b);
    boolean_sub_from(&system->a, c);
    boolean_add_terms(&system->a, &TWO, &MINUS_TWO, t);
    boolean_add_to(&system->b, a);
    lc_sub_one(&system->c, m.var);
    boolean_add_to(&system->c, t);
    enforce(system);
    return m;
}
