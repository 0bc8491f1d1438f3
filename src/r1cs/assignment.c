/* The sink that evaluates. */
#include "r1cs/assignment.h"

#include "base/mem.h"
#include "r1cs/density.h"
#include "r1cs/evaluate.h"

typedef struct assignment_cs {
    cs base;
    assignment *out;
} assignment_cs;

unsigned assignment_log_domain(const r1cs_shape *shape) {
    unsigned log = 0;
    while (log < 63 && ((uint64_t)1 << log) < shape->constraints + shape->inputs) log++;
    return log;
}

uint64_t assignment_bytes(const r1cs_shape *shape) {
    uint64_t domain = (uint64_t)1 << assignment_log_domain(shape);
    uint64_t elements = 3 * domain + shape->inputs + shape->aux;
    return elements * sizeof(fr) +
           (2 * density_words(shape->aux) + density_words(shape->inputs)) * sizeof(uint64_t);
}

static void alloc(cs *system, r1cs_var v, const fr *value) {
    assignment *out = ((assignment_cs *)system)->out;
    (r1cs_is_aux(v) ? out->aux : out->inputs)[r1cs_index(v)] = *value;
}

static inline void evaluate(fr *out, const assignment *values, const lc *l) {
    fr sum = FR_ZERO;
    const lc_term *end = l->terms + l->n;
    for (const lc_term *t = l->terms; t < end; t++) {
        const fr *value = r1cs_is_aux(t->var) ? &values->aux[r1cs_index(t->var)] : &values->inputs[t->var];
        evaluate_term(&sum, &t->coeff, value);
    }
    *out = sum;
}

static void enforce(cs *system, const lc *a, const lc *b, const lc *c) {
    assignment *out = ((assignment_cs *)system)->out;
    uint64_t i = system->constraints;
    evaluate(&out->a[i], out, a);
    evaluate(&out->b[i], out, b);
    evaluate(&out->c[i], out, c);
    density_mark(NULL, out->a_aux_density, a);
    density_mark(out->b_input_density, out->b_aux_density, b);
}

/* Every buffer of an assignment, for allocation and release. */
typedef struct buffer {
    void **at;
    size_t bytes;
    const char *what;
} buffer;
#define BUFFERS 8

static void list_buffers(buffer list[BUFFERS], assignment *a) {
    size_t domain = ((size_t)1 << a->log_domain) * sizeof(fr);
    size_t aux_density = density_words(a->shape.aux) * sizeof(uint64_t);
    size_t input_density = density_words(a->shape.inputs) * sizeof(uint64_t);
    const buffer all[BUFFERS] = {
        {(void **)&a->a, domain, "the values of A"},
        {(void **)&a->b, domain, "the values of B"},
        {(void **)&a->c, domain, "the values of C"},
        {(void **)&a->inputs, a->shape.inputs * sizeof(fr), "the inputs"},
        {(void **)&a->aux, a->shape.aux * sizeof(fr), "the witness"},
        {(void **)&a->a_aux_density, aux_density, "the density of A"},
        {(void **)&a->b_input_density, input_density, "the input density of B"},
        {(void **)&a->b_aux_density, aux_density, "the density of B"},
    };
    memcpy(list, all, sizeof all);
}

static void free_buffers(assignment *a, int first, int last) {
    buffer list[BUFFERS];
    list_buffers(list, a);
    for (int i = first; i < last; i++) {
        mem_big_free(*list[i].at, list[i].bytes);
        *list[i].at = NULL;
    }
}

void assignment_free(assignment *a) {
    free_buffers(a, 0, BUFFERS);
    memset(a, 0, sizeof *a);
}

void assignment_free_values(assignment *a) {
    free_buffers(a, 0, 3);
}

static cuzk_code evaluate_circuit(assignment *out, const r1cs_circuit *circuit, const cuzk_progress *progress,
                                  cuzk_error *err) {
    static const cs_ops ops = {alloc, enforce, NULL, NULL};
    assignment_cs system = {.out = out};
    cs_init(&system.base, &ops, true);
    out->inputs[0] = FR_ONE;
    cuzk_code code = cs_run(&system.base, circuit, "synthesis", progress, err);
    cs_free(&system.base);
    if (code != CUZK_OK) return code;
    memcpy(out->a + out->shape.constraints, out->inputs, out->shape.inputs * sizeof(fr));
    out->a_aux_count = density_count(out->a_aux_density, out->shape.aux);
    out->b_input_count = density_count(out->b_input_density, out->shape.inputs);
    out->b_aux_count = density_count(out->b_aux_density, out->shape.aux);
    return CUZK_OK;
}

cuzk_code assignment_allocate(assignment *a, const r1cs_shape *shape, const char *name, cuzk_error *err) {
    if (shape->inputs == 0 || shape->inputs > R1CS_AUX || shape->aux > R1CS_AUX ||
        shape->constraints > (uint64_t)1 << FR_TWO_ADICITY)
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "circuit %s has an impossible shape",
                         name);
    if (a->shape.inputs != shape->inputs || a->shape.aux != shape->aux ||
        a->shape.constraints != shape->constraints)
        assignment_free(a);
    a->shape = *shape;
    a->log_domain = assignment_log_domain(shape);
    buffer list[BUFFERS];
    list_buffers(list, a);
    uint64_t missing = 0;
    for (int i = 0; i < BUFFERS; i++) missing += *list[i].at ? 0 : list[i].bytes;
    cuzk_code code = mem_require(missing, "the circuit's assignment", err);
    for (int i = 0; i < BUFFERS && code == CUZK_OK; i++)
        if (!*list[i].at) code = mem_big_alloc(list[i].at, list[i].bytes, list[i].what, err);
    if (code != CUZK_OK) assignment_free(a);
    return code;
}

cuzk_code assignment_create(assignment *out, const r1cs_circuit *circuit, const cuzk_progress *progress,
                            cuzk_error *err) {
    memset(out, 0, sizeof *out);
    TRY(assignment_allocate(out, &circuit->shape, circuit->name, err));
    cuzk_code code = evaluate_circuit(out, circuit, progress, err);
    if (code != CUZK_OK) assignment_free(out);
    return code;
}

uint64_t assignment_first_unsatisfied(const assignment *a) {
    for (uint64_t i = 0; i < a->shape.constraints; i++) {
        fr product;
        fr_mul(&product, &a->a[i], &a->b[i]);
        if (!fr_eq(&product, &a->c[i])) return i;
    }
    return UINT64_MAX;
}
