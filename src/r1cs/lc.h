/*
 * Variables and linear combinations with the semantics of bellpepper-core's lc.rs: adding a term whose
 * variable is present adds the coefficients; iteration is all inputs by ascending index, then all aux.
 *
 * Terms are kept sorted by variable number, which is that order. A coefficient that cancels to zero stays
 * stored and is skipped by every consumer (evaluation, densities, digests, parameters). Running out of memory
 * sets `failed`, which lc_clear keeps; the constraint system turns it into an error at the next enforce.
 *
 * An lc owns its terms (lc_free). Adding terms in ascending order is fast: appended at the end, no search.
 */
#ifndef CUZK_R1CS_LC_H
#define CUZK_R1CS_LC_H

#include "field/fr.h"
#include "r1cs/var.h"

typedef struct lc_term {
    r1cs_var var;
    fr coeff;
} lc_term;

typedef struct lc {
    lc_term *terms;
    uint32_t n, capacity;
    bool failed;
} lc;

#define LC_EMPTY ((lc){NULL, 0, 0, false})
static inline bool lc_failed(const lc *l) {
    return l->failed;
}
void lc_free(lc *l); /* leaves LC_EMPTY */
static inline void lc_clear(lc *l) {
    l->n = 0;
} /* keeps the memory */

/* Make room for n terms in all. */
bool lc_reserve(lc *l, uint32_t n);

/* The part of lc_add_term that has to search or grow. */
void lc_insert(lc *l, r1cs_var v, const fr *coeff);

/* l += coeff * v */
static inline void lc_add_term(lc *l, r1cs_var v, const fr *coeff) {
    if (l->n < l->capacity && (l->n == 0 || l->terms[l->n - 1].var < v)) {
        l->terms[l->n].var = v;
        l->terms[l->n++].coeff = *coeff;
    } else {
        lc_insert(l, v, coeff);
    }
}
/* l += v, l -= v */
static inline void lc_add_one(lc *l, r1cs_var v) {
    lc_add_term(l, v, &FR_ONE);
}
static inline void lc_sub_one(lc *l, r1cs_var v) {
    lc_add_term(l, v, &FR_MINUS_ONE);
}

/* l += other, l -= other, l += k * other. `other` is another object than l. k = 0 stores zero coefficients.
 */
void lc_add(lc *l, const lc *other);
void lc_sub(lc *l, const lc *other);
void lc_add_scaled(lc *l, const fr *k, const lc *other);
void lc_scale(lc *l, const fr *k);
void lc_copy(lc *out, const lc *other);

#endif
