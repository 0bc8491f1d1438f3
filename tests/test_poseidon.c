/* Poseidon: every generated constant and the hashes against the reference vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <openssl/sha.h>

#include "fixture.h"
#include "hash/poseidon.h"

static const unsigned ARITIES[] = {2, 4, 8, 11};

static void assert_fr(const fr *value, const char *hex) {
    uint8_t bytes[32];
    fr_to_bytes(bytes, value);
    assert_hex(bytes, sizeof bytes, hex);
}

static void assert_rows(const fr *values, yajl_val rows, unsigned width) {
    assert_int_equal(json_len(rows, ""), width);
    for (unsigned i = 0; i < width; i++) {
        yajl_val row = rows->u.array.values[i];
        assert_int_equal(json_len(row, ""), width);
        for (unsigned j = 0; j < width; j++)
            assert_fr(&values[i * width + j], YAJL_GET_STRING(row->u.array.values[j]));
    }
}

static void constants_match(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof ARITIES / sizeof *ARITIES; k++) {
        char name[64];
        snprintf(name, sizeof name, "vectors/poseidon_constants_%u.json", ARITIES[k]);
        yajl_val json = fixture_json(name);
        const poseidon_constants *c = poseidon_for(ARITIES[k]);
        assert_non_null(c);
        assert_int_equal(c->arity, ARITIES[k]);
        assert_int_equal(c->width, ARITIES[k] + 1);
        assert_int_equal(c->partial_rounds, json_int(json, "partial_rounds"));
        assert_int_equal(POSEIDON_FULL_ROUNDS, json_int(json, "full_rounds"));

        yajl_val keys = json_at(json, "compressed_round_constants");
        assert_int_equal(keys->u.array.len, 8 * c->width + c->partial_rounds);
        for (size_t i = 0; i < keys->u.array.len; i++)
            assert_fr(&c->keys[i], YAJL_GET_STRING(keys->u.array.values[i]));
        assert_rows(c->mds, json_at(json, "mds"), c->width);
        assert_rows(c->pre_sparse, json_at(json, "pre_sparse_matrix"), c->width);

        yajl_val sparse = json_at(json, "sparse_matrices");
        assert_int_equal(sparse->u.array.len, c->partial_rounds);
        const fr *at = c->sparse;
        for (size_t i = 0; i < sparse->u.array.len; i++) {
            yajl_val w_hat = json_at(sparse->u.array.values[i], "w_hat");
            yajl_val v_rest = json_at(sparse->u.array.values[i], "v_rest");
            assert_int_equal(w_hat->u.array.len, c->width);
            assert_int_equal(v_rest->u.array.len, c->width - 1);
            for (size_t j = 0; j < c->width; j++) assert_fr(at++, YAJL_GET_STRING(w_hat->u.array.values[j]));
            for (size_t j = 0; j + 1 < c->width; j++)
                assert_fr(at++, YAJL_GET_STRING(v_rest->u.array.values[j]));
        }
        fr tag;
        poseidon_tag_value(&tag, POSEIDON_TREE, ARITIES[k]);
        assert_fr(&tag, json_str(json, "domain_tag"));
        yajl_tree_free(json);
    }
    assert_null(poseidon_for(0));
    assert_null(poseidon_for(3));
    assert_null(poseidon_for(12));
}

static void digest_update(SHA256_CTX *sha, const fr *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &values[i]);
        SHA256_Update(sha, bytes, sizeof bytes);
    }
}

/* The digests of the published constants: keys, and pre-sparse with sparse matrices. */
static void constants_digests(void **state) {
    (void)state;
    static const char *const expected[][2] = {
        {"b768b730ce5198394d948d76421ab53b08cc16ec1ac082cf503f370192253e16",
         "a33201d9e9370922641f21a7fd2b6870c544f9a20b5e08f41477a4b401dde6d6"},
        {"3e4ec19ded2c86a89f3d6bddc13d9571a0cc5473e7207cfbaf6a8169a69f5709",
         "b4b3d58cb29b95278249633519d4bb4cc10e9f476f4db85ecd563919947b1846"},
        {"f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16",
         "b214cbdf475db05677739b129172f62a37893379c0c8ba90fa43e13e692661e2"},
        {"2d7c0e4e9b98eda82102b69f1a964ae59ccf98b0008b6d3d632d86f4fea79d1d",
         "776744c46f0ef36b95efa57347d8c4ab29daf9cf1809d014b37af2bcc9775a11"}};
    for (size_t k = 0; k < 4; k++) {
        const poseidon_constants *c = poseidon_for(ARITIES[k]);
        uint8_t digest[32];
        SHA256_CTX sha;
        SHA256_Init(&sha);
        digest_update(&sha, c->keys, 8 * c->width + c->partial_rounds);
        SHA256_Final(digest, &sha);
        assert_hex(digest, sizeof digest, expected[k][0]);
        SHA256_Init(&sha);
        digest_update(&sha, c->pre_sparse, c->width * c->width);
        digest_update(&sha, c->sparse, c->partial_rounds * (2 * c->width - 1));
        SHA256_Final(digest, &sha);
        assert_hex(digest, sizeof digest, expected[k][1]);
    }
}

