/* No fault becomes a proof: one bit flipped in any of the places where the prover keeps its work, in the
 * assignment, or in the parameters ends in an error, for every code variant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/mem.h"
#include "gadget/num.h"
#include "gadget/poseidon.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "r1cs/density.h"
#include "r1cs/synthesis.h"
#include "rng.h"
#include "temp_dir.h"
#include "text_circuit.h"
#include "variants.h"

/* With invariants checked at run time, a broken value stops the program where it is met. */
#ifdef CUZK_VERIFY
#define FAULTS_END_THE_PROGRAM true
#else
#define FAULTS_END_THE_PROGRAM false
#endif

static void expect_ok(cuzk_code code, const cuzk_error *err) {
    if (code != CUZK_OK) fail_msg("code %d: %s (%s)", code, err->message, err->path);
}

static void expect_self_check(cuzk_code code, const cuzk_error *err, const char *what, unsigned occurrence) {
    if (code == CUZK_OK) fail_msg("%s, occurrence %u: a proof in spite of a fault", what, occurrence);
    if (code != CUZK_ERR_INTERNAL || !strstr(err->message, "self-check failed"))
        fail_msg("%s, occurrence %u: code %d: %s", what, occurrence, code, err->message);
}

/* --- what is proven ------------------------------------------------------------------------------------ */

/* Blocks with numbers and with bits, rows outside blocks, and enough constraints for every pass of the NTT
 * and for buckets. */
static void gadgets(const void *ctx, cs *system) {
    (void)ctx;
    fr values[2];
    fr_from_u64(&values[0], 0x0123456789abcdef);
    fr_sub(&values[1], &FR_ZERO, &values[0]);
    num numbers[2];
    boolean bits[FR_BITS];
    for (int i = 0; i < 2; i++) numbers[i] = num_alloc(system, &values[i]);
    for (int i = 0; i < 2; i++) num_to_allocated_bits(system, bits, &numbers[i]);
    num digest = poseidon_circuit(system, poseidon_for(2), POSEIDON_TREE, numbers);
    num_inputize(system, &digest);
    num product = num_mul(system, &digest, &numbers[0]);
    num_inputize(system, &product);
}

/* So few constraints that the NTT works directly. */
static const char tiny[] = "alloc W0 = 3\ninput I1 = 9\nalloc W1 = 27\nC0: [W0*1] * [W0*1] = [I1*1]\n"
                           "C1: [W0*1] * [I1*1] = [W1*1]\nC2: [W1*1] * [W1*1 I0*-27] = []\n";

typedef struct subject {
    r1cs_circuit circuit;
    synthesizer kept;
    srs params;
    pool *p;
} subject;

static void subject_create(subject *s, const r1cs_circuit *circuit, unsigned threads) {
    cuzk_error err;
    toxic_waste waste;
    char params[64], vk[64];
    snprintf(params, sizeof params, "%s.params", circuit->name);
    snprintf(vk, sizeof vk, "%s.vk", circuit->name);
    *s = (subject){.circuit = *circuit};
    expect_ok(pool_create(&s->p, threads, &err), &err);
    expect_ok(toxic_waste_random(&waste, &err), &err);
    expect_ok(groth16_setup(circuit, &waste, temp_path(params), temp_path(vk), s->p, NULL, &err), &err);
    toxic_waste_wipe(&waste);
    expect_ok(srs_open(&s->params, temp_path(params), NULL, s->p, &err), &err);
}

static void subject_free(subject *s) {
    synthesizer_free(&s->kept);
    srs_close(&s->params);
    pool_destroy(s->p);
}

static cuzk_code make_assignment(assignment *w, subject *s, cuzk_error *err) {
    *w = (assignment){.a = NULL};
    return synthesize(w, &s->kept, &s->circuit, NULL, SYNTHESIS_TEMPLATES, s->p, NULL, err);
}

/* Consumes the assignment. What is written on failure is nothing. */
static cuzk_code prove_with(const srs *params, assignment *w, pool *p, cuzk_error *err) {
    groth16_proof proof, untouched;
    memset(&proof, 0x5a, sizeof proof);
    untouched = proof;
    cuzk_code code = groth16_prove(&proof, params, w, NULL, p, NULL, NULL, err);
    if (code == CUZK_OK)
        assert_int_equal(verify_proof(params->verifier, &proof, w->inputs + 1, w->shape.inputs - 1, p, NULL),
                         CUZK_OK);
    else
        assert_memory_equal(&proof, &untouched, sizeof proof);
    assignment_free(w);
    return code;
}

static cuzk_code prove(subject *s, cuzk_error *err) {
    assignment w;
    cuzk_code code = make_assignment(&w, s, err);
    return code == CUZK_OK ? prove_with(&s->params, &w, s->p, err) : code;
}

/* Made once for all variants. */
static subject *subject_of_gadgets(void) {
    static subject s;
    if (s.p) return &s;
    r1cs_circuit circuit = {.name = "gadgets", .synthesize = gadgets};
    cuzk_error err;
    expect_ok(r1cs_measure(&circuit.shape, &circuit, &err), &err);
    subject_create(&s, &circuit, 2);
    expect_ok(prove(&s, &err), &err);
    return &s;
}

