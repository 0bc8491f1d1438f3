/* A Boolean as terms of a linear combination; for boolean.c. */
#ifndef CUZK_GADGET_BOOLEAN_TERMS_H
#define CUZK_GADGET_BOOLEAN_TERMS_H

#include "gadget/boolean.h"

/* l += plus * a, where minus = -plus */
static inline void boolean_add_terms(lc *l, const fr *plus, const fr *minus, boolean a) {
    if (a.form == BOOLEAN_IS) {
        lc_add_term(l, a.var, plus);
    } else if (a.form == BOOLEAN_NOT) {
        lc_add_term(l, R1CS_ONE, plus);
        lc_add_term(l, a.var, minus);
    } else if (a.value) {
        lc_add_term(l, R1CS_ONE, plus);
    }
}

#endif
