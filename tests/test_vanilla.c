/* Vanilla verification: good C1s of every size pass, and every kind of wrong value is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filecoin/c1_store.h"
#include "filecoin/c1_write.h"
#include "filecoin/challenges.h"
#include "filecoin/fabricate.h"
#include "filecoin/vanilla.h"
#include "fixture.h"
#include "sealed_2k.h"

#define TAG "vanilla_proofs.StackedDrg2KiBV1"

static pool *threads;

static int start(void **state) {
    (void)state;
    return field_init(NULL) != CUZK_OK || pool_create(&threads, 4, NULL) != CUZK_OK;
}
static int stop(void **state) {
    (void)state;
    pool_destroy(threads);
    return 0;
}

static c1 *read_c1(const char *name) {
    char path[512];
    c1 *c;
    cuzk_error err;
    snprintf(path, sizeof path, "%s/c1/%s/c1.json", CUZK_TEST_DATA, name);
    if (c1_read(&c, path, &err) != CUZK_OK) fail_msg("%s: %s", err.path, err.message);
    return c;
}

static void assert_good(const c1 *c) {
    cuzk_error err;
    if (vanilla_verify(c, NULL, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.path, err.message);
    if (vanilla_verify(c, threads, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.path, err.message);
}

/* The verdict is an error at `path`. */
static void assert_bad(const c1 *c, const char *path) {
    cuzk_error err = {0};
    assert_int_equal(vanilla_verify(c, NULL, NULL, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, path);
    assert_int_equal(err.code, CUZK_ERR_INPUT);
    assert_true(err.message[0] != 0);
}

/* The same verdict with threads. */
static void assert_bad_with_threads(const c1 *c, const char *path) {
    cuzk_error serial, parallel = {0};
    assert_bad(c, path);
    vanilla_verify(c, NULL, NULL, &serial);
    assert_int_equal(vanilla_verify(c, threads, NULL, &parallel), CUZK_ERR_INPUT);
    assert_string_equal(parallel.path, path);
    assert_string_equal(parallel.message, serial.message);
    assert_int_equal(vanilla_verify(c, threads, NULL, NULL), CUZK_ERR_INPUT);
}

/* Flip the lowest bit of a value in the C1: the error must name `path`. The value is put back. */
static void assert_flip(c1 *c, const void *value, const char *path) {
    *(uint8_t *)value ^= 1;
    assert_bad(c, path);
    *(uint8_t *)value ^= 1;
}

static void reference_c1s_pass(void **state) {
    (void)state;
    static const char *const names[] = {"2k-v1_1", "2k-synthetic", "8m-v1_1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        c1 *c = read_c1(names[i]);
        assert_good(c);
        c1_free(c);
    }
}

static void sealed_sectors_of_every_feature_pass(void **state) {
    (void)state;
    static const char *const suffixes[] = {"V1", "V1_1", "V1_1_Feat_SyntheticPoRep",
                                           "V1_2_Feat_NonInteractivePoRep"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        static sealed_2k s;
        char name[64];
        snprintf(name, sizeof name, "StackedDrg2KiB%s", suffixes[i]);
        sealed_2k_read(&s, "2k-v1_1");
        s.proof = registered_porep_by_name(name);
        sealed_2k_label(&s);
        sealed_2k_encode(&s);
        sealed_2k_commit(&s);
        c1 *c = sealed_2k_open(&s);
        assert_int_equal(c->partitions, i == 3 ? 13 : 1);
        assert_good(c);
        c1_free(c);
    }
}

static void real_sizes_pass(void **state) {
    (void)state;
    static const char *const names[] = {"StackedDrg2KiBV1", "StackedDrg8MiBV1_1", "StackedDrg512MiBV1_1",
                                        "StackedDrg32GiBV1_1", "StackedDrg64GiBV1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        c1 *c;
        cuzk_error err;
        const registered_porep *proof = registered_porep_by_name(names[i]);
        assert_int_equal(c1_fabricate(&c, proof, 1000 + i, i, 7, threads, &err), CUZK_OK);
        assert_int_equal(c->partitions, proof->sector->partitions);
        if (vanilla_verify(c, threads, NULL, &err) != CUZK_OK) fail_msg("%s: %s", err.path, err.message);
        assert_int_equal(vanilla_check_replica_id(c, 1000 + i, i, &err), CUZK_OK);
        c1_free(c);
    }
}

/* A fabricated C1 is a whole one: it survives being written and read, and another variant is another C1. */
static void fabricated_c1s(void **state) {
    (void)state;
    const registered_porep *proof = registered_porep_by_name("StackedDrg8MiBV1_1");
    c1 *a, *b, *other;
    char *text, *again;
    size_t size, again_size;
    cuzk_error err;
    assert_int_equal(c1_fabricate(&a, proof, 1, 2, 3, NULL, NULL), CUZK_OK);
    assert_int_equal(c1_fabricate(&other, proof, 1, 2, 4, threads, NULL), CUZK_OK);
    assert_memory_not_equal(&a->comm_r, &other->comm_r, 32);
    assert_memory_not_equal(&a->comm_d, &other->comm_d, 32);
    assert_int_equal(c1_write(&text, &size, a, C1_WRAPPER_GO, NULL), CUZK_OK);
    if (c1_parse(&b, text, size, "memory", &err) != CUZK_OK) fail_msg("%s: %s", err.path, err.message);
    assert_int_equal(b->sector_num, 2);
    assert_good(b);
    c1_free(a);
    assert_int_equal(c1_fabricate(&a, proof, 1, 2, 3, threads, NULL), CUZK_OK);
    assert_int_equal(c1_write(&again, &again_size, a, C1_WRAPPER_GO, NULL), CUZK_OK);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, text, size);
    free(text);
    free(again);
    c1_free(a);
    c1_free(b);
    c1_free(other);

    assert_int_equal(c1_fabricate(&a, registered_porep_by_id(10), 1, 2, 3, NULL, &err), CUZK_ERR_USAGE);
    assert_null(a);
    assert_int_equal(c1_fabricate(&a, registered_porep_by_id(18), 1, 2, 3, NULL, &err), CUZK_ERR_USAGE);
    assert_null(a);
}

