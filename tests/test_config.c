/*
 * The daemon's settings: every kind of mistake with its place, which source wins, what "auto" becomes, and
 * that the example file and the reference table say what the table says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/pool.h"
#include "server/config.h"

static const config_inputs nothing = {.path = NULL};

static config *parse_with(const char *text, const config_inputs *in) {
    config *c;
    cuzk_error err;
    if (config_parse(&c, text, strlen(text), "a.toml", in, &err) != CUZK_OK)
        fail_msg("'%s': %s: %s", text, err.path, err.message);
    return c;
}

static config *parse(const char *text) {
    return parse_with(text, &nothing);
}

static void refuse_with(const char *text, const config_inputs *in, cuzk_code code, const char *place,
                        const char *part) {
    config *c;
    cuzk_error err = {.code = CUZK_OK};
    if (config_parse(&c, text, strlen(text), "a.toml", in, &err) == CUZK_OK) fail_msg("accepted: %s", text);
    assert_null(c);
    assert_int_equal(err.code, code);
    assert_int_equal(err.offset, CUZK_NO_OFFSET);
    if (strcmp(err.path, place) != 0 || !strstr(err.message, part))
        fail_msg("'%s': '%s: %s', expected '%s' and '%s'", text, err.path, err.message, place, part);
    assert_int_equal(config_parse(&c, text, strlen(text), "a.toml", in, NULL), code);
}

static void refuse(const char *text, const char *place, const char *part) {
    refuse_with(text, &nothing, CUZK_ERR_INPUT, place, part);
}

static void warned(const config *c, const char *part, size_t count) {
    assert_int_equal(c->warnings.count, count);
    for (size_t i = 0; i < count; i++)
        if (strstr(c->warnings.items[i], part)) return;
    if (count) fail_msg("no warning with '%s'; the first is '%s'", part, c->warnings.items[0]);
}

static void defaults(void **state) {
    (void)state;
    config *c = parse("");
    assert_string_equal(c->daemon.listen, "unix:///run/curio/cuzk.sock");
    assert_string_equal(c->daemon.status_listen, "");
    assert_string_equal(c->srs.param_cache, "/data/zk/params");
    assert_int_equal(c->daemon.max_message_size, 256 << 20);
    assert_int_equal(c->memory.eviction_min_idle_ms, 300000);
    assert_int_equal(c->scheduler.max_batch_size, 1);
    assert_int_equal(c->scheduler.max_batch_wait_ms, 10000);
    assert_int_equal(c->pipeline.synthesis_lookahead, 1);
    assert_int_equal(c->logging.level, LOG_LEVEL_INFO);
    assert_int_equal(c->logging.format, LOG_FORMAT_TEXT);
    assert_true(c->scheduler.sort_by_type && c->keys.lock);
    assert_int_equal(c->keys.preload.count, 0);
    assert_int_equal(c->warnings.count, 0);
    /* what was automatic is chosen */
    assert_int_equal(c->engine.threads, pool_cpu_count());
    assert_true(c->memory.total_budget > 0 && c->memory.total_budget < mem_limit());
    assert_true(c->daemon.request_budget >= c->daemon.max_message_size);
    assert_true(config_was_automatic(c, config_find_key("memory.total_budget")));
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const char *place;
        assert_int_equal(config_origin_of(c, &keys[i], &place), CONFIG_FROM_DEFAULT);
        assert_string_equal(place, "");
    }
    config_free(c);
}

