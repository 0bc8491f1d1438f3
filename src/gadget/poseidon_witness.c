#include "gadget/poseidon_witness.h"

/* The variables of the circuit are what a trace holds. */
void poseidon_block_witness(block_writer *out, const block_operands *in) {
    const poseidon_constants *c = poseidon_for(poseidon_parameter_arity(in->parameter));
    poseidon_trace(block_put_full(out, poseidon_trace_size(c)), c, poseidon_parameter_tag(in->parameter),
                   in->nums);
}
