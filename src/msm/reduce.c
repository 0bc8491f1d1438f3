/*
 * Segment s of a window holds its buckets sL .. sL + L - 1. Going down, running += B and sum += running, so
 * that in the end running = sum of the B and sum = sum_t (t + 1) B_(sL + t); the window's sum is
 * sum_s (sum_s + L s running_s). The first part is done for many segments at once in batched additions, the
 * second, over few points, in Jacobian coordinates.
 */
#include "msm/reduce.h"

#include <string.h>

msm_buckets msm_table_window(const msm_table *t, size_t group, size_t window) {
    size_t set = group * t->windows + window, words = (t->buckets + 63) / 64;
    return (msm_buckets){t->points + set * t->buckets * t->kernel->point_bytes, t->occupied + set * words};
}

/* Tasks of at most a batch of lanes, the same number for every thread. */
static size_t task_count(const msm_kernel *k, size_t n_lanes, size_t threads) {
    size_t share = k->batch * threads;
    return threads * ((n_lanes + share - 1) / share);
}

double msm_reduce_ns(const msm_table *t, size_t segments, unsigned threads) {
    const msm_kernel *k = t->kernel;
    size_t lanes = segments * t->windows, tasks = task_count(k, lanes, threads);
    double per_task = (double)((lanes + tasks - 1) / tasks), rounds = (double)(tasks / threads);
    double steps = (double)(t->buckets / segments * (t->groups + 1));
    double last = (double)((t->windows + threads - 1) / threads) * (double)segments * 2 * k->sum_ns;
    return rounds * steps * (per_task * k->add_ns + MSM_INVERSION_NS) + last;
}

size_t msm_reduce_segments(const msm_table *t, unsigned threads) {
    size_t best = 1;
    for (size_t segments = 2; segments <= t->buckets; segments *= 2)
        if (msm_reduce_ns(t, segments, threads) < msm_reduce_ns(t, best, threads)) best = segments;
    return best;
}

/* A lane is one segment of one window. */
typedef struct lanes {
    const msm_table *table;
    size_t segments, length, n;
    uint8_t *running, *sum;         /* a point a lane */
    uint8_t *has_running, *has_sum; /* a byte a lane: not the identity */
    msm_sum *window_sums;
    msm_lender *lender;
    size_t tasks;
    size_t from, to; /* buckets of a segment, from the top, that this round takes */
} lanes;

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

size_t msm_reduce_bytes(const msm_table *t, size_t segments) {
    size_t n = segments * t->windows;
    return 2 * n * t->kernel->point_bytes + 2 * round_up(n) + round_up(t->windows * sizeof(msm_sum));
}

/* to[i] += the point queued for lane i; runs what was queued. */
static void run(msm_worker *w, uint8_t *has, size_t *n_pairs) {
    const msm_kernel *k = w->kernel;
    if (*n_pairs > 0 && k->add(w->pairs, *n_pairs, w->scratch, NULL, 0))
        for (size_t i = 0; i < *n_pairs; i++)
            if (msm_point_is_identity(k, w->pairs[i].out)) has[w->targets[i]] = 0;
    *n_pairs = 0;
}

static void queue(msm_worker *w, uint8_t *to, uint8_t *has, size_t lane, const void *point, size_t *n_pairs) {
    uint8_t *out = to + lane * w->kernel->point_bytes;
    if (!has[lane]) {
        w->kernel->copy(out, point, false);
        has[lane] = 1;
        return;
    }
    w->targets[*n_pairs] = (uint32_t)lane;
    w->pairs[(*n_pairs)++] = (msm_pair){out, out, (uintptr_t)point};
    if (*n_pairs == w->kernel->batch) run(w, has, n_pairs);
}

