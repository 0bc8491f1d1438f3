/*
 * A circuit's assignment: the values of A, B, C per constraint, the witness, and which variables occur in A
 * and B. This is what a Groth16 prover consumes.
 */
#ifndef CUZK_R1CS_ASSIGNMENT_H
#define CUZK_R1CS_ASSIGNMENT_H

#include "r1cs/cs.h"

typedef struct assignment {
    r1cs_shape shape;
    unsigned log_domain; /* assignment_log_domain(&shape) */
    /* 2^log_domain elements each: the constraints in order, then for every input i the constraint
     * input_i * 0 = 0 (a = value of the input, b = c = 0), then zeros. Montgomery form. Each vector of field
     * elements here is a mem_big_alloc of its own, so that a consumer can free them one by one. */
    fr *a, *b, *c;
    bool padded; /* a, b and c hold what is said above beyond the constraints: whoever changes that clears it
                  */
    fr *inputs, *aux; /* shape.inputs (the first is one) and shape.aux values, Montgomery form */
    /* Bit v of word v/64: does the variable occur with a nonzero coefficient in some A (every input does, by
     * the final constraints) or B. */
    uint64_t *a_aux_density, *b_input_density, *b_aux_density;
    size_t a_aux_count, b_input_count, b_aux_count;
} assignment;

/* The log2 of the domain of a circuit: 2^log >= constraints + inputs. */
unsigned assignment_log_domain(const r1cs_shape *shape);
/* Bytes an assignment of this shape takes. */
uint64_t assignment_bytes(const r1cs_shape *shape);

/* Synthesize with values. A circuit whose sizes differ from its shape is CUZK_ERR_INTERNAL. Progress phase
 * "synthesis". On error nothing is left allocated. */
cuzk_code assignment_create(assignment *out, const r1cs_circuit *circuit, const cuzk_progress *progress,
                            cuzk_error *err);
void assignment_free(assignment *a);
/* Allocate the vectors that a has not, for this shape, zeroed; those of another shape are freed first. */
cuzk_code assignment_allocate(assignment *a, const r1cs_shape *shape, const char *name, cuzk_error *err);
/* Free a, b, c alone (they are no longer needed once h is known). */
void assignment_free_values(assignment *a);

/* The first constraint with a * b != c, or UINT64_MAX when all hold. */
uint64_t assignment_first_unsatisfied(const assignment *a);

#endif
