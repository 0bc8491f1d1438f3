/* Files of matrices: what is read is what was written, and whatever is wrong with one is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"
#include "synthesis_check.h"
#include "temp_dir.h"

#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "gadget/insertion.h"
#include "gadget/multipack.h"
#include "gadget/poseidon.h"
#include "hash/digest.h"
#include "r1cs/matrices_file.h"
#include "r1cs/synthesis.h"

/* A circuit of two parts with a few small blocks. */
typedef struct small_state {
    num first;
    boolean bits[FR_BITS];
} small_state;

static num number(cs *system, uint64_t value) {
    fr v;
    fr_from_u64(&v, value);
    return num_alloc(system, &v);
}

static void small_part(const void *ctx, uint32_t part, void *memory, cs *system) {
    (void)ctx;
    small_state *s = memory;
    if (part == 0) {
        s->first = number(system, 12345);
        num_inputize(system, &s->first);
        num_to_bits_le(system, s->bits, &s->first);
        return;
    }
    for (uint64_t i = 0; i < 2; i++) {
        num siblings[3] = {number(system, i), number(system, 77), s->first}, x = number(system, 99 + i),
            all[4];
        boolean position[2] = {boolean_not(s->bits[3 * i]), boolean_alloc(system, true)};
        num_insert(system, all, &x, position, siblings, 4);
        num hash = poseidon_tree_circuit(system, all, 2);
        num packed = pack_bits(system, s->bits + 2, 20);
        num_add(system, &hash, &packed);
    }
}

static void small_circuit(const void *ctx, cs *system) {
    small_state s;
    for (uint32_t part = 0; part < 2; part++) small_part(ctx, part, &s, system);
}

static r1cs_shape small_shape, small_middle;
static r1cs_shape small_start(const void *ctx, uint32_t part) {
    (void)ctx;
    return part == 0 ? (r1cs_shape){.inputs = 1} : part == 1 ? small_middle : small_shape;
}
static const r1cs_parts small_parts = {2, sizeof(small_state), small_start, small_part};
static void small_first(const void *ctx, cs *system) {
    small_state s;
    small_part(ctx, 0, &s, system);
}

static r1cs_circuit small(void) {
    r1cs_circuit first = {"first", small_first, NULL, {0, 0, 0}},
                 all = {"small", small_circuit, NULL, {0, 0, 0}};
    assert_int_equal(r1cs_measure(&small_middle, &first, NULL), CUZK_OK);
    assert_int_equal(r1cs_measure(&small_shape, &all, NULL), CUZK_OK);
    all.shape = small_shape;
    return all;
}

/* The bytes of the small circuit's file; malloced. */
static uint8_t *small_file(const r1cs_circuit *circuit, size_t *size) {
    matrices *m = check_matrices(circuit, &small_parts);
    const char *path = temp_path("small.pce");
    cuzk_error err;
    file_map map;
    if (matrices_save(m, path, &err)) fail_msg("%s", err.message);
    assert_int_equal(file_map_open(&map, path, CUZK_ERR_INPUT, &err), CUZK_OK);
    uint8_t *bytes = malloc(map.size);
    assert_non_null(bytes);
    memcpy(bytes, map.data, map.size);
    *size = map.size;
    file_map_close(&map);
    matrices_free(m);
    return bytes;
}

#define SHA256_AT 96u

/* Make the checksum right again. */
static void seal(uint8_t *bytes, size_t size) {
    memset(bytes + SHA256_AT, 0, 32);
    sha256_once(bytes + SHA256_AT, bytes, size);
}

