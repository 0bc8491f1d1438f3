/*
 * fake_daemon LOG ADDRESS...: what cuzk-daemon serves, its gRPC service and its status server, on an engine
 * whose proofs are made up (support/fake_backend.h), for clients to be tested on. Prints the address of the
 * status server and then the gRPC addresses, one a line, and runs until its standard input ends; then it
 * drains. Writes its log to LOG, with everything.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "fake_backend.h"
#include "rpc/messages.h"
#include "server/event_log.h"
#include "server/http.h"
#include "server/service.h"

static void write_log(void *context, log_level level, const char *line, size_t size) {
    (void)level;
    fwrite(line, 1, size, context);
    fflush(context);
}

typedef struct parts {
    engine *engine;
    server_stats stats;
    service *service;
    http_server *http;
    rpc_server *rpc;
} parts;

static cuzk_code start(parts *p, int count, char **addresses, cuzk_error *err) {
    engine_config config;
    engine_config_default(&config);
    config.threads = 2;
    config.memory_budget = UINT64_C(2) << 30;
    config.backends[JOB_POREP] = &fake_backend;
    config.event = event_log;
    service_config serving = {.stats = &p->stats, .supported = {[JOB_POREP] = true}};
    rpc_options options = {.max_message_bytes = 0};
    server_stats_init(&p->stats, 2);
    TRY(engine_create(&p->engine, &config, err));
    serving.engine = p->engine;
    TRY(service_create(&p->service, &serving, config.max_queue, err));
    TRY(http_server_start(&p->http, "127.0.0.1:0", http_engine_source(p->engine), &p->stats, err));
    http_server_set_ready(p->http, true);
    rpc_handlers handlers = service_handlers(p->service);
    TRY(rpc_server_create(&p->rpc, &proving_service, &handlers, &options, err));
    printf("%s\n", http_server_address(p->http));
    for (int i = 0; i < count; i++) {
        TRY(rpc_server_listen(p->rpc, addresses[i], err));
        printf("%s\n", rpc_server_address(p->rpc, (size_t)i));
    }
    return rpc_server_start(p->rpc, err);
}

int main(int argc, char **argv) {
    parts p = {.engine = NULL};
    cuzk_error err;
    FILE *log = argc > 2 ? fopen(argv[1], "w") : NULL;
    if (!log) {
        fprintf(stderr, "usage: fake_daemon LOG ADDRESS...\n");
        return 2;
    }
    log_set_sink(write_log, log);
    log_set_level(LOG_LEVEL_TRACE);
    cuzk_code code = start(&p, argc - 2, argv + 2, &err);
    if (code != CUZK_OK) fprintf(stderr, "%s\n", err.message);
    fflush(stdout);
    char byte;
    while (code == CUZK_OK && read(0, &byte, 1) > 0) continue;
    if (p.engine) engine_drain(p.engine, true);
    rpc_server_destroy(p.rpc);
    http_server_stop(p.http);
    service_destroy(p.service);
    engine_destroy(p.engine);
    if (fake_alive() > 0) {
        fprintf(stderr, "%u tasks are left\n", fake_alive());
        code = CUZK_ERR_INTERNAL;
    }
    log_set_sink(NULL, NULL);
    fclose(log);
    return code == CUZK_OK ? 0 : 1;
}
