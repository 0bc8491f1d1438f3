/* Replica ids, challenges, graph parents, public inputs and parameter names against the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/param_names.h"
#include "filecoin/replica_id.h"

#define ITEMS(node)  ((node)->u.array.values)
#define LENGTH(node) ((node)->u.array.len)

static void replica_ids_match(void **state) {
    (void)state;
    yajl_val json = fixture_json("vectors/replica_id.json");
    assert_true(json_len(json, "") > 0);
    for (size_t i = 0; i < LENGTH(json); i++) {
        yajl_val one = ITEMS(json)[i];
        uint8_t prover[32], ticket[32], comm_d[32], porep[32], expected_porep[32];
        hex_decode(prover, json_str(one, "prover_id"), 32);
        hex_decode(ticket, json_str(one, "ticket"), 32);
        hex_decode(comm_d, json_str(one, "comm_d"), 32);
        hex_decode(expected_porep, json_str(one, "porep_id"), 32);
        porep_id_of(porep, expected_porep[0]);
        assert_memory_equal(porep, expected_porep, 32);
        fr_repr id;
        replica_id_of(&id, prover, (uint64_t)json_int(one, "sector"), ticket, comm_d, porep);
        assert_hex((const uint8_t *)&id, 32, json_str(one, "replica_id"));
    }
    yajl_tree_free(json);
}

static void prover_ids(void **state) {
    (void)state;
    static const struct {
        uint64_t actor;
        const char *hex; /* without the padding */
    } cases[] = {{0, "00"},
                 {1, "01"},
                 {127, "7f"},
                 {128, "8001"},
                 {1000, "e807"},
                 {16384, "808001"},
                 {UINT64_MAX, "ffffffffffffffffff01"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t id[32], expected[32] = {0};
        memset(id, 0xee, sizeof id);
        hex_decode(expected, cases[i].hex, strlen(cases[i].hex) / 2);
        prover_id_of(id, cases[i].actor);
        assert_memory_equal(id, expected, 32);
    }
}

static void challenges_match(void **state) {
    (void)state;
    static const struct {
        const char *key, *suffix;
    } kinds[] = {{"interactive", "V1"},
                 {"interactive", "V1_1"},
                 {"synthetic", "V1_1_Feat_SyntheticPoRep"},
                 {"non_interactive", "V1_2_Feat_NonInteractivePoRep"}};
    yajl_val json = fixture_json("vectors/challenges.json");
    assert_int_equal(json_len(json, ""), 5);
    for (size_t i = 0; i < LENGTH(json); i++) {
        yajl_val one = ITEMS(json)[i];
        porep_statement statement = {0};
        hex_decode((uint8_t *)&statement.replica_id, json_str(one, "replica_id"), 32);
        hex_decode((uint8_t *)&statement.comm_r, json_str(one, "comm_r"), 32);
        hex_decode(statement.seed, json_str(one, "seed"), 32);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char name[64];
            snprintf(name, sizeof name, "StackedDrg%s%s", json_str(one, "name"), kinds[k].suffix);
            statement.proof = registered_porep_by_name(name);
            assert_non_null(statement.proof);
            assert_int_equal(statement.proof->sector->nodes, json_int(one, "nodes"));
            yajl_val expected = json_at(one, kinds[k].key);
            assert_int_equal(LENGTH(expected), statement.proof->sector->challenges);
            uint64_t challenges[POREP_MAX_CHALLENGES];
            porep_challenges(challenges, &statement, (unsigned)json_int(one, "partition"));
            for (size_t j = 0; j < LENGTH(expected); j++)
                assert_int_equal(challenges[j], YAJL_GET_INTEGER(ITEMS(expected)[j]));
        }
    }
    yajl_tree_free(json);
}

static void parents_match(void **state) {
    (void)state;
    yajl_val json = fixture_json("vectors/graph.json");
    assert_int_equal(json_len(json, ""), 6);
    for (size_t i = 0; i < LENGTH(json); i++) {
        yajl_val one = ITEMS(json)[i];
        uint8_t porep[32];
        hex_decode(porep, json_str(one, "porep_id"), 32);
        api_version api = strcmp(json_str(one, "api"), "1.0.0") == 0 ? API_1_0_0 : API_1_1_0;
        graph g, of_proof;
        graph_init(&g, (uint64_t)json_int(one, "nodes"), api, porep);
        graph_for(&of_proof, registered_porep_by_id(porep[0]));
        yajl_val list = json_at(one, "parents");
        assert_true(LENGTH(list) > 0);
        for (size_t j = 0; j < LENGTH(list); j++) {
            yajl_val entry = ITEMS(list)[j];
            uint32_t node = (uint32_t)json_int(entry, "node");
            uint32_t base[DRG_DEGREE], expander[EXPANDER_DEGREE];
            graph_base_parents(base, &g, node);
            graph_expander_parents(expander, &g, node);
            assert_int_equal(json_len(entry, "base"), DRG_DEGREE);
            assert_int_equal(json_len(entry, "expander"), EXPANDER_DEGREE);
            for (size_t p = 0; p < DRG_DEGREE; p++)
                assert_int_equal(base[p], YAJL_GET_INTEGER(ITEMS(json_at(entry, "base"))[p]));
            for (size_t p = 0; p < EXPANDER_DEGREE; p++)
                assert_int_equal(expander[p], YAJL_GET_INTEGER(ITEMS(json_at(entry, "expander"))[p]));
            graph_expander_parents(expander, &of_proof, node);
            for (size_t p = 0; p < EXPANDER_DEGREE; p++)
                assert_int_equal(expander[p], YAJL_GET_INTEGER(ITEMS(json_at(entry, "expander"))[p]));
        }
    }
    yajl_tree_free(json);
}

