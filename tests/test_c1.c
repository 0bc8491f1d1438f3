/* Good C1s: every value against an independent read of the JSON, and parse then write as the identity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "c1_synthetic.h"
#include "filecoin/c1.h"
#include "filecoin/c1_write.h"
#include "fixture.h"

static const char *const FIXTURES[] = {"2k-v1_1", "2k-synthetic", "8m-v1_1"};
#define FIXTURE_COUNT (sizeof FIXTURES / sizeof *FIXTURES)

static c1 *parse(const char *text, size_t size) {
    c1 *c;
    cuzk_error err;
    /* A copy of exactly this size, so that a read beyond it is seen by a sanitizer. */
    char *copy = malloc(size);
    memcpy(copy, text, size);
    if (c1_parse(&c, copy, size, "memory", &err) != CUZK_OK)
        fail_msg("%s at %llu: %s", err.path, (unsigned long long)err.offset, err.message);
    free(copy);
    return c;
}

static void assert_written(const c1 *c, c1_form form, const char *text, size_t size) {
    char *written;
    size_t written_size;
    assert_int_equal(c1_write(&written, &written_size, c, form, NULL), CUZK_OK);
    assert_int_equal(written_size, size);
    assert_memory_equal(written, text, size);
    free(written);
}

static void test_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        char name[64];
        size_t bare_size, wrapper_size, go_size;
        snprintf(name, sizeof name, "c1/%s/c1.inner.json", FIXTURES[i]);
        char *bare = fixture_read(name, &bare_size);
        snprintf(name, sizeof name, "c1/%s/c1.json", FIXTURES[i]);
        char *wrapper = fixture_read(name, &wrapper_size), *go;

        c1 *c = parse(bare, bare_size);
        assert_false(c->has_sector_num);
        assert_written(c, C1_BARE, bare, bare_size);
        c1_free(c);

        c = parse(wrapper, wrapper_size);
        assert_true(c->has_sector_num);
        assert_int_equal(c->sector_num, 1);
        assert_written(c, C1_BARE, bare, bare_size);
        assert_written(c, C1_WRAPPER_SORTED, wrapper, wrapper_size);
        assert_int_equal(c1_write(&go, &go_size, c, C1_WRAPPER_GO, NULL), CUZK_OK);
        assert_int_equal(go_size, wrapper_size);
        assert_memory_equal(go, "{\"SectorNum\":1,\"Phase1Out\":\"", 28);
        c1_free(c);

        c = parse(go, go_size);
        assert_int_equal(c->sector_num, 1);
        assert_written(c, C1_WRAPPER_SORTED, wrapper, wrapper_size);
        c1_free(c);
        free(bare);
        free(wrapper);
        free(go);
    }
}

/* ---- Every value ---- */

static void check_digest(const uint8_t *bytes, yajl_val node, const char *path) {
    yajl_val list = json_at(node, path);
    assert_int_equal(json_len(list, ""), 32);
    for (size_t i = 0; i < 32; i++) assert_int_equal(bytes[i], list->u.array.values[i]->u.number.i);
}

static void check_digests(const fr_repr *digests, size_t count, yajl_val node, const char *path) {
    yajl_val list = json_at(node, path);
    assert_int_equal(json_len(list, ""), count);
    for (size_t i = 0; i < count; i++) check_digest(c1_bytes(&digests[i]), list->u.array.values[i], "");
}

static void check_merkle_proof(const c1_merkle_proof *proof, yajl_val node, unsigned depth, unsigned arity) {
    yajl_val single = json_at(node, "data/Single"), path = json_at(single, "path/path");
    assert_int_equal(proof->kind, C1_SINGLE);
    check_digest(c1_bytes(&proof->root), single, "root");
    check_digest(c1_bytes(&proof->leaf), single, "leaf");
    assert_int_equal(proof->depth, depth);
    assert_int_equal(json_len(path, ""), depth);
    for (unsigned i = 0; i < depth; i++) {
        yajl_val level = path->u.array.values[i];
        assert_int_equal(proof->levels[i].arity, arity);
        assert_int_equal(proof->levels[i].index, json_int(level, "index"));
        check_digests(proof->levels[i].hashes, arity - 1, level, "hashes");
    }
}

static void check_column(const c1_column_proof *column, yajl_val node, const c1 *c) {
    assert_int_equal(column->index, json_int(node, "column/index"));
    check_digests(column->rows, c->sector->layers, node, "column/rows");
    check_merkle_proof(&column->inclusion_proof, json_at(node, "inclusion_proof"), c->sector->depth, 8);
    assert_true(fr_repr_cmp(&column->inclusion_proof.root, &c->comm_c) == 0);
}

