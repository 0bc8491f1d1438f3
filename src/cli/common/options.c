/* Option values: strict numbers, sizes and hex, and the options every command has. */
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_u64(const char *text, uint64_t *value, const char **rest) {
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    *rest = end;
    return errno == 0;
}

uint64_t option_u64(const char *text, uint64_t low, uint64_t high, const char *option,
                    const struct argp_state *s) {
    uint64_t value = 0;
    const char *rest;
    if (!read_u64(text, &value, &rest) || *rest || value < low || value > high)
        argp_error(s, "%s: '%s', expected a whole number from %llu to %llu", option, text,
                   (unsigned long long)low, (unsigned long long)high);
    return value;
}

uint64_t option_bytes(const char *text, const char *option, const struct argp_state *s) {
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    uint64_t value;
    const char *rest;
    if (read_u64(text, &value, &rest))
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (strcmp(rest, units[i].suffix) == 0 && value <= UINT64_MAX >> units[i].shift)
                return value << units[i].shift;
    argp_error(s, "%s: '%s', expected a size such as 1000, 512MiB or 4GiB", option, text);
    return 0;
}

void option_hex(uint8_t *out, size_t size, const char *text, const char *option, const struct argp_state *s) {
    size_t length = strlen(text);
    bool good = length == 2 * size;
    for (size_t i = 0; good && i < length; i++) good = isxdigit((unsigned char)text[i]);
    if (!good) {
        argp_error(s, "%s: %zu characters, expected %zu hex digits (%zu bytes)", option, length, 2 * size,
                   size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

void option_missing(const char *option, const struct argp_state *s) {
    argp_error(s, "%s is required", option);
}

enum { KEY_JSON = 0x1001, KEY_THREADS, KEY_BUDGET };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "Print the result, or the error, as one JSON object on stdout", 90},
    {"quiet", 'q', NULL, 0, "No progress on stderr", 90},
    {"threads", KEY_THREADS, "N", 0, "Threads to use (default: one per CPU)", 90},
    {"memory-budget", KEY_BUDGET, "SIZE", 0,
     "Memory for big buffers, such as 8GiB (default: what the machine or cgroup has, less a margin)", 90},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    common_options *common = state->input;
    switch (key) {
    case KEY_JSON:
        common->json = true;
        return 0;
    case 'q':
        common->quiet = true;
        return 0;
    case KEY_THREADS:
        common->engine.threads = (unsigned)option_u64(arg, 1, 1024, "--threads", state);
        return 0;
    case KEY_BUDGET:
        common->engine.memory_budget = option_bytes(arg, "--memory-budget", state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp common_argp_without_json = {.options = options + 1, .parser = parse};
const struct argp_child common_children_without_json[] = {
    {&common_argp_without_json, 0, "Common options:", 90}, {0}};
const struct argp common_argp = {.options = options, .parser = parse};
const struct argp_child common_children[] = {{&common_argp, 0, "Common options:", 90}, {0}};
