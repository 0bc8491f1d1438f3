/* The study's figures, as tables and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lc_study.h"
#include "version.h"

/* ---- figures ---- */

bench_spread study_time(const study *s, unsigned row, study_allocator allocator, int over) {
    double values[BENCH_MAX_REPEAT];
    for (unsigned i = 0; i < s->rounds; i++) {
        double cpu = s->rows[row].runs[allocator][i].cpu;
        if (over >= 0) cpu -= s->rows[over].runs[allocator][i].cpu;
        values[i] = 1e9 * cpu / (double)s->measured;
    }
    return bench_spread_of(values, s->rounds);
}

double study_allocations(const study *s, unsigned row, study_allocator allocator) {
    const double mine = (double)s->rows[row].runs[allocator][0].allocations;
    return (mine - (double)s->rows[STUDY_NONE_ROW].runs[allocator][0].allocations) / (double)s->measured;
}

/* The median over the rounds under the first allocator there is. */
static bool hardware_events(const study *s, unsigned row, counter_event event, double *count) {
    const study_allocator allocator = s->present[STUDY_GLIBC] ? STUDY_GLIBC : STUDY_JEMALLOC;
    double values[BENCH_MAX_REPEAT];
    for (unsigned i = 0; i < s->rounds; i++) {
        const counter_values *events = &s->rows[row].runs[allocator][i].events;
        if (!events->have[event]) return false;
        values[i] = events->count[event];
    }
    *count = bench_spread_of(values, s->rounds).median;
    return true;
}

bool study_events(const study *s, unsigned row, counter_event event, double *per_constraint) {
    double mine, base, constraints = (double)s->measured;
    if (s->source == STUDY_HARDWARE) {
        if (!hardware_events(s, row, event, &mine) || !hardware_events(s, STUDY_NONE_ROW, event, &base))
            return false;
    } else if (s->source == STUDY_CACHEGRIND) {
        if (!s->rows[row].simulated.have[event]) return false;
        mine = s->rows[row].simulated.count[event];
        base = s->rows[STUDY_NONE_ROW].simulated.count[event];
        if (s->slice) constraints = (double)s->slice;
    } else {
        return false;
    }
    *per_constraint = (mine - base) / constraints;
    return true;
}

/* ---- numbers of terms ---- */

/* Classes of numbers of terms that inline storage tells apart. */
static const struct {
    const char *name;
    unsigned first, last;
} classes[] = {{"0", 0, 0}, {"1", 1, 1},   {"2", 2, 2},     {"3", 3, 3},
               {"4", 4, 4}, {"5-8", 5, 8}, {"9-63", 9, 63}, {"64+", 64, LC_TERMS_COUNTED}};
#define CLASSES (sizeof classes / sizeof *classes)

static uint64_t in_class(const uint64_t counts[LC_TERMS_COUNTED + 1], size_t class) {
    uint64_t sum = 0;
    for (unsigned i = classes[class].first; i <= classes[class].last; i++) sum += counts[i];
    return sum;
}

static void print_terms(const study *s) {
    static const char matrices[] = "ABC";
    printf("\nCombinations by the number of their terms, in %%\n%-10s", "");
    for (size_t i = 0; i < CLASSES; i++) printf("%9s", classes[i].name);
    printf("\n");
    for (unsigned k = 0; k < 6; k++) {
        const uint64_t *counts = k % 2 ? s->terms.aux[k / 2] : s->terms.inputs[k / 2];
        printf("%c %-8s", matrices[k / 2], k % 2 ? "aux" : "inputs");
        for (size_t i = 0; i < CLASSES; i++) {
            const uint64_t n = in_class(counts, i);
            if (n)
                printf("%9.4f", 100 * (double)n / (double)s->measured);
            else
                printf("%9s", "-");
        }
        printf("\n");
    }
    printf("Terms per constraint: %.3f; in the largest combination: %" PRIu64 "\n",
           (double)s->terms.total / (double)s->measured, s->terms.most);
}

/* ---- tables ---- */

static void print_times(const study *s, study_allocator allocator) {
    printf("\nCPU time under %s, ns per constraint, median of %u (least to most)\n",
           study_allocator_names[allocator], s->rounds);
    printf("%-18s %7s %7s   %-18s %9s %9s %12s\n", "strategy", "struct", "median", "", "- direct", "/ vec",
           "allocations");
    double vec = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].strategy->name, "vec") == 0) vec = study_time(s, i, allocator, -1).median;
    for (unsigned i = 0; i < s->n; i++) {
        const lc_strategy *strategy = s->rows[i].strategy;
        const bench_spread t = study_time(s, i, allocator, -1);
        char spread[32], bytes[24] = "-", ratio[24] = "-";
        snprintf(spread, sizeof spread, "(%.1f to %.1f)", t.least, t.most);
        if (strategy->bytes) snprintf(bytes, sizeof bytes, "%zu", strategy->bytes);
        if (vec > 0) snprintf(ratio, sizeof ratio, "%.3f", t.median / vec);
        printf("%-18s %7s %7.1f   %-18s %9.1f %9s %12.4f\n", strategy->name, bytes, t.median, spread,
               study_time(s, i, allocator, STUDY_DIRECT_ROW).median, ratio,
               study_allocations(s, i, allocator));
    }
}

static void print_touched(const study *s) {
    printf("\nMemory of the combinations, per constraint\n%-18s %14s %11s %12s %9s\n", "strategy",
           "bytes written", "bytes read", "cache lines", "buffers");
    for (unsigned i = 0; i < s->n; i++) {
        const lc_trace *t = &s->rows[i].touched;
        const double n = (double)t->enforces;
        if (t->enforces)
            printf("%-18s %14.1f %11.1f %12.2f %9.4f\n", s->rows[i].strategy->name, (double)t->written / n,
                   (double)t->read / n, (double)t->lines / n, (double)t->buffers / n);
    }
}

