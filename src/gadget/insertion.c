#include "gadget/insertion.h"

#include "r1cs/block.h"

num num_pick(cs *system, boolean condition, const num *a, const num *b) {
    num out = num_alloc(system, condition.value ? &a->value : &b->value);
    lc_clear(&system->a);
    lc_clear(&system->b);
    lc_clear(&system->c);
    lc_add_one(&system->a, b->var);
    lc_sub_one(&system->a, a->var);
    boolean_add_to(&system->b, condition);
    lc_add_one(&system->c, b->var);
    lc_sub_one(&system->c, out.var);
    cs_enforce(system, &system->a, &system->b, &system->c);
    return out;
}

static num pick(cs *system, const char *name, boolean condition, const num *a, const num *b) {
    cs_enter(system, "%s", name);
    num out = num_pick(system, condition, a, b);
    cs_leave(system);
    return out;
}

num num_select(cs *system, num *list, const boolean *bits, unsigned n_bits) {
    for (unsigned i = n_bits; i-- > 0;)
        for (size_t j = 0, half = (size_t)1 << i; j < half; j++)
            list[j] = num_pick(system, bits[i], &list[half + j], &list[j]);
    return list[0];
}

static void insert_2(cs *system, num *out, const num *x, const boolean *bits, const num *s) {
    out[0] = pick(system, "p0", bits[0], &s[0], x);
    out[1] = pick(system, "p1", bits[0], x, &s[0]);
}

static void insert_4(cs *system, num *out, const num *x, const boolean *bits, const num *s) {
    boolean b0 = bits[0], b1 = bits[1];
    const num *b = &s[0], *c = &s[1], *d = &s[2];
    num t;
    t = pick(system, "p0_x0", b0, b, x);
    out[0] = pick(system, "p0", b1, b, &t);
    t = pick(system, "p1_x0", b0, x, b);
    out[1] = pick(system, "p1", b1, c, &t);
    t = pick(system, "p2_x1", b0, d, x);
    out[2] = pick(system, "p2", b1, &t, c);
    t = pick(system, "p3_x1", b0, x, d);
    out[3] = pick(system, "p3", b1, &t, d);
}

static void insert_8(cs *system, num *out, const num *x, const boolean *bits, const num *s) {
    boolean b0 = bits[0], b1 = bits[1], b2 = bits[2];
    const num *b = &s[0], *c = &s[1], *d = &s[2], *e = &s[3], *f = &s[4], *g = &s[5], *h = &s[6];
    num t;
    cs_enter(system, "b0 nor b1");
    boolean neither = boolean_and(system, boolean_not(b0), boolean_not(b1));
    cs_leave(system);
    cs_enter(system, "b0 and b1");
    boolean both = boolean_and(system, b0, b1);
    cs_leave(system);

    t = pick(system, "p0_xx0", neither, x, b);
    out[0] = pick(system, "p0", b2, b, &t);

    t = pick(system, "p1_x00", b0, x, b);
    t = pick(system, "p1_xx0", b1, c, &t);
    out[1] = pick(system, "p1", b2, c, &t);

    t = pick(system, "p2_x10", b0, d, x);
    t = pick(system, "p2_xx0", b1, &t, c);
    out[2] = pick(system, "p2", b2, d, &t);

    t = pick(system, "p3_xx0", both, x, d);
    out[3] = pick(system, "p3", b2, e, &t);

    t = pick(system, "p4_xx1", neither, x, f);
    out[4] = pick(system, "p4", b2, &t, e);

    t = pick(system, "p5_x01", b0, x, f);
    t = pick(system, "p5_xx1", b1, g, &t);
    out[5] = pick(system, "p5", b2, &t, f);

    t = pick(system, "p6_x11", b0, h, x);
    t = pick(system, "p6_xx1", b1, &t, g);
    out[6] = pick(system, "p6", b2, &t, g);

    t = pick(system, "p7_xx1", both, x, h);
    out[7] = pick(system, "p7", b2, &t, h);
}

/* Numbers: x, then its siblings. */
static void insert_body(cs *system, const block_call *call) {
    const num *x = &call->nums[0], *siblings = &call->nums[1];
    switch (call->n_nums) {
    case 2:
        insert_2(system, call->out_nums, x, call->bits, siblings);
        break;
    case 4:
        insert_4(system, call->out_nums, x, call->bits, siblings);
        break;
    default:
        insert_8(system, call->out_nums, x, call->bits, siblings);
    }
}

static const block_type insertion = {"insert", insert_body, NULL};

void num_insert(cs *system, num *out, const num *x, const boolean *bits, const num *siblings,
                unsigned arity) {
    if (arity != 2 && arity != 4 && arity != 8) {
        cs_fail(system, CUZK_ERR_INTERNAL, "no insertion of arity %u", arity);
        return;
    }
    num numbers[INSERT_MAX_ARITY];
    numbers[0] = *x;
    memcpy(&numbers[1], siblings, (arity - 1) * sizeof *siblings);
    block_run(system, &(block_call){.type = &insertion,
                                    .bits = bits,
                                    .n_bits = (unsigned)__builtin_ctz(arity),
                                    .nums = numbers,
                                    .n_nums = arity,
                                    .out_nums = out,
                                    .n_out_nums = arity});
}
