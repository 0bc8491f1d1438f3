/*
 * Loading: the table's defaults, then the file, then variables, then flags, each over what was there; then
 * what was "auto" is chosen and values are compared with each other. Wherever it fails, the error carries the
 * place of the value at fault, which is why every value keeps its origin.
 */
#include "server/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "server/config_parts.h"

static size_t key_index(const config_key *key) {
    size_t n;
    return (size_t)(key - config_keys(&n));
}

static void *member(const config *c, const config_key *key) {
    return (char *)c + key->offset;
}

config_value config_member(const config *c, const config_key *key) {
    config_value v = {.automatic = c->origins[key_index(key)].automatic};
    void *place = member(c, key);
    switch (key->type) {
    case CONFIG_BOOL:
        v.flag = *(bool *)place;
        break;
    case CONFIG_COUNT:
    case CONFIG_BYTES:
    case CONFIG_DURATION:
    case CONFIG_CHOICE:
        v.number = *(uint64_t *)place;
        break;
    case CONFIG_STRINGS:
    case CONFIG_COUNTS:
        v.list = *(config_list *)place;
        break;
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_ADDRESS:
    case CONFIG_INET:
        v.text = *(char **)place;
        break;
    }
    return v;
}

void config_set_member(config *c, const config_key *key, config_value *v) {
    void *place = member(c, key);
    switch (key->type) {
    case CONFIG_BOOL:
        *(bool *)place = v->flag;
        break;
    case CONFIG_COUNT:
    case CONFIG_BYTES:
    case CONFIG_DURATION:
    case CONFIG_CHOICE:
        *(uint64_t *)place = v->number;
        break;
    case CONFIG_STRINGS:
    case CONFIG_COUNTS:
        config_list_free(place);
        *(config_list *)place = v->list;
        v->list = (config_list){NULL, 0};
        break;
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_ADDRESS:
    case CONFIG_INET:
        free(*(char **)place);
        *(char **)place = v->text;
        v->text = NULL;
        break;
    }
    c->origins[key_index(key)].automatic = v->automatic;
    config_value_free(v);
}

static cuzk_code set_origin(config *c, const config_key *key, config_source source, const char *place,
                            cuzk_error *err) {
    struct config_origin *origin = &c->origins[key_index(key)];
    char *kept = strdup(place);
    if (!kept) return error_no_memory(err, strlen(place), "the origin of a setting");
    free(origin->place);
    origin->source = source;
    origin->place = kept;
    return CUZK_OK;
}

config_source config_origin_of(const config *c, const config_key *key, const char **place) {
    const struct config_origin *origin = &c->origins[key_index(key)];
    if (place) *place = origin->place ? origin->place : "";
    return origin->source;
}

const char *config_source_name(config_source source) {
    static const char *const names[] = {"default", "file", "environment", "flag"};
    return names[source];
}

bool config_was_automatic(const config *c, const config_key *key) {
    return c->origins[key_index(key)].automatic;
}

char *config_value_text(const config *c, const config_key *key) {
    if (key->status != CONFIG_USED) return NULL;
    config_value v = config_member(c, key);
    return config_value_write(&v, key);
}

static cuzk_code warn(config *c, char *text, cuzk_error *err) {
    return config_list_add(&c->warnings, text, err);
}

/* Turn an error with a message alone into one with the place of a value. */
static cuzk_code put_place(cuzk_error *err, config_source source, const char *place) {
    cuzk_error bare = *err;
    if (source == CONFIG_FROM_FILE)
        return error_set(err, bare.code, place, CUZK_NO_OFFSET, "%s", bare.message);
    cuzk_code code = bare.code == CUZK_ERR_INPUT ? CUZK_ERR_USAGE : bare.code;
    return error_set(err, code, NULL, CUZK_NO_OFFSET, "%s: %s", place, bare.message);
}

/* --- from text ---------------------------------------------------------------------------------------------
 */

