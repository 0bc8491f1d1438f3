#include "server/event_log.h"

#include "base/log.h"
#include "engine/timeline.h"

static void log_stage(const engine_event *e, const char *what) {
    if (e->partition == ENGINE_NO_PARTITION)
        log_debug(what, LOG_JOB(e->job_id), LOG_TEXT("stage", stage_name(e->stage)), LOG_REAL("at", e->time));
    else
        log_debug(what, LOG_JOB(e->job_id), LOG_TEXT("stage", stage_name(e->stage)),
                  LOG_COUNT("partition", e->partition), LOG_REAL("at", e->time));
}

static void log_stage_end(const engine_event *e) {
    if (e->partition == ENGINE_NO_PARTITION)
        log_debug("stage ended", LOG_JOB(e->job_id), LOG_TEXT("stage", stage_name(e->stage)),
                  LOG_REAL("seconds", e->seconds), LOG_REAL("at", e->time));
    else
        log_debug("stage ended", LOG_JOB(e->job_id), LOG_TEXT("stage", stage_name(e->stage)),
                  LOG_COUNT("partition", e->partition), LOG_REAL("seconds", e->seconds),
                  LOG_REAL("at", e->time));
}

/* The line for tools that draw timelines. */
static void log_timeline(const engine_event *e) {
    if (!log_enabled(LOG_LEVEL_TRACE)) return;
    char line[TIMELINE_LINE_BYTES];
    timeline_line(line, e);
    LOG_EVENT(LOG_LEVEL_TRACE, line);
}

static void log_end(const engine_event *e) {
    log_level level = LOG_LEVEL_INFO;
    if (e->state == JOB_FAILED) level = LOG_LEVEL_ERROR;
    if (e->state == JOB_TIMEOUT) level = LOG_LEVEL_WARN;
    LOG_EVENT(level, "job ended", LOG_JOB(e->job_id), LOG_TEXT("kind", job_kind_name(e->job_kind)),
              LOG_TEXT("state", job_state_name(e->state)),
              LOG_TEXT("reason", e->state == JOB_COMPLETED ? NULL : e->message), LOG_REAL("at", e->time));
}

void event_log(void *ctx, const engine_event *e) {
    (void)ctx;
    switch (e->kind) {
    case ENGINE_SUBMITTED:
        log_info("job accepted", LOG_JOB(e->job_id), LOG_TEXT("kind", job_kind_name(e->job_kind)),
                 LOG_TEXT("priority", job_priority_name(e->priority)), LOG_REAL("at", e->time));
        break;
    case ENGINE_STAGE_START:
        log_stage(e, "stage begins");
        break;
    case ENGINE_STAGE_END:
        log_stage_end(e);
        break;
    case ENGINE_PAUSED:
        log_stage(e, "stage paused for a more urgent job");
        break;
    case ENGINE_RESUMED:
        log_stage(e, "stage goes on");
        break;
    case ENGINE_RETRY:
        log_warn("self-check failed, the partition is computed again", LOG_JOB(e->job_id),
                 LOG_COUNT("partition", e->partition), LOG_TEXT("reason", e->message),
                 LOG_REAL("at", e->time));
        break;
    case ENGINE_FINISHED:
        log_end(e);
        break;
    }
    log_timeline(e);
}