/* The expander edges of a whole small graph are a permutation: every node is a parent exactly eight times. */
static void expander_is_a_permutation(void **state) {
    (void)state;
    graph g;
    uint8_t porep[32];
    porep_id_of(porep, 5);
    enum { NODES = 1 << 9 };
    graph_init(&g, NODES, API_1_1_0, porep);
    unsigned seen[NODES] = {0};
    for (uint32_t node = 0; node < NODES; node++) {
        uint32_t expander[EXPANDER_DEGREE];
        graph_expander_parents(expander, &g, node);
        for (size_t p = 0; p < EXPANDER_DEGREE; p++) {
            assert_true(expander[p] < NODES);
            seen[expander[p]]++;
        }
    }
    for (size_t node = 0; node < NODES; node++) assert_int_equal(seen[node], EXPANDER_DEGREE);
}

static void public_inputs_match(void **state) {
    (void)state;
    static const char *const sectors[] = {"2k-v1_1", "2k-synthetic", "8m-v1_1"};
    for (size_t i = 0; i < sizeof sectors / sizeof *sectors; i++) {
        char name[64];
        snprintf(name, sizeof name, "c1/%s/meta.json", sectors[i]);
        yajl_val meta = fixture_json(name);
        porep_statement statement;
        statement.proof = registered_porep_by_name(json_str(meta, "registered_proof"));
        assert_non_null(statement.proof);
        assert_int_equal(statement.proof->sector->bytes, json_int(meta, "sector_size"));
        hex_decode((uint8_t *)&statement.comm_d, json_str(meta, "comm_d"), 32);
        hex_decode((uint8_t *)&statement.comm_r, json_str(meta, "comm_r"), 32);
        hex_decode(statement.seed, json_str(meta, "seed"), 32);

        /* The replica id from the sector's identity. */
        uint8_t prover[32], ticket[32], porep[32];
        prover_id_of(prover, (uint64_t)json_int(meta, "miner_id"));
        assert_hex(prover, 32, json_str(meta, "prover_id"));
        porep_id_of(porep, statement.proof->id);
        assert_hex(porep, 32, json_str(meta, "porep_id"));
        hex_decode(ticket, json_str(meta, "ticket"), 32);
        replica_id_of(&statement.replica_id, prover, (uint64_t)json_int(meta, "sector_number"), ticket,
                      (const uint8_t *)&statement.comm_d, porep);
        assert_hex((const uint8_t *)&statement.replica_id, 32, json_str(meta, "replica_id"));

        size_t partitions = json_len(meta, "public_inputs_per_partition");
        assert_int_equal(partitions, registered_porep_partitions(statement.proof));
        for (size_t k = 0; k < partitions; k++) {
            yajl_val expected = ITEMS(json_at(meta, "public_inputs_per_partition"))[k];
            size_t count = POREP_INPUTS(statement.proof->sector->challenges);
            assert_int_equal(LENGTH(expected), count);
            fr inputs[POREP_INPUTS(POREP_MAX_CHALLENGES)];
            assert_int_equal(porep_public_inputs(inputs, &statement, (unsigned)k, NULL), CUZK_OK);
            for (size_t j = 0; j < count; j++) {
                uint8_t bytes[32];
                fr_to_bytes(bytes, &inputs[j]);
                assert_hex(bytes, 32, YAJL_GET_STRING(ITEMS(expected)[j]));
            }
        }
        yajl_tree_free(meta);
    }
}

static void public_inputs_refuse_large_values(void **state) {
    (void)state;
    porep_statement good = {.proof = registered_porep_by_id(5), .seed = {1}};
    fr inputs[POREP_INPUTS(POREP_MAX_CHALLENGES)];
    cuzk_error err;
    assert_int_equal(porep_public_inputs(inputs, &good, 0, &err), CUZK_OK);
    porep_statement bad = good;
    bad.replica_id = FR_MODULUS;
    assert_int_equal(porep_public_inputs(inputs, &bad, 0, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.message, "replica id 01000000ffffffff"));
    bad = good;
    bad.comm_d = FR_MODULUS;
    assert_int_equal(porep_public_inputs(inputs, &bad, 0, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.message, "comm_d"));
    bad = good;
    bad.comm_r.l[3] = UINT64_MAX;
    assert_int_equal(porep_public_inputs(inputs, &bad, 0, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.message, "comm_r"));
}

