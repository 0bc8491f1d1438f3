#include "r1cs/matrices.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "r1cs/density.h"

/* ---- extraction ---- */

typedef struct extractor {
    cs base; /* first: the system's address is the extractor's */
    matrices *m;
    uint64_t *is_bit; /* aux variables known to be bits */
    uint32_t own;     /* variables from here on belong to no block */
} extractor;

static bool grow(extractor *x, unsigned which, void *array_at, uint64_t n, size_t element) {
    uint32_t *capacity = &x->m->capacity[which];
    if (n <= *capacity) return true;
    uint64_t larger = *capacity ? *capacity : 64;
    while (larger < n) larger *= 2;
    void *memory = NULL;
    if (larger <= UINT32_MAX) {
        memcpy(&memory, array_at, sizeof memory);
        memory = realloc(memory, larger * element);
    }
    if (!memory) {
        cs_fail(&x->base, CUZK_ERR_RESOURCES, "out of memory for the circuit's matrices");
        return false;
    }
    memcpy(array_at, &memory, sizeof memory);
    *capacity = (uint32_t)larger;
    return true;
}

static void extract_row(cs *system, const lc *a, const lc *b, const lc *c) {
    extractor *x = (extractor *)system;
    matrices *m = x->m;
    if (!rows_append(&m->residual, &m->coefficients, a, b, c)) {
        cs_fail(system, CUZK_ERR_RESOURCES, "out of memory for the circuit's matrices");
        return;
    }
    uint32_t v;
    if (matrices_is_boolean_row(m, m->residual.n - 1, &v) && v >= x->own) bits_set(x->is_bit, v);
}

/* A run of variables, for finding those that occur twice. */
typedef struct span {
    uint32_t first, count;
} span;

static int compare_spans(const void *a, const void *b) {
    uint32_t x = ((const span *)a)->first, y = ((const span *)b)->first;
    return x < y ? -1 : x > y;
}

/* The operands of a call as words, with the number of words; 0 if it cannot be an instance. */
static uint32_t list_operands(uint32_t words[1 + 2 * BLOCK_MAX_BITS + BLOCK_MAX_NUMS], const extractor *x,
                              const block_call *call) {
    span spans[BLOCK_MAX_BITS + BLOCK_MAX_NUMS];
    uint32_t n = 0, end = UINT32_MAX; /* end: position after the last segment */
    for (uint32_t k = 0; k < call->n_bits; k++) {
        const boolean *bit = &call->bits[k];
        if (bit->form == BOOLEAN_CONSTANT) continue;
        uint32_t v = r1cs_index(bit->var);
        if (!r1cs_is_aux(bit->var) || !bits_get(x->is_bit, v)) return 0;
        if (k == end && v == spans[n - 1].first + spans[n - 1].count) {
            spans[n - 1].count++;
            words[2 * n - 1] += 1u << 16;
        } else {
            spans[n++] = (span){v, 1};
            words[2 * n - 1] = k | 1u << 16;
            words[2 * n] = v;
        }
        end = k + 1;
    }
    words[0] = n;
    for (uint32_t k = 0; k < call->n_nums; k++) {
        if (!r1cs_is_aux(call->nums[k].var)) return 0;
        words[1 + 2 * n + k] = r1cs_index(call->nums[k].var);
    }
    uint32_t total = 1 + 2 * n + call->n_nums;
    for (uint32_t k = 0; k < call->n_nums; k++) spans[n + k] = (span){words[1 + 2 * n + k], 1};
    n += call->n_nums;
    qsort(spans, n, sizeof *spans, compare_spans);
    for (uint32_t i = 1; i < n; i++)
        if (spans[i].first < spans[i - 1].first + spans[i - 1].count) return 0;
    return total;
}