/* --- faults at work ------------------------------------------------------------------------------------ */

/* The places of fault.h, and where in a 64-bit word a flipped bit counts: eight lanes of Fp have 52 bits in
 * one, and of a compressed proof's y the sign alone is left, so that x is what to spoil. */
typedef struct place {
    const char *name;
    unsigned bits;
    size_t bytes; /* from the start; 0: all */
} place;

static const place places[] = {{"witness bits", 64, 0},  {"witness numbers", 64, 0}, {"ntt", 64, 0},
                               {"scalars", 48, 0},       {"msm scalars", 48, 0},     {"msm points", 52, 0},
                               {"msm ones", 52, 0},      {"msm buckets", 52, 0},     {"msm sum", 64, 0},
                               {"proof", 64, sizeof(fp)}};
enum { NTT = 2, PLACES = sizeof places / sizeof *places };

static struct injection {
    const place *where; /* NULL: count only */
    atomic_uint seen[PLACES];
    unsigned occurrence;
    atomic_bool flipped, unknown; /* unknown: a place that is not in the list was met */
    uint64_t random;
} injection;

/* Flip one bit of a word that is not zero. Zero words may be no data at all: buckets nobody put a point in. A
 * bit that the word has is cleared, so that nothing is said of bits that mean nothing in a bit set. */
static bool flip(const place *where, uint8_t *data, size_t bytes) {
    if (where->bytes) bytes = where->bytes;
    size_t words = bytes / sizeof(uint64_t);
    if (words == 0) return false;
    size_t start = (size_t)(injection.random % words);
    for (size_t i = 0; i < words; i++) {
        uint64_t word, usable = UINT64_MAX >> (64 - where->bits);
        uint8_t *at = data + (start + i) % words * sizeof word;
        memcpy(&word, at, sizeof word);
        if (!(word & usable)) continue;
        unsigned bit = (unsigned)(injection.random >> 32) % where->bits;
        while (!(word >> bit & 1)) bit = (bit + 1) % where->bits;
        word ^= (uint64_t)1 << bit;
        memcpy(at, &word, sizeof word);
        return true;
    }
    return false;
}

static void inject(const char *name, void *data, size_t bytes) {
    for (int i = 0; i < PLACES; i++) {
        if (strcmp(name, places[i].name) != 0) continue;
        unsigned number = atomic_fetch_add(&injection.seen[i], 1);
        if (injection.where != &places[i] || number < injection.occurrence) return;
        if (atomic_exchange(&injection.flipped, true)) return;
        if (!flip(&places[i], data, bytes)) atomic_store(&injection.flipped, false); /* the next, then */
        return;
    }
    atomic_store(&injection.unknown, true);
}

static void arm(const place *where, unsigned occurrence, uint64_t random) {
    for (int i = 0; i < PLACES; i++) atomic_store(&injection.seen[i], 0);
    injection.where = where;
    injection.occurrence = occurrence;
    injection.random = random;
    atomic_store(&injection.flipped, false);
    fault_hook = inject;
}

/* How often each place is met. */
static void count_places(unsigned counts[PLACES], subject *s) {
    cuzk_error err;
    arm(NULL, 0, 0);
    cuzk_code code = prove(s, &err);
    fault_hook = NULL;
    expect_ok(code, &err);
    assert_false(atomic_load(&injection.unknown));
    for (int i = 0; i < PLACES; i++) counts[i] = atomic_load(&injection.seen[i]);
}

/* A fault in each of `samples` occurrences of a place, spread over all of them. */
static void flip_in_place(subject *s, const place *where, unsigned count, unsigned samples) {
    unsigned flipped = 0;
    uint64_t state = count;
    if (samples > count) samples = count;
    for (unsigned i = 0; i < samples; i++) {
        cuzk_error err;
        unsigned occurrence = count * i / samples;
        arm(where, occurrence, rng_next(&state));
        cuzk_code code = prove(s, &err);
        fault_hook = NULL;
        if (atomic_load(&injection.flipped)) {
            expect_self_check(code, &err, where->name, occurrence);
            flipped++;
        } else {
            expect_ok(code, &err);
        }
    }
    if (flipped == 0) fail_msg("%s: no fault was injected in %u occurrences", where->name, count);
}

static void flipped_bits(void **state) {
    (void)state;
    if (FAULTS_END_THE_PROGRAM) skip();
    subject *s = subject_of_gadgets();
    unsigned counts[PLACES];
    uint64_t in_use = mem_in_use();
    count_places(counts, s);
    assert_int_equal(counts[NTT], 13);
    for (int i = 0; i < PLACES; i++) {
        if (counts[i] == 0) fail_msg("%s: never met", places[i].name);
        flip_in_place(s, &places[i], counts[i], i == NTT ? counts[NTT] : 4);
    }
    assert_int_equal(mem_in_use(), in_use);
}

