/* cuzk params: making, checking and listing Groth16 parameter files. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <yajl/yajl_tree.h>

#include "api/internal.h"
#include "base/file.h"
#include "engine/seal.h"
#include "filecoin/param_digest.h"
#include "filecoin/param_names.h"

enum { KEY_CIRCUIT = 1, KEY_PARAMS, KEY_WASTE, KEY_INSECURE, KEY_POINTS, KEY_SUBGROUP, KEY_DIGEST };

typedef struct arguments {
    common_options common;
    const char *circuit, *directory, *waste_path;
    bool insecure, points, subgroup, digest;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_CIRCUIT:
        if (!catalog_find(arg)) argp_error(state, "unknown circuit '%s'; 'cuzk params list' shows them", arg);
        a->circuit = arg;
        return 0;
    case KEY_PARAMS:
        a->directory = arg;
        return 0;
    case KEY_WASTE:
        a->waste_path = arg;
        return 0;
    case KEY_INSECURE:
        a->insecure = true;
        return 0;
    case KEY_POINTS:
        a->points = true;
        return 0;
    case KEY_DIGEST:
        a->digest = true;
        return 0;
    case KEY_SUBGROUP:
        a->points = a->subgroup = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The same with a directory as the only, optional, argument. */
static error_t parse_with_directory(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    if (key != ARGP_KEY_ARG) return parse(key, arg, state);
    if (a->directory) argp_error(state, "one DIR only, '%s' is a second", arg);
    a->directory = arg;
    return 0;
}

static void file_path(char *out, size_t size, const char *directory, const catalog_entry *entry,
                      param_file file) {
    cuzk_error ignored;
    if (param_path(out, size, directory, entry->kind, sector_by_bytes(entry->sector_bytes), file, &ignored) !=
        CUZK_OK)
        snprintf(out, size, "(path too long)");
}

static uint64_t expected_bytes(const catalog_entry *entry, param_file file) {
    srs_shape shape = key_srs_shape(entry);
    return file == PARAM_FILE_VK ? vk_bytes(shape.inputs) : srs_bytes(&shape);
}

/* --- setup -------------------------------------------------------------------------------------------------
 */

static const struct argp_option setup_options[] = {
    {"circuit", KEY_CIRCUIT, "NAME", 0, "porep-2k, porep-8m, porep-512m, ... (see 'cuzk params list')", 1},
    {"params", KEY_PARAMS, "DIR", 0,
     "Where to write (default: FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters)", 1},
    {"insecure-toxic-waste", KEY_WASTE, "FILE", 0,
     "JSON with alpha, beta, gamma, delta, tau (64 hex digits each, little-endian): only to repeat test keys",
     2},
    {"i-know-this-is-insecure", KEY_INSECURE, NULL, 0, "Required with --insecure-toxic-waste", 2},
    {0}};

static error_t parse_setup(int key, char *arg, struct argp_state *state) {
    const arguments *a = state->input;
    if (key == ARGP_KEY_END) {
        if (!a->circuit) option_missing("--circuit", state);
        if (a->waste_path && !a->insecure)
            argp_error(state,
                       "--insecure-toxic-waste makes keys with which anyone can forge proofs: it needs "
                       "--i-know-this-is-insecure");
    }
    return parse(key, arg, state);
}

static const struct argp setup_argp = {
    setup_options,
    parse_setup,
    NULL,
    "Make Groth16 parameters and verifying key of a circuit on this machine. INSECURE, FOR TESTS ONLY: "
    "whoever runs this "
    "could know the toxic waste and forge proofs. The network's parameters come from a ceremony.\v"
    "Example:\n  cuzk params setup --circuit porep-2k --params ./test-params\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

static cuzk_code read_waste_field(uint8_t out[32], yajl_val root, const char *name, const char *path,
                                  cuzk_error *err) {
    const char *keys[] = {name, NULL};
    const char *hex = YAJL_GET_STRING(yajl_tree_get(root, keys, yajl_t_string));
    if (!hex)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "no string '%s', expected 64 hex digits",
                         name);
    size_t length = strlen(hex);
    if (length != 64 || strspn(hex, "0123456789abcdefABCDEF") != 64)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "'%s': %zu characters, expected 64 hex digits", name, length);
    for (int i = 0; i < 32; i++) {
        unsigned byte;
        sscanf(hex + 2 * i, "%2x", &byte);
        out[i] = (uint8_t)byte;
    }
    return CUZK_OK;
}

