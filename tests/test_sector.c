/* The tables of sector sizes and registered proofs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filecoin/sector.h"

static void shapes_are_consistent(void **state) {
    (void)state;
    size_t count;
    const sector_shape *shapes = sector_shapes(&count);
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; i++) {
        const sector_shape *s = &shapes[i];
        char porep[32];
        snprintf(porep, sizeof porep, "porep-%s", s->name);
        assert_string_equal(s->porep_name, porep);
        assert_true(i == 0 || shapes[i - 1].bytes < s->bytes);
        assert_int_equal(s->nodes * NODE_BYTES, s->bytes);
        assert_int_equal((uint64_t)1 << s->log_nodes, s->nodes);
        assert_ptr_equal(sector_by_bytes(s->bytes), s);
        assert_ptr_equal(sector_by_name(s->name), s);
        assert_ptr_equal(sector_by_porep_name(s->porep_name), s);
        /* The levels of the compound tree together hold all nodes. */
        uint64_t leaves = 1;
        for (unsigned level = 0; level < s->depth; level++) leaves *= sector_level_arity(s, level);
        assert_int_equal(leaves, s->nodes);
        assert_true(s->depth <= SECTOR_MAX_DEPTH);
        assert_true(s->layers <= SECTOR_MAX_LAYERS);
        assert_true(s->challenges <= POREP_MAX_CHALLENGES);
        assert_true(s->ni_partitions <= POREP_MAX_PARTITIONS);
        /* At least the number of challenges the protocol asks for, and no partition too many. */
        unsigned wanted = s->layers == 2 ? 2 : 176, ni_wanted = s->layers == 2 ? 26 : 2253;
        assert_int_equal((wanted + s->partitions - 1) / s->partitions, s->challenges);
        assert_int_equal((ni_wanted + s->ni_partitions - 1) / s->ni_partitions, s->challenges);
    }
    assert_null(sector_by_bytes(0));
    assert_null(sector_by_bytes(2047));
    assert_null(sector_by_name("32G"));
    assert_null(sector_by_porep_name("32g"));
    assert_null(sector_by_porep_name(""));
}

static void published_shapes(void **state) {
    (void)state;
    const sector_shape *s = sector_by_bytes((uint64_t)32 << 30);
    assert_string_equal(s->name, "32g");
    assert_int_equal(s->layers, 11);
    assert_int_equal(s->partitions, 10);
    assert_int_equal(s->challenges, 18);
    assert_int_equal(s->base_depth, 9);
    assert_int_equal(s->depth, 10);
    assert_int_equal(s->sub_arity, 8);
    assert_int_equal(s->top_arity, 0);
    s = sector_by_name("64g");
    assert_int_equal(s->base_depth, 9);
    assert_int_equal(s->depth, 11);
    assert_int_equal(sector_level_arity(s, 8), 8);
    assert_int_equal(sector_level_arity(s, 9), 8);
    assert_int_equal(sector_level_arity(s, 10), 2);
    assert_int_equal(sector_by_name("2k")->depth, 2);
    assert_int_equal(sector_by_name("8m")->depth, 6);
    assert_int_equal(sector_by_name("512m")->depth, 8);
    assert_int_equal(POREP_INPUTS(18), 327);
}

static void registered_proofs(void **state) {
    (void)state;
    size_t count;
    const registered_porep *all = registered_poreps(&count);
    assert_int_equal(count, 20);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all[i].id, i);
        assert_ptr_equal(registered_porep_by_id(i), &all[i]);
        assert_ptr_equal(registered_porep_by_name(all[i].name), &all[i]);
        const char *tag = all[i].sector->tag;
        assert_non_null(tag);
        assert_int_equal(strncmp(all[i].name, tag, strlen(tag)), 0);
    }
    assert_null(registered_porep_by_id(20));
    assert_null(registered_porep_by_id(UINT64_MAX));
    assert_null(registered_porep_by_name("StackedDrg32GiB"));

    const registered_porep *p = registered_porep_by_name("StackedDrg32GiBV1_1");
    assert_int_equal(p->id, 8);
    assert_int_equal(p->api, API_1_1_0);
    assert_int_equal(p->feature, POREP_INTERACTIVE);
    assert_int_equal(registered_porep_partitions(p), 10);
    p = registered_porep_by_name("StackedDrg8MiBV1");
    assert_int_equal(p->id, 1);
    assert_int_equal(p->api, API_1_0_0);
    p = registered_porep_by_name("StackedDrg64GiBV1_1_Feat_SyntheticPoRep");
    assert_int_equal(p->id, 14);
    assert_int_equal(p->api, API_1_2_0);
    assert_int_equal(p->feature, POREP_SYNTHETIC);
    assert_int_equal(registered_porep_partitions(p), 10);
    p = registered_porep_by_name("StackedDrg32GiBV1_2_Feat_NonInteractivePoRep");
    assert_int_equal(p->id, 18);
    assert_int_equal(p->feature, POREP_NON_INTERACTIVE);
    assert_int_equal(registered_porep_partitions(p), 126);
    p = registered_porep_by_name("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep");
    assert_int_equal(registered_porep_partitions(p), 13);
}

static void registered_post_proofs(void **state) {
    (void)state;
    size_t count;
    const registered_post *all = registered_posts(&count);
    assert_int_equal(count, 15);
    for (size_t i = 0; i < count; i++) assert_ptr_equal(registered_post_by_name(all[i].name), &all[i]);
    const registered_post *p = registered_post_by_name("StackedDrgWindow64GiBV1_2");
    assert_int_equal(p->kind, PROOF_WINDOW);
    assert_int_equal(p->api, API_1_2_0);
    assert_int_equal(p->sector->window_post_sectors, 2300);
    p = registered_post_by_name("StackedDrgWinning32GiBV1");
    assert_int_equal(p->kind, PROOF_WINNING);
    assert_int_equal(p->sector->window_post_sectors, 2349);
    assert_null(registered_post_by_name("StackedDrgWinning32GiBV1_2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_consistent),
        cmocka_unit_test(published_shapes),
        cmocka_unit_test(registered_proofs),
        cmocka_unit_test(registered_post_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