static void print_events(const study *s) {
    if (s->source == STUDY_NONE) {
        printf("\nEvents were not counted: %s\n", s->source_note);
        return;
    }
    printf("\nEvents per constraint, less those of none. Source: %s\n%-18s", s->source_note, "strategy");
    for (int e = 0; e < COUNTER_EVENTS; e++) printf(" %13s", counter_name((counter_event)e));
    printf("\n");
    for (unsigned i = 0; i < s->n; i++) {
        printf("%-18s", s->rows[i].strategy->name);
        for (int e = 0; e < COUNTER_EVENTS; e++) {
            double value;
            if (study_events(s, i, (counter_event)e, &value))
                printf(" %13.3f", value);
            else
                printf(" %13s", "-");
        }
        printf("\n");
    }
}

void study_print(const study *s) {
    printf("=== Linear combinations: how they are stored, and what it costs ===\ncuzk %s (%s), one thread\n",
           CUZK_VERSION, CUZK_COMMIT);
    bench_print_machine();
    printf("%s, partition %u, %" PRIu64 " constraints\n", s->c1, s->partition, s->measured);
    print_terms(s);
    for (int k = 0; k < STUDY_ALLOCATORS; k++) {
        if (s->present[k])
            print_times(s, (study_allocator)k);
        else
            printf("\nNot measured under %s: %s\n", study_allocator_names[k],
                   s->wanted[k] ? s->missing[k] : "not wanted");
    }
    print_touched(s);
    print_events(s);
}

/* ---- JSON ---- */

static void put_spread(yajl_gen g, const char *key, bench_spread t) {
    json_key(g, key);
    yajl_gen_map_open(g);
    json_double(g, "median", t.median);
    json_double(g, "least", t.least);
    json_double(g, "most", t.most);
    yajl_gen_map_close(g);
}

static void put_terms(yajl_gen g, const study *s) {
    static const char *const names[6] = {"a_inputs", "a_aux", "b_inputs", "b_aux", "c_inputs", "c_aux"};
    json_key(g, "terms");
    yajl_gen_map_open(g);
    json_u64(g, "total", s->terms.total);
    json_u64(g, "most", s->terms.most);
    for (unsigned k = 0; k < 6; k++) {
        const uint64_t *counts = k % 2 ? s->terms.aux[k / 2] : s->terms.inputs[k / 2];
        json_key(g, names[k]);
        yajl_gen_map_open(g);
        for (size_t i = 0; i < CLASSES; i++) json_u64(g, classes[i].name, in_class(counts, i));
        yajl_gen_map_close(g);
    }
    yajl_gen_map_close(g);
}

static void put_times(yajl_gen g, const study *s, unsigned row, study_allocator allocator) {
    json_key(g, study_allocator_names[allocator]);
    yajl_gen_map_open(g);
    put_spread(g, "ns_per_constraint", study_time(s, row, allocator, -1));
    put_spread(g, "ns_over_direct", study_time(s, row, allocator, STUDY_DIRECT_ROW));
    json_double(g, "allocations_per_constraint", study_allocations(s, row, allocator));
    json_key(g, "cpu_seconds");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < s->rounds; i++) yajl_gen_double(g, s->rows[row].runs[allocator][i].cpu);
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void put_row(yajl_gen g, const study *s, unsigned row) {
    const study_row *r = &s->rows[row];
    yajl_gen_map_open(g);
    json_string(g, "name", r->strategy->name);
    json_string(g, "summary", r->strategy->summary);
    json_u64(g, "struct_bytes", r->strategy->bytes);
    for (int k = 0; k < STUDY_ALLOCATORS; k++)
        if (s->present[k]) put_times(g, s, row, (study_allocator)k);
    if (r->touched.enforces) {
        const double n = (double)r->touched.enforces;
        json_double(g, "bytes_written_per_constraint", (double)r->touched.written / n);
        json_double(g, "bytes_read_per_constraint", (double)r->touched.read / n);
        json_double(g, "cache_lines_per_constraint", (double)r->touched.lines / n);
        json_double(g, "buffers_per_constraint", (double)r->touched.buffers / n);
    }
    json_key(g, "events_per_constraint");
    yajl_gen_map_open(g);
    for (int e = 0; e < COUNTER_EVENTS; e++) {
        double value;
        if (study_events(s, row, (counter_event)e, &value))
            json_double(g, counter_name((counter_event)e), value);
    }
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

cuzk_code study_write_json(const study *s, const char *path, cuzk_error *err) {
    yajl_gen g = json_begin();
    json_string(g, "version", CUZK_VERSION);
    json_string(g, "commit", CUZK_COMMIT);
    bench_put_machine(g);
    json_string(g, "c1", s->c1);
    json_u64(g, "partition", s->partition);
    json_u64(g, "constraints", s->measured);
    json_u64(g, "rounds", s->rounds);
    put_terms(g, s);
    json_key(g, "not_measured");
    yajl_gen_map_open(g);
    for (int k = 0; k < STUDY_ALLOCATORS; k++)
        if (!s->present[k])
            json_string(g, study_allocator_names[k], s->wanted[k] ? s->missing[k] : "not wanted");
    yajl_gen_map_close(g);
    json_string(g, "events_source", study_source_names[s->source]);
    json_string(g, "events_note", s->source_note);
    json_key(g, "strategies");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < s->n; i++) put_row(g, s, i);
    yajl_gen_array_close(g);
    return json_end_to(g, path, err);
}