static void values(void **state) {
    (void)state;
    config *c =
        parse("[daemon]\n"
              "listen = '0.0.0.0:9820'\nstatus_listen = '[::1]:9821'\nmax_message_size = 1048576\n"
              "drain_timeout = '1h'\nupload_stall_timeout = '90s'\nresult_ttl = 5\nrequest_budget = '1TiB'\n"
              "[memory]\ntotal_budget = '50GiB'\neviction_min_idle = '250ms'\n"
              "[keys]\npreload = ['porep-2k', 'winning-32g']\nlock = false\n"
              "[engine]\nthreads = 7\n"
              "[scheduler]\nageing = '0s'\nsort_by_type = false\n"
              "[logging]\nlevel = 'debug'\nformat = 'json'\n");
    assert_string_equal(c->daemon.listen, "0.0.0.0:9820");
    assert_int_equal(c->daemon.drain_timeout_ms, 3600000);
    assert_int_equal(c->daemon.upload_stall_timeout_ms, 90000);
    assert_int_equal(c->daemon.result_ttl_ms, 5000);
    assert_true(c->daemon.request_budget == UINT64_C(1) << 40);
    assert_true(c->memory.total_budget == UINT64_C(50) << 30);
    assert_int_equal(c->memory.eviction_min_idle_ms, 250);
    assert_int_equal(c->keys.preload.count, 2);
    assert_string_equal(c->keys.preload.items[1], "winning-32g");
    assert_false(c->keys.lock);
    assert_int_equal(c->engine.threads, 7);
    assert_int_equal(c->scheduler.ageing_ms, 0);
    assert_false(c->scheduler.sort_by_type);
    assert_int_equal(c->logging.level, LOG_LEVEL_DEBUG);
    assert_int_equal(c->logging.format, LOG_FORMAT_JSON);
    warned(c, "a.toml:2:1: daemon.listen 0.0.0.0:9820 can be reached", 1);
    config_free(c);

    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"4GB", UINT64_C(4000000000)}, {"512MiB", UINT64_C(512) << 20},  {"100000KiB", 102400000},
                 {"70000000", 70000000},        {"2TB", UINT64_C(2000000000000)}, {"900MB", 900000000}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "memory.total_budget = \"%s\"", sizes[i].text);
        c = parse(text);
        assert_true(c->memory.total_budget == sizes[i].bytes);
        config_free(c);
    }
    c = parse(
        "# caf\xc3\xa9 '\n[daemon]\nstate_dir = '/caf\xc3\xa9' # \xc3\xa9\nfailure_dir = \"\\\"\xc3\xa9\"\n");
    assert_string_equal(c->daemon.state_dir, "/caf\xc3\xa9");
    assert_string_equal(c->daemon.failure_dir, "\"\xc3\xa9");
    config_free(c);
    c = parse("\xef\xbb\xbf[memory]\r\ntotal_budget = \"auto\" # comment\r\n");
    assert_true(config_was_automatic(c, config_find_key("memory.total_budget")));
    config_free(c);
}

