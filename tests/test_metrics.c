/*
 * The metrics text is valid exposition format, checked by a small parser of it: HELP and TYPE before the
 * samples of a metric, samples of a metric together, names, labels and values well formed, no sample twice,
 * histograms cumulative and complete. And it says what the counters say.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "server/metric_names.h"
#include "server/metrics.h"

static server_stats stats;

/* --- a parser of the format ------------------------------------------------------------------------------
 */

#define MOST_SAMPLES 4096

typedef struct sample {
    char name[128];   /* as written, with _bucket and the like */
    char labels[512]; /* without le, as written */
    char le[32];      /* "" without */
    double value;
} sample;

typedef struct exposition {
    sample samples[MOST_SAMPLES];
    size_t n;
    char why[256]; /* "" when it is valid */
} exposition;

static bool name_char(char c, bool first) {
    return c == '_' || c == ':' || isalpha((unsigned char)c) || (!first && isdigit((unsigned char)c));
}

static size_t name_length(const char *p) {
    size_t n = 0;
    while (name_char(p[n], n == 0)) n++;
    return n;
}

/* One label, NAME="VALUE" with escapes; returns what follows it, NULL when malformed. */
static const char *read_label(const char *p, sample *s) {
    size_t n = name_length(p);
    const char *start = p;
    if (n == 0 || memchr(p, ':', n) || p[n] != '=' || p[n + 1] != '"') return NULL;
    const char *value = p + n + 2;
    for (p = value; *p != '"'; p++) {
        if (*p == 0 || *p == '\n') return NULL;
        if (*p == '\\' && !strchr("\\\"n", *++p)) return NULL;
    }
    if (n == 2 && strncmp(start, "le", 2) == 0)
        snprintf(s->le, sizeof s->le, "%.*s", (int)(p - value), value);
    else {
        size_t used = strlen(s->labels);
        snprintf(s->labels + used, sizeof s->labels - used, "%.*s;", (int)(p + 1 - start), start);
    }
    return p + 1;
}

static const char *read_sample(const char *p, sample *s) {
    memset(s, 0, sizeof *s);
    size_t n = name_length(p);
    if (n == 0 || n >= sizeof s->name) return NULL;
    memcpy(s->name, p, n);
    p += n;
    if (*p == '{') {
        do {
            if (!(p = read_label(p + 1, s))) return NULL;
        } while (*p == ',');
        if (*p++ != '}') return NULL;
    }
    if (*p++ != ' ' || isspace((unsigned char)*p)) return NULL;
    char *end;
    s->value = strtod(p, &end);
    return end == p || *end != '\n' ? NULL : end + 1;
}

/* Does a sample of this name belong to the metric? */
static bool belongs(const char *name, const char *metric, const char *type) {
    size_t n = strlen(metric);
    if (strncmp(name, metric, n) != 0) return false;
    const char *rest = name + n;
    if (strcmp(type, "histogram") == 0)
        return strcmp(rest, "_bucket") == 0 || strcmp(rest, "_sum") == 0 || strcmp(rest, "_count") == 0;
    return *rest == 0;
}

#define FAULT(...)                                                                                           \
    do {                                                                                                     \
        snprintf(e->why, sizeof e->why, __VA_ARGS__);                                                        \
        return;                                                                                              \
    } while (0)

/* Buckets of one histogram and label set in a row: bounds ascend, counts do not fall, +Inf closes them, _sum
 * and _count follow, and _count is the last bucket. */
