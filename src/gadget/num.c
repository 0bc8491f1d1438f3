#include "gadget/num.h"

#include "r1cs/block.h"

/* Clear the scratch combinations and put `1` into B. */
static void clear_times_one(cs *system) {
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
    lc_add_one(&system->b, R1CS_ONE);
}

static void enforce(cs *system) {
    cs_enforce(system, &system->a, &system->b, &system->c);
}

num num_alloc(cs *system, const fr *value) {
    num out = {.value = system->witness && value ? *value : FR_ZERO};
    out.var = cs_alloc(system, value);
    return out;
}

void num_inputize(cs *system, const num *a) {
    r1cs_var input = cs_alloc_input(system, &a->value);
    clear_times_one(system);
    lc_add_one(&system->a, input);
    lc_add_one(&system->c, a->var);
    enforce(system);
}

num num_mul(cs *system, const num *a, const num *b) {
    fr value = FR_ZERO;
    if (system->witness) fr_mul(&value, &a->value, &b->value);
    num product = num_alloc(system, &value);
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
    lc_add_one(&system->a, a->var);
    lc_add_one(&system->b, b->var);
    lc_add_one(&system->c, product.var);
    enforce(system);
    return product;
}

num num_square(cs *system, const num *a) {
    return num_mul(system, a, a);
}

num num_add(cs *system, const num *a, const num *b) {
    fr value;
    fr_add(&value, &a->value, &b->value);
    num sum = num_alloc(system, &value);
    clear_times_one(system);
    lc_add_one(&system->a, a->var);
    lc_add_one(&system->a, b->var);
    lc_add_one(&system->c, sum.var);
    enforce(system);
    return sum;
}

num num_sub(cs *system, const num *a, const num *b) {
    fr value;
    fr_sub(&value, &a->value, &b->value);
    num difference = num_alloc(system, &value);
    clear_times_one(system);
    lc_add_one(&system->a, b->var);
    lc_add_one(&system->a, difference.var);
    lc_add_one(&system->c, a->var);
    enforce(system);
    return difference;
}

void num_enforce_equal(cs *system, const num *a, const num *b) {
    clear_times_one(system);
    lc_add_one(&system->a, a->var);
    lc_add_one(&system->c, b->var);
    enforce(system);
}

/* ---- bits ---- */

static void canonical(fr_repr *out, const cs *system, const num *a) {
    *out = (fr_repr){{0}};
    if (system->witness) fr_to_repr(out, &a->value);
}

static bool bit_of(const fr_repr *a, unsigned i) {
    return a->l[i / 64] >> i % 64 & 1;
}

static void alloc_bits(cs *system, boolean bits[FR_BITS], const num *a) {
    fr_repr plain;
    canonical(&plain, system, a);
    for (unsigned i = 0; i < FR_BITS; i++) {
        cs_enter(system, "bit %u", i);
        bits[i] = boolean_alloc(system, bit_of(&plain, i));
        cs_leave(system);
    }
}

/* l += sum 2^i bit_i */
static void add_weighted(lc *l, const boolean bits[FR_BITS]) {
    fr weight = FR_ONE;
    for (unsigned i = 0; i < FR_BITS; i++) {
        boolean_add_scaled(l, &weight, bits[i]);
        fr_dbl(&weight, &weight);
    }
}

/* 0 * 0 = sum 2^i bit_i - a */
static void enforce_unpacking(cs *system, const boolean bits[FR_BITS], const num *a) {
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
    lc_sub_one(&system->c, a->var);
    add_weighted(&system->c, bits);
    enforce(system);
}

/* The last constraint of a decomposition, as a block's parameter. */
enum { SUM_MINUS_A_IS_ZERO, SUM_TIMES_ONE_IS_A };

static void bits_body(cs *system, const block_call *call) {
    const num *a = &call->nums[0];
    boolean *bits = call->out_bits;
    alloc_bits(system, bits, a);
    if (call->parameter == SUM_MINUS_A_IS_ZERO) {
        enforce_unpacking(system, bits, a);
    } else {
        clear_times_one(system);
        add_weighted(&system->a, bits);
        lc_add_one(&system->c, a->var);
        enforce(system);
    }
}

static void bits_witness(block_writer *out, const block_operands *in) {
    fr_repr plain;
    fr_to_repr(&plain, &in->nums[0]);
    for (unsigned i = 0; i < 3; i++) block_put_bits(out, plain.l[i], 64);
    block_put_bits(out, plain.l[3], FR_BITS - 192);
}

static const block_type decomposition = {"num_bits", bits_body, bits_witness};

static void decompose(cs *system, boolean bits[FR_BITS], const num *a, uint64_t last_constraint) {
    block_run(system, &(block_call){.type = &decomposition,
                                    .parameter = last_constraint,
                                    .nums = a,
                                    .n_nums = 1,
                                    .out_bits = bits,
                                    .n_out_bits = FR_BITS});
}

void num_to_bits_le(cs *system, boolean bits[FR_BITS], const num *a) {
    decompose(system, bits, a, SUM_MINUS_A_IS_ZERO);
}

void num_to_allocated_bits(cs *system, boolean bits[FR_BITS], const num *a) {
    decompose(system, bits, a, SUM_TIMES_ONE_IS_A);
}

/* The and of bits[0..n), left to right. */
static boolean and_all(cs *system, const boolean *bits, unsigned n) {
    boolean all = bits[0];
    for (unsigned i = 1; i < n; i++) {
        cs_enter(system, "and %u", i);
        all = boolean_and(system, all, bits[i]);
        cs_leave(system);
    }
    return all;
}

/*
 * From the top, a is compared with r - 1. A run is a group of ones of r - 1, and its result tells that all
 * bits of a were equal to those of r - 1 so far; while that holds, a zero of r - 1 must be a zero of a.
 */
void num_to_bits_le_strict(cs *system, boolean bits[FR_BITS], const num *a) {
    fr_repr plain, limit = FR_MODULUS;
    limit.l[0]--;
    canonical(&plain, system, a);
    boolean run[FR_BITS + 1], equal_so_far = boolean_constant(true);
    unsigned run_length = 0;
    for (unsigned i = FR_BITS; i-- > 0;) {
        bool value = bit_of(&plain, i);
        unsigned position = FR_BITS - 1 - i;
        if (bit_of(&limit, i)) {
            cs_enter(system, "bit %u", position);
            bits[i] = run[run_length++] = boolean_alloc(system, value);
            cs_leave(system);
            continue;
        }
        if (run_length > 0) {
            if (!boolean_is_constant(equal_so_far)) run[run_length++] = equal_so_far;
            cs_enter(system, "run ending at %u", position);
            equal_so_far = and_all(system, run, run_length);
            cs_leave(system);
            run_length = 0;
        }
        cs_enter(system, "bit %u", position);
        bits[i] = boolean_alloc_unless(system, value, equal_so_far);
        cs_leave(system);
    }
    enforce_unpacking(system, bits, a);
}