static void header_is_checked(void **state) {
    (void)state;
    c1 *c = read_c1("2k-v1_1");
    assert_flip(c, &c->comm_r, "comm_r");
    assert_flip(c, &c->comm_c, "comm_r");
    assert_flip(c, &c->comm_r_last, "comm_r");
    assert_flip(c, &c->comm_d, TAG "[0][0].comm_d_proofs");
    /* Other challenges follow. */
    assert_flip(c, &c->replica_id, TAG "[0][0].comm_d_proofs");
    assert_flip(c, c->seed, TAG "[0][0].comm_d_proofs");

    c1 kept = *c;
    memset(c->seed, 0, sizeof c->seed);
    assert_bad(c, "seed");
    *c = kept;
    memset(&c->comm_d, 0, sizeof c->comm_d);
    assert_bad(c, "comm_d");
    *c = kept;
    memset(&c->comm_r, 0, sizeof c->comm_r);
    assert_bad(c, "comm_r");
    fr_repr *const elements[] = {&c->comm_r, &c->comm_d, &c->replica_id, &c->comm_c, &c->comm_r_last};
    static const char *const names[] = {"comm_r", "comm_d", "replica_id", "comm_c", "comm_r_last"};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        *c = kept;
        *elements[i] = FR_MODULUS;
        assert_bad(c, names[i]);
    }
    *c = kept;
    c->partitions = 0;
    assert_bad(c, "vanilla_proofs");
    c->partitions = 2;
    assert_bad(c, "vanilla_proofs");
    *c = kept;
    c->challenges = 1;
    assert_bad(c, "vanilla_proofs");
    *c = kept;
    c->proof = NULL;
    assert_bad(c, "registered_proof");
    *c = kept;
    /* Of the same size, with another graph. */
    c->proof = registered_porep_by_name("StackedDrg2KiBV1");
    assert_bad(c, TAG "[0][0].replica_column_proofs.drg_parents[0].column.index");
    *c = kept;
    assert_good(c);
    c1_free(c);
}

static void assert_path_checked(c1 *c, const c1_merkle_proof *proof, const char *path) {
    assert_flip(c, &proof->root, path);
    assert_flip(c, &proof->leaf, path);
    for (uint32_t i = 0; i < proof->depth; i++) {
        c1_level *level = (c1_level *)&proof->levels[i], kept = *level;
        assert_flip(c, &level->index, path);
        level->index = level->arity;
        assert_bad(c, path);
        *level = kept;
        level->arity = kept.arity == 2 ? 8 : 2;
        assert_bad(c, path);
        *level = kept;
        for (uint32_t k = 0; k + 1 < level->arity; k++) assert_flip(c, &level->hashes[k], path);
        fr_repr hash = level->hashes[0];
        *(fr_repr *)level->hashes = FR_MODULUS;
        assert_bad(c, path);
        *(fr_repr *)level->hashes = hash;
    }
    c1_merkle_proof *changed = (c1_merkle_proof *)proof, kept = *proof;
    changed->kind = C1_TOP;
    assert_bad(c, path);
    *changed = kept;
    changed->depth--;
    assert_bad(c, path);
    *changed = kept;
    changed->leaf = FR_MODULUS;
    assert_bad(c, path);
    *changed = kept;
}