static void check_histograms(exposition *e) {
    for (size_t i = 0; i < e->n; i++) {
        const sample *s = &e->samples[i];
        size_t n = strlen(s->name);
        if (n < 8 || strcmp(s->name + n - 7, "_bucket") != 0) continue;
        double bound = -1, below = -1;
        size_t k = i;
        for (; k < e->n && strcmp(e->samples[k].name, s->name) == 0 &&
               strcmp(e->samples[k].labels, s->labels) == 0;
             k++) {
            double next = strtod(e->samples[k].le, NULL);
            if (!*e->samples[k].le || next <= bound) FAULT("%s: bound %s", s->name, e->samples[k].le);
            if (e->samples[k].value < below) FAULT("%s: bucket %s falls", s->name, e->samples[k].le);
            bound = next;
            below = e->samples[k].value;
        }
        if (strcmp(e->samples[k - 1].le, "+Inf") != 0) FAULT("%s: no +Inf", s->name);
        char sum[160], count[160];
        snprintf(sum, sizeof sum, "%.*s_sum", (int)n - 7, s->name);
        snprintf(count, sizeof count, "%.*s_count", (int)n - 7, s->name);
        if (k + 1 >= e->n || strcmp(e->samples[k].name, sum) != 0 ||
            strcmp(e->samples[k].labels, s->labels) != 0)
            FAULT("%s: no sum", s->name);
        if (strcmp(e->samples[k + 1].name, count) != 0 || e->samples[k + 1].value < below ||
            e->samples[k + 1].value > below)
            FAULT("%s: count", s->name);
        i = k + 1;
    }
}

static void read_exposition(exposition *e, const char *text) {
    memset(e, 0, sizeof *e);
    char metric[128] = "", type[32] = "", helped[128] = "", seen[128][128];
    size_t n_seen = 0;
    if (!*text || text[strlen(text) - 1] != '\n') FAULT("the last line does not end");
    for (const char *p = text; *p;) {
        const char *line = p;
        if (strncmp(p, "# HELP ", 7) == 0) {
            if (sscanf(p + 7, "%127[a-zA-Z0-9_:] ", helped) != 1) FAULT("bad HELP");
            p = strchr(p, '\n') + 1;
        } else if (strncmp(p, "# TYPE ", 7) == 0) {
            char rest[8] = "";
            if (sscanf(p + 7, "%127[a-zA-Z0-9_:] %31[a-z]%7[\n]", metric, type, rest) != 3) FAULT("bad TYPE");
            if (strcmp(metric, helped) != 0) FAULT("%s has no HELP before TYPE", metric);
            for (size_t i = 0; i < n_seen; i++)
                if (strcmp(seen[i], metric) == 0) FAULT("%s comes twice", metric);
            snprintf(seen[n_seen++ % 128], sizeof seen[0], "%s", metric);
            p = strchr(p, '\n') + 1;
        } else {
            if (e->n == MOST_SAMPLES) FAULT("too many");
            sample *s = &e->samples[e->n];
            p = read_sample(p, s);
            if (!p) FAULT("no sample: %.60s", line);
            if (!belongs(s->name, metric, type)) FAULT("%s stands under %s", s->name, metric);
            for (size_t i = 0; i < e->n; i++)
                if (strcmp(e->samples[i].name, s->name) == 0 &&
                    strcmp(e->samples[i].labels, s->labels) == 0 && strcmp(e->samples[i].le, s->le) == 0)
                    FAULT("%s%s comes twice", s->name, s->labels);
            e->n++;
        }
    }
    check_histograms(e);
}

static exposition parsed;

static double value(const char *name, const char *labels, const char *le) {
    for (size_t i = 0; i < parsed.n; i++) {
        const sample *s = &parsed.samples[i];
        if (strcmp(s->name, name) == 0 && strcmp(s->labels, labels) == 0 && strcmp(s->le, le) == 0)
            return s->value;
    }
    fail_msg("no %s{%s%s}", name, labels, le);
    return 0;
}

static bool present(const char *name) {
    for (size_t i = 0; i < parsed.n; i++)
        if (strcmp(parsed.samples[i].name, name) == 0) return true;
    return false;
}

static char *text_of(const engine_snapshot *s) {
    char *text;
    size_t size;
    assert_int_equal(metrics_text(&text, &size, s, &stats, NULL), CUZK_OK);
    assert_int_equal(strlen(text), size);
    return text;
}

static void read_metrics(const engine_snapshot *s) {
    char *text = text_of(s);
    read_exposition(&parsed, text);
    assert_string_equal(parsed.why, "");
    free(text);
}

