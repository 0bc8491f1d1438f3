#include "msm/bucket.h"

#include <string.h>

bool msm_point_is_identity(const msm_kernel *k, const void *point) {
    const uint8_t *bytes = point;
    uint64_t word;
    for (size_t i = 0; i < k->point_bytes; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        if (word != 0) return false;
    }
    return true;
}

static bool bit_get(const uint64_t *bits, size_t i) {
    return bits[i / 64] >> (i % 64) & 1;
}
static void bit_set(uint64_t *bits, size_t i) {
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}
static void bit_clear(uint64_t *bits, size_t i) {
    bits[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/* Hand out the parts of a worker's memory, or (base NULL) only count. */
static void *carve(uint8_t *base, size_t *used, size_t bytes) {
    void *part = base ? base + *used : NULL;
    *used += (bytes + 63) / 64 * 64;
    return part;
}

static size_t lay_out(msm_worker *w, const msm_kernel *k, size_t buckets, size_t sums, uint8_t *base) {
    size_t used = 0;
    w->kernel = k;
    w->pairs = carve(base, &used, k->batch * sizeof *w->pairs);
    w->targets = carve(base, &used, k->batch * sizeof *w->targets);
    w->ready = carve(base, &used, k->batch * sizeof *w->ready);
    w->ready_targets = carve(base, &used, k->batch * sizeof *w->ready_targets);
    w->scratch = carve(base, &used, k->scratch_bytes);
    w->in_batch = carve(base, &used, (buckets + 63) / 64 * sizeof *w->in_batch);
    w->deferred = carve(base, &used, MSM_DEFERRED * sizeof *w->deferred);
    w->sorted = carve(base, &used, MSM_DEFERRED * sizeof *w->sorted);
    w->entries = carve(base, &used, MSM_DEFERRED * sizeof *w->entries);
    w->sums = carve(base, &used, MSM_DEFERRED * k->point_bytes);
    for (size_t i = 0; i < sums; i++) {
        w->heaps[i].running = carve(base, &used, k->batch * k->point_bytes);
        w->heaps[i].waiting = carve(base, &used, k->batch * k->point_bytes);
    }
    w->terms = carve(base, &used, sizeof *w->terms);
    w->bases = carve(base, &used, MSM_BLOCK * sizeof *w->bases);
    return used;
}

size_t msm_worker_bytes(const msm_kernel *k, size_t buckets, size_t sums) {
    msm_worker w;
    return lay_out(&w, k, buckets, sums, NULL);
}

void msm_worker_init(msm_worker *w, const msm_kernel *k, size_t buckets, size_t sums, void *memory) {
    memset(w, 0, sizeof *w);
    lay_out(w, k, buckets, sums, memory);
}

/* The sum in a bucket of the batch just run vanished. The next batch may have it as a target all the same. */
static void empty_bucket(msm_worker *w, const msm_buckets *buckets, uint32_t bucket, uint8_t *target) {
    for (size_t i = 0; i < w->n_pairs; i++) {
        if (w->targets[i] != bucket) continue;
        w->kernel->copy(target, (const void *)(w->pairs[i].b & ~MSM_NEGATE), w->pairs[i].b & MSM_NEGATE);
        w->pairs[i] = w->pairs[--w->n_pairs];
        w->targets[i] = w->targets[w->n_pairs];
        return;
    }
    bit_clear(buckets->occupied, bucket);
}

/* Run the batch that is ready and make the open one ready. */
static void flush(msm_worker *w, const msm_buckets *buckets) {
    const msm_kernel *k = w->kernel;
    for (size_t i = 0; i < w->n_pairs; i++) bit_clear(w->in_batch, w->targets[i]);
    if (w->n_ready > 0 && k->add(w->ready, w->n_ready, w->scratch, w->pairs, w->n_pairs))
        for (size_t i = 0; i < w->n_ready; i++)
            if (msm_point_is_identity(k, w->ready[i].out))
                empty_bucket(w, buckets, w->ready_targets[i], w->ready[i].out);
    msm_pair *pairs = w->ready;
    uint32_t *targets = w->ready_targets;
    w->ready = w->pairs;
    w->ready_targets = w->targets;
    w->n_ready = w->n_pairs;
    w->pairs = pairs;
    w->targets = targets;
    w->n_pairs = 0;
}

static void flush_all(msm_worker *w, const msm_buckets *buckets) {
    flush(w, buckets);
    flush(w, buckets);
}

/* point goes to a bucket that is not in the open batch. */
static inline void insert(msm_worker *w, const msm_buckets *buckets, uint32_t bucket, uintptr_t point) {
    uint8_t *target = buckets->points + bucket * w->kernel->point_bytes;
    if (!bit_get(buckets->occupied, bucket)) {
        w->kernel->copy(target, (const void *)(point & ~MSM_NEGATE), point & MSM_NEGATE);
        bit_set(buckets->occupied, bucket);
        return;
    }
    bit_set(w->in_batch, bucket);
    w->targets[w->n_pairs] = bucket;
    w->pairs[w->n_pairs++] = (msm_pair){target, target, point};
    if (w->n_pairs == w->kernel->batch) flush(w, buckets);
}

/* Add up neighbours in the same bucket until every bucket occurs once; entries are in bucket order. Sums are
 * written to w->sums, of which a list of n entries needs fewer than n. Returns the number of entries left. */
static size_t add_neighbours(msm_worker *w, msm_entry *entries, size_t n) {
    const msm_kernel *k = w->kernel;
    uint8_t *next_sum = w->sums;
    for (;;) {
        size_t kept = 0, n_pairs = 0;
        bool met = false, vanished = false;
        for (size_t i = 0; i < n; kept++) {
            msm_entry first = entries[i++];
            if (i < n && entries[i].bucket == first.bucket) {
                /* (+-a) + (+-b) = +-(a +- b): the sign of a stays with the entry. */
                uintptr_t sign = first.point & MSM_NEGATE;
                w->pairs[n_pairs++] = (msm_pair){next_sum, (const void *)(first.point & ~MSM_NEGATE),
                                                 entries[i++].point ^ sign};
                first.point = (uintptr_t)next_sum | sign;
                next_sum += k->point_bytes;
                met = true;
                if (n_pairs == k->batch) {
                    vanished |= k->add(w->pairs, n_pairs, w->scratch, NULL, 0);
                    n_pairs = 0;
                }
            }
            entries[kept] = first;
        }
        if (!met) return kept;
        if (n_pairs > 0) vanished |= k->add(w->pairs, n_pairs, w->scratch, NULL, 0);
        n = kept;
        if (vanished) {
            n = 0;
            for (size_t i = 0; i < kept; i++)
                if (!msm_point_is_identity(k, (const void *)(entries[i].point & ~MSM_NEGATE)))
                    entries[n++] = entries[i];
        }
    }
}

/* Sort by the bucket in the upper half, stably; the result is in w->deferred. */
static void sort_deferred(msm_worker *w, unsigned bucket_bits) {
    for (unsigned shift = 32; shift < 32 + bucket_bits; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < w->n_deferred; i++) start[(w->deferred[i] >> shift & 255) + 1]++;
        for (size_t v = 0; v < 256; v++) start[v + 1] += start[v];
        for (size_t i = 0; i < w->n_deferred; i++)
            w->sorted[start[w->deferred[i] >> shift & 255]++] = w->deferred[i];
        uint64_t *t = w->deferred;
        w->deferred = w->sorted;
        w->sorted = t;
    }
}

/* Empty the open batch and the deferred list into the buckets. */
static void settle(msm_worker *w, const msm_buckets *buckets, const msm_terms *terms, unsigned bucket_bits) {
    flush_all(w, buckets);
    if (w->n_deferred == 0) return;
    sort_deferred(w, bucket_bits);
    for (size_t i = 0; i < w->n_deferred; i++) {
        uint32_t number = (uint32_t)w->deferred[i];
        const uint8_t *point = terms->points + (size_t)(number >> 1) * w->kernel->point_bytes;
        w->entries[i] = (msm_entry){(uintptr_t)point | (number & 1), (uint32_t)(w->deferred[i] >> 32)};
    }
    size_t n = add_neighbours(w, w->entries, w->n_deferred);
    for (size_t i = 0; i < n; i++) insert(w, buckets, w->entries[i].bucket, w->entries[i].point);
    flush_all(w, buckets);
    w->n_deferred = 0;
}

void msm_fill_buckets(msm_worker *w, const msm_buckets *buckets, const msm_terms *terms, size_t begin,
                      size_t end, const msm_window *window, unsigned bucket_bits) {
    size_t size = w->kernel->point_bytes;
    const uint32_t last = ((uint32_t)1 << bucket_bits) - 1;
    for (size_t i = begin; i < end; i++) {
        const fr_repr *scalar = &terms->scalars[i];
        uint64_t word;
        memcpy(&word, (const char *)scalar + window->byte, sizeof word);
        int64_t digit = (int64_t)(word >> window->shift & window->mask) - window->bias;
        if (digit == 0) continue;
        int64_t below = digit >> 63; /* -1 or 0 */
        uint64_t sign = (scalar->l[3] >> 63) ^ ((uint64_t)below & 1);
        uint32_t bucket = (uint32_t)((digit ^ below) - below - 1) & last;
        if (bit_get(w->in_batch, bucket)) {
            w->deferred[w->n_deferred++] = (uint64_t)bucket << 32 | i << 1 | sign;
            if (w->n_deferred == MSM_DEFERRED) settle(w, buckets, terms, bucket_bits);
        } else {
            insert(w, buckets, bucket, (uintptr_t)(terms->points + i * size) | sign);
        }
    }
    settle(w, buckets, terms, bucket_bits);
}

/* running[i] += waiting[i]; what vanishes gives its place to the last. Meanwhile what is at the n_next
 * addresses is fetched into the cache. */
static void add_waiting(msm_worker *w, msm_heap *h, const void *const *next, size_t n_next) {
    const msm_kernel *k = w->kernel;
    size_t n = h->n_waiting < h->n_running ? h->n_waiting : h->n_running;
    for (size_t i = 0; i < n; i++) {
        uint8_t *sum = h->running + i * k->point_bytes;
        w->pairs[i] = (msm_pair){sum, sum, (uintptr_t)(h->waiting + i * k->point_bytes)};
    }
    for (size_t i = 0; i < n_next / 2; i++)
        w->ready[i] = (msm_pair){NULL, next[2 * i], (uintptr_t)next[2 * i + 1]};
    bool vanished = n > 0 && k->add(w->pairs, n, w->scratch, w->ready, n_next / 2);
    for (size_t i = n; i < h->n_waiting; i++)
        k->copy(h->running + h->n_running++ * k->point_bytes, h->waiting + i * k->point_bytes, false);
    h->n_waiting = 0;
    if (!vanished) return;
    for (size_t i = 0; i < h->n_running;) {
        uint8_t *sum = h->running + i * k->point_bytes;
        if (!msm_point_is_identity(k, sum)) {
            i++;
        } else if (--h->n_running > i) {
            k->copy(sum, h->running + h->n_running * k->point_bytes, false);
        }
    }
}

uint8_t *msm_heap_room(msm_worker *w, msm_heap *h, size_t n, const void *const *from) {
    if (h->n_waiting + n > w->kernel->batch) add_waiting(w, h, from, from ? n : 0);
    return h->waiting + h->n_waiting * w->kernel->point_bytes;
}

void msm_heap_take(const msm_worker *w, msm_heap *h, size_t n) {
    const msm_kernel *k = w->kernel;
    size_t end = h->n_waiting + n;
    for (size_t i = h->n_waiting; i < end; i++) {
        const uint8_t *point = h->waiting + i * k->point_bytes;
        if (msm_point_is_identity(k, point)) continue;
        uint8_t *place = h->waiting + h->n_waiting++ * k->point_bytes;
        if (place != point) k->copy(place, point, false);
    }
}

void msm_heap_drain(msm_worker *w, msm_heap *h, msm_sum *sum) {
    const msm_kernel *k = w->kernel;
    add_waiting(w, h, NULL, 0);
    for (size_t i = 0; i < h->n_running; i++)
        w->entries[i] = (msm_entry){(uintptr_t)(h->running + i * k->point_bytes), 0};
    if (add_neighbours(w, w->entries, h->n_running) == 1)
        k->sum_add_point(sum, (const void *)(w->entries[0].point & ~MSM_NEGATE));
    h->n_running = 0;
}
