/*
 * How to evaluate the constraints of a template quickly. Compiled from its rows alone, without knowledge of
 * the gadget.
 *
 * Nearly all rows of these circuits are over a few bits with small coefficients, and A, B and C take no
 * values but 0, 1, 2 and -1. Such rows become Boolean functions, evaluated for up to 64 rows at once on
 * packed bits: a value is a code of two bits, 0 -> 00, 1 -> 01, 2 -> 10, -1 -> 11 (high bit first), so a run
 * of rows has six planes, a low and a high word for each of A, B and C. Rows make a run when they have one
 * shape and their variables are numbered consecutively, or when two shapes alternate (a run of pairs).
 *
 * That codes are right is proved, not assumed. A row's shape is tabulated over all values of its bits. Those
 * that the row itself, or rows before it that define one of its variables, forbid are left out; if any other
 * gave a value without a code, the row would not be a code row. What is left out is checked whenever the run
 * is evaluated: variables that the others determine must have the value they determine.
 *
 * The other rows are evaluated one by one, each side in the cheapest way: where a row is `L * 1 = v`, as
 * every packing is, a = v needs no look at L, because template rows hold by construction.
 *
 * A variable is a bit if its constraints allow no other value: (1 - v) * v = 0, or one like it, or a row that
 * gives v as a function of bits.
 */
#ifndef CUZK_R1CS_PROGRAM_H
#define CUZK_R1CS_PROGRAM_H

#include "r1cs/rows.h"

/* A reference to a value of an instance: kind in the two top bits. */
#define REF_OPERAND_BIT 0u
#define REF_LOCAL_BIT   1u
#define REF_NUM         2u /* a number among the operands */
#define REF_FULL        3u /* the index-th local variable that is no bit */
#define REF_STRIDE_2    (1u << 29)
static inline uint32_t ref_make(unsigned kind, uint32_t index) {
    return kind << 30 | index;
}
static inline unsigned ref_kind(uint32_t ref) {
    return ref >> 30;
}
static inline uint32_t ref_index(uint32_t ref) {
    return ref & (REF_STRIDE_2 - 1);
}

/* ---- code rows ---- */

enum { PLANE_A = 0, PLANE_B = 2, PLANE_C = 4, PLANE_CHECK = 6, PLANES = 8 }; /* low, then high */
#define SHAPE_MAX_FREE  3u
#define SHAPE_MAX_SLOTS 5u

/* The first `free` variables of a row may have any values; the others they determine. Plane p is the sum
 * modulo 2, over products m of free variables (bit i of m: variable i), of factor[m][p] & the product. Plane
 * PLANE_CHECK + k must equal variable free + k, or zero when there is none. */
typedef struct program_shape {
    uint64_t factor[1 << SHAPE_MAX_FREE][PLANES]; /* all ones or zero */
    unsigned slots, free;
    bool checks; /* there is something to check */
} program_shape;

/* ---- other rows ---- */

typedef enum side_kind {
    SIDE_ZERO,
    SIDE_ONE,
    SIDE_VALUE,  /* the variable `first` */
    SIDE_SUM,    /* constant + sum of coefficient * variable */
    SIDE_LADDER, /* sum of 2^i * bit: segments of consecutive bits, weights all different, below 2^254 */
    SIDE_AS_A,
    SIDE_AS_C
} side_kind;

typedef struct full_side {
    uint8_t kind;
    uint32_t constant; /* of a sum: number of a coefficient, or COEFF_NONE */
    uint32_t first, n; /* in `terms` or `segments` */
} full_side;

typedef struct full_row {
    full_side side[3];
} full_row;

typedef struct full_term {
    uint32_t ref, coeff;
} full_term;

typedef struct ladder_segment {
    uint32_t ref; /* of its first bit */
    uint16_t weight, length;
} ladder_segment;

/* ---- the program ---- */

typedef enum op_kind { OP_CODES, OP_PAIRS, OP_FULL } op_kind;

typedef struct program_op {
    uint32_t row;   /* the first */
    uint32_t first; /* in `slots`, shape by shape, or the full row */
    uint8_t rows;   /* 1..64; even for pairs */
    uint8_t kind;
    uint8_t shape[2]; /* pairs: of even and of odd rows */
} program_op;

typedef struct program {
    program_op *ops; /* in the order of rows, without gaps */
    uint32_t *slots; /* references of the variables in an op's first row (pairs: first two rows) */
    program_shape *shapes;
    full_row *full;
    full_term *terms;
    ladder_segment *segments;
    uint32_t n_ops, n_slots, n_shapes, n_full, n_terms, n_segments;
} program;

/* What a template's rows are about: variable R1CS_AUX | k is Boolean operand k for k < n_bits, then numbers,
 * then the local variables. */
typedef struct program_source {
    const sparse_rows *rows;
    const coefficients *coefficients;
    uint32_t n_bits, n_nums, n_aux;
} program_source;

/* Compile. full_index has n_aux elements: for every local variable its index among those that are no bits, or
 * UINT32_MAX for a bit. *n_full counts them. False when memory is short. */
bool program_compile(program *out, uint32_t *full_index, uint32_t *n_full, const program_source *in);
void program_free(program *p);

#endif
