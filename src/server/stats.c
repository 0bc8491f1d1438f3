#include "server/stats.h"

const char *refusal_name(unsigned reason) {
    static const char *const names[REFUSALS] = {"queue_full", "memory",      "draining",
                                                "input",      "unsupported", "conflict"};
    return reason < REFUSALS ? names[reason] : "unknown";
}

void server_stats_init(server_stats *s, unsigned max_synthesis) {
    cuzk_get_build(&s->build);
    s->max_synthesis = max_synthesis;
    for (unsigned i = 0; i < REFUSALS; i++) atomic_init(&s->refused[i], 0);
}

void server_stats_refuse(server_stats *s, refusal reason) {
    atomic_fetch_add_explicit(&s->refused[reason], 1, memory_order_relaxed);
}
