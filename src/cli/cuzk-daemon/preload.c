#include "preload.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

struct preload {
    engine *e;
    const config_list *circuits;
    pthread_t thread;
};

static void load(engine *e, const char *circuit) {
    double start = clock_seconds();
    bool already;
    cuzk_error err;
    log_info("loading a key", LOG_TEXT("circuit", circuit));
    if (engine_preload(e, circuit, &already, &err) == CUZK_OK)
        log_info("key loaded", LOG_TEXT("circuit", circuit), LOG_REAL("seconds", clock_seconds() - start));
    else
        log_error("key not loaded", LOG_TEXT("circuit", circuit),
                  LOG_TEXT("path", err.path[0] ? err.path : NULL), LOG_TEXT("error", err.message));
}

static void *preload_main(void *arg) {
    const preload *p = arg;
    for (size_t i = 0; i < p->circuits->count; i++) load(p->e, p->circuits->items[i]);
    return NULL;
}

cuzk_code preload_start(preload **out, engine *e, const config_list *circuits, cuzk_error *err) {
    *out = NULL;
    if (circuits->count == 0) return CUZK_OK;
    preload *p = malloc(sizeof *p);
    if (!p) return error_no_memory(err, sizeof *p, "the loading of keys");
    *p = (preload){.e = e, .circuits = circuits};
    int rc = pthread_create(&p->thread, NULL, preload_main, p);
    if (rc != 0) {
        free(p);
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting the thread that loads keys");
    }
    *out = p;
    return CUZK_OK;
}

void preload_join(preload *p) {
    if (!p) return;
    pthread_join(p->thread, NULL);
    free(p);
}
