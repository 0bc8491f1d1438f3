/*
 * The bucket method (Pippenger) with affine buckets.
 *
 * Terms are sorted into zeros (dropped, their bases are never looked at), ones (added up as they come) and
 * general ones. Those go chunk by chunk: the bases of a chunk are brought into kernel form, in parallel over
 * blocks; then every pair of a window and a group (a part of the chunk's points, with buckets of its own) is
 * an independent task. Buckets stay filled over all chunks, and are summed up once at the end.
 *
 * Several sums over the same bases are taken in one pass, each with buckets of its own: a base is decoded
 * once for all of them, and counts as general when it is for one (a bit among general scalars costs no more
 * than its digits). As many sums as fit the memory go together.
 */
#include "msm/msm.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "msm/bucket.h"
#include "msm/kernel.h"
#include "msm/reduce.h"
#include "msm/terms.h"

#define MIN_BITS     3u
#define MAX_BITS     17u
#define MIN_CHUNK    ((size_t)1 << 15)
#define GROUP_CHUNK  ((size_t)1 << 17) /* points of a chunk for every group */
#define CHUNK_BLOCKS ((size_t)1 << 12) /* blocks of a chunk at most, so that progress is seen */
#define DIGIT_NS     4.0               /* to extract a digit and find its bucket */

struct msm_lender {
    size_t n;
    msm_worker *workers;
    atomic_flag *lent;
};

msm_worker *msm_lend(msm_lender *lender) {
    /* No loop runs on more threads than there are workers, so one is free. */
    for (size_t i = 0;; i = (i + 1) % lender->n)
        if (!atomic_flag_test_and_set_explicit(&lender->lent[i], memory_order_acquire))
            return &lender->workers[i];
}

void msm_return(msm_lender *lender, msm_worker *w) {
    atomic_flag_clear_explicit(&lender->lent[w - lender->workers], memory_order_release);
}

typedef struct plan {
    msm_digits digits;
    msm_table table; /* of each sum */
    size_t sums, chunk, segments;
} plan;

typedef struct job {
    const msm_kernel *kernel;
    const msm_bases *bases;
    const msm_scalars *scalars; /* of each sum */
    size_t sums;
    pool *pool;
    msm_lender lender;
    msm_block *blocks;
    uint64_t *marks;
    plan plan;
    /* Of the chunk. */
    uint8_t *points;
    fr_repr *recoded[MSM_SUMS];
    size_t chunk_begin; /* first block of the chunk */
    size_t chunk_terms;
    _Atomic uint64_t first_bad; /* offset of the first base refused, or UINT64_MAX */
} job;

/* Buckets for parts of the points, so that windows times groups keep all threads busy. */
static size_t choose_groups(size_t windows, unsigned threads, size_t terms) {
    size_t groups = 1, most = terms / 4096;
    for (; groups < most && groups < threads; groups++) {
        size_t cells = groups * windows, rounds = (cells + threads - 1) / threads;
        if (cells * 10 >= rounds * threads * 9) break;
    }
    return groups;
}

static double plan_ns(const plan *p, unsigned threads, size_t terms) {
    const msm_table *t = &p->table;
    double buckets = (double)t->buckets, points = (double)terms / (double)t->groups;
    double batch = buckets < points ? buckets : points;
    if (batch > (double)t->kernel->batch) batch = (double)t->kernel->batch;
    size_t cells = p->sums * t->groups * t->windows;
    double rounds = (double)((cells + threads - 1) / threads);
    double per_point = t->kernel->add_ns + MSM_INVERSION_NS / batch + DIGIT_NS;
    return rounds * (points * per_point + 2 * MSM_INVERSION_NS) +
           (double)p->sums * msm_reduce_ns(t, p->segments, threads);
}

static void plan_set(plan *p, const msm_kernel *k, unsigned bits, size_t sums, unsigned threads,
                     size_t terms) {
    p->sums = sums;
    msm_digits_init(&p->digits, bits);
    p->table = (msm_table){.kernel = k, .windows = p->digits.windows, .buckets = (size_t)1 << (bits - 1)};
    p->table.groups = choose_groups(sums * p->table.windows, threads, terms);
    p->segments = msm_reduce_segments(&p->table, threads);
}

