#include "r1cs/rows.h"

#include <stdlib.h>

/* Grow an array of elements to hold n, doubling. */
static bool reserve(void **array, uint32_t *capacity, size_t n, size_t element) {
    if (n <= *capacity) return true;
    if (n > UINT32_MAX / 2) return false;
    size_t larger = *capacity ? *capacity : 64;
    while (larger < n) larger *= 2;
    void *memory = realloc(*array, larger * element);
    if (!memory) return false;
    *array = memory;
    *capacity = (uint32_t)larger;
    return true;
}

/* ---- coefficients ---- */

static size_t hash(const fr *value, unsigned log_table) {
    uint64_t mixed = (value->l[0] ^ value->l[1] ^ value->l[2] ^ value->l[3]) * 0x9e3779b97f4a7c15u;
    return mixed >> (64 - log_table);
}

static uint32_t *find_slot(const coefficients *c, const fr *value) {
    size_t mask = ((size_t)1 << c->log_table) - 1, i = hash(value, c->log_table);
    while (c->table[i] && !fr_eq(&c->list[c->table[i] - 1].value, value)) i = (i + 1) & mask;
    return &c->table[i];
}

/* Sets integer, is_small and power from the value. */
static void classify(coefficient *k) {
    fr_repr plain, negative;
    fr minus;
    fr_to_repr(&plain, &k->value);
    fr_neg(&minus, &k->value);
    fr_to_repr(&negative, &minus);
    k->power = -1;
    for (int i = 0, ones = 0; i < 4; i++) {
        ones += __builtin_popcountll(plain.l[i]);
        if (plain.l[i]) k->power = (int16_t)(ones == 1 ? 64 * i + __builtin_ctzll(plain.l[i]) : -1);
    }
    const fr_repr *magnitude = plain.l[3] ? &negative : &plain; /* one of the two is far below 2^192 if any */
    k->is_small =
        !(magnitude->l[1] | magnitude->l[2] | magnitude->l[3]) && magnitude->l[0] <= COEFF_SMALL_MAX;
    k->integer = 0;
    if (k->is_small) k->integer = (int8_t)(plain.l[3] ? -(int)magnitude->l[0] : (int)magnitude->l[0]);
}

static bool grow_table(coefficients *c) {
    uint32_t *larger = calloc((size_t)2 << c->log_table, sizeof *larger);
    if (!larger) return false;
    free(c->table);
    c->table = larger;
    c->log_table++;
    for (uint32_t i = 0; i < c->n; i++) *find_slot(c, &c->list[i].value) = i + 1;
    return true;
}

bool coefficients_init(coefficients *out) {
    *out = (coefficients){.log_table = 10};
    out->table = calloc((size_t)1 << out->log_table, sizeof *out->table);
    uint32_t number;
    return out->table && coefficients_add(out, &FR_ONE, &number) &&
           coefficients_add(out, &FR_MINUS_ONE, &number);
}

void coefficients_free(coefficients *c) {
    free(c->list);
    free(c->table);
    *c = (coefficients){.n = 0};
}

bool coefficients_add(coefficients *c, const fr *value, uint32_t *number) {
    uint32_t *slot = find_slot(c, value);
    if (*slot) {
        *number = *slot - 1;
        return true;
    }
    if (!reserve((void **)&c->list, &c->capacity, (size_t)c->n + 1, sizeof *c->list)) return false;
    *number = c->n;
    c->list[c->n].value = *value;
    classify(&c->list[c->n]);
    *slot = ++c->n;
    return 2 * (uint64_t)c->n <= (uint64_t)1 << c->log_table || grow_table(c);
}

/* ---- rows ---- */

void rows_free(sparse_rows *r) {
    if (r->row_capacity) free(r->ends);
    if (r->term_capacity) free(r->terms);
    *r = (sparse_rows){.n = 0};
}

bool rows_append(sparse_rows *r, coefficients *c, const lc *a, const lc *b, const lc *c_side) {
    const lc *sides[3] = {a, b, c_side};
    size_t terms = (size_t)r->n_terms + a->n + b->n + c_side->n;
    if (!reserve((void **)&r->terms, &r->term_capacity, terms, sizeof *r->terms) ||
        !reserve((void **)&r->ends, &r->row_capacity, 3 * ((size_t)r->n + 1), sizeof *r->ends))
        return false;
    for (unsigned s = 0; s < 3; s++) {
        for (uint32_t i = 0; i < sides[s]->n; i++) {
            const lc_term *t = &sides[s]->terms[i];
            row_term *out = &r->terms[r->n_terms++];
            out->var = t->var;
            if (fr_is_one(&t->coeff))
                out->coeff = COEFF_ONE;
            else if (!coefficients_add(c, &t->coeff, &out->coeff))
                return false;
        }
        r->ends[3 * r->n + s] = r->n_terms;
    }
    r->n++;
    return true;
}

bool rows_side_equals(const sparse_rows *r, const coefficients *c, uint32_t row, unsigned side, const lc *l) {
    row_side s = rows_side(r, row, side);
    if (s.n != l->n) return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (s.terms[i].var != l->terms[i].var || !fr_eq(&c->list[s.terms[i].coeff].value, &l->terms[i].coeff))
            return false;
    return true;
}
