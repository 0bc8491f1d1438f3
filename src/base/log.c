/*
 * A line is built in one buffer on the stack. Each field is written whole or, where it does not fit, taken
 * back, and "truncated" stands in its place. Strings are escaped for their form: in text only where a reader
 * could be deceived (then quoted), in JSON as JSON wants it. Bytes that are not UTF-8 come out as \xNN in
 * text and as U+FFFD in JSON.
 */
#include "base/log.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

#define LINE_MOST  8192
#define VALUE_MOST 1024 /* bytes of one string that are shown */
#define TAIL_ROOM  32   /* for what closes a line */

static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static log_sink *current_sink;
static void *sink_context;
static atomic_bool sink_set;
static atomic_int current_level = LOG_LEVEL_INFO;
static atomic_int current_format = LOG_FORMAT_TEXT;

static const char *const level_names[] = {"off", "error", "warn", "info", "debug", "trace"};
static const char *const level_capitals[] = {"OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};

void log_set_sink(log_sink *sink, void *context) {
    pthread_mutex_lock(&sink_lock);
    current_sink = sink;
    sink_context = context;
    atomic_store(&sink_set, sink != NULL);
    pthread_mutex_unlock(&sink_lock);
}

void log_set_level(log_level level) {
    atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

log_level log_get_level(void) {
    return (log_level)atomic_load_explicit(&current_level, memory_order_relaxed);
}

void log_set_format(log_format format) {
    atomic_store_explicit(&current_format, (int)format, memory_order_relaxed);
}

bool log_level_parse(log_level *out, const char *text) {
    for (unsigned i = 0; i < sizeof level_names / sizeof level_names[0]; i++) {
        if (strcmp(text, level_names[i]) != 0) continue;
        *out = (log_level)i;
        return true;
    }
    return false;
}

const char *log_level_name(log_level level) {
    return level_names[level];
}

bool log_enabled(log_level level) {
    return atomic_load_explicit(&sink_set, memory_order_relaxed) && level <= log_get_level();
}

bool log_limit_pass(log_limit *limit, unsigned most, uint64_t *dropped) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t second = (uint64_t)now.tv_sec + 1; /* a zeroed limit has no window yet */
    uint64_t window = atomic_load(&limit->window);
    if (window != second && atomic_compare_exchange_strong(&limit->window, &window, second))
        atomic_store(&limit->passed, 0);
    if (atomic_fetch_add(&limit->passed, 1) >= most) {
        atomic_fetch_add(&limit->dropped, 1);
        return false;
    }
    *dropped = atomic_exchange(&limit->dropped, 0);
    return true;
}

/* --- building a line ------------------------------------------------------------------------------------ */

typedef struct line {
    char text[LINE_MOST];
    size_t size, limit;
    bool full;
} line;

static void put(line *l, const char *bytes, size_t n) {
    if (l->full || n > l->limit - l->size) {
        l->full = true;
        return;
    }
    memcpy(l->text + l->size, bytes, n);
    l->size += n;
}

static void put_text(line *l, const char *text) {
    put(l, text, strlen(text));
}

/* C1 controls, line and paragraph separators and what turns the direction of text: harmless to a parser, but
 * not to someone who reads a terminal. */
static bool deceiving(const unsigned char *p, unsigned n) {
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0;
    if (n != 3 || p[0] != 0xe2) return false;
    if (p[1] == 0x80) return p[2] >= 0xa8 && p[2] <= 0xae;
    return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

static uint32_t code_point(const unsigned char *p, unsigned n) {
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = p[0] & mask[n];
    for (unsigned i = 1; i < n; i++) value = value << 6 | (p[i] & 0x3fu);
    return value;
}

static const char *short_escape(unsigned char c) {
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

static void put_escaped(line *l, const char *text, bool json) {
    const unsigned char *p = (const unsigned char *)text;
    const unsigned char *start = p;
    char escape[16];
    while (*p) {
        if ((size_t)(p - start) >= VALUE_MOST) {
            char rest[48];
            snprintf(rest, sizeof rest, "...(%zu bytes)", strlen(text));
            put_text(l, rest);
            return;
        }
        unsigned n = utf8_length(p, 4);
        if (n == 0) {
            snprintf(escape, sizeof escape, json ? "\\ufffd" : "\\x%02x", *p);
            put_text(l, escape);
            p++;
            continue;
        }
        const char *known = short_escape(*p);
        if (known) {
            put_text(l, known);
        } else if (*p < 0x20 || *p == 0x7f || deceiving(p, n)) {
            snprintf(escape, sizeof escape, json ? "\\u%04x" : "\\u{%x}", code_point(p, n));
            put_text(l, escape);
        } else {
            put(l, (const char *)p, n);
        }
        p += n;
    }
}

/* Can the value stand in a text line without quotes? */
static bool plain(const char *text) {
    if (!*text) return false;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p <= ' ' || *p >= 0x7f || *p == '"' || *p == '\\' || *p == '=') return false;
    return strlen(text) <= VALUE_MOST;
}

static void put_string(line *l, const char *text, bool json) {
    if (!json && plain(text)) {
        put_text(l, text);
        return;
    }
    put(l, "\"", 1);
    put_escaped(l, text, json);
    put(l, "\"", 1);
}

static void put_value(line *l, const log_field *f, bool json) {
    char number[64];
    switch (f->kind) {
    case LOG_KIND_TEXT:
        put_string(l, f->value.text, json);
        return;
    case LOG_KIND_COUNT:
        snprintf(number, sizeof number, "%" PRIu64, f->value.count);
        break;
    case LOG_KIND_SIGNED:
        snprintf(number, sizeof number, "%" PRId64, f->value.signed_count);
        break;
    case LOG_KIND_REAL:
        if (isfinite(f->value.real) && fabs(f->value.real) < 1e18)
            snprintf(number, sizeof number, "%.3f", f->value.real);
        else if (isfinite(f->value.real))
            snprintf(number, sizeof number, "%.3e", f->value.real);
        else
            snprintf(number, sizeof number, "%s", json ? "null" : isnan(f->value.real) ? "nan" : "inf");
        break;
    case LOG_KIND_BOOL:
        snprintf(number, sizeof number, "%s", f->value.flag ? "true" : "false");
        break;
    }
    put_text(l, number);
}

static void put_field(line *l, const log_field *f, bool json) {
    if (f->kind == LOG_KIND_TEXT && !f->value.text) return;
    put_text(l, json ? ",\"" : " ");
    put_text(l, f->name);
    put_text(l, json ? "\":" : "=");
    put_value(l, f, json);
}

static void put_head(line *l, log_level level, const char *message, bool json) {
    struct timespec now;
    struct tm utc;
    char head[96];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(head, sizeof head, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(head + n, sizeof head - n, ".%06ldZ", now.tv_nsec / 1000);
    if (json) {
        put_text(l, "{\"timestamp\":\"");
        put_text(l, head);
        put_text(l, "\",\"level\":\"");
        put_text(l, level_capitals[level]);
        put_text(l, "\",\"message\":");
        put_string(l, message, true);
    } else {
        put_text(l, head);
        snprintf(head, sizeof head, " %5s ", level_capitals[level]);
        put_text(l, head);
        put_escaped(l, message, false);
    }
}

void log_write(log_level level, const char *message, const log_field *fields, size_t count) {
    if (!log_enabled(level)) return;
    bool json = atomic_load_explicit(&current_format, memory_order_relaxed) == LOG_FORMAT_JSON;
    line l;
    l.size = 0;
    l.limit = LINE_MOST - TAIL_ROOM;
    l.full = false;
    put_head(&l, level, message, json);
    for (size_t i = 1; i < count && !l.full; i++) {
        size_t before = l.size;
        put_field(&l, &fields[i], json);
        if (l.full) l.size = before;
    }
    bool truncated = l.full;
    l.full = false;
    l.limit = LINE_MOST;
    if (truncated) put_text(&l, json ? ",\"truncated\":true" : " truncated=true");
    put_text(&l, json ? "}\n" : "\n");

    pthread_mutex_lock(&sink_lock);
    if (current_sink) current_sink(sink_context, level, l.text, l.size);
    pthread_mutex_unlock(&sink_lock);
}