static size_t occupied_bytes(const msm_table *t) {
    return t->groups * t->windows * ((t->buckets + 63) / 64) * sizeof(uint64_t);
}
static size_t bucket_bytes(const msm_table *t) {
    return t->groups * t->windows * t->buckets * t->kernel->point_bytes;
}
/* 8 bytes more than the scalars: digits are read by whole words. */
static size_t recoded_bytes(const plan *p) {
    return p->chunk * sizeof(fr_repr) + 64;
}
static uint64_t plan_bytes(const plan *p, unsigned threads) {
    const msm_table *t = &p->table;
    return (uint64_t)p->chunk * t->kernel->point_bytes + msm_reduce_bytes(t, p->segments) +
           p->sums * (bucket_bytes(t) + occupied_bytes(t) + recoded_bytes(p)) +
           threads * msm_worker_bytes(t->kernel, t->buckets, p->sums);
}

static void plan_sizes(plan *p, unsigned threads, size_t terms, size_t group_chunk) {
    size_t whole = (terms + MSM_BLOCK - 1) / MSM_BLOCK * MSM_BLOCK, chunk = group_chunk * p->table.groups;
    p->chunk = chunk < whole ? chunk : whole;
    p->segments = msm_reduce_segments(&p->table, threads);
}

/* The fastest plan, then, while it does not fit the memory left, one with smaller chunks, and for a single
 * sum with fewer buckets too. Does it fit? */
static bool plan_choose(plan *best, const msm_kernel *k, size_t sums, unsigned threads, size_t terms) {
    plan p;
    plan_set(best, k, MIN_BITS, sums, threads, terms);
    for (unsigned bits = MIN_BITS + 1; bits <= MAX_BITS; bits++) {
        plan_set(&p, k, bits, sums, threads, terms);
        if (plan_ns(&p, threads, terms) < plan_ns(best, threads, terms)) *best = p;
    }
    size_t group_chunk = GROUP_CHUNK;
    while (group_chunk > MIN_CHUNK && (double)group_chunk * k->add_ns > 2 * MSM_PIECE_NS) group_chunk /= 2;
    uint64_t budget = mem_budget(), used = mem_in_use(), left = used < budget ? budget - used : 0;
    for (;;) {
        plan_sizes(best, threads, terms, group_chunk);
        if (plan_bytes(best, threads) <= left) return true;
        if (group_chunk > MIN_CHUNK) {
            group_chunk /= 2;
        } else if (best->table.groups > 1) {
            best->table.groups /= 2;
        } else if (sums == 1 && best->digits.bits > 8) {
            plan_set(best, k, best->digits.bits - 1, sums, threads, terms);
            best->table.groups = 1;
        } else {
            return false;
        }
    }
}

static void note_bad(job *j, uint64_t offset) {
    uint64_t seen = j->first_bad;
    while (offset < seen && !atomic_compare_exchange_weak(&j->first_bad, &seen, offset)) {
    }
}

/* Set w->bases to where the bases with the given numbers are. */
static void find(const job *j, msm_worker *w, const uint64_t *numbers, size_t n) {
    const uint8_t *points = j->bases->points;
    size_t size = j->bases->encoded ? j->kernel->encoded_bytes : j->kernel->affine_bytes;
    for (size_t i = 0; i < n; i++) w->bases[i] = points + numbers[i] * size;
}

/* Bring the n bases found into kernel form. False when one is refused. */
static bool fetch(job *j, msm_worker *w, uint8_t *out, size_t n) {
    if (!j->bases->encoded) {
        j->kernel->load(out, w->bases, n);
        return true;
    }
    size_t bad = j->kernel->decode(out, (const uint8_t *const *)w->bases, n);
    if (bad == n) return true;
    note_bad(j, (uint64_t)((const uint8_t *)w->bases[bad] - (const uint8_t *)j->bases->points));
    return false;
}

/* Terms that add nothing: every digit is zero. */
static void drop_identities(const job *j, size_t begin, size_t n) {
    for (size_t i = begin; i < begin + n; i++)
        if (msm_point_is_identity(j->kernel, j->points + i * j->kernel->point_bytes))
            for (size_t sum = 0; sum < j->sums; sum++) j->recoded[sum][i] = j->plan.digits.bias;
}

