/*
 * Checks come first, in the order in which later ones rely on them: parts, instances and the rows between
 * them, then (when it is known which variables are bits) operands and rows.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "r1cs/density.h"
#include "r1cs/matrices.h"

static cuzk_code wrong(const matrices *m, cuzk_error *err, const char *what, uint64_t index) {
    return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET,
                     "matrices of %s: %s %" PRIu64 " is impossible", m->name, what, index);
}

/* ---- parts and instances ---- */

static bool shape_reaches(const r1cs_shape *from, const r1cs_shape *to) {
    return from->inputs <= to->inputs && from->aux <= to->aux && from->constraints <= to->constraints;
}

static cuzk_code check_parts(const matrices *m, cuzk_error *err) {
    const matrices_part *parts = m->parts, *end = &parts[m->n_parts];
    if (m->n_parts == 0 || parts[0].start.inputs != 1 || parts[0].start.aux || parts[0].start.constraints ||
        parts[0].instances || parts[0].residual)
        return wrong(m, err, "part", 0);
    for (uint32_t k = 0; k < m->n_parts; k++)
        if (!shape_reaches(&parts[k].start, &parts[k + 1].start) ||
            parts[k].instances > parts[k + 1].instances || parts[k].residual > parts[k + 1].residual)
            return wrong(m, err, "part", k);
    const r1cs_shape *s = &m->shape;
    if (end->start.inputs != s->inputs || end->start.aux != s->aux ||
        end->start.constraints != s->constraints || s->inputs > R1CS_AUX || s->aux > R1CS_AUX ||
        end->instances != m->n_instances || end->residual != m->residual.n)
        return wrong(m, err, "part", m->n_parts);
    return CUZK_OK;
}

/* Instances follow each other without overlap, and rows outside blocks fill the gaps. */
static cuzk_code check_instances(const matrices *m, cuzk_error *err) {
    for (uint32_t k = 0; k < m->n_parts; k++) {
        const matrices_part *p = &m->parts[k], *next = p + 1;
        uint64_t row = p->start.constraints, aux = p->start.aux;
        uint32_t residual = p->residual;
        for (uint32_t n = p->instances; n < next->instances; n++) {
            const block_instance *i = &m->instances[n];
            if (i->template_number >= m->n_templates || i->residual < residual ||
                i->residual > next->residual || i->row != row + (i->residual - residual) || i->aux < aux)
                return wrong(m, err, "instance", n);
            row = i->row + matrices_template(m, i)->rows.n;
            aux = (uint64_t)i->aux + matrices_template(m, i)->n_aux;
            residual = i->residual;
            if (aux > next->start.aux) return wrong(m, err, "instance", n);
        }
        if (row + (next->residual - residual) != next->start.constraints) return wrong(m, err, "part", k);
    }
    return CUZK_OK;
}

/* ---- which variables are bits ---- */

static void set_range(uint64_t *bits, uint64_t from, uint64_t to) {
    for (; from < to && from % 64; from++) bits_set(bits, from);
    for (; from + 64 <= to; from += 64) bits[from / 64] = UINT64_MAX;
    for (; from < to; from++) bits_set(bits, from);
}

static void place_parts(matrices *m) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k <= m->n_parts; k++) {
        m->parts[k].bits = bits;
        if (k == m->n_parts) break;
        uint64_t n = m->parts[k + 1].start.aux - m->parts[k].start.aux;
        bits += (n + MATRICES_RANK_BITS - 1) / MATRICES_RANK_BITS * MATRICES_RANK_BITS;
    }
    m->n_bits = bits;
}

bool matrices_is_boolean_row(const matrices *m, uint32_t row, uint32_t *v) {
    row_side a = rows_side(&m->residual, row, 0), b = rows_side(&m->residual, row, 1);
    if (rows_side(&m->residual, row, 2).n > 0 || a.n != 2 || b.n != 1) return false;
    *v = r1cs_index(b.terms[0].var);
    return r1cs_is_aux(b.terms[0].var) && b.terms[0].coeff == COEFF_ONE && a.terms[0].var == R1CS_ONE &&
           a.terms[0].coeff == COEFF_ONE && a.terms[1].var == b.terms[0].var &&
           a.terms[1].coeff == COEFF_MINUS_ONE;
}

static void find_full(matrices *m, const matrices_part *p) {
    const matrices_part *next = p + 1;
    uint32_t aux = p->start.aux;
    for (uint32_t n = p->instances; n < next->instances; n++) {
        const block_instance *i = &m->instances[n];
        set_range(m->full, matrices_bit(p, aux), matrices_bit(p, i->aux));
        aux = i->aux + matrices_template(m, i)->n_aux;
    }
    set_range(m->full, matrices_bit(p, aux), matrices_bit(p, next->start.aux));
    for (uint32_t row = p->residual; row < next->residual; row++) {
        uint32_t v;
        if (!matrices_is_boolean_row(m, row, &v) || v < p->start.aux || v >= next->start.aux) continue;
        uint64_t bit = matrices_bit(p, v);
        m->full[bit / 64] &= ~((uint64_t)1 << bit % 64);
    }
    for (uint32_t n = p->instances; n < next->instances; n++) {
        const block_instance *i = &m->instances[n];
        const block_template *t = matrices_template(m, i);
        if (t->n_full == 0) continue;
        for (uint32_t j = 0; j < t->n_aux; j += 64) {
            unsigned count = t->n_aux - j < 64 ? t->n_aux - j : 64;
            bits_or(m->full, matrices_bit(p, i->aux) + j, t->full[j / 64], count);
        }
    }
}

