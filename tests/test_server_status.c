/*
 * The /status document: every key that the reference's clients read, with its type and meaning; ours besides;
 * bounds on its size; and valid JSON and UTF-8 whatever the ids are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "rpc/wire.h"
#include "scene.h"
#include "server/status_json.h"
#include "server/text.h"

static server_stats stats;

static yajl_val parse(const char *text) {
    char why[512] = "";
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    if (!root) fail_msg("%s", why);
    return root;
}

static yajl_val document_of(const engine_snapshot *s, size_t max_jobs) {
    char *text;
    size_t size;
    assert_int_equal(status_json(&text, &size, s, &stats, max_jobs, NULL), CUZK_OK);
    assert_int_equal(strlen(text), size);
    assert_true(wire_is_utf8((wire_view){(const uint8_t *)text, size}));
    yajl_val root = parse(text);
    free(text);
    return root;
}

static yajl_val document(scene kind, double seconds, size_t max_jobs) {
    engine_snapshot s;
    scene_make(&s, kind, seconds);
    yajl_val root = document_of(&s, max_jobs);
    scene_free(&s);
    return root;
}

/* "a.b" within v; fails when it is not there or of another type. */
static yajl_val at(yajl_val v, const char *path, yajl_type type) {
    char names[128], *save = NULL;
    snprintf(names, sizeof names, "%s", path);
    for (char *name = strtok_r(names, ".", &save); name; name = strtok_r(NULL, ".", &save)) {
        const char *one[] = {name, NULL};
        v = yajl_tree_get(v, one, yajl_t_any);
        if (!v) fail_msg("no %s of %s", name, path);
    }
    if (type == yajl_t_true && YAJL_IS_FALSE(v)) return v;
    if (type != yajl_t_any && v->type != type) fail_msg("%s has type %d", path, (int)v->type);
    return v;
}

static double number(yajl_val v, const char *path) {
    return YAJL_GET_DOUBLE(at(v, path, yajl_t_number));
}

static const char *string(yajl_val v, const char *path) {
    return YAJL_GET_STRING(at(v, path, yajl_t_string));
}

static size_t length(yajl_val v, const char *path) {
    return YAJL_GET_ARRAY(at(v, path, yajl_t_array))->len;
}

static yajl_val item(yajl_val v, const char *path, size_t i) {
    assert_true(i < length(v, path));
    return YAJL_GET_ARRAY(at(v, path, yajl_t_array))->values[i];
}

static void check_near(double found, double expected) {
    if (found < expected - 0.002 || found > expected + 0.002) fail_msg("%f is not %f", found, expected);
}

static const char *const reference_keys[] = {"uptime_secs",
                                             "memory.total_bytes",
                                             "memory.used_bytes",
                                             "memory.available_bytes",
                                             "synthesis.max_concurrent",
                                             "synthesis.active",
                                             "counters.total_completed",
                                             "counters.total_failed",
                                             "counters.queue_depth",
                                             "buffers.synth_in_flight",
                                             "buffers.provers_in_flight",
                                             "buffers.aux_in_flight",
                                             "buffers.shells_in_flight",
                                             "buffers.pending_handles"};

static void empty_engine_has_every_key(void **state) {
    (void)state;
    yajl_val d = document(SCENE_EMPTY, 0, 200);
    for (size_t i = 0; i < sizeof reference_keys / sizeof reference_keys[0]; i++)
        number(d, reference_keys[i]);
    assert_int_equal(length(d, "pipelines"), 0);
    assert_int_equal(length(d, "allocations.srs"), 0);
    assert_int_equal(length(d, "allocations.pce"), 0);
    at(d, "counters.completed_by_kind", yajl_t_object);
    at(d, "counters.failed_by_kind", yajl_t_object);
    assert_int_equal(length(d, "gpu_workers"), 1);
    yajl_val worker = item(d, "gpu_workers", 0);
    assert_string_equal(string(worker, "state"), "idle");
    number(worker, "worker_id");
    number(worker, "gpu_ordinal");
    at(worker, "current_job", yajl_t_null);
    at(worker, "current_partition", yajl_t_null);
    at(worker, "busy_secs", yajl_t_null);
    assert_int_equal(length(d, "jobs"), 0);
    assert_int_equal(length(d, "failures"), 0);
    assert_true(YAJL_IS_FALSE(at(d, "draining", yajl_t_true)));
    assert_string_equal(string(d, "version"), stats.build.version);
    yajl_tree_free(d);
}

