/* Parameter files, verifying keys and proofs as bytes: what is read, and everything that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"
#include "groth16/proof.h"
#include "groth16/prove.h"
#include "groth16/srs.h"
#include "temp_dir.h"
#include "text_circuit.h"

#define PARAMS CUZK_TEST_DATA "/groth16-small/v28-small.params"
#define VK     CUZK_TEST_DATA "/groth16-small/v28-small.vk"

/* The reference parameters: 2 inputs, 313 aux, 512 points, 1060 bytes of verifying key. */
enum { VK_SIZE = 1060, H_AT = VK_SIZE, L_AT = H_AT + 4 + 511 * 96, A_AT = L_AT + 4 + 313 * 96 };

static char *original;
static size_t original_size, b_g1_at, b_g2_at;

static size_t count_at(const char *bytes, size_t at) {
    const uint8_t *b = (const uint8_t *)bytes + at;
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

static int read_original(void **state) {
    original = fixture_read("groth16-small/v28-small.params", &original_size);
    b_g1_at = A_AT + 4 + count_at(original, A_AT) * 96;
    b_g2_at = b_g1_at + 4 + count_at(original, b_g1_at) * 96;
    return temp_dir_make(state);
}

static int free_original(void **state) {
    free(original);
    return temp_dir_remove(state);
}

static char *copy_original(void) {
    char *copy = malloc(original_size + 4096);
    assert_non_null(copy);
    memcpy(copy, original, original_size);
    return copy;
}

/* Points on the curves outside the subgroups of order r. */
static void stray_g1(uint8_t out[G1_UNCOMPRESSED]) {
    fp four, t;
    g1_affine p;
    fp_from_u64(&four, 4);
    for (uint64_t x = 1;; x++) {
        fp_from_u64(&p.x, x);
        fp_sqr(&t, &p.x);
        fp_mul(&t, &t, &p.x);
        fp_add(&t, &t, &four);
        if (fp_sqrt(&p.y, &t) && !g1_in_subgroup(&p)) break;
    }
    g1_encode(out, &p);
}

static void stray_g2(uint8_t out[G2_UNCOMPRESSED]) {
    fp2 b, t;
    g2_affine p;
    fp_from_u64(&b.c0, 4);
    b.c1 = b.c0;
    p.x = FP2_ZERO;
    for (uint64_t x = 1;; x++) {
        fp_from_u64(&p.x.c0, x);
        fp2_sqr(&t, &p.x);
        fp2_mul(&t, &t, &p.x);
        fp2_add(&t, &t, &b);
        if (fp2_sqrt(&p.y, &t) && !g2_in_subgroup(&p)) break;
    }
    g2_encode(out, &p);
}

static void identity(uint8_t *out, size_t size) {
    memset(out, 0, size);
    out[0] = 0x40;
}

/* Write the bytes, try to open them, and expect the error: its offset, and a part of its message. */
static void expect_refused(const char *bytes, size_t size, const srs_shape *shape, uint64_t offset,
                           const char *message) {
    cuzk_error err;
    srs s;
    const char *path = temp_path("bad.params");
    assert_int_equal(file_write_all(path, bytes, size, &err), CUZK_OK);
    assert_int_equal(srs_open(&s, path, shape, NULL, &err), CUZK_ERR_PARAMS);
    if (!strstr(err.message, message)) fail_msg("'%s' does not say '%s'", err.message, message);
    assert_int_equal(err.offset, offset);
    assert_string_equal(err.path, path);
    srs_close(&s);
    assert_int_equal(srs_open(&s, path, shape, NULL, NULL), CUZK_ERR_PARAMS);
}

static void opens_the_reference(void **state) {
    (void)state;
    cuzk_error err;
    srs s;
    assert_int_equal(srs_open(&s, PARAMS, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(s.shape.inputs, 2);
    assert_int_equal(s.shape.aux, 313);
    assert_int_equal(s.shape.log_domain, 9);
    assert_int_equal(s.h.n, 511);
    assert_int_equal(s.b_g1.n, s.b_g2.n);
    assert_int_equal(srs_bytes(&s.shape), original_size);
    assert_int_equal(srs_validate(&s, false, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(srs_validate(&s, true, NULL, NULL, &err), CUZK_OK);
    srs_shape shape = s.shape;
    srs_close(&s);
    srs_close(&s);

    pool *p;
    assert_int_equal(pool_create(&p, 4, &err), CUZK_OK);
    assert_int_equal(srs_open(&s, PARAMS, &shape, p, &err), CUZK_OK);
    assert_int_equal(srs_validate(&s, true, p, NULL, &err), CUZK_OK);
    srs_close(&s);
    pool_destroy(p);
}

static void missing_file(void **state) {
    (void)state;
    cuzk_error err;
    srs s;
    verifying_key k;
    assert_int_equal(srs_open(&s, temp_path("absent.params"), NULL, NULL, &err), CUZK_ERR_PARAMS);
    assert_string_equal(err.path, temp_path("absent.params"));
    assert_non_null(strstr(err.message, "No such file"));
    srs_close(&s);
    assert_int_equal(srs_open(&s, temp_dir(), NULL, NULL, &err), CUZK_ERR_PARAMS);
    assert_int_equal(vk_read(&k, temp_path("absent.vk"), NULL, &err), CUZK_ERR_PARAMS);
    vk_free(&k);
}

static void wrong_size(void **state) {
    (void)state;
    /* Known shape: the first thing said is the size it should have. */
    srs_shape big = {.inputs = 40, .aux = 2685673, .log_domain = 22, .a = 40 + 2674908, .b = 1 + 685521};
    expect_refused(original, 322, &big, CUZK_NO_OFFSET, "322 bytes, expected 1114707768");
    expect_refused(original, original_size, &big, CUZK_NO_OFFSET, "170520 bytes, expected 1114707768");

    /* Unknown shape: cut at every boundary and beside it. */
    const size_t starts[] = {0, H_AT, L_AT, A_AT, b_g1_at, b_g2_at, original_size};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        for (int d = -5; d <= 5; d++) {
            if ((d < 0 && starts[i] < (size_t)-d) || starts[i] + (size_t)d >= original_size) continue;
            cuzk_error err;
            srs s;
            const char *path = temp_path("cut.params");
            assert_int_equal(file_write_all(path, original, starts[i] + (size_t)d, &err), CUZK_OK);
            assert_int_equal(srs_open(&s, path, NULL, NULL, &err), CUZK_ERR_PARAMS);
        }
    expect_refused(original, 0, NULL, CUZK_NO_OFFSET, "0 bytes, a verifying key has at least 964");
    expect_refused(original, 867, NULL, CUZK_NO_OFFSET, "867 bytes");
    expect_refused(original, 1000, NULL, 864, "2 ic points end at byte 1060, the file has 1000 bytes");
    expect_refused(original, H_AT + 3, NULL, H_AT, "ends before the count of section h");
    expect_refused(original, L_AT - 1, NULL, H_AT, "section h: 511 points need 49056 bytes, 49055 remain");
    expect_refused(original, original_size - 1, NULL, b_g2_at, "section b_g2");

    char *longer = copy_original();
    longer[original_size] = 0;
    expect_refused(longer, original_size + 1, NULL, original_size, "170521 bytes, expected 170520");
    free(longer);
}

static void set_count(char *bytes, size_t at, uint32_t count) {
    for (int i = 0; i < 4; i++) bytes[at + (size_t)i] = (char)(count >> (24 - 8 * i));
}

static void counts_that_do_not_fit(void **state) {
    (void)state;
    char *bytes = copy_original();
    const size_t counts[] = {864, H_AT, L_AT, A_AT, b_g1_at, b_g2_at};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t wrong[] = {0, 1, 0x7fffffff, 0xffffffff};
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
            cuzk_error err;
            srs s;
            memcpy(bytes, original, original_size);
            set_count(bytes, counts[i], wrong[k]);
            assert_int_equal(file_write_all(temp_path("bad.params"), bytes, original_size, &err), CUZK_OK);
            assert_int_equal(srs_open(&s, temp_path("bad.params"), NULL, NULL, &err), CUZK_ERR_PARAMS);
        }
    }
    memcpy(bytes, original, original_size);
    set_count(bytes, 864, 0);
    expect_refused(bytes, original_size, NULL, 864, "no ic points");

    /* Sizes that add up, but do not fit each other. One l point moved to h: no power of two. */
    memcpy(bytes, original, original_size);
    set_count(bytes, H_AT, 512);
    memmove(bytes + L_AT + 96, bytes + L_AT, 4);
    set_count(bytes, L_AT + 96, 312);
    expect_refused(bytes, original_size, NULL, H_AT, "section h: 512 points");

    /* A section a shorter than the inputs, the rest moved to l; and one longer than all variables. */
    size_t a = count_at(original, A_AT), moved = a - 1;
    memcpy(bytes, original, original_size);
    set_count(bytes, L_AT, (uint32_t)(313 + moved));
    set_count(bytes, A_AT + moved * 96, 1);
    expect_refused(bytes, original_size, NULL, A_AT + moved * 96, "section a: 1 points, expected 2 to");
    memcpy(bytes, original, original_size);
    set_count(bytes, L_AT, 200);
    set_count(bytes, L_AT + 4 + 200 * 96, (uint32_t)(a + 113));
    expect_refused(bytes, original_size, NULL, L_AT + 4 + 200 * 96, "expected 2 to 202");

    /* One G1 point more in b_g1 at the cost of half a G2 point is impossible; two against one are not. */
    size_t b = count_at(original, b_g1_at);
    memcpy(bytes, original, original_size);
    set_count(bytes, b_g1_at, (uint32_t)(b + 2));
    set_count(bytes, b_g2_at + 2 * 96, (uint32_t)(b - 1));
    expect_refused(bytes, original_size, NULL, b_g2_at + 2 * 96, "section b_g2");
    free(bytes);
}

static void another_circuit(void **state) {
    (void)state;
    cuzk_error err;
    srs s;
    assert_int_equal(srs_open(&s, PARAMS, NULL, NULL, &err), CUZK_OK);
    const char *const expected[] = {"ic points 2, expected 3", "l points 313, expected 314",
                                    "h points 511, expected 1023", "a points", "b_g1 points"};
    for (int i = 0; i < 5; i++) {
        srs_shape shape = s.shape;
        if (i == 0) shape.inputs++;
        if (i == 1) shape.aux++;
        if (i == 2) shape.log_domain++;
        if (i == 3) shape.a--;
        if (i == 4) shape.b++;
        assert_int_equal(srs_check_shape(&s, &shape, &err), CUZK_ERR_PARAMS);
        assert_non_null(strstr(err.message, expected[i]));
        assert_string_equal(err.path, PARAMS);
    }
    assert_int_equal(srs_check_shape(&s, &s.shape, &err), CUZK_OK);

    /* The same size by chance: two points more in a, two fewer in l. */
    srs_shape shape = s.shape;
    shape.a += 2;
    shape.aux -= 2;
    srs other;
    assert_int_equal(srs_open(&other, PARAMS, &shape, NULL, &err), CUZK_ERR_PARAMS);
    assert_non_null(strstr(err.message, "another circuit"));

    /* The verifying key of other parameters. */
    verifying_key k;
    assert_int_equal(vk_read(&k, VK, NULL, &err), CUZK_OK);
    assert_int_equal(srs_check_vk(&s, &k, VK, &err), CUZK_OK);
    g1_affine_neg(&k.ic[1], &k.ic[1]);
    assert_int_equal(srs_check_vk(&s, &k, VK, &err), CUZK_ERR_PARAMS);
    assert_non_null(strstr(err.message, PARAMS));
    g1_affine_neg(&k.ic[1], &k.ic[1]);
    k.ic_count = 1;
    assert_int_equal(srs_check_vk(&s, &k, VK, &err), CUZK_ERR_PARAMS);
    vk_free(&k);
    srs_close(&s);
}

typedef struct place {
    size_t at;
    bool g2;
    const char *name;
} place;

static void bad_points_of_the_key(void **state) {
    (void)state;
    const place places[] = {{0, false, "alpha_g1"},     {96, false, "beta_g1"},    {192, true, "beta_g2"},
                            {384, true, "gamma_g2"},    {576, false, "delta_g1"},  {672, true, "delta_g2"},
                            {868, false, "ic point 0"}, {964, false, "ic point 1"}};
    char *bytes = copy_original();
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const place *q = &places[i];
        uint8_t *point = (uint8_t *)bytes + q->at;
        char message[64];
        memcpy(bytes, original, original_size);
        if (q->g2)
            stray_g2(point);
        else
            stray_g1(point);
        snprintf(message, sizeof message, "%s: not in the subgroup", q->name);
        expect_refused(bytes, original_size, NULL, q->at, message);

        identity(point, q->g2 ? 192 : 96);
        snprintf(message, sizeof message, "%s: the identity", q->name);
        expect_refused(bytes, original_size, NULL, q->at, message);

        memcpy(bytes, original, original_size);
        point[q->g2 ? 191 : 95] ^= 1;
        snprintf(message, sizeof message, "%s: not on the curve", q->name);
        expect_refused(bytes, original_size, NULL, q->at, message);

        memcpy(bytes, original, original_size);
        memset(point, 0x1f, 48);
        snprintf(message, sizeof message, "%s: ", q->name);
        expect_refused(bytes, original_size, NULL, q->at, message);
    }
    free(bytes);
}

/* Bad points of the sections: opening does not look, validation finds each, and proving each that has a part
 * in the proof. */
static void bad_points_of_the_sections(void **state) {
    (void)state;
    cuzk_error err;
    text_circuit circuit;
    pool *p;
    text_circuit_read(&circuit, "groth16-small/circuit.txt.zst");
    assert_int_equal(pool_create(&p, 3, &err), CUZK_OK);
    const place places[] = {{H_AT + 4, false, "section h, point 0"},
                            {H_AT + 4 + 510 * 96, false, "section h, point 510"},
                            {L_AT + 4 + 96 * 77, false, "section l, point 77"},
                            {A_AT + 4, false, "section a, point 0"},
                            {A_AT + 4 + 96 * 100, false, "section a, point 100"},
                            {b_g1_at + 4 + 96 * 2, false, "section b_g1, point 2"},
                            {b_g2_at + 4, true, "section b_g2, point 0"},
                            {b_g2_at + 4 + 192 * 5, true, "section b_g2, point 5"}};
    char *bytes = copy_original();
    const char *path = CUZK_TEST_DATA;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int kind = 0; kind < 3; kind++) {
            const place *q = &places[i];
            uint8_t *point = (uint8_t *)bytes + q->at;
            memcpy(bytes, original, original_size);
            if (kind == 0) point[q->g2 ? 191 : 95] ^= 1;
            if (kind == 1) identity(point, q->g2 ? 192 : 96);
            if (kind == 2 && q->g2) stray_g2(point);
            if (kind == 2 && !q->g2) stray_g1(point);
            path = temp_path("bad.params");
            assert_int_equal(file_write_all(path, bytes, original_size, &err), CUZK_OK);
            srs s;
            assert_int_equal(srs_open(&s, path, NULL, NULL, &err), CUZK_OK);
            assert_int_equal(srs_validate(&s, true, p, NULL, &err), CUZK_ERR_PARAMS);
            assert_int_equal(err.offset, q->at);
            assert_non_null(strstr(err.message, q->name));
            assert_string_equal(err.path, path);
            assert_int_equal(srs_validate(&s, false, p, NULL, &err), kind == 2 ? CUZK_OK : CUZK_ERR_PARAMS);

            assignment w;
            groth16_proof proof;
            assert_int_equal(assignment_create(&w, &circuit.circuit, NULL, &err), CUZK_OK);
            cuzk_code code = groth16_prove(&proof, &s, &w, NULL, p, NULL, NULL, &err);
            assert_int_equal(code, kind == 2 ? CUZK_ERR_INTERNAL : CUZK_ERR_PARAMS);
            if (kind != 2) {
                assert_int_equal(err.offset, q->at);
                assert_string_equal(err.path, path);
            }
            assignment_free(&w);
            srs_close(&s);
        }
    free(bytes);
    pool_destroy(p);
    text_circuit_free(&circuit);
    assert_int_equal(mem_in_use(), 0);
}

static void truncated_while_open(void **state) {
    (void)state;
    cuzk_error err;
    srs s;
    text_circuit circuit;
    assignment w;
    groth16_proof proof;
    const char *path = temp_path("shrinks.params");
    text_circuit_read(&circuit, "groth16-small/circuit.txt.zst");
    assert_int_equal(file_write_all(path, original, original_size, &err), CUZK_OK);
    assert_int_equal(srs_open(&s, path, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(srs_validate(&s, false, NULL, NULL, &err), CUZK_ERR_PARAMS);
    assert_int_equal(assignment_create(&w, &circuit.circuit, NULL, &err), CUZK_OK);
    assert_int_equal(groth16_prove(&proof, &s, &w, NULL, NULL, NULL, NULL, &err), CUZK_ERR_PARAMS);
    assert_non_null(strstr(err.message, "5000 bytes now, 170520 when it was opened"));
    assignment_free(&w);
    srs_close(&s);
    text_circuit_free(&circuit);
}

static void key_files(void **state) {
    (void)state;
    cuzk_error err;
    verifying_key k, back;
    size_t size;
    char *bytes = fixture_read("groth16-small/v28-small.vk", &size);
    assert_int_equal(size, VK_SIZE);
    assert_memory_equal(bytes, original, size);
    assert_int_equal(vk_read(&k, VK, NULL, &err), CUZK_OK);
    assert_int_equal(k.ic_count, 2);
    assert_int_equal(vk_write(temp_path("copy.vk"), &k, &err), CUZK_OK);
    assert_int_equal(vk_read(&back, temp_path("copy.vk"), NULL, &err), CUZK_OK);
    assert_true(vk_eq(&k, &back));
    vk_free(&back);
    char *again = fixture_read("groth16-small/v28-small.vk", &size);
    vk_encode((uint8_t *)again, &k);
    assert_memory_equal(again, bytes, size);

    const size_t sizes[] = {0, 867, 868, 963, 964, VK_SIZE - 1, VK_SIZE + 1};
    char longer[VK_SIZE + 1] = {0};
    memcpy(longer, bytes, VK_SIZE);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(file_write_all(temp_path("bad.vk"), longer, sizes[i], &err), CUZK_OK);
        assert_int_equal(vk_read(&back, temp_path("bad.vk"), NULL, &err), CUZK_ERR_PARAMS);
        assert_string_equal(err.path, temp_path("bad.vk"));
        assert_null(back.ic);
    }
    assert_non_null(strstr(err.message, "1061 bytes, expected 1060"));
    vk_free(&k);
    free(bytes);
    free(again);

    /* A key with many inputs: the 2 KiB PoRep one. */
    pool *p;
    const char *porep = CUZK_TEST_DATA
        "/params/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
        "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk";
    assert_int_equal(pool_create(&p, 2, &err), CUZK_OK);
    assert_int_equal(vk_read(&k, porep, p, &err), CUZK_OK);
    assert_int_equal(k.ic_count, 40);
    vk_free(&k);
    pool_destroy(p);
}

static void proof_bytes(void **state) {
    (void)state;
    cuzk_error err;
    size_t size;
    groth16_proof proofs[3];
    uint8_t three[3 * PROOF_BYTES], back[PROOF_BYTES];
    char *one = fixture_read("groth16-small/proof.bin", &size);
    assert_int_equal(size, PROOF_BYTES);
    for (unsigned i = 0; i < 3; i++) memcpy(three + i * PROOF_BYTES, one, PROOF_BYTES);
    free(one);
    assert_int_equal(proof_decode(proofs, 3, three, sizeof three, NULL, &err), CUZK_OK);
    proof_encode(back, &proofs[2]);
    assert_memory_equal(back, three, PROOF_BYTES);

    const size_t wrong[] = {0, 1, 191, 192, 575, 577, 768};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(proof_decode(proofs, 3, three, wrong[i], "p", &err), CUZK_ERR_INPUT);
        assert_non_null(strstr(err.message, "expected 576"));
        assert_string_equal(err.path, "p");
    }

    /* Every kind of bad point, at every place of the second proof. */
    const size_t at[] = {0, 48, 144};
    const char *const names[] = {"point A", "point B", "point C"};
    for (int i = 0; i < 3; i++)
        for (int kind = 0; kind < 6; kind++) {
            uint8_t bytes[3 * PROOF_BYTES], stray[G2_UNCOMPRESSED];
            size_t point_size = i == 1 ? 96 : 48;
            uint8_t *point = bytes + PROOF_BYTES + at[i];
            memcpy(bytes, three, sizeof bytes);
            switch (kind) {
            case 0: /* the identity, well encoded */
                memset(point, 0, point_size);
                point[0] = 0xc0;
                break;
            case 1: /* the identity with another bit */
                memset(point, 0, point_size);
                point[0] = 0xc0;
                point[20] = 1;
                break;
            case 2: /* not compressed */
                point[0] &= 0x7f;
                break;
            case 3: /* x not below the modulus */
                memset(point, 0xff, point_size);
                point[0] = 0x9f;
                break;
            case 4: /* outside the subgroup */
                if (i == 1)
                    stray_g2(stray);
                else
                    stray_g1(stray);
                memcpy(point, stray, point_size);
                point[0] |= 0x80;
                break;
            case 5: /* x = 0 in G1 is on the curve, but outside the subgroup; in G2 it is on no curve point */
                memset(point, 0, point_size);
                point[0] = 0x80;
                break;
            }
            assert_int_equal(proof_decode(proofs, 3, bytes, sizeof bytes, NULL, &err), CUZK_ERR_INPUT);
            assert_int_equal(err.offset, PROOF_BYTES + at[i]);
            assert_non_null(strstr(err.message, "proof 1"));
            assert_non_null(strstr(err.message, names[i]));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_the_reference),
        cmocka_unit_test(missing_file),
        cmocka_unit_test(wrong_size),
        cmocka_unit_test(counts_that_do_not_fit),
        cmocka_unit_test(another_circuit),
        cmocka_unit_test(bad_points_of_the_key),
        cmocka_unit_test(bad_points_of_the_sections),
        cmocka_unit_test(truncated_while_open),
        cmocka_unit_test(key_files),
        cmocka_unit_test(proof_bytes),
    };
    field_init(NULL);
    return cmocka_run_group_tests(tests, read_original, free_original);
}
