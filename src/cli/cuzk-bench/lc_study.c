/*
 * cuzk-bench lc-study: what each way to store linear combinations costs, and why (docs/studies).
 */
#include "lc_study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "circuit/porep.h"
#include "commands.h"

#define DEFAULT_SLICE 200000u

enum {
    KEY_C1 = 1,
    KEY_PARTITION,
    KEY_REPEAT,
    KEY_STRATEGIES,
    KEY_ALLOCATORS,
    KEY_JEMALLOC,
    KEY_COUNTS,
    KEY_SLICE,
    KEY_CONSTRAINTS,
    KEY_JSON_FILE,
    KEY_CHART,
    KEY_WORKER
};

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output; 'cuzk c1 generate' makes one of any sector size", 1},
    {"partition", KEY_PARTITION, "K", 0, "The partition to synthesize (default 0)", 1},
    {"repeat", KEY_REPEAT, "N", 0, "Rounds; each runs every strategy once per allocator (default 5)", 1},
    {"strategies", KEY_STRATEGIES, "LIST", 0,
     "Comma-separated (default: vec, small:1, small:2, small:4, small:8, pool, arena, scratch), or \"all\", "
     "which adds variants that take one cost away or add one: vec/in-place, small:4/zeroed, small:4/copied",
     1},
    {"allocators", KEY_ALLOCATORS, "LIST", 0, "Of glibc, jemalloc (default: both; skipped when absent)", 1},
    {"jemalloc", KEY_JEMALLOC, "FILE", 0, "The library libjemalloc.so.2 (default: looked for)", 1},
    {"counts", KEY_COUNTS, "SOURCE", 0,
     "What counts instructions, cache misses and branches: hardware, cachegrind (valgrind), none, or auto: "
     "hardware where there are counters, else cachegrind where it is installed (default)",
     1},
    {"constraints", KEY_CONSTRAINTS, "N", 0, "Only the first N constraints (default 0: all)", 1},
    {"slice", KEY_SLICE, "N", 0, "Constraints of a cachegrind run (default 200000; 0: all)", 1},
    {"json", KEY_JSON_FILE, "FILE", 0, "Write everything measured as JSON (\"-\": stdout, no table)", 1},
    {"chart", KEY_CHART, "FILE", 0, "Write a chart of the times as SVG", 1},
    {"worker", KEY_WORKER, "HOW", OPTION_HIDDEN, NULL, 1},
    {0}};

typedef struct arguments {
    common_options common;
    const char *strategies, *json, *chart, *worker;
    study s;
} arguments;

/* ---- options ---- */

static void add_row(arguments *a, const lc_strategy *strategy, const struct argp_state *state) {
    for (unsigned i = 0; i < a->s.n; i++)
        if (a->s.rows[i].strategy == strategy) {
            argp_error(state, "--strategies: %s is named twice", strategy->name);
            return;
        }
    if (a->s.n < STUDY_STRATEGIES) a->s.rows[a->s.n++].strategy = strategy;
}

