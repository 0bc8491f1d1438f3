#include "engine/timeline.h"

#include <stdio.h>

static const char *const stage_words[STAGE_KINDS] = {
    [STAGE_CHECK] = "CHECK", [STAGE_SYNTHESIS] = "SYNTH", [STAGE_PROVE] = "GPU", [STAGE_VERIFY] = "VERIFY"};

static void put_name(char out[24], const engine_event *event) {
    static const char *const names[] = {
        [ENGINE_SUBMITTED] = "SUBMITTED", [ENGINE_STAGE_START] = "START", [ENGINE_STAGE_END] = "END",
        [ENGINE_PAUSED] = "PAUSED",       [ENGINE_RESUMED] = "RESUMED",   [ENGINE_RETRY] = "RETRY",
        [ENGINE_FINISHED] = "FINISHED"};
    if (event->kind == ENGINE_STAGE_START || event->kind == ENGINE_STAGE_END)
        snprintf(out, 24, "%s_%s", stage_words[event->stage], names[event->kind]);
    else
        snprintf(out, 24, "%s", names[event->kind]);
}

static void put_detail(char out[96], const engine_event *event) {
    bool named = event->kind == ENGINE_PAUSED || event->kind == ENGINE_RESUMED || event->kind == ENGINE_RETRY;
    int used = 0;
    if (event->kind == ENGINE_SUBMITTED) {
        snprintf(out, 96, "kind=%s,priority=%s", job_kind_name(event->job_kind),
                 job_priority_name(event->priority));
        return;
    }
    if (event->kind == ENGINE_FINISHED) {
        snprintf(out, 96, "state=%s", job_state_name(event->state));
        return;
    }
    out[0] = 0;
    if (named) used = snprintf(out, 96, "stage=%s", stage_name(event->stage));
    if (event->partition != ENGINE_NO_PARTITION)
        used += snprintf(out + used, 96 - (size_t)used, "%spartition=%u", used ? "," : "", event->partition);
    if (event->kind != ENGINE_STAGE_END) return;
    const char *unit = event->stage == STAGE_SYNTHESIS ? "synth_ms"
                       : event->stage == STAGE_PROVE   ? "gpu_ms"
                                                       : "ms";
    snprintf(out + used, 96 - (size_t)used, "%s%s=%.0f", used ? "," : "", unit, 1000 * event->seconds);
}

void timeline_line(char out[TIMELINE_LINE_BYTES], const engine_event *event) {
    char name[24], detail[96];
    put_name(name, event);
    put_detail(detail, event);
    snprintf(out, TIMELINE_LINE_BYTES, "TIMELINE,%.0f,%s,%s,%s", 1000 * event->time, name, event->job_id,
             detail);
}
