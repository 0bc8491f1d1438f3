#include "command.h"

#include <stdio.h>
#include <string.h>

#include "base/file_guard.h"

static void list_commands(FILE *out, const char *tool, const command *commands, const char *intro) {
    fprintf(out, "Usage: %s COMMAND [OPTION...]\n%s\n\nCommands:\n", tool, intro);
    for (const command *c = commands; c->name; c++) {
        if (!c->sub) {
            fprintf(out, "  %-16s %s\n", c->name, c->summary);
            continue;
        }
        for (const command *s = c->sub; s->name; s++) {
            char name[64];
            snprintf(name, sizeof name, "%s %s", c->name, s->name);
            fprintf(out, "  %-16s %s\n", name, s->summary);
        }
    }
    fprintf(out, "\n'%s COMMAND --help' explains a command and shows an example.\n", tool);
}

int command_dispatch(const char *tool, const command *commands, const char *intro, int argc, char **argv) {
    argp_err_exit_status = CUZK_ERR_USAGE;
    file_guard_install();
    if (argc < 2) {
        list_commands(stderr, tool, commands, intro);
        return CUZK_ERR_USAGE;
    }
    const char *wanted = argv[1];
    if (strcmp(wanted, "--help") == 0 || strcmp(wanted, "-?") == 0 || strcmp(wanted, "help") == 0) {
        list_commands(stdout, tool, commands, intro);
        return 0;
    }
    for (const command *c = commands; c->name; c++) {
        if (strcmp(c->name, wanted) != 0) continue;
        char name[128];
        snprintf(name, sizeof name, "%s %s", tool, c->name);
        if (c->sub) return command_dispatch(name, c->sub, c->summary, argc - 1, argv + 1);
        argv[1] = name;
        return c->run(argc - 1, argv + 1);
    }
    fprintf(stderr, "%s: unknown command '%s'; '%s --help' lists the commands\n", tool, wanted, tool);
    return CUZK_ERR_USAGE;
}

int exit_code(cuzk_code code) {
    switch (code) {
    case CUZK_ERR_CANCELLED:
        return 130;
    case CUZK_ERR_INTERNAL:
        return 70;
    default:
        return (int)code;
    }
}

static const char *code_name(cuzk_code code) {
    switch (code) {
    case CUZK_OK:
        return "ok";
    case CUZK_ERR_PROOF:
        return "proof";
    case CUZK_ERR_USAGE:
        return "usage";
    case CUZK_ERR_INPUT:
        return "input";
    case CUZK_ERR_PARAMS:
        return "params";
    case CUZK_ERR_RESOURCES:
        return "resources";
    case CUZK_ERR_CANCELLED:
        return "cancelled";
    case CUZK_ERR_INTERNAL:
        return "internal";
    }
    return "internal";
}

int report_error(const char *command_name, const common_options *options, const cuzk_error *err) {
    if (options->json) {
        yajl_gen g = json_begin();
        json_key(g, "error");
        yajl_gen_map_open(g);
        json_string(g, "kind", code_name(err->code));
        json_u64(g, "exit_code", (uint64_t)exit_code(err->code));
        if (err->path[0]) json_string(g, "path", err->path);
        if (err->offset != CUZK_NO_OFFSET) json_u64(g, "offset", err->offset);
        json_string(g, "message", err->message);
        yajl_gen_map_close(g);
        json_end(g);
        return exit_code(err->code);
    }
    fprintf(stderr, "%s: ", command_name);
    if (err->path[0]) fprintf(stderr, "%s: ", err->path);
    if (err->offset != CUZK_NO_OFFSET) fprintf(stderr, "offset %llu: ", (unsigned long long)err->offset);
    fprintf(stderr, "%s\n", err->message);
    return exit_code(err->code);
}
