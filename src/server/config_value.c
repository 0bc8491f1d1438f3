/*
 * Values of settings: from text (variables, flags, defaults), from the items of a file, and back to TOML.
 * Sizes and durations are whole numbers with a unit, nothing else, so that "1.5GiB" or "1 h" is an error and
 * never a surprise.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "circuit/catalog.h"
#include "server/config_parts.h"

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

/* From the largest; the last is the bare number's. */
static const unit size_units[] = {
    {"TiB", UINT64_C(1) << 40},      {"GiB", UINT64_C(1) << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
    {"TB", UINT64_C(1000000000000)}, {"GB", 1000000000},         {"MB", 1000000},  {"", 1}};
#define SIZE_UNITS (sizeof size_units / sizeof size_units[0])
static const unit time_units[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {"", 1000}};
#define TIME_UNITS   (sizeof time_units / sizeof time_units[0])
#define TIME_WRITTEN 4 /* units of a duration when written */

#define SIZE_EXPECTED "a size such as 512MiB, 50GiB, 4GB or a whole number of bytes"
#define TIME_EXPECTED "a duration such as 250ms, 90s, 5m, 1h or a whole number of seconds"

char *config_print(const char *format, ...) {
    va_list args;
    char *text;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return length < 0 ? NULL : text;
}

cuzk_code config_list_add(config_list *list, char *item, cuzk_error *err) {
    char **more = item ? realloc(list->items, (list->count + 1) * sizeof *more) : NULL;
    if (!more) {
        free(item);
        return error_no_memory(err, (list->count + 1) * sizeof *more, "a list of settings");
    }
    list->items = more;
    list->items[list->count++] = item;
    return CUZK_OK;
}

void config_list_free(config_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (config_list){NULL, 0};
}

void config_value_free(config_value *v) {
    free(v->text);
    config_list_free(&v->list);
    *v = (config_value){.text = NULL};
}

/* --- numbers with units ----------------------------------------------------------------------------------
 */

static bool read_units(uint64_t *out, const char *text, const unit *units, size_t n) {
    if (*text < '0' || *text > '9') return false;
    char *rest;
    errno = 0;
    uint64_t number = strtoull(text, &rest, 10);
    if (errno) return false;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rest, units[i].name) != 0) continue;
        if (number > UINT64_MAX / units[i].factor) return false;
        *out = number * units[i].factor;
        return true;
    }
    return false;
}

static char *write_units(uint64_t value, const unit *units, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (value && value % units[i].factor == 0)
            return config_print("%" PRIu64 "%s", value / units[i].factor, units[i].name);
    return strdup("0");
}

char *config_write_number(uint64_t value, config_type type) {
    if (type == CONFIG_BYTES) return write_units(value, size_units, SIZE_UNITS);
    if (type == CONFIG_DURATION && value == 0) return strdup("0s");
    if (type == CONFIG_DURATION) return write_units(value, time_units, TIME_WRITTEN);
    return config_print("%" PRIu64, value);
}

static cuzk_code in_range(const config_key *key, uint64_t value, cuzk_error *err) {
    if (value >= key->low && value <= key->high) return CUZK_OK;
    char *found = config_write_number(value, key->type);
    char *low = config_write_number(key->low, key->type), *high = config_write_number(key->high, key->type);
    cuzk_code code = error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s: %s, expected %s to %s",
                               key->key, found ? found : "", low ? low : "", high ? high : "");
    free(found);
    free(low);
    free(high);
    return code;
}

/* --- strings ----------------------------------------------------------------------------------------------
 */

static cuzk_code bad_text(const config_key *key, const char *text, const char *expected, cuzk_error *err) {
    return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s: '%s', expected %s%s", key->key, text,
                     expected, key->automatic ? ", or auto" : "");
}

/* "1.2.3.4:80" or "[::1]:80". */
static bool is_inet(const char *text) {
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed;
    const char *colon = strrchr(text, ':');
    bool six = *text == '[';
    if (!colon || (six && (colon == text + 1 || colon[-1] != ']'))) return false;
    const char *begin = text + six;
    size_t length = (size_t)(colon - begin) - six;
    if (length == 0 || length >= sizeof address) return false;
    memcpy(address, begin, length);
    address[length] = 0;
    if (inet_pton(six ? AF_INET6 : AF_INET, address, &parsed) != 1) return false;
    char *rest;
    if (colon[1] < '0' || colon[1] > '9') return false;
    unsigned long port = strtoul(colon + 1, &rest, 10);
    return !*rest && port <= 65535;
}

