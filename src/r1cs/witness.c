#include "r1cs/witness.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- memory and access ---- */

static size_t bits_bytes(const matrices *m) {
    return (m->n_bits / 64 + BITS_SLACK) * sizeof(uint64_t);
}

uint64_t witness_bytes(const matrices *m) {
    return bits_bytes(m) + (m->n_full + m->shape.inputs) * sizeof(fr);
}

cuzk_code witness_create(compact_witness *out, const matrices *m, cuzk_error *err) {
    *out = (compact_witness){.m = m};
    cuzk_code code = mem_big_alloc((void **)&out->inputs, m->shape.inputs * sizeof(fr), "the inputs", err);
    if (code == CUZK_OK) code = mem_big_alloc((void **)&out->bits, bits_bytes(m), "the witness", err);
    if (code == CUZK_OK)
        code = mem_big_alloc((void **)&out->full, m->n_full * sizeof(fr), "the witness", err);
    if (code != CUZK_OK) witness_free(out);
    return code;
}

void witness_free(compact_witness *w) {
    if (!w->m) return;
    mem_big_free(w->inputs, w->m->shape.inputs * sizeof(fr));
    mem_big_free(w->bits, bits_bytes(w->m));
    mem_big_free(w->full, w->m->n_full * sizeof(fr));
    *w = (compact_witness){.m = NULL};
}

static void aux_value(fr *out, const compact_witness *w, const matrices_part *p, uint32_t aux) {
    uint64_t bit = matrices_bit(p, aux);
    if (bits_get(w->m->full, bit))
        *out = w->full[matrices_rank(w->m, bit)];
    else
        *out = bits_get(w->bits, bit) ? FR_ONE : FR_ZERO;
}

void witness_value(fr *out, const compact_witness *w, r1cs_var v) {
    if (r1cs_is_aux(v))
        aux_value(out, w, &w->m->parts[matrices_part_of_aux(w->m, r1cs_index(v))], r1cs_index(v));
    else
        *out = w->inputs[v];
}

void witness_gather(instance_values *out, const compact_witness *w, const matrices_part *part,
                    const block_instance *i) {
    const matrices *m = w->m;
    const block_template *t = matrices_template(m, i);
    const uint32_t *word = &m->operands[i->operands];
    out->t = t;
    out->w = w;
    out->first_bit = matrices_bit(part, i->aux);
    out->full = t->n_full ? w->full + matrices_rank(m, out->first_bit) : w->full;
    memset(out->operand_bits, 0, (bits_words(t->n_bits) + BITS_SLACK) * sizeof(uint64_t));
    for (uint32_t n = *word++; n > 0; n--, word += 2) {
        uint32_t position = word[0] & 0xffff, count = word[0] >> 16;
        uint64_t bit = matrices_bit(word[1] < part->start.aux ? m->parts : part, word[1]);
        for (uint32_t k = 0; k < count; k += 64) {
            unsigned some = count - k < 64 ? count - k : 64;
            bits_or(out->operand_bits, position + k, bits_load(w->bits, bit + k) & bits_mask(some), some);
        }
    }
    for (uint32_t k = 0; k < t->n_nums; k++)
        aux_value(&out->nums[k], w, word[k] < part->start.aux ? m->parts : part, word[k]);
}

/* ---- the system that fills a witness ---- */

typedef struct filler {
    cs base; /* first: the system's address is the filler's */
    compact_witness *w;
    const matrices_part *part;
    pool *p;
    block_writer out;       /* where the next variable goes */
    uint32_t next_instance; /* in the matrices */
    uint32_t next_residual;
    uint64_t body_end; /* rows before this are of a block whose body runs */
} filler;

/* The gadgets do not do what the matrices say. */
static void differs(filler *f, const char *what, uint64_t index) {
    cs_fail(&f->base, f->w->m->from_file ? CUZK_ERR_INPUT : CUZK_ERR_INTERNAL,
            "the matrices of %s are of another circuit: %s %" PRIu64 " differs", f->w->m->name, what, index);
}

static void fill_variable(cs *system, r1cs_var v, const fr *value) {
    filler *f = (filler *)system;
    if (!r1cs_is_aux(v)) {
        f->w->inputs[v] = *value;
    } else if (bits_get(f->w->m->full, matrices_bit(f->part, r1cs_index(v)))) {
        *block_put_full(&f->out, 1) = *value;
    } else if (fr_is_zero(value) || fr_is_one(value)) {
        block_put_bits(&f->out, fr_is_one(value), 1);
    } else {
        cs_fail(system, CUZK_ERR_INTERNAL, "variable %" PRIu32 " is no bit, as it must be", r1cs_index(v));
    }
}

