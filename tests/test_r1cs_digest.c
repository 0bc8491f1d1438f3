/* Digests, their JSON and comparison, and text dumps, on circuits read from the reference's dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "circuit_check.h"
#include "fixture.h"
#include "text_circuit.h"

#include "base/mem.h"
#include "r1cs/digest.h"
#include "r1cs/dump.h"

static const char *const gadgets[] = {
    "boolean",        "encode_decode", "insert_2",         "insert_4",
    "insert_8",       "num_ops",       "poseidon_2",       "poseidon_11",
    "num_to_bits_le", "pack_bits",     "select",           "uint64",
    "uint32_addmany", "sha256_1block", "pack_into_inputs", "num_to_bits_le_strict"};

static void whole_dumps(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof gadgets / sizeof *gadgets; i++) {
        char text_name[64], json_name[64];
        snprintf(text_name, sizeof text_name, "gadgets/%s.txt.zst", gadgets[i]);
        snprintf(json_name, sizeof json_name, "gadgets/%s.json", gadgets[i]);
        text_circuit t;
        text_circuit_read(&t, text_name);
        check_digest(&t.circuit, json_name);
        check_dump(&t.circuit, text_name);
        text_circuit_free(&t);
    }
}

typedef struct seen {
    size_t count;
    char figures[32][40];
    size_t indices[32];
    char found[72], path[128];
    uint64_t constraint;
} seen;

static void collect(void *ctx, const r1cs_difference *d) {
    seen *s = ctx;
    assert_true(s->count < 32);
    if (s->count == 0) {
        snprintf(s->found, sizeof s->found, "%s", d->found);
        snprintf(s->path, sizeof s->path, "%s", d->path ? d->path : "");
        s->constraint = d->constraint;
    }
    snprintf(s->figures[s->count], sizeof s->figures[0], "%s", d->figure);
    s->indices[s->count++] = d->index;
}

/* 10000 squarings in namespaces of 1000; `changed` gets another coefficient. */
typedef struct chain {
    uint64_t changed;
    unsigned n;
} chain;

static void chain_synthesize(const void *ctx, cs *system) {
    const chain *k = ctx;
    fr x = FR_ONE, seven;
    fr_from_u64(&seven, 7);
    r1cs_var v = cs_alloc(system, &x);
    for (unsigned i = 0; i < k->n; i++) {
        if (i % 1000 == 0) cs_enter(system, "part %u", i / 1000);
        r1cs_var w = cs_alloc(system, &x);
        lc_clear(&system->a), lc_clear(&system->c);
        lc_add_one(&system->a, v);
        lc_add_term(&system->c, w, i == k->changed ? &seven : &FR_ONE);
        cs_enforce(system, &system->a, &system->a, &system->c);
        v = w;
        if (i % 1000 == 999) cs_leave(system);
    }
}

static r1cs_circuit chain_circuit(const chain *k) {
    return (r1cs_circuit){"chain", chain_synthesize, k, {1, k->n + 1, k->n}};
}

