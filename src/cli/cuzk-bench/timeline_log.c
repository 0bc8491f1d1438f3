/*
 * TIMELINE lines in a log: TIMELINE,<ms>,<EVENT>,<job id>,<detail>. They may stand anywhere in a line, such
 * as in a log's message, in quotes too. Job ids are any text, with commas: the detail is the longest tail of
 * name=value pairs.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/wire.h"
#include "timeline_record.h"

#define WORD        "TIMELINE,"
#define MAX_SECONDS 1e9 /* no engine runs for longer */

/* Is [at, end) name=value,...? Values may be empty. */
static bool is_detail(const char *at) {
    if (*at == 0) return true;
    for (;;) {
        const char *name = at;
        while (islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_') at++;
        if (at == name || *at != '=') return false;
        at += strcspn(at, ",");
        if (*at == 0) return true;
        at++;
    }
}

/* Where the job id ends: the first comma with a detail behind it. NULL: there is none. */
static char *id_end(char *id) {
    for (char *comma = strchr(id, ','); comma; comma = strchr(comma + 1, ','))
        if (is_detail(comma + 1)) return comma;
    return NULL;
}

/* The value of a name in a detail, as a number; fallback without one. */
static double number(const char *detail, const char *name, double fallback) {
    size_t length = strlen(name);
    for (const char *at = detail; at && *at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
        char *end;
        double value = strtod(at + length + 1, &end);
        return end == at + length + 1 || !__builtin_isfinite(value) ? fallback : value;
    }
    return fallback;
}

static unsigned cores(const char *detail, const char *name) {
    double value = number(detail, name, 0);
    return value <= 0 ? 0 : value < 1e6 ? (unsigned)value : 1000000;
}

static void text(char *out, size_t size, const char *detail, const char *name) {
    size_t length = strlen(name);
    for (const char *at = detail; at && *at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
        at += length + 1;
        snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
        return;
    }
}

static bool stage_event(timeline *t, timeline_job *job, const char *event, const char *detail, double time,
                        uint32_t partition) {
    static const struct {
        const char *name;
        timeline_stage stage;
        bool end;
        const char *ms;
    } events[] = {
        {"SYNTH_START", TIMELINE_SYNTHESIS, false, ""}, {"SYNTH_END", TIMELINE_SYNTHESIS, true, "synth_ms"},
        {"GPU_START", TIMELINE_PROVE, false, ""},       {"GPU_END", TIMELINE_PROVE, true, "gpu_ms"},
        {"CHECK_START", TIMELINE_CHECK, false, ""},     {"CHECK_END", TIMELINE_CHECK, true, "ms"},
        {"VERIFY_START", TIMELINE_VERIFY, false, ""},   {"VERIFY_END", TIMELINE_VERIFY, true, "ms"},
        {"PAUSED", TIMELINE_PAUSE, false, ""},          {"RESUMED", TIMELINE_PAUSE, true, ""}};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(event, events[i].name) != 0) continue;
        timeline_stage stage = events[i].stage;
        bool whole = stage == TIMELINE_CHECK || stage == TIMELINE_VERIFY;
        /* A job of the reference without partitions is its own only one. */
        uint32_t lane = whole                                                        ? TIMELINE_WHOLE_JOB
                        : partition == TIMELINE_WHOLE_JOB && stage != TIMELINE_PAUSE ? 0
                                                                                     : partition;
        if (events[i].end)
            timeline_end(t, job, lane, stage, time, number(detail, events[i].ms, 0) / 1000);
        else
            timeline_start(t, job, lane, stage, time);
        return true;
    }
    return false;
}

/* One line, from behind WORD; terminated. False when it is none. */
static bool read_line(timeline *t, char *line) {
    char *end;
    double time = strtod(line, &end) / 1000;
    if (end == line || *end != ',' || !(time >= 0 && time <= MAX_SECONDS)) return false;
    char *event = end + 1, *id = strchr(event, ',');
    if (!id) return false;
    *id++ = 0;
    char *detail = id_end(id);
    if (!detail) return false;
    *detail++ = 0;
    if (strcmp(event, "CORES") == 0) {
        timeline_sampled(t, time, cores(detail, "busy"), cores(detail, "total"));
        return true;
    }
    timeline_job *job = timeline_job_named(t, id);
    double k = number(detail, "partition", -1);
    uint32_t partition = k >= 0 && k < 65536 ? (uint32_t)k : TIMELINE_WHOLE_JOB;
    if (!job) return false;
    if (stage_event(t, job, event, detail, time, partition)) return true;
    if (strcmp(event, "SUBMITTED") == 0) {
        job->submitted = time;
        text(job->kind, sizeof job->kind, detail, "kind");
        text(job->priority, sizeof job->priority, detail, "priority");
    } else if (strcmp(event, "FINISHED") == 0) {
        job->ended = time;
        text(job->state, sizeof job->state, detail, "state");
    } else if (strcmp(event, "RETRY") == 0) {
        job->retries++;
    }
    return true; /* other events of the reference tell nothing new */
}

/* Cut what stands behind a TIMELINE text in a log's line: the newline, and in quotes the closing one. What is
 * no UTF-8 would be none in a chart either. */
static void trim(const char *line, char *found) {
    found[strcspn(found, "\r\n")] = 0;
    if (!wire_is_utf8(wire_text(found)))
        for (char *at = found; *at; at++)
            if ((unsigned char)*at >= 0x80) *at = '?';
    if (found == line || found[-1] != '"') return;
    for (char *at = found; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '"') {
            *at = 0;
            return;
        }
    }
}

cuzk_code timeline_read_log(timeline *t, const char *path, cuzk_error *err) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!file) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot open");
    char *line = NULL;
    size_t size = 0, lines = 0, good = 0;
    while (getline(&line, &size, file) > 0) {
        lines++;
        char *found = strstr(line, WORD);
        if (!found) continue;
        trim(line, found);
        good += read_line(t, found + strlen(WORD));
    }
    int number_read = ferror(file) ? errno : 0;
    free(line);
    if (file != stdin) fclose(file);
    if (number_read) return error_errno(err, CUZK_ERR_INPUT, path, number_read, "cannot read");
    if (good == 0)
        return error_set(
            err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
            "no line of the form TIMELINE,<ms>,<EVENT>,<job>,<detail> in %zu lines (cuzk-daemon writes "
            "them at log level trace)",
            lines);
    return CUZK_OK;
}
