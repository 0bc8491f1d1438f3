/*
 * Workers of the study: this program again, in a process of its own, so that the allocator can be another
 * one. A worker writes lines of text: "allocator NAME", then "run STRATEGY CPU-SECONDS ALLOCATIONS" and an
 * event count or "-" for each event.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocations.h"
#include "base/clock.h"
#include "circuit/porep.h"
#include "lc_study.h"

extern char **environ;

const char *const study_allocator_names[STUDY_ALLOCATORS] = {"glibc", "jemalloc"};
const char *const study_source_names[] = {"auto", "hardware", "cachegrind", "none"};

/* ---- the worker's side ---- */

/* jemalloc's own entry; absent under other allocators. */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
    __attribute__((weak));

static cuzk_code run_all(const study *s, const r1cs_circuit *circuit, bool warm_up, cuzk_error *err) {
    assignment out = {0};
    counters events;
    counters_open(&events);
    cuzk_code code = CUZK_OK;
    if (warm_up) /* touches the memory of all vectors */
        code = lc_strategy_synthesize(&out, circuit, lc_strategy_find("direct"), s->constraints, NULL, NULL,
                                      err);
    for (unsigned i = 0; i < s->n && code == CUZK_OK; i++) {
        counter_values values;
        const uint64_t allocated = allocations_count();
        counters_start(&events);
        const double start = clock_cpu_seconds();
        code = lc_strategy_synthesize(&out, circuit, s->rows[i].strategy, s->constraints, NULL, NULL, err);
        const double end = clock_cpu_seconds();
        counters_stop(&events, &values);
        if (code != CUZK_OK) break;
        printf("run %s %.9f %" PRIu64, s->rows[i].strategy->name, end - start,
               allocations_count() - allocated);
        for (int e = 0; e < COUNTER_EVENTS; e++)
            if (values.have[e])
                printf(" %.0f", values.count[e]);
            else
                printf(" -");
        printf("\n");
    }
    counters_close(&events);
    assignment_free(&out);
    return code;
}

cuzk_code study_work(const study *s, bool warm_up, cuzk_error *err) {
    c1 *sector;
    porep_circuit partition;
    r1cs_circuit circuit;
    TRY(c1_read(&sector, s->c1, err));
    cuzk_code code;
    if (s->partition < sector->partitions) {
        porep_of_c1(&partition, &circuit, sector, s->partition);
        printf("allocator %s\n", study_allocator_names[mallctl ? STUDY_JEMALLOC : STUDY_GLIBC]);
        code = run_all(s, &circuit, warm_up, err);
    } else {
        code = error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "--partition %u, expected 0 to %u",
                         s->partition, sector->partitions - 1);
    }
    c1_free(sector);
    return code;
}

/* ---- starting one ---- */

const char *study_program(void) {
    static char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0 ? path : "/proc/self/exe";
}

void study_worker_arguments(const char *argv[32], char numbers[4][24], char *names, size_t names_size,
                            const study *s, const unsigned *order, unsigned n, uint64_t constraints) {
    size_t length = 0;
    names[0] = 0;
    for (unsigned i = 0; i < n && length < names_size; i++)
        length += (size_t)snprintf(names + length, names_size - length, "%s%s", i ? "," : "",
                                   s->rows[order[i]].strategy->name);
    snprintf(numbers[0], 24, "%u", s->partition);
    snprintf(numbers[1], 24, "%" PRIu64, constraints);
    snprintf(numbers[2], 24, "%" PRIu64, s->memory_budget);
    const char *const all[] = {study_program(),
                               "lc-study",
                               "--c1",
                               s->c1,
                               "--strategies",
                               names,
                               "--partition",
                               numbers[0],
                               "--constraints",
                               numbers[1],
                               "--worker",
                               n > 1 ? "warm" : "cold",
                               s->memory_budget ? "--memory-budget" : NULL,
                               numbers[2]};
    unsigned k = 0;
    while (k < sizeof all / sizeof *all && all[k]) {
        argv[k] = all[k];
        k++;
    }
    argv[k] = NULL;
}

/* The environment with LD_PRELOAD as wanted; NULL without memory. The strings stay the environment's. */
static char **environment(char *preload) {
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **out = calloc(n + 2, sizeof *out);
    if (!out) return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0) out[kept++] = environ[i];
    if (preload) out[kept] = preload;
    return out;
}

