#include "r1cs/template.h"

#include <stdlib.h>

/* ---- recording ---- */

typedef struct recorder {
    cs base; /* first: the system's address is the recorder's */
    sparse_rows *rows;
    coefficients *coefficients;
} recorder;

static void record_row(cs *system, const lc *a, const lc *b, const lc *c) {
    recorder *r = (recorder *)system;
    if (!rows_append(r->rows, r->coefficients, a, b, c))
        cs_fail(system, CUZK_ERR_RESOURCES, "out of memory for a template");
}

static bool allocate(block_template *t) {
    t->forms = malloc(t->n_bits + 1);
    t->out_bits = calloc((size_t)t->n_out_bits + 1, sizeof *t->out_bits);
    t->out_nums = calloc((size_t)t->n_out_nums + 1, sizeof *t->out_nums);
    return t->forms && t->out_bits && t->out_nums;
}

static void run_body(recorder *r, block_template *t, const block_call *call) {
    boolean bits[BLOCK_MAX_BITS], out_bits[BLOCK_MAX_BITS] = {{0}};
    num nums[BLOCK_MAX_NUMS], out_nums[BLOCK_MAX_NUMS] = {{0}};
    for (uint32_t k = 0; k < t->n_bits; k++) {
        t->forms[k] = (uint8_t)operand_form_of(call->bits[k]);
        bits[k] = call->bits[k];
        if (bits[k].form != BOOLEAN_CONSTANT) bits[k].var = R1CS_AUX | k;
    }
    for (uint32_t k = 0; k < t->n_nums; k++) nums[k] = (num){R1CS_AUX | (t->n_bits + k), FR_ZERO};
    r->base.aux = template_operands(t);
    block_call local = *call;
    local.bits = bits;
    local.nums = nums;
    local.out_bits = out_bits;
    local.out_nums = out_nums;
    call->type->body(&r->base, &local);
    if (r->base.inputs != 1) cs_fail(&r->base, CUZK_ERR_INTERNAL, "block %s allocates an input", t->name);
    t->n_aux = r->base.aux - template_operands(t);
    if (t->n_aux >= REF_STRIDE_2) cs_fail(&r->base, CUZK_ERR_INTERNAL, "block %s is too large", t->name);
    for (uint32_t k = 0; k < t->n_out_bits; k++) t->out_bits[k] = out_bits[k];
    for (uint32_t k = 0; k < t->n_out_nums; k++) t->out_nums[k] = out_nums[k].var;
}

cuzk_code template_record(block_template *out, coefficients *c, const block_call *call, cuzk_error *err) {
    *out = (block_template){.parameter = call->parameter,
                            .n_bits = call->n_bits,
                            .n_nums = call->n_nums,
                            .n_out_bits = call->n_out_bits,
                            .n_out_nums = call->n_out_nums,
                            .type = call->type};
    strncpy(out->name, call->type->name, sizeof out->name - 1);
    if (!allocate(out)) {
        template_free(out);
        return error_no_memory(err, sizeof *out, "a template");
    }
    static const cs_ops ops = {NULL, record_row, NULL, NULL};
    recorder r = {.rows = &out->rows, .coefficients = c};
    cs_init(&r.base, &ops, false);
    run_body(&r, out, call);
    cs_free(&r.base);
    cuzk_code code = r.base.error.code;
    if (code != CUZK_OK && err) *err = r.base.error;
    if (code == CUZK_OK) code = template_derive(out, c, err);
    if (code != CUZK_OK) template_free(out);
    return code;
}

/* ---- what follows ---- */

static void mark(uint64_t *bits, const coefficients *c, row_side s) {
    for (uint32_t i = 0; i < s.n; i++)
        if (r1cs_is_aux(s.terms[i].var) && !fr_is_zero(&c->list[s.terms[i].coeff].value))
            bits_set(bits, r1cs_index(s.terms[i].var));
}