static cuzk_code read_waste(cuzk_toxic_waste *out, const char *path, cuzk_error *err) {
    file_map map;
    TRY(file_map_open(&map, path, CUZK_ERR_INPUT, err));
    char text[4096], message[512];
    size_t size = map.size < sizeof text ? map.size : sizeof text - 1;
    if (size) memcpy(text, map.data, size);
    text[size] = 0;
    uint64_t whole = map.size;
    file_map_close(&map);
    if (whole >= sizeof text)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "%" PRIu64 " bytes, expected a small JSON object", whole);
    yajl_val root = yajl_tree_parse(text, message, sizeof message);
    if (!root) {
        message[strcspn(message, "\n")] = 0;
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "not JSON: %s",
                         message[0] ? message : "empty");
    }
    cuzk_code code = read_waste_field(out->alpha, root, "alpha", path, err);
    if (code == CUZK_OK) code = read_waste_field(out->beta, root, "beta", path, err);
    if (code == CUZK_OK) code = read_waste_field(out->gamma, root, "gamma", path, err);
    if (code == CUZK_OK) code = read_waste_field(out->delta, root, "delta", path, err);
    if (code == CUZK_OK) code = read_waste_field(out->tau, root, "tau", path, err);
    yajl_tree_free(root);
    return code;
}

static void print_setup(const arguments *a) {
    const catalog_entry *entry = catalog_find(a->circuit);
    char params[2048], vk[2048], text[32];
    file_path(params, sizeof params, a->directory, entry, PARAM_FILE_PARAMS);
    file_path(vk, sizeof vk, a->directory, entry, PARAM_FILE_VK);
    if (a->common.json) {
        yajl_gen g = json_begin();
        json_string(g, "circuit", a->circuit);
        json_string(g, "params", params);
        json_string(g, "vk", vk);
        json_bool(g, "insecure", true);
        json_end(g);
        return;
    }
    printf("%s\n  %s, %s\n%s\n", a->circuit, params,
           format_bytes(text, expected_bytes(entry, PARAM_FILE_PARAMS)), vk);
    printf(
        "INSECURE, FOR TESTS ONLY: made on one machine, not by a ceremony. Never use these on a network.\n");
}

int params_setup_main(int argc, char **argv) {
    arguments a = {0};
    argp_parse(&setup_argp, argc, argv, 0, NULL, &a);
    progress_bar bar;
    cuzk_progress progress = progress_start(&bar, &a.common);
    cuzk_toxic_waste waste;
    cuzk_error err;
    cuzk *engine = NULL;
    cuzk_code code = cuzk_create(&engine, &a.common.engine, &err);
    if (code == CUZK_OK && a.waste_path) code = read_waste(&waste, a.waste_path, &err);
    if (code == CUZK_OK && !a.common.quiet && !a.common.json)
        fprintf(stderr, "Making INSECURE parameters of %s, for tests only.\n", a.circuit);
    if (code == CUZK_OK)
        code =
            cuzk_params_setup(engine, a.circuit, a.directory, a.waste_path ? &waste : NULL, &progress, &err);
    progress_finish(&bar);
    cuzk_destroy(engine);
    if (code != CUZK_OK) return report_error("cuzk params setup", &a.common, &err);
    print_setup(&a);
    return 0;
}

/* --- check -------------------------------------------------------------------------------------------------
 */

static const struct argp_option check_options[] = {
    {"circuit", KEY_CIRCUIT, "NAME", 0, "Check the files of this circuit only; they must be there", 1},
    {"points", KEY_POINTS, NULL, 0, "Also check that every point is on its curve (seconds to minutes)", 1},
    {"subgroup", KEY_SUBGROUP, NULL, 0, "Also check that every point is in its subgroup (long)", 1},
    {"digest", KEY_DIGEST, NULL, 0,
     "Also compare the BLAKE2b digest of every file with that of the network's (reads all of it; locally "
     "made "
     "parameters differ)",
     1},
    {0}};

