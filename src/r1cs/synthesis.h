/*
 * From a circuit to its assignment, in one of three ways that give the same bit for bit:
 *   generic    the gadgets' constraints are evaluated one by one as they come (assignment_create);
 *   products   the witness is made from blocks (witness.h), then multiplied with the recorded matrices;
 *   templates  the same witness, evaluated by the templates' programs: the fast one, the default.
 */
#ifndef CUZK_R1CS_SYNTHESIS_H
#define CUZK_R1CS_SYNTHESIS_H

#include "r1cs/assignment.h"
#include "r1cs/expand.h"

typedef enum synthesis_path { SYNTHESIS_TEMPLATES, SYNTHESIS_PRODUCTS, SYNTHESIS_GENERIC } synthesis_path;

/* What is worth keeping from one synthesis to the next of the same circuit. Zero it before the first use; for
 * one thread at a time. */
typedef struct synthesizer {
    matrices *m;       /* of the circuit synthesized last, or given (matrices_open) */
    compact_witness w; /* its memory */
} synthesizer;
void synthesizer_free(synthesizer *s);

/*
 * Synthesize with values. The vectors that *out has (from an earlier synthesis of this circuit) are used
 * again, which saves touching new memory; the others are allocated. Zero *out before its first use.
 * `kept` may be NULL. Progress phases "matrices" (the first time) and "synthesis". CUZK_ERR_INTERNAL: a
 * self-check failed. On error nothing is left allocated in *out.
 */
cuzk_code synthesize(assignment *out, synthesizer *kept, const r1cs_circuit *circuit, const r1cs_parts *parts,
                     synthesis_path path, pool *p, const cuzk_progress *progress, cuzk_error *err);

/* Big buffers that a synthesis of this shape needs besides the assignment, about. */
uint64_t synthesis_bytes(const r1cs_shape *shape);

/* The assignment of a compact witness: its second half. */
cuzk_code assignment_expand(assignment *out, const compact_witness *w, expansion_path path, pool *p,
                            cuzk_error *err);

#endif