/* Scene ONE, 100 s in: accepted 140 s ago, checked until 3.2 s, the first synthesis of 2.5 s, 22 s a proof.
 * So partition 6 is being proved since 3.2 + 2.5 + 6 * 22 = 137.7 s. */
static void running_job_as_the_reference_shows_it(void **state) {
    (void)state;
    yajl_val d = document(SCENE_ONE, 100, 200);
    check_near(number(d, "uptime_secs"), 4100);
    yajl_val p = item(d, "pipelines", 0);
    assert_string_equal(string(p, "job_id"), "porep-1000-4711");
    assert_string_equal(string(p, "proof_kind"), "porep-c2");
    check_near(number(p, "started_secs_ago"), 139.8);
    assert_int_equal(number(p, "total_partitions"), 10);
    assert_int_equal(number(p, "partitions_done"), 6);
    static const char *const states[] = {"done", "done", "done",       "done",         "done",
                                         "done", "gpu",  "synth_done", "synthesizing", "pending"};
    assert_int_equal(length(p, "partitions"), 10);
    for (size_t i = 0; i < 10; i++) {
        yajl_val part = item(p, "partitions", i);
        assert_int_equal(number(part, "index"), i);
        assert_string_equal(string(part, "state"), states[i]);
    }
    check_near(number(item(p, "partitions", 0), "synth_ms"), 2500);
    check_near(number(item(p, "partitions", 0), "gpu_ms"), 22000);
    check_near(number(item(p, "partitions", 6), "gpu_ms"), 2300); /* counted up to now */
    at(item(p, "partitions", 7), "gpu_ms", yajl_t_null);
    at(item(p, "partitions", 9), "synth_ms", yajl_t_null);

    yajl_val worker = item(d, "gpu_workers", 0);
    assert_string_equal(string(worker, "state"), "proving");
    assert_string_equal(string(worker, "current_job"), "porep-1000-4711");
    assert_int_equal(number(worker, "current_partition"), 6);
    check_near(number(worker, "busy_secs"), 2.3);

    assert_int_equal(number(d, "synthesis.max_concurrent"), 2);
    assert_int_equal(number(d, "synthesis.active"), 1);
    assert_int_equal(number(d, "buffers.synth_in_flight"), 1);
    assert_int_equal(number(d, "buffers.provers_in_flight"), 1);
    assert_int_equal(number(d, "counters.completed_by_kind.porep-c2"), 1204);
    assert_int_equal(number(d, "memory.total_bytes"),
                     number(d, "memory.used_bytes") + number(d, "memory.available_bytes"));
    yajl_val entry = item(d, "allocations.srs", 0);
    assert_string_equal(string(entry, "circuit_id"), "porep-32g");
    assert_true(number(entry, "bytes") == 48613072820.0);
    check_near(number(entry, "last_used_secs_ago"), 0);
    assert_true(YAJL_IS_FALSE(at(entry, "evictable", yajl_t_true)));
    assert_true(number(item(d, "allocations.pce", 0), "bytes") == 41 << 20);
    yajl_tree_free(d);
}

