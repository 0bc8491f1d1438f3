/*
 * Arrays stand in the file as they are in memory (little-endian, no padding inside elements), so what is read
 * needs no conversion but for coefficients and the few small arrays that are copied. A file is copied, not
 * used where it is mapped: its numbers are indices, checked once, and must not change afterwards.
 */
#include "r1cs/matrices_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "hash/digest.h"

#define MAGIC "CUZKPCE1"

typedef struct file_header {
    char magic[8];
    uint64_t size; /* of the file */
    char name[BLOCK_NAME_BYTES];
    uint32_t inputs, aux;
    uint64_t constraints;
    uint32_t coefficients, templates, instances, operands;
    uint32_t residual, residual_terms, parts, zero;
    uint8_t sha256[32]; /* of the file with zeros here */
} file_header;

typedef struct file_part {
    uint32_t inputs, aux;
    uint64_t constraints;
    uint32_t instances, residual;
} file_part;

typedef struct file_template {
    char name[BLOCK_NAME_BYTES];
    uint64_t parameter;
    uint32_t n_bits, n_nums, n_out_bits, n_out_nums, n_aux, rows, terms, zero;
} file_template;

typedef struct file_result {
    uint32_t var;
    uint32_t form; /* an operand_form */
} file_result;

_Static_assert(sizeof(file_header) == 128 && sizeof(file_part) == 24 && sizeof(file_template) == 72 &&
                   sizeof(block_instance) == 24 && sizeof(row_term) == 8,
               "the file's layout");

/* ---- writing ---- */

typedef struct writer {
    file_writer *file; /* NULL: only measure and hash */
    sha256 hash;
    uint64_t size;
    cuzk_error *err;
    cuzk_code code;
} writer;

static void put(writer *w, const void *data, size_t size) {
    static const uint8_t zeros[8] = {0};
    const size_t padding = -size % 8;
    if (w->code != CUZK_OK || size == 0) return;
    w->size += size + padding;
    if (!w->file) {
        sha256_update(&w->hash, data, size);
        sha256_update(&w->hash, zeros, padding);
        return;
    }
    w->code = file_write(w->file, data, size, w->err);
    if (w->code == CUZK_OK) w->code = file_write(w->file, zeros, padding, w->err);
}

static void put_coefficients(writer *w, const coefficients *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        fr_repr plain;
        fr_to_repr(&plain, &c->list[i].value);
        put(w, &plain, sizeof plain);
    }
}

static void put_template(writer *w, const block_template *t) {
    file_template header = {.parameter = t->parameter,
                            .n_bits = t->n_bits,
                            .n_nums = t->n_nums,
                            .n_out_bits = t->n_out_bits,
                            .n_out_nums = t->n_out_nums,
                            .n_aux = t->n_aux,
                            .rows = t->rows.n,
                            .terms = t->rows.n_terms};
    memcpy(header.name, t->name, sizeof header.name);
    put(w, &header, sizeof header);
    put(w, t->rows.terms, t->rows.n_terms * sizeof *t->rows.terms);
    put(w, t->rows.ends, (size_t)3 * t->rows.n * sizeof *t->rows.ends);
    for (uint32_t k = 0; k < t->n_out_bits; k++) {
        file_result result = {t->out_bits[k].var, operand_form_of(t->out_bits[k])};
        put(w, &result, sizeof result);
    }
    put(w, t->out_nums, t->n_out_nums * sizeof *t->out_nums);
    put(w, t->forms, t->n_bits);
}

static void put_all(writer *w, const matrices *m, const file_header *header) {
    put(w, header, sizeof *header);
    put_coefficients(w, &m->coefficients);
    for (uint32_t k = 0; k <= m->n_parts; k++) {
        const matrices_part *p = &m->parts[k];
        file_part part = {p->start.inputs, p->start.aux, p->start.constraints, p->instances, p->residual};
        put(w, &part, sizeof part);
    }
    put(w, m->instances, m->n_instances * sizeof *m->instances);
    put(w, m->operands, m->n_operands * sizeof *m->operands);
    put(w, m->residual.terms, m->residual.n_terms * sizeof *m->residual.terms);
    put(w, m->residual.ends, (size_t)3 * m->residual.n * sizeof *m->residual.ends);
    for (uint32_t i = 0; i < m->n_templates; i++) put_template(w, &m->templates[i]);
}

