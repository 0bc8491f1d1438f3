/* Both directions go through one table of figures, in the alphabetical order of their keys. */
#include "r1cs/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#define FORMAT  "r1cs-digest-1"
#define FIGURES 28

typedef enum { NUMBER, TRUTH, TEXT, HASH, LIST } figure_kind;

typedef struct figure {
    const char *key; /* NULL: not available */
    figure_kind kind;
    uint64_t number;             /* NUMBER, TRUTH; LIST: elements */
    const char *text;            /* TEXT */
    const uint8_t (*hashes)[32]; /* HASH, LIST */
    uint64_t stride;             /* LIST: constraints per element, 0 when they are not constraints */
} figure;

static figure number(const char *key, uint64_t value) {
    return (figure){.key = key, .kind = NUMBER, .number = value};
}
static figure hash(const char *key, const uint8_t bytes[32]) {
    return (figure){.key = key, .kind = HASH, .number = 1, .hashes = (const uint8_t(*)[32])bytes};
}
static figure list(const char *key, uint8_t (*hashes)[32], size_t n, uint64_t stride) {
    return (figure){
        .key = key, .kind = LIST, .number = n, .hashes = (const uint8_t(*)[32])hashes, .stride = stride};
}
static figure chunks(const char *key, const vector_digest *v, uint64_t stride) {
    return list(key, v->chunk_sha256, v->chunks, stride);
}

static size_t list_figures(figure out[FIGURES], const r1cs_digest *s, const assignment_digest *v) {
    const uint64_t stride = R1CS_DIGEST_VALUES_CHUNK;
    size_t n = 0;
    out[n++] = number("a_aux_density", s->a_aux.count);
    out[n++] = hash("a_aux_density_bytes_sha256", s->a_aux.sha256);
    if (v) {
        out[n++] = chunks("a_chunk65536_sha256", &v->a, stride);
        out[n++] = hash("a_sha256", v->a.sha256);
        out[n++] = chunks("aux_chunk65536_sha256", &v->aux, 0);
        out[n++] = hash("aux_sha256", v->aux.sha256);
    }
    out[n++] = number("b_aux_density", s->b_aux.count);
    out[n++] = hash("b_aux_density_bytes_sha256", s->b_aux.sha256);
    if (v) out[n++] = chunks("b_chunk65536_sha256", &v->b, stride);
    out[n++] = number("b_input_density", s->b_input.count);
    out[n++] = hash("b_input_density_bytes_sha256", s->b_input.sha256);
    if (v) {
        out[n++] = hash("b_sha256", v->b.sha256);
        out[n++] = chunks("c_chunk65536_sha256", &v->c, stride);
        out[n++] = hash("c_sha256", v->c.sha256);
    }
    out[n++] = number("distinct_coefficients", s->distinct_coefficients);
    out[n++] = (figure){.key = "format", .kind = TEXT, .text = FORMAT};
    if (v) out[n++] = list("inputs", v->inputs, v->n_inputs, 0);
    out[n++] = number("nnz_a", s->nnz[0]);
    out[n++] = number("nnz_b", s->nnz[1]);
    out[n++] = number("nnz_c", s->nnz[2]);
    out[n++] = number("num_aux", s->shape.aux);
    out[n++] = number("num_constraints", s->shape.constraints);
    out[n++] = number("num_inputs", s->shape.inputs);
    out[n++] = number("r1cs_chunk_constraints", R1CS_DIGEST_CHUNK);
    out[n++] = list("r1cs_chunk_sha256", s->chunk_sha256, s->chunks, R1CS_DIGEST_CHUNK);
    out[n++] = hash("r1cs_sha256", s->sha256);
    if (v) out[n++] = (figure){.key = "satisfied", .kind = TRUTH, .number = v->satisfied};
    out[n++] = number("zero_coefficient_terms", s->zero_terms);
    return n;
}