static void mistakes_have_a_place(void **state) {
    (void)state;
    /* sections and keys */
    refuse("[deamon]\nlisten = 'x'\n", "a.toml:1:2", "unknown section [deamon]; did you mean [daemon]?");
    refuse("[whatever]\n", "a.toml:1:2", "unknown section [whatever]");
    refuse("[daemon]\n\n  lisen = 'x'\n", "a.toml:3:3",
           "unknown key daemon.lisen; did you mean daemon.listen?");
    refuse("[memory]\nlisten = 'x'\n", "a.toml:2:1", "did you mean daemon.listen?");
    refuse("listen = 'x'\n", "a.toml:1:1", "unknown key listen; did you mean daemon.listen?");
    refuse("[daemon]\nfrobnicate = 1\n", "a.toml:2:1", "unknown key daemon.frobnicate");
    refuse("daemon = 5\n", "a.toml:1:1", "daemon: an integer, expected the section [daemon]");
    refuse("[[daemon]]\nlisten = 'x'\n", "a.toml:1:3", "daemon: a list, expected the section [daemon]");
    refuse("[daemon.listen]\n", "a.toml:1:9", "daemon.listen: a table, expected a string");
    refuse("[daemon.more]\n", "a.toml:1:9", "unknown section [daemon.more]");
    refuse("\"daemon.listen\" = 'x'\n", "a.toml:1:1", "unknown key \"daemon.listen\"");
    refuse("[\"\"]\n", "a.toml:1:2", "unknown section [\"\"]");
    /* given twice, not TOML, not text */
    refuse("[daemon]\nlisten = 'unix:///a'\nlisten = 'unix:///b'\n", "a.toml:3:10", "listen");
    refuse("[daemon]\n[memory]\n[daemon]\n", "a.toml:3:1", "daemon");
    refuse("[daemon]\nlisten = 'unix:///a\n", "a.toml:2:20", "");
    refuse("[daemon]\nlisten = unix:///a\n", "a.toml:2:10", "");
    refuse("[daemon\n", "a.toml:1:8", "");
    refuse("[daemon]\n# \xc3\xa9\n  [ =", "a.toml:3:5", "expected the name of a section");
    refuse("[daemon]\nstate_dir = \xc3\xa9\n", "a.toml:2:13", "not ASCII");
    refuse("[daemon]\nstate_dir = '''a\n\xc3\xa9'''\n", "a.toml:3:1", "not ASCII");
    refuse("[daemon]\nstate_dir = \"\"\"a\\\"\"\"\"\"\" \xc3\xa9\n", "a.toml:2:25", "not ASCII");
    refuse("[daemon]\nstate_dir = 2g\"\xc3\xa9\"\n", "a.toml:2:16", "not ASCII");
    refuse("[#]\nlisten = 1\n", "a.toml:1:2", "expected the name of a section");
    refuse("# \xff\n", "a.toml:1:2", "");
    refuse("[daemon]\nstate_dir = \"a\\u0000b\"\n", "a.toml:2:1", "NUL");
    /* types */
    refuse("[daemon]\nlisten = 9820\n", "a.toml:2:1", "daemon.listen: an integer, expected a string");
    refuse("[keys]\nlock = 'true'\n", "a.toml:2:1",
           "keys.lock: a string, expected true or false, without quotes");
    refuse("[engine]\nthreads = '2'\n", "a.toml:2:1", "engine.threads: a string, expected a whole number");
    refuse("[engine]\nthreads = 2.0\n", "a.toml:2:1", "engine.threads: a number with a fraction");
    refuse("[memory]\ntotal_budget = 1.5\n", "a.toml:2:1", "expected a size such as 512MiB");
    refuse("[memory]\ntotal_budget = 1979-05-27\n", "a.toml:2:1", "a date or time, expected a size");
    refuse("[keys]\npreload = 'porep-2k'\n", "a.toml:2:1", "a string, expected a list of strings");
    refuse("[keys]\npreload = ['porep-2k', 5]\n", "a.toml:2:1", "element 2 is an integer");
    refuse("[keys]\npreload = ['']\n", "a.toml:2:1", "element 1 is empty");
    refuse("[gpus]\ndevices = [0, -1]\n", "a.toml:2:1", "gpus.devices: '-1', expected a whole number");
    refuse("[gpus]\ndevices = [0, 4096]\n", "a.toml:2:1", "gpus.devices: 4096, expected 0 to 1023");
    /* sizes and durations */
    static const char *const sizes[] = {
        "50 GiB",         "1.5GiB", "GiB", "-1GiB", "50gib", "50G", "", "0x10", "1e9", "18446744073709551616",
        "99999999999TiB", "50GiB ", "+5",  "Auto"};
    static const char *const durations[] = {"1d", "5 m", "1.5h", "m", "-5s", "1h30m", "", "5min", "auto"};
    char text[128];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        snprintf(text, sizeof text, "[memory]\ntotal_budget = \"%s\"\n", sizes[i]);
        refuse(text, "a.toml:2:1", "expected a size such as 512MiB");
    }
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        snprintf(text, sizeof text, "[daemon]\ndrain_timeout = \"%s\"\n", durations[i]);
        refuse(text, "a.toml:2:1", "expected a duration such as 250ms");
    }
    refuse("[memory]\ntotal_budget = -5\n", "a.toml:2:1", "'-5', expected a size");
    /* ranges and choices */
    refuse("[memory]\ntotal_budget = '1MiB'\n", "a.toml:2:1",
           "memory.total_budget: 1MiB, expected 64MiB to 1024TiB");
    refuse("[scheduler]\nmax_batch_size = 0\n", "a.toml:2:1",
           "scheduler.max_batch_size: 0, expected 1 to 16");
    refuse("[scheduler]\nmax_queue = -1\n", "a.toml:2:1", "'-1', expected a whole number");
    refuse("[daemon]\nupload_stall_timeout = '10ms'\n", "a.toml:2:1", "10ms, expected 1s to 24h");
    refuse("[logging]\nlevel = 'verbose'\n", "a.toml:2:1",
           "logging.level: 'verbose', expected one of: off, error, warn, info, debug, trace");
    refuse("[logging]\nformat = ''\n", "a.toml:2:1", "expected one of: text, json");
    /* addresses, paths, circuits */
    static const char *const addresses[] = {
        "localhost:9820", "unix:/a",          "unix://a",      "unix:///",  "9820",   ":9820",
        "1.2.3.4",        "1.2.3.4:",         "1.2.3.4:70000", "1.2.3:1",   "::1:80", "[::1]",
        "[]:1",           "http://1.2.3.4:1", "1.2.3.4:80x",   "1.2.3.4:-1"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        snprintf(text, sizeof text, "[daemon]\nlisten = \"%s\"\n", addresses[i]);
        refuse(text, "a.toml:2:1", "expected");
        if (strncmp(addresses[i], "unix", 4) == 0) continue;
        snprintf(text, sizeof text, "[daemon]\nstatus_listen = \"%s\"\n", addresses[i]);
        refuse(text, "a.toml:2:1", "expected IP:PORT");
    }
    refuse("[daemon]\nstatus_listen = 'unix:///a'\n", "a.toml:2:1", "expected IP:PORT");
    refuse("[daemon]\nlisten = ''\n", "a.toml:2:1", "expected a value");
    refuse("[srs]\nparam_cache = ''\n", "a.toml:2:1", "expected a value");
    char *path = malloc(400);
    assert_non_null(path);
    snprintf(path, 400, "[daemon]\nlisten = 'unix:///%0200d'\n", 7);
    refuse(path, "a.toml:2:1", "a path of 201 bytes, expected at most 107");
    free(path);
    refuse("[keys]\npreload = ['porep-32k']\n", "a.toml:2:1",
           "unknown circuit 'porep-32k'; did you mean 'porep-2k'?");
    refuse("[keys]\npreload = ['everything']\n", "a.toml:2:1", "'cuzk params list'");
    /* values that do not go together */
    refuse("[daemon]\nlisten = '127.0.0.1:1'\nstatus_listen = '127.0.0.1:1'\n", "a.toml:3:1",
           "daemon.listen too");
    refuse("[daemon]\nrequest_budget = '1MiB'\n", "a.toml:2:1", "at least daemon.max_message_size");
    refuse("[memory]\nsafety_margin = '1024TiB'\n", "a.toml:2:1", "expected to leave at least 64 MiB");
    /* a text too long */
    char *big = calloc(1, (1 << 20) + 2);
    assert_non_null(big);
    memset(big, '#', (1 << 20) + 1);
    refuse(big, "a.toml", "1048577 bytes, expected at most 1048576");
    free(big);
}

