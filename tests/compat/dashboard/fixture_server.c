/* Serves a canned engine state over HTTP: fixture_server SCENE [SECONDS [still]]. The state moves on
 * from SECONDS after the scene's begin, or stays there. Prints its address, serves until its standard input
 * ends. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "scene.h"
#include "server/http.h"

typedef struct stage_set {
    scene kind;
    double begin, seconds;
    bool still;
} stage_set;

static cuzk_code snapshot(void *ctx, engine_snapshot *out, size_t max_jobs, cuzk_error *err) {
    const stage_set *set = ctx;
    (void)err;
    scene_make(out, set->kind, set->seconds + (set->still ? 0 : clock_seconds() - set->begin));
    if (out->n_jobs > max_jobs) out->n_jobs = max_jobs;
    return CUZK_OK;
}

int main(int argc, char **argv) {
    stage_set set;
    if (argc < 2 || !scene_parse(&set.kind, argv[1])) {
        fprintf(stderr, "usage: %s empty|one|busy|thousand|failures|hostile [SECONDS [still]]\n", argv[0]);
        return 2;
    }
    set.begin = clock_seconds();
    set.seconds = argc > 2 ? atof(argv[2]) : 0;
    set.still = argc > 3;
    server_stats stats;
    server_stats_init(&stats, 2);
    stats.build.version = "0.1.0";
    stats.build.commit = "0123456789ab";
    stats.build.variant = "ifma";
    if (set.kind == SCENE_BUSY) {
        for (int i = 0; i < 3; i++) server_stats_refuse(&stats, REFUSED_QUEUE_FULL);
        server_stats_refuse(&stats, REFUSED_INPUT);
    }
    http_server *h;
    cuzk_error err;
    http_source source = {.ctx = &set, .snapshot = snapshot, .release = scene_free};
    if (http_server_start(&h, "127.0.0.1:0", source, &stats, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    http_server_set_ready(h, true);
    printf("%s\n", http_server_address(h));
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    http_server_stop(h);
    return 0;
}