static void json_round_trip_and_differences(void **unused) {
    (void)unused;
    chain k = {UINT64_MAX, 10000};
    r1cs_circuit circuit = chain_circuit(&k);
    r1cs_digest d, other;
    assignment a;
    assignment_digest v;
    cuzk_error err;
    pool *p;
    assert_int_equal(pool_create(&p, 2, &err), CUZK_OK);
    assert_int_equal(r1cs_digest_create(&d, &circuit, p, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_create(&a, &circuit, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_digest_create(&v, &a, p, &err), CUZK_OK);
    assert_true(v.satisfied);
    assert_int_equal(d.chunks, 3);
    assert_string_equal(d.chunk_paths[0], "part 0");
    assert_string_equal(d.chunk_paths[1], "part 4");
    assert_string_equal(d.chunk_paths[2], "part 8");
    assert_int_equal(d.distinct_coefficients, 1);

    char *json;
    size_t size, differences;
    assert_int_equal(r1cs_digest_to_json(&json, &size, &d, &v, &err), CUZK_OK);
    assert_int_equal(strlen(json), size);
    assert_int_equal(r1cs_digest_compare(&d, &v, json, size, "own", NULL, NULL, &differences, &err), CUZK_OK);
    assert_int_equal(differences, 0);

    k.changed = 5555;
    assert_int_equal(r1cs_digest_create(&other, &circuit, NULL, NULL, &err), CUZK_OK);
    seen s = {0};
    assert_int_equal(r1cs_digest_compare(&other, NULL, json, size, "own", collect, &s, &differences, &err),
                     CUZK_OK);
    assert_int_equal(differences, 3);
    assert_int_equal(s.count, 3);
    assert_string_equal(s.figures[0], "r1cs_chunk_sha256");
    assert_int_equal(s.indices[0], 1);
    assert_int_equal(s.constraint, 4096);
    assert_string_equal(s.path, "part 4");
    assert_string_equal(s.figures[1], "distinct_coefficients");
    assert_string_equal(s.figures[2], "r1cs_sha256");
    r1cs_digest_free(&other);

    /* Fewer constraints: the block that ends early differs. */
    k = (chain){UINT64_MAX, 9000};
    circuit = chain_circuit(&k);
    assert_int_equal(r1cs_digest_create(&other, &circuit, NULL, NULL, &err), CUZK_OK);
    s.count = 0;
    assert_int_equal(r1cs_digest_compare(&other, &v, json, size, "own", collect, &s, &differences, &err),
                     CUZK_OK);
    assert_int_equal(s.indices[0], 2);
    assert_string_equal(s.path, "part 8");
    assert_true(differences >= 8);
    r1cs_digest_free(&other);
    r1cs_digest_free(&d);
    assignment_digest_free(&v);
    assignment_free(&a);
    pool_destroy(p);
    free(json);
}

static void bad_json(void **unused) {
    (void)unused;
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "3",
                                        "{}",
                                        "{\"else\": 1}",
                                        "{\"num_aux\": \"12\"}",
                                        "{\"r1cs_sha256\": 12}",
                                        "{\"format\": 12}",
                                        "{\"r1cs_chunk_sha256\": \"a\"}",
                                        "{\"r1cs_chunk_sha256\": [1]}",
                                        "{\"satisfied\": 1}"};
    chain k = {UINT64_MAX, 10};
    r1cs_circuit circuit = chain_circuit(&k);
    r1cs_digest d;
    assignment a;
    assignment_digest v;
    cuzk_error err;
    size_t differences;
    assert_int_equal(r1cs_digest_create(&d, &circuit, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_create(&a, &circuit, NULL, &err), CUZK_OK);
    assert_int_equal(assignment_digest_create(&v, &a, NULL, &err), CUZK_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(
            r1cs_digest_compare(&d, &v, texts[i], strlen(texts[i]), "text", NULL, NULL, &differences, &err),
            CUZK_ERR_INPUT);
        assert_string_equal(err.path, "text");
    }
    seen s = {0};
    const char *text =
        "{\"r1cs_chunk_sha256\": [], \"num_aux\": 12, \"satisfied\": false, \"format\": \"x\"}";
    assert_int_equal(r1cs_digest_compare(&d, &v, text, strlen(text), "text", collect, &s, &differences, &err),
                     CUZK_OK);
    assert_int_equal(differences, 4);
    r1cs_digest_free(&d);
    assignment_digest_free(&v);
    assignment_free(&a);
}

/* Many coefficients, so that the table grows, and a combination larger than the buffer. */
static void many_terms(const void *ctx, cs *system) {
    unsigned n = *(const unsigned *)ctx;
    fr x = FR_ONE, seven;
    fr_from_u64(&seven, 7);
    lc_clear(&system->a);
    for (unsigned i = 0; i < n; i++) {
        lc_add_term(&system->a, cs_alloc(system, &FR_ZERO), i % 5 ? &x : &FR_ZERO);
        fr_mul(&x, &x, &seven);
    }
    lc_clear(&system->b), lc_clear(&system->c);
    cs_enforce(system, &system->a, &system->b, &system->c);
}

static void large_combinations(void **unused) {
    (void)unused;
    unsigned n = 50000;
    r1cs_circuit circuit = {"terms", many_terms, &n, {1, n, 1}};
    r1cs_digest d;
    cuzk_error err;
    assert_int_equal(r1cs_digest_create(&d, &circuit, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(d.nnz[0], 40000);
    assert_int_equal(d.zero_terms, 10000);
    assert_int_equal(d.distinct_coefficients, 40000);
    assert_int_equal(d.a_aux.count, 40000);
    assert_int_equal(d.chunks, 1);
    assert_memory_equal(d.sha256, d.chunk_sha256[0], 32);
    uint8_t *text = malloc(12 + 40000 * 37), *p = text;
    uint32_t word = 40000;
    memcpy(p, &word, 4);
    p += 4;
    fr x = FR_ONE, seven;
    fr_from_u64(&seven, 7);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 5) {
            *p++ = 1;
            memcpy(p, &i, 4);
            fr_to_bytes(p + 4, &x);
            p += 36;
        }
        fr_mul(&x, &x, &seven);
    }
    memset(p, 0, 8);
    char hex[65];
    hex_encode(hex, d.sha256, 32);
    assert_sha256(text, 12 + 40000 * 37, hex);
    free(text);
    r1cs_digest_free(&d);
}

static void wrong_shape(void **unused) {
    (void)unused;
    chain k = {UINT64_MAX, 5000};
    r1cs_circuit circuit = chain_circuit(&k);
    r1cs_digest d;
    cuzk_error err;
    circuit.shape.constraints = 4999;
    assert_int_equal(r1cs_digest_create(&d, &circuit, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    circuit.shape.constraints = 5001;
    assert_int_equal(r1cs_digest_create(&d, &circuit, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    circuit.shape.constraints = UINT64_MAX;
    assert_int_equal(r1cs_digest_create(&d, &circuit, NULL, NULL, &err), CUZK_ERR_INTERNAL);
    assert_int_equal(mem_in_use(), 0);
}

static char *dump(const r1cs_circuit *circuit, r1cs_dump_options options) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(r1cs_dump(out, circuit, &options, NULL, NULL), CUZK_OK);
    fclose(out);
    return text;
}

static void dump_ranges(void **unused) {
    (void)unused;
    chain k = {1001, 2000};
    r1cs_circuit circuit = chain_circuit(&k);
    char *text = dump(&circuit, (r1cs_dump_options){.first = 999, .count = 3, .paths = true});
    assert_string_equal(text, "alloc W1000  # part 0\n"
                              "C999: [W999*1] * [W999*1] = [W1000*1]  # part 0\n"
                              "alloc W1001  # part 1\n"
                              "C1000: [W1000*1] * [W1000*1] = [W1001*1]  # part 1\n"
                              "alloc W1002  # part 1\n"
                              "C1001: [W1001*1] * [W1001*1] = [W1002*7]  # part 1\n");
    free(text);
    text = dump(&circuit, (r1cs_dump_options){.first = 1999, .values = true});
    assert_string_equal(text, "alloc W2000 = 1\nC1999: [W1999*1] * [W1999*1] = [W2000*1]\n");
    free(text);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    cuzk_error err;
    r1cs_dump_options all = {.first = 0};
    assert_int_equal(r1cs_dump(full, &circuit, &all, NULL, &err), CUZK_ERR_RESOURCES);
    fclose(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_dumps), cmocka_unit_test(json_round_trip_and_differences),
        cmocka_unit_test(bad_json),    cmocka_unit_test(large_combinations),
        cmocka_unit_test(wrong_shape), cmocka_unit_test(dump_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
