/* Timers of one thread: a heap ordered by time. */
#ifndef CUZK_RPC_TIMER_H
#define CUZK_RPC_TIMER_H

#include <stdbool.h>
#include <stddef.h>

/* Part of what it belongs to; zero-initialize. */
typedef struct rpc_timer {
    double at;
    size_t position; /* in the heap, from 1; 0 when not set */
    void (*fire)(struct rpc_timer *t);
} rpc_timer;

typedef struct rpc_timers {
    rpc_timer **heap; /* from index 1 */
    size_t count, capacity;
} rpc_timers;

/* Set or move; false when out of memory (only a timer that was not set can meet that). */
bool timer_set(rpc_timers *timers, rpc_timer *t, double at);
void timer_clear(rpc_timers *timers, rpc_timer *t); /* harmless when not set */
/* When the next one is due; INFINITY when there is none. */
double timers_next(const rpc_timers *timers);
/* Fire, in order, what is due at `now`. A timer is cleared before it fires. */
void timers_run(rpc_timers *timers, double now);
void timers_free(rpc_timers *timers);

#endif