static const struct argp check_argp = {
    check_options,
    parse_with_directory,
    "[DIR]",
    "Check the Groth16 parameter files of a directory (default: FIL_PROOFS_PARAMETER_CACHE, else "
    "/var/tmp/filecoin-proof-parameters): size, layout, counts, the verifying key's points, and that the "
    "verifying key "
    "belongs to the parameters. Without --circuit, files that are absent are no error.\v"
    "Example:\n  cuzk params check /var/tmp/filecoin-proof-parameters\n\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

typedef struct file_status {
    uint64_t expected, found;
    bool absent;
    cuzk_error err; /* code CUZK_OK when good */
} file_status;

static void stat_file(file_status *out, const char *path, uint64_t expected) {
    struct stat st;
    memset(out, 0, sizeof *out);
    out->expected = expected;
    if (stat(path, &st) != 0) {
        out->absent = true;
        error_set(&out->err, CUZK_ERR_PARAMS, path, CUZK_NO_OFFSET, "absent, expected %" PRIu64 " bytes",
                  expected);
        return;
    }
    out->found = (uint64_t)st.st_size;
}

/* Compare with the network's file, unless something else is wrong with it already. */
static void check_digest(file_status *status, const char *path, const char *expected,
                         const cuzk_progress *progress) {
    char found[PARAM_DIGEST_SIZE];
    if (status->absent || status->err.code != CUZK_OK) return;
    if (param_digest(found, path, progress, &status->err) == CUZK_OK && strcmp(found, expected) != 0)
        error_set(&status->err, CUZK_ERR_PARAMS, path, CUZK_NO_OFFSET, "digest %s, the network's file has %s",
                  found, expected);
}

static void check_circuit(const arguments *a, const catalog_entry *entry, file_status status[2], pool *p,
                          const cuzk_progress *progress) {
    char params_path[2048], vk_path[2048];
    file_path(params_path, sizeof params_path, a->directory, entry, PARAM_FILE_PARAMS);
    file_path(vk_path, sizeof vk_path, a->directory, entry, PARAM_FILE_VK);
    stat_file(&status[0], params_path, expected_bytes(entry, PARAM_FILE_PARAMS));
    stat_file(&status[1], vk_path, expected_bytes(entry, PARAM_FILE_VK));
    srs params = {0};
    srs_shape shape = key_srs_shape(entry);
    bool open = false;
    if (!status[0].absent) {
        open = srs_open(&params, params_path, &shape, p, &status[0].err) == CUZK_OK;
        if (open && a->points) srs_validate(&params, a->subgroup, p, progress, &status[0].err);
    }
    if (!status[1].absent) {
        verifying_key vk;
        if (vk_read(&vk, vk_path, p, &status[1].err) == CUZK_OK) {
            if (vk.ic_count != shape.inputs)
                error_set(&status[1].err, CUZK_ERR_PARAMS, vk_path, CUZK_NO_OFFSET, "%u inputs, expected %u",
                          vk.ic_count, shape.inputs);
            else if (open)
                srs_check_vk(&params, &vk, vk_path, &status[1].err);
            vk_free(&vk);
        }
    }
    srs_close(&params);
    if (!a->digest) return;
    check_digest(&status[0], params_path, entry->params_digest, progress);
    check_digest(&status[1], vk_path, entry->vk_digest, progress);
}

static const char *status_text(const file_status *s) {
    return s->absent ? "absent" : s->err.code == CUZK_OK ? "ok" : "BAD";
}

static void print_row(const arguments *a, yajl_gen g, const catalog_entry *entry, param_file file,
                      const file_status *s) {
    char name[PARAM_NAME_SIZE];
    param_file_name(name, entry->kind, sector_by_bytes(entry->sector_bytes), file);
    if (a->common.json) {
        yajl_gen_map_open(g);
        json_string(g, "circuit", entry->id);
        json_string(g, "file", name);
        json_u64(g, "expected_bytes", s->expected);
        if (!s->absent) json_u64(g, "found_bytes", s->found);
        json_string(g, "status", status_text(s));
        if (s->err.code != CUZK_OK) json_string(g, "message", s->err.message);
        yajl_gen_map_close(g);
        return;
    }
    char found[24] = "-";
    if (!s->absent) snprintf(found, sizeof found, "%" PRIu64, s->found);
    printf("%-13s %-6s %14" PRIu64 " %14s  %-6s  %s\n", entry->id, status_text(s), s->expected, found,
           file == PARAM_FILE_VK ? "vk" : "params", name);
    if (s->err.code != CUZK_OK && !s->absent) {
        printf("%14s", "");
        if (s->err.offset != CUZK_NO_OFFSET) printf("offset %" PRIu64 ": ", s->err.offset);
        printf("%s\n", s->err.message);
    }
}

int params_check_main(int argc, char **argv) {
    arguments a = {0};
    argp_parse(&check_argp, argc, argv, 0, NULL, &a);
    cuzk_error err;
    pool *p;
    if (pool_create(&p, a.common.engine.threads, &err) != CUZK_OK)
        return report_error("cuzk params check", &a.common, &err);
    progress_bar bar;
    cuzk_progress progress = progress_start(&bar, &a.common);
    yajl_gen g = NULL;
    const char *directory = a.directory ? a.directory : param_directory();
    if (a.common.json) {
        g = json_begin();
        json_string(g, "directory", directory);
        json_key(g, "files");
        yajl_gen_array_open(g);
    } else {
        printf("%s\n%-13s %-6s %14s %14s  %-6s  %s\n", directory, "circuit", "status", "expected", "found",
               "kind", "file");
    }
    size_t n;
    const catalog_entry *all = catalog_all(&n);
    bool bad = false;
    for (size_t i = 0; i < n; i++) {
        if (a.circuit && strcmp(a.circuit, all[i].id) != 0) continue;
        file_status status[2];
        check_circuit(&a, &all[i], status, p, &progress);
        progress_finish(&bar);
        for (int k = 0; k < 2; k++) {
            bad = bad || (status[k].err.code != CUZK_OK && (a.circuit || !status[k].absent));
            print_row(&a, g, &all[i], k ? PARAM_FILE_VK : PARAM_FILE_PARAMS, &status[k]);
        }
    }
    pool_destroy(p);
    if (g) {
        yajl_gen_array_close(g);
        json_bool(g, "ok", !bad);
        json_end(g);
    }
    return bad ? CUZK_ERR_PARAMS : 0;
}

/* --- list --------------------------------------------------------------------------------------------------
 */

static const struct argp list_argp = {NULL,
                                      parse,
                                      NULL,
                                      "List the network's circuits with their sizes, the memory that proving "
                                      "a partition needs besides the mapped "
                                      "parameters, and their parameter files.\v"
                                      "Example:\n  cuzk params list --json\n\n" EXIT_CODES_HELP,
                                      common_children,
                                      NULL,
                                      NULL};

int params_list_main(int argc, char **argv) {
    arguments a = {0};
    argp_parse(&list_argp, argc, argv, 0, NULL, &a);
    yajl_gen g = NULL;
    if (a.common.json) {
        g = json_begin();
        json_string(g, "directory", param_directory());
        json_key(g, "circuits");
        yajl_gen_array_open(g);
    } else {
        printf("%-13s %11s %8s %12s %12s  %s\n", "circuit", "constraints", "inputs", "memory", "params",
               "file");
    }
    size_t n;
    const catalog_entry *all = catalog_all(&n);
    for (size_t i = 0; i < n; i++) {
        char name[PARAM_NAME_SIZE], text[32], memory[32];
        param_file_name(name, all[i].kind, sector_by_bytes(all[i].sector_bytes), PARAM_FILE_PARAMS);
        uint64_t bytes = expected_bytes(&all[i], PARAM_FILE_PARAMS);
        if (!g) {
            printf("%-13s %11" PRIu64 " %8u %12s %12s  %s\n", all[i].id, all[i].shape.constraints,
                   all[i].shape.inputs, format_bytes(memory, seal_prove_bytes(&all[i])),
                   format_bytes(text, bytes), name);
            continue;
        }
        yajl_gen_map_open(g);
        json_string(g, "circuit", all[i].id);
        json_u64(g, "constraints", all[i].shape.constraints);
        json_u64(g, "inputs", all[i].shape.inputs);
        json_u64(g, "aux", all[i].shape.aux);
        json_u64(g, "prove_bytes", seal_prove_bytes(&all[i]));
        json_string(g, "params_file", name);
        json_u64(g, "params_bytes", bytes);
        param_file_name(name, all[i].kind, sector_by_bytes(all[i].sector_bytes), PARAM_FILE_VK);
        json_string(g, "vk_file", name);
        json_u64(g, "vk_bytes", expected_bytes(&all[i], PARAM_FILE_VK));
        json_string(g, "r1cs_sha256", all[i].r1cs_sha256);
        json_string(g, "params_digest", all[i].params_digest);
        json_string(g, "vk_digest", all[i].vk_digest);
        yajl_gen_map_close(g);
    }
    if (g) {
        yajl_gen_array_close(g);
        json_end(g);
    }
    return 0;
}
