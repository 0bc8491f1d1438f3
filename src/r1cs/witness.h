/*
 * The witness of a circuit in compact form: a bit for each variable that is one, 32 bytes for the others. For
 * a 32 GiB PoRep partition, whose full assignment takes 16.7 GB, that is 70 MB. Everything else follows from
 * it and the matrices, at a fraction of the cost of reading it from memory: see expand.h.
 *
 * Parts of the circuit are synthesized at the same time, each into its own place. The gadgets run as always,
 * but blocks are taken over: their variables come from the block type's native witness where there is one.
 * All that the gadgets do is compared with the matrices on the way (the operands of every block, every row
 * outside), so a witness cannot be of another circuit than its matrices.
 */
#ifndef CUZK_R1CS_WITNESS_H
#define CUZK_R1CS_WITNESS_H

#include "base/pool.h"
#include "r1cs/matrices.h"

typedef struct compact_witness {
    const matrices *m;
    fr *inputs;     /* m->shape.inputs, ONE first */
    uint64_t *bits; /* m->n_bits, 0 for a variable that is no bit */
    fr *full;       /* m->n_full, in the order of variables */
} compact_witness;

/* Memory for a witness, to be filled any number of times. *m must outlive it. */
cuzk_code witness_create(compact_witness *out, const matrices *m, cuzk_error *err);
void witness_free(compact_witness *w);
/* What witness_create takes. */
uint64_t witness_bytes(const matrices *m);

/* Synthesize the values of a circuit, which must be the matrices' own: CUZK_ERR_INPUT (for matrices from a
 * file) or CUZK_ERR_INTERNAL if it is another. Progress phase "synthesis". */
cuzk_code witness_fill(compact_witness *w, const r1cs_circuit *circuit, const r1cs_parts *parts, pool *p,
                       const cuzk_progress *progress, cuzk_error *err);

/* The value of a variable. */
void witness_value(fr *out, const compact_witness *w, r1cs_var v);

/* The values that an instance's rows are about. */
typedef struct instance_values {
    const block_template *t;
    const compact_witness *w;
    uint64_t operand_bits[BLOCK_MAX_BITS / 64 + BITS_SLACK]; /* variables, not Booleans: unaffected by NOT */
    fr nums[BLOCK_MAX_NUMS];
    uint64_t first_bit; /* of the local variables, in w->bits */
    const fr *full;     /* the local variables that are no bits */
} instance_values;

/* Gather them; part is the instance's. The local ones need not be there yet. */
void witness_gather(instance_values *out, const compact_witness *w, const matrices_part *part,
                    const block_instance *i);

/* Gathered, the value a reference of the template's program stands for. */
static inline bool instance_bit(const instance_values *v, uint32_t ref) {
    return ref_kind(ref) == REF_OPERAND_BIT ? bits_get(v->operand_bits, ref_index(ref))
                                            : bits_get(v->w->bits, v->first_bit + ref_index(ref));
}
static inline const fr *instance_number(const instance_values *v, uint32_t ref) {
    if (ref_kind(ref) == REF_NUM) return &v->nums[ref_index(ref)];
    if (ref_kind(ref) == REF_FULL) return &v->full[ref_index(ref)];
    return instance_bit(v, ref) ? &FR_ONE : &FR_ZERO;
}

#endif
