/* Options that are settings: --config, and one for each key of the table that has a flag. */
#ifndef CUZK_CLI_DAEMON_SETTINGS_H
#define CUZK_CLI_DAEMON_SETTINGS_H

#include "command.h"
#include "server/config.h"

#define SETTINGS_FLAGS_MOST 64

typedef struct settings {
    const char *path; /* --config, or NULL */
    config_flag flags[SETTINGS_FLAGS_MOST];
    size_t flag_count;
} settings;

/* An argp child whose input is a settings; made from the table at the first call. */
const struct argp *settings_argp(void);

/* Load with the flags given and the environment of the process. */
cuzk_code settings_load(config **out, const settings *s, cuzk_error *err);

#endif
