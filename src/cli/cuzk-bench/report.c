#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/pool.h"
#include "version.h"

bench_clock bench_start(void) {
    double cpu = clock_cpu_seconds();
    return (bench_clock){.wall = clock_seconds(), .cpu = cpu};
}

void bench_stop(bench_result *result, bench_clock start) {
    double wall = clock_seconds(), cpu = clock_cpu_seconds();
    result->seconds[result->repeat] = wall - start.wall;
    result->cpu_seconds[result->repeat] = cpu - start.cpu;
    result->repeat++;
}

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_spread bench_spread_of(const double *values, unsigned n) {
    double sorted[BENCH_MAX_REPEAT];
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    return (bench_spread){(sorted[n / 2] + sorted[(n - 1) / 2]) / 2, sorted[0], sorted[n - 1]};
}

/* --- the machine ---------------------------------------------------------------------------------------- */

/* The rest of the first line of `path` that starts with `key` and a colon (any line when key is ""). */
static void read_line(char *out, size_t size, const char *path, const char *key) {
    snprintf(out, size, "unknown");
    FILE *file = fopen(path, "r");
    if (!file) return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *colon = *key ? strchr(line, ':') : NULL;
        const char *value = colon ? colon + 1 : line;
        snprintf(out, size, "%.*s", (int)(size - 1), value + strspn(value, " \t"));
        break;
    }
    fclose(file);
}

typedef struct machine {
    char cpu[128], huge_pages[64], kernel[160];
    unsigned cpus;
    uint64_t memory;
    double load;
} machine;

static machine this_machine(void) {
    machine m = {.cpus = pool_cpu_count()};
    read_line(m.cpu, sizeof m.cpu, "/proc/cpuinfo", "model name");
    read_line(m.huge_pages, sizeof m.huge_pages, "/sys/kernel/mm/transparent_hugepage/enabled", "");
    struct utsname name;
    if (uname(&name) == 0)
        snprintf(m.kernel, sizeof m.kernel, "%s %s", name.sysname, name.release);
    else
        snprintf(m.kernel, sizeof m.kernel, "unknown");
    m.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (getloadavg(&m.load, 1) != 1) m.load = -1;
    return m;
}

/* --- for people ----------------------------------------------------------------------------------------- */

static const char *format_seconds(char out[32], double seconds) {
    if (seconds < 1e-6)
        snprintf(out, 32, "%.1f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        snprintf(out, 32, "%.2f us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(out, 32, "%.2f ms", 1e3 * seconds);
    else
        snprintf(out, 32, "%.3f s", seconds);
    return out;
}

static const char *format_size(char out[32], uint64_t n) {
    if (n && (n & (n - 1)) == 0)
        snprintf(out, 32, "2^%d", __builtin_ctzll(n));
    else
        snprintf(out, 32, "%" PRIu64, n);
    return out;
}

void bench_print_machine(void) {
    const machine m = this_machine();
    char text[32];
    printf("%s, %u CPUs, %s, %s, huge pages %s, load %.2f\n", m.cpu, m.cpus, format_bytes(text, m.memory),
           m.kernel, m.huge_pages, m.load);
}

void bench_print_table(const bench_report *report) {
    printf("cuzk %s (%s), %s, %u thread%s\n", CUZK_VERSION, CUZK_COMMIT, report->variant, report->threads,
           report->threads == 1 ? "" : "s");
    bench_print_machine();
    printf("\n%-14s %-8s %8s %11s %11s %11s %11s %11s\n", "work", "variant", "size", "median", "least",
           "most", "CPU", "CPU/item");
    for (unsigned i = 0; i < report->count; i++) {
        const bench_result *r = &report->results[i];
        bench_spread wall = bench_spread_of(r->seconds, r->repeat),
                     cpu = bench_spread_of(r->cpu_seconds, r->repeat);
        char size[32], median[32], least[32], most[32], cpu_text[32], item[32];
        printf("%-14s %-8s %8s %11s %11s %11s %11s %11s\n", r->work, r->variant, format_size(size, r->n),
               format_seconds(median, wall.median), format_seconds(least, wall.least),
               format_seconds(most, wall.most), format_seconds(cpu_text, cpu.median),
               format_seconds(item, cpu.median / (double)r->items));
    }
}

/* --- for programs --------------------------------------------------------------------------------------- */

static void put_seconds(yajl_gen g, const char *key, const double *values, unsigned n) {
    json_key(g, key);
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < n; i++) {
        char digits[40];
        int length = snprintf(digits, sizeof digits, "%.9f", values[i]);
        yajl_gen_number(g, digits, (size_t)length);
    }
    yajl_gen_array_close(g);
}

static void put_result(yajl_gen g, const bench_report *report, const bench_result *r) {
    yajl_gen_map_open(g);
    json_string(g, "peer", "cuzk");
    json_string(g, "work", r->work);
    json_string(g, "variant", r->variant);
    json_u64(g, "n", r->n);
    json_key(g, "log_n");
    if (r->n && (r->n & (r->n - 1)) == 0)
        yajl_gen_integer(g, __builtin_ctzll(r->n));
    else
        yajl_gen_null(g);
    json_u64(g, "threads", r->threads);
    json_u64(g, "seed", report->seed);
    put_seconds(g, "seconds", r->seconds, r->repeat);
    put_seconds(g, "cpu_seconds", r->cpu_seconds, r->repeat);
    json_string(g, "checksum", r->checksum);
    yajl_gen_map_close(g);
}

void bench_put_machine(yajl_gen g) {
    machine m = this_machine();
    json_key(g, "machine");
    yajl_gen_map_open(g);
    json_string(g, "cpu", m.cpu);
    json_u64(g, "cpus", m.cpus);
    json_u64(g, "memory_bytes", m.memory);
    json_string(g, "kernel", m.kernel);
    json_string(g, "huge_pages", m.huge_pages);
    json_double(g, "load", m.load);
    json_string(g, "compiler", COMPILER);
    yajl_gen_map_close(g);
}

cuzk_code bench_print_json(const bench_report *report, const char *path, cuzk_error *err) {
    yajl_gen g = json_begin();
    json_string(g, "version", CUZK_VERSION);
    json_string(g, "commit", CUZK_COMMIT);
    json_string(g, "variant", report->variant);
    json_u64(g, "threads", report->threads);
    bench_put_machine(g);
    json_key(g, "results");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < report->count; i++) put_result(g, report, &report->results[i]);
    yajl_gen_array_close(g);
    return json_end_to(g, path, err);
}