cuzk_code matrices_save(const matrices *m, const char *path, cuzk_error *err) {
    file_header header = {.magic = MAGIC,
                          .inputs = m->shape.inputs,
                          .aux = m->shape.aux,
                          .constraints = m->shape.constraints,
                          .coefficients = m->coefficients.n,
                          .templates = m->n_templates,
                          .instances = m->n_instances,
                          .operands = m->n_operands,
                          .residual = m->residual.n,
                          .residual_terms = m->residual.n_terms,
                          .parts = m->n_parts};
    memcpy(header.name, m->name, sizeof header.name);
    writer w = {.code = CUZK_OK,
                .err = err}; /* the size, which is hashed too, then the hash, then the file */
    sha256_start(&w.hash);
    put_all(&w, m, &header);
    header.size = w.size;
    sha256_start(&w.hash);
    put_all(&w, m, &header);
    sha256_finish(&w.hash, header.sha256);

    file_writer file;
    TRY(file_write_begin(&file, path, header.size, err));
    w.file = &file;
    put_all(&w, m, &header);
    if (w.code == CUZK_OK) return file_write_commit(&file, err);
    file_write_abort(&file);
    return w.code;
}

/* ---- reading ---- */

typedef struct reader {
    const uint8_t *data;
    uint64_t size, at;
    const char *name;
    cuzk_error *err;
} reader;

static cuzk_code bad(const reader *r, uint64_t offset, const char *what) {
    return error_set(r->err, CUZK_ERR_INPUT, r->name, offset, "%s", what);
}

/* The next n elements, in place. */
static cuzk_code take(const void **out, reader *r, uint64_t n, size_t element) {
    const uint64_t left = r->size - r->at;
    *out = r->data + r->at;
    if (n > left / element)
        return error_set(r->err, CUZK_ERR_INPUT, r->name, r->at,
                         "%" PRIu64 " elements of %zu bytes expected, %" PRIu64 " bytes are left", n, element,
                         left);
    uint64_t bytes = (n * element + 7) / 8 * 8;
    r->at = bytes > left ? r->size : r->at + bytes;
    return CUZK_OK;
}

static cuzk_code check_header(reader *r, const file_header *h, const r1cs_circuit *circuit) {
    char name[BLOCK_NAME_BYTES] = {0};
    strncpy(name, circuit->name, sizeof name - 1);
    if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0 || h->zero)
        return bad(r, 0, "no file of matrices, or of another version");
    if (h->size != r->size)
        return error_set(r->err, CUZK_ERR_INPUT, r->name, 8, "%" PRIu64 " bytes, expected %" PRIu64, r->size,
                         h->size);
    if (memcmp(h->name, name, sizeof name) != 0) return bad(r, 16, "the matrices of another circuit");
    if (h->inputs != circuit->shape.inputs || h->aux != circuit->shape.aux ||
        h->constraints != circuit->shape.constraints)
        return error_set(r->err, CUZK_ERR_INPUT, r->name, 48,
                         "%" PRIu32 " inputs, %" PRIu32 " aux and %" PRIu64 " constraints, expected %" PRIu32
                         ", %" PRIu32 " and %" PRIu64,
                         h->inputs, h->aux, h->constraints, circuit->shape.inputs, circuit->shape.aux,
                         circuit->shape.constraints);
    sha256 hash;
    uint8_t found[32];
    static const uint8_t zeros[sizeof h->sha256] = {0};
    const size_t before = offsetof(file_header, sha256);
    sha256_start(&hash);
    sha256_update(&hash, r->data, before);
    sha256_update(&hash, zeros, sizeof zeros);
    sha256_update(&hash, r->data + sizeof *h, r->size - sizeof *h);
    sha256_finish(&hash, found);
    if (memcmp(found, h->sha256, sizeof found) != 0)
        return bad(r, before, "the checksum does not fit: damaged");
    return CUZK_OK;
}

static cuzk_code read_coefficients(matrices *m, reader *r, uint32_t n) {
    const void *values;
    const uint64_t offset = r->at;
    TRY(take(&values, r, n, sizeof(fr_repr)));
    if (!coefficients_init(&m->coefficients))
        return error_no_memory(r->err, n * sizeof(coefficient), "matrices");
    for (uint32_t i = 0; i < n; i++) {
        fr value;
        uint32_t number;
        const uint8_t *bytes = (const uint8_t *)values + (size_t)i * sizeof(fr_repr);
        if (!fr_from_bytes(&value, bytes))
            return bad(r, offset + 32 * (uint64_t)i, "a coefficient is not below r");
        if (!coefficients_add(&m->coefficients, &value, &number))
            return error_no_memory(r->err, n * sizeof(coefficient), "matrices");
        if (number != i)
            return bad(r, offset + 32 * (uint64_t)i,
                       "a coefficient stands twice, or one and minus one do not begin");
    }
    return CUZK_OK;
}