static void hashes_match(void **state) {
    (void)state;
    yajl_val json = fixture_json("vectors/poseidon.json");
    size_t cases = json_len(json, "cases");
    assert_true(cases > 0);
    for (cpu_isa isa = CPU_PORTABLE; isa <= cpu_best(); isa++) {
        field_select(isa);
        for (size_t i = 0; i < cases; i++) {
            yajl_val one = json_at(json, "cases")->u.array.values[i];
            yajl_val list = json_at(one, "preimage");
            fr preimage[11];
            assert_int_equal(list->u.array.len, 11);
            for (size_t j = 0; j < 11; j++) {
                uint8_t bytes[32];
                hex_decode(bytes, YAJL_GET_STRING(list->u.array.values[j]), sizeof bytes);
                assert_true(fr_from_bytes(&preimage[j], bytes));
            }
            for (size_t k = 0; k < 4; k++) {
                char name[16];
                fr digest;
                snprintf(name, sizeof name, "hash_%u", ARITIES[k]);
                poseidon_hash(&digest, poseidon_for(ARITIES[k]), POSEIDON_TREE, preimage);
                assert_fr(&digest, json_str(one, name));
            }
        }
    }
    yajl_tree_free(json);
}

static void hashes_of_the_counting_preimage(void **state) {
    (void)state;
    static const char *const expected[] = {
        "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539",
        "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558",
        "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423",
        "6331692bc3bbe3cec18fb0ccd8dcf3097ae8eb32e237a56c287f22e5b2c10f0c"};
    fr preimage[11];
    for (unsigned i = 0; i < 11; i++) fr_from_u64(&preimage[i], i);
    for (size_t k = 0; k < 4; k++) {
        fr digest;
        poseidon_hash(&digest, poseidon_for(ARITIES[k]), POSEIDON_TREE, preimage);
        assert_fr(&digest, expected[k]);
    }
    /* Another tag, and the result written over the preimage. */
    poseidon_hash(&preimage[0], poseidon_for(2), POSEIDON_GEN_RANDOMNESS, preimage);
    assert_fr(&preimage[0], "587707bcc44ea7e5c7677339ea0b58e325fea03481c51fad4e92f0e7c4354a31");
}

/* The mixings, which reduce sums of products once, against one field operation after the other: on the
 * largest elements, on zeros, and on numbers without a pattern. */