static void assert_column_checked(c1 *c, const c1_column_proof *column, const char *path) {
    char where[160];
    snprintf(where, sizeof where, "%s.column.index", path);
    assert_flip(c, &column->index, where);
    snprintf(where, sizeof where, "%s.column.rows", path);
    for (size_t i = 0; i < SEALED_LAYERS; i++) assert_flip(c, &column->rows[i], where);
    fr_repr row = column->rows[1];
    *(fr_repr *)&column->rows[1] = FR_MODULUS;
    assert_bad(c, where);
    *(fr_repr *)&column->rows[1] = row;
    snprintf(where, sizeof where, "%s.inclusion_proof", path);
    assert_path_checked(c, &column->inclusion_proof, where);
}

static void assert_labeling_checked(c1 *c, const c1_labeling_proof *proof, const char *path) {
    char where[160];
    snprintf(where, sizeof where, "%s.layer_index", path);
    assert_flip(c, &proof->layer_index, where);
    snprintf(where, sizeof where, "%s.node", path);
    assert_flip(c, &proof->node, where);
    for (size_t i = 0; i < LABEL_PARENTS; i++) {
        snprintf(where, sizeof where, "%s.parents[%zu]", path, i);
        assert_flip(c, &proof->parents[i], where);
    }
}

static void every_field_is_checked(void **state) {
    (void)state;
    c1 *c = read_c1("2k-v1_1");
    for (unsigned k = 0; k < c->challenges; k++) {
        const c1_challenge *o = &c->partition[0].challenges[k];
        char path[128];
        snprintf(path, sizeof path, TAG "[0][%u].comm_d_proofs", k);
        assert_path_checked(c, &o->comm_d_proof, path);
        snprintf(path, sizeof path, TAG "[0][%u].comm_r_last_proof", k);
        assert_path_checked(c, &o->comm_r_last_proof, path);
        snprintf(path, sizeof path, TAG "[0][%u].replica_column_proofs.c_x", k);
        assert_column_checked(c, &o->c_x, path);
        for (unsigned i = 0; i < DRG_DEGREE; i++) {
            snprintf(path, sizeof path, TAG "[0][%u].replica_column_proofs.drg_parents[%u]", k, i);
            assert_column_checked(c, &o->drg_parents[i], path);
        }
        for (unsigned i = 0; i < EXPANDER_DEGREE; i++) {
            snprintf(path, sizeof path, TAG "[0][%u].replica_column_proofs.exp_parents[%u]", k, i);
            assert_column_checked(c, &o->exp_parents[i], path);
        }
        for (unsigned i = 0; i < SEALED_LAYERS; i++) {
            snprintf(path, sizeof path, TAG "[0][%u].labeling_proofs[%u]", k, i);
            assert_labeling_checked(c, &o->labeling_proofs[i], path);
        }
        snprintf(path, sizeof path, TAG "[0][%u].encoding_proof", k);
        assert_labeling_checked(c, &o->encoding_proof, path);
    }
    assert_good(c);
    c1_free(c);
}