static cuzk_code check_text(const config_key *key, const char *text, cuzk_error *err) {
    if (!*text) return key->optional ? CUZK_OK : bad_text(key, text, "a value", err);
    if (key->type == CONFIG_INET && !is_inet(text))
        return bad_text(key, text, "IP:PORT such as 127.0.0.1:9821 or [::1]:9821", err);
    if (key->type != CONFIG_ADDRESS) return CUZK_OK;
    const char scheme[] = "unix://";
    if (strncmp(text, scheme, sizeof scheme - 1) != 0)
        return is_inet(text) ? CUZK_OK
                             : bad_text(key, text, "unix:///PATH, or IP:PORT such as 127.0.0.1:9820", err);
    const char *path = text + sizeof scheme - 1;
    size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    if (path[0] != '/' || !path[1])
        return bad_text(key, text, "unix:// and the absolute path of a socket", err);
    if (strlen(path) <= most) return CUZK_OK;
    return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET,
                     "%s: a path of %zu bytes, expected at most %zu, the limit of the system for sockets",
                     key->key, strlen(path), most);
}

static cuzk_code check_circuit(const config_key *key, const char *id, cuzk_error *err) {
    if (strcmp(key->key, "keys.preload") != 0 || catalog_find(id)) return CUZK_OK;
    const char *names[64];
    size_t n, count = 0;
    const catalog_entry *all = catalog_all(&n);
    for (; count < n && count < sizeof names / sizeof names[0]; count++) names[count] = all[count].id;
    const char *near = config_nearest(id, names, count);
    return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET,
                     near ? "%s: unknown circuit '%s'; did you mean '%s'?"
                          : "%s: unknown circuit '%s'; 'cuzk params list' names all",
                     key->key, id, near);
}

static cuzk_code add_element(config_value *v, const config_key *key, const char *text, cuzk_error *err) {
    TRY(check_circuit(key, text, err));
    return config_list_add(&v->list, strdup(text), err);
}

static cuzk_code read_choice(config_value *v, const config_key *key, const char *text, cuzk_error *err) {
    char all[128] = "";
    for (size_t i = 0; key->choices[i]; i++) {
        if (strcmp(key->choices[i], text) == 0) {
            v->number = i;
            return CUZK_OK;
        }
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "one of: ", key->choices[i]);
    }
    return bad_text(key, text, all, err);
}

static cuzk_code read_number(config_value *v, const config_key *key, const char *text, cuzk_error *err) {
    static const unit count_units[] = {{"", 1}};
    const unit *units = key->type == CONFIG_BYTES      ? size_units
                        : key->type == CONFIG_DURATION ? time_units
                                                       : count_units;
    size_t n = key->type == CONFIG_BYTES ? SIZE_UNITS : key->type == CONFIG_DURATION ? TIME_UNITS : 1;
    if (!read_units(&v->number, text, units, n))
        return bad_text(key, text,
                        key->type == CONFIG_BYTES      ? SIZE_EXPECTED
                        : key->type == CONFIG_DURATION ? TIME_EXPECTED
                                                       : "a whole number",
                        err);
    return in_range(key, v->number, err);
}

static cuzk_code read_list(config_value *v, const config_key *key, const char *text, cuzk_error *err) {
    while (*text) {
        size_t length = strcspn(text, ",");
        char *one = strndup(text, length);
        if (!one) return error_no_memory(err, length, "a list of settings");
        config_value number = {.text = NULL};
        cuzk_code code = key->type == CONFIG_COUNTS ? read_number(&number, key, one, err)
                         : length == 0              ? bad_text(key, text, "names separated by commas", err)
                                                    : CUZK_OK;
        if (code == CUZK_OK) code = add_element(v, key, one, err);
        free(one);
        TRY(code);
        text += length + (text[length] == ',');
    }
    return CUZK_OK;
}

static cuzk_code read_text(config_value *v, const config_key *key, const char *text, cuzk_error *err) {
    if (key->automatic &&
        (strcmp(text, "auto") == 0 || (key->type == CONFIG_COUNT && strcmp(text, "0") == 0))) {
        v->automatic = true;
        return CUZK_OK;
    }
    switch (key->type) {
    case CONFIG_BOOL:
        v->flag = strcmp(text, "true") == 0;
        return v->flag || strcmp(text, "false") == 0 ? CUZK_OK : bad_text(key, text, "true or false", err);
    case CONFIG_COUNT:
    case CONFIG_BYTES:
    case CONFIG_DURATION:
        return read_number(v, key, text, err);
    case CONFIG_CHOICE:
        return read_choice(v, key, text, err);
    case CONFIG_STRINGS:
    case CONFIG_COUNTS:
        return read_list(v, key, text, err);
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_ADDRESS:
    case CONFIG_INET:
        break;
    }
    TRY(check_text(key, text, err));
    v->text = strdup(text);
    return v->text ? CUZK_OK : error_no_memory(err, strlen(text), key->key);
}

cuzk_code config_value_read(config_value *v, const config_key *key, const char *text, cuzk_error *err) {
    *v = (config_value){.text = NULL};
    cuzk_code code = read_text(v, key, text, err);
    if (code != CUZK_OK) config_value_free(v);
    return code;
}