static void running_job_as_we_show_it(void **state) {
    (void)state;
    yajl_val d = document(SCENE_ONE, 100, 200);
    yajl_val j = item(d, "jobs", 0);
    assert_string_equal(string(j, "id"), "porep-1000-4711");
    assert_string_equal(string(j, "state"), "running");
    assert_string_equal(string(j, "priority"), "normal");
    assert_string_equal(string(j, "circuit"), "porep-32g");
    check_near(number(j, "accepted"), 3960);
    check_near(number(j, "started"), 3960.2);
    at(j, "ended", yajl_t_null);
    at(j, "deadline", yajl_t_null);
    yajl_val part = item(j, "partitions", 6);
    assert_string_equal(string(part, "state"), "prove");
    check_near(number(part, "prove_start"), 3960 + 137.7);
    at(part, "prove_end", yajl_t_null);
    assert_string_equal(string(part, "phase"), "ntt");
    assert_true(number(part, "progress") > 0.1 && number(part, "progress") < 0.11);
    assert_int_equal(number(d, "queue.normal"), 1);
    assert_int_equal(number(d, "queue.critical"), 0);
    assert_int_equal(number(d, "stages.prove"), 1);
    assert_int_equal(number(d, "stages.synthesized"), 1);
    assert_true(number(d, "cores.busy") <= number(d, "cores.total"));
    check_near(number(d, "cores.seconds.prove"), 94000);
    assert_string_equal(string(item(d, "keys", 0), "tier"), "hot");
    yajl_tree_free(d);
}

static void ended_jobs_and_failures(void **state) {
    (void)state;
    yajl_val d = document(SCENE_FAILURES, 30, 200);
    assert_int_equal(length(d, "pipelines"), 0); /* all ended more than 30 s ago */
    assert_int_equal(length(d, "jobs"), 14);
    assert_int_equal(length(d, "failures"), 14);
    yajl_val f = item(d, "failures", 0);
    assert_string_equal(string(f, "id"), "porep-1000-300");
    assert_string_equal(string(f, "state"), "failed");
    assert_non_null(strstr(string(f, "message"), "self-check failed"));
    check_near(number(f, "secs_ago"), 70 - 21.7);
    assert_string_equal(string(item(d, "failures", 2), "state"), "timeout");
    assert_int_equal(number(d, "counters.self_check_failures"), 3);
    assert_int_equal(number(d, "counters.total_timed_out"), 3);
    assert_int_equal(number(d, "counters.failed_by_kind.porep-c2"), 8);
    assert_true(YAJL_IS_TRUE(at(d, "draining", yajl_t_true)));
    yajl_tree_free(d);
    d = document(SCENE_FAILURES, 5, 200); /* the first ended 23.3 s ago, the others earlier */
    assert_int_equal(length(d, "pipelines"), 1);
    yajl_val p = item(d, "pipelines", 0);
    assert_int_equal(number(p, "partitions_done"), 9);
    assert_string_equal(string(item(p, "partitions", 9), "state"), "failed");
    check_near(number(item(p, "partitions", 9), "gpu_ms"), 2000);
    yajl_tree_free(d);
    d = document(SCENE_BUSY, 5, 200);
    yajl_val j = item(d, "jobs", length(d, "jobs") - 1);
    assert_string_equal(string(j, "state"), "cancelled");
    assert_true(number(j, "ended") > number(j, "started"));
    assert_true(number(j, "timings.compute_ms") == 223000);
    yajl_tree_free(d);
}

static size_t text_size(const engine_snapshot *s, size_t max_jobs) {
    char *text;
    size_t size;
    assert_int_equal(status_json(&text, &size, s, &stats, max_jobs, NULL), CUZK_OK);
    free(text);
    return size;
}