static cuzk_code read_rows(sparse_rows *out, reader *r, uint32_t n, uint32_t n_terms) {
    const void *terms, *ends;
    TRY(take(&terms, r, n_terms, sizeof(row_term)));
    const uint64_t offset = r->at;
    TRY(take(&ends, r, 3 * (uint64_t)n, sizeof(uint32_t)));
    *out = (sparse_rows){.n = n,
                         .n_terms = n_terms,
                         .ends = (uint32_t *)(uintptr_t)ends,
                         .terms = (row_term *)(uintptr_t)terms};
    uint32_t end = 0;
    for (size_t i = 0; i < (size_t)3 * n; i++) {
        if (out->ends[i] < end) return bad(r, offset + 4 * i, "rows out of order");
        end = out->ends[i];
    }
    return end == n_terms ? CUZK_OK : bad(r, offset, "rows do not end with their terms");
}

/* A variable of a template that has been read so far. */
static bool is_variable(const block_template *t, r1cs_var v) {
    return r1cs_is_aux(v) && r1cs_index(v) < template_operands(t) + t->n_aux;
}

static cuzk_code check_template_rows(const block_template *t, const coefficients *c, reader *r,
                                     uint64_t offset) {
    for (uint32_t i = 0; i < t->rows.n_terms; i++) {
        const row_term *term = &t->rows.terms[i];
        if ((term->var != R1CS_ONE && !is_variable(t, term->var)) || term->coeff >= c->n)
            return bad(r, offset, "a template's row with an unknown variable or coefficient");
    }
    return CUZK_OK;
}

static cuzk_code read_results(block_template *t, reader *r) {
    const void *results, *nums, *forms;
    const uint64_t offset = r->at;
    TRY(take(&results, r, t->n_out_bits, sizeof(file_result)));
    TRY(take(&nums, r, t->n_out_nums, sizeof(uint32_t)));
    TRY(take(&forms, r, t->n_bits, 1));
    t->out_bits = calloc((size_t)t->n_out_bits + 1, sizeof *t->out_bits);
    t->out_nums = calloc((size_t)t->n_out_nums + 1, sizeof *t->out_nums);
    t->forms = malloc((size_t)t->n_bits + 1);
    if (!t->out_bits || !t->out_nums || !t->forms) return error_no_memory(r->err, t->n_bits, "a template");
    for (uint32_t k = 0; k < t->n_bits; k++) {
        t->forms[k] = ((const uint8_t *)forms)[k];
        if (t->forms[k] > OPERAND_NOT) return bad(r, offset, "an operand of unknown form");
    }
    for (uint32_t k = 0; k < t->n_out_bits; k++) {
        const file_result *result = (const file_result *)results + k;
        boolean *bit = &t->out_bits[k];
        *bit = (boolean){result->var, BOOLEAN_CONSTANT, result->form == OPERAND_TRUE};
        if (result->form == OPERAND_IS) bit->form = BOOLEAN_IS;
        if (result->form == OPERAND_NOT) bit->form = BOOLEAN_NOT;
        if (result->form > OPERAND_NOT || (bit->form != BOOLEAN_CONSTANT && !is_variable(t, bit->var)))
            return bad(r, offset, "a template's result is no variable of it");
    }
    for (uint32_t k = 0; k < t->n_out_nums; k++) {
        t->out_nums[k] = ((const uint32_t *)nums)[k];
        if (!is_variable(t, t->out_nums[k]) || r1cs_index(t->out_nums[k]) < t->n_bits)
            return bad(r, offset, "a template's result is no variable of it");
    }
    return CUZK_OK;
}

static cuzk_code read_template(block_template *t, matrices *m, reader *r) {
    const void *data;
    const uint64_t offset = r->at;
    TRY(take(&data, r, 1, sizeof(file_template)));
    const file_template *h = data;
    if (h->n_bits > BLOCK_MAX_BITS || h->n_out_bits > BLOCK_MAX_BITS || h->n_nums > BLOCK_MAX_NUMS ||
        h->n_out_nums > BLOCK_MAX_NUMS || h->n_aux > h->terms || h->n_aux > m->shape.aux ||
        h->rows > m->shape.constraints || h->terms >= REF_STRIDE_2 || h->name[sizeof h->name - 1] || h->zero)
        return bad(r, offset, "a template of impossible size");
    *t = (block_template){.parameter = h->parameter,
                          .n_bits = h->n_bits,
                          .n_nums = h->n_nums,
                          .n_out_bits = h->n_out_bits,
                          .n_out_nums = h->n_out_nums,
                          .n_aux = h->n_aux};
    memcpy(t->name, h->name, sizeof t->name);
    TRY(read_rows(&t->rows, r, h->rows, h->terms));
    TRY(check_template_rows(t, &m->coefficients, r, offset));
    TRY(read_results(t, r));
    return template_derive(t, &m->coefficients, r->err);
}

