#include "status_sampler.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

#define CALL_SECONDS 30.0 /* as long as a call may take */

static void sleep_until(double when) {
    double left = when - clock_seconds();
    if (left <= 0) return;
    struct timespec t = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
    nanosleep(&t, NULL);
}

static void *ask(void *arg) {
    status_sampler *s = arg;
    double next = clock_seconds();
    while (!atomic_load(&s->stop)) {
        get_status_request request = {0};
        get_status_response response = {.uptime_seconds = 0};
        double start = clock_seconds();
        if (daemon_call(&s->link, METHOD_GET_STATUS, &request, CALL_SECONDS, &response) == RPC_OK) {
            latency_add(&s->times, clock_seconds() - start);
        } else {
            s->failed++;
            snprintf(s->message, sizeof s->message, "%s: %.200s", rpc_status_name(s->link.reply.status),
                     s->link.reply.message);
        }
        daemon_free_response(METHOD_GET_STATUS, &response);
        next += s->interval;
        if (next < clock_seconds()) next = clock_seconds();
        sleep_until(next);
    }
    return NULL;
}

cuzk_code status_sampler_start(status_sampler *s, const char *address, double interval, cuzk_error *err) {
    *s = (status_sampler){.interval = interval};
    TRY(daemon_open(&s->link, address, err));
    int rc = pthread_create(&s->thread, NULL, ask, s);
    if (rc == 0) return CUZK_OK;
    daemon_close(&s->link);
    return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting a thread");
}

void status_sampler_stop(status_sampler *s) {
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    daemon_close(&s->link);
}

void status_sampler_free(status_sampler *s) {
    latency_free(&s->times);
}