/* All of stdout, as much as fits. */
static void collect(int from, char *text, size_t size) {
    char rest[4096];
    size_t length = 0;
    for (;;) {
        const bool fits = length + 1 < size;
        const ssize_t got = read(from, fits ? text + length : rest, fits ? size - 1 - length : sizeof rest);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (fits) length += (size_t)got;
    }
    text[length] = 0;
}

int study_spawn(const char *const *argv, const char *library, char *text, size_t size, bool loud) {
    char preload[4200];
    int ends[2], status = 0;
    pid_t child = 0;
    text[0] = 0;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library ? library : "");
    char **env = environment(library ? preload : NULL);
    if (!env) return 127;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        free(env);
        return 127;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!loud) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    /* posix_spawn takes char *const[] but leaves the strings alone. */
    const int failed = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, env);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!failed) collect(ends[0], text, size);
    close(ends[0]);
    free(env);
    if (failed) return 127;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- reading what it says ---- */

static study_row *row_named(study *s, const char *name) {
    for (unsigned i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].strategy->name, name) == 0) return &s->rows[i];
    return NULL;
}

/* A "run" line, cut into words. */
static bool read_run(study *s, study_allocator allocator, unsigned round, char *line) {
    char *words, *name = strtok_r(line, " ", &words);
    study_row *row = name ? row_named(s, name) : NULL;
    const char *cpu = strtok_r(NULL, " ", &words), *allocations = strtok_r(NULL, " ", &words);
    if (!row || !cpu || !allocations) return false;
    study_run *run = &row->runs[allocator][round];
    run->cpu = strtod(cpu, NULL);
    run->allocations = strtoull(allocations, NULL, 10);
    for (int e = 0; e < COUNTER_EVENTS; e++) {
        const char *count = strtok_r(NULL, " ", &words);
        if (!count) return false;
        run->events.have[e] = strcmp(count, "-") != 0;
        run->events.count[e] = run->events.have[e] ? strtod(count, NULL) : 0;
    }
    return true;
}

/* False when the text is not what a worker writes. */
static bool read_runs(study *s, study_allocator allocator, unsigned round, char *text) {
    unsigned found = 0;
    char *lines;
    for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
        if (strncmp(line, "run ", 4) != 0) continue;
        if (!read_run(s, allocator, round, line + 4)) return false;
        found++;
    }
    return found == s->n;
}

/* ---- jemalloc ---- */

static const char *find_jemalloc(void) {
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                                         "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
                                         "/usr/lib64/libjemalloc.so.2",
                                         "/usr/lib/libjemalloc.so.2",
                                         "/usr/local/lib/libjemalloc.so.2",
                                         "/opt/homebrew/lib/libjemalloc.so.2"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], R_OK) == 0) return places[i];
    return NULL;
}

/* Why an allocator was not measured. */
static cuzk_code skip(study *s, study_allocator allocator, const char *why) {
    s->present[allocator] = false;
    snprintf(s->missing[allocator], sizeof s->missing[allocator], "%s", why);
    return CUZK_OK;
}

cuzk_code study_round(study *s, study_allocator allocator, const unsigned *order, unsigned round,
                      cuzk_error *err) {
    const char *library = NULL;
    if (allocator == STUDY_JEMALLOC) {
        library = s->jemalloc ? s->jemalloc : find_jemalloc();
        if (!library) return skip(s, allocator, "libjemalloc.so.2 was not found; --jemalloc FILE names it");
        if (access(library, R_OK) != 0) return skip(s, allocator, "its library cannot be read");
    }
    const char *argv[32];
    char numbers[4][24], names[1024], text[16384], expected[32];
    study_worker_arguments(argv, numbers, names, sizeof names, s, order, s->n, s->constraints);
    const int status = study_spawn(argv, library, text, sizeof text, allocator == STUDY_GLIBC);
    snprintf(expected, sizeof expected, "allocator %s\n", study_allocator_names[allocator]);
    const bool is_it = strncmp(text, expected, strlen(expected)) == 0;
    if (allocator == STUDY_JEMALLOC && !is_it)
        return skip(s, allocator, "its library cannot be preloaded into this program");
    if (status != 0 || !is_it || !read_runs(s, allocator, round, text))
        return error_set(err, status == 0 || status > 5 ? CUZK_ERR_INTERNAL : (cuzk_code)status, NULL,
                         CUZK_NO_OFFSET, "a worker under %s ended with code %d",
                         study_allocator_names[allocator], status);
    s->present[allocator] = true;
    return CUZK_OK;
}
