/*
 * Booleans: a constant, an allocated bit, or the negation of one (bellpepper-core gadgets/boolean.rs;
 * negation costs nothing). As a linear combination a Boolean is 0, 1, v or 1 - v.
 *
 * Which variables and constraints an operation makes depends on the forms of its operands and on the values
 * of constants, never on the values of bits. Only boolean_alloc makes a constraint that its bit is 0 or 1.
 */
#ifndef CUZK_GADGET_BOOLEAN_H
#define CUZK_GADGET_BOOLEAN_H

#include "r1cs/cs.h"
#include "r1cs/wire.h"

static inline boolean boolean_constant(bool value) {
    return (boolean){R1CS_ONE, BOOLEAN_CONSTANT, value};
}
static inline bool boolean_is_constant(boolean a) {
    return a.form == BOOLEAN_CONSTANT;
}
static inline boolean boolean_not(boolean a) {
    uint8_t opposite = a.form == BOOLEAN_IS    ? BOOLEAN_NOT
                       : a.form == BOOLEAN_NOT ? BOOLEAN_IS
                                               : BOOLEAN_CONSTANT;
    return (boolean){a.var, opposite, !a.value};
}

/* l += a, l -= a. */
void boolean_add_to(lc *l, boolean a);
void boolean_sub_from(lc *l, boolean a);
/* l += coeff * a */
void boolean_add_scaled(lc *l, const fr *coeff, boolean a);

/* alloc v; (1 - v) * v = 0 */
boolean boolean_alloc(cs *system, bool value);
/* alloc v; (1 - m - v) * v = 0: v must be false where the bit m (form IS) is true */
boolean boolean_alloc_unless(cs *system, bool value, boolean m);

boolean boolean_xor(cs *system, boolean a, boolean b);
boolean boolean_and(cs *system, boolean a, boolean b);
/* SHA-256's functions: a ? b : c, and the majority of three. */
boolean boolean_ch(cs *system, boolean a, boolean b, boolean c);
boolean boolean_maj(cs *system, boolean a, boolean b, boolean c);

#endif
