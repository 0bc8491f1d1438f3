/* The list of strategies, what needs no template, and running a circuit through one. */
#include "lc_strategy.h"

#include <stdio.h>

#include "base/mem.h"
#include "lc_sink.h"

void lc_sink_alloc(cs *system, r1cs_var v, const fr *value) {
    assignment *out = ((lc_sink *)system)->out;
    (r1cs_is_aux(v) ? out->aux : out->inputs)[r1cs_index(v)] = *value;
}

/* ---- baselines ---- */

static void ignore(cs *system, const lc *a, const lc *b, const lc *c) {
    (void)a, (void)b, (void)c;
    lc_sink_enforced((lc_sink *)system, false);
}

static inline void evaluate(fr *out, const assignment *values, const lc *l) {
    fr sum = FR_ZERO;
    for (const lc_term *t = l->terms, *end = t + l->n; t < end; t++)
        evaluate_term(&sum, &t->coeff,
                      &(r1cs_is_aux(t->var) ? values->aux : values->inputs)[r1cs_index(t->var)]);
    *out = sum;
}

static inline void evaluate_all(lc_sink *s, const lc *a, const lc *b, const lc *c) {
    assignment *out = s->out;
    const uint64_t row = s->base.constraints;
    evaluate(&out->a[row], out, a);
    evaluate(&out->b[row], out, b);
    evaluate(&out->c[row], out, c);
    density_mark(NULL, out->a_aux_density, a);
    density_mark(out->b_input_density, out->b_aux_density, b);
}

static void direct(cs *system, const lc *a, const lc *b, const lc *c) {
    evaluate_all((lc_sink *)system, a, b, c);
    lc_sink_enforced((lc_sink *)system, false);
}

static const lc_strategy baseline_none = {
    "none", "the gadgets alone: nothing is built or evaluated", 0,   true,
    false,  &(const cs_ops){lc_sink_alloc, ignore, NULL, NULL}, NULL};
static const lc_strategy baseline_direct = {
    "direct", "the gadgets' own combinations are evaluated, as --path generic does",
    0,        true,
    false,    &(const cs_ops){lc_sink_alloc, direct, NULL, NULL},
    NULL};

/* ---- scratch: three combinations of lc.h that keep their memory ---- */

static inline __attribute__((always_inline)) void scratch_as(lc_sink *s, const lc *const *terms,
                                                             bool traced) {
    for (unsigned k = 0; k < 3; k++) {
        lc *l = &s->kept[k];
        lc_clear(l);
        for (uint32_t i = 0; i < terms[k]->n; i++)
            lc_add_term(l, terms[k]->terms[i].var, &terms[k]->terms[i].coeff);
        if (traced) {
            lc_trace_write(s->memory.trace, l, sizeof *l);
            lc_trace_write(s->memory.trace, l->terms, l->n * sizeof *l->terms);
            lc_trace_read(s->memory.trace, l->terms, l->n * sizeof *l->terms);
        }
    }
    evaluate_all(s, &s->kept[0], &s->kept[1], &s->kept[2]);
    if (traced) lc_trace_next(s->memory.trace);
    lc_sink_enforced(s, lc_failed(&s->kept[0]) || lc_failed(&s->kept[1]) || lc_failed(&s->kept[2]));
}

static void scratch(cs *system, const lc *a, const lc *b, const lc *c) {
    scratch_as((lc_sink *)system, (const lc *const[]){a, b, c}, false);
}

static void scratch_traced(cs *system, const lc *a, const lc *b, const lc *c) {
    scratch_as((lc_sink *)system, (const lc *const[]){a, b, c}, true);
}

static const lc_strategy lc_strategy_scratch = {"scratch",
                                                "one sorted array that keeps its memory, as r1cs/lc.h",
                                                sizeof(lc),
                                                false,
                                                false,
                                                &(const cs_ops){lc_sink_alloc, scratch, NULL, NULL},
                                                &(const cs_ops){lc_sink_alloc, scratch_traced, NULL, NULL}};

/* ---- the list ---- */

extern const lc_strategy lc_strategy_vec, lc_strategy_pool, lc_strategy_arena, lc_strategy_small_1,
    lc_strategy_small_2, lc_strategy_small_4, lc_strategy_small_8, lc_strategy_vec_in_place,
    lc_strategy_arena_in_place, lc_strategy_small_1_in_place, lc_strategy_small_2_in_place,
    lc_strategy_small_4_in_place, lc_strategy_small_8_in_place, lc_strategy_small_1_zeroed,
    lc_strategy_small_2_zeroed, lc_strategy_small_4_zeroed, lc_strategy_small_8_zeroed,
    lc_strategy_small_1_copied, lc_strategy_small_2_copied, lc_strategy_small_4_copied,
    lc_strategy_small_8_copied;

