#include "r1cs/synthesis.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/mem.h"
#include "r1cs/density.h"

/* ---- expansion to full vectors ---- */

#define ROWS_PER_PIECE ((size_t)1 << 15)

typedef struct expand_job {
    const compact_witness *w;
    expansion_path path;
    assignment *out;
    _Atomic bool damaged;
    size_t zero_from; /* elements of a, b, c to clear */
} expand_job;

static void expand_piece(void *ctx, size_t begin, size_t end) {
    expand_job *j = ctx;
    assignment *a = j->out;
    if (!expand_rows(j->w, j->path, begin, end - begin, a->a + begin, a->b + begin, a->c + begin, true))
        atomic_store(&j->damaged, true);
}

static void expand_aux_piece(void *ctx, size_t begin, size_t end) {
    const expand_job *j = ctx;
    expand_aux(j->w, (uint32_t)begin, end - begin, j->out->aux + begin, true);
}

static void clear_piece(void *ctx, size_t begin, size_t end) {
    const expand_job *j = ctx;
    fr *vectors[3] = {j->out->a, j->out->b, j->out->c};
    for (unsigned i = 0; i < 3; i++) memset(vectors[i] + j->zero_from + begin, 0, (end - begin) * sizeof(fr));
}

cuzk_code assignment_expand(assignment *out, const compact_witness *w, expansion_path path, pool *p,
                            cuzk_error *err) {
    const matrices *m = w->m;
    const bool clear = out->padded || (!out->a && !out->b && !out->c); /* new memory is */
    TRY(assignment_allocate(out, &m->shape, m->name, err));
    expand_job job = {.w = w, .path = path, .out = out, .zero_from = m->shape.constraints};
    const size_t domain = (size_t)1 << out->log_domain;
    pool_for(p, m->shape.constraints, ROWS_PER_PIECE, expand_piece, &job);
    pool_for(p, m->shape.aux, ROWS_PER_PIECE, expand_aux_piece, &job);
    if (!clear) pool_for(p, domain - job.zero_from, ROWS_PER_PIECE, clear_piece, &job);
    memcpy(out->inputs, w->inputs, m->shape.inputs * sizeof(fr));
    memcpy(out->a + m->shape.constraints, w->inputs, m->shape.inputs * sizeof(fr));
    memcpy(out->a_aux_density, m->a_aux_density, density_words(m->shape.aux) * sizeof(uint64_t));
    memcpy(out->b_aux_density, m->b_aux_density, density_words(m->shape.aux) * sizeof(uint64_t));
    memcpy(out->b_input_density, m->b_input_density, density_words(m->shape.inputs) * sizeof(uint64_t));
    out->a_aux_count = m->a_aux_count;
    out->b_aux_count = m->b_aux_count;
    out->b_input_count = m->b_input_count;
    out->padded = true;
    cuzk_code code = pool_check(p, err);
    if (code == CUZK_OK && !job.damaged) return CUZK_OK;
    assignment_free(out);
    TRY(code);
    return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                     "self-check failed: the witness of %s contradicts its constraints", m->name);
}

/* ---- the three ways ---- */

void synthesizer_free(synthesizer *s) {
    witness_free(&s->w);
    matrices_free(s->m);
    s->m = NULL;
}

uint64_t synthesis_bytes(const r1cs_shape *shape) {
    return 2 * (uint64_t)shape->aux + (UINT64_C(64) << 20);
}

static bool is_of(const matrices *m, const r1cs_circuit *circuit) {
    const r1cs_shape *a = &m->shape, *b = &circuit->shape;
    return strncmp(m->name, circuit->name, sizeof m->name - 1) == 0 && a->inputs == b->inputs &&
           a->aux == b->aux && a->constraints == b->constraints;
}

static cuzk_code prepare(synthesizer *s, const r1cs_circuit *circuit, const r1cs_parts *parts,
                         const cuzk_progress *progress, cuzk_error *err) {
    if (s->m && !is_of(s->m, circuit)) synthesizer_free(s);
    if (!s->m) TRY(matrices_create(&s->m, circuit, parts, progress, err));
    if (s->w.m) return CUZK_OK;
    return witness_create(&s->w, s->m, err);
}

cuzk_code synthesize(assignment *out, synthesizer *kept, const r1cs_circuit *circuit, const r1cs_parts *parts,
                     synthesis_path path, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    if (path == SYNTHESIS_GENERIC) {
        assignment_free(out);
        return assignment_create(out, circuit, progress, err);
    }
    synthesizer own = {.m = NULL};
    synthesizer *s = kept ? kept : &own;
    cuzk_code code = prepare(s, circuit, parts, progress, err);
    if (code == CUZK_OK) code = witness_fill(&s->w, circuit, parts, p, progress, err);
    if (code == CUZK_OK) {
        fault_point("witness bits", s->w.bits, (size_t)((s->m->n_bits + 63) / 64) * sizeof *s->w.bits);
        fault_point("witness numbers", s->w.full, (size_t)s->m->n_full * sizeof *s->w.full);
        code = assignment_expand(out, &s->w, path == SYNTHESIS_PRODUCTS ? EXPAND_PRODUCTS : EXPAND_TEMPLATES,
                                 p, err);
    } else {
        assignment_free(out);
    }
    synthesizer_free(&own);
    return code;
}
