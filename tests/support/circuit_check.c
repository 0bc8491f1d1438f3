#include "circuit_check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#include "r1cs/digest.h"
#include "r1cs/dump.h"

static void print_difference(void *ctx, const r1cs_difference *d) {
    print_error("%s: %s[%zu] is %s, expected %s (%s)\n", (const char *)ctx, d->figure, d->index, d->found,
                d->expected, d->path ? d->path : "");
}

/* A digest file of the reference has every figure, so its text is what we write, but for the end of line. */
static void compare_json(const r1cs_digest *structure, const assignment_digest *values,
                         const char *expected) {
    char *found;
    size_t size, length = strlen(expected);
    assert_int_equal(r1cs_digest_to_json(&found, &size, structure, values, NULL), CUZK_OK);
    while (length > 0 && expected[length - 1] == '\n') length--;
    while (size > 0 && found[size - 1] == '\n') size--;
    assert_int_equal(size, length);
    assert_memory_equal(found, expected, size);
    free(found);
}

void check_digest(const r1cs_circuit *circuit, const char *name) {
    cuzk_error err;
    r1cs_digest structure;
    assignment values;
    assignment_digest values_digest;
    if (r1cs_digest_create(&structure, circuit, NULL, NULL, &err)) fail_msg("%s: %s", name, err.message);
    if (assignment_create(&values, circuit, NULL, &err)) fail_msg("%s: %s", name, err.message);
    assert_int_equal(assignment_first_unsatisfied(&values), UINT64_MAX);
    assert_int_equal(assignment_digest_create(&values_digest, &values, NULL, &err), CUZK_OK);
    assert_int_equal(values.a_aux_count, structure.a_aux.count);
    assert_int_equal(values.b_aux_count, structure.b_aux.count);
    assert_int_equal(values.b_input_count, structure.b_input.count);
    assignment_free(&values);

    size_t size, differences;
    char *json = fixture_read(name, &size);
    if (r1cs_digest_compare(&structure, &values_digest, json, size, name, print_difference,
                            (void *)(uintptr_t)name, &differences, &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(differences, 0);
    if (strstr(json, "\"format\"")) compare_json(&structure, &values_digest, json);
    free(json);
    r1cs_digest_free(&structure);
    assignment_digest_free(&values_digest);
}

void check_structure(const r1cs_circuit *circuit, const char *name) {
    cuzk_error err;
    r1cs_digest structure;
    if (r1cs_digest_create(&structure, circuit, NULL, NULL, &err)) fail_msg("%s: %s", name, err.message);
    size_t size, differences;
    char *json = fixture_read(name, &size);
    if (r1cs_digest_compare(&structure, NULL, json, size, name, print_difference, (void *)(uintptr_t)name,
                            &differences, &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(differences, 0);
    free(json);
    r1cs_digest_free(&structure);
}

void check_figures(const r1cs_circuit *circuit, long long aux, long long constraints, const char *sha256) {
    cuzk_error err;
    r1cs_digest structure;
    if (r1cs_digest_create(&structure, circuit, NULL, NULL, &err))
        fail_msg("%s: %s", circuit->name, err.message);
    if (aux >= 0) assert_int_equal(structure.shape.aux, aux);
    if (constraints >= 0) assert_int_equal(structure.shape.constraints, constraints);
    assert_hex(structure.sha256, 32, sha256);
    r1cs_digest_free(&structure);
}

/* Cut the next line off *text, without its comment. */
static char *next_line(char **text) {
    char *line = strsep(text, "\n");
    size_t length = strlen(line);
    for (size_t i = 0; i + 2 < length; i++)
        if (memcmp(line + i, "  #", 3) == 0) {
            line[i] = 0;
            break;
        }
    return line;
}

static void compare_lines(char *found, char *expected, const char *name) {
    for (unsigned number = 1; found && expected; number++) {
        char *a = next_line(&found), *b = next_line(&expected);
        if (strcmp(a, b) != 0) fail_msg("%s line %u: found '%s', expected '%s'", name, number, a, b);
    }
    assert_true(!found && !expected);
}

void check_dump(const r1cs_circuit *circuit, const char *name) {
    char *found;
    size_t found_size, expected_size;
    FILE *out = open_memstream(&found, &found_size);
    assert_non_null(out);
    r1cs_dump_options options = {.values = true, .paths = true};
    cuzk_error err;
    if (r1cs_dump(out, circuit, &options, NULL, &err)) fail_msg("%s: %s", name, err.message);
    fclose(out);
    char *expected = fixture_read(name, &expected_size);
    compare_lines(found, expected, name);
    free(found);
    free(expected);
}

/* Where a namespace began. */
typedef struct open_space {
    uint64_t constraints;
    uint32_t aux, inputs;
} open_space;

typedef struct namespace_cs {
    cs base;
    cs_path path;
    open_space open[CS_PATH_DEPTH];
    const char *name, *line;
    unsigned line_number;
} namespace_cs;

#define SHOWN_DEPTH 3u

static void namespace_enter(cs *system, const char *name) {
    namespace_cs *n = (namespace_cs *)system;
    assert_true(n->path.depth < CS_PATH_DEPTH);
    n->open[n->path.depth] = (open_space){system->constraints, system->aux, system->inputs};
    cs_path_enter(&n->path, name);
}

static void namespace_leave(cs *system) {
    namespace_cs *n = (namespace_cs *)system;
    if (n->path.depth <= SHOWN_DEPTH) {
        const open_space *o = &n->open[n->path.depth - 1];
        char found[640];
        snprintf(found, sizeof found,
                 "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32,
                 n->path.text, o->constraints, system->constraints - o->constraints, o->aux,
                 system->aux - o->aux, o->inputs, system->inputs - o->inputs);
        size_t length = strcspn(n->line, "\n");
        if (strlen(found) != length || memcmp(found, n->line, length) != 0)
            fail_msg("%s line %u: found '%s', expected '%.*s'", n->name, n->line_number, found, (int)length,
                     n->line);
        n->line += length + (n->line[length] == '\n');
        n->line_number++;
    }
    cs_path_leave(&n->path);
}

void check_namespaces(const r1cs_circuit *circuit, const char *name) {
    static const cs_ops ops = {NULL, NULL, namespace_enter, namespace_leave};
    size_t size;
    char *text = fixture_read(name, &size);
    namespace_cs n = {.name = name, .line = text, .line_number = 1};
    while (*n.line == '#') {
        n.line += strcspn(n.line, "\n") + 1;
        n.line_number++;
    }
    cs_init(&n.base, &ops, false);
    cuzk_error err;
    if (cs_run(&n.base, circuit, "namespaces", NULL, &err)) fail_msg("%s: %s", name, err.message);
    cs_free(&n.base);
    assert_int_equal(n.path.depth, 0);
    assert_string_equal(n.line, "");
    free(text);
}