/* Each part of a comma-separated list. */
static void for_each(arguments *a, const char *list, const struct argp_state *state,
                     void (*each)(arguments *a, const char *name, const struct argp_state *state)) {
    char copy[1024], *rest;
    if (strlen(list) >= sizeof copy) {
        argp_error(state, "'%.40s...': the list is too long", list);
        return;
    }
    strcpy(copy, list);
    if (!*list) each(a, "", state);
    for (const char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        each(a, name, state);
}

static void add_strategy(arguments *a, const char *name, const struct argp_state *state) {
    const lc_strategy *found = lc_strategy_find(name);
    if (!found || (found->baseline && !a->worker))
        argp_error(state, "--strategies: '%s', expected some of %s, or all", name, lc_strategy_names());
    else
        add_row(a, found, state);
}

static void choose_strategies(arguments *a, const struct argp_state *state) {
    size_t n;
    const lc_strategy *const *all = lc_strategies(&n);
    const bool every = a->strategies && strcmp(a->strategies, "all") == 0;
    if (!a->worker) {
        add_row(a, lc_strategy_find("none"), state);
        add_row(a, lc_strategy_find("direct"), state);
    }
    if (a->strategies && !every) {
        for_each(a, a->strategies, state, add_strategy);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!all[i]->baseline && (every || !all[i]->variant)) add_row(a, all[i], state);
}

static void add_allocator(arguments *a, const char *name, const struct argp_state *state) {
    for (int i = 0; i < STUDY_ALLOCATORS; i++)
        if (strcmp(name, study_allocator_names[i]) == 0) {
            a->s.wanted[i] = true;
            return;
        }
    argp_error(state, "--allocators: '%s', expected some of glibc, jemalloc", name);
}

static study_source parse_source(const char *text, const struct argp_state *state) {
    for (int i = STUDY_AUTO; i <= STUDY_NONE; i++)
        if (strcmp(text, study_source_names[i]) == 0) return (study_source)i;
    argp_error(state, "--counts: '%s', expected auto, hardware, cachegrind or none", text);
    return STUDY_AUTO;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    study *s = &a->s;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_C1:
        s->c1 = arg;
        return 0;
    case KEY_PARTITION:
        s->partition = (unsigned)option_u64(arg, 0, POREP_MAX_PARTITIONS - 1, "--partition", state);
        return 0;
    case KEY_REPEAT:
        s->repeat = (unsigned)option_u64(arg, 1, BENCH_MAX_REPEAT, "--repeat", state);
        return 0;
    case KEY_STRATEGIES:
        a->strategies = arg;
        return 0;
    case KEY_ALLOCATORS:
        s->wanted[STUDY_GLIBC] = s->wanted[STUDY_JEMALLOC] = false;
        for_each(a, arg, state, add_allocator);
        return 0;
    case KEY_JEMALLOC:
        s->jemalloc = arg;
        return 0;
    case KEY_COUNTS:
        s->source = parse_source(arg, state);
        return 0;
    case KEY_CONSTRAINTS:
        s->constraints = option_u64(arg, 0, UINT32_MAX, "--constraints", state);
        return 0;
    case KEY_SLICE:
        s->slice = option_u64(arg, 0, UINT32_MAX, "--slice", state);
        return 0;
    case KEY_JSON_FILE:
        a->json = arg;
        a->common.json = strcmp(arg, "-") == 0;
        return 0;
    case KEY_CHART:
        a->chart = arg;
        return 0;
    case KEY_WORKER:
        a->worker = arg;
        return 0;
    case ARGP_KEY_END:
        if (!s->c1) option_missing("--c1", state);
        choose_strategies(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "How much do linear combinations cost, stored in different ways? Synthesizes one partition through each "
    "way, in turn and in rotating order, under two allocators, and shows CPU time per constraint, "
    "allocations, memory touched, numbers of terms, and events. One thread.\v"
    "Examples:\n"
    "  cuzk-bench lc-study --c1 c1.json\n"
    "  cuzk-bench lc-study --c1 c1.json --strategies all --repeat 9 --json study.json --chart study.svg\n"
    "  cuzk-bench lc-study --c1 c1-32g.json --constraints 5000000 --allocators glibc --counts none\n\n"
    "docs/studies/linear-combinations.md explains the strategies and what was found.\n\n" EXIT_CODES_HELP,
    common_children_without_json,
    NULL,
    NULL};

/* ---- the study ---- */

static void tell(void *ctx, const char *strategy) {
    const arguments *a = ctx;
    if (!a->common.quiet) fprintf(stderr, "lc-study: counting events of %s in cachegrind\n", strategy);
}

/* What needs no clock: terms, and the memory each strategy touches. */
static cuzk_code count_all(arguments *a, const r1cs_circuit *circuit, cuzk_error *err) {
    study *s = &a->s;
    const uint64_t all = circuit->shape.constraints;
    if (s->constraints >= all) s->constraints = 0;
    if (s->slice >= all) s->slice = 0;
    s->measured = s->constraints ? s->constraints : all;
    TRY(lc_count_terms(&s->terms, circuit, s->constraints, err));
    assignment out = {0};
    cuzk_code code = CUZK_OK;
    for (unsigned i = 0; i < s->n && code == CUZK_OK; i++) {
        study_row *row = &s->rows[i];
        if (!row->strategy->traced) continue;
        if (!a->common.quiet) fprintf(stderr, "lc-study: memory touched by %s\n", row->strategy->name);
        code = lc_strategy_synthesize(&out, circuit, row->strategy, s->constraints, &row->touched, NULL, err);
        lc_trace_free(&row->touched);
    }
    assignment_free(&out);
    return code;
}

static cuzk_code run_rounds(arguments *a, cuzk_error *err) {
    study *s = &a->s;
    for (unsigned round = 0; round < s->repeat; round++) {
        unsigned order[STUDY_STRATEGIES];
        for (unsigned i = 0; i < s->n; i++) order[i] = (i + round) % s->n;
        for (unsigned k = 0; k < STUDY_ALLOCATORS; k++) {
            const study_allocator allocator = (study_allocator)((k + round) % STUDY_ALLOCATORS);
            if (!s->wanted[allocator] || s->missing[allocator][0]) continue;
            if (!a->common.quiet)
                fprintf(stderr, "lc-study: round %u of %u, %s\n", round + 1, s->repeat,
                        study_allocator_names[allocator]);
            TRY(study_round(s, allocator, order, round, err));
        }
        s->rounds = round + 1;
    }
    if (!s->present[STUDY_GLIBC] && !s->present[STUDY_JEMALLOC])
        return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                         "no allocator to measure: jemalloc: %s", s->missing[STUDY_JEMALLOC]);
    return CUZK_OK;
}

/* Settle what counts events. */
static cuzk_code count_events(arguments *a, cuzk_error *err) {
    study *s = &a->s;
    char why[160] = "not wanted";
    const study_source wanted = s->source;
    s->source = STUDY_NONE;
    if (wanted == STUDY_AUTO || wanted == STUDY_HARDWARE) {
        counters c;
        const bool any = counters_open(&c);
        counters_close(&c);
        if (any) {
            s->source = STUDY_HARDWARE;
            snprintf(s->source_note, sizeof s->source_note, "hardware counters, medians over the rounds");
            return CUZK_OK;
        }
        snprintf(why, sizeof why, "%s", c.why);
        if (wanted == STUDY_HARDWARE)
            return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "--counts hardware: %s", why);
    }
    if (wanted != STUDY_NONE && study_simulate(s, tell, a)) {
        s->source = STUDY_CACHEGRIND;
        return CUZK_OK;
    }
    if (wanted == STUDY_CACHEGRIND)
        return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "--counts cachegrind: %s",
                         s->source_note);
    if (wanted == STUDY_NONE) {
        snprintf(s->source_note, sizeof s->source_note, "%s", why);
    } else {
        char simulation[96];
        snprintf(simulation, sizeof simulation, "%.95s", s->source_note);
        snprintf(s->source_note, sizeof s->source_note, "%.150s; %s", why, simulation);
    }
    return CUZK_OK;
}

