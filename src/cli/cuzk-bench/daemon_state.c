#include "daemon_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_SECONDS 30.0

bool metric_sum(double *out, const char *text, const char *name) {
    size_t length = strlen(name);
    bool there = false;
    *out = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, length) != 0) continue;
        const char *value = line + length;
        if (*value == '{') { /* values of labels may hold anything in quotes */
            bool quoted = false;
            for (; *value && *value != '\n' && (quoted || *value != '}'); value++) {
                if (*value == '\\' && quoted && value[1])
                    value++;
                else if (*value == '"')
                    quoted = !quoted;
            }
            if (*value == '}') value++;
        }
        if (*value != ' ') continue;
        *out += strtod(value, NULL);
        there = true;
    }
    return there;
}

static cuzk_code read_text(daemon_state *s, const char *text, cuzk_error *err) {
    const struct {
        const char *name;
        double *value;
        bool needed; /* those by kind are absent until a kind is seen */
    } metrics[] = {{"cuzk_jobs", &s->unfinished, false},
                   {"cuzk_stages_running", &s->stages, true},
                   {"cuzk_partitions_synthesized", &s->synthesized, true},
                   {"cuzk_memory_reserved_bytes", &s->reserved_bytes, true},
                   {"cuzk_process_resident_bytes", &s->resident_bytes, true},
                   {"cuzk_requests_accepted_total", &s->accepted, true},
                   {"cuzk_requests_refused_total", &s->refused, false},
                   {"cuzk_proofs_completed", &s->completed, false},
                   {"cuzk_proofs_failed", &s->failed, false},
                   {"cuzk_proofs_cancelled", &s->cancelled, false},
                   {"cuzk_proofs_timed_out", &s->timed_out, false}};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        if (!metric_sum(metrics[i].value, text, metrics[i].name) && metrics[i].needed)
            return error_set(err, CUZK_ERR_PROOF, NULL, CUZK_NO_OFFSET, "the daemon's metrics have no %s",
                             metrics[i].name);
    return CUZK_OK;
}

cuzk_code daemon_state_read(daemon_state *out, daemon_link *d, cuzk_error *err) {
    get_metrics_request request = {0};
    get_metrics_response response = {.prometheus_text = {NULL, 0}};
    *out = (daemon_state){.unfinished = 0};
    if (daemon_call(d, METHOD_GET_METRICS, &request, CALL_SECONDS, &response) != RPC_OK)
        return daemon_error(d, err);
    wire_view text = response.prometheus_text;
    char *copy = malloc(text.size + 1);
    if (!copy) return error_no_memory(err, text.size, "the metrics");
    if (text.size) memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    cuzk_code code = read_text(out, copy, err);
    free(copy);
    return code;
}

static void note(char out[512], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(char out[512], const char *format, ...) {
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    if (used) used += (size_t)snprintf(out + used, 512 - used, ", ");
    if (used < 512) vsnprintf(out + used, 512 - used, format, args);
    va_end(args);
}

static double ended(const daemon_state *s) {
    return s->completed + s->failed + s->cancelled + s->timed_out;
}

bool daemon_state_leftover(char out[512], const daemon_state *before, const daemon_state *after) {
    out[0] = 0;
    if (after->unfinished > 0) note(out, "%.0f unfinished jobs", after->unfinished);
    if (after->stages > 0) note(out, "%.0f running stages", after->stages);
    if (after->synthesized > 0) note(out, "%.0f synthesized partitions", after->synthesized);
    if (after->reserved_bytes > before->reserved_bytes)
        note(out, "%.0f bytes reserved more than before", after->reserved_bytes - before->reserved_bytes);
    double lost = after->accepted - before->accepted - (ended(after) - ended(before));
    if (lost != 0) note(out, "%.0f accepted jobs without an end", lost);
    return out[0] != 0;
}