static cuzk_code rank_full(matrices *m, cuzk_error *err) {
    uint64_t rank = 0;
    for (uint32_t k = 0; k <= m->n_parts; k++) {
        m->parts[k].full = rank;
        if (k == m->n_parts) break;
        for (uint64_t word = m->parts[k].bits / 64; word < m->parts[k + 1].bits / 64; word++) {
            if (word % (MATRICES_RANK_BITS / 64) == 0)
                m->rank[word / (MATRICES_RANK_BITS / 64)] = (uint32_t)rank;
            rank += (uint64_t)__builtin_popcountll(m->full[word]);
        }
    }
    m->rank[m->n_bits / MATRICES_RANK_BITS] = (uint32_t)rank;
    m->n_full = rank;
    return rank <= UINT32_MAX ? CUZK_OK : wrong(m, err, "the number of full elements,", rank);
}

/* ---- operands and rows ---- */

/* May part p refer to aux variable v (and those up to v + count) from before `limit`? */
static bool is_visible(const matrices *m, const matrices_part *p, uint32_t v, uint32_t count,
                       uint32_t limit) {
    uint64_t end = (uint64_t)v + count;
    return (p > m->parts && end <= m->parts[1].start.aux) || (v >= p->start.aux && end <= limit);
}

static bool are_bits(const matrices *m, const matrices_part *p, uint32_t v, uint32_t count) {
    const matrices_part *owner = v < m->parts[1].start.aux ? &m->parts[0] : p;
    for (uint32_t k = 0; k < count; k++)
        if (bits_get(m->full, matrices_bit(owner, v + k))) return false;
    return true;
}

static bool operands_are_good(const matrices *m, const matrices_part *p, const block_instance *i) {
    const block_template *t = matrices_template(m, i);
    if (i->operands >= m->n_operands) return false;
    const uint32_t *word = &m->operands[i->operands];
    uint32_t n = *word++, position = 0, limit = i->aux;
    if (n > t->n_bits || (uint64_t)i->operands + 1 + 2 * n + t->n_nums > m->n_operands) return false;
    for (; n > 0; n--, word += 2) {
        uint32_t first = word[0] & 0xffff, count = word[0] >> 16;
        for (; position < first; position++)
            if (position >= t->n_bits || !operand_is_constant(t->forms[position])) return false;
        if (count == 0 || first != position || first + count > t->n_bits) return false;
        for (; position < first + count; position++)
            if (operand_is_constant(t->forms[position])) return false;
        if (!is_visible(m, p, word[1], count, limit) || !are_bits(m, p, word[1], count)) return false;
    }
    for (; position < t->n_bits; position++)
        if (!operand_is_constant(t->forms[position])) return false;
    for (uint32_t k = 0; k < t->n_nums; k++)
        if (!is_visible(m, p, word[k], 1, limit)) return false;
    return true;
}

static bool row_is_good(const matrices *m, const matrices_part *p, uint32_t row) {
    for (unsigned s = 0; s < 3; s++) {
        row_side side = rows_side(&m->residual, row, s);
        for (uint32_t i = 0; i < side.n; i++) {
            uint32_t k = r1cs_index(side.terms[i].var);
            if (side.terms[i].coeff >= m->coefficients.n) return false;
            if (r1cs_is_aux(side.terms[i].var) ? !is_visible(m, p, k, 1, p[1].start.aux)
                                               : k >= p[1].start.inputs)
                return false;
        }
    }
    return true;
}

static cuzk_code check_references(const matrices *m, cuzk_error *err) {
    for (uint32_t k = 0; k < m->n_parts; k++) {
        const matrices_part *p = &m->parts[k];
        for (uint32_t n = p->instances; n < p[1].instances; n++)
            if (!operands_are_good(m, p, &m->instances[n])) return wrong(m, err, "instance", n);
        for (uint32_t row = p->residual; row < p[1].residual; row++)
            if (!row_is_good(m, p, row)) return wrong(m, err, "row outside blocks", row);
    }
    return CUZK_OK;
}

/* ---- densities ---- */

/* out[to ..] |= in[from .. from + n) */
static void or_range(uint64_t *out, uint64_t to, const uint64_t *in, uint64_t from, uint32_t n) {
    for (uint32_t j = 0; j < n; j += 64) {
        unsigned count = n - j < 64 ? n - j : 64;
        bits_or(out, to + j, bits_load(in, from + j) & bits_mask(count), count);
    }
}