static void whole_sector(void **unused) {
    (void)unused;
    c1 *c;
    cuzk_error err;
    if (c1_read(&c, CUZK_TEST_DATA "/c1/2k-v1_1/c1.json", &err)) fail_msg("%s", err.message);
    porep_circuit porep, blank;
    r1cs_circuit circuit, structure;
    r1cs_parts parts, blank_parts;
    porep_of_c1(&porep, &circuit, c, 0);
    porep_parts(&parts, &porep);
    porep_blank(&blank, &structure, &porep.shape);
    porep_parts(&blank_parts, &blank);

    const char *path = temp_path("2k.pce");
    matrices *m = check_matrices(&structure, &blank_parts);
    assert_int_equal(matrices_save(m, path, &err), CUZK_OK);
    matrices_free(m);
    synthesizer kept = {.m = NULL};
    if (matrices_open(&kept.m, path, &circuit, &err)) fail_msg("%s", err.message);
    assert_true(kept.m->from_file);
    check_same_structure(kept.m, &circuit);
    assignment generic, fast = {.a = NULL};
    assert_int_equal(assignment_create(&generic, &circuit, NULL, &err), CUZK_OK);
    check_same_values(kept.m, &circuit, &parts, &generic, 2);
    const matrices *opened = kept.m;
    if (synthesize(&fast, &kept, &circuit, &parts, SYNTHESIS_TEMPLATES, NULL, NULL, &err))
        fail_msg("%s", err.message);
    assert_ptr_equal(kept.m, opened);
    assert_true(memcmp(fast.c, generic.c, sizeof(fr) << generic.log_domain) == 0);
    assignment_free(&generic);
    assignment_free(&fast);
    synthesizer_free(&kept);

    structure.name = "another";
    assert_int_equal(matrices_open(&m, path, &structure, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, path);
    assert_int_equal(err.offset, 16);
    assert_int_equal(matrices_open(&m, temp_path("none"), &circuit, &err), CUZK_ERR_INPUT);
    assert_null(m);
    c1_free(c);
}

static void damaged(void **unused) {
    (void)unused;
    const r1cs_circuit circuit = small();
    size_t size;
    uint8_t *bytes = small_file(&circuit, &size), *copy = malloc(size);
    const uint64_t before = mem_in_use();
    cuzk_error err;
    matrices *m;
    assert_non_null(copy);
    assert_int_equal(matrices_parse(&m, bytes, size, "small", &circuit, &err), CUZK_OK);
    matrices_free(m);
    for (size_t length = 0; length < size; length += length < 200 ? 1 : 1013) {
        assert_int_equal(matrices_parse(&m, bytes, length, "short", &circuit, &err), CUZK_ERR_INPUT);
        assert_null(m);
        assert_string_equal(err.path, "short");
    }
    for (size_t at = 0; at < size; at += at < 400 ? 1 : 499) {
        bytes[at] ^= 0x10;
        assert_int_equal(matrices_parse(&m, bytes, size, "flipped", &circuit, &err), CUZK_ERR_INPUT);
        bytes[at] ^= 0x10;
    }
    assert_int_equal(mem_in_use(), before);
    free(copy);
    free(bytes);
}

/* Files made up with the right checksum: an error, or the right values all the same. */
static void forged(void **unused) {
    (void)unused;
    const r1cs_circuit circuit = small();
    size_t size;
    uint8_t *bytes = small_file(&circuit, &size), *copy = malloc(size);
    assert_non_null(copy);
    assignment generic;
    cuzk_error err;
    assert_int_equal(assignment_create(&generic, &circuit, NULL, &err), CUZK_OK);
    const size_t vector = sizeof(fr) << generic.log_domain;
    const uint64_t before = mem_in_use();
    uint64_t random = 5;
    unsigned accepted = 0, refused_late = 0;
    for (unsigned i = 0; i < 3000; i++) {
        memcpy(copy, bytes, size);
        uint64_t x = rng_next(&random);
        /* the header, sections near the beginning, and everything */
        size_t range = i % 3 == 0 ? 128 : i % 3 == 1 ? 20000 : size;
        size_t at = (x >> 16) % (range < size ? range : size);
        if (at >= SHA256_AT && at < SHA256_AT + 32) continue; /* made right below */
        if (x & 1)
            copy[at] ^= (uint8_t)(1u << (x >> 8 & 7));
        else
            copy[at] = (uint8_t)(x >> 8);
        seal(copy, size);
        synthesizer kept = {.m = NULL};
        cuzk_code code = matrices_parse(&kept.m, copy, size, "forged", &circuit, &err);
        if (code == CUZK_OK) {
            assignment fast = {.a = NULL};
            code = synthesize(&fast, &kept, &circuit, &small_parts, SYNTHESIS_TEMPLATES, NULL, NULL, &err);
            if (code == CUZK_OK) {
                accepted++;
                assert_memory_equal(fast.a, generic.a, vector);
                assert_memory_equal(fast.b, generic.b, vector);
                assert_memory_equal(fast.c, generic.c, vector);
                assert_memory_equal(fast.aux, generic.aux, generic.shape.aux * sizeof(fr));
                assert_int_equal(fast.a_aux_count, generic.a_aux_count);
                assignment_free(&fast);
            } else {
                refused_late++;
            }
            synthesizer_free(&kept);
        }
        if (code != CUZK_OK && code != CUZK_ERR_INPUT)
            fail_msg("byte %zu: code %d, %s", at, (int)code, err.message);
        assert_int_equal(mem_in_use(), before);
    }
    assert_true(refused_late > 100);
    assert_true(accepted < 50); /* padding, and bytes set to what they were */
    assignment_free(&generic);
    free(copy);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_sector),
        cmocka_unit_test(damaged),
        cmocka_unit_test(forged),
    };
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
