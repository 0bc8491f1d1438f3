#include "latency.h"

#include <math.h>
#include <stdlib.h>

void latency_add(latency *l, double seconds) {
    if (l->n == l->capacity) {
        size_t wanted = l->capacity ? 2 * l->capacity : 256;
        double *grown = realloc(l->seconds, wanted * sizeof *grown);
        if (!grown) {
            l->dropped++;
            return;
        }
        l->seconds = grown;
        l->capacity = wanted;
    }
    l->seconds[l->n++] = seconds;
}

void latency_merge(latency *l, const latency *other) {
    for (size_t i = 0; i < other->n; i++) latency_add(l, other->seconds[i]);
    l->dropped += other->dropped;
}

void latency_free(latency *l) {
    free(l->seconds);
    *l = (latency){.seconds = NULL};
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rank(const latency *l, double share) {
    size_t i = (size_t)ceil(share * (double)l->n);
    return l->seconds[i ? i - 1 : 0];
}

latency_summary latency_sum_up(latency *l) {
    latency_summary s = {.n = l->n};
    if (l->n == 0) return s;
    qsort(l->seconds, l->n, sizeof *l->seconds, compare);
    for (size_t i = 0; i < l->n; i++) s.mean += l->seconds[i];
    s.mean /= (double)l->n;
    s.p50 = rank(l, 0.5);
    s.p90 = rank(l, 0.9);
    s.p99 = rank(l, 0.99);
    s.most = l->seconds[l->n - 1];
    return s;
}

void json_latency(yajl_gen g, const char *key, const latency_summary *s) {
    json_key(g, key);
    yajl_gen_map_open(g);
    json_u64(g, "count", s->n);
    json_double(g, "p50_ms", 1000 * s->p50);
    json_double(g, "p90_ms", 1000 * s->p90);
    json_double(g, "p99_ms", 1000 * s->p99);
    json_double(g, "max_ms", 1000 * s->most);
    json_double(g, "mean_ms", 1000 * s->mean);
    yajl_gen_map_close(g);
}
