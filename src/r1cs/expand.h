/*
 * The values of A, B and C, and the witness in full, for any range of rows or variables, from matrices and a
 * compact witness. Two ways that agree bit for bit: by the templates' programs (fast), or by multiplying the
 * recorded sparse rows with the witness, one term at a time (obvious).
 *
 * Programs rely on the template rows to hold, which they do for every witness that witness_fill made; what
 * they can check of it they check on the way, for nothing: the result says whether all was well. Rows outside
 * blocks are always evaluated as they stand, so whatever is wrong with a circuit's inputs shows in the values
 * as it should.
 */
#ifndef CUZK_R1CS_EXPAND_H
#define CUZK_R1CS_EXPAND_H

#include "r1cs/witness.h"

typedef enum expansion_path { EXPAND_TEMPLATES, EXPAND_PRODUCTS } expansion_path;

/* Rows first .. first + n of the circuit (without the final input rows) to a[0..n), b[0..n), c[0..n), each
 * unless NULL. `stream` writes around the caches: for vectors larger than those; a, b, c are then 64-byte
 * aligned where `first` is even. False: a self-check failed, the witness or the memory is damaged. */
bool expand_rows(const compact_witness *w, expansion_path path, uint64_t first, size_t n, fr *a, fr *b, fr *c,
                 bool stream);

/* The self-checks alone, on codes, of all blocks that begin in the range. */
bool expand_check(const compact_witness *w, uint64_t first, size_t n);

/* Aux variables first .. first + n to out[0..n), Montgomery form. `stream` as above, for `out`. */
void expand_aux(const compact_witness *w, uint32_t first, size_t n, fr *out, bool stream);

/* The values as codes, 64 rows a word from bit 0 on: plane 0 and 1 are the low and high bits for A, 2 and 3
 * for B, 4 and 5 for C (codes as in program.h); bit i of *full marks rows without codes (code 0). n <= 64. */
bool expand_codes(const compact_witness *w, uint64_t first, unsigned n, uint64_t planes[6], uint64_t *full);

#endif
