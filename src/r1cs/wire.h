/*
 * What gadgets hand to each other: Booleans and numbers, that is, variables with their values, and the forms
 * in which they enter linear combinations. The gadgets themselves are in gadget/boolean.h and gadget/num.h.
 */
#ifndef CUZK_R1CS_WIRE_H
#define CUZK_R1CS_WIRE_H

#include "r1cs/lc.h"

/* A constant, a bit, or the negation of a bit. As a linear combination it is 0 or 1, v, or 1 - v. */
typedef enum boolean_form { BOOLEAN_CONSTANT, BOOLEAN_IS, BOOLEAN_NOT } boolean_form;

typedef struct boolean {
    r1cs_var var; /* of IS and NOT */
    uint8_t form; /* boolean_form */
    bool value;   /* of the Boolean itself; meaningless for IS and NOT in a structure-only system */
} boolean;

/* A field element as a variable. In a structure-only system the value is zero and not looked at. */
typedef struct num {
    r1cs_var var;
    fr value;
} num;

#endif
