/*
 * cuzk replay: was it the machine or the code? The kept input is proved again, as often and with as many code
 * variants as asked for. All runs must pass every self-check and agree in every value before the proof.
 */
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "commands.h"

enum { KEY_PARAMS = 1, KEY_REPEAT, KEY_ISA_ALL };

static const struct argp_option options[] = {
    {"params", KEY_PARAMS, "DIR", 0,
     "Groth16 parameters (default: FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters)", 1},
    {"repeat", KEY_REPEAT, "N", 0, "Runs with each code variant (default 1)", 1},
    {"isa-all", KEY_ISA_ALL, NULL, 0,
     "Run with each code variant the processor has, not only with the one CUZK_ISA or the processor chooses",
     1},
    {0}};

typedef struct arguments {
    common_options common;
    const char *path, *params;
    unsigned repeat;
    bool isa_all;
} arguments;

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_PARAMS:
        a->params = arg;
        return 0;
    case KEY_REPEAT:
        a->repeat = (unsigned)option_u64(arg, 1, 1000000, "--repeat", state);
        return 0;
    case KEY_ISA_ALL:
        a->isa_all = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->path) argp_error(state, "more than one input: '%s' and '%s'", a->path, arg);
        a->path = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->path) argp_error(state, "an input is required: a kept folder, or a phase-1 output");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "DIR|FILE",
    "Prove an input again that the daemon kept because its proof failed the self-check twice: a folder of "
    "daemon.failure_dir with job.json and input.json, or a phase-1 output alone. Tells for every run whether "
    "all self-checks pass or which stage fails, and where values differ first between runs.\v"
    "A failure that every run repeats is a defect of cuzk or of the input; one that comes and goes is the "
    "machine's: memory, processor, or power.\n\n"
    "Example:\n  cuzk replay /var/lib/cuzk/failures/000001-porep-c2 --isa-all --repeat 3\n\n"
    "Exits with 0 when all runs pass and agree, else with the code of the first failure; 70 when runs "
    "differ.\n" EXIT_CODES_HELP,
    common_children,
    NULL,
    NULL};

/* --- runs ------------------------------------------------------------------------------------------------
 */

/* Of a finished run what the report needs. */
typedef struct result {
    replay_run run;         /* digests only of the first that has them */
    const char *forced;     /* its variant, or NULL */
    unsigned compared_with; /* number of the run it was compared with; 0: none */
    bool differs;
    replay_difference difference;
    cuzk_code locate_code;
    cuzk_error locate_error;
} result;

typedef struct results {
    result *list;
    size_t n;
    size_t reference; /* the run whose digests are kept; n when there is none yet */
} results;

/* Errors that no run can be blamed for, and that would meet every run alike. */
static bool is_fatal(const replay_run *r) {
    return r->code == CUZK_ERR_CANCELLED || r->code == CUZK_ERR_RESOURCES || r->code == CUZK_ERR_USAGE ||
           (r->code != CUZK_OK && r->code != CUZK_ERR_INTERNAL && r->stage <= REPLAY_PARAMETERS);
}

static replay_options run_options(const arguments *a, const replay_job *job, const char *variant) {
    return (replay_options){.job = job,
                            .params = a->params,
                            .engine = a->common.engine,
                            .variant = variant,
                            .quiet = a->common.quiet};
}

/* Compare with the first run that got as far; that one keeps its digests, this one needs them no more. */
static cuzk_code compare(results *all, const arguments *a, const replay_job *job, cuzk_error *err) {
    result *mine = &all->list[all->n - 1];
    if (all->reference == SIZE_MAX) {
        if (mine->run.partitions > 0) all->reference = all->n - 1;
        return CUZK_OK;
    }
    const result *first = &all->list[all->reference];
    mine->compared_with = (unsigned)all->reference + 1;
    mine->differs = replay_compare(&mine->difference, &mine->run, &first->run);
    bool longer = mine->run.code == CUZK_OK && first->run.code != CUZK_OK;
    if (longer)
        all->reference = all->n - 1;
    else
        replay_run_free(&mine->run);
    if (!mine->differs) return CUZK_OK;
    replay_options o = run_options(a, job, mine->forced), p = run_options(a, job, first->forced);
    mine->locate_code = replay_locate(&mine->difference, &o, &p, &mine->locate_error);
    if (mine->locate_code != CUZK_ERR_CANCELLED) return CUZK_OK;
    if (err) *err = mine->locate_error;
    return CUZK_ERR_CANCELLED;
}