/* --- tests ------------------------------------------------------------------------------------------------
 */

static void parser_finds_faults(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"# HELP a b\n# TYPE a counter\na 1\n", ""},
        {"# HELP a b\n# TYPE a counter\na{x=\"1\",y=\"\\\\\\\"\\n\"} 1\n", ""},
        {"# HELP a b\n# TYPE a counter\na 1", "does not end"},
        {"# TYPE a counter\na 1\n", "no HELP"},
        {"# HELP a b\n# TYPE a counter\nb 1\n", "stands under"},
        {"# HELP a b\n# TYPE a counter\na 1\na 2\n", "twice"},
        {"# HELP a b\n# TYPE a counter\na{x=\"1} 1\n", "no sample"},
        {"# HELP a b\n# TYPE a counter\na{x=\"\\t\"} 1\n", "no sample"},
        {"# HELP a b\n# TYPE a counter\na{1x=\"\"} 1\n", "no sample"},
        {"# HELP a b\n# TYPE a counter\na  1\n", "no sample"},
        {"# HELP a b\n# TYPE a counter\na one\n", "no sample"},
        {"# HELP a b\n# TYPE a histogram\na 1\n", "stands under"},
        {"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n", "no +Inf"},
        {"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count "
         "1\n",
         "falls"},
        {"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count "
         "2\n",
         "count"},
        {"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_count 1\n",
         "no sum"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        read_exposition(&parsed, cases[i].text);
        if (*cases[i].why ? !strstr(parsed.why, cases[i].why) : *parsed.why != 0)
            fail_msg("case %zu: \"%s\" instead of \"%s\"", i, parsed.why, cases[i].why);
    }
}

static void every_scene_is_valid(void **state) {
    (void)state;
    for (scene kind = SCENE_EMPTY; kind <= SCENE_HOSTILE; kind++) {
        engine_snapshot s;
        scene_make(&s, kind, 50);
        read_metrics(&s);
        scene_free(&s);
    }
}

/* What dashboards of the reference ask for. */
static void reference_names_are_kept(void **state) {
    (void)state;
    engine_snapshot s;
    scene_make(&s, SCENE_BUSY, 5);
    read_metrics(&s);
    static const char *const plain[] = {"cuzk_proofs_completed_total", "cuzk_proofs_failed_total",
                                        "cuzk_uptime_seconds",         "cuzk_queue_depth",
                                        "cuzk_running_jobs",           "cuzk_gpu_workers"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) value(plain[i], "", "");
    value("cuzk_proofs_completed", "proof_kind=\"porep_c2\";", "");
    value("cuzk_proofs_failed", "proof_kind=\"porep_c2\";", "");
    value("cuzk_proof_duration_seconds_count", "proof_kind=\"porep_c2\";", "");
    value("cuzk_proof_duration_seconds_sum", "proof_kind=\"porep_c2\";", "");
    scene_free(&s);
}

/* Everything the list names has a TYPE line, and a sample unless its labels have no values yet. */
#define NAME(id, type, name, labels, help) name,
static void the_list_is_complete(void **state) {
    (void)state;
    static const char *const names[] = {METRIC_NAMES(NAME)};
    engine_snapshot s;
    scene_make(&s, SCENE_BUSY, 5);
    char *text = text_of(&s);
    read_exposition(&parsed, text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char line[160], bucket[160];
        snprintf(line, sizeof line, "# TYPE %s ", names[i]);
        snprintf(bucket, sizeof bucket, "%s_bucket", names[i]);
        assert_non_null(strstr(text, line));
        assert_true(present(names[i]) || present(bucket));
    }
    free(text);
    scene_free(&s);
}