static void compare_row(cs *system, const lc *a, const lc *b, const lc *c) {
    filler *f = (filler *)system;
    const matrices *m = f->w->m;
    const uint32_t row = f->next_residual;
    if (system->constraints < f->body_end) return;
    if (row == f->part[1].residual || !rows_side_equals(&m->residual, &m->coefficients, row, 0, a) ||
        !rows_side_equals(&m->residual, &m->coefficients, row, 1, b) ||
        !rows_side_equals(&m->residual, &m->coefficients, row, 2, c))
        differs(f, "constraint", system->constraints);
    else
        f->next_residual++;
}

/* Are the operands of the call those of the instance? */
static bool same_operands(const matrices *m, const block_template *t, const block_instance *i,
                          const block_call *call) {
    const uint32_t *word = &m->operands[i->operands];
    uint32_t difference = 0;
    for (uint32_t n = *word++; n > 0; n--, word += 2) {
        const boolean *bit = &call->bits[word[0] & 0xffff];
        uint32_t expected = R1CS_AUX | word[1];
        for (uint32_t k = 0; k < word[0] >> 16; k++) difference |= bit[k].var ^ (expected + k);
    }
    for (uint32_t k = 0; k < t->n_nums; k++) difference |= call->nums[k].var ^ (R1CS_AUX | word[k]);
    return difference == 0;
}

/* Matrices from a file: is the template what its block makes? Found out once. */
static bool check_template(filler *f, const block_instance *i, const block_call *call) {
    const matrices *m = f->w->m;
    const block_template *t = matrices_template(m, i);
    if (!m->from_file || atomic_load(&m->checked[i->template_number])) return true;
    coefficients own;
    block_template recorded;
    cuzk_error err;
    if (!coefficients_init(&own)) {
        coefficients_free(&own);
        cs_fail(&f->base, CUZK_ERR_RESOURCES, "out of memory for a template");
        return false;
    }
    bool good = false;
    if (template_record(&recorded, &own, call, &err)) {
        if (!cs_failed(&f->base)) f->base.error = err;
    } else {
        good = template_equal(t, &m->coefficients, &recorded, &own);
        if (!good) differs(f, "template", i->template_number);
        template_free(&recorded);
    }
    coefficients_free(&own);
    if (good) atomic_store(&m->checked[i->template_number], true);
    return good;
}

static void set_results(const filler *f, const instance_values *v, const block_instance *i,
                        const block_call *call) {
    const block_template *t = v->t;
    const uint32_t operands = template_operands(t);
    for (uint32_t k = 0; k < t->n_out_bits; k++) {
        boolean bit = t->out_bits[k];
        uint32_t local = r1cs_index(bit.var);
        if (bit.form != BOOLEAN_CONSTANT) {
            bool value;
            if (local < operands) {
                value = bits_get(v->operand_bits, local);
                bit.var = call->bits[local].var;
            } else {
                local -= operands;
                value = bits_get(f->w->bits, v->first_bit + local);
                bit.var = R1CS_AUX | (i->aux + local);
            }
            bit.value = value ^ (bit.form == BOOLEAN_NOT);
        }
        call->out_bits[k] = bit;
    }
    for (uint32_t k = 0; k < t->n_out_nums; k++) {
        uint32_t local = r1cs_index(t->out_nums[k]);
        if (local < operands) {
            call->out_nums[k] = (num){call->nums[local - t->n_bits].var, v->nums[local - t->n_bits]};
            continue;
        }
        local -= operands;
        uint32_t index = t->full_index[local];
        fr value = bits_get(f->w->bits, v->first_bit + local) ? FR_ONE : FR_ZERO;
        call->out_nums[k] = (num){R1CS_AUX | (i->aux + local), index == UINT32_MAX ? value : v->full[index]};
    }
}

/* The variables of a block from its native witness. False if it did not make as many as it should. */
static bool write_witness(filler *f, const instance_values *v, const block_type *type) {
    const block_template *t = v->t;
    const size_t words = bits_words(t->n_bits);
    uint64_t values[BLOCK_MAX_BITS / 64];
    for (size_t k = 0; k < words; k++) values[k] = (v->operand_bits[k] ^ t->negated[k]) | t->truths[k];
    const block_operands in = {t->parameter, t->n_bits, t->n_nums, values, t->constant, t->negated, v->nums};
    const uint64_t *start = f->out.bits.words;
    const fr *full = f->out.full;
    const unsigned fill = f->out.bits.fill;
    type->witness(&f->out, &in);
    bits_flush(&f->out.bits);
    return (uint64_t)(f->out.bits.words - start) * 64 + f->out.bits.fill - fill == t->n_aux &&
           f->out.full - full == t->n_full;
}

