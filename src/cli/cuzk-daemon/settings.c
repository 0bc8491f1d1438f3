#include "settings.h"

#include <unistd.h>

enum { KEY_FIRST = 0x2001 }; /* plus the index of the key in the table */

static const char *placeholder(config_type type) {
    switch (type) {
    case CONFIG_ADDRESS:
        return "ADDRESS";
    case CONFIG_INET:
        return "IP:PORT";
    case CONFIG_PATH:
        return "DIR";
    case CONFIG_BYTES:
        return "SIZE";
    case CONFIG_DURATION:
        return "DURATION";
    case CONFIG_COUNT:
        return "N";
    case CONFIG_STRINGS:
    case CONFIG_COUNTS:
        return "ID,...";
    case CONFIG_BOOL:
        return "true|false";
    case CONFIG_CHOICE:
    case CONFIG_STRING:
        break;
    }
    return "NAME";
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    settings *s = state->input;
    size_t n;
    const config_key *keys = config_keys(&n);
    if (key == 'c') {
        s->path = arg;
        return 0;
    }
    size_t index = 0;
    if (key == 'l') {
        index = (size_t)(config_find_key("daemon.listen") - keys);
    } else {
        if (key < KEY_FIRST || (size_t)(key - KEY_FIRST) >= n) return ARGP_ERR_UNKNOWN;
        index = (size_t)(key - KEY_FIRST);
    }
    if (s->flag_count == SETTINGS_FLAGS_MOST) argp_error(state, "more than %d settings", SETTINGS_FLAGS_MOST);
    if (s->flag_count < SETTINGS_FLAGS_MOST)
        s->flags[s->flag_count++] = (config_flag){keys[index].key, keys[index].flag, arg};
    return 0;
}

const struct argp *settings_argp(void) {
    static struct argp_option options[SETTINGS_FLAGS_MOST];
    static const struct argp argp = {.options = options, .parser = parse};
    if (options[0].name) return &argp;
    size_t n, count = 0;
    const config_key *keys = config_keys(&n);
    options[count++] = (struct argp_option){
        "config", 'c', "PATH", 0, "Settings in TOML (default " CONFIG_DEFAULT_PATH ", which may be absent)",
        1};
    for (size_t i = 0; i < n && count + 1 < SETTINGS_FLAGS_MOST; i++) {
        if (!keys[i].flag) continue;
        bool listen = keys[i].type == CONFIG_ADDRESS;
        options[count++] = (struct argp_option){keys[i].flag + 2,          listen ? 'l' : KEY_FIRST + (int)i,
                                                placeholder(keys[i].type), 0,
                                                keys[i].meaning,           1};
    }
    return &argp;
}

cuzk_code settings_load(config **out, const settings *s, cuzk_error *err) {
    config_inputs in = {
        .path = s->path, .environment = environ, .flags = s->flags, .flag_count = s->flag_count};
    return config_load(out, &in, err);
}