static cuzk_code set_text(config *c, const config_key *key, const char *text, config_source source,
                          const char *place, cuzk_error *err) {
    config_value v;
    if (config_value_read(&v, key, text, err) != CUZK_OK) return put_place(err, source, place);
    config_set_member(c, key, &v);
    return set_origin(c, key, source, place, err);
}

static cuzk_code set_defaults(config *c, cuzk_error *err) {
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        config_value v;
        if (keys[i].status != CONFIG_USED) continue;
        TRY(config_value_read(&v, &keys[i], keys[i].fallback, err));
        config_set_member(c, &keys[i], &v);
    }
    return CUZK_OK;
}

/* CUZK_ISA is read elsewhere (base/cpu.h). */
static cuzk_code unknown_variable(config *c, const char *text, size_t length, cuzk_error *err) {
    const char prefix[] = "CUZK_";
    if (strncmp(text, prefix, sizeof prefix - 1) != 0 || strncmp(text, "CUZK_ISA=", 9) == 0) return CUZK_OK;
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(length < 120 ? length : 120), text);
    const char *names[128];
    size_t n, count = 0;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n && count < sizeof names / sizeof names[0]; i++)
        if (keys[i].environment) names[count++] = keys[i].environment;
    const char *near = config_nearest(name, names, count);
    return warn(
        c,
        near ? config_print("the variable %s is no setting and has no effect; did you mean %s?", name, near)
             : config_print("the variable %s is no setting and has no effect", name),
        err);
}

static cuzk_code read_environment(config *c, char *const *environment, cuzk_error *err) {
    for (; environment && *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        if (!equals) continue;
        size_t length = (size_t)(equals - *environment);
        const config_key *key = config_find_variable(*environment, length);
        if (key)
            TRY(set_text(c, key, equals + 1, CONFIG_FROM_ENVIRONMENT, key->environment, err));
        else
            TRY(unknown_variable(c, *environment, length, err));
    }
    return CUZK_OK;
}

static cuzk_code read_flags(config *c, const config_inputs *in, cuzk_error *err) {
    for (size_t i = 0; i < in->flag_count; i++) {
        const config_key *key = config_find_key(in->flags[i].key);
        if (!key || key->status != CONFIG_USED)
            return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "%s sets no known key",
                             in->flags[i].name);
        TRY(set_text(c, key, in->flags[i].text, CONFIG_FROM_FLAG, in->flags[i].name, err));
    }
    return CUZK_OK;
}

/* --- from a file -------------------------------------------------------------------------------------------
 */

/* Optimal string alignment distance of two words below 64 bytes; large for longer ones. */
static unsigned distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned row[3][65];
    if (n > 64 || m > 64) return 100;
    for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two_before[j - 2] + 1 < best)
                best = two_before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *config_nearest(const char *wanted, const char *const *candidates, size_t n) {
    const char *best = NULL;
    unsigned least = (unsigned)strlen(wanted) / 4 + 1; /* more edits than that is another word */
    if (least > 3) least = 3;
    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(wanted, candidates[i]);
        if (d > least || (best && d == least)) continue;
        best = candidates[i];
        least = d;
    }
    return best;
}

static bool is_section(const char *name, size_t length) {
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (strncmp(keys[i].key, name, length) == 0 && keys[i].key[length] == '.') return true;
    return false;
}

/* What was meant by a section that does not exist: NULL or a name in `buffer`. */
static const char *near_section(const char *name, char buffer[32]) {
    size_t n, count = 0;
    const config_key *keys = config_keys(&n);
    static const size_t most = 32;
    char names[32][32];
    const char *list[32];
    for (size_t i = 0; i < n && count < most; i++) {
        size_t length = strcspn(keys[i].key, ".");
        if (count && strlen(names[count - 1]) == length &&
            strncmp(names[count - 1], keys[i].key, length) == 0)
            continue;
        snprintf(names[count], sizeof names[count], "%.*s", (int)length, keys[i].key);
        list[count] = names[count];
        count++;
    }
    const char *near = config_nearest(name, list, count);
    if (near) snprintf(buffer, 32, "%s", near);
    return near ? buffer : NULL;
}