static const lc_strategy *const all[] = {
    &baseline_none,
    &baseline_direct,
    &lc_strategy_vec,
    &lc_strategy_small_1,
    &lc_strategy_small_2,
    &lc_strategy_small_4,
    &lc_strategy_small_8,
    &lc_strategy_pool,
    &lc_strategy_arena,
    &lc_strategy_scratch,
    &lc_strategy_vec_in_place,
    &lc_strategy_small_1_in_place,
    &lc_strategy_small_2_in_place,
    &lc_strategy_small_4_in_place,
    &lc_strategy_small_8_in_place,
    &lc_strategy_arena_in_place,
    &lc_strategy_small_1_zeroed,
    &lc_strategy_small_2_zeroed,
    &lc_strategy_small_4_zeroed,
    &lc_strategy_small_8_zeroed,
    &lc_strategy_small_1_copied,
    &lc_strategy_small_2_copied,
    &lc_strategy_small_4_copied,
    &lc_strategy_small_8_copied,
};
#define N_ALL (sizeof all / sizeof *all)

const lc_strategy *const *lc_strategies(size_t *n) {
    *n = N_ALL;
    return all;
}

const lc_strategy *lc_strategy_find(const char *name) {
    for (size_t i = 0; i < N_ALL; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

const char *lc_strategy_names(void) {
    static char names[256];
    size_t length = 0;
    for (size_t i = 0; i < N_ALL; i++)
        if (!all[i]->baseline && !all[i]->variant)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                                       all[i]->name);
    return names;
}

/* ---- running ---- */

static cuzk_code run(lc_sink *s, const r1cs_circuit *circuit, uint64_t stop, const cuzk_progress *progress,
                     cuzk_error *err) {
    s->stop = stop ? stop : UINT64_MAX;
    cuzk_error own = {.code = CUZK_OK};
    const cuzk_code code = cs_run(&s->base, circuit, "synthesis", progress, &own);
    const bool stopped = code == CUZK_ERR_CANCELLED && s->base.constraints == stop;
    cs_free(&s->base);
    if (code == CUZK_OK || stopped) return CUZK_OK;
    if (err) *err = own;
    return code;
}

cuzk_code lc_strategy_synthesize(assignment *out, const r1cs_circuit *circuit, const lc_strategy *strategy,
                                 uint64_t stop, lc_trace *trace, const cuzk_progress *progress,
                                 cuzk_error *err) {
    const size_t inputs = density_words(circuit->shape.inputs) * sizeof(uint64_t);
    const size_t aux = density_words(circuit->shape.aux) * sizeof(uint64_t);
    TRY(assignment_allocate(out, &circuit->shape, circuit->name, err));
    memset(out->a_aux_density, 0, aux);
    memset(out->b_aux_density, 0, aux);
    memset(out->b_input_density, 0, inputs);
    lc_sink s = {.out = out, .memory.trace = trace, .kept = {LC_EMPTY, LC_EMPTY, LC_EMPTY}};
    cs_init(&s.base, trace && strategy->traced ? strategy->traced : strategy->ops, true);
    out->inputs[0] = FR_ONE;
    cuzk_code code = run(&s, circuit, stop, progress, err);
    for (unsigned k = 0; k < 3; k++) lc_free(&s.kept[k]);
    lc_memory_free(&s.memory);
    if (code == CUZK_OK && trace && trace->failed) code = error_no_memory(err, trace->size, "cache lines");
    if (code != CUZK_OK) {
        assignment_free(out);
        return code;
    }
    memcpy(out->a + out->shape.constraints, out->inputs, out->shape.inputs * sizeof(fr));
    out->a_aux_count = density_count(out->a_aux_density, out->shape.aux);
    out->b_input_count = density_count(out->b_input_density, out->shape.inputs);
    out->b_aux_count = density_count(out->b_aux_density, out->shape.aux);
    return CUZK_OK;
}

/* ---- how many terms ---- */

typedef struct terms_cs {
    lc_sink sink;
    lc_terms *counts;
} terms_cs;

static void count_terms(cs *system, const lc *a, const lc *b, const lc *c) {
    lc_terms *counts = ((terms_cs *)system)->counts;
    const lc *const combinations[3] = {a, b, c};
    for (unsigned k = 0; k < 3; k++) {
        uint32_t inputs = 0, n = combinations[k]->n;
        while (inputs < n && !r1cs_is_aux(combinations[k]->terms[inputs].var)) inputs++;
        uint32_t aux = n - inputs;
        counts->inputs[k][inputs < LC_TERMS_COUNTED ? inputs : LC_TERMS_COUNTED]++;
        counts->aux[k][aux < LC_TERMS_COUNTED ? aux : LC_TERMS_COUNTED]++;
        counts->total += n;
        if (n > counts->most) counts->most = n;
    }
    lc_sink_enforced((lc_sink *)system, false);
}

cuzk_code lc_count_terms(lc_terms *out, const r1cs_circuit *circuit, uint64_t stop, cuzk_error *err) {
    static const cs_ops ops = {NULL, count_terms, NULL, NULL};
    memset(out, 0, sizeof *out);
    terms_cs system = {.counts = out};
    cs_init(&system.sink.base, &ops, false);
    return run(&system.sink, circuit, stop, NULL, err);
}
