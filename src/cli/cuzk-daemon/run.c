/* cuzk-daemon run: settings, log, and then the daemon until signals end it. */
#include <stdio.h>

#include "base/log.h"
#include "commands.h"
#include "daemon.h"
#include "stderr_log.h"
#include "version.h"

static error_t parse(int key, char *arg, struct argp_state *state) {
    if (key == ARGP_KEY_INIT) state->child_inputs[0] = state->input;
    if (key == ARGP_KEY_ARG) argp_error(state, "unexpected argument '%s'", arg);
    return key == ARGP_KEY_INIT || key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

static const char doc[] =
    "Serve proofs. SIGTERM and SIGINT drain, a second one cancels, SIGHUP reads the settings again."
    "\vExample:\n  cuzk-daemon run --config /etc/cuzk/cuzk.toml --listen "
    "unix:///run/curio/cuzk.sock\n\n" EXIT_CODES_HELP;

static void log_start(const config *c) {
    log_info("cuzk-daemon starts", LOG_TEXT("version", CUZK_VERSION), LOG_TEXT("commit", CUZK_COMMIT),
             LOG_TEXT("settings", *c->file ? c->file : "none at " CONFIG_DEFAULT_PATH ", defaults"));
    for (size_t i = 0; i < c->warnings.count; i++)
        log_warn("settings", LOG_TEXT("warning", c->warnings.items[i]));
}

static int report(const char *name, const cuzk_error *err) {
    const common_options options = {.json = false};
    return report_error(name, &options, err);
}

int run_main(int argc, char **argv) {
    struct argp_child children[] = {{settings_argp(), 0, NULL, 0}, {0}};
    const struct argp argp = {NULL, parse, NULL, doc, children, NULL, NULL};
    settings s = {.path = NULL};
    config *c;
    cuzk_error err;
    supervise_end end = SUPERVISE_DRAINED;
    argp_parse(&argp, argc, argv, 0, NULL, &s);
    if (settings_load(&c, &s, &err) != CUZK_OK) return report(argv[0], &err);
    log_set_level((log_level)c->logging.level);
    log_set_format((log_format)c->logging.format);
    stderr_log_start();
    log_start(c);
    cuzk_code code = daemon_serve(&end, &s, c, &err);
    if (code != CUZK_OK) {
        log_error("cuzk-daemon cannot serve", LOG_TEXT("place", err.path), LOG_TEXT("error", err.message));
    } else {
        log_info("cuzk-daemon ends", LOG_BOOL("drained", end == SUPERVISE_DRAINED));
        if (end == SUPERVISE_CANCELLED) code = CUZK_ERR_CANCELLED;
    }
    log_set_sink(NULL, NULL);
    config_free(c);
    return exit_code(code);
}