static void sum_segments(void *ctx, size_t begin, size_t end) {
    const lanes *l = ctx;
    const msm_table *t = l->table;
    size_t size = t->kernel->point_bytes, n_pairs = 0;
    msm_worker *w = msm_lend(l->lender);
    for (size_t task = begin; task < end; task++) {
        size_t first = l->n * task / l->tasks, last = l->n * (task + 1) / l->tasks;
        for (size_t at = l->length - l->from; at-- > l->length - l->to;) {
            for (size_t group = 0; group < t->groups; group++) {
                for (size_t lane = first; lane < last; lane++) {
                    msm_buckets set = msm_table_window(t, group, lane / l->segments);
                    size_t bucket = lane % l->segments * l->length + at;
                    const uint8_t *point = set.points + bucket * size;
                    if (at > 0)
                        for (size_t line = 0; line < size; line += 64) msm_fetch(point - size + line);
                    if (set.occupied[bucket / 64] >> (bucket % 64) & 1)
                        queue(w, l->running, l->has_running, lane, point, &n_pairs);
                }
                run(w, l->has_running, &n_pairs);
            }
            for (size_t lane = first; lane < last; lane++)
                if (l->has_running[lane])
                    queue(w, l->sum, l->has_sum, lane, l->running + lane * size, &n_pairs);
            run(w, l->has_sum, &n_pairs);
        }
    }
    msm_return(l->lender, w);
}

/* Buckets of a segment in a round, so that none of its pieces keeps a thread for long. */
static size_t round_steps(const lanes *l) {
    const msm_kernel *k = l->table->kernel;
    double per_task = (double)((l->n + l->tasks - 1) / l->tasks),
           step = per_task * k->add_ns + MSM_INVERSION_NS;
    return 1 + (size_t)(MSM_PIECE_NS / (step * (double)(l->table->groups + 1)));
}

static void sum_windows(void *ctx, size_t begin, size_t end) {
    const lanes *l = ctx;
    const msm_kernel *k = l->table->kernel;
    for (size_t window = begin; window < end; window++) {
        msm_sum running, weighted, *sum = &l->window_sums[window];
        k->sum_clear(&running);
        k->sum_clear(&weighted);
        k->sum_clear(sum);
        for (size_t s = l->segments; s-- > 0;) {
            size_t lane = window * l->segments + s;
            if (l->has_sum[lane]) k->sum_add_point(sum, l->sum + lane * k->point_bytes);
            if (s == 0) break;
            if (l->has_running[lane]) k->sum_add_point(&running, l->running + lane * k->point_bytes);
            k->sum_add(&weighted, &running);
        }
        for (size_t length = l->length; length > 1; length /= 2) k->sum_dbl(&weighted);
        k->sum_add(sum, &weighted);
    }
}

void msm_reduce(msm_sum *out, const msm_table *t, unsigned bits, size_t segments, void *scratch,
                msm_lender *lender, pool *p) {
    const msm_kernel *k = t->kernel;
    size_t n = segments * t->windows;
    lanes l = {.table = t, .segments = segments, .length = t->buckets / segments, .n = n, .lender = lender};
    l.running = scratch;
    l.sum = l.running + n * k->point_bytes;
    l.has_running = l.sum + n * k->point_bytes;
    l.has_sum = l.has_running + round_up(n);
    l.window_sums = (msm_sum *)(void *)(l.has_sum + round_up(n));
    memset(l.has_running, 0, 2 * round_up(n));
    l.tasks = task_count(k, n, pool_threads(p));
    size_t steps = round_steps(&l);
    for (; l.from < l.length; l.from = l.to) {
        l.to = l.length - l.from < steps ? l.length : l.from + steps;
        pool_for(p, l.tasks, 1, sum_segments, &l);
    }
    pool_for(p, t->windows, 1, sum_windows, &l);

    k->sum_clear(out);
    for (size_t window = t->windows; window-- > 0;) {
        for (unsigned i = 0; i < bits; i++) k->sum_dbl(out);
        k->sum_add(out, &l.window_sums[window]);
    }
}