/* The number of the template for a call, recorded now if it is new; UINT32_MAX after an error. */
static uint32_t template_for(extractor *x, const block_call *call) {
    matrices *m = x->m;
    for (uint32_t i = 0; i < m->n_templates; i++)
        if (template_fits(&m->templates[i], call)) return i;
    if (!grow(x, 0, &m->templates, (uint64_t)m->n_templates + 1, sizeof *m->templates)) return UINT32_MAX;
    cuzk_error err;
    if (template_record(&m->templates[m->n_templates], &m->coefficients, call, &err)) {
        if (!cs_failed(&x->base)) x->base.error = err;
        return UINT32_MAX;
    }
    return m->n_templates++;
}

static void note_bits(uint64_t *is_bit, const block_template *t, uint32_t aux) {
    for (uint32_t j = 0; j < t->n_aux; j += 64) {
        unsigned n = t->n_aux - j < 64 ? t->n_aux - j : 64;
        bits_or(is_bit, (size_t)aux + j, ~t->full[j / 64] & bits_mask(n), n);
    }
}

static r1cs_var result_var(const block_template *t, const block_call *call, uint32_t aux, r1cs_var v) {
    uint32_t k = r1cs_index(v);
    if (k < t->n_bits) return call->bits[k].var;
    if (k < template_operands(t)) return call->nums[k - t->n_bits].var;
    return R1CS_AUX | (aux + (k - template_operands(t)));
}

static bool extract_block(cs *system, const block_call *call) {
    extractor *x = (extractor *)system;
    matrices *m = x->m;
    uint32_t words[1 + 2 * BLOCK_MAX_BITS + BLOCK_MAX_NUMS];
    if (cs_failed(system) || call->n_bits > BLOCK_MAX_BITS || call->n_nums > BLOCK_MAX_NUMS) return false;
    uint32_t n_words = list_operands(words, x, call);
    if (n_words == 0) return false;
    uint32_t number = template_for(x, call), aux = system->aux;
    if (number == UINT32_MAX ||
        !grow(x, 1, &m->instances, (uint64_t)m->n_instances + 1, sizeof *m->instances) ||
        !grow(x, 2, &m->operands, (uint64_t)m->n_operands + n_words, sizeof *m->operands))
        return true;
    const block_template *t = &m->templates[number];
    m->instances[m->n_instances++] =
        (block_instance){system->constraints, number, aux, m->n_operands, m->residual.n};
    memcpy(m->operands + m->n_operands, words, n_words * sizeof *words);
    m->n_operands += n_words;
    if (!cs_advance(system, t->n_aux, t->rows.n)) return true;
    x->own = system->aux;
    note_bits(x->is_bit, t, aux);
    for (uint32_t k = 0; k < t->n_out_bits; k++) {
        call->out_bits[k] = t->out_bits[k];
        if (t->out_bits[k].form != BOOLEAN_CONSTANT)
            call->out_bits[k].var = result_var(t, call, aux, t->out_bits[k].var);
    }
    for (uint32_t k = 0; k < t->n_out_nums; k++)
        call->out_nums[k] = (num){result_var(t, call, aux, t->out_nums[k]), FR_ZERO};
    return true;
}

static void start_part(extractor *x) {
    matrices *m = x->m;
    if (!grow(x, 3, &m->parts, (uint64_t)m->n_parts + 2, sizeof *m->parts)) return;
    m->parts[m->n_parts] = (matrices_part){.start = {x->base.inputs, x->base.aux, x->base.constraints},
                                           .instances = m->n_instances,
                                           .residual = m->residual.n};
}

/* Did the part end where the next one starts? */
static void finish_part(extractor *x, const r1cs_shape *end) {
    const cs *s = &x->base;
    if (!cs_failed(s) &&
        (s->inputs != end->inputs || s->aux != end->aux || s->constraints != end->constraints))
        cs_fail(&x->base, CUZK_ERR_INTERNAL,
                "part %" PRIu32 " ends with %" PRIu32 " inputs, %" PRIu32 " aux and %" PRIu64
                " constraints, expected %" PRIu32 ", %" PRIu32 " and %" PRIu64,
                x->m->n_parts, s->inputs, s->aux, s->constraints, end->inputs, end->aux, end->constraints);
    x->m->n_parts++;
}