/* What was meant by a key that does not exist: near in its section, else of the same name in another. */
static const char *near_key(const char *full) {
    size_t n, count = 0;
    const config_key *keys = config_keys(&n);
    const char *list[128];
    const char *name = strchr(full, '.');
    size_t section = name ? (size_t)(name - full) + 1 : 0;
    for (size_t i = 0; i < n && count < sizeof list / sizeof list[0]; i++)
        if (section && strncmp(keys[i].key, full, section) == 0) list[count++] = keys[i].key + section;
    const char *near = name ? config_nearest(name + 1, list, count) : NULL;
    if (near) return near - section; /* the whole key again */
    name = name ? name + 1 : full;
    for (size_t i = 0; i < n; i++)
        if (strcmp(strchr(keys[i].key, '.') + 1, name) == 0) return keys[i].key;
    return NULL;
}

static cuzk_code unknown_item(const toml_item *item, const char *place, cuzk_error *err) {
    const char *dot = item->key[0] == '"' ? NULL : strchr(item->key, '.');
    size_t section = dot ? (size_t)(dot - item->key) : strlen(item->key);
    char buffer[32];
    if (item->type == TOML_TABLE || (dot && !is_section(item->key, section))) {
        const char *near = dot ? NULL : near_section(item->key, buffer);
        return error_set(err, CUZK_ERR_INPUT, place, CUZK_NO_OFFSET,
                         near ? "unknown section [%s]; did you mean [%s]?" : "unknown section [%s]",
                         item->key, near);
    }
    if (!dot && is_section(item->key, section))
        return error_set(err, CUZK_ERR_INPUT, place, CUZK_NO_OFFSET, "%s: %s, expected the section [%s]",
                         item->key, toml_type_name(item->type), item->key);
    const char *near = near_key(item->key);
    return error_set(err, CUZK_ERR_INPUT, place, CUZK_NO_OFFSET,
                     near ? "unknown key %s; did you mean %s?" : "unknown key %s", item->key, near);
}

static cuzk_code take_item(config *c, const toml_item *item, const char *name, cuzk_error *err) {
    char *place = config_print("%s:%" PRIu32 ":%" PRIu32, name, item->line, item->column);
    if (!place) return error_no_memory(err, strlen(name), "the place of a setting");
    const config_key *key = config_find_key(item->key);
    config_value v;
    cuzk_code code = CUZK_OK;
    if (!key) {
        bool section = item->type == TOML_TABLE && is_section(item->key, strlen(item->key));
        if (!section) code = unknown_item(item, place, err);
    } else if (config_value_take(&v, key, item, err) != CUZK_OK) {
        code = put_place(err, CONFIG_FROM_FILE, place);
    } else {
        if (key->status == CONFIG_USED)
            config_set_member(c, key, &v);
        else
            code = warn(c,
                        config_print("%s: %s %s: %s", place, key->key,
                                     key->status == CONFIG_DEPRECATED ? "is deprecated and has no effect"
                                                                      : "has no effect",
                                     key->note),
                        err);
        config_value_free(&v);
        if (code == CUZK_OK) code = set_origin(c, key, CONFIG_FROM_FILE, place, err);
    }
    free(place);
    return code;
}

static cuzk_code take_text(config *c, const char *text, size_t size, const char *name, cuzk_error *err) {
    toml_document *d;
    TRY(toml_parse(&d, text, size, name, err));
    size_t n;
    const toml_item *items = toml_items(d, &n);
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < n && code == CUZK_OK; i++) code = take_item(c, &items[i], name, err);
    toml_free(d);
    return code;
}

static cuzk_code read_whole(char **text, size_t *size, FILE *file, const char *path, cuzk_error *err) {
    const size_t most = TOML_TEXT_MOST + 1; /* one more shows that it is too long */
    *text = malloc(most);
    if (!*text) return error_no_memory(err, most, "the settings file");
    errno = 0;
    *size = fread(*text, 1, most, file);
    if (!ferror(file)) return CUZK_OK;
    free(*text);
    *text = NULL;
    return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot read the settings");
}