cuzk_code template_derive(block_template *t, const coefficients *c, cuzk_error *err) {
    const size_t operand_words = bits_words(t->n_bits) + 1;
    const size_t words = bits_words((size_t)template_operands(t) + t->n_aux) + BITS_SLACK;
    const size_t aux_words = bits_words(t->n_aux) + BITS_SLACK;
    t->negated = calloc(operand_words, sizeof(uint64_t));
    t->constant = calloc(operand_words, sizeof(uint64_t));
    t->truths = calloc(operand_words, sizeof(uint64_t));
    t->a_density = calloc(words, sizeof(uint64_t));
    t->b_density = calloc(words, sizeof(uint64_t));
    t->full = calloc(aux_words, sizeof(uint64_t));
    t->full_index = malloc(((size_t)t->n_aux + 1) * sizeof(uint32_t));
    if (!t->negated || !t->constant || !t->truths || !t->a_density || !t->b_density || !t->full ||
        !t->full_index)
        return error_no_memory(err, 2 * words * sizeof(uint64_t), "a template");
    for (uint32_t k = 0; k < t->n_bits; k++) {
        if (operand_is_constant(t->forms[k])) bits_set(t->constant, k);
        if (t->forms[k] == OPERAND_TRUE) bits_set(t->truths, k);
        if (t->forms[k] == OPERAND_NOT) bits_set(t->negated, k);
    }
    for (uint32_t row = 0; row < t->rows.n; row++) {
        mark(t->a_density, c, rows_side(&t->rows, row, 0));
        mark(t->b_density, c, rows_side(&t->rows, row, 1));
    }
    const program_source source = {&t->rows, c, t->n_bits, t->n_nums, t->n_aux};
    if (!program_compile(&t->program, t->full_index, &t->n_full, &source))
        return error_no_memory(err, t->rows.n * sizeof(program_op), "a template's program");
    for (uint32_t k = 0; k < t->n_aux; k++)
        if (t->full_index[k] != UINT32_MAX) bits_set(t->full, k);
    return CUZK_OK;
}

void template_free(block_template *t) {
    free(t->forms);
    free(t->out_bits);
    free(t->out_nums);
    rows_free(&t->rows);
    free(t->negated);
    free(t->constant);
    free(t->truths);
    free(t->a_density);
    free(t->b_density);
    free(t->full);
    free(t->full_index);
    program_free(&t->program);
    *t = (block_template){.n_aux = 0};
}

/* ---- comparing ---- */

bool template_fits(const block_template *t, const block_call *call) {
    if (t->parameter != call->parameter || t->n_bits != call->n_bits || t->n_nums != call->n_nums ||
        t->n_out_bits != call->n_out_bits || t->n_out_nums != call->n_out_nums)
        return false;
    if (t->type ? t->type != call->type : strcmp(t->name, call->type->name) != 0) return false;
    unsigned difference = 0;
    for (uint32_t k = 0; k < t->n_bits; k++)
        difference |= (unsigned)operand_form_of(call->bits[k]) ^ t->forms[k];
    return difference == 0;
}

static bool same_results(const block_template *a, const block_template *b) {
    for (uint32_t k = 0; k < a->n_out_bits; k++) {
        const boolean *x = &a->out_bits[k], *y = &b->out_bits[k];
        if (x->form != y->form) return false;
        if (x->form == BOOLEAN_CONSTANT ? x->value != y->value : x->var != y->var) return false;
    }
    for (uint32_t k = 0; k < a->n_out_nums; k++)
        if (a->out_nums[k] != b->out_nums[k]) return false;
    return true;
}

bool template_equal(const block_template *a, const coefficients *a_coefficients, const block_template *b,
                    const coefficients *b_coefficients) {
    if (strcmp(a->name, b->name) != 0 || a->parameter != b->parameter || a->n_bits != b->n_bits ||
        a->n_nums != b->n_nums || a->n_out_bits != b->n_out_bits || a->n_out_nums != b->n_out_nums ||
        a->n_aux != b->n_aux || a->rows.n != b->rows.n || a->rows.n_terms != b->rows.n_terms)
        return false;
    if (memcmp(a->forms, b->forms, a->n_bits) != 0 || !same_results(a, b)) return false;
    if (memcmp(a->rows.ends, b->rows.ends, (size_t)3 * a->rows.n * sizeof *a->rows.ends) != 0) return false;
    for (uint32_t i = 0; i < a->rows.n_terms; i++) {
        const row_term *x = &a->rows.terms[i], *y = &b->rows.terms[i];
        if (x->var != y->var ||
            !fr_eq(&a_coefficients->list[x->coeff].value, &b_coefficients->list[y->coeff].value))
            return false;
    }
    return true;
}
