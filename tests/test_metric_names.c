/*
 * The dashboard and the alert rules of dist/ name metrics of the list and nothing else; a histogram is named
 * by its parts. The dashboard is JSON, and its panels have what Grafana needs of them.
 */
#include <ctype.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "server/metric_names.h"

typedef enum metric_type { COUNTER, GAUGE, HISTOGRAM } metric_type;

typedef struct metric {
    metric_type type;
    const char *name, *labels, *help;
} metric;

#define ENTRY(identifier, type, name, labels, help) {type, name, labels, help},
static const metric metrics[] = {METRIC_NAMES(ENTRY)};
#define METRICS (sizeof metrics / sizeof metrics[0])

static char *read_file(const char *name) {
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

static bool exposed(const char *name, size_t length) {
    static const char *const parts[] = {"_bucket", "_sum", "_count"};
    for (size_t i = 0; i < METRICS; i++) {
        size_t own = strlen(metrics[i].name);
        if (length < own || strncmp(metrics[i].name, name, own) != 0) continue;
        if (metrics[i].type != HISTOGRAM && length == own) return true;
        for (unsigned p = 0; metrics[i].type == HISTOGRAM && p < 3; p++)
            if (length == own + strlen(parts[p]) && strncmp(name + own, parts[p], strlen(parts[p])) == 0)
                return true;
    }
    return false;
}

/* Every word cuzk_... of a text; returns how many there are. */
static unsigned check_names(const char *text, const char *where) {
    unsigned found = 0;
    for (const char *p = text; (p = strstr(p, "cuzk_")) != NULL;) {
        size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
        bool begins = p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        if (begins && !exposed(p, length)) fail_msg("%s: %.*s is no metric", where, (int)length, p);
        found += begins;
        p += length;
    }
    return found;
}

static void rules_name_metrics_of_the_list(void **state) {
    (void)state;
    char *text = read_file("dist/alerts.yml");
    assert_true(check_names(text, "alerts.yml") > 5);
    assert_non_null(strstr(text, "cuzk_self_check_failures_total"));
    free(text);
}

static yajl_val get(yajl_val v, const char *key, yajl_type type) {
    const char *path[] = {key, NULL};
    yajl_val found = yajl_tree_get(v, path, type);
    if (!found) fail_msg("a panel lacks '%s'", key);
    return found;
}

static void dashboard_names_metrics_of_the_list(void **state) {
    (void)state;
    char why[256] = "", *text = read_file("dist/grafana.json");
    yajl_val dashboard = yajl_tree_parse(text, why, sizeof why);
    if (!dashboard) fail_msg("grafana.json: %s", why);
    assert_true(check_names(text, "grafana.json") > 10);
    yajl_val panels = get(dashboard, "panels", yajl_t_array);
    assert_true(YAJL_GET_ARRAY(panels)->len > 5);
    for (size_t i = 0; i < YAJL_GET_ARRAY(panels)->len; i++) {
        yajl_val panel = YAJL_GET_ARRAY(panels)->values[i];
        assert_int_equal(YAJL_GET_INTEGER(get(panel, "id", yajl_t_number)), i + 1);
        get(panel, "title", yajl_t_string);
        get(panel, "gridPos", yajl_t_object);
        yajl_val targets = get(panel, "targets", yajl_t_array);
        assert_true(YAJL_GET_ARRAY(targets)->len > 0);
        for (size_t t = 0; t < YAJL_GET_ARRAY(targets)->len; t++) {
            yajl_val target = YAJL_GET_ARRAY(targets)->values[t];
            const char *expression = YAJL_GET_STRING(get(target, "expr", yajl_t_string));
            assert_true(check_names(expression, "a panel") > 0);
            assert_non_null(strstr(expression, "instance=~\"$instance\""));
        }
    }
    yajl_tree_free(dashboard);
    free(text);
}

/* Prometheus's own rules for names. */
static void names_are_well_formed(void **state) {
    (void)state;
    for (size_t i = 0; i < METRICS; i++) {
        const char *name = metrics[i].name;
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
        assert_int_equal(strncmp(name, "cuzk_", 5), 0);
        assert_true(*metrics[i].help && metrics[i].help[strlen(metrics[i].help) - 1] != '.');
        assert_int_equal(strspn(metrics[i].labels, "abcdefghijklmnopqrstuvwxyz_,"),
                         strlen(metrics[i].labels));
        for (size_t j = 0; j < i; j++) assert_string_not_equal(name, metrics[j].name);
    }
    /* what the check above is good for */
    assert_true(exposed("cuzk_uptime_seconds", 19));
    assert_false(exposed("cuzk_uptime_second", 18));
    assert_false(exposed("cuzk_phase_duration_seconds", 27));
    assert_true(exposed("cuzk_phase_duration_seconds_bucket", 34));
    assert_false(exposed("cuzk_uptime_seconds_sum", 23));
}

static void every_metric_is_documented(void **state) {
    (void)state;
    static const char *const types[] = {"counter", "gauge", "histogram"};
    char *text = read_file("docs/operations.md");
    for (size_t i = 0; i < METRICS; i++) {
        char row[512], labels[128] = "";
        for (const char *p = metrics[i].labels; *p; p++) {
            size_t used = strlen(labels);
            snprintf(labels + used, sizeof labels - used, *p == ',' ? ", " : "%c", *p);
        }
        snprintf(row, sizeof row, "\n| `%s` | %s | %s | %s |\n", metrics[i].name, types[metrics[i].type],
                 labels, metrics[i].help);
        if (!strstr(text, row)) fail_msg("docs/operations.md lacks the row:%s", row);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_name_metrics_of_the_list),
        cmocka_unit_test(dashboard_names_metrics_of_the_list),
        cmocka_unit_test(names_are_well_formed),
        cmocka_unit_test(every_metric_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