static void to_hex(char out[65], const uint8_t bytes[32]) {
    for (int i = 0; i < 32; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- writing ---- */

static void put_text(yajl_gen g, const char *text) {
    yajl_gen_string(g, (const unsigned char *)text, strlen(text));
}

static void put_hash(yajl_gen g, const uint8_t bytes[32]) {
    char text[65];
    to_hex(text, bytes);
    put_text(g, text);
}

static void put_figure(yajl_gen g, const figure *f) {
    put_text(g, f->key);
    switch (f->kind) {
    case NUMBER:
        yajl_gen_integer(g, (long long)f->number);
        break;
    case TRUTH:
        yajl_gen_bool(g, f->number != 0);
        break;
    case TEXT:
        put_text(g, f->text);
        break;
    case HASH:
        put_hash(g, f->hashes[0]);
        break;
    case LIST:
        yajl_gen_array_open(g);
        for (size_t i = 0; i < f->number; i++) put_hash(g, f->hashes[i]);
        yajl_gen_array_close(g);
        break;
    }
}

cuzk_code r1cs_digest_to_json(char **text, size_t *size, const r1cs_digest *structure,
                              const assignment_digest *values, cuzk_error *err) {
    *text = NULL;
    figure figures[FIGURES];
    size_t n = list_figures(figures, structure, values);
    yajl_gen g = yajl_gen_alloc(NULL);
    if (!g) return error_no_memory(err, 0, "the digest's text");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_indent_string, "  ");
    yajl_gen_map_open(g);
    for (size_t i = 0; i < n; i++) put_figure(g, &figures[i]);
    yajl_gen_map_close(g);
    const unsigned char *made;
    cuzk_code code = CUZK_OK;
    if (yajl_gen_get_buf(g, &made, size) == yajl_gen_status_ok) *text = strndup((const char *)made, *size);
    if (!*text) code = error_no_memory(err, *size, "the digest's text");
    yajl_gen_free(g);
    return code;
}

/* ---- comparing ---- */

typedef struct comparison {
    const r1cs_digest *structure;
    const char *name;
    void (*report)(void *ctx, const r1cs_difference *difference);
    void *ctx;
    size_t shared, differences;
    cuzk_error *err;
} comparison;

static void differs(comparison *c, const figure *f, size_t index, const char *found, const char *expected) {
    r1cs_difference d = {
        .figure = f->key, .index = index, .is_list = f->kind == LIST, .constraint = UINT64_MAX};
    snprintf(d.found, sizeof d.found, "%s", found);
    snprintf(d.expected, sizeof d.expected, "%s", expected);
    if (f->kind == LIST && f->stride) {
        d.constraint = index * f->stride;
        size_t chunk = d.constraint / R1CS_DIGEST_CHUNK;
        if (chunk < c->structure->chunks) d.path = c->structure->chunk_paths[chunk];
    }
    c->differences++;
    if (c->report) c->report(c->ctx, &d);
}

static cuzk_code bad_kind(comparison *c, const figure *f) {
    return error_set(c->err, CUZK_ERR_INPUT, c->name, CUZK_NO_OFFSET, "'%s' is not %s", f->key,
                     f->kind == NUMBER  ? "a whole number"
                     : f->kind == TRUTH ? "true or false"
                     : f->kind == LIST  ? "a list of strings"
                                        : "a string");
}

static cuzk_code compare_list(comparison *c, const figure *f, yajl_val value) {
    if (!YAJL_IS_ARRAY(value)) return bad_kind(c, f);
    size_t length = value->u.array.len;
    for (size_t i = 0; i < length || i < f->number; i++) {
        char found[65] = "nothing";
        const char *expected = "nothing";
        if (i < f->number) to_hex(found, f->hashes[i]);
        if (i < length) {
            expected = YAJL_GET_STRING(value->u.array.values[i]);
            if (!expected) return bad_kind(c, f);
        }
        if (strcmp(found, expected) == 0) continue;
        differs(c, f, i, found, expected);
        break;
    }
    return CUZK_OK;
}

static cuzk_code compare_figure(comparison *c, const figure *f, yajl_val value) {
    char found[72], expected[72];
    const char *want = expected;
    switch (f->kind) {
    case LIST:
        return compare_list(c, f, value);
    case NUMBER:
        if (!YAJL_IS_INTEGER(value)) return bad_kind(c, f);
        snprintf(found, sizeof found, "%" PRIu64, f->number);
        snprintf(expected, sizeof expected, "%lld", YAJL_GET_INTEGER(value));
        break;
    case TRUTH:
        if (!YAJL_IS_TRUE(value) && !YAJL_IS_FALSE(value)) return bad_kind(c, f);
        snprintf(found, sizeof found, "%s", f->number ? "true" : "false");
        want = YAJL_IS_TRUE(value) ? "true" : "false";
        break;
    case TEXT:
    case HASH:
        if (!YAJL_IS_STRING(value)) return bad_kind(c, f);
        want = YAJL_GET_STRING(value);
        if (f->kind == TEXT)
            snprintf(found, sizeof found, "%s", f->text);
        else
            to_hex(found, f->hashes[0]);
        break;
    }
    if (strcmp(found, want) != 0) differs(c, f, 0, found, want);
    return CUZK_OK;
}

static cuzk_code compare_all(comparison *c, const figure *figures, size_t n, yajl_val root) {
    if (!YAJL_IS_OBJECT(root))
        return error_set(c->err, CUZK_ERR_INPUT, c->name, CUZK_NO_OFFSET, "not a JSON object");
    for (int lists = 1; lists >= 0; lists--) {
        for (size_t i = 0; i < n; i++) {
            const char *path[] = {figures[i].key, NULL};
            yajl_val value = yajl_tree_get(root, path, yajl_t_any);
            if (!value || (figures[i].kind == LIST) != lists) continue;
            c->shared++;
            TRY(compare_figure(c, &figures[i], value));
        }
    }
    if (c->shared == 0)
        return error_set(c->err, CUZK_ERR_INPUT, c->name, CUZK_NO_OFFSET,
                         "no figure of an R1CS digest in it");
    return CUZK_OK;
}

cuzk_code r1cs_digest_compare(const r1cs_digest *structure, const assignment_digest *values, const char *json,
                              size_t size, const char *name,
                              void (*report)(void *ctx, const r1cs_difference *difference), void *ctx,
                              size_t *differences, cuzk_error *err) {
    *differences = 0;
    figure figures[FIGURES];
    size_t n = list_figures(figures, structure, values);
    comparison c = {structure, name, report, ctx, 0, 0, err};
    char *text = strndup(json, size), message[256];
    if (!text) return error_no_memory(err, size, "the expected digest");
    yajl_val root = yajl_tree_parse(text, message, sizeof message);
    free(text);
    if (!root) {
        message[strcspn(message, "\n")] = 0;
        return error_set(err, CUZK_ERR_INPUT, name, CUZK_NO_OFFSET, "not JSON: %s", message);
    }
    cuzk_code code = compare_all(&c, figures, n, root);
    yajl_tree_free(root);
    *differences = c.differences;
    return code;
}
