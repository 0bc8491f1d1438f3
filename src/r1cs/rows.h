/*
 * Constraints as sparse rows: three linear combinations each, whose coefficients are numbers into a table of
 * the distinct ones, since a circuit has few of those.
 */
#ifndef CUZK_R1CS_ROWS_H
#define CUZK_R1CS_ROWS_H

#include "r1cs/lc.h"

#define COEFF_ONE       0u
#define COEFF_MINUS_ONE 1u
#define COEFF_NONE      UINT32_MAX

/* Integers that sums of bits may use without leaving an int. */
#define COEFF_SMALL_MAX 8

typedef struct coefficient {
    fr value;
    int16_t power;  /* k when the value is 2^k, else -1 */
    int8_t integer; /* when is_small */
    bool is_small;  /* an integer of absolute value at most COEFF_SMALL_MAX */
} coefficient;

/* Number 0 is one, number 1 is minus one. Numbers never change. */
typedef struct coefficients {
    coefficient *list;
    uint32_t n, capacity;
    uint32_t *table; /* open addressing; number + 1, or 0 */
    unsigned log_table;
} coefficients;

/* All of these return false when memory is short. */
bool coefficients_init(coefficients *out);
void coefficients_free(coefficients *c);
bool coefficients_add(coefficients *c, const fr *value, uint32_t *number);

typedef struct row_term {
    r1cs_var var;
    uint32_t coeff;
} row_term;

/* Side 0, 1, 2 = A, B, C. Terms are in the order of variables, as in lc.h. */
typedef struct sparse_rows {
    uint32_t n, n_terms;
    uint32_t *ends; /* 3 a row: where side s of row r ends; it begins where the one before it ends */
    row_term *terms;
    uint32_t row_capacity, term_capacity; /* 0: the memory is not owned */
} sparse_rows;

void rows_free(sparse_rows *r);
bool rows_append(sparse_rows *r, coefficients *c, const lc *a, const lc *b, const lc *c_side);

/* The terms of one side. */
typedef struct row_side {
    const row_term *terms;
    uint32_t n;
} row_side;
static inline row_side rows_side(const sparse_rows *r, uint32_t row, unsigned side) {
    size_t i = (size_t)3 * row + side;
    uint32_t begin = i ? r->ends[i - 1] : 0;
    return (row_side){r->terms ? r->terms + begin : NULL, r->ends[i] - begin};
}

/* Is side s of the row this linear combination? */
bool rows_side_equals(const sparse_rows *r, const coefficients *c, uint32_t row, unsigned side, const lc *l);

#endif