/* The points just decoded to the heaps of the sums that have them. */
static void share_out(const job *j, msm_worker *w, const uint8_t *points, const uint8_t *who, size_t n) {
    size_t size = j->kernel->point_bytes;
    for (size_t sum = 0; sum < j->sums; sum++) {
        uint8_t *room = msm_heap_room(w, &w->heaps[sum], n, NULL), *next = room;
        for (size_t i = 0; i < n; i++) {
            if (!(who[i] >> sum & 1)) continue;
            j->kernel->copy(next, points + i * size, false);
            next += size;
        }
        msm_heap_take(w, &w->heaps[sum], (size_t)(next - room) / size);
    }
}

static void add_ones(job *j, msm_worker *w) {
    size_t batch = j->kernel->batch;
    for (size_t i = 0; i < w->terms->n_ones; i += batch) {
        size_t n = w->terms->n_ones - i < batch ? w->terms->n_ones - i : batch;
        find(j, w, w->terms->ones + i, n);
        uint8_t *room = j->sums > 1 ? w->sums : msm_heap_room(w, w->heaps, n, w->bases);
        if (!fetch(j, w, room, n)) continue;
        fault_point("msm ones", room, n * j->kernel->point_bytes);
        if (j->sums > 1)
            share_out(j, w, room, w->terms->who + i, n);
        else
            msm_heap_take(w, w->heaps, n);
    }
}

/* Sort, fetch and recode blocks of the chunk; begin and end count from its first block. */
static void prepare_blocks(void *ctx, size_t begin, size_t end) {
    job *j = ctx;
    msm_worker *w = msm_lend(&j->lender);
    uint64_t chunk_start = j->blocks[j->chunk_begin].general;
    for (size_t block = j->chunk_begin + begin; block < j->chunk_begin + end; block++) {
        msm_sort_block(w->terms, j->scalars, j->sums, j->blocks, j->marks, block);
        add_ones(j, w);
        size_t n = w->terms->n_general, at = (size_t)(j->blocks[block].general - chunk_start);
        find(j, w, w->terms->general, n);
        if (n == 0 || !fetch(j, w, j->points + at * j->kernel->point_bytes, n)) continue;
        for (size_t sum = 0; sum < j->sums; sum++) {
            const fr_repr *values = j->scalars[sum].values + block * MSM_BLOCK;
            fr_repr *recoded = j->recoded[sum] + at;
            for (size_t i = 0; i < n; i++) recoded[i] = values[w->terms->places[i]];
            msm_recode(recoded, n, &j->plan.digits);
        }
        if (!j->bases->encoded) drop_identities(j, at, n);
    }
    msm_return(&j->lender, w);
}

static msm_table table_of(const plan *p, size_t sum) {
    msm_table t = p->table;
    t.points += sum * bucket_bytes(&t);
    t.occupied += sum * (occupied_bytes(&t) / sizeof *t.occupied);
    return t;
}

static void fill_cells(void *ctx, size_t begin, size_t end) {
    job *j = ctx;
    msm_worker *w = msm_lend(&j->lender);
    for (size_t cell = begin; cell < end; cell++) {
        size_t of_each = j->plan.table.groups * j->plan.table.windows, sum = cell / of_each;
        msm_table t = table_of(&j->plan, sum);
        size_t group = cell % of_each / t.windows, window = cell % t.windows;
        msm_terms terms = {j->points, j->recoded[sum]};
        msm_window digit;
        msm_window_init(&digit, &j->plan.digits, (unsigned)window);
        msm_buckets buckets = msm_table_window(&t, group, window);
        msm_fill_buckets(w, &buckets, &terms, j->chunk_terms * group / t.groups,
                         j->chunk_terms * (group + 1) / t.groups, &digit, j->plan.digits.bits - 1);
        fault_point("msm buckets", buckets.points, t.buckets * j->kernel->point_bytes);
    }
    msm_return(&j->lender, w);
}

static cuzk_code refuse(const job *j, cuzk_error *err) {
    uint64_t offset = j->first_bad;
    point_status status = j->kernel->explain((const uint8_t *)j->bases->points + offset);
    return error_set(err, CUZK_ERR_PARAMS, NULL, offset, "base %" PRIu64 " of %zu is %s",
                     offset / j->kernel->encoded_bytes, j->bases->n,
                     status == POINT_OK ? "the identity" : point_status_text(status));
}

