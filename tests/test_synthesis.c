/* The three ways to an assignment on real sectors: equal to each other and to the reference, bit for bit, for
 * every code variant and number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "variants.h"

#include "base/mem.h"
#include "circuit/porep.h"
#include "filecoin/fabricate.h"
#include "r1cs/density.h"
#include "r1cs/digest.h"
#include "r1cs/synthesis.h"

typedef struct sector {
    c1 *c;
    porep_circuit porep;
    r1cs_circuit circuit;
    r1cs_parts parts;
} sector;

static void sector_read(sector *out, const char *name) {
    char path[1024];
    cuzk_error err;
    snprintf(path, sizeof path, "%s/c1/%s/c1.json", CUZK_TEST_DATA, name);
    if (c1_read(&out->c, path, &err)) fail_msg("%s: %s", path, err.message);
    porep_of_c1(&out->porep, &out->circuit, out->c, 0);
    porep_parts(&out->parts, &out->porep);
}

static pool *threads(unsigned n) {
    pool *p;
    assert_int_equal(pool_create(&p, n, NULL), CUZK_OK);
    return p;
}

static void run(assignment *out, synthesizer *kept, const sector *s, synthesis_path path,
                unsigned n_threads) {
    cuzk_error err;
    pool *p = threads(n_threads);
    if (synthesize(out, kept, &s->circuit, &s->parts, path, p, NULL, &err)) fail_msg("%s", err.message);
    pool_destroy(p);
}

static void same_assignment(const assignment *a, const assignment *b) {
    const size_t domain = sizeof(fr) << a->log_domain;
    assert_int_equal(a->log_domain, b->log_domain);
    assert_memory_equal(a->inputs, b->inputs, a->shape.inputs * sizeof(fr));
    assert_true(memcmp(a->aux, b->aux, a->shape.aux * sizeof(fr)) == 0);
    assert_true(memcmp(a->a, b->a, domain) == 0);
    assert_true(memcmp(a->b, b->b, domain) == 0);
    assert_true(memcmp(a->c, b->c, domain) == 0);
    const size_t words = density_words(a->shape.aux) * sizeof(uint64_t);
    assert_true(memcmp(a->a_aux_density, b->a_aux_density, words) == 0);
    assert_true(memcmp(a->b_aux_density, b->b_aux_density, words) == 0);
    assert_memory_equal(a->b_input_density, b->b_input_density,
                        density_words(a->shape.inputs) * sizeof(uint64_t));
    assert_int_equal(a->a_aux_count, b->a_aux_count);
    assert_int_equal(a->b_aux_count, b->b_aux_count);
    assert_int_equal(a->b_input_count, b->b_input_count);
}

static void print_difference(void *ctx, const r1cs_difference *d) {
    print_error("%s: %s[%zu] is %s, expected %s\n", (const char *)ctx, d->figure, d->index, d->found,
                d->expected);
}

/* The rows of the matrices and the assignment have all the reference's figures. */
static void compare_reference(const matrices *m, const assignment *a, const char *name) {
    cuzk_error err;
    r1cs_circuit circuit;
    r1cs_digest structure;
    assignment_digest values;
    size_t size, differences;
    matrices_circuit(&circuit, m);
    assert_int_equal(r1cs_digest_create(&structure, &circuit, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_digest_create(&values, a, NULL, &err), CUZK_OK);
    char *json = fixture_read(name, &size);
    if (r1cs_digest_compare(&structure, &values, json, size, name, print_difference, (void *)(uintptr_t)name,
                            &differences, &err))
        fail_msg("%s", err.message);
    assert_int_equal(differences, 0);
    free(json);
    r1cs_digest_free(&structure);
    assignment_digest_free(&values);
}

static void sector_2k(void **unused) {
    (void)unused;
    sector s;
    synthesizer kept = {.m = NULL};
    assignment generic = {.a = NULL}, fast = {.a = NULL};
    sector_read(&s, "2k-v1_1");
    run(&generic, NULL, &s, SYNTHESIS_GENERIC, 1);
    run(&fast, &kept, &s, SYNTHESIS_TEMPLATES, 1);
    compare_reference(kept.m, &fast, "r1cs/porep-2k/digest.json");
    same_assignment(&fast, &generic);
    for (int isa = CPU_PORTABLE; isa <= (int)cpu_best(); isa++) {
        field_select((cpu_isa)isa);
        static const unsigned counts[] = {1, 2, 3, 8};
        for (unsigned i = 0; i < 4; i++) {
            /* Vectors are used again whatever they hold. */
            memset(fast.b, 0xff, sizeof(fr) << fast.log_domain);
            fast.padded = false;
            run(&fast, &kept, &s, SYNTHESIS_TEMPLATES, counts[i]);
            same_assignment(&fast, &generic);
        }
    }
    run(&fast, &kept, &s, SYNTHESIS_PRODUCTS, 2);
    same_assignment(&fast, &generic);
    assignment_free(&generic);
    assignment_free(&fast);
    synthesizer_free(&kept);
    c1_free(s.c);
}

static void sector_8m(void **unused) {
    (void)unused;
    sector s, other;
    synthesizer kept = {.m = NULL};
    assignment first = {.a = NULL}, second = {.a = NULL};
    sector_read(&s, "8m-v1_1");
    sector_read(&other, "2k-synthetic");
    run(&first, &kept, &other, SYNTHESIS_TEMPLATES, 2);
    run(&first, &kept, &s, SYNTHESIS_TEMPLATES, 2); /* another circuit than the one kept */
    compare_reference(kept.m, &first, "r1cs/porep-8m/digest.json");
    run(&second, &kept, &s, SYNTHESIS_PRODUCTS, 2);
    same_assignment(&first, &second);
    assignment_free(&first);
    assignment_free(&second);
    synthesizer_free(&kept);
    c1_free(s.c);
    c1_free(other.c);
}

/* Codes are the values, and damage to a compact witness is noticed. */
static void compact(void **unused) {
    (void)unused;
    sector s;
    cuzk_error err;
    matrices *m;
    compact_witness w;
    sector_read(&s, "2k-synthetic");
    assert_int_equal(matrices_create(&m, &s.circuit, &s.parts, NULL, &err), CUZK_OK);
    assert_int_equal(witness_create(&w, m, &err), CUZK_OK);
    assert_int_equal(witness_fill(&w, &s.circuit, &s.parts, NULL, NULL, &err), CUZK_OK);
    const uint64_t rows = m->shape.constraints;
    assert_true(expand_check(&w, 0, rows));

    /* codes are the values */
    fr one[3], table[4] = {FR_ZERO, FR_ONE, FR_ZERO, FR_MINUS_ONE};
    fr_dbl(&table[2], &FR_ONE);
    for (uint64_t row = 5; row + 64 < rows; row += 77777) {
        uint64_t planes[6], full;
        assert_true(expand_codes(&w, row, 64, planes, &full));
        for (unsigned i = 0; i < 64; i++) {
            assert_true(expand_rows(&w, EXPAND_PRODUCTS, row + i, 1, &one[0], &one[1], &one[2], false));
            for (unsigned k = 0; k < 3; k++) {
                unsigned code = (unsigned)(planes[2 * k] >> i & 1) | (unsigned)(planes[2 * k + 1] >> i & 1)
                                                                         << 1;
                if (full >> i & 1)
                    assert_int_equal(code, 0);
                else
                    assert_true(fr_eq(&table[code], &one[k]));
            }
        }
    }

    /* a flipped bit of a compression contradicts its constraints, unless it is a carry that nothing uses */
    unsigned flips = 0, found = 0;
    for (uint32_t k = 3; k < m->n_instances; k += 29) {
        const block_template *t = matrices_template(m, &m->instances[k]);
        if (strcmp(t->name, "sha256") != 0) continue;
        uint64_t bit =
            matrices_bit(&m->parts[matrices_part_of_aux(m, m->instances[k].aux)], m->instances[k].aux);
        for (uint32_t j = 11; j < t->n_aux; j += 1237, flips++) {
            w.bits[(bit + j) / 64] ^= (uint64_t)1 << (bit + j) % 64;
            found += !expand_check(&w, m->instances[k].row, t->rows.n);
            w.bits[(bit + j) / 64] ^= (uint64_t)1 << (bit + j) % 64;
        }
    }
    assert_true(flips > 50 && found > flips * 9 / 10);
    assert_true(expand_check(&w, 0, rows));
    witness_free(&w);
    matrices_free(m);
    c1_free(s.c);
}

static void damaged_sector(void **unused) {
    (void)unused;
    sector s;
    sector_read(&s, "2k-v1_1");
    /* The C1 is ours to damage: nothing of it is in read-only memory. */
    fr_repr *row = (fr_repr *)(uintptr_t)s.c->partition[0].challenges[1].exp_parents[1].rows;
    row->l[0] ^= 1;
    assignment generic = {.a = NULL}, fast = {.a = NULL};
    run(&generic, NULL, &s, SYNTHESIS_GENERIC, 1);
    run(&fast, NULL, &s, SYNTHESIS_TEMPLATES, 2);
    same_assignment(&fast, &generic);
    assert_true(assignment_first_unsatisfied(&fast) < fast.shape.constraints);
    assignment_free(&generic);
    assignment_free(&fast);
    c1_free(s.c);
}

/* Matrices of another circuit, or of other parts, are found out. */
static void foreign_matrices(void **unused) {
    (void)unused;
    sector s, other;
    cuzk_error err;
    matrices *m;
    compact_witness w;
    sector_read(&s, "2k-v1_1");
    sector_read(&other, "8m-v1_1");
    assert_int_equal(matrices_create(&m, &s.circuit, &s.parts, NULL, &err), CUZK_OK);
    assert_int_equal(witness_create(&w, m, &err), CUZK_OK);
    assert_int_equal(witness_fill(&w, &s.circuit, NULL, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    assert_int_equal(witness_fill(&w, &other.circuit, &other.parts, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    assert_int_equal(witness_fill(&w, &s.circuit, &s.parts, NULL, NULL, &err), CUZK_OK);
    uint32_t *operand = &m->operands[m->n_operands - 1]; /* a number */
    ++*operand;
    assert_int_equal(witness_fill(&w, &s.circuit, &s.parts, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    --*operand;
    row_term *term = &m->residual.terms[m->residual.n_terms / 2];
    term->coeff ^= 1;
    assert_int_equal(witness_fill(&w, &s.circuit, &s.parts, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    term->coeff ^= 1;
    assert_int_equal(witness_fill(&w, &s.circuit, &s.parts, NULL, NULL, &err), CUZK_OK);
    witness_free(&w);
    matrices_free(m);
    c1_free(s.c);
    c1_free(other.c);
}

static bool stop_at(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    unsigned *left = ctx;
    assert_non_null(phase);
    assert_true(done <= total);
    return (*left)-- > 0;
}

static void cancelled(void **unused) {
    (void)unused;
    sector s;
    cuzk_error err;
    sector_read(&s, "2k-v1_1");
    synthesizer kept = {.m = NULL};
    assignment a = {.a = NULL};
    uint64_t before = mem_in_use();
    for (unsigned reports = 0; reports < 15; reports += 3) {
        unsigned left = reports;
        cuzk_progress progress = {stop_at, &left};
        cuzk_code code =
            synthesize(&a, &kept, &s.circuit, &s.parts, SYNTHESIS_TEMPLATES, NULL, &progress, &err);
        if (code == CUZK_OK) break; /* the reports were enough */
        assert_int_equal(code, CUZK_ERR_CANCELLED);
        assert_null(a.a);
    }
    assignment_free(&a);
    synthesizer_free(&kept);
    assert_int_equal(mem_in_use(), before);
    c1_free(s.c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sector_2k),      cmocka_unit_test(sector_8m),        cmocka_unit_test(compact),
        cmocka_unit_test(damaged_sector), cmocka_unit_test(foreign_matrices), cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