static void mixings_match_field_arithmetic(void **state) {
    (void)state;
    enum { WIDTH = POSEIDON_MAX_WIDTH };
    fr s[WIDTH], matrix[WIDTH * WIDTH], power;
    fr_from_u64(&power, 3);
    for (unsigned trial = 0; trial < 50; trial++) {
        for (unsigned i = 0; i < WIDTH; i++) {
            fr_sqr(&power, &power);
            s[i] = power;
        }
        for (unsigned i = 0; i < WIDTH * WIDTH; i++) {
            fr_sqr(&power, &power);
            matrix[i] = power;
        }
        /* Limbs of the modulus less one: the largest Montgomery form. */
        fr largest;
        memcpy(&largest, &FR_MODULUS, sizeof largest);
        largest.l[0] -= 1;
        for (unsigned i = 0; i < WIDTH && trial < 3; i++) s[i] = trial == 2 ? FR_ZERO : largest;
        for (unsigned i = 0; i < WIDTH * WIDTH && trial < 2; i++) matrix[i] = largest;

        fr dense[WIDTH], sparse[WIDTH], expected, term;
        memcpy(dense, s, sizeof s);
        poseidon_mix_dense(dense, matrix, WIDTH);
        for (unsigned j = 0; j < WIDTH; j++) {
            expected = FR_ZERO;
            for (unsigned i = 0; i < WIDTH; i++) {
                fr_mul(&term, &s[i], &matrix[i * WIDTH + j]);
                fr_add(&expected, &expected, &term);
            }
            assert_memory_equal(&dense[j], &expected, sizeof expected);
        }
        memcpy(sparse, s, sizeof s);
        poseidon_mix_sparse(sparse, matrix, WIDTH);
        expected = FR_ZERO;
        for (unsigned i = 0; i < WIDTH; i++) {
            fr_mul(&term, &s[i], &matrix[i]);
            fr_add(&expected, &expected, &term);
        }
        assert_memory_equal(&sparse[0], &expected, sizeof expected);
        for (unsigned j = 1; j < WIDTH; j++) {
            fr_mul(&term, &s[0], &matrix[WIDTH + j - 1]);
            fr_add(&expected, &s[j], &term);
            assert_memory_equal(&sparse[j], &expected, sizeof expected);
        }
    }
}

/* Every intermediate value is fully reduced and the same in all variants, and the squares are squares. */
static void traces_are_equal(void **state) {
    (void)state;
    fr preimage[11], power, largest, expected[POSEIDON_MAX_TRACE], found[POSEIDON_MAX_TRACE];
    fr_from_u64(&power, 5);
    memcpy(&largest, &FR_MODULUS, sizeof largest);
    largest.l[0] -= 1;
    for (unsigned trial = 0; trial < 400; trial++) {
        const poseidon_constants *c = poseidon_for(ARITIES[trial % 4]);
        const poseidon_tag tag = trial % 7 == 0 ? POSEIDON_GEN_RANDOMNESS : POSEIDON_TREE;
        const unsigned size = poseidon_trace_size(c);
        assert_true(size <= POSEIDON_MAX_TRACE);
        for (unsigned i = 0; i < 11; i++) {
            fr_sqr(&power, &power);
            preimage[i] = trial < 4 ? FR_ZERO : trial < 8 ? largest : power;
            if (trial % 5 == 4 && i % 3 == 0) preimage[i] = trial % 2 ? FR_ONE : FR_MINUS_ONE;
        }
        field_select(CPU_PORTABLE);
        poseidon_trace(expected, c, tag, preimage);
        for (unsigned i = 0; i + 1 < 3 * c->arity; i += 3) {
            fr square;
            fr_sqr(&square, &expected[i]);
            assert_memory_equal(&expected[i + 1], &square, sizeof square);
        }
        for (cpu_isa isa = CPU_PORTABLE; isa <= cpu_best(); isa++) {
            field_select(isa);
            memset(found, 0xff, sizeof found);
            poseidon_trace(found, c, tag, preimage);
            assert_memory_equal(found, expected, size * sizeof(fr));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_match),
        cmocka_unit_test(constants_digests),
        cmocka_unit_test(mixings_match_field_arithmetic),
        cmocka_unit_test(hashes_match),
        cmocka_unit_test(hashes_of_the_counting_preimage),
        cmocka_unit_test(traces_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