static void tell_run(const result *r, size_t number) {
    printf("run %-3zu %-9s ", number, r->run.variant);
    if (r->run.code == CUZK_OK) {
        printf("all self-checks pass (%.1f s)\n", r->run.seconds);
        return;
    }
    printf("FAILED in %s", replay_stage_name(r->run.stage));
    if (r->run.in_partition) printf(" of partition %" PRIu32, r->run.partition);
    if (r->run.error.path[0]) printf(": %s", r->run.error.path);
    if (r->run.error.offset != CUZK_NO_OFFSET) printf(": offset %" PRIu64, r->run.error.offset);
    printf(": %s\n", r->run.error.message);
}

static void tell_difference(const result *r, size_t number) {
    const replay_difference *d = &r->difference;
    char found[65], expected[65];
    printf("run %zu differs from run %u first in %s of partition %" PRIu32 ", ", number, r->compared_with,
           replay_vector_name(d->vector), d->partition);
    if (d->exact)
        printf("value %" PRIu64 ": %s, there %s\n", d->first, format_hex(found, d->found, 32),
               format_hex(expected, d->expected, 32));
    else if (r->locate_code != CUZK_OK)
        printf("values %" PRIu64 " to %" PRIu64 "; computing them again failed: %s\n", d->first, d->last,
               r->locate_error.message);
    else
        printf("values %" PRIu64 " to %" PRIu64
               "; computed again they agree: the machine's fault, not the code's\n",
               d->first, d->last);
}

static cuzk_code run_one(results *all, const arguments *a, const replay_job *job, const char *variant,
                         cuzk_error *err) {
    result *r = &all->list[all->n];
    *r = (result){.forced = variant};
    replay_options o = run_options(a, job, variant);
    TRY(replay_run_start(&r->run, &o, err));
    all->n++;
    if (is_fatal(&r->run)) {
        *err = r->run.error;
        return r->run.code;
    }
    TRY(compare(all, a, job, err));
    if (!a->common.json) {
        tell_run(r, all->n);
        if (r->differs) tell_difference(r, all->n);
    }
    return CUZK_OK;
}

static cuzk_code run_all(results *all, const arguments *a, const replay_job *job, cuzk_error *err) {
    unsigned variants = a->isa_all ? (unsigned)cpu_best() + 1 : 1;
    *all = (results){.reference = SIZE_MAX};
    all->list = calloc((size_t)variants * a->repeat, sizeof *all->list);
    if (!all->list) return error_no_memory(err, (size_t)variants * a->repeat * sizeof *all->list, "results");
    for (unsigned v = 0; v < variants; v++)
        for (unsigned k = 0; k < a->repeat; k++)
            TRY(run_one(all, a, job, a->isa_all ? cpu_isa_name((cpu_isa)(variants - 1 - v)) : NULL, err));
    return CUZK_OK;
}

/* --- report ----------------------------------------------------------------------------------------------
 */

static void print_job(const replay_job *job) {
    if (!job->described) {
        printf("input: %s\n", job->input);
        return;
    }
    printf("job%s%s: %s of %s, miner %" PRIu64 ", sector %" PRIu64 ", %" PRIu64 " self-checks failed\n",
           *job->id ? " " : "", job->id, job->kind, job->circuit, job->miner_id, job->sector_number,
           job->self_check_failures);
    if (*job->error) printf("then:  %s\n", job->error);
    if (*job->version || *job->variant)
        printf("by:    cuzk %s, commit %s, code variant %s\n", job->version, job->commit, job->variant);
    cuzk_build build;
    cuzk_get_build(&build);
    printf("now:   cuzk %s, commit %s\n", build.version, build.commit);
}