/* What is reported: one pass of several. */
typedef struct reporting {
    const cuzk_progress *progress;
    const char *phase;
    uint64_t before, total; /* bases times sums, before this pass and in all */
} reporting;

static cuzk_code run_chunks(job *j, const reporting *report, cuzk_error *err) {
    size_t n_blocks = msm_block_count(j->scalars->n);
    for (size_t begin = 0, end; begin < n_blocks; begin = end) {
        uint64_t start = j->blocks[begin].general;
        for (end = begin + 1; end < n_blocks && end - begin < CHUNK_BLOCKS; end++)
            if (j->blocks[end + 1].general - start > j->plan.chunk) break;
        j->chunk_begin = begin;
        j->chunk_terms = (size_t)(j->blocks[end].general - start);
        pool_for(j->pool, end - begin, 4, prepare_blocks, j);
        TRY(pool_check(j->pool, err));
        if (j->first_bad != UINT64_MAX) return refuse(j, err);
        fault_point("msm points", j->points, j->chunk_terms * j->kernel->point_bytes);
        for (size_t sum = 0; sum < j->sums && j->chunk_terms > 0; sum++)
            fault_point("msm scalars", j->recoded[sum], j->chunk_terms * sizeof(fr_repr));
        if (j->chunk_terms > 0)
            pool_for(j->pool, j->sums * j->plan.table.groups * j->plan.table.windows, 1, fill_cells, j);
        TRY(pool_check(j->pool, err));
        TRY(progress_report(report->progress, report->phase, report->before + j->sums * j->blocks[end].bases,
                            report->total, err));
    }
    return CUZK_OK;
}

/* Everything after the blocks are counted; memory is one big buffer, cut up here. */
static cuzk_code run_in(job *j, msm_sum *sums, uint8_t *memory, const reporting *report, cuzk_error *err) {
    plan *p = &j->plan;
    size_t worker_bytes = msm_worker_bytes(j->kernel, p->table.buckets, j->sums);
    bool any = p->chunk > 0;
    for (size_t i = 0; i < j->lender.n; i++, memory += worker_bytes) {
        msm_worker_init(&j->lender.workers[i], j->kernel, p->table.buckets, j->sums, memory);
        atomic_flag_clear(&j->lender.lent[i]);
    }
    if (any) {
        p->table.points = memory;
        memory += j->sums * bucket_bytes(&p->table);
        j->points = memory;
        memory += p->chunk * j->kernel->point_bytes;
        for (size_t i = 0; i < j->sums; i++, memory += recoded_bytes(p))
            j->recoded[i] = (fr_repr *)(void *)memory;
    }
    void *scratch = memory;
    if (any) p->table.occupied = (uint64_t *)(void *)(memory + msm_reduce_bytes(&p->table, p->segments));

    TRY(run_chunks(j, report, err));
    for (size_t i = 0; i < j->sums; i++) {
        msm_table table = any ? table_of(p, i) : p->table;
        j->kernel->sum_clear(&sums[i]);
        if (any) msm_reduce(&sums[i], &table, p->digits.bits, p->segments, scratch, &j->lender, j->pool);
        for (size_t k = 0; k < j->lender.n; k++)
            msm_heap_drain(&j->lender.workers[k], &j->lender.workers[k].heaps[i], &sums[i]);
        j->kernel->sum_finish(&sums[i], j->bases->encoded);
    }
    return pool_check(j->pool, err);
}

static cuzk_code run_planned(job *j, msm_sum *sums, size_t bytes, const reporting *report, cuzk_error *err) {
    void *memory;
    TRY(mem_big_alloc(&memory, bytes, report->phase, err));
    unsigned threads = pool_threads(j->pool);
    j->lender.n = threads;
    j->lender.workers = calloc(threads, sizeof *j->lender.workers);
    j->lender.lent = calloc(threads, sizeof *j->lender.lent);
    cuzk_code code = j->lender.workers && j->lender.lent
                         ? run_in(j, sums, memory, report, err)
                         : error_no_memory(err, threads * sizeof(msm_worker), report->phase);
    free(j->lender.workers);
    free(j->lender.lent);
    mem_big_free(memory, bytes);
    return code;
}