static void check_columns(const c1_column_proof *columns, size_t count, yajl_val list, const c1 *c) {
    assert_int_equal(json_len(list, ""), count);
    for (size_t i = 0; i < count; i++) check_column(&columns[i], list->u.array.values[i], c);
}

static void check_labeling(const c1_labeling_proof *proof, yajl_val node) {
    check_digests(proof->parents, LABEL_PARENTS, node, "parents");
    assert_int_equal(proof->layer_index, json_int(node, "layer_index"));
    assert_int_equal(proof->node, json_int(node, "node"));
}

static void check_challenge(const c1_challenge *challenge, yajl_val node, const c1 *c) {
    yajl_val columns = json_at(node, "replica_column_proofs"), layers = json_at(node, "labeling_proofs");
    check_merkle_proof(&challenge->comm_d_proof, json_at(node, "comm_d_proofs"), c->sector->log_nodes, 2);
    check_merkle_proof(&challenge->comm_r_last_proof, json_at(node, "comm_r_last_proof"), c->sector->depth,
                       8);
    assert_true(fr_repr_cmp(&challenge->comm_d_proof.root, &c->comm_d) == 0);
    assert_true(fr_repr_cmp(&challenge->comm_r_last_proof.root, &c->comm_r_last) == 0);
    check_column(&challenge->c_x, json_at(columns, "c_x"), c);
    check_columns(challenge->drg_parents, 6, json_at(columns, "drg_parents"), c);
    check_columns(challenge->exp_parents, 8, json_at(columns, "exp_parents"), c);
    assert_int_equal(json_len(layers, ""), c->sector->layers);
    for (unsigned i = 0; i < c->sector->layers; i++)
        check_labeling(&challenge->labeling_proofs[i], layers->u.array.values[i]);
    check_labeling(&challenge->encoding_proof, json_at(node, "encoding_proof"));
}

static void check_fixture(const char *fixture, const char *proof, const char *tag, uint64_t bytes) {
    char path[1200], name[64];
    c1 *c;
    snprintf(path, sizeof path, "%s/c1/%s/c1.json", CUZK_TEST_DATA, fixture);
    assert_int_equal(c1_read(&c, path, NULL), CUZK_OK);
    assert_string_equal(c->proof->name, proof);
    assert_ptr_equal(c->sector, c->proof->sector);
    assert_int_equal(c->sector->bytes, bytes);

    snprintf(name, sizeof name, "c1/%s/c1.inner.json", fixture);
    yajl_val root = fixture_json(name);
    yajl_val partitions = json_at(json_at(root, "vanilla_proofs"), tag);
    assert_string_equal(json_str(root, "registered_proof"), proof);
    check_digest(c1_bytes(&c->comm_d), root, "comm_d");
    check_digest(c1_bytes(&c->comm_r), root, "comm_r");
    check_digest(c1_bytes(&c->replica_id), root, "replica_id");
    check_digest(c->seed, root, "seed");
    check_digest(c->ticket, root, "ticket");
    assert_int_equal(c->partitions, 1);
    assert_int_equal(c->challenges, 2);
    assert_int_equal(json_len(partitions, ""), 1);
    assert_int_equal(json_len(partitions, "0"), 2);
    check_challenge(&c->partition[0].challenges[0], json_at(partitions, "0/0"), c);
    check_challenge(&c->partition[0].challenges[1], json_at(partitions, "0/1"), c);
    yajl_tree_free(root);

    snprintf(name, sizeof name, "c1/%s/meta.json", fixture);
    yajl_val meta = fixture_json(name);
    assert_hex(c1_bytes(&c->comm_d), 32, json_str(meta, "comm_d"));
    assert_hex(c1_bytes(&c->comm_r), 32, json_str(meta, "comm_r"));
    assert_hex(c1_bytes(&c->replica_id), 32, json_str(meta, "public_inputs_per_partition/0/0"));
    assert_hex(c->seed, 32, json_str(meta, "seed"));
    assert_hex(c->ticket, 32, json_str(meta, "ticket"));
    yajl_tree_free(meta);
    c1_free(c);
}

static void test_values(void **state) {
    (void)state;
    check_fixture("2k-v1_1", "StackedDrg2KiBV1_1", "StackedDrg2KiBV1", 2048);
    check_fixture("2k-synthetic", "StackedDrg2KiBV1_1_Feat_SyntheticPoRep", "StackedDrg2KiBV1", 2048);
    check_fixture("8m-v1_1", "StackedDrg8MiBV1_1", "StackedDrg8MiBV1", 8 << 20);
}

/* ---- Every shape ---- */

