/*
 * The daemon's settings. One table (config_table.c) names every key with its type, default, range,
 * environment variable, flag and meaning; reading files, variables and flags, `config dump`, the commented
 * example and the reference table of docs/operations.md are all made from it.
 *
 * A value comes from a flag, else from the environment, else from the file, else from the table, and the
 * source is remembered. Reading is strict: an unknown section or key, a wrong type, a size or duration that
 * is not exactly one, a value out of range or a key given twice is an error. For the file its path is
 * "FILE:LINE:COLUMN" (both from 1) with CUZK_NO_OFFSET, and its code CUZK_ERR_INPUT; a bad flag or variable
 * is CUZK_ERR_USAGE and named in the message.
 */
#ifndef CUZK_SERVER_CONFIG_H
#define CUZK_SERVER_CONFIG_H

#include "base/error.h"
#include "base/log.h"

#define CONFIG_DEFAULT_PATH "/data/zk/cuzk.toml"

typedef struct config_list {
    char **items;
    size_t count;
} config_list;

/* Names follow the keys: daemon.listen is .daemon.listen. Bytes are bytes, _ms are milliseconds. Strings are
 * never NULL; "" is off where the comment says so. What was "auto" holds the value chosen. */
typedef struct config {
    struct {
        char *listen;        /* gRPC: "unix:///PATH" or "IP:PORT" */
        char *status_listen; /* HTTP: "IP:PORT", or "" = off */
        char *state_dir;     /* jobs that outlive the process, or "" = off */
        char *failure_dir;   /* inputs of jobs whose self-check failed, or "" = off */
        uint64_t failure_bytes;
        uint64_t drain_timeout_ms; /* from SIGTERM until what still runs is cancelled */
        uint64_t max_connections;
        uint64_t max_message_size;
        uint64_t request_budget; /* bytes of all requests held at once */
        uint64_t upload_stall_timeout_ms;
        uint64_t result_ttl_ms;
        uint64_t result_bytes;
    } daemon;
    struct {
        uint64_t total_budget;
        uint64_t safety_margin;
        uint64_t eviction_min_idle_ms;
    } memory;
    struct {
        char *param_cache;
    } srs;
    struct {
        config_list preload; /* circuit ids of the catalog */
        bool lock;           /* lock HOT keys in memory as far as RLIMIT_MEMLOCK allows */
    } keys;
    struct {
        uint64_t threads; /* at least 1 */
    } engine;
    struct {
        uint64_t synthesis_lookahead; /* partitions synthesized ahead of the prover; at least 1 */
    } pipeline;
    struct {
        uint64_t max_batch_size;
        uint64_t max_batch_wait_ms;
        uint64_t max_queue; /* unfinished jobs; one more is refused */
        uint64_t ageing_ms; /* waiting this long raises a job one priority; 0 = never */
        bool sort_by_type;  /* group jobs of one circuit where priorities allow */
    } scheduler;
    struct {
        uint64_t level;  /* a log_level */
        uint64_t format; /* a log_format */
    } logging;

    struct config_origin *origins; /* one for each key of the table: config_origin_of() */
    config_list warnings;          /* deprecated keys, values without effect; each with its place */
    char *file;                    /* the file read, or "" when there was none */
} config;

typedef struct config_flag {
    const char *key;  /* of the table */
    const char *name; /* as typed, for messages: "--listen" */
    const char *text;
} config_flag;

typedef struct config_inputs {
    const char *path;         /* --config: must exist. NULL: CONFIG_DEFAULT_PATH, which may be absent */
    char *const *environment; /* "NAME=VALUE" until NULL, as environ; NULL = none */
    const config_flag *flags; /* the last of a key wins */
    size_t flag_count;
} config_inputs;

/* *out is NULL on failure. */
cuzk_code config_load(config **out, const config_inputs *in, cuzk_error *err);
/* The same from the text of a file; `name` stands for its path. in->path is ignored. */
cuzk_code config_parse(config **out, const char *text, size_t size, const char *name, const config_inputs *in,
                       cuzk_error *err);
void config_free(config *c);

/* Take into `running` what a new configuration may change while the daemon runs (table: reload), and append
 * to `notes` a sentence for each value taken and each that needs a restart. The caller keeps both, and holds
 * whatever lock readers of `running` hold. */
cuzk_code config_reload(config *running, const config *fresh, config_list *notes, cuzk_error *err);
void config_list_free(config_list *list);

/* --- the table -------------------------------------------------------------------------------------------
 */

typedef enum config_type {
    CONFIG_BOOL,
    CONFIG_COUNT,
    CONFIG_BYTES,
    CONFIG_DURATION,
    CONFIG_STRING,
    CONFIG_PATH,
    CONFIG_ADDRESS, /* unix:///PATH or IP:PORT */
    CONFIG_INET,    /* IP:PORT */
    CONFIG_CHOICE,
    CONFIG_STRINGS,
    CONFIG_COUNTS
} config_type;

/* NO_EFFECT and DEPRECATED keys are checked like the others, in the file alone, and lead to a warning. */
typedef enum config_status { CONFIG_USED, CONFIG_NO_EFFECT, CONFIG_DEPRECATED } config_status;

typedef enum config_source {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_FILE,
    CONFIG_FROM_ENVIRONMENT,
    CONFIG_FROM_FLAG
} config_source;

typedef struct config_key {
    const char *key;         /* "section.name" */
    const char *fallback;    /* the default as it would stand in a variable; "auto" where that is allowed */
    const char *environment; /* the variable that sets it; NULL for keys without effect */
    const char *flag;        /* "--listen", or NULL */
    const char *meaning;     /* one line for people */
    const char *note;        /* of a key without effect: why, or what replaces it */
    uint64_t low, high;      /* of numbers, sizes and durations (ms); high is inclusive */
    const char *const *choices; /* of CONFIG_CHOICE, until NULL; the value is the index */
    size_t offset;              /* into config; CONFIG_NO_PLACE unless the status is CONFIG_USED */
    config_type type;
    config_status status;
    bool automatic; /* "auto" is allowed */
    bool optional;  /* "" is allowed */
    bool reload;    /* taken from the file again on SIGHUP */
} config_key;

#define CONFIG_NO_PLACE SIZE_MAX

const config_key *config_keys(size_t *n);
const config_key *config_find_key(const char *key);

/* Where a value came from; *place, unless NULL, receives "FILE:LINE:COLUMN", the variable or the flag, and ""
 * for a default. It lives as long as the configuration. */
config_source config_origin_of(const config *c, const config_key *key, const char **place);
const char *config_source_name(config_source source);

/* The value as TOML: quoted, with the largest unit that fits. Values that were "auto" show what was chosen.
 * free() the result; NULL when there is no memory. */
char *config_value_text(const config *c, const config_key *key);
bool config_was_automatic(const config *c, const config_key *key);

/* The commented example with every key and its default (dist/cuzk.toml), and the reference table in Markdown
 * (docs/operations.md). free() the result; NULL when there is no memory. */
char *config_example_text(void);
char *config_reference_text(void);

#endif
