/* What the daemon makes of settings for the engine, and of the engine's events for the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/engine_settings.h"
#include "server/event_log.h"

static char kept[8192];

static void keep(void *context, log_level level, const char *line, size_t size) {
    (void)context;
    (void)level;
    size_t used = strlen(kept);
    snprintf(kept + used, sizeof kept - used, "%.*s", (int)size, line);
}

static void assert_logged(const engine_event *event, const char *expected) {
    kept[0] = 0;
    event_log(NULL, event);
    const char *after_stamp = strlen(kept) > 28 ? kept + 28 : kept;
    assert_string_equal(after_stamp, expected);
}

static void each_event_has_its_line(void **state) {
    (void)state;
    engine_event e = {.kind = ENGINE_SUBMITTED,
                      .time = 1.5,
                      .job_id = "wdpost-1000-0-[1 2]",
                      .job_kind = JOB_WINDOW_POST,
                      .priority = JOB_HIGH,
                      .stage = STAGE_PROVE,
                      .partition = 3,
                      .seconds = 0.25,
                      .message = ""};
    log_set_sink(keep, NULL);
    log_set_level(LOG_LEVEL_DEBUG);
    assert_logged(&e,
                  " INFO job accepted job=\"wdpost-1000-0-[1 2]\" kind=window-post priority=high at=1.500\n");
    e.job_id = "a";
    e.kind = ENGINE_STAGE_START;
    assert_logged(&e, "DEBUG stage begins job=a stage=prove partition=3 at=1.500\n");
    e.kind = ENGINE_STAGE_END;
    assert_logged(&e, "DEBUG stage ended job=a stage=prove partition=3 seconds=0.250 at=1.500\n");
    e.kind = ENGINE_PAUSED;
    assert_logged(&e, "DEBUG stage paused for a more urgent job job=a stage=prove partition=3 at=1.500\n");
    e.kind = ENGINE_RESUMED;
    assert_logged(&e, "DEBUG stage goes on job=a stage=prove partition=3 at=1.500\n");
    log_set_level(LOG_LEVEL_TRACE);
    e.kind = ENGINE_STAGE_END;
    kept[0] = 0;
    event_log(NULL, &e);
    assert_non_null(strstr(kept, "DEBUG stage ended job=a stage=prove partition=3 seconds=0.250 at=1.500\n"));
    assert_non_null(strstr(kept, "TRACE TIMELINE,1500,GPU_END,a,partition=3,gpu_ms=250\n"));
    log_set_level(LOG_LEVEL_DEBUG);
    e.partition = ENGINE_NO_PARTITION;
    e.stage = STAGE_CHECK;
    e.kind = ENGINE_STAGE_START;
    assert_logged(&e, "DEBUG stage begins job=a stage=check at=1.500\n");
    e.kind = ENGINE_STAGE_END;
    assert_logged(&e, "DEBUG stage ended job=a stage=check seconds=0.250 at=1.500\n");
    e.kind = ENGINE_RETRY;
    e.partition = 3;
    e.message = "pairing";
    assert_logged(&e, " WARN self-check failed, the partition is computed again job=a partition=3 "
                      "reason=pairing at=1.500\n");

    e.kind = ENGINE_FINISHED;
    e.state = JOB_COMPLETED;
    assert_logged(&e, " INFO job ended job=a kind=window-post state=completed at=1.500\n");
    e.message = "no key";
    e.state = JOB_FAILED;
    assert_logged(&e, "ERROR job ended job=a kind=window-post state=failed reason=\"no key\" at=1.500\n");
    e.state = JOB_TIMEOUT;
    assert_logged(&e, " WARN job ended job=a kind=window-post state=timeout reason=\"no key\" at=1.500\n");
    e.state = JOB_CANCELLED;
    assert_logged(&e, " INFO job ended job=a kind=window-post state=cancelled reason=\"no key\" at=1.500\n");

    log_set_level(LOG_LEVEL_INFO);
    e.kind = ENGINE_STAGE_START;
    assert_logged(&e, "");
    log_set_sink(NULL, NULL);
}

static void settings_reach_the_engine(void **state) {
    (void)state;
    const char text[] =
        "[daemon]\nresult_ttl = '90s'\nresult_bytes = '1MiB'\nfailure_dir = '/f'\nfailure_bytes = '3GiB'\n"
        "[memory]\ntotal_budget = '9GiB'\neviction_min_idle = '1500ms'\n"
        "[srs]\nparam_cache = '/p'\n[keys]\nlock = false\n[engine]\nthreads = 3\n"
        "[pipeline]\nsynthesis_lookahead = 4\n"
        "[scheduler]\nmax_queue = 50\nmax_batch_size = 6\nmax_batch_wait_ms = 250\nageing = '2m'\n"
        "sort_by_type = false\n";
    const config_inputs in = {.path = NULL};
    config *c;
    assert_int_equal(config_parse(&c, text, sizeof text - 1, "a.toml", &in, NULL), CUZK_OK);
    int mark;
    engine_config e = {.event_ctx = &mark, .group_by_circuit = true, .lock_keys = true};
    engine_settings(&e, c);
    assert_int_equal(e.threads, 3);
    assert_true(e.memory_budget == UINT64_C(9) << 30);
    assert_string_equal(e.params_dir, "/p");
    assert_false(e.lock_keys);
    assert_true(e.eviction_min_idle == 1.5);
    assert_int_equal(e.synthesis_lookahead, 4);
    assert_int_equal(e.max_queue, 50);
    assert_int_equal(e.max_batch_size, 6);
    assert_true(e.max_batch_wait == 0.25);
    assert_true(e.ageing == 120);
    assert_false(e.group_by_circuit);
    assert_true(e.result_ttl == 90);
    assert_int_equal(e.result_bytes, 1 << 20);
    assert_string_equal(e.failure_dir, "/f");
    assert_true(e.failure_bytes == UINT64_C(3) << 30);
    assert_ptr_equal(e.event_ctx, &mark);
    config_free(c);

    assert_int_equal(config_parse(&c, "", 0, "a.toml", &in, NULL), CUZK_OK);
    engine_settings(&e, c);
    assert_null(e.failure_dir); /* "" is none */
    config_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_has_its_line),
        cmocka_unit_test(settings_reach_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