static bool same_merkle_proof(const c1_merkle_proof *a, const c1_merkle_proof *b) {
    bool same = memcmp(&a->root, &b->root, sizeof a->root) == 0 && a->kind == b->kind &&
                a->depth == b->depth && memcmp(&a->leaf, &b->leaf, sizeof a->leaf) == 0;
    for (uint32_t i = 0; same && i < a->depth; i++)
        same = a->levels[i].index == b->levels[i].index && a->levels[i].arity == b->levels[i].arity &&
               memcmp(a->levels[i].hashes, b->levels[i].hashes, 32 * (size_t)(a->levels[i].arity - 1)) == 0;
    return same;
}

static bool same_columns(const c1_column_proof *a, const c1_column_proof *b, size_t count, size_t layers) {
    bool same = true;
    for (size_t i = 0; same && i < count; i++)
        same = a[i].index == b[i].index && memcmp(a[i].rows, b[i].rows, 32 * layers) == 0 &&
               same_merkle_proof(&a[i].inclusion_proof, &b[i].inclusion_proof);
    return same;
}

static bool same_labelings(const c1_labeling_proof *a, const c1_labeling_proof *b, size_t count) {
    bool same = true;
    for (size_t i = 0; same && i < count; i++)
        same = a[i].layer_index == b[i].layer_index && a[i].node == b[i].node &&
               memcmp(a[i].parents, b[i].parents, 32 * LABEL_PARENTS) == 0;
    return same;
}

static bool same_challenge(const c1_challenge *a, const c1_challenge *b, size_t layers) {
    return same_merkle_proof(&a->comm_d_proof, &b->comm_d_proof) &&
           same_merkle_proof(&a->comm_r_last_proof, &b->comm_r_last_proof) &&
           same_columns(&a->c_x, &b->c_x, 1, layers) &&
           same_columns(a->drg_parents, b->drg_parents, DRG_DEGREE, layers) &&
           same_columns(a->exp_parents, b->exp_parents, EXPANDER_DEGREE, layers) &&
           same_labelings(a->labeling_proofs, b->labeling_proofs, layers) &&
           same_labelings(&a->encoding_proof, &b->encoding_proof, 1);
}

static void check_synthetic(const char *proof, uint32_t partitions, uint32_t challenges, c1_tree_kind kind,
                            c1_form form) {
    c1 *made = c1_synthetic(proof, partitions);
    char *text;
    size_t size;
    assert_non_null(made);
    assert_int_equal(c1_write(&text, &size, made, form, NULL), CUZK_OK);
    c1 *c = parse(text, size);
    free(text);

    assert_ptr_equal(c->proof, made->proof);
    assert_int_equal(c->partitions, partitions);
    assert_int_equal(c->challenges, challenges);
    assert_int_equal(c->has_sector_num, form != C1_BARE);
    assert_int_equal(c->sector_num, form == C1_BARE ? 0 : made->sector_num);
    assert_memory_equal(&c->comm_d, &made->comm_d, 32);
    assert_memory_equal(&c->comm_r, &made->comm_r, 32);
    assert_memory_equal(&c->replica_id, &made->replica_id, 32);
    assert_memory_equal(&c->comm_r_last, &made->comm_r_last, 32);
    assert_memory_equal(&c->comm_c, &made->comm_c, 32);
    assert_memory_equal(c->seed, made->seed, 32);
    assert_memory_equal(c->ticket, made->ticket, 32);
    assert_int_equal(c->partition[0].challenges[0].comm_r_last_proof.kind, kind);
    assert_int_equal(c->partition[0].challenges[0].comm_d_proof.kind, C1_SINGLE);
    for (uint32_t k = 0; k < partitions; k++)
        for (uint32_t i = 0; i < challenges; i++)
            assert_true(same_challenge(&c->partition[k].challenges[i], &made->partition[k].challenges[i],
                                       c->sector->layers));
    c1_free(c);
    c1_free(made);
}