/* A C1 opened from a sector that was sealed wrongly: every path and column holds. */
static void wrong_sealing_is_found(void **state) {
    (void)state;
    static sealed_2k s;
    sealed_2k_read(&s, "2k-v1_1"); /* challenges: nodes 59 and 33 */
    sealed_2k_label(&s);
    sealed_2k_encode(&s);
    sealed_2k_commit(&s);
    c1 *c = sealed_2k_open(&s);
    assert_good(c);
    c1_free(c);

    /* One wrong label: what follows from it is not made anew. Node 33 is an expander parent of node 59, whose
     * label of layer 2 then does not follow from what node 33's column shows of layer 1. */
    static const struct {
        uint32_t node, layer;
        const char *path;
    } wrong[] = {{59, 1, TAG "[0][0].labeling_proofs[0]"},
                 {59, 2, TAG "[0][0].labeling_proofs[1]"},
                 {33, 1, TAG "[0][0].labeling_proofs[1]"},
                 {33, 2, TAG "[0][1].labeling_proofs[1]"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sealed_2k_label(&s);
        s.labels[wrong[i].node][wrong[i].layer - 1].l[0] ^= 1;
        sealed_2k_encode(&s);
        sealed_2k_commit(&s);
        c = sealed_2k_open(&s);
        assert_bad(c, wrong[i].path);
        c1_free(c);
    }

    /* A replica node that is not label plus data. */
    sealed_2k_label(&s);
    sealed_2k_encode(&s);
    s.replica[33].l[0] ^= 1;
    sealed_2k_commit(&s);
    c = sealed_2k_open(&s);
    assert_bad(c, TAG "[0][1].encoding_proof");
    c1_free(c);
}

static void the_first_fault_is_named(void **state) {
    (void)state;
    c1 *c = read_c1("2k-v1_1");
    const c1_challenge *o = c->partition[0].challenges;
    *(uint8_t *)&o[1].comm_d_proof.root ^= 1;
    *(uint8_t *)&o[0].encoding_proof.node ^= 1;
    assert_bad_with_threads(c, TAG "[0][0].encoding_proof.node");
    *(uint8_t *)&o[0].labeling_proofs[1].parents[3] ^= 1;
    assert_bad_with_threads(c, TAG "[0][0].labeling_proofs[1].parents[3]");
    c1_free(c);

    /* Among many partitions, with the earlier fault where it takes longest to find. */
    static sealed_2k s;
    sealed_2k_read(&s, "2k-v1_1");
    s.proof = registered_porep_by_name("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep");
    sealed_2k_label(&s);
    sealed_2k_encode(&s);
    sealed_2k_commit(&s);
    c = sealed_2k_open(&s);
    for (unsigned k = 5; k < c->partitions; k++)
        *(uint8_t *)&c->partition[k].challenges[0].comm_d_proof.root ^= 1;
    *(uint8_t *)&c->partition[4].challenges[1].encoding_proof.layer_index ^= 1;
    for (unsigned i = 0; i < 20; i++) assert_bad_with_threads(c, TAG "[4][1].encoding_proof.layer_index");
    c1_free(c);
}

static void replica_id_is_checked(void **state) {
    (void)state;
    c1 *c = read_c1("2k-v1_1");
    cuzk_error err;
    assert_int_equal(vanilla_check_replica_id(c, 1000, c->sector_num, &err), CUZK_OK);
    assert_int_equal(vanilla_check_replica_id(c, 1001, 1, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, "replica_id");
    assert_non_null(strstr(
        err.message, "found 63a26ea550dd0b78546b79cb53b2ecc3accf43499a915c7137ed7f4243b5ff23, expected "));
    assert_non_null(strstr(err.message, "for miner 1001, sector 1, ticket 0707"));
    assert_non_null(strstr(err.message, "StackedDrg2KiBV1_1"));
    assert_int_equal(vanilla_check_replica_id(c, 1000, 2, &err), CUZK_ERR_INPUT);
    c->ticket[31] ^= 1;
    assert_int_equal(vanilla_check_replica_id(c, 1000, 1, &err), CUZK_ERR_INPUT);
    c->ticket[31] ^= 1;
    c->comm_d.l[0] ^= 1;
    assert_int_equal(vanilla_check_replica_id(c, 1000, 1, &err), CUZK_ERR_INPUT);
    c->comm_d.l[0] ^= 1;
    c->proof = registered_porep_by_name("StackedDrg2KiBV1");
    assert_int_equal(vanilla_check_replica_id(c, 1000, 1, &err), CUZK_ERR_INPUT);
    c1_free(c);
}

typedef struct calls {
    uint64_t count, stop_at;
} calls;

static bool count_calls(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    calls *k = ctx;
    assert_string_equal(phase, "vanilla");
    assert_int_equal(total, 26);
    k->count++;
    assert_int_equal(done, k->count);
    return k->count != k->stop_at;
}

static void progress_and_stop(void **state) {
    (void)state;
    static sealed_2k s;
    sealed_2k_read(&s, "2k-v1_1");
    s.proof = registered_porep_by_name("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep");
    sealed_2k_label(&s);
    sealed_2k_encode(&s);
    sealed_2k_commit(&s);
    c1 *c = sealed_2k_open(&s);
    cuzk_error err;
    calls k = {0};
    cuzk_progress progress = {count_calls, &k};
    assert_int_equal(vanilla_verify(c, threads, &progress, &err), CUZK_OK);
    assert_int_equal(k.count, 26);
    k = (calls){.stop_at = 3};
    assert_int_equal(vanilla_verify(c, threads, &progress, &err), CUZK_ERR_CANCELLED);
    assert_int_equal(err.code, CUZK_ERR_CANCELLED);
    assert_int_equal(k.count, 3);
    c1_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_c1s_pass),     cmocka_unit_test(sealed_sectors_of_every_feature_pass),
        cmocka_unit_test(real_sizes_pass),        cmocka_unit_test(fabricated_c1s),
        cmocka_unit_test(header_is_checked),      cmocka_unit_test(every_field_is_checked),
        cmocka_unit_test(wrong_sealing_is_found), cmocka_unit_test(the_first_fault_is_named),
        cmocka_unit_test(replica_id_is_checked),  cmocka_unit_test(progress_and_stop),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
