#include "synthesis_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "r1cs/digest.h"
#include "r1cs/expand.h"

matrices *check_matrices(const r1cs_circuit *circuit, const r1cs_parts *parts) {
    matrices *m;
    cuzk_error err;
    if (matrices_create(&m, circuit, parts, NULL, &err)) fail_msg("%s: %s", circuit->name, err.message);
    return m;
}

static void same_density(const char *what, const density_digest *a, const density_digest *b) {
    if (a->count != b->count || memcmp(a->sha256, b->sha256, 32) != 0)
        fail_msg("the densities of %s differ", what);
}

void check_same_structure(const matrices *m, const r1cs_circuit *circuit) {
    r1cs_circuit again;
    r1cs_digest expected, found;
    cuzk_error err;
    matrices_circuit(&again, m);
    if (r1cs_digest_create(&expected, circuit, NULL, NULL, &err))
        fail_msg("%s: %s", circuit->name, err.message);
    if (r1cs_digest_create(&found, &again, NULL, NULL, &err)) fail_msg("%s: %s", circuit->name, err.message);
    assert_int_equal(found.shape.constraints, expected.shape.constraints);
    for (size_t i = 0; i < expected.chunks; i++)
        if (memcmp(found.chunk_sha256[i], expected.chunk_sha256[i], 32) != 0)
            fail_msg("%s: the matrices differ in block %zu (%s)", circuit->name, i, expected.chunk_paths[i]);
    assert_memory_equal(found.sha256, expected.sha256, 32);
    for (unsigned s = 0; s < 3; s++) assert_int_equal(found.nnz[s], expected.nnz[s]);
    assert_int_equal(found.zero_terms, expected.zero_terms);
    same_density("A", &found.a_aux, &expected.a_aux);
    same_density("B", &found.b_aux, &expected.b_aux);
    same_density("inputs in B", &found.b_input, &expected.b_input);
    assert_int_equal(m->a_aux_count, expected.a_aux.count);
    assert_int_equal(m->b_aux_count, expected.b_aux.count);
    assert_int_equal(m->b_input_count, expected.b_input.count);
    r1cs_digest_free(&expected);
    r1cs_digest_free(&found);
}

static void same_vector(const char *what, const fr *found, const fr *expected, size_t n) {
    if (memcmp(found, expected, n * sizeof *found) == 0) return;
    size_t i = 0;
    while (fr_eq(&found[i], &expected[i])) i++;
    fail_msg("%s differs at %zu", what, i);
}

static void same_rows(const compact_witness *w, const assignment *generic, expansion_path path,
                      uint64_t first, size_t n, bool stream) {
    fr *rows[3];
    for (unsigned s = 0; s < 3; s++) {
        rows[s] = aligned_alloc(64, (n * sizeof(fr) / 64 + 2) * 64);
        assert_non_null(rows[s]);
    }
    const unsigned odd = first & 1;
    assert_true(expand_rows(w, path, first, n, rows[0] + odd, rows[1] + odd, rows[2] + odd, stream));
    same_vector("A", rows[0] + odd, generic->a + first, n);
    same_vector("B", rows[1] + odd, generic->b + first, n);
    same_vector("C", rows[2] + odd, generic->c + first, n);
    for (unsigned s = 0; s < 3; s++) free(rows[s]);
}

void check_same_values(const matrices *m, const r1cs_circuit *circuit, const r1cs_parts *parts,
                       const assignment *generic, unsigned threads) {
    compact_witness w;
    cuzk_error err;
    pool *p;
    assert_int_equal(pool_create(&p, threads, &err), CUZK_OK);
    assert_int_equal(witness_create(&w, m, &err), CUZK_OK);
    if (witness_fill(&w, circuit, parts, p, NULL, &err)) fail_msg("%s: %s", circuit->name, err.message);
    pool_destroy(p);
    const uint64_t n = m->shape.constraints;
    same_vector("the inputs", w.inputs, generic->inputs, m->shape.inputs);
    fr *aux = aligned_alloc(64, ((size_t)m->shape.aux / 2 + 2) * 64);
    assert_non_null(aux);
    expand_aux(&w, 0, m->shape.aux, aux, true);
    same_vector("the witness", aux, generic->aux, m->shape.aux);
    for (uint32_t k = 0; k < m->shape.aux; k += 1 + m->shape.aux / 300) {
        fr value;
        witness_value(&value, &w, R1CS_AUX | k);
        assert_true(fr_eq(&value, &generic->aux[k]));
        size_t some = m->shape.aux - k < 100 ? m->shape.aux - k : 100;
        expand_aux(&w, k, some, aux + (k & 1), false);
        same_vector("the witness", aux + (k & 1), generic->aux + k, some);
    }
    free(aux);
    same_rows(&w, generic, EXPAND_TEMPLATES, 0, n, true);
    same_rows(&w, generic, EXPAND_PRODUCTS, 0, n, false);
    for (uint64_t row = 0; row < n; row += 1 + n / 300)
        same_rows(&w, generic, EXPAND_TEMPLATES, row, n - row < 150 ? n - row : 150, row % 3 == 0);
    assert_true(expand_check(&w, 0, n));
    witness_free(&w);
}

void check_synthesis(const r1cs_circuit *circuit, const r1cs_parts *parts) {
    assignment generic;
    cuzk_error err;
    matrices *m = check_matrices(circuit, parts);
    check_same_structure(m, circuit);
    if (assignment_create(&generic, circuit, NULL, &err)) fail_msg("%s: %s", circuit->name, err.message);
    check_same_values(m, circuit, parts, &generic, 1);
    assignment_free(&generic);
    matrices_free(m);
}