static void lists_are_bounded(void **state) {
    (void)state;
    yajl_val d = document(SCENE_THOUSAND, 60, 25);
    assert_int_equal(number(d, "jobs_total"), 1002);
    assert_int_equal(length(d, "jobs"), 27); /* 2 running, 25 waiting */
    assert_int_equal(number(d, "counters.queue_depth"), 1000);
    assert_string_equal(string(item(d, "jobs", 0), "state"), "running");
    assert_string_equal(string(item(d, "jobs", 26), "state"), "queued");
    yajl_tree_free(d);
    engine_snapshot s;
    scene_make(&s, SCENE_THOUSAND, 60);
    assert_true(text_size(&s, STATUS_MOST_JOBS) < 1u << 20);
    assert_true(text_size(&s, 0) < 32u << 10);
    scene_free(&s);

    /* More failed jobs than are listed, behind more waiting ones than are listed. */
    scene_make(&s, SCENE_THOUSAND, 60);
    for (size_t i = 500; i < s.n_jobs; i++) {
        s.jobs[i].state = JOB_FAILED;
        s.jobs[i].started = s.jobs[i].accepted;
        s.jobs[i].ended = 3000;
    }
    d = document_of(&s, 10);
    assert_int_equal(length(d, "jobs"), 22);
    assert_int_equal(length(d, "failures"), STATUS_FAILURES);
    yajl_tree_free(d);

    /* Many running jobs: the partitions of the first are listed. */
    for (size_t i = 0; i < 200; i++) {
        s.jobs[i].state = JOB_RUNNING;
        s.jobs[i].partitions = 126;
        s.jobs[i].partition = s.partition_views;
    }
    d = document_of(&s, 100);
    assert_int_equal(length(d, "pipelines"), STATUS_PARTITIONED_JOBS);
    size_t with = 0;
    for (size_t i = 0; i < length(d, "jobs"); i++) {
        const char *path[] = {"partitions", NULL};
        with += yajl_tree_get(item(d, "jobs", i), path, yajl_t_array) != NULL;
    }
    assert_int_equal(with, STATUS_PARTITIONED_JOBS);
    yajl_tree_free(d);
    assert_true(text_size(&s, STATUS_MOST_JOBS) < 4u << 20);
    scene_free(&s);
}

static void hostile_text_stays_text(void **state) {
    (void)state;
    yajl_val d = document(SCENE_HOSTILE, 10, 200);
    bool markup = false, replaced = false, control = false;
    for (size_t i = 0; i < length(d, "jobs"); i++) {
        const char *id = string(item(d, "jobs", i), "id");
        markup |= strcmp(id, "<script>document.title='owned'</script>") == 0;
        replaced |= strcmp(id, "bad utf-8 \xef\xbf\xbd\xef\xbf\xbd end") == 0;
        control |= strcmp(id, "line\nbreak\tand \x01 control") == 0;
    }
    assert_true(markup && replaced && control);
    yajl_tree_free(d);

    /* The largest numbers come out exactly. */
    engine_snapshot s;
    char *text;
    size_t size;
    scene_make(&s, SCENE_HOSTILE, 10);
    assert_int_equal(status_json(&text, &size, &s, &stats, 200, NULL), CUZK_OK);
    assert_non_null(strstr(text, "\"sector_number\":18446744073709551615"));
    free(text);
    s.counters.core_seconds[0] = -__builtin_inf(); /* JSON has no such number */
    s.counters.uptime = __builtin_nan("");
    assert_int_equal(status_json(&text, &size, &s, &stats, 200, NULL), CUZK_OK);
    assert_non_null(strstr(text, "\"uptime_secs\":null"));
    yajl_tree_free(parse(text));
    free(text);
    scene_free(&s);
}

static void utf8_is_made(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80"},
        {"\xc3", "\xef\xbf\xbd"},                                 /* cut */
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* each byte of it */
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {"\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\x80z", "\xef\xbf\xbdz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64];
        assert_int_equal(text_to_utf8(out, sizeof out, cases[i].in), strlen(cases[i].out));
        assert_string_equal(out, cases[i].out);
    }
    char small[6]; /* cut between characters */
    assert_int_equal(text_to_utf8(small, sizeof small, "ab\xe2\x82\xac\xe2\x82\xac"), 5);
    assert_string_equal(small, "ab\xe2\x82\xac");
    assert_int_equal(text_to_utf8(small, 5, "ab\xe2\x82\xac"), 2);
    assert_int_equal(text_to_utf8(small, 1, "ab"), 0);
}

int main(void) {
    server_stats_init(&stats, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_engine_has_every_key),
        cmocka_unit_test(running_job_as_the_reference_shows_it),
        cmocka_unit_test(running_job_as_we_show_it),
        cmocka_unit_test(ended_jobs_and_failures),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(hostile_text_stays_text),
        cmocka_unit_test(utf8_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
