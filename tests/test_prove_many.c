/* Proofs in one pass over the key: each is the one it would be alone, and fails alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "gadget/num.h"
#include "gadget/poseidon.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "temp_dir.h"
#include "variants.h"

enum { MANY = 5 };

/* A Poseidon hash of two numbers, one of them in bits; ctx is the seed. */
static void hash_of(const void *ctx, cs *system) {
    fr values[2];
    fr_from_u64(&values[0], *(const uint64_t *)ctx);
    fr_sub(&values[1], &FR_ZERO, &values[0]);
    num numbers[2];
    boolean bits[FR_BITS];
    for (int i = 0; i < 2; i++) numbers[i] = num_alloc(system, &values[i]);
    num_to_allocated_bits(system, bits, &numbers[1]);
    num digest = poseidon_circuit(system, poseidon_for(2), POSEIDON_TREE, numbers);
    num_inputize(system, &digest);
}

static r1cs_circuit circuit_of(const uint64_t *seed) {
    r1cs_circuit c = {.name = "hash", .synthesize = hash_of, .ctx = seed};
    assert_int_equal(r1cs_measure(&c.shape, &c, NULL), CUZK_OK);
    return c;
}

static srs params;
static uint64_t seeds[MANY] = {1, 0x0123456789abcdef, 3, 0, UINT64_MAX};
static fr randomness[MANY][2];

static int make_key(void **state) {
    cuzk_error err;
    toxic_waste waste;
    r1cs_circuit c = circuit_of(&seeds[0]);
    for (uint64_t i = 0; i < MANY; i++) {
        fr_from_u64(&randomness[i][0], 1000 + i);
        fr_from_u64(&randomness[i][1], 2000 + i);
    }
    if (temp_dir_make(state) != 0 || toxic_waste_random(&waste, &err) != CUZK_OK ||
        groth16_setup(&c, &waste, temp_path("key.params"), temp_path("key.vk"), NULL, NULL, &err) != CUZK_OK)
        return 1;
    return srs_open(&params, temp_path("key.params"), NULL, NULL, &err) != CUZK_OK;
}

static int drop_key(void **state) {
    srs_close(&params);
    return temp_dir_remove(state);
}

typedef struct many {
    assignment made[MANY];
    assignment *w[MANY];
    prove_options options[MANY];
    groth16_proof out[MANY];
    cuzk_code codes[MANY];
    cuzk_error errs[MANY];
} many;

static void assign(many *m) {
    memset(m, 0, sizeof *m);
    memset(m->out, 0x5a, sizeof m->out);
    for (size_t i = 0; i < MANY; i++) {
        r1cs_circuit c = circuit_of(&seeds[i]);
        m->w[i] = &m->made[i];
        m->options[i] = (prove_options){&randomness[i][0], &randomness[i][1]};
        assert_int_equal(assignment_create(m->w[i], &c, NULL, NULL), CUZK_OK);
    }
}

static void prove_all(many *m, size_t n, pool *p, const cuzk_progress *progress) {
    prove_timings timings;
    groth16_prove_many(m->out, m->codes, m->errs, &params, m->w, m->options, n, p, progress, &timings);
    assert_true(timings.total >= timings.quotient + timings.h + timings.l + timings.a + timings.b_g1 +
                                     timings.b_g2 + timings.verify);
}

static void release(many *m) {
    for (size_t i = 0; i < MANY; i++) assignment_free(m->w[i]);
    assert_int_equal(mem_in_use(), 0);
}

static void expect_alone(const many *m, size_t i) {
    static uint8_t alone[MANY][PROOF_BYTES];
    static bool known[MANY];
    uint8_t bytes[PROOF_BYTES];
    cuzk_error err = {.message = ""};
    if (!known[i]) {
        r1cs_circuit c = circuit_of(&seeds[i]);
        assignment w;
        groth16_proof proof;
        prove_options options = {&randomness[i][0], &randomness[i][1]};
        assert_int_equal(assignment_create(&w, &c, NULL, NULL), CUZK_OK);
        if (groth16_prove(&proof, &params, &w, &options, NULL, NULL, NULL, &err)) fail_msg("%s", err.message);
        assignment_free(&w);
        proof_encode(alone[i], &proof);
        known[i] = true;
    }
    if (m->codes[i] != CUZK_OK) fail_msg("proof %zu: %s", i, m->errs[i].message);
    proof_encode(bytes, &m->out[i]);
    assert_memory_equal(bytes, alone[i], PROOF_BYTES);
}

static void expect_failed(const many *m, size_t i, cuzk_code code, const char *text) {
    groth16_proof untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    if (m->codes[i] != code)
        fail_msg("proof %zu: code %d: %s, expected %d: %s", i, m->codes[i], m->errs[i].message, code, text);
    assert_int_equal(m->errs[i].code, code);
    assert_non_null(strstr(m->errs[i].message, text));
    assert_memory_equal(&m->out[i], &untouched, sizeof untouched);
    assert_null(m->w[i]->a);
    assert_null(m->w[i]->aux);
}

static void each_is_the_one_it_would_be_alone(void **state) {
    (void)state;
    many m;
    for (unsigned threads = 1; threads <= 3; threads++) {
        pool *p;
        assert_int_equal(pool_create(&p, threads, NULL), CUZK_OK);
        for (size_t n = 1; n <= MANY; n += 4) {
            assign(&m);
            /* Some of the quotients beforehand. */
            for (size_t i = threads - 1; i < n; i += 2) {
                assert_int_equal(groth16_quotient(m.w[i], p, NULL, NULL), CUZK_OK);
                assert_null(m.w[i]->b);
            }
            prove_all(&m, n, p, NULL);
            for (size_t i = 0; i < n; i++) expect_alone(&m, i);
            for (size_t i = 0; i < n; i++) assert_null(m.w[i]->aux);
            release(&m);
        }
        pool_destroy(p);
    }
    assign(&m);
    prove_all(&m, 0, NULL, NULL);
    release(&m);
}

