#include "recorded_circuit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static fr *read_elements(size_t *n, const char *directory, const char *name) {
    char path[256];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *bytes = fixture_read(path, &size);
    if (size % 32 != 0) fail_msg("%s: %zu bytes", path, size);
    *n = size / 32;
    fr *out = malloc(size);
    assert_non_null(out);
    for (size_t i = 0; i < *n; i++)
        if (!fr_from_bytes(&out[i], (const uint8_t *)bytes + 32 * i)) fail_msg("%s: element %zu", path, i);
    free(bytes);
    return out;
}

static uint32_t take_u32(const char **at, const char *end) {
    uint32_t value;
    if ((size_t)(end - *at) < sizeof value) fail_msg("constraints end too early");
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
}

static const char *read_lc(lc *out, const recorded_circuit *r, uint32_t aux, const char *at) {
    const char *end = r->constraints + r->constraints_size;
    lc_clear(out);
    for (uint32_t n = take_u32(&at, end); n > 0; n--) {
        uint32_t v = take_u32(&at, end), coefficient = take_u32(&at, end);
        if (coefficient >= r->coefficient_count) fail_msg("coefficient %u", coefficient);
        lc_add_term(out, v % 2 ? R1CS_AUX | (aux - (v >> 1)) : v / 2, &r->coefficients[coefficient]);
    }
    return at;
}

static void synthesize(const void *ctx, cs *system) {
    const recorded_circuit *r = ctx;
    const char *at = r->constraints, *end = at + r->constraints_size;
    uint32_t aux = 0;
    for (size_t i = 0; i < r->input_count; i++) cs_alloc_input(system, &r->inputs[i]);
    while (at < end && !cs_failed(system)) {
        for (uint32_t n = take_u32(&at, end); n > 0; n--) {
            if (aux >= r->aux_count) fail_msg("more aux variables than values");
            cs_alloc(system, &r->aux[aux++]);
        }
        at = read_lc(&system->a, r, aux, at);
        at = read_lc(&system->b, r, aux, at);
        at = read_lc(&system->c, r, aux, at);
        cs_enforce(system, &system->a, &system->b, &system->c);
    }
}

void recorded_circuit_read(recorded_circuit *out, const char *directory, const char *meta,
                           const char *inputs) {
    char path[256];
    snprintf(path, sizeof path, "%s/constraints.bin.zst", directory);
    out->constraints = fixture_read(path, &out->constraints_size);
    out->coefficients = read_elements(&out->coefficient_count, directory, "coefficients.bin");
    out->aux = read_elements(&out->aux_count, directory, "aux.bin.zst");

    yajl_val json = fixture_json(meta);
    yajl_val list = json_at(json, inputs);
    out->input_count = json_len(list, "");
    out->inputs = malloc(out->input_count * sizeof(fr));
    assert_non_null(out->inputs);
    for (size_t i = 0; i < out->input_count; i++) {
        char index[24];
        uint8_t bytes[32];
        snprintf(index, sizeof index, "%zu", i);
        hex_decode(bytes, json_str(list, index), sizeof bytes);
        assert_true(fr_from_bytes(&out->inputs[i], bytes));
    }
    yajl_tree_free(json);

    out->circuit = (r1cs_circuit){.name = directory, .synthesize = synthesize, .ctx = out};
    assert_int_equal(r1cs_measure(&out->circuit.shape, &out->circuit, NULL), CUZK_OK);
    assert_int_equal(out->circuit.shape.aux, out->aux_count);
}

void recorded_circuit_free(recorded_circuit *r) {
    free(r->constraints);
    free(r->coefficients);
    free(r->aux);
    free(r->inputs);
}