/* Count and plan as many of the sums as go together, at most j->sums. */
static cuzk_code make_plan(job *j, size_t *bytes, cuzk_error *err) {
    unsigned threads = pool_threads(j->pool);
    for (;; j->sums = (j->sums + 1) / 2) {
        msm_count_blocks(j->blocks, j->marks, j->scalars, j->sums, j->pool);
        TRY(pool_check(j->pool, err));
        msm_block totals = j->blocks[msm_block_count(j->scalars->n)];
        if (totals.bases != j->bases->n)
            return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                             "%" PRIu64 " scalars are selected, expected one for each of %zu bases",
                             totals.bases, j->bases->n);
        j->plan = (plan){.sums = j->sums};
        *bytes = threads * msm_worker_bytes(j->kernel, 0, j->sums);
        if (totals.general == 0) return CUZK_OK;
        bool fits = plan_choose(&j->plan, j->kernel, j->sums, threads, (size_t)totals.general);
        *bytes = (size_t)plan_bytes(&j->plan, threads);
        if (fits || j->sums == 1) return CUZK_OK;
    }
}

static cuzk_code run(msm_sum *sums, size_t n, const msm_kernel *kernel, const msm_bases *bases,
                     const msm_scalars *scalars, pool *p, const cuzk_progress *progress, const char *phase,
                     cuzk_error *err) {
    for (size_t i = 1; i < n; i++)
        if (scalars[i].n != scalars->n)
            return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                             "sums of %zu and of %zu terms over the same bases", scalars->n, scalars[i].n);
    if (n == 0) return CUZK_OK;
    if (!phase) phase = "a multi-scalar multiplication";
    size_t block_bytes = (msm_block_count(scalars->n) + 1) * sizeof(msm_block);
    size_t bytes_of_both = block_bytes + msm_marks_bytes(scalars->n, n < MSM_SUMS ? n : MSM_SUMS);
    void *blocks;
    TRY(mem_big_alloc(&blocks, bytes_of_both, phase, err));
    cuzk_code code = CUZK_OK;
    reporting report = {progress, phase, 0, (uint64_t)n * bases->n};
    for (size_t done = 0, bytes = 0; done < n && code == CUZK_OK;) {
        job j = {.kernel = kernel, .bases = bases, .pool = p, .blocks = blocks, .first_bad = UINT64_MAX};
        j.marks = (uint64_t *)(void *)((uint8_t *)blocks + block_bytes);
        j.scalars = scalars + done;
        j.sums = n - done < MSM_SUMS ? n - done : MSM_SUMS;
        code = make_plan(&j, &bytes, err);
        if (code == CUZK_OK) code = run_planned(&j, sums + done, bytes, &report, err);
        done += j.sums;
        report.before += (uint64_t)j.sums * bases->n;
    }
    mem_big_free(blocks, bytes_of_both);
    return code;
}

#define DEFINE_MANY(G)                                                                                       \
    cuzk_code msm_##G##_many(G *out, const msm_bases *bases, const msm_scalars *scalars, size_t n, pool *p,  \
                             const cuzk_progress *progress, const char *phase, cuzk_error *err) {            \
        msm_sum *sums = calloc(n + 1, sizeof *sums);                                                         \
        if (!sums) return error_no_memory(err, n * sizeof *sums, "the sums");                                \
        cuzk_code code = run(sums, n, msm_kernel_##G(), bases, scalars, p, progress, phase, err);            \
        for (size_t i = 0; i < n && code == CUZK_OK; i++) {                                                  \
            fault_point("msm sum", &sums[i].in_##G, sizeof sums[i].in_##G);                                  \
            out[i] = sums[i].in_##G;                                                                         \
        }                                                                                                    \
        free(sums);                                                                                          \
        return code;                                                                                         \
    }                                                                                                        \
    cuzk_code msm_##G(G *out, const msm_bases *bases, const msm_scalars *scalars, pool *p,                   \
                      const cuzk_progress *progress, const char *phase, cuzk_error *err) {                   \
        return msm_##G##_many(out, bases, scalars, 1, p, progress, phase, err);                              \
    }

DEFINE_MANY(g1)
DEFINE_MANY(g2)