static void old_keys_warn(void **state) {
    (void)state;
    static const char *const old[][2] = {
        {"memory.pinned_budget = '50GiB'",
         "memory.pinned_budget is deprecated and has no effect: use memory.total_budget"},
        {"memory.working_memory_budget = '9GiB'", "use memory.total_budget"},
        {"synthesis.partition_workers = 12", "use pipeline.synthesis_lookahead"},
        {"srs.preload = ['porep-32g']", "srs.preload is deprecated and has no effect: use keys.preload"},
        {"gpus.devices = [0, 1]", "gpus.devices has no effect: proofs are made on the CPU"},
        {"gpus.gpu_threads = 32", "engine.threads"},
        {"gpus.gpu_workers_per_device = 1", "no effect"},
        {"pipeline.enabled = false", "pipeline.synthesis_lookahead"},
        {"pipeline.synthesis_concurrency = 2", "no effect"},
        {"pipeline.max_parallel_synthesis = 18", "no effect"},
        {"pipeline.slot_size = 0", "remove it"},
        {"pipeline.max_gpu_queue_depth = 0", "no effect"},
    };
    char text[100];
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        snprintf(text, sizeof text, "\n%s\n", old[i][0]);
        config *c = parse(text);
        warned(c, old[i][1], 1);
        assert_non_null(strstr(c->warnings.items[0], "a.toml:2:"));
        config_free(c);
    }
    refuse("synthesis.partition_workers = 'x'\n", "a.toml:1:11", "expected a whole number");
    /* every key has a replacement or a reason when it has no effect */
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) assert_true((keys[i].status == CONFIG_USED) == (keys[i].note == NULL));
}