static cuzk_code read_file(config *c, const char *given, cuzk_error *err) {
    const char *path = given ? given : CONFIG_DEFAULT_PATH;
    FILE *file = fopen(path, "re");
    if (!file && !given && (errno == ENOENT || errno == ENOTDIR)) return CUZK_OK;
    if (!file) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot open the settings");
    char *text = NULL;
    size_t size = 0;
    cuzk_code code = read_whole(&text, &size, file, path, err);
    fclose(file);
    if (code == CUZK_OK) code = take_text(c, text, size, path, err);
    free(text);
    if (code != CUZK_OK) return code;
    free(c->file);
    c->file = strdup(path);
    return c->file ? CUZK_OK : error_no_memory(err, strlen(path), "the path of the settings");
}

/* --- what follows from all values together -----------------------------------------------------------------
 */

static cuzk_code conflict(const config *c, const char *name, cuzk_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static cuzk_code conflict(const config *c, const char *name, cuzk_error *err, const char *format, ...) {
    const char *place;
    cuzk_error bare = {.code = CUZK_ERR_INPUT, .offset = CUZK_NO_OFFSET};
    va_list args;
    va_start(args, format);
    vsnprintf(bare.message, sizeof bare.message, format, args);
    va_end(args);
    config_source source = config_origin_of(c, config_find_key(name), &place);
    put_place(&bare, source, place);
    if (err) *err = bare;
    return bare.code;
}

static bool automatic(const config *c, const char *name) {
    return config_was_automatic(c, config_find_key(name));
}

static cuzk_code choose_memory(config *c, cuzk_error *err) {
    if (automatic(c, "memory.total_budget")) {
        uint64_t limit = mem_limit();
        uint64_t margin = c->memory.safety_margin;
        bool given =
            config_origin_of(c, config_find_key("memory.safety_margin"), NULL) != CONFIG_FROM_DEFAULT;
        uint64_t least = config_find_key("memory.total_budget")->low;
        if (!given && margin > limit / 4) margin = limit / 4 >> 20 << 20;
        if (given && (margin >= limit || limit - margin < least))
            return conflict(c, "memory.safety_margin", err,
                            "memory.safety_margin: %" PRIu64 " MiB of %" PRIu64
                            " MiB, expected to leave at least %" PRIu64 " MiB",
                            margin >> 20, limit >> 20, least >> 20);
        c->memory.safety_margin = margin;
        c->memory.total_budget = (limit - margin) >> 20 << 20;
    }
    uint64_t message = c->daemon.max_message_size;
    if (automatic(c, "daemon.request_budget")) {
        uint64_t share = (c->memory.total_budget / 8) >> 20 << 20;
        c->daemon.request_budget = share > message ? share : message;
    } else if (c->daemon.request_budget < message) {
        return conflict(c, "daemon.request_budget", err,
                        "daemon.request_budget: %" PRIu64
                        " bytes, expected at least daemon.max_message_size, %" PRIu64 " bytes",
                        c->daemon.request_budget, message);
    }
    return CUZK_OK;
}

static void choose_threads(config *c) {
    if (automatic(c, "engine.threads")) c->engine.threads = pool_cpu_count();
}

/* 127.0.0.0/8, [::1] and Unix sockets. */
static bool is_local(const char *address) {
    return !*address || strncmp(address, "unix://", 7) == 0 || strncmp(address, "127.", 4) == 0 ||
           strncmp(address, "[::1]", 5) == 0;
}

static cuzk_code check_addresses(config *c, cuzk_error *err) {
    static const char *const names[] = {"daemon.listen", "daemon.status_listen"};
    const char *addresses[] = {c->daemon.listen, c->daemon.status_listen};
    size_t length = strlen(addresses[0]);
    bool any_port = length > 2 && strcmp(addresses[0] + length - 2, ":0") == 0;
    if (strcmp(addresses[0], addresses[1]) == 0 && !any_port)
        return conflict(c, "daemon.status_listen", err,
                        "daemon.status_listen: %s, which is daemon.listen too", addresses[1]);
    for (unsigned i = 0; i < 2; i++) {
        const char *place;
        if (is_local(addresses[i])) continue;
        config_origin_of(c, config_find_key(names[i]), &place);
        TRY(warn(
            c,
            config_print("%s: %s %s can be reached from other machines, and nobody is asked who they are",
                         place, names[i], addresses[i]),
            err));
    }
    return CUZK_OK;
}

static cuzk_code settle(config *c, cuzk_error *err) {
    TRY(choose_memory(c, err));
    choose_threads(c);
    return check_addresses(c, err);
}

/* --- the whole ---------------------------------------------------------------------------------------------
 */

static config *allocate(void) {
    size_t n;
    config_keys(&n);
    config *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->origins = calloc(n, sizeof *c->origins);
    c->file = strdup("");
    if (c->origins && c->file) return c;
    free(c->origins);
    free(c->file);
    free(c);
    return NULL;
}

void config_free(config *c) {
    if (!c) return;
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        config_value nothing = {.text = NULL};
        if (keys[i].status == CONFIG_USED) config_set_member(c, &keys[i], &nothing);
        free(c->origins[i].place);
    }
    config_list_free(&c->warnings);
    free(c->origins);
    free(c->file);
    free(c);
}

