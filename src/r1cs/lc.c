/*
 * Sorted arrays of terms. Sums merge from the back into the array itself: one pass counts the variables that
 * are new, then the terms move to their final places, each at most once.
 */
#include "r1cs/lc.h"

#include <stdlib.h>

#define LC_MAX_TERMS (UINT32_MAX / 2)

void lc_free(lc *l) {
    free(l->terms);
    *l = LC_EMPTY;
}

bool lc_reserve(lc *l, uint32_t n) {
    if (n <= l->capacity) return true;
    uint32_t capacity = l->capacity ? l->capacity : 8;
    while (capacity < n && capacity < LC_MAX_TERMS) capacity *= 2;
    lc_term *terms = capacity < n ? NULL : realloc(l->terms, capacity * sizeof *terms);
    if (!terms) {
        l->failed = true;
        return false;
    }
    l->terms = terms;
    l->capacity = capacity;
    return true;
}

void lc_insert(lc *l, r1cs_var v, const fr *coeff) {
    uint32_t low = 0, high = l->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->terms[middle].var < v)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < l->n && l->terms[low].var == v) {
        fr_add(&l->terms[low].coeff, &l->terms[low].coeff, coeff);
        return;
    }
    fr value = *coeff; /* it may lie in the memory that moves */
    if (!lc_reserve(l, l->n + 1)) return;
    memmove(&l->terms[low + 1], &l->terms[low], (l->n - low) * sizeof *l->terms);
    l->terms[low].var = v;
    l->terms[low].coeff = value;
    l->n++;
}

typedef enum { PLUS, MINUS, SCALED } merge_kind;

static inline void scaled(fr *out, const fr *a, merge_kind kind, const fr *k) {
    if (kind == PLUS)
        *out = *a;
    else if (kind == MINUS)
        fr_neg(out, a);
    else
        fr_mul(out, a, k);
}

/* Inlined for each kind, so that the choice costs nothing per term. */
static inline __attribute__((always_inline)) void merge(lc *l, const lc *other, merge_kind kind,
                                                        const fr *k) {
    l->failed |= other->failed;
    uint32_t fresh = 0, i = 0;
    for (uint32_t j = 0; j < other->n; j++) {
        while (i < l->n && l->terms[i].var < other->terms[j].var) i++;
        fresh += i == l->n || l->terms[i].var != other->terms[j].var;
    }
    if (!lc_reserve(l, l->n + fresh)) return;
    lc_term *out = l->terms + l->n + fresh;
    lc_term *mine = l->terms + l->n;
    l->n += fresh;
    for (const lc_term *theirs = other->terms + other->n; theirs > other->terms;) {
        r1cs_var v = (--theirs)->var;
        if (fresh)
            while (mine > l->terms && mine[-1].var > v) *--out = *--mine;
        else /* nothing left to move */
            while (mine[-1].var > v) --out, --mine;
        fr value;
        scaled(&value, &theirs->coeff, kind, k);
        --out;
        if (mine > l->terms && mine[-1].var == v) {
            --mine;
            fr_add(&out->coeff, &mine->coeff, &value);
        } else {
            out->coeff = value;
            fresh--;
        }
        out->var = v;
    }
}

void lc_add(lc *l, const lc *other) {
    merge(l, other, PLUS, NULL);
}

void lc_sub(lc *l, const lc *other) {
    merge(l, other, MINUS, NULL);
}

void lc_add_scaled(lc *l, const fr *k, const lc *other) {
    merge(l, other, SCALED, k);
}

void lc_scale(lc *l, const fr *k) {
    for (uint32_t i = 0; i < l->n; i++) fr_mul(&l->terms[i].coeff, &l->terms[i].coeff, k);
}

void lc_copy(lc *out, const lc *other) {
    out->failed |= other->failed;
    if (!lc_reserve(out, other->n)) return;
    if (other->n) memcpy(out->terms, other->terms, other->n * sizeof *other->terms);
    out->n = other->n;
}
