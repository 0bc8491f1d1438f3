/*
 * The log: events with a level, a message and named values, one line each. A line is made whole and handed to
 * a sink under one lock, so lines never interleave. Without a sink nothing is made: a library user hears
 * nothing unless it asks, and src/cli sets the sink that writes to stderr.
 *
 *     log_info("job accepted", LOG_JOB(id), LOG_TEXT("kind", "porep"), LOG_COUNT("partitions", 10));
 *
 *     2026-02-17T23:08:57.750628Z  INFO job accepted job=porep-1000-1 kind=porep partitions=10
 *     {"timestamp":"2026-02-17T23:08:57.750628Z","level":"INFO","message":"job
 * accepted","job":"porep-1000-1",...
 *
 * Every line of a job's work carries LOG_JOB. Values may be anything: quotes, control characters and bytes
 * that are not UTF-8 are escaped, long ones are cut with a mark. Never log the input of a proof.
 * All of it may be called from any thread, but not from a signal handler.
 */
#ifndef CUZK_BASE_LOG_H
#define CUZK_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum log_level {
    LOG_LEVEL_OFF,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_TRACE
} log_level;

typedef enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON } log_format;

/* Receives one whole line with its newline; called by one thread at a time. It must not log. */
typedef void log_sink(void *context, log_level level, const char *line, size_t size);

/* sink = NULL turns the log off. When this returns, the former sink is no longer running. */
void log_set_sink(log_sink *sink, void *context);
/* Events above this level are dropped; LOG_LEVEL_INFO at first. */
void log_set_level(log_level level);
log_level log_get_level(void);
void log_set_format(log_format format);

/* "off", "error", "warn", "info", "debug", "trace"; false when it is none of them. */
bool log_level_parse(log_level *out, const char *text);
const char *log_level_name(log_level level);

/* Would an event of this level reach a sink? Two relaxed loads. */
bool log_enabled(log_level level);

typedef enum log_kind {
    LOG_KIND_TEXT,
    LOG_KIND_COUNT,
    LOG_KIND_SIGNED,
    LOG_KIND_REAL,
    LOG_KIND_BOOL
} log_kind;

typedef struct log_field {
    const char *name; /* a word of lower-case letters, digits and _ */
    log_kind kind;
    union {
        const char *text; /* NULL: the field is left out */
        uint64_t count;
        int64_t signed_count;
        double real; /* written with three decimals */
        bool flag;
    } value;
} log_field;

/* clang-format off */
#define LOG_TEXT(name_, v)   ((log_field){(name_), LOG_KIND_TEXT, {.text = (v)}})
#define LOG_COUNT(name_, v)  ((log_field){(name_), LOG_KIND_COUNT, {.count = (v)}})
#define LOG_SIGNED(name_, v) ((log_field){(name_), LOG_KIND_SIGNED, {.signed_count = (v)}})
#define LOG_REAL(name_, v)   ((log_field){(name_), LOG_KIND_REAL, {.real = (v)}})
#define LOG_BOOL(name_, v)   ((log_field){(name_), LOG_KIND_BOOL, {.flag = (v)}})
/* clang-format on */
#define LOG_JOB(id) LOG_TEXT("job", id)

/* The first element of `fields` is ignored, so that the macros work without any. */
void log_write(log_level level, const char *message, const log_field *fields, size_t count);

/* An event; the values are not evaluated when the level is dropped. */
#define LOG_EVENT(level, message, ...)                                                                       \
    do {                                                                                                     \
        if (log_enabled(level)) {                                                                            \
            const log_field log_fields_[] = {{0}, ##__VA_ARGS__};                                            \
            log_write(level, message, log_fields_, sizeof log_fields_ / sizeof log_fields_[0]);              \
        }                                                                                                    \
    } while (0)
#define log_error(message, ...) LOG_EVENT(LOG_LEVEL_ERROR, message, ##__VA_ARGS__)
#define log_warn(message, ...)  LOG_EVENT(LOG_LEVEL_WARN, message, ##__VA_ARGS__)
#define log_info(message, ...)  LOG_EVENT(LOG_LEVEL_INFO, message, ##__VA_ARGS__)
#define log_debug(message, ...) LOG_EVENT(LOG_LEVEL_DEBUG, message, ##__VA_ARGS__)

/* For events an outsider can cause at will: at most `most` in a second from one place, each with the number
 * that was dropped before it. A static log_limit is the place.
 *
 *     static log_limit refused;
 *     LOG_LIMITED(&refused, 5, LOG_LEVEL_WARN, "connection refused", LOG_COUNT("open", open)); */
typedef struct log_limit {
    atomic_uint_least64_t window; /* the second it counts in */
    atomic_uint passed, dropped;
} log_limit;

/* May another one pass? *dropped receives how many did not since the last that did. */
bool log_limit_pass(log_limit *limit, unsigned most, uint64_t *dropped);

#define LOG_LIMITED(limit, most, level, message, ...)                                                        \
    do {                                                                                                     \
        uint64_t log_dropped_;                                                                               \
        if (log_enabled(level) && log_limit_pass(limit, most, &log_dropped_))                                \
            LOG_EVENT(level, message, LOG_COUNT("dropped", log_dropped_), ##__VA_ARGS__);                    \
    } while (0)

#endif
