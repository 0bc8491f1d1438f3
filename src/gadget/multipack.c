#include "gadget/multipack.h"

#include "r1cs/block.h"

/* Put (sum 2^i bits[i]) * 1 = v into the system's scratch, v to come, and find the value of the sum. */
static void start_packing(cs *system, fr *value, const boolean *bits, size_t n) {
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
    lc_add_one(&system->b, R1CS_ONE);
    fr_repr plain = {{0}};
    fr weight = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        boolean_add_scaled(&system->a, &weight, bits[i]);
        plain.l[i / 64] |= (uint64_t)bits[i].value << i % 64;
        fr_dbl(&weight, &weight);
    }
    fr_from_repr(value, &plain);
}

static void finish_packing(cs *system, r1cs_var v) {
    lc_add_one(&system->c, v);
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static void pack_body(cs *system, const block_call *call) {
    fr value;
    start_packing(system, &value, call->bits, call->n_bits);
    num v = num_alloc(system, &value);
    finish_packing(system, v.var);
    call->out_nums[0] = v;
}

static void pack_witness(block_writer *out, const block_operands *in) {
    fr_repr plain = {{0}};
    memcpy(&plain, in->values, bits_words(in->n_bits) * sizeof *in->values);
    fr_from_repr(block_put_full(out, 1), &plain);
}

static const block_type packing = {"pack", pack_body, pack_witness};

#define PACKING_MIN 8u

num pack_bits(cs *system, const boolean *bits, size_t n) {
    num out = {R1CS_ONE, FR_ZERO};
    const block_call call = {.type = &packing,
                             .bits = bits,
                             .n_bits = (unsigned)(n < FR_CAPACITY ? n : FR_CAPACITY),
                             .out_nums = &out,
                             .n_out_nums = 1};
    if (n < PACKING_MIN) /* of no bits, or one, the result would be a bit itself */
        pack_body(system, &call);
    else
        block_run(system, &call);
    return out;
}

void pack_into_inputs(cs *system, const boolean *bits, size_t n) {
    for (size_t first = 0; first < n; first += FR_CAPACITY) {
        size_t left = n - first;
        fr value;
        start_packing(system, &value, bits + first, left < FR_CAPACITY ? left : FR_CAPACITY);
        finish_packing(system, cs_alloc_input(system, &value));
    }
}

void uint64_alloc(cs *system, boolean bits[64], uint64_t value) {
    for (unsigned i = 0; i < 64; i++) {
        cs_enter(system, "allocated bit %u", i);
        bits[i] = boolean_alloc(system, value >> i & 1);
        cs_leave(system);
    }
}

void reverse_bit_numbering(boolean *out, const boolean *in, size_t n) {
    for (size_t first = 0; first < n; first += 8)
        for (size_t i = 0; i < 8; i++) {
            size_t from = first + 7 - i;
            out[first + i] = from < n ? in[from] : boolean_constant(false);
        }
}