static void test_shapes(void **state) {
    (void)state;
    check_synthetic("StackedDrg2KiBV1", 1, 2, C1_SINGLE, C1_BARE);
    check_synthetic("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 13, 2, C1_SINGLE, C1_WRAPPER_GO);
    check_synthetic("StackedDrg512MiBV1_1", 1, 2, C1_SINGLE, C1_WRAPPER_SORTED);
    check_synthetic("StackedDrg32GiBV1_1", 10, 18, C1_SUB, C1_WRAPPER_SORTED);
    check_synthetic("StackedDrg64GiBV1_1_Feat_SyntheticPoRep", 10, 18, C1_TOP, C1_BARE);
}

/* ---- Freedoms that JSON has and writers may take ---- */

/* The text with its first `from` replaced; free() it. */
static char *replace(const char *text, const char *from, const char *to) {
    const char *found = strstr(text, from);
    if (!found) fail_msg("no '%s' in the text", from);
    size_t before = (size_t)(found - text), old = strlen(from), new = strlen(to);
    char *out = malloc(strlen(text) - old + new + 1);
    memcpy(out, text, before);
    memcpy(out + before, to, new);
    strcpy(out + before + new, found + old);
    return out;
}

static void test_freedoms(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } edits[] = {
        {"\"vanilla_proofs\":", "\n \"vanilla_proofs\" :\t"},
        {"{\"registered_proof\":", " \r\n{ \"registered_proof\" : "},
        {",\"_h\":null", ""},
        {"\"leaf\":", "\"more\":{\"a\":[1,-2.5e3,{\"b\":null}],\"c\":\"\\u00e9\"},\"leaf\":"},
        {"\"seed\":", "\"\":[],\"seed\":"},
        {"\"seed\":", "\"s\\u0065ed\":"},
        {"StackedDrg2KiBV1_1", "Stacked\\u0044rg2KiBV1_1"},
        {"\"seed\":", "\"Sector\":\"\xc3\xa9\",\"seed\":"},
        {"\"seed\":", "\"Comm_r\":true,\"x\":\"\",\"y\":false,\"seed\":"},
    };
    size_t size;
    char *bare = fixture_read("c1/2k-v1_1/c1.inner.json", &size);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *text = replace(bare, edits[i].from, edits[i].to);
        c1 *c = parse(text, strlen(text));
        assert_written(c, C1_BARE, bare, size);
        c1_free(c);
        free(text);
    }
    /* White space after the end, and the registered proof after the vanilla proofs. */
    char *moved = replace(bare, "\"registered_proof\":\"StackedDrg2KiBV1_1\",", "");
    char *text = replace(moved, ",\"comm_r\":", ",\"registered_proof\":\"StackedDrg2KiBV1_1\",\"comm_r\":");
    text = realloc(text, strlen(text) + 4);
    strcat(text, " \n\n");
    c1 *c = parse(text, strlen(text));
    assert_written(c, C1_BARE, bare, size);
    c1_free(c);
    free(moved);
    free(text);
    free(bare);
}

/* Escapes in the base64 of the wrapper, as some writers put before '/'. */
static void test_escaped_base64(void **state) {
    (void)state;
    size_t size;
    char *wrapper = fixture_read("c1/2k-v1_1/c1.json", &size);
    char *text = replace(wrapper, "\"Phase1Out\":\"e", "\"Phase1Out\":\"\\u0065");
    c1 *c = parse(text, strlen(text));
    assert_written(c, C1_WRAPPER_SORTED, wrapper, size);
    c1_free(c);
    free(text);
    free(wrapper);
}

static void test_memory_returned(void **state) {
    (void)state;
    uint64_t before = mem_in_use();
    c1 *c = c1_synthetic("StackedDrg2KiBV1", 1);
    assert_true(mem_in_use() > before);
    c1_free(c);
    assert_int_equal(mem_in_use(), before);
    c1_free(NULL);

    size_t size;
    cuzk_error err;
    char *bare = fixture_read("c1/2k-v1_1/c1.inner.json", &size);
    mem_set_budget(before + 1000);
    assert_int_equal(c1_parse(&c, bare, size, "memory", &err), CUZK_ERR_RESOURCES);
    assert_null(c);
    assert_non_null(strstr(err.message, "vanilla proofs"));
    mem_set_budget(0);
    free(bare);
}

/* The JSON parser needs a copy of an escaped string. There is no address space for it: an error, not a crash.
 */
static void test_parser_memory(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the limit would be the sanitizer's own */
#endif
    size_t size = (size_t)64 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'A', size);
    memcpy(text, "{\"Phase1Out\":\"\\n", 16);
    memcpy(text + size - 2, "\"}", 2);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsigned long pages = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        if (!statm || fscanf(statm, "%lu", &pages) != 1) _exit(100);
        fclose(statm);
        rlim_t limit = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)16 << 20);
        c1 *c;
        cuzk_error err = {0};
        if (setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}) != 0) _exit(101);
        cuzk_code code = c1_parse(&c, text, size, "memory", &err);
        _exit(strstr(err.message, "the JSON parser") ? (int)code : 102);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CUZK_ERR_RESOURCES);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_values),
        cmocka_unit_test(test_shapes),         cmocka_unit_test(test_freedoms),
        cmocka_unit_test(test_escaped_base64), cmocka_unit_test(test_memory_returned),
        cmocka_unit_test(test_parser_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