static cuzk_code prepare(arguments *a, cuzk_error *err) {
    study *s = &a->s;
    c1 *sector;
    TRY(c1_read(&sector, s->c1, err));
    cuzk_code code;
    if (s->partition < sector->partitions) {
        porep_circuit partition;
        r1cs_circuit circuit;
        porep_of_c1(&partition, &circuit, sector, s->partition);
        code = count_all(a, &circuit, err);
    } else {
        code = error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "--partition %u, expected 0 to %u",
                         s->partition, sector->partitions - 1);
    }
    c1_free(sector);
    return code;
}

static cuzk_code run(arguments *a, cuzk_error *err) {
    if (a->worker) return study_work(&a->s, strcmp(a->worker, "warm") == 0, err);
    TRY(prepare(a, err));
    TRY(run_rounds(a, err));
    TRY(count_events(a, err));
    if (!a->common.json) study_print(&a->s);
    if (a->json) TRY(study_write_json(&a->s, a->json, err));
    if (a->chart) TRY(study_write_chart(&a->s, a->chart, err));
    return CUZK_OK;
}

int lc_study_main(int argc, char **argv) {
    cuzk_error err;
    cuzk *engine;
    arguments *a = calloc(1, sizeof *a); /* too large for the stack */
    if (!a) {
        fprintf(stderr, "cuzk-bench lc-study: out of memory\n");
        return exit_code(CUZK_ERR_RESOURCES);
    }
    a->s.repeat = 5;
    a->s.slice = DEFAULT_SLICE;
    a->s.wanted[STUDY_GLIBC] = a->s.wanted[STUDY_JEMALLOC] = true;
    argp_parse(&argp, argc, argv, 0, NULL, a);
    a->s.memory_budget = a->common.engine.memory_budget;
    a->common.engine.threads = 1;
    cuzk_code code = cuzk_create(&engine, &a->common.engine, &err);
    if (code == CUZK_OK) {
        code = run(a, &err);
        cuzk_destroy(engine);
    }
    const int status = code == CUZK_OK ? 0 : report_error("cuzk-bench lc-study", &a->common, &err);
    free(a);
    return status;
}
