/* cuzk-daemon config: what the settings are and where each comes from, without starting anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "settings.h"

typedef struct options {
    settings settings;
    bool json;
} options;

static const struct argp_option own_options[] = {
    {"json", 'j', NULL, 0, "Print the result, or the error, as one JSON object on stdout", 2}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->settings;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Parse the options and load; on failure the error is reported and *exit_status set. */
static config *load(int argc, char **argv, const char *doc, options *o, int *exit_status) {
    struct argp_child children[] = {{settings_argp(), 0, NULL, 0}, {0}};
    const struct argp argp = {own_options, parse, NULL, doc, children, NULL, NULL};
    config *c;
    cuzk_error err;
    argp_parse(&argp, argc, argv, 0, NULL, o);
    if (settings_load(&c, &o->settings, &err) == CUZK_OK) return c;
    common_options common = {.json = o->json};
    *exit_status = report_error(argv[0], &common, &err);
    return NULL;
}

static void print_warnings(const config *c) {
    for (size_t i = 0; i < c->warnings.count; i++) fprintf(stderr, "warning: %s\n", c->warnings.items[i]);
}

static void json_warnings(yajl_gen g, const config *c) {
    json_key(g, "warnings");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < c->warnings.count; i++)
        yajl_gen_string(g, (const unsigned char *)c->warnings.items[i], strlen(c->warnings.items[i]));
    yajl_gen_array_close(g);
}

static void dump_json(const config *c) {
    size_t n;
    const config_key *keys = config_keys(&n);
    yajl_gen g = json_begin();
    json_string(g, "file", c->file);
    json_key(g, "settings");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < n; i++) {
        const char *place;
        char *value = config_value_text(c, &keys[i]);
        if (!value) continue;
        yajl_gen_map_open(g);
        json_string(g, "key", keys[i].key);
        json_key(g, "value");
        yajl_gen_number(g, value, strlen(value)); /* as it is: TOML of these types is JSON too */
        json_string(g, "source", config_source_name(config_origin_of(c, &keys[i], &place)));
        json_string(g, "place", place);
        json_bool(g, "automatic", config_was_automatic(c, &keys[i]));
        yajl_gen_map_close(g);
        free(value);
    }
    yajl_gen_array_close(g);
    json_warnings(g, c);
    json_end(g);
}

static void dump_text(const config *c) {
    size_t n, section = 0;
    const char *current = "";
    const config_key *keys = config_keys(&n);
    printf("# file: %s\n", *c->file ? c->file : "none");
    for (size_t i = 0; i < n; i++) {
        const char *place;
        char *value = config_value_text(c, &keys[i]);
        if (!value) continue;
        size_t length = strcspn(keys[i].key, ".");
        if (length != section || strncmp(current, keys[i].key, length) != 0)
            printf("\n[%.*s]\n", (int)length, keys[i].key);
        current = keys[i].key;
        section = length;
        config_source source = config_origin_of(c, &keys[i], &place);
        int written = printf("%s = %s", keys[i].key + length + 1, value);
        printf("%*s# %s%s%s%s\n", written < 48 ? 48 - written : 2, "", config_source_name(source),
               *place ? " " : "", place, config_was_automatic(c, &keys[i]) ? ", auto" : "");
        free(value);
    }
}

static const char dump_doc[] = "Print every setting, with its source, as a settings file."
                               "\vExample:\n  cuzk-daemon config dump --config /etc/cuzk/cuzk.toml "
                               "--memory-budget 100GiB\n\n" EXIT_CODES_HELP;

int config_dump_main(int argc, char **argv) {
    options o = {.json = false};
    int exit_status = 0;
    config *c = load(argc, argv, dump_doc, &o, &exit_status);
    if (!c) return exit_status;
    if (o.json) {
        dump_json(c);
    } else {
        dump_text(c);
        print_warnings(c);
    }
    config_free(c);
    return 0;
}

static const char check_doc[] =
    "Check the settings: file, variables and flags. Exit code 0 when they are good."
    "\vExample:\n  cuzk-daemon config check --config /etc/cuzk/cuzk.toml\n\n" EXIT_CODES_HELP;

int config_check_main(int argc, char **argv) {
    options o = {.json = false};
    int exit_status = 0;
    config *c = load(argc, argv, check_doc, &o, &exit_status);
    if (!c) return exit_status;
    if (o.json) {
        yajl_gen g = json_begin();
        json_string(g, "file", c->file);
        json_bool(g, "ok", true);
        json_warnings(g, c);
        json_end(g);
    } else {
        print_warnings(c);
        printf("%s: ok\n", *c->file ? c->file : "no file at " CONFIG_DEFAULT_PATH ", defaults");
    }
    config_free(c);
    return 0;
}

/* The two texts made from the table alone. */
static int print_text(int argc, char **argv, const char *doc, char *(*make)(void)) {
    const struct argp argp = {NULL, NULL, NULL, doc, NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    char *text = make();
    if (!text || fputs(text, stdout) == EOF || fflush(stdout) != 0) {
        cuzk_error err;
        common_options common = {.json = false};
        free(text);
        error_set(&err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "cannot write the text");
        return report_error(argv[0], &common, &err);
    }
    free(text);
    return 0;
}

int config_example_main(int argc, char **argv) {
    return print_text(argc, argv,
                      "Print a settings file with every key, its meaning and its default."
                      "\vExample:\n  cuzk-daemon config example > /etc/cuzk/cuzk.toml",
                      config_example_text);
}

int config_reference_main(int argc, char **argv) {
    return print_text(argc, argv,
                      "Print all settings as a table in Markdown."
                      "\vExample:\n  cuzk-daemon config reference | less",
                      config_reference_text);
}