static void extract_parts(extractor *x, const r1cs_circuit *circuit, const r1cs_parts *parts) {
    void *state = calloc(1, parts->state_bytes + 1);
    if (!state) cs_fail(&x->base, CUZK_ERR_RESOURCES, "out of memory for the circuit's parts");
    for (uint32_t k = 0; k < parts->count && !cs_failed(&x->base); k++) {
        r1cs_shape end = parts->start(circuit->ctx, k + 1);
        start_part(x);
        x->base.limit = end;
        if (!cs_failed(&x->base)) parts->synthesize(circuit->ctx, k, state, &x->base);
        finish_part(x, &end);
    }
    free(state);
}

static cuzk_code extract(matrices *m, const r1cs_circuit *circuit, const r1cs_parts *parts,
                         const cuzk_progress *progress, cuzk_error *err) {
    static const cs_ops ops = {NULL, extract_row, NULL, NULL};
    extractor x = {.m = m};
    cs_init(&x.base, &ops, false);
    x.base.block = extract_block;
    x.base.progress = progress;
    x.base.phase = "matrices";
    x.base.expected = circuit->shape.constraints;
    x.base.limit = circuit->shape;
    x.is_bit = calloc(bits_words(circuit->shape.aux) + BITS_SLACK, sizeof *x.is_bit);
    if (!x.is_bit || !coefficients_init(&m->coefficients))
        cs_fail(&x.base, CUZK_ERR_RESOURCES, "out of memory for the circuit's matrices");
    if (parts) {
        if (!cs_failed(&x.base)) extract_parts(&x, circuit, parts);
    } else {
        start_part(&x);
        if (!cs_failed(&x.base)) circuit->synthesize(circuit->ctx, &x.base);
        finish_part(&x, &circuit->shape);
    }
    if (!cs_failed(&x.base)) start_part(&x); /* the end */
    cs_free(&x.base);
    free(x.is_bit);
    if (cs_failed(&x.base) && err) *err = x.base.error;
    return x.base.error.code;
}

cuzk_code matrices_create(matrices **out, const r1cs_circuit *circuit, const r1cs_parts *parts,
                          const cuzk_progress *progress, cuzk_error *err) {
    *out = NULL;
    matrices *m = calloc(1, sizeof *m);
    if (!m) return error_no_memory(err, sizeof *m, "the circuit's matrices");
    strncpy(m->name, circuit->name, sizeof m->name - 1);
    m->shape = circuit->shape;
    cuzk_code code = extract(m, circuit, parts, progress, err);
    if (code == CUZK_OK) code = matrices_derive(m, err);
    if (code != CUZK_OK) {
        if (code == CUZK_ERR_INPUT && err) err->code = CUZK_ERR_INTERNAL; /* no input was read */
        matrices_free(m);
        return code == CUZK_ERR_INPUT ? CUZK_ERR_INTERNAL : code;
    }
    *out = m;
    return CUZK_OK;
}

/* ---- looking up ---- */