static void flags_before_variables_before_file(void **state) {
    (void)state;
    char *environment[] = {"CUZK_DAEMON_LISTEN=127.0.0.1:2",
                           "CUZK_LOGGING_LEVEL=warn",
                           "HOME=/",
                           "broken",
                           "FIL_PROOFS_PARAMETER_CACHE=/p",
                           "CUZK_KEYS_PRELOAD=porep-2k,porep-8m",
                           "CUZK_KEYS_LOCK=false",
                           "CUZK_ENGINE_THREADS=3",
                           NULL};
    const config_flag flags[] = {{"daemon.listen", "--listen", "127.0.0.1:9"},
                                 {"daemon.listen", "-l", "127.0.0.1:3"}};
    config_inputs in = {.environment = environment, .flags = flags, .flag_count = 2};
    const char *text = "[daemon]\nlisten = '127.0.0.1:1'\n[logging]\nlevel = 'debug'\nformat = 'json'\n";
    config *c = parse_with(text, &in);
    const char *place;
    assert_string_equal(c->daemon.listen, "127.0.0.1:3");
    assert_int_equal(config_origin_of(c, config_find_key("daemon.listen"), &place), CONFIG_FROM_FLAG);
    assert_string_equal(place, "-l");
    assert_int_equal(c->logging.level, LOG_LEVEL_WARN);
    assert_int_equal(config_origin_of(c, config_find_key("logging.level"), &place), CONFIG_FROM_ENVIRONMENT);
    assert_string_equal(place, "CUZK_LOGGING_LEVEL");
    assert_int_equal(c->logging.format, LOG_FORMAT_JSON);
    assert_int_equal(config_origin_of(c, config_find_key("logging.format"), &place), CONFIG_FROM_FILE);
    assert_string_equal(place, "a.toml:5:1");
    assert_int_equal(config_origin_of(c, config_find_key("engine.threads"), NULL), CONFIG_FROM_ENVIRONMENT);
    assert_int_equal(c->engine.threads, 3);
    assert_string_equal(c->srs.param_cache, "/p");
    assert_int_equal(c->keys.preload.count, 2);
    assert_string_equal(c->keys.preload.items[0], "porep-2k");
    assert_false(c->keys.lock);
    assert_int_equal(c->warnings.count, 0);
    config_free(c);

    /* mistakes name the variable or the flag */
    static const char *const bad[][2] = {
        {"CUZK_KEYS_LOCK=yes", "CUZK_KEYS_LOCK: keys.lock: 'yes', expected true or false"},
        {"CUZK_ENGINE_THREADS=-1", "CUZK_ENGINE_THREADS: engine.threads: '-1', expected a whole number"},
        {"CUZK_MEMORY_TOTAL_BUDGET=much",
         "CUZK_MEMORY_TOTAL_BUDGET: memory.total_budget: 'much', expected a size"},
        {"CUZK_KEYS_PRELOAD=porep-2k,,porep-8m", "CUZK_KEYS_PRELOAD: keys.preload"},
        {"CUZK_DAEMON_LISTEN=", "CUZK_DAEMON_LISTEN: daemon.listen: '', expected a value"},
        {"CUZK_DAEMON_REQUEST_BUDGET=2MiB", "CUZK_DAEMON_REQUEST_BUDGET: daemon.request_budget"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *one[] = {(char *)bad[i][0], NULL};
        config_inputs with = {.environment = one};
        refuse_with("", &with, CUZK_ERR_USAGE, "", bad[i][1]);
    }
    const config_flag wrong = {"logging.level", "--log-level", "loud"};
    config_inputs with_flag = {.flags = &wrong, .flag_count = 1};
    refuse_with("", &with_flag, CUZK_ERR_USAGE, "",
                "--log-level: logging.level: 'loud', expected one of: off");

    /* variables that are no setting */
    char *unknown[] = {"CUZK_DAEMON_LISEN=x", "CUZK_DISABLE_PCE=1", "CUZK_ISA=adx", "CUZKX=1", NULL};
    config_inputs with_unknown = {.environment = unknown};
    c = parse_with("", &with_unknown);
    warned(c, "CUZK_DAEMON_LISEN is no setting and has no effect; did you mean CUZK_DAEMON_LISTEN?", 2);
    warned(c, "CUZK_DISABLE_PCE is no setting", 2);
    config_free(c);
}

static void files(void **state) {
    (void)state;
    char directory[] = "/tmp/cuzk-config.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/cuzk.toml", directory);
    config *c;
    cuzk_error err;
    config_inputs in = {.path = path};
    assert_int_equal(config_load(&c, &in, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, path);
    assert_non_null(strstr(err.message, "No such file"));
    assert_null(c);
    in.path = directory;
    assert_int_equal(config_load(&c, &in, &err), CUZK_ERR_INPUT);
    assert_non_null(strstr(err.message, "directory"));
    in.path = path;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("[daemon]\nmax_connections = 7\n", file);
    fclose(file);
    assert_int_equal(config_load(&c, &in, &err), CUZK_OK);
    assert_int_equal(c->daemon.max_connections, 7);
    assert_string_equal(c->file, path);
    config_free(c);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("[daemon]\nmax_connections = 0\n", file);
    fclose(file);
    char place[80];
    snprintf(place, sizeof place, "%s:2:1", path);
    assert_int_equal(config_load(&c, &in, &err), CUZK_ERR_INPUT);
    assert_string_equal(err.path, place);
    unlink(path);
    rmdir(directory);
    /* the usual place may be empty */
    if (access(CONFIG_DEFAULT_PATH, F_OK) == 0) return;
    assert_int_equal(config_load(&c, &nothing, &err), CUZK_OK);
    assert_string_equal(c->file, "");
    config_free(c);
}

static void reload_takes_what_it_can(void **state) {
    (void)state;
    config *running = parse("[logging]\nlevel = 'info'\n[daemon]\nlisten = 'unix:///a'\n");
    config *fresh = parse("[logging]\nlevel = 'debug'\n[daemon]\nlisten = 'unix:///b'\ndrain_timeout = '5m'\n"
                          "[memory]\ntotal_budget = '80GiB'\n");
    config_list notes = {NULL, 0};
    cuzk_error err;
    assert_int_equal(config_reload(running, fresh, &notes, &err), CUZK_OK);
    config_free(fresh);
    assert_int_equal(running->logging.level, LOG_LEVEL_DEBUG);
    assert_string_equal(running->daemon.listen, "unix:///a");
    assert_int_equal(running->daemon.drain_timeout_ms, 300000);
    assert_true(running->memory.total_budget == UINT64_C(80) << 30);
    const char *place;
    assert_int_equal(config_origin_of(running, config_find_key("logging.level"), &place), CONFIG_FROM_FILE);
    assert_string_equal(place, "a.toml:2:1");
    bool level = false, listen = false;
    for (size_t i = 0; i < notes.count; i++) {
        level = level || strcmp(notes.items[i], "logging.level is now \"debug\", was \"info\"") == 0;
        listen = listen || strcmp(notes.items[i],
                                  "daemon.listen stays \"unix:///a\"; \"unix:///b\" needs a restart") == 0;
    }
    assert_true(level && listen);
    config_list_free(&notes);
    config_free(running);
}

/* Every value written as TOML is read back as the same. */
static void values_write_as_toml(void **state) {
    (void)state;
    config *c = parse(
        "[daemon]\nstate_dir = \"a \\\"b\\\\ \\u001b\\u007f \\u00e9\"\ndrain_timeout = '90s'\nresult_ttl = "
        "'1500ms'\n"
        "max_message_size = 1048577\n[keys]\npreload = ['porep-2k', 'porep-8m']\n[scheduler]\nageing = 0\n");
    char *text = NULL;
    size_t size, n;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char *value = config_value_text(c, &keys[i]);
        assert_true((value != NULL) == (keys[i].status == CONFIG_USED));
        if (value) fprintf(out, "%s = %s\n", keys[i].key, value);
        free(value);
    }
    fclose(out);
    assert_non_null(strstr(text, "daemon.drain_timeout = \"90s\"\n"));
    assert_non_null(strstr(text, "daemon.result_ttl = \"1500ms\"\n"));
    assert_non_null(strstr(text, "daemon.max_message_size = \"1048577\"\n"));
    assert_non_null(strstr(text, "keys.preload = [\"porep-2k\", \"porep-8m\"]\n"));
    assert_non_null(strstr(text, "scheduler.ageing = \"0s\"\n"));
    config *again = parse(text);
    for (size_t i = 0; i < n; i++) {
        char *first = config_value_text(c, &keys[i]), *second = config_value_text(again, &keys[i]);
        if (first) assert_string_equal(first, second);
        free(first);
        free(second);
    }
    free(text);
    config_free(again);
    config_free(c);
}

