#include "reference_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"
#include "groth16/prove.h"
#include "temp_dir.h"

void reference_element(fr *out, uint8_t byte) {
    uint8_t bytes[32];
    memset(bytes, byte, sizeof bytes);
    bytes[31] = 0;
    assert_true(fr_from_bytes(out, bytes));
}

void reference_waste(toxic_waste *out) {
    reference_element(&out->alpha, 0xa1);
    reference_element(&out->beta, 0xb2);
    reference_element(&out->gamma, 0xc3);
    reference_element(&out->delta, 0xd4);
    reference_element(&out->tau, 0xe5);
}

static void expect_ok(cuzk_code code, const cuzk_error *err) {
    if (code != CUZK_OK) fail_msg("code %d: %s (%s)", code, err->message, err->path);
}

/* Lines of "hex  file name". */
static void check_params_digest(const char *path, const char *name) {
    size_t size;
    char *list = fixture_read("params/sha256.txt", &size), *line = strstr(list, name);
    if (!line) fail_msg("no digest for %s", name);
    while (line > list && line[-1] != '\n') line--;
    line[64] = 0;
    file_map file;
    assert_int_equal(file_map_open(&file, path, CUZK_ERR_PARAMS, NULL), CUZK_OK);
    assert_sha256(file.data, file.size, line);
    file_map_close(&file);
    free(list);
}

void check_reference_key_and_proof(const r1cs_circuit *circuit, const char *name, const char *proof_fixture,
                                   unsigned threads) {
    cuzk_error err;
    pool *p;
    toxic_waste waste;
    srs params;
    assignment w;
    groth16_proof proof;
    fr r, s;
    uint64_t memory = mem_in_use();
    reference_waste(&waste);
    reference_element(&r, 0x17);
    reference_element(&s, 0x2b);
    const char *path = temp_path("reference.params");
    expect_ok(pool_create(&p, threads, &err), &err);
    expect_ok(groth16_setup(circuit, &waste, path, temp_path("reference.vk"), p, NULL, &err), &err);
    check_params_digest(path, name);

    expect_ok(assignment_create(&w, circuit, NULL, &err), &err);
    assert_true(assignment_first_unsatisfied(&w) == UINT64_MAX);
    srs_shape shape = srs_shape_of(&w);
    expect_ok(srs_open(&params, path, &shape, p, &err), &err);
    prove_options options = {.r = &r, .s = &s};
    expect_ok(groth16_prove(&proof, &params, &w, &options, p, NULL, NULL, &err), &err);
    assignment_free(&w);
    srs_close(&params);
    pool_destroy(p);
    assert_int_equal(mem_in_use(), memory);

    size_t size;
    uint8_t bytes[PROOF_BYTES];
    char *expected = fixture_read(proof_fixture, &size);
    proof_encode(bytes, &proof);
    assert_int_equal(size, PROOF_BYTES);
    assert_memory_equal(bytes, expected, PROOF_BYTES);
    free(expected);
}
