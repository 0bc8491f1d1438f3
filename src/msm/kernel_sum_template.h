/* The part of a kernel that works on the group's own types; see kernel_template.h for the macros. */

static point_status explain(const uint8_t *encoded) {
    AFFINE t;
    return P(decode_unchecked)(&t, encoded);
}

static void sum_clear(msm_sum *sum) {
    P(set_identity)(&sum->SUM);
}
static void sum_dbl(msm_sum *sum) {
    P(dbl)(&sum->SUM, &sum->SUM);
}
static void sum_add(msm_sum *sum, const msm_sum *term) {
    P(add)(&sum->SUM, &sum->SUM, &term->SUM);
}