/* text = NULL: read the file of `in`. */
static cuzk_code load(config **out, const char *text, size_t size, const char *name, const config_inputs *in,
                      cuzk_error *err) {
    cuzk_error local;
    if (!err) err = &local;
    config *c = allocate();
    *out = NULL;
    if (!c) return error_no_memory(err, sizeof *c, "the settings");
    cuzk_code code = set_defaults(c, err);
    if (code == CUZK_OK) code = text ? take_text(c, text, size, name, err) : read_file(c, in->path, err);
    if (code == CUZK_OK) code = read_environment(c, in->environment, err);
    if (code == CUZK_OK) code = read_flags(c, in, err);
    if (code == CUZK_OK) code = settle(c, err);
    if (code != CUZK_OK) {
        config_free(c);
        return code;
    }
    *out = c;
    return CUZK_OK;
}

cuzk_code config_load(config **out, const config_inputs *in, cuzk_error *err) {
    return load(out, NULL, 0, NULL, in, err);
}

cuzk_code config_parse(config **out, const char *text, size_t size, const char *name, const config_inputs *in,
                       cuzk_error *err) {
    return load(out, text ? text : "", size, name, in, err);
}

/* Copy one value, which reload may only do for those that are no list. */
static cuzk_code copy_value(config *to, const config *from, const config_key *key, cuzk_error *err) {
    config_value v = config_member(from, key);
    if (v.text) {
        v.text = strdup(v.text);
        if (!v.text) return error_no_memory(err, 1, key->key);
    }
    config_set_member(to, key, &v);
    const char *place;
    config_source source = config_origin_of(from, key, &place);
    return set_origin(to, key, source, place, err);
}

cuzk_code config_reload(config *running, const config *fresh, config_list *notes, cuzk_error *err) {
    size_t n;
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const config_key *key = &keys[i];
        if (key->status != CONFIG_USED) continue;
        char *was = config_value_text(running, key), *is = config_value_text(fresh, key);
        cuzk_code code = was && is ? CUZK_OK : error_no_memory(err, 1, key->key);
        if (code == CUZK_OK && strcmp(was, is) != 0) {
            if (key->reload) code = copy_value(running, fresh, key, err);
            if (code == CUZK_OK)
                code = config_list_add(
                    notes,
                    key->reload ? config_print("%s is now %s, was %s", key->key, is, was)
                                : config_print("%s stays %s; %s needs a restart", key->key, was, is),
                    err);
        }
        free(was);
        free(is);
        TRY(code);
    }
    return CUZK_OK;
}