static void values_are_those_of_the_counters(void **state) {
    (void)state;
    engine_snapshot s;
    scene_make(&s, SCENE_EMPTY, 0);
    engine_counters *c = &s.counters;
    c->completed[JOB_POREP] = 5;
    c->completed[JOB_WINNING_POST] = 7;
    c->failed[JOB_WINNING_POST] = 2;
    c->cancelled[JOB_POREP] = 3;
    c->pending[JOB_POREP] = 11;
    c->running[JOB_POREP] = 2;
    c->running[JOB_WINNING_POST] = 1;
    c->queued_by_priority[JOB_CRITICAL] = 4;
    c->cores_busy = 31;
    c->memory_used = UINT64_MAX;
    c->draining = true;
    c->core_seconds[STAGE_PROVE] = 1.5;
    c->stage[STAGE_SYNTHESIS] =
        (engine_histogram){.counts = {[0] = 1, [3] = 2, [ENGINE_BUCKETS - 1] = 4}, .count = 7, .sum = 1234.5};
    c->total[JOB_POREP].counts[2] = 9;
    atomic_store(&stats.refused[REFUSED_QUEUE_FULL], 6);
    read_metrics(&s);
    assert_true(value("cuzk_proofs_completed_total", "", "") == 12);
    assert_true(value("cuzk_proofs_failed_total", "", "") == 2);
    assert_true(value("cuzk_proofs_completed", "proof_kind=\"winning_post\";", "") == 7);
    assert_true(value("cuzk_proofs_cancelled", "proof_kind=\"porep_c2\";", "") == 3);
    assert_true(value("cuzk_queue_depth", "", "") == 11);
    assert_true(value("cuzk_running_jobs", "", "") == 3);
    assert_true(value("cuzk_jobs", "proof_kind=\"porep_c2\";state=\"queued\";", "") == 11);
    assert_true(value("cuzk_jobs_by_priority", "priority=\"critical\";", "") == 4);
    assert_true(value("cuzk_cores_busy", "", "") == 31);
    assert_true(value("cuzk_memory_used_bytes", "", "") == 18446744073709551615.0);
    assert_true(value("cuzk_draining", "", "") == 1);
    assert_true(value("cuzk_core_seconds_total", "phase=\"prove\";", "") == 1.5);
    assert_true(value("cuzk_requests_refused_total", "reason=\"queue_full\";", "") == 6);
    const char *phase = "phase=\"synthesis\";";
    assert_true(value("cuzk_phase_duration_seconds_bucket", phase, "0.001") == 1);
    assert_true(value("cuzk_phase_duration_seconds_bucket", phase, "0.004") == 1);
    assert_true(value("cuzk_phase_duration_seconds_bucket", phase, "0.008") == 3);
    assert_true(value("cuzk_phase_duration_seconds_bucket", phase, "262.144") == 3);
    assert_true(value("cuzk_phase_duration_seconds_bucket", phase, "+Inf") == 7);
    assert_true(value("cuzk_phase_duration_seconds_sum", phase, "") == 1234.5);
    assert_true(value("cuzk_proof_duration_seconds_count", "proof_kind=\"porep_c2\";", "") == 9);
    atomic_store(&stats.refused[REFUSED_QUEUE_FULL], 0);
    scene_free(&s);
}

static void label_values_are_escaped(void **state) {
    (void)state;
    server_stats odd;
    server_stats_init(&odd, 2);
    odd.build.version = "a\"b\\c\nd";
    engine_snapshot s;
    scene_make(&s, SCENE_EMPTY, 0);
    char *text;
    size_t size;
    assert_int_equal(metrics_text(&text, &size, &s, &odd, NULL), CUZK_OK);
    read_exposition(&parsed, text);
    assert_string_equal(parsed.why, "");
    assert_non_null(strstr(text, "version=\"a\\\"b\\\\c\\nd\""));
    free(text);
    scene_free(&s);
}

int main(void) {
    server_stats_init(&stats, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parser_finds_faults),
        cmocka_unit_test(every_scene_is_valid),
        cmocka_unit_test(reference_names_are_kept),
        cmocka_unit_test(the_list_is_complete),
        cmocka_unit_test(values_are_those_of_the_counters),
        cmocka_unit_test(label_values_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