static cuzk_code read_parts(matrices *m, reader *r, uint32_t n) {
    const void *data;
    TRY(take(&data, r, (uint64_t)n + 1, sizeof(file_part)));
    m->parts = calloc((size_t)n + 1, sizeof *m->parts);
    if (!m->parts) return error_no_memory(r->err, n * sizeof *m->parts, "matrices");
    m->n_parts = n;
    for (uint32_t k = 0; k <= n; k++) {
        const file_part *p = (const file_part *)data + k;
        m->parts[k] = (matrices_part){
            .start = {p->inputs, p->aux, p->constraints}, .instances = p->instances, .residual = p->residual};
    }
    return CUZK_OK;
}

static cuzk_code read_templates(matrices *m, reader *r, uint32_t n) {
    if (n > (r->size - r->at) / sizeof(file_template))
        return bad(r, r->at, "more templates than the file can hold");
    m->templates = calloc((size_t)n + 1, sizeof *m->templates);
    if (!m->templates) return error_no_memory(r->err, n * sizeof *m->templates, "matrices");
    for (; m->n_templates < n; m->n_templates++) {
        cuzk_code code = read_template(&m->templates[m->n_templates], m, r);
        if (code == CUZK_OK) continue;
        template_free(&m->templates[m->n_templates]);
        return code;
    }
    return CUZK_OK;
}

static cuzk_code read_all(matrices *m, reader *r, const r1cs_circuit *circuit) {
    const void *header, *instances, *operands;
    if (r->size < sizeof(file_header)) return bad(r, r->size, "too short for a file of matrices");
    TRY(take(&header, r, 1, sizeof(file_header)));
    const file_header *h = header;
    TRY(check_header(r, h, circuit));
    memcpy(m->name, h->name, sizeof m->name);
    m->shape = circuit->shape;
    m->from_file = true;
    TRY(read_coefficients(m, r, h->coefficients));
    TRY(read_parts(m, r, h->parts));
    TRY(take(&instances, r, h->instances, sizeof *m->instances));
    TRY(take(&operands, r, h->operands, sizeof *m->operands));
    m->instances = (block_instance *)(uintptr_t)instances;
    m->operands = (uint32_t *)(uintptr_t)operands;
    m->n_instances = h->instances;
    m->n_operands = h->operands;
    TRY(read_rows(&m->residual, r, h->residual, h->residual_terms));
    TRY(read_templates(m, r, h->templates));
    if (r->at != r->size) return bad(r, r->at, "bytes after the last template");
    return matrices_derive(m, r->err);
}

/* Errors of what is derived name the file, too. */
static void name_file(const reader *r) {
    if (!r->err || r->err->path[0]) return;
    strncpy(r->err->path, r->name, sizeof r->err->path - 1);
    r->err->path[sizeof r->err->path - 1] = 0;
}

cuzk_code matrices_parse(matrices **out, const void *data, uint64_t size, const char *name,
                         const r1cs_circuit *circuit, cuzk_error *err) {
    *out = NULL;
    matrices *m = calloc(1, sizeof *m);
    if (!m) return error_no_memory(err, sizeof *m, "matrices");
    reader r = {data, size, 0, name, err};
    cuzk_code code = read_all(m, &r, circuit);
    if (code == CUZK_ERR_INPUT) name_file(&r);
    if (code != CUZK_OK)
        matrices_free(m);
    else
        *out = m;
    return code;
}

cuzk_code matrices_open(matrices **out, const char *path, const r1cs_circuit *circuit, cuzk_error *err) {
    *out = NULL;
    file_map map;
    void *memory;
    TRY(file_map_open(&map, path, CUZK_ERR_INPUT, err));
    const size_t size = map.size;
    cuzk_code code = mem_big_alloc(&memory, size, "matrices", err);
    if (code == CUZK_OK && size > 0) memcpy(memory, map.data, size);
    code = file_map_outcome(&map, code, err);
    file_map_close(&map);
    if (code == CUZK_OK) code = matrices_parse(out, memory, size, path, circuit, err);
    if (code == CUZK_OK) {
        (*out)->memory = memory;
        (*out)->memory_bytes = size;
    } else {
        mem_big_free(memory, size);
    }
    return code;
}