static void json_job(yajl_gen g, const replay_job *job) {
    json_string(g, "input", job->input);
    if (!job->described) return;
    json_key(g, "job");
    yajl_gen_map_open(g);
    json_string(g, "id", job->id);
    json_string(g, "kind", job->kind);
    json_u64(g, "miner_id", job->miner_id);
    json_u64(g, "sector_number", job->sector_number);
    json_u64(g, "self_check_failures", job->self_check_failures);
    json_string(g, "error", job->error);
    json_string(g, "version", job->version);
    json_string(g, "commit", job->commit);
    json_string(g, "variant", job->variant);
    yajl_gen_map_close(g);
}

static void json_difference(yajl_gen g, const result *r) {
    const replay_difference *d = &r->difference;
    json_key(g, "difference");
    yajl_gen_map_open(g);
    json_u64(g, "from_run", r->compared_with);
    json_u64(g, "partition", d->partition);
    json_string(g, "vector", replay_vector_name(d->vector));
    if (d->exact) {
        json_u64(g, "value", d->first);
        json_hex(g, "found", d->found, 32);
        json_hex(g, "expected", d->expected, 32);
    } else {
        json_u64(g, "first_value", d->first);
        json_u64(g, "last_value", d->last);
        if (r->locate_code == CUZK_OK)
            json_bool(g, "repeats", false);
        else
            json_string(g, "error", r->locate_error.message);
    }
    yajl_gen_map_close(g);
}

static void json_run(yajl_gen g, const result *r) {
    yajl_gen_map_open(g);
    json_string(g, "variant", r->run.variant);
    json_bool(g, "ok", r->run.code == CUZK_OK);
    json_double(g, "seconds", r->run.seconds);
    if (r->run.code != CUZK_OK) {
        json_string(g, "stage", replay_stage_name(r->run.stage));
        if (r->run.in_partition) json_u64(g, "partition", r->run.partition);
        if (r->run.error.path[0]) json_string(g, "path", r->run.error.path);
        if (r->run.error.offset != CUZK_NO_OFFSET) json_u64(g, "offset", r->run.error.offset);
        json_string(g, "error", r->run.error.message);
    }
    if (r->differs) json_difference(g, r);
    yajl_gen_map_close(g);
}

static void print_json(const results *all, const replay_job *job, bool ok) {
    yajl_gen g = json_begin();
    json_bool(g, "ok", ok);
    json_job(g, job);
    json_string(g, "circuit", all->list[0].run.circuit);
    json_key(g, "runs");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < all->n; i++) json_run(g, &all->list[i]);
    yajl_gen_array_close(g);
    json_end(g);
}

/* The exit code of what the runs showed, and the last line about it. */
static int conclude(const results *all, const arguments *a, const replay_job *job) {
    size_t failed = 0, different = 0;
    int status = 0;
    for (size_t i = 0; i < all->n; i++) {
        const result *r = &all->list[i];
        failed += r->run.code != CUZK_OK;
        different += r->differs;
        if (status == 0 && r->run.code != CUZK_OK) status = exit_code(r->run.code);
        if (status == 0 && r->differs) status = exit_code(CUZK_ERR_INTERNAL);
    }
    if (a->common.json) {
        print_json(all, job, status == 0);
        return status;
    }
    if (status == 0)
        printf("%zu run%s, all pass%s\n", all->n, all->n == 1 ? "" : "s",
               all->n == 1 ? "" : " and agree in every value");
    else
        printf("%zu of %zu runs failed, %zu differ\n", failed, all->n, different);
    return status;
}

int replay_main(int argc, char **argv) {
    arguments a = {.repeat = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    replay_job job;
    results all = {.list = NULL};
    cuzk_error err;
    cuzk_code code = replay_job_read(&job, a.path, &err);
    if (code == CUZK_OK) {
        if (!a.common.json) print_job(&job);
        code = run_all(&all, &a, &job, &err);
    }
    int status = code == CUZK_OK ? conclude(&all, &a, &job) : report_error("cuzk replay", &a.common, &err);
    for (size_t i = 0; i < all.n; i++) replay_run_free(&all.list[i].run);
    free(all.list);
    return status;
}
