/* What people read about the settings, written from the table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config_parts.h"

static char *finish(FILE *out, char **text) {
    bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad) return *text;
    free(*text);
    return NULL;
}

/* The default as TOML. */
static char *fallback_text(const config_key *key) {
    config_value v;
    if (config_value_read(&v, key, key->fallback, NULL) != CUZK_OK) return NULL;
    char *text = v.automatic ? config_print(key->type == CONFIG_COUNT ? "%s" : "\"%s\"", key->fallback)
                             : config_value_write(&v, key);
    config_value_free(&v);
    return text;
}

/* "1 to 64" for what has a range; an end that is there against overflow alone is left out. */
static char *range_text(const config_key *key) {
    bool number = key->type == CONFIG_COUNT || key->type == CONFIG_BYTES || key->type == CONFIG_DURATION;
    bool open = key->type == CONFIG_BYTES && key->high >= UINT64_C(1) << 50;
    if (!number || (open && key->low == 0)) return strdup("");
    char *low = config_write_number(key->low, key->type), *high = config_write_number(key->high, key->type);
    char *text = NULL;
    if (low && high) text = open ? config_print("at least %s", low) : config_print("%s to %s", low, high);
    free(low);
    free(high);
    return text;
}

/* A comment of at most 100 columns a line. */
static void write_comment(FILE *out, const char *text) {
    const size_t most = 98;
    while (*text) {
        size_t length = strlen(text);
        if (length > most) {
            length = most;
            while (length && text[length] != ' ') length--;
        }
        fprintf(out, "# %.*s\n", (int)length, text);
        text += length;
        while (*text == ' ') text++;
    }
}

char *config_example_text(void) {
    char *text = NULL;
    size_t size, n, section = 0;
    const char *current = "";
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs("# Settings of cuzk-daemon: every key with its default. Made by 'cuzk-daemon config example'.\n"
          "# A flag goes before a variable of the environment, a variable before this file.\n"
          "# Sizes: 512MiB, 50GiB, 4GB, bytes. Durations: 250ms, 90s, 5m, 1h, seconds.\n",
          out);
    const config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const config_key *key = &keys[i];
        if (key->status != CONFIG_USED) continue;
        size_t length = strcspn(key->key, ".");
        if (length != section || strncmp(current, key->key, length) != 0) {
            current = key->key;
            section = length;
            fprintf(out, "\n[%.*s]\n", (int)length, current);
        } else {
            fputc('\n', out);
        }
        write_comment(out, key->meaning);
        char *value = fallback_text(key);
        fprintf(out, "#%s = %s\n", key->key + length + 1, value ? value : "");
        free(value);
    }
    return finish(out, &text);
}

static void write_row(FILE *out, const config_key *key) {
    char *value = fallback_text(key), *range = range_text(key);
    fprintf(out, "| `%s` | `%s` | %s | ", key->key, value ? value : "", range ? range : "");
    if (key->environment) fprintf(out, "`%s`", key->environment);
    fputs(" | ", out);
    if (key->flag) fprintf(out, "`%s`", key->flag);
    fprintf(out, " | %s | %s |\n", key->reload ? "yes" : "", key->meaning);
    free(value);
    free(range);
}

char *config_reference_text(void) {
    char *text = NULL;
    size_t size, n;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    const config_key *keys = config_keys(&n);
    fputs("| key | default | range | variable | flag | reload | meaning |\n|---|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < n; i++)
        if (keys[i].status == CONFIG_USED) write_row(out, &keys[i]);
    fputs("\nAccepted, checked, and without effect; the daemon warns of each:\n\n| key | instead "
          "|\n|---|---|\n",
          out);
    for (size_t i = 0; i < n; i++)
        if (keys[i].status != CONFIG_USED)
            fprintf(out, "| `%s`%s | %s |\n", keys[i].key,
                    keys[i].status == CONFIG_DEPRECATED ? " (deprecated)" : "", keys[i].note);
    return finish(out, &text);
}
