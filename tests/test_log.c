/* The log: forms of a line, escaping of hostile values, levels, limits, and threads that write at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "base/log.h"

#define KEPT 65536

static char kept[KEPT];
static size_t kept_size;
static unsigned lines_seen;

static void keep(void *context, log_level level, const char *line, size_t size) {
    (void)level;
    assert_ptr_equal(context, kept);
    lines_seen++;
    assert_true(size > 0 && line[size - 1] == '\n');
    assert_null(memchr(line, '\n', size - 1));
    if (size < KEPT) {
        memcpy(kept, line, size);
        kept[size] = 0;
        kept_size = size;
    }
}

static int start(void **state) {
    (void)state;
    log_set_sink(keep, kept);
    log_set_level(LOG_LEVEL_INFO);
    log_set_format(LOG_FORMAT_TEXT);
    kept[0] = 0;
    lines_seen = 0;
    return 0;
}

static void assert_kept(const char *pattern) {
    regex_t expression;
    assert_int_equal(regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&expression, kept, 0, NULL, 0) != 0) fail_msg("'%s' does not match '%s'", kept, pattern);
    regfree(&expression);
}

#define STAMP "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"

static void text_lines(void **state) {
    (void)state;
    log_info("job accepted", LOG_JOB("porep-1000-1"), LOG_COUNT("partitions", 10), LOG_SIGNED("delta", -3),
             LOG_REAL("seconds", 1.23456), LOG_BOOL("fresh", true), LOG_TEXT("absent", NULL));
    assert_kept("^" STAMP
                "  INFO job accepted job=porep-1000-1 partitions=10 delta=-3 seconds=1\\.235 fresh=true\n$");
    log_error("no fields");
    assert_kept("^" STAMP " ERROR no fields\n$");
    log_warn("reals", LOG_REAL("a", NAN), LOG_REAL("b", INFINITY), LOG_REAL("c", 1e300));
    assert_kept("a=nan b=inf c=1\\.000e\\+300\n$");
}

static void hostile_text(void **state) {
    (void)state;
    const char *const values[][2] = {
        {"", "v=\"\"\n$"},
        {"a b", "v=\"a b\"\n$"},
        {"x=y", "v=\"x=y\"\n$"},
        {"a\"b\\c", "v=\"a\\\\\"b\\\\\\\\c\"\n$"},
        {"line\nforged INFO", "v=\"line\\\\nforged INFO\"\n$"},
        {"\r\t\x1b[31m\x7f", "v=\"\\\\r\\\\t\\\\u\\{1b\\}\\[31m\\\\u\\{7f\\}\"\n$"},
        {"\xff\xc0\x80", "v=\"\\\\xff\\\\xc0\\\\x80\"\n$"},
        {"\xed\xa0\x80", "v=\"\\\\xed\\\\xa0\\\\x80\"\n$"},            /* a surrogate */
        {"\xf4\x90\x80\x80", "v=\"\\\\xf4\\\\x90\\\\x80\\\\x80\"\n$"}, /* above U+10FFFF */
        {"cut \xe2\x82", "v=\"cut \\\\xe2\\\\x82\"\n$"},
        {"\xe2\x80\xae"
         "evil",
         "v=\"\\\\u\\{202e\\}evil\"\n$"}, /* turns the direction */
        {"\xc2\x9b"
         "31m",
         "v=\"\\\\u\\{9b\\}31m\"\n$"}, /* a C1 control */
        {"caf\xc3\xa9 \xf0\x9f\x90\x9f", "v=\"caf\xc3\xa9 \xf0\x9f\x90\x9f\"\n$"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        log_info("m", LOG_TEXT("v", values[i][0]));
        assert_kept(values[i][1]);
    }
    log_info("two\nlines \xff");
    assert_kept("INFO two\\\\nlines \\\\xff\n$");
}

static yajl_val kept_json(void) {
    char why[256];
    yajl_val v = yajl_tree_parse(kept, why, sizeof why);
    if (!v) fail_msg("%s in: %s", why, kept);
    return v;
}

static const char *json_text(yajl_val v, const char *key) {
    const char *path[] = {key, NULL};
    yajl_val found = yajl_tree_get(v, path, yajl_t_string);
    assert_non_null(found);
    return YAJL_GET_STRING(found);
}

static void json_lines(void **state) {
    (void)state;
    log_set_format(LOG_FORMAT_JSON);
    log_warn("a \"quoted\" message", LOG_JOB("j\n1"), LOG_COUNT("n", UINT64_MAX), LOG_REAL("r", NAN),
             LOG_BOOL("b", false), LOG_TEXT("bad", "\xff\x01\xe2\x80\xa8z"));
    assert_kept("^\\{\"timestamp\":\"" STAMP "\",\"level\":\"WARN\",");
    assert_kept(",\"n\":18446744073709551615,\"r\":null,\"b\":false,");
    yajl_val v = kept_json();
    assert_string_equal(json_text(v, "message"), "a \"quoted\" message");
    assert_string_equal(json_text(v, "job"), "j\n1");
    assert_string_equal(json_text(v, "bad"), "\xef\xbf\xbd\x01\xe2\x80\xa8z");
    yajl_tree_free(v);
}

