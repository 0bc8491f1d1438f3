/*
 * Templates: the structure of a block, recorded once for each way its operands look, by running the block's
 * body with fresh variables.
 */
#ifndef CUZK_R1CS_TEMPLATE_H
#define CUZK_R1CS_TEMPLATE_H

#include "r1cs/block.h"
#include "r1cs/program.h"

/* How a Boolean operand looks. */
typedef enum operand_form { OPERAND_FALSE, OPERAND_TRUE, OPERAND_IS, OPERAND_NOT } operand_form;
static inline operand_form operand_form_of(boolean a) {
    if (a.form == BOOLEAN_CONSTANT) return a.value ? OPERAND_TRUE : OPERAND_FALSE;
    return a.form == BOOLEAN_IS ? OPERAND_IS : OPERAND_NOT;
}
static inline bool operand_is_constant(operand_form f) {
    return f <= OPERAND_TRUE;
}

#define BLOCK_NAME_BYTES 32u

/*
 * Variables of a template: R1CS_AUX | k is Boolean operand k for k < n_bits (unused where constant), then
 * come the numbers among the operands, then the variables of the body ("local" ones). Results refer to them
 * in the same way.
 */
typedef struct block_template {
    char name[BLOCK_NAME_BYTES]; /* of the block's type */
    uint64_t parameter;
    uint32_t n_bits, n_nums, n_out_bits, n_out_nums;
    uint32_t n_aux;    /* local variables */
    uint8_t *forms;    /* n_bits operand_forms */
    boolean *out_bits; /* `value` counts for constants alone */
    r1cs_var *out_nums;
    sparse_rows rows;

    /* What follows from the above. */
    const block_type *type;                /* NULL until a block of that name and structure was seen */
    uint64_t *negated, *constant, *truths; /* of the Boolean operands: bits_words(n_bits) words each */
    uint64_t *a_density, *b_density;       /* of all variables: bits_words(n_bits + n_nums + n_aux) words */
    uint64_t *full;                        /* local variables that are no bits: bits_words(n_aux) words */
    uint32_t *full_index;                  /* n_aux: index among those, or UINT32_MAX */
    uint32_t n_full;
    program program;
} block_template;

static inline uint32_t template_operands(const block_template *t) {
    return t->n_bits + t->n_nums;
}

/* Record the structure of `call`, whose operands' variables and values do not matter. */
cuzk_code template_record(block_template *out, coefficients *c, const block_call *call, cuzk_error *err);

/* Fill in what follows from the rest (template_record does). The rows' variables and coefficients must be in
 * their ranges. */
cuzk_code template_derive(block_template *t, const coefficients *c, cuzk_error *err);

/* Is `call` of this template's type and shape, with operands of the same forms? */
bool template_fits(const block_template *t, const block_call *call);

/* Do two templates, each with its coefficients, say the same? */
bool template_equal(const block_template *a, const coefficients *a_coefficients, const block_template *b,
                    const coefficients *b_coefficients);

void template_free(block_template *t);

#endif