/* SHA-256 of each identifier for the sizes with published parameters: PoRep, winning, window, update. */
static void parameter_names_match(void **state) {
    (void)state;
    static const struct {
        const char *sector, *tree, *hex[4];
    } published[] = {{"2k",
                      "8-0-0",
                      {"032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
                       "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
                       "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
                       "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194"}},
                     {"8m",
                      "8-0-0",
                      {"ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
                       "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331",
                       "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9",
                       "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63"}},
                     {"512m",
                      "8-0-0",
                      {"6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472",
                       "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781",
                       "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9",
                       "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c"}},
                     {"32g",
                      "8-8-0",
                      {"82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820",
                       "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e",
                       "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc",
                       "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"}},
                     {"64g",
                      "8-8-2",
                      {"96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2",
                       "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c",
                       "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def",
                       "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"}}};
    static const char *const formats[4] = {
        "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-%s-sha256_hasher-%s.params",
        "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-%s-%s.params",
        "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-%s-%s.params",
        "v28-empty-sector-update-merkletree-poseidon_hasher-%s-%s.params"};
    static const proof_kind kinds[4] = {PROOF_POREP, PROOF_WINNING, PROOF_WINDOW, PROOF_UPDATE};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const sector_shape *sector = sector_by_name(published[i].sector);
        for (size_t k = 0; k < 4; k++) {
            char identifier[PARAM_IDENTIFIER_SIZE], name[PARAM_NAME_SIZE], expected[256];
            param_identifier(identifier, kinds[k], sector);
            assert_sha256(identifier, strlen(identifier), published[i].hex[k]);
            param_file_name(name, kinds[k], sector, PARAM_FILE_PARAMS);
            snprintf(expected, sizeof expected, formats[k], published[i].tree, published[i].hex[k]);
            assert_string_equal(name, expected);
            char *ending = expected + strlen(expected) - strlen("params");
            param_file_name(name, kinds[k], sector, PARAM_FILE_VK);
            strcpy(ending, "vk");
            assert_string_equal(name, expected);
            param_file_name(name, kinds[k], sector, PARAM_FILE_META);
            strcpy(ending, "meta");
            assert_string_equal(name, expected);
        }
    }
    /* Nothing is cut for any size. */
    size_t count;
    const sector_shape *all = sector_shapes(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 4; k++) {
            char identifier[PARAM_IDENTIFIER_SIZE], name[PARAM_NAME_SIZE];
            param_identifier(identifier, kinds[k], &all[i]);
            assert_int_equal(identifier[strlen(identifier) - 1], '}');
            param_file_name(name, kinds[k], &all[i], PARAM_FILE_PARAMS);
            assert_string_equal(name + strlen(name) - 7, ".params");
        }
}

static void parameter_paths(void **state) {
    (void)state;
    const sector_shape *sector = sector_by_name("2k");
    char name[PARAM_NAME_SIZE], path[512], expected[512];
    cuzk_error err;
    param_file_name(name, PROOF_POREP, sector, PARAM_FILE_VK);

    setenv("FIL_PROOFS_PARAMETER_CACHE", "/some/where/", 1);
    assert_string_equal(param_directory(), "/some/where/");
    assert_int_equal(param_path(path, sizeof path, NULL, PROOF_POREP, sector, PARAM_FILE_VK, &err), CUZK_OK);
    snprintf(expected, sizeof expected, "/some/where/%s", name);
    assert_string_equal(path, expected);
    assert_int_equal(param_path(path, sizeof path, "here", PROOF_POREP, sector, PARAM_FILE_VK, &err),
                     CUZK_OK);
    snprintf(expected, sizeof expected, "here/%s", name);
    assert_string_equal(path, expected);
    assert_int_equal(param_path(path, sizeof path, "/", PROOF_POREP, sector, PARAM_FILE_VK, &err), CUZK_OK);
    snprintf(expected, sizeof expected, "/%s", name);
    assert_string_equal(path, expected);
    setenv("FIL_PROOFS_PARAMETER_CACHE", "", 1);
    assert_string_equal(param_directory(), "/var/tmp/filecoin-proof-parameters");
    unsetenv("FIL_PROOFS_PARAMETER_CACHE");
    assert_string_equal(param_directory(), "/var/tmp/filecoin-proof-parameters");

    /* Exactly enough room, and one byte less. */
    size_t needed = strlen("here/") + strlen(name) + 1;
    assert_int_equal(param_path(path, needed, "here", PROOF_POREP, sector, PARAM_FILE_VK, &err), CUZK_OK);
    assert_int_equal(param_path(path, needed - 1, "here", PROOF_POREP, sector, PARAM_FILE_VK, &err),
                     CUZK_ERR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replica_ids_match),
        cmocka_unit_test(prover_ids),
        cmocka_unit_test(challenges_match),
        cmocka_unit_test(parents_match),
        cmocka_unit_test(expander_is_a_permutation),
        cmocka_unit_test(public_inputs_match),
        cmocka_unit_test(public_inputs_refuse_large_values),
        cmocka_unit_test(parameter_names_match),
        cmocka_unit_test(parameter_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