/* Whatever is logged, the line ends and is well formed. */
static void long_lines_are_cut(void **state) {
    (void)state;
    char *big = malloc(100001);
    assert_non_null(big);
    memset(big, 1, 100000);
    big[100000] = 0;
    log_info("m", LOG_TEXT("a", big));
    assert_kept("\\.\\.\\.\\(100000 bytes\\)\"\n$");
    log_info("m", LOG_TEXT("a", big), LOG_TEXT("b", big), LOG_COUNT("n", 7));
    assert_kept(" truncated=true\n$");
    log_set_format(LOG_FORMAT_JSON);
    log_info(big, LOG_TEXT("a", big), LOG_TEXT("b", big), LOG_TEXT("c", "short"));
    assert_kept(",\"truncated\":true\\}\n$");
    yajl_tree_free(kept_json());
    free(big);
}

static unsigned evaluated;
static const char *evaluate(void) {
    evaluated++;
    return "x";
}

static void levels(void **state) {
    (void)state;
    log_debug("unseen", LOG_TEXT("v", evaluate()));
    assert_int_equal(lines_seen, 0);
    assert_int_equal(evaluated, 0);
    log_set_level(LOG_LEVEL_DEBUG);
    log_debug("seen", LOG_TEXT("v", evaluate()));
    assert_int_equal(lines_seen, 1);
    assert_int_equal(evaluated, 1);
    log_set_level(LOG_LEVEL_OFF);
    log_error("unseen");
    assert_int_equal(lines_seen, 1);
    log_set_level(LOG_LEVEL_TRACE);
    log_set_sink(NULL, NULL);
    log_error("unseen", LOG_TEXT("v", evaluate()));
    log_write(LOG_LEVEL_ERROR, "unseen", NULL, 0);
    assert_int_equal(lines_seen, 1);
    assert_int_equal(evaluated, 1);

    static const char *const names[] = {"off", "error", "warn", "info", "debug", "trace"};
    log_level level;
    for (unsigned i = 0; i < 6; i++) {
        assert_true(log_level_parse(&level, names[i]));
        assert_int_equal(level, i);
        assert_string_equal(log_level_name(level), names[i]);
    }
    assert_false(log_level_parse(&level, "INFO"));
    assert_false(log_level_parse(&level, ""));
}

/* In one second at most `most` pass; the next that passes tells how many did not. */
static void floods_are_limited(void **state) {
    (void)state;
    static log_limit limit;
    unsigned sent = 0;
    uint64_t told = 0, dropped;
    for (unsigned round = 0; round < 1000; round++) {
        sent++;
        if (log_limit_pass(&limit, 5, &dropped)) {
            lines_seen++;
            told += dropped;
        }
    }
    assert_true(lines_seen >= 5 && lines_seen < 1000);
    assert_int_equal(lines_seen + told + atomic_load(&limit.dropped), sent);
    atomic_store(&limit.window, 0); /* as if a second had passed */
    LOG_LIMITED(&limit, 5, LOG_LEVEL_WARN, "flood", LOG_COUNT("open", 9));
    assert_kept(" WARN flood dropped=[1-9][0-9]* open=9\n$");
    assert_int_equal(atomic_load(&limit.dropped), 0);
}

#define WRITERS 4
#define WRITES  500

typedef struct count {
    unsigned lines, bad, each[WRITERS];
} count;

static void count_line(void *context, log_level level, const char *line, size_t size) {
    (void)level;
    count *c = context;
    unsigned writer, i, again;
    char copy[256];
    snprintf(copy, sizeof copy, "%.*s", (int)size, line);
    const char *fields = strstr(copy, " work ");
    c->lines++;
    if (!fields || sscanf(fields, " work writer=%u i=%u again=%u\n", &writer, &i, &again) != 3 ||
        i != again || writer >= WRITERS || i != c->each[writer]++)
        c->bad++;
}

static void *write_many(void *context) {
    unsigned writer = *(unsigned *)context;
    for (unsigned i = 0; i < WRITES; i++)
        log_info("work", LOG_COUNT("writer", writer), LOG_COUNT("i", i), LOG_COUNT("again", i));
    return NULL;
}

static void threads_do_not_interleave(void **state) {
    (void)state;
    count c = {0};
    pthread_t threads[WRITERS];
    unsigned ids[WRITERS];
    log_set_sink(count_line, &c);
    for (unsigned i = 0; i < WRITERS; i++) {
        ids[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &ids[i]), 0);
    }
    log_set_level(LOG_LEVEL_DEBUG); /* while they write */
    for (unsigned i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
    log_set_sink(NULL, NULL);
    assert_int_equal(c.lines, WRITERS * WRITES);
    assert_int_equal(c.bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(text_lines, start),
        cmocka_unit_test_setup(hostile_text, start),
        cmocka_unit_test_setup(json_lines, start),
        cmocka_unit_test_setup(long_lines_are_cut, start),
        cmocka_unit_test_setup(levels, start),
        cmocka_unit_test_setup(floods_are_limited, start),
        cmocka_unit_test_setup(threads_do_not_interleave, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
