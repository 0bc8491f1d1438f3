/*
 * The matrices A, B, C of a whole circuit, in factored form: templates, where each instance of one lies and
 * what its operands are, and the rows in between, which belong to no block. A 32 GiB PoRep circuit, 130
 * million rows with 700 million terms, takes some 30 MB in this form and is extracted in a fraction of a
 * second.
 *
 * Everything here is structure: it is made once per circuit, from a structure-only synthesis or a file, and
 * shared, read-only, by any number of witnesses (witness.h).
 *
 * Rows and variables are numbered as in the circuit. The variables of a part that are bits are packed; the
 * others are held apart. Where a variable's value lies in a witness follows from here:
 *   bit   of aux v of part p: bit number p->bits + (v - p->start.aux) of the witness's bits,
 *   other of aux v: element matrices_rank(...) of its full elements.
 */
#ifndef CUZK_R1CS_MATRICES_H
#define CUZK_R1CS_MATRICES_H

#include "r1cs/parts.h"
#include "r1cs/template.h"

/* An occurrence of a template. Its operands are words of `operands`: the number of segments; per segment two
 * words, position | count << 16 and the variable of the first of `count` Boolean operands from that position
 * on that are consecutive variables, all aux (constants are in no segment); then the variable of each number
 * (aux too). Variables are without R1CS_AUX. */
typedef struct block_instance {
    uint64_t row; /* the first */
    uint32_t template_number;
    uint32_t aux;      /* the first local variable */
    uint32_t operands; /* index of the first word */
    uint32_t residual; /* rows outside blocks before it, in the whole circuit */
} block_instance;

typedef struct matrices_part {
    r1cs_shape start;             /* inputs, variables and rows before the part */
    uint32_t instances, residual; /* instances, and rows outside blocks, before the part */
    /* What follows from the rest. */
    uint64_t bits; /* number of the part's first bit, a multiple of MATRICES_RANK_BITS */
    uint64_t full; /* full elements before the part */
} matrices_part;

#define MATRICES_RANK_BITS 512u

typedef struct matrices {
    char name[BLOCK_NAME_BYTES]; /* of the circuit */
    r1cs_shape shape;
    coefficients coefficients;

    block_template *templates;
    uint32_t n_templates;
    block_instance *instances;
    uint32_t n_instances;
    uint32_t *operands;
    uint32_t n_operands;
    sparse_rows residual; /* rows outside blocks, in order; over the circuit's variables */
    matrices_part *parts; /* n_parts + 1: the last one is the end */
    uint32_t n_parts;

    /* What follows from the above. */
    uint64_t n_bits, n_full; /* of a witness */
    uint64_t *full;          /* n_bits: the variable is no bit */
    uint32_t *rank;          /* full elements before each MATRICES_RANK_BITS bits */
    uint64_t *a_aux_density, *b_input_density, *b_aux_density;
    size_t a_aux_count, b_input_count, b_aux_count;

    bool from_file;        /* then a template is compared with its block when that is first met */
    _Atomic bool *checked; /* per template: is what its block makes */
    uint32_t capacity[4];  /* of templates, instances, operands, parts; 0: the memory is not owned */
    void *memory;          /* what the arrays stand in when they were read from a file, or NULL */
    size_t memory_bytes;
} matrices;

/* Synthesize the structure of `circuit` (of its parts, unless NULL). Blocks whose operands are not all
 * different variables, or whose Booleans are not yet constrained to be bits, are taken as ordinary rows.
 * Progress phase "matrices". *out is the caller's, for matrices_free; NULL after an error. */
cuzk_code matrices_create(matrices **out, const r1cs_circuit *circuit, const r1cs_parts *parts,
                          const cuzk_progress *progress, cuzk_error *err);
void matrices_free(matrices *m);

/* Fill in what follows from the rest, and check it (every variable, row and count in its range, nothing
 * missing or twice): CUZK_ERR_INPUT with the circuit's name in the message otherwise. */
cuzk_code matrices_derive(matrices *m, cuzk_error *err);

/* Is a row outside blocks (1 - v) * v = 0 for an aux variable v? Then v is a bit. */
bool matrices_is_boolean_row(const matrices *m, uint32_t row, uint32_t *v);

/* Memory held. */
uint64_t matrices_bytes(const matrices *m);

/* The rows as a circuit again, for digests, dumps and key generation: structure only. Namespaces are lost.
 * *m must outlive it. */
void matrices_circuit(r1cs_circuit *out, const matrices *m);

/* The part that a row, or an aux variable, belongs to. */
uint32_t matrices_part_of_row(const matrices *m, uint64_t row);
uint32_t matrices_part_of_aux(const matrices *m, uint32_t aux);

static inline const block_template *matrices_template(const matrices *m, const block_instance *i) {
    return &m->templates[i->template_number];
}
/* Number of an aux variable's bit. */
static inline uint64_t matrices_bit(const matrices_part *p, uint32_t aux) {
    return p->bits + (aux - p->start.aux);
}
/* Full elements before a bit. */
static inline uint64_t matrices_rank(const matrices *m, uint64_t bit) {
    uint64_t word = bit / MATRICES_RANK_BITS * (MATRICES_RANK_BITS / 64),
             rank = m->rank[bit / MATRICES_RANK_BITS];
    for (; word < bit / 64; word++) rank += (uint64_t)__builtin_popcountll(m->full[word]);
    return rank + (uint64_t)__builtin_popcountll(m->full[word] & bits_mask((unsigned)(bit % 64)));
}

#endif