/* --- items of a file --------------------------------------------------------------------------------------
 */

static const char *expected_type(const config_key *key) {
    switch (key->type) {
    case CONFIG_BOOL:
        return "true or false, without quotes";
    case CONFIG_COUNT:
        return "a whole number, without quotes";
    case CONFIG_BYTES:
        return SIZE_EXPECTED;
    case CONFIG_DURATION:
        return TIME_EXPECTED;
    case CONFIG_STRINGS:
        return "a list of strings";
    case CONFIG_COUNTS:
        return "a list of whole numbers";
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_ADDRESS:
    case CONFIG_INET:
    case CONFIG_CHOICE:
        break;
    }
    return "a string";
}

static cuzk_code wrong_type(const config_key *key, const toml_item *item, cuzk_error *err) {
    return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s: %s, expected %s%s", key->key,
                     toml_type_name(item->type), expected_type(key),
                     key->automatic && key->type == CONFIG_BYTES ? ", or \"auto\"" : "");
}

static cuzk_code take_integer(config_value *v, const config_key *key, const toml_item *item,
                              cuzk_error *err) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, item->integer);
    return read_text(v, key, digits, err);
}

static cuzk_code take_list(config_value *v, const config_key *key, const toml_item *item, cuzk_error *err) {
    for (size_t i = 0; i < item->count; i++) {
        const toml_item *element = &item->elements[i];
        if (key->type == CONFIG_STRINGS && element->type == TOML_STRING && *element->string) {
            TRY(add_element(v, key, element->string, err));
        } else if (key->type == CONFIG_COUNTS && element->type == TOML_INTEGER) {
            char digits[24];
            config_value number = {.text = NULL};
            snprintf(digits, sizeof digits, "%" PRId64, element->integer);
            TRY(read_number(&number, key, digits, err));
            TRY(add_element(v, key, digits, err));
        } else {
            bool empty = element->type == TOML_STRING && !*element->string;
            return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s: element %zu is %s, expected %s",
                             key->key, i + 1, empty ? "empty" : toml_type_name(element->type),
                             expected_type(key));
        }
    }
    return CUZK_OK;
}

static cuzk_code take(config_value *v, const config_key *key, const toml_item *item, cuzk_error *err) {
    switch (key->type) {
    case CONFIG_BOOL:
        if (item->type != TOML_BOOLEAN) return wrong_type(key, item, err);
        v->flag = item->boolean;
        return CUZK_OK;
    case CONFIG_COUNT:
        return item->type == TOML_INTEGER ? take_integer(v, key, item, err) : wrong_type(key, item, err);
    case CONFIG_BYTES:
    case CONFIG_DURATION:
        if (item->type == TOML_INTEGER) return take_integer(v, key, item, err);
        return item->type == TOML_STRING ? read_text(v, key, item->string, err) : wrong_type(key, item, err);
    case CONFIG_STRINGS:
    case CONFIG_COUNTS:
        return item->type == TOML_ARRAY ? take_list(v, key, item, err) : wrong_type(key, item, err);
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_ADDRESS:
    case CONFIG_INET:
    case CONFIG_CHOICE:
        break;
    }
    return item->type == TOML_STRING ? read_text(v, key, item->string, err) : wrong_type(key, item, err);
}

cuzk_code config_value_take(config_value *v, const config_key *key, const toml_item *item, cuzk_error *err) {
    *v = (config_value){.text = NULL};
    cuzk_code code = take(v, key, item, err);
    if (code != CUZK_OK) config_value_free(v);
    return code;
}

/* --- back to TOML -----------------------------------------------------------------------------------------
 */

static void write_quoted(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') fputc('\\', out);
        if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04X", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

char *config_value_write(const config_value *v, const config_key *key) {
    char *text = NULL, *number;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    switch (key->type) {
    case CONFIG_BOOL:
        fputs(v->flag ? "true" : "false", out);
        break;
    case CONFIG_COUNT:
        fprintf(out, "%" PRIu64, v->number);
        break;
    case CONFIG_BYTES:
    case CONFIG_DURATION:
        number = config_write_number(v->number, key->type);
        write_quoted(out, number ? number : "");
        free(number);
        break;
    case CONFIG_CHOICE:
        write_quoted(out, key->choices[v->number]);
        break;
    case CONFIG_STRINGS:
    case CONFIG_COUNTS:
        fputc('[', out);
        for (size_t i = 0; i < v->list.count; i++) {
            fputs(i ? ", " : "", out);
            if (key->type == CONFIG_STRINGS)
                write_quoted(out, v->list.items[i]);
            else
                fputs(v->list.items[i], out);
        }
        fputc(']', out);
        break;
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_ADDRESS:
    case CONFIG_INET:
        write_quoted(out, v->text);
        break;
    }
    bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