static void table_is_sound(void **state) {
    (void)state;
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(keys[i].key, keys[j].key);
            if (keys[i].environment && keys[j].environment)
                assert_string_not_equal(keys[i].environment, keys[j].environment);
            if (keys[i].status == CONFIG_USED && keys[j].status == CONFIG_USED)
                assert_int_not_equal(keys[i].offset, keys[j].offset);
        }
        assert_ptr_equal(config_find_key(keys[i].key), &keys[i]);
        assert_non_null(strchr(keys[i].key, '.'));
        assert_true(keys[i].status != CONFIG_USED || keys[i].environment);
        assert_true((keys[i].type == CONFIG_CHOICE) == (keys[i].choices != NULL));
        assert_null(strchr(keys[i].meaning, '|')); /* it goes into a Markdown table */
    }
}

static char *read_repository_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", CUZK_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot open %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void example_and_reference_follow_the_table(void **state) {
    (void)state;
    char *example = config_example_text(), *kept = read_repository_file("dist/cuzk.toml");
    if (strcmp(example, kept) != 0) fail_msg("run: cuzk-daemon config example > dist/cuzk.toml");
    free(kept);
    /* with every comment sign before a key taken away it is accepted, and changes nothing */
    for (char *p = example; (p = strstr(p, "\n#")) != NULL; p++)
        if (p[2] != ' ') memmove(p + 1, p + 2, strlen(p + 2) + 1);
    config *c = parse(example), *plain = parse("");
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const char *place;
        if (keys[i].status != CONFIG_USED) continue;
        assert_int_equal(config_origin_of(c, &keys[i], &place), CONFIG_FROM_FILE);
        if (strcmp(keys[i].key, "memory.safety_margin") == 0)
            continue; /* the default gives way on small machines */
        if (strcmp(keys[i].key, "memory.total_budget") == 0 ||
            strcmp(keys[i].key, "daemon.request_budget") == 0)
            continue;
        char *first = config_value_text(c, &keys[i]), *second = config_value_text(plain, &keys[i]);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
    config_free(c);
    config_free(plain);
    free(example);

    char *reference = config_reference_text();
    kept = read_repository_file("docs/operations.md");
    if (!strstr(kept, reference))
        fail_msg("put the output of 'cuzk-daemon config reference' into docs/operations.md");
    free(kept);
    free(reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(values),
        cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(old_keys_warn),
        cmocka_unit_test(flags_before_variables_before_file),
        cmocka_unit_test(files),
        cmocka_unit_test(reload_takes_what_it_can),
        cmocka_unit_test(values_write_as_toml),
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test(example_and_reference_follow_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
