/* cuzk r1cs digest: what a circuit is, in numbers that can be compared with another implementation's. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/pool.h"
#include "api/internal.h"
#include "circuit/porep.h"
#include "filecoin/sector.h"
#include "r1cs/digest.h"

enum { KEY_C1 = 1, KEY_CIRCUIT, KEY_PARTITION, KEY_EXPECT };

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "The circuit of this phase-1 output, with its witness", 1},
    {"partition", KEY_PARTITION, "K", 0, "Which partition of the C1 (default 0)", 1},
    {"circuit", KEY_CIRCUIT, "NAME", 0,
     "The structure alone: porep-2k, porep-8m, porep-512m, porep-32g, porep-64g", 1},
    {"expect", KEY_EXPECT, "FILE", 0,
     "Compare with a digest.json; names the first block and namespace that differ", 1},
    {0}};

typedef struct arguments {
    common_options common;
    const char *c1, *circuit, *expect;
    unsigned partition;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_C1:
        a->c1 = arg;
        return 0;
    case KEY_CIRCUIT:
        if (!sector_by_porep_name(arg) || !catalog_find(arg))
            argp_error(
                state,
                "unknown circuit '%s', expected porep-2k, porep-8m, porep-512m, porep-32g or porep-64g", arg);
        a->circuit = arg;
        return 0;
    case KEY_PARTITION:
        a->partition = (unsigned)option_u64(arg, 0, 125, "--partition", state);
        return 0;
    case KEY_EXPECT:
        a->expect = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->c1 == !a->circuit) argp_error(state, "give exactly one of --c1 and --circuit");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options,
                                 parse,
                                 NULL,
                                 "Synthesize a circuit and print its sizes, nonzero terms, densities and the "
                                 "SHA-256 of all its constraints; with a C1 "
                                 "also the digests of the witness and of the values of A, B and C. The "
                                 "circuits of 32 and 64 GiB sectors have 130 million "
                                 "constraints and take a few minutes.\v"
                                 "Examples:\n"
                                 "  cuzk r1cs digest --circuit porep-32g\n"
                                 "  cuzk r1cs digest --c1 c1.json --expect digest.json\n\n"
                                 "A comparison that finds a difference exits with 3.\n" EXIT_CODES_HELP,
                                 common_children,
                                 NULL,
                                 NULL};

/* Everything one run computes. */
typedef struct digests {
    r1cs_digest structure;
    assignment_digest values;
    bool has_values;
} digests;

static cuzk_code digest_c1(digests *out, const arguments *a, pool *p, const cuzk_progress *progress,
                           cuzk_error *err) {
    c1 *sector;
    TRY(c1_read(&sector, a->c1, err));
    cuzk_code code = CUZK_OK;
    if (a->partition >= sector->partitions)
        code = error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "--partition %u, expected 0 to %u",
                         a->partition, sector->partitions - 1);
    porep_circuit partition;
    r1cs_circuit circuit;
    if (code == CUZK_OK) {
        porep_of_c1(&partition, &circuit, sector, a->partition);
        code = r1cs_digest_create(&out->structure, &circuit, p, progress, err);
        assignment w;
        if (code == CUZK_OK) code = assignment_create(&w, &circuit, progress, err);
        if (code == CUZK_OK) {
            code = assignment_digest_create(&out->values, &w, p, err);
            out->has_values = code == CUZK_OK;
            assignment_free(&w);
        }
    }
    c1_free(sector);
    return code;
}

static cuzk_code digest_circuit(digests *out, const arguments *a, pool *p, const cuzk_progress *progress,
                                cuzk_error *err) {
    porep_circuit blank;
    r1cs_circuit circuit;
    porep_shape shape = porep_shape_of(sector_by_porep_name(a->circuit));
    porep_blank(&blank, &circuit, &shape);
    return r1cs_digest_create(&out->structure, &circuit, p, progress, err);
}

static void print_vector(const char *name, const vector_digest *v) {
    char hex[65];
    printf("%-16s %s\n", name, format_hex(hex, v->sha256, 32));
}

