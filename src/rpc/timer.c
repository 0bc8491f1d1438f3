#include "rpc/timer.h"

#include <math.h>
#include <stdlib.h>

static void put(rpc_timers *timers, size_t position, rpc_timer *t) {
    timers->heap[position] = t;
    t->position = position;
}

/* Move t, for which there is a hole at `position`, up or down to where it belongs. */
static void settle(rpc_timers *timers, size_t position, rpc_timer *t) {
    while (position > 1 && timers->heap[position / 2]->at > t->at) {
        put(timers, position, timers->heap[position / 2]);
        position /= 2;
    }
    for (;;) {
        size_t child = 2 * position;
        if (child > timers->count) break;
        if (child < timers->count && timers->heap[child + 1]->at < timers->heap[child]->at) child++;
        if (timers->heap[child]->at >= t->at) break;
        put(timers, position, timers->heap[child]);
        position = child;
    }
    put(timers, position, t);
}

bool timer_set(rpc_timers *timers, rpc_timer *t, double at) {
    if (!t->position) {
        if (timers->count + 1 >= timers->capacity) {
            size_t capacity = timers->capacity ? 2 * timers->capacity : 64;
            rpc_timer **heap = realloc(timers->heap, capacity * sizeof(rpc_timer *));
            if (!heap) return false;
            timers->heap = heap;
            timers->capacity = capacity;
        }
        t->position = ++timers->count;
    }
    t->at = at;
    settle(timers, t->position, t);
    return true;
}

void timer_clear(rpc_timers *timers, rpc_timer *t) {
    size_t hole = t->position;
    if (!hole) return;
    t->position = 0;
    rpc_timer *last = timers->heap[timers->count--];
    if (last != t) settle(timers, hole, last);
}

double timers_next(const rpc_timers *timers) {
    return timers->count ? timers->heap[1]->at : INFINITY;
}

void timers_run(rpc_timers *timers, double now) {
    while (timers->count && timers->heap[1]->at <= now) {
        rpc_timer *t = timers->heap[1];
        timer_clear(timers, t);
        t->fire(t);
    }
}

void timers_free(rpc_timers *timers) {
    free(timers->heap);
    *timers = (rpc_timers){0};
}