static void mark_instance(uint64_t *aux, const matrices *m, const block_instance *i,
                          const uint64_t *density) {
    const block_template *t = matrices_template(m, i);
    const uint32_t *word = &m->operands[i->operands];
    or_range(aux, i->aux, density, template_operands(t), t->n_aux);
    for (uint32_t n = *word++; n > 0; n--, word += 2)
        or_range(aux, word[1], density, word[0] & 0xffff, word[0] >> 16);
    for (uint32_t k = 0; k < t->n_nums; k++)
        if (bits_get(density, t->n_bits + k)) bits_set(aux, word[k]);
}

static void mark_side(uint64_t *inputs, uint64_t *aux, const matrices *m, row_side s) {
    for (uint32_t i = 0; i < s.n; i++) {
        uint64_t *bits = r1cs_is_aux(s.terms[i].var) ? aux : inputs;
        if (bits && !fr_is_zero(&m->coefficients.list[s.terms[i].coeff].value))
            bits_set(bits, r1cs_index(s.terms[i].var));
    }
}

/* Rows over ONE are nowhere but in B's inputs. */
static void mark_one(matrices *m, const block_template *t) {
    for (uint32_t row = 0; row < t->rows.n; row++) {
        row_side b = rows_side(&t->rows, row, 1);
        for (uint32_t i = 0; i < b.n; i++)
            if (b.terms[i].var == R1CS_ONE && !fr_is_zero(&m->coefficients.list[b.terms[i].coeff].value)) {
                bits_set(m->b_input_density, 0);
                return;
            }
    }
}

static void find_densities(matrices *m) {
    bool *used = calloc((size_t)m->n_templates + 1, sizeof *used); /* without it the work is only repeated */
    for (uint32_t n = 0; n < m->n_instances; n++) {
        const block_instance *i = &m->instances[n];
        const block_template *t = matrices_template(m, i);
        mark_instance(m->a_aux_density, m, i, t->a_density);
        mark_instance(m->b_aux_density, m, i, t->b_density);
        if (!used || !used[i->template_number]) mark_one(m, t);
        if (used) used[i->template_number] = true;
    }
    free(used);
    for (uint32_t row = 0; row < m->residual.n; row++) {
        mark_side(NULL, m->a_aux_density, m, rows_side(&m->residual, row, 0));
        mark_side(m->b_input_density, m->b_aux_density, m, rows_side(&m->residual, row, 1));
    }
    m->a_aux_count = density_count(m->a_aux_density, m->shape.aux);
    m->b_input_count = density_count(m->b_input_density, m->shape.inputs);
    m->b_aux_count = density_count(m->b_aux_density, m->shape.aux);
}

/* ---- all ---- */

static size_t density_bytes(uint32_t variables) {
    return (density_words(variables) + BITS_SLACK) * sizeof(uint64_t);
}

static cuzk_code allocate(matrices *m, cuzk_error *err) {
    TRY(mem_big_alloc((void **)&m->full, (m->n_bits / 64 + BITS_SLACK) * sizeof(uint64_t),
                      "the circuit's matrices", err));
    TRY(mem_big_alloc((void **)&m->rank, (m->n_bits / MATRICES_RANK_BITS + 1) * sizeof(uint32_t),
                      "the circuit's matrices", err));
    TRY(mem_big_alloc((void **)&m->a_aux_density, density_bytes(m->shape.aux), "the density of A", err));
    TRY(mem_big_alloc((void **)&m->b_aux_density, density_bytes(m->shape.aux), "the density of B", err));
    TRY(mem_big_alloc((void **)&m->b_input_density, density_bytes(m->shape.inputs), "the density of B", err));
    m->checked = calloc((size_t)m->n_templates + 1, sizeof *m->checked);
    return m->checked ? CUZK_OK : error_no_memory(err, m->n_templates, "the circuit's matrices");
}

cuzk_code matrices_derive(matrices *m, cuzk_error *err) {
    TRY(check_parts(m, err));
    TRY(check_instances(m, err));
    place_parts(m);
    TRY(allocate(m, err));
    for (uint32_t k = 0; k < m->n_parts; k++) find_full(m, &m->parts[k]);
    TRY(rank_full(m, err));
    TRY(check_references(m, err));
    find_densities(m);
    return CUZK_OK;
}

void matrices_free(matrices *m) {
    if (!m) return;
    for (uint32_t i = 0; i < m->n_templates; i++) template_free(&m->templates[i]);
    free(m->templates);
    if (m->capacity[1]) free(m->instances);
    if (m->capacity[2]) free(m->operands);
    free(m->parts);
    rows_free(&m->residual);
    coefficients_free(&m->coefficients);
    mem_big_free(m->full, (m->n_bits / 64 + BITS_SLACK) * sizeof(uint64_t));
    mem_big_free(m->rank, (m->n_bits / MATRICES_RANK_BITS + 1) * sizeof(uint32_t));
    mem_big_free(m->a_aux_density, density_bytes(m->shape.aux));
    mem_big_free(m->b_aux_density, density_bytes(m->shape.aux));
    mem_big_free(m->b_input_density, density_bytes(m->shape.inputs));
    free((void *)m->checked);
    mem_big_free(m->memory, m->memory_bytes);
    free(m);
}