static void print_text(const digests *d) {
    const r1cs_digest *s = &d->structure;
    char hex[65];
    printf("inputs           %u (ONE included)\n", s->shape.inputs);
    printf("aux              %u\n", s->shape.aux);
    printf("constraints      %" PRIu64 "\n", s->shape.constraints);
    printf("nonzero A, B, C  %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n", s->nnz[0], s->nnz[1], s->nnz[2]);
    printf("densities        a_aux %" PRIu64 ", b_input %" PRIu64 ", b_aux %" PRIu64 "\n", s->a_aux.count,
           s->b_input.count, s->b_aux.count);
    printf("r1cs_sha256      %s\n", format_hex(hex, s->sha256, 32));
    if (!d->has_values) return;
    print_vector("aux_sha256", &d->values.aux);
    print_vector("a_sha256", &d->values.a);
    print_vector("b_sha256", &d->values.b);
    print_vector("c_sha256", &d->values.c);
    printf("satisfied        %s\n", d->values.satisfied ? "yes, every constraint" : "NO");
}

/* With --circuit: is it the reference's? */
static void print_known(const arguments *a, const digests *d) {
    const char *known = a->circuit ? catalog_find(a->circuit)->r1cs_sha256 : NULL;
    char hex[65];
    if (!known) return;
    bool same = strcmp(known, format_hex(hex, d->structure.sha256, 32)) == 0;
    printf("reference        %s\n", same ? "the same digest" : known);
}

static void report_difference(void *ctx, const r1cs_difference *d) {
    unsigned *shown = ctx;
    if (++*shown > 10) return;
    char index[32] = "";
    if (d->is_list) snprintf(index, sizeof index, "[%zu]", d->index);
    fprintf(stderr, "%s%s: found %s, expected %s", d->figure, index, d->found, d->expected);
    if (d->constraint != UINT64_MAX)
        fprintf(stderr, " (from constraint %" PRIu64 "%s%s)", d->constraint, d->path ? ", in " : "",
                d->path ? d->path : "");
    fputc('\n', stderr);
}

static cuzk_code compare(const arguments *a, const digests *d, size_t *differences, cuzk_error *err) {
    file_map map;
    TRY(file_map_open(&map, a->expect, CUZK_ERR_INPUT, err));
    unsigned shown = 0;
    cuzk_code code =
        r1cs_digest_compare(&d->structure, d->has_values ? &d->values : NULL, (const char *)map.data,
                            map.size, a->expect, report_difference, &shown, differences, err);
    file_map_close(&map);
    return code;
}

static int print_result(const arguments *a, const digests *d) {
    cuzk_error err;
    if (a->common.json) {
        char *text;
        size_t size;
        if (r1cs_digest_to_json(&text, &size, &d->structure, d->has_values ? &d->values : NULL, &err) !=
            CUZK_OK)
            return report_error("cuzk r1cs digest", &a->common, &err);
        fwrite(text, 1, size, stdout);
        free(text);
    } else {
        print_text(d);
        print_known(a, d);
    }
    if (!a->expect) return 0;
    size_t differences;
    if (compare(a, d, &differences, &err) != CUZK_OK)
        return report_error("cuzk r1cs digest", &a->common, &err);
    if (differences) {
        error_set(&err, CUZK_ERR_INPUT, a->expect, CUZK_NO_OFFSET, "%zu figure(s) differ from it",
                  differences);
        return report_error("cuzk r1cs digest", &a->common, &err);
    }
    if (!a->common.json) printf("expected         all figures match %s\n", a->expect);
    return 0;
}

int r1cs_digest_main(int argc, char **argv) {
    arguments a = {.c1 = NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    progress_bar bar;
    cuzk_progress progress = progress_start(&bar, &a.common);
    cuzk_error err;
    cuzk *engine;
    digests d;
    memset(&d, 0, sizeof d);
    if (cuzk_create(&engine, &a.common.engine, &err) != CUZK_OK)
        return report_error("cuzk r1cs digest", &a.common, &err);

    cuzk_code code = (a.c1 ? digest_c1 : digest_circuit)(&d, &a, engine->threads, &progress, &err);
    progress_finish(&bar);
    int status = code == CUZK_OK ? print_result(&a, &d) : report_error("cuzk r1cs digest", &a.common, &err);
    r1cs_digest_free(&d.structure);
    assignment_digest_free(&d.values);
    cuzk_destroy(engine);
    return status;
}