#ifndef CUZK_VERIFY /* there a broken value stops the program where it is met */
static unsigned proofs_seen;
static void spoil_third(const char *where, void *data, size_t bytes) {
    (void)bytes;
    if (strcmp(where, "proof") == 0 && proofs_seen++ == 2) *(uint8_t *)data ^= 1;
}
#endif

/* One constraint does not hold any more. */
static void break_constraint(assignment *w) {
    size_t row = 7;
    while (fr_is_zero(&w->b[row])) row++;
    fr_add(&w->a[row], &w->a[row], &FR_ONE);
}

static void one_fails_alone(void **state) {
    (void)state;
    many m;
    pool *p;
    assert_int_equal(pool_create(&p, 2, NULL), CUZK_OK);
    assign(&m);
    break_constraint(m.w[0]);
    fr_add(&m.w[3]->aux[5], &m.w[3]->aux[5], &FR_ONE); /* not what the values are of */
    prove_all(&m, MANY, p, NULL);
    expect_failed(&m, 0, CUZK_ERR_INTERNAL, "does not satisfy");
    expect_failed(&m, 3, CUZK_ERR_INTERNAL, "self-check failed");
    expect_alone(&m, 1);
    expect_alone(&m, 2);
    expect_alone(&m, 4);
    release(&m);

    assign(&m);
    break_constraint(m.w[1]);
    assert_int_equal(groth16_quotient(m.w[1], p, NULL, NULL), CUZK_ERR_INTERNAL);
    assert_null(m.w[1]->a);
    assert_null(m.w[1]->aux);
    release(&m);

    /* Another circuit by its sizes, and one by nothing else than which variables it uses. */
    assign(&m);
    m.w[0]->a_aux_count--;
    uint64_t *density = m.w[2]->a_aux_density;
    *density ^= *density & -*density;
    m.w[4]->b_input_count++;
    prove_all(&m, MANY, p, NULL);
    expect_failed(&m, 0, CUZK_ERR_PARAMS, "another circuit");
    expect_failed(&m, 2, CUZK_ERR_INTERNAL, "different circuits");
    expect_failed(&m, 4, CUZK_ERR_PARAMS, "another circuit");
    expect_alone(&m, 1);
    expect_alone(&m, 3);
    release(&m);

#ifndef CUZK_VERIFY
    assign(&m);
    proofs_seen = 0;
    fault_hook = spoil_third;
    prove_all(&m, MANY, p, NULL);
    fault_hook = NULL;
    for (size_t i = 0; i < MANY; i++)
        if (i == 2)
            expect_failed(&m, i, CUZK_ERR_INTERNAL, "self-check failed");
        else
            expect_alone(&m, i);
    release(&m);
#endif
    pool_destroy(p);
}

typedef struct stopper {
    int left;
    uint64_t last;
    const char *phase;
} stopper;

/* Within a phase reports go up. */
static bool stop_later(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    stopper *s = ctx;
    assert_true(done <= total);
    if (s->phase && strcmp(s->phase, phase) == 0 && strcmp(phase, "ntt") == 0) assert_true(done >= s->last);
    s->phase = phase;
    s->last = done;
    return s->left-- != 0;
}

static void what_stops_one_stops_all(void **state) {
    (void)state;
    many m;
    bool finished = false;
    for (int reports = 0; !finished; reports += 13) {
        stopper s = {.left = reports};
        cuzk_progress progress = {stop_later, &s};
        assign(&m);
        prove_all(&m, 3, NULL, &progress);
        finished = s.left >= 0;
        for (size_t i = 0; i < 3; i++)
            if (finished)
                expect_alone(&m, i);
            else
                expect_failed(&m, i, CUZK_ERR_CANCELLED, "stopped");
        release(&m);
    }

    /* A bad point, in a section that all need. */
    srs whole = params;
    size_t size = (size_t)params.file.size;
    uint8_t *copy = malloc(size);
    cuzk_error err;
    memcpy(copy, params.file.data, size);
    copy[(const uint8_t *)params.h.points - params.file.data + 20] ^= 1;
    assert_int_equal(file_write_all(temp_path("bad.params"), copy, size, &err), CUZK_OK);
    free(copy);
    assert_int_equal(srs_open(&params, temp_path("bad.params"), NULL, NULL, &err), CUZK_OK);
    assign(&m);
    prove_all(&m, MANY, NULL, NULL);
    for (size_t i = 0; i < MANY; i++) {
        expect_failed(&m, i, CUZK_ERR_PARAMS, "curve");
        assert_string_equal(m.errs[i].path, temp_path("bad.params"));
        assert_int_equal(m.errs[i].offset, (const uint8_t *)params.h.points - params.file.data);
    }
    release(&m);
    srs_close(&params);
    params = whole;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_the_one_it_would_be_alone),
                                       cmocka_unit_test(one_fails_alone),
                                       cmocka_unit_test(what_stops_one_stops_all)};
    cuzk_error err;
    if (field_init(&err) != CUZK_OK) return 1;
    int failed = make_key(NULL);
    if (failed == 0) RUN_ON_VARIANTS(failed, tests);
    return drop_key(NULL) == 0 ? failed : 1;
}