uint32_t matrices_part_of_row(const matrices *m, uint64_t row) {
    uint32_t low = 0, high = m->n_parts - 1; /* the last part that starts at or before the row */
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (m->parts[middle].start.constraints <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint32_t matrices_part_of_aux(const matrices *m, uint32_t aux) {
    uint32_t low = 0, high = m->n_parts - 1;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (m->parts[middle].start.aux <= aux)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t matrices_bytes(const matrices *m) {
    uint64_t bytes = sizeof *m + m->n_bits / 8 + m->n_bits / MATRICES_RANK_BITS * 4 +
                     2 * (uint64_t)m->shape.aux / 8 + m->coefficients.n * (sizeof(coefficient) + 8) +
                     m->n_instances * sizeof *m->instances + m->n_operands * sizeof *m->operands +
                     (uint64_t)m->residual.n * 12 + (uint64_t)m->residual.n_terms * sizeof(row_term);
    for (uint32_t i = 0; i < m->n_templates; i++) {
        const block_template *t = &m->templates[i];
        bytes += sizeof *t + (uint64_t)t->rows.n * 12 + (uint64_t)t->rows.n_terms * sizeof(row_term) +
                 (uint64_t)t->n_aux * 5 + t->program.n_ops * sizeof(program_op) +
                 t->program.n_slots * sizeof(uint32_t) + t->program.n_shapes * sizeof(program_shape) +
                 t->program.n_full * sizeof(full_row) + t->program.n_terms * sizeof(full_term) +
                 t->program.n_segments * sizeof(ladder_segment);
    }
    return bytes;
}

/* ---- as a circuit ---- */

typedef struct replay {
    const matrices *m;
    cs *system;
    lc sides[3];
    r1cs_var operands[BLOCK_MAX_BITS + BLOCK_MAX_NUMS];
} replay;

static void replay_row(replay *r, const sparse_rows *rows, uint32_t row, const block_template *t,
                       uint32_t aux) {
    for (unsigned s = 0; s < 3; s++) {
        row_side side = rows_side(rows, row, s);
        lc_clear(&r->sides[s]);
        for (uint32_t i = 0; i < side.n; i++) {
            r1cs_var v = side.terms[i].var;
            uint32_t k = r1cs_index(v);
            if (t && r1cs_is_aux(v))
                v = k < template_operands(t) ? r->operands[k] : R1CS_AUX | (aux + (k - template_operands(t)));
            lc_add_term(&r->sides[s], v, &r->m->coefficients.list[side.terms[i].coeff].value);
        }
    }
    cs_enforce(r->system, &r->sides[0], &r->sides[1], &r->sides[2]);
}

static void replay_instance(replay *r, const block_instance *i) {
    const block_template *t = matrices_template(r->m, i);
    const uint32_t *word = &r->m->operands[i->operands];
    for (uint32_t n = *word++; n > 0; n--, word += 2)
        for (uint32_t k = 0; k < word[0] >> 16; k++)
            r->operands[(word[0] & 0xffff) + k] = R1CS_AUX | (word[1] + k);
    for (uint32_t k = 0; k < t->n_nums; k++) r->operands[t->n_bits + k] = R1CS_AUX | word[k];
    for (uint32_t row = 0; row < t->rows.n && !cs_failed(r->system); row++)
        replay_row(r, &t->rows, row, t, i->aux);
}

static void replay_matrices(const void *ctx, cs *system) {
    const matrices *m = ctx;
    replay r = {.m = m, .system = system, .sides = {LC_EMPTY, LC_EMPTY, LC_EMPTY}};
    for (uint32_t k = 1; k < m->shape.inputs && !cs_failed(system); k++) cs_alloc_input(system, NULL);
    for (uint32_t k = 0; k < m->shape.aux && !cs_failed(system); k++) cs_alloc(system, NULL);
    uint32_t residual = 0;
    for (uint32_t k = 0; k <= m->n_instances && !cs_failed(system); k++) {
        uint32_t end = k < m->n_instances ? m->instances[k].residual : m->residual.n;
        for (; residual < end; residual++) replay_row(&r, &m->residual, residual, NULL, 0);
        if (k < m->n_instances) replay_instance(&r, &m->instances[k]);
    }
    for (unsigned s = 0; s < 3; s++) lc_free(&r.sides[s]);
}

void matrices_circuit(r1cs_circuit *out, const matrices *m) {
    *out = (r1cs_circuit){.name = m->name, .synthesize = replay_matrices, .ctx = m, .shape = m->shape};
}