static void flipped_bits_of_a_small_domain(void **state) {
    (void)state;
    if (FAULTS_END_THE_PROGRAM) skip();
    subject s;
    text_circuit t;
    unsigned counts[PLACES];
    text_circuit_from(&t, tiny);
    subject_create(&s, &t.circuit, 1);
    count_places(counts, &s);
    assert_int_equal(counts[NTT], 6);
    flip_in_place(&s, &places[NTT], counts[NTT], counts[NTT]);
    subject_free(&s);
    text_circuit_free(&t);
}

/* --- faults in the assignment and in the parameters ---------------------------------------------------- */

static void flipped_assignment(void **state) {
    (void)state;
    if (FAULTS_END_THE_PROGRAM) skip();
    subject *s = subject_of_gadgets();
    uint64_t random = 7;
    for (unsigned which = 0; which < 5; which++) {
        for (unsigned i = 0; i < 3; i++) {
            cuzk_error err;
            assignment w;
            expect_ok(make_assignment(&w, s, &err), &err);
            size_t domain = (size_t)1 << w.log_domain;
            fr *const vectors[] = {w.a, w.b, w.c, w.aux, w.inputs + 1};
            const size_t sizes[] = {domain, domain, domain, w.shape.aux, w.shape.inputs - 1};
            fr *element = &vectors[which][rng_next(&random) % sizes[which]];
            element->l[rng_next(&random) % 4] ^= (uint64_t)1 << (rng_next(&random) % 48);
            expect_self_check(prove_with(&s->params, &w, s->p, &err), &err, "assignment", which);
        }
    }
}

/* A section of a parameter file, and one of its points that a proof needs. */
typedef struct section {
    const msm_bases *bases;
    size_t point, size;
} section;

/* The base of an aux variable that is not zero, the last one before or at the middle; `inputs` bases come
 * first. */
static size_t needed_base(const assignment *w, const uint64_t *density, size_t inputs) {
    size_t base = inputs, found = SIZE_MAX;
    for (uint32_t i = 0; i < w->shape.aux; i++) {
        if (density && !(density[i / 64] >> (i % 64) & 1)) continue;
        if (!fr_is_zero(&w->aux[i]) && (found == SIZE_MAX || i <= w->shape.aux / 2)) found = base;
        base++;
    }
    assert_true(found != SIZE_MAX);
    return found;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void spoiled_parameters(void **state) {
    (void)state;
    subject *s = subject_of_gadgets();
    cuzk_error err;
    assignment w;
    expect_ok(make_assignment(&w, s, &err), &err);
    const srs *key = &s->params;
    const section sections[] = {
        {&key->h, key->h.n / 2, G1_UNCOMPRESSED},
        {&key->l, needed_base(&w, NULL, 0), G1_UNCOMPRESSED},
        {&key->a, 0, G1_UNCOMPRESSED}, /* of ONE */
        {&key->a, needed_base(&w, w.a_aux_density, w.shape.inputs), G1_UNCOMPRESSED},
        {&key->b_g1, needed_base(&w, w.b_aux_density, w.b_input_count), G1_UNCOMPRESSED},
        {&key->b_g2, needed_base(&w, w.b_aux_density, w.b_input_count), G2_UNCOMPRESSED},
    };
    assignment_free(&w);
    size_t size = key->file.size;
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const section *at = &sections[i];
        size_t start = (size_t)((const uint8_t *)at->bases->points - key->file.data);
        size_t offset = start + at->point * at->size;
        for (int off_curve = 0; off_curve <= 1; off_curve++) {
            memcpy(copy, key->file.data, size);
            if (off_curve)
                copy[offset + at->size - 1] ^= 4; /* y */
            else
                memcpy(copy + offset, key->file.data + start + (at->point + 1) % at->bases->n * at->size,
                       at->size);
            assert_memory_not_equal(copy, key->file.data, size);
            write_file(temp_path("spoiled.params"), copy, size);
            srs spoiled;
            expect_ok(srs_open(&spoiled, temp_path("spoiled.params"), NULL, s->p, &err), &err);
            expect_ok(make_assignment(&w, s, &err), &err);
            cuzk_code code = prove_with(&spoiled, &w, s->p, &err);
            if (off_curve) {
                assert_int_equal(code, CUZK_ERR_PARAMS);
                assert_int_equal(err.offset, offset);
                assert_string_equal(err.path, temp_path("spoiled.params"));
            } else {
                expect_self_check(code, &err, "another base point", (unsigned)i);
            }
            srs_close(&spoiled);
        }
    }
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(flipped_bits_of_a_small_domain),
        cmocka_unit_test(flipped_assignment),
        cmocka_unit_test(spoiled_parameters),
    };
    int failed = 0;
    if (temp_dir_make(NULL) != 0) return 1;
    RUN_ON_VARIANTS(failed, tests);
    subject_free(subject_of_gadgets());
    temp_dir_remove(NULL);
    return failed + (mem_in_use() != 0);
}