static bool fill_block(cs *system, const block_call *call) {
    filler *f = (filler *)system;
    const matrices *m = f->w->m;
    pool_yield(f->p);
    if (cs_failed(system) || f->next_instance == f->part[1].instances) return false;
    const block_instance *i = &m->instances[f->next_instance];
    const block_template *t = matrices_template(m, i);
    if (i->row != system->constraints || i->aux != system->aux || i->residual != f->next_residual)
        return false;
    if (!template_fits(t, call) || !same_operands(m, t, i, call)) {
        differs(f, "block", f->next_instance);
        return true;
    }
    if (!check_template(f, i, call)) return true;
    f->next_instance++;
    if (!call->type->witness) {
        f->body_end = i->row + t->rows.n;
        return false;
    }
    instance_values v;
    bits_flush(&f->out.bits);
    witness_gather(&v, f->w, f->part, i);
    if (!write_witness(f, &v, call->type)) {
        cs_fail(system, CUZK_ERR_INTERNAL, "the native witness of block %s has the wrong size", t->name);
        return true;
    }
    if (cs_advance(system, t->n_aux, t->rows.n)) set_results(f, &v, i, call);
    return true;
}

/* ---- parts, in parallel ---- */

typedef struct fill_job {
    compact_witness *w;
    const r1cs_circuit *circuit;
    const r1cs_parts *parts; /* NULL: the whole circuit is one */
    pool *p;
    void *state;
    const cuzk_progress *progress;
    pthread_mutex_t lock;
    uint64_t done; /* rows */
    cuzk_error error;
} fill_job;

static void finish_part(fill_job *job, filler *f) {
    cs *s = &f->base;
    const matrices_part *next = f->part + 1;
    if (!cs_failed(s) && (s->inputs != next->start.inputs || s->aux != next->start.aux ||
                          s->constraints != next->start.constraints || f->next_instance != next->instances ||
                          f->next_residual != next->residual))
        differs(f, "the end of part", (uint64_t)(f->part - f->w->m->parts));
    bits_flush(&f->out.bits);
    pthread_mutex_lock(&job->lock);
    job->done += next->start.constraints - f->part->start.constraints;
    if (!cs_failed(s))
        progress_report(job->progress, "synthesis", job->done, job->circuit->shape.constraints, &s->error);
    if (cs_failed(s) && job->error.code == CUZK_OK) job->error = s->error;
    pthread_mutex_unlock(&job->lock);
}

static void fill_part(fill_job *job, uint32_t part) {
    static const cs_ops ops = {fill_variable, compare_row, NULL, NULL};
    compact_witness *w = job->w;
    const matrices_part *p = &w->m->parts[part];
    filler f = {.w = w,
                .part = p,
                .p = job->p,
                .out = {{w->bits + p->bits / 64, 0, 0}, w->full + p->full},
                .next_instance = p->instances,
                .next_residual = p->residual};
    cs_init(&f.base, &ops, true);
    f.base.block = fill_block;
    f.base.inputs = p->start.inputs;
    f.base.aux = p->start.aux;
    f.base.constraints = p->start.constraints;
    f.base.limit = p[1].start;
    if (job->parts)
        job->parts->synthesize(job->circuit->ctx, part, job->state, &f.base);
    else
        job->circuit->synthesize(job->circuit->ctx, &f.base);
    finish_part(job, &f);
    cs_free(&f.base);
}

static void fill_parts(void *ctx, size_t begin, size_t end) {
    fill_job *job = ctx;
    for (size_t k = begin; k < end; k++) {
        pthread_mutex_lock(&job->lock);
        bool stop = job->error.code != CUZK_OK;
        pthread_mutex_unlock(&job->lock);
        if (!stop) fill_part(job, (uint32_t)k + 1);
    }
}

cuzk_code witness_fill(compact_witness *w, const r1cs_circuit *circuit, const r1cs_parts *parts, pool *p,
                       const cuzk_progress *progress, cuzk_error *err) {
    const matrices *m = w->m;
    if ((parts ? parts->count : 1) != m->n_parts)
        return error_set(err, m->from_file ? CUZK_ERR_INPUT : CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                         "the matrices of %s have %" PRIu32 " parts, the circuit has %" PRIu32, m->name,
                         m->n_parts, parts ? parts->count : 1);
    fill_job job = {.w = w, .circuit = circuit, .parts = parts, .p = p, .progress = progress};
    if (parts && parts->state_bytes) {
        job.state = calloc(1, parts->state_bytes);
        if (!job.state) return error_no_memory(err, parts->state_bytes, "the circuit's parts");
    }
    pthread_mutex_init(&job.lock, NULL);
    w->inputs[0] = FR_ONE;
    fill_part(&job, 0);
    if (job.error.code == CUZK_OK) pool_for(p, m->n_parts - 1, 1, fill_parts, &job);
    pthread_mutex_destroy(&job.lock);
    free(job.state);
    if (job.error.code == CUZK_OK) return pool_check(p, err);
    if (err) *err = job.error;
    return job.error.code;
}
