/*
 * Files of matrices. The input edits a good file of a small circuit, six bytes at a time: where (four bytes),
 * and two bytes to put there; size and checksum are made right again, so that what lies behind them is
 * reached. An odd last byte cuts the file. Whatever comes of it is an error, or the right values all the
 * same.
 */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "gadget/insertion.h"
#include "gadget/multipack.h"
#include "gadget/poseidon.h"
#include "hash/digest.h"
#include "r1cs/matrices_file.h"
#include "r1cs/synthesis.h"

static num number(cs *system, uint64_t value) {
    fr v;
    fr_from_u64(&v, value);
    return num_alloc(system, &v);
}

static void circuit_body(const void *ctx, cs *system) {
    (void)ctx;
    boolean bits[FR_BITS] = {{0}}, unused[FR_BITS] = {{0}}; /* a system that failed leaves them alone */
    num first = number(system, 12345), all[4] = {{0}};
    num_inputize(system, &first);
    num_to_bits_le(system, bits, &first);
    num siblings[3] = {number(system, 1), number(system, 77), number(system, 5)};
    boolean position[2] = {boolean_not(bits[3]), boolean_alloc(system, true)};
    num_insert(system, all, &first, position, siblings, 4);
    num hash = poseidon_tree_circuit(system, all, 2);
    num packed = pack_bits(system, bits + 2, 20);
    num sum = num_add(system, &hash, &packed);
    num_to_bits_le(system, unused, &sum);
}

static r1cs_circuit circuit = {"small", circuit_body, NULL, {0, 0, 0}};
static assignment expected;
static uint8_t *good;
static size_t good_size;

static void prepare(void) {
    cuzk_error err;
    matrices *m;
    file_map map;
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_matrices.%ld", (long)getpid());
    FUZZ_CHECK(field_init(&err) == CUZK_OK);
    FUZZ_CHECK(r1cs_measure(&circuit.shape, &circuit, &err) == CUZK_OK);
    FUZZ_CHECK(matrices_create(&m, &circuit, NULL, NULL, &err) == CUZK_OK);
    FUZZ_CHECK(matrices_save(m, path, &err) == CUZK_OK);
    FUZZ_CHECK(file_map_open(&map, path, CUZK_ERR_INPUT, &err) == CUZK_OK);
    unlink(path);
    good_size = map.size;
    good = malloc(good_size);
    FUZZ_CHECK(good);
    memcpy(good, map.data, good_size);
    file_map_close(&map);
    matrices_free(m);
    FUZZ_CHECK(assignment_create(&expected, &circuit, NULL, &err) == CUZK_OK);
}

static void use(synthesizer *kept) {
    cuzk_error err;
    assignment a = {.a = NULL};
    cuzk_code code = synthesize(&a, kept, &circuit, NULL, SYNTHESIS_TEMPLATES, NULL, NULL, &err);
    FUZZ_CHECK(code == CUZK_OK || code == CUZK_ERR_INPUT);
    if (code != CUZK_OK) return;
    const size_t vector = sizeof(fr) << expected.log_domain;
    FUZZ_CHECK(memcmp(a.a, expected.a, vector) == 0 && memcmp(a.b, expected.b, vector) == 0);
    FUZZ_CHECK(memcmp(a.c, expected.c, vector) == 0);
    FUZZ_CHECK(memcmp(a.aux, expected.aux, a.shape.aux * sizeof(fr)) == 0);
    FUZZ_CHECK(a.a_aux_count == expected.a_aux_count && a.b_aux_count == expected.b_aux_count);
    assignment_free(&a);
}

#define SIZE_AT   8u
#define SHA256_AT 96u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!good) prepare();
    const uint64_t before = mem_in_use();
    uint8_t *file = malloc(good_size);
    FUZZ_CHECK(file);
    memcpy(file, good, good_size);
    for (; size >= 6; data += 6, size -= 6) {
        uint32_t at;
        memcpy(&at, data, sizeof at);
        memcpy(file + at % (good_size - 1), data + 4, 2);
    }
    uint64_t length = size ? good_size - data[0] : good_size;
    memcpy(file + SIZE_AT, &length, sizeof length);
    memset(file + SHA256_AT, 0, 32);
    sha256_once(file + SHA256_AT, file, length);

    synthesizer kept = {.m = NULL};
    cuzk_error err = {.code = CUZK_OK};
    cuzk_code code = matrices_parse(&kept.m, file, length, "file", &circuit, &err);
    if (code == CUZK_OK) {
        use(&kept);
        synthesizer_free(&kept);
    } else {
        FUZZ_CHECK(code == CUZK_ERR_INPUT && err.message[0] && strcmp(err.path, "file") == 0 && !kept.m);
    }
    FUZZ_CHECK(mem_in_use() == before);
    free(file);
    return 0;
}
