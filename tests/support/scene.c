/*
 * A job is laid out by a simple rule: after its check, partition i is synthesized as soon as partition i - 2
 * is being proved, and proved after partition i - 1. Its state is then what that plan is at the time asked
 * for.
 */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START    4000.0 /* the engine's uptime when a scene begins */
#define MOST     1200u
#define MOST_PER 128u
#define GIB      ((uint64_t)1 << 30)

typedef struct plan {
    const char *id;
    job_kind kind;
    job_priority priority;
    const char *circuit;
    uint32_t partitions;
    double accepted;                      /* relative to the scene's begin */
    double wait, check, synthesis, prove; /* seconds; of one partition the last two */
    job_state end;                        /* how it ends */
    const char *message;                  /* of a failure */
} plan;

bool scene_parse(scene *out, const char *name) {
    static const char *const names[] = {"empty", "one", "busy", "thousand", "failures", "hostile"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (scene)i;
        return true;
    }
    return false;
}

static void *need(void *memory) {
    if (!memory) abort();
    return memory;
}

static engine_job_view *new_job(engine_snapshot *s, const char *id, job_kind kind, job_priority priority,
                                const char *circuit, double accepted) {
    engine_job_view *j = &s->jobs[s->n_jobs++];
    if (s->n_jobs > MOST) abort();
    snprintf(j->id, sizeof j->id, "%s", id);
    snprintf(j->circuit, sizeof j->circuit, "%s", circuit);
    j->kind = kind;
    j->priority = j->effective = priority;
    j->state = JOB_QUEUED;
    j->sector_number = 4711;
    j->miner_id = 1000;
    j->accepted = accepted;
    j->started = j->ended = j->deadline = -1;
    return j;
}

/* The time t of a plan if it has come by `now`, relative to the acceptance; else -1. */
static float reached(double t, double now) {
    return t <= now ? (float)t : -1.0f;
}

static void fill_partition(engine_partition_view *v, uint32_t i, const plan *p, double since) {
    double first = p->wait + p->check;
    double prove_start = first + p->synthesis + i * p->prove;
    double synth_start = i < 2 ? first + i * p->synthesis : first + p->synthesis + (i - 2) * p->prove;
    v->synth_start = reached(synth_start, since);
    v->synth_end = reached(synth_start + p->synthesis, since);
    v->prove_start = reached(prove_start, since);
    v->prove_end = reached(prove_start + p->prove, since);
    v->attempts = 1;
    if (v->prove_end >= 0)
        v->state = PARTITION_DONE;
    else if (v->prove_start >= 0)
        v->state = PARTITION_PROVING;
    else if (v->synth_end >= 0)
        v->state = PARTITION_SYNTHESIZED;
    else if (v->synth_start >= 0)
        v->state = PARTITION_SYNTHESIZING;
    if (v->state == PARTITION_PROVING) {
        v->progress = (float)((since - prove_start) / p->prove);
        snprintf(v->phase, sizeof v->phase, "%s",
                 v->progress < 0.3f   ? "ntt"
                 : v->progress < 0.7f ? "msm h"
                                      : "msm b g2");
    } else if (v->state == PARTITION_SYNTHESIZING) {
        v->progress = (float)((since - synth_start) / p->synthesis);
        snprintf(v->phase, sizeof v->phase, "witness");
    }
}

/* A job of the plan as it is `now` seconds after the scene began; nothing before it was accepted. */
static void follow(engine_snapshot *s, const plan *p, double now) {
    double since = now - p->accepted;
    if (since < 0) return;
    engine_job_view *j = new_job(s, p->id, p->kind, p->priority, p->circuit, START + p->accepted);
    double first = p->wait + p->check, last = first + p->synthesis + p->partitions * p->prove;
    double end = p->end == JOB_COMPLETED ? last + 0.4 : last;
    j->partitions = p->partitions;
    if (since < p->wait) return;
    j->started = j->accepted + p->wait;
    j->state = JOB_RUNNING;
    j->checking = since < first;
    j->partition = &s->partition_views[s->n_jobs * MOST_PER % (16 * MOST_PER)];
    for (uint32_t i = 0; i < p->partitions; i++) {
        engine_partition_view *v = (engine_partition_view *)&j->partition[i];
        fill_partition(v, i, p, since < end ? since : end);
        if (since >= end && p->end != JOB_COMPLETED && i == p->partitions - 1)
            v->state = p->end == JOB_FAILED ? PARTITION_FAILED : PARTITION_PENDING;
        j->partitions_done += v->state == PARTITION_DONE;
    }
    if (!j->checking) j->timings.check = (uint64_t)(1000 * p->check);
    if (since < end) {
        j->verifying = since >= last;
        j->memory_bytes = 4 * GIB;
        return;
    }
    j->ended = j->accepted + end;
    j->state = p->end;
    snprintf(j->message, sizeof j->message, "%s", p->message ? p->message : "");
    j->timings = (engine_timings){.queue_wait = (uint64_t)(1000 * p->wait),
                                  .check = (uint64_t)(1000 * p->check),
                                  .synthesis = (uint64_t)(1000 * p->partitions * p->synthesis),
                                  .compute = (uint64_t)(1000 * p->partitions * p->prove),
                                  .total = (uint64_t)(1000 * end),
                                  .peak_bytes = 3 * GIB};
}

static void new_key(engine_snapshot *s, const char *circuit, key_tier tier, uint64_t bytes,
                    uint64_t structure, uint32_t users, double idle) {
    key_view *k = &s->keys[s->n_keys++];
    snprintf(k->circuit, sizeof k->circuit, "%s", circuit);
    k->tier = tier;
    k->bytes = bytes;
    k->locked_bytes = tier == KEY_HOT ? bytes : 0;
    k->matrices_bytes = structure;
    k->users = users;
    k->idle = users ? 0 : idle;
}

static void count_one(engine_counters *c, const engine_job_view *j) {
    uint64_t *ended[] = {[JOB_COMPLETED] = c->completed,
                         [JOB_FAILED] = c->failed,
                         [JOB_CANCELLED] = c->cancelled,
                         [JOB_TIMEOUT] = c->timed_out};
    c->submitted++;
    if (job_state_is_final(j->state)) {
        ended[j->state][j->kind]++;
        return;
    }
    c->queued_by_priority[j->priority]++;
    if (j->state == JOB_QUEUED)
        c->pending[j->kind]++;
    else
        c->running[j->kind]++;
    c->partitions_by_stage[STAGE_CHECK] += j->checking;
    c->partitions_by_stage[STAGE_VERIFY] += j->verifying;
    for (uint32_t i = 0; j->partition && i < j->partitions; i++) {
        partition_state state = j->partition[i].state;
        c->partitions_by_stage[STAGE_SYNTHESIS] += state == PARTITION_SYNTHESIZING;
        c->partitions_by_stage[STAGE_PROVE] += state == PARTITION_PROVING;
        c->synthesized += state == PARTITION_SYNTHESIZED;
        c->paused_now += j->partition[i].paused;
    }
}

static void fill_histogram(engine_histogram *h, unsigned bucket, uint64_t n, double each) {
    h->counts[bucket] = n;
    h->count = n;
    h->sum = (double)n * each;
}

static void fill_counters(engine_snapshot *s, scene kind, double now) {
    engine_counters *c = &s->counters;
    c->uptime = START + now;
    c->cores = 32;
    c->memory_budget = 240 * GIB;
    for (size_t i = 0; i < s->n_jobs; i++) count_one(c, &s->jobs[i]);
    bool proves = c->partitions_by_stage[STAGE_PROVE] > 0;
    if (kind != SCENE_EMPTY) {
        c->completed[JOB_POREP] += 1204;
        c->partitions_proved = 12071;
        fill_histogram(&c->stage[STAGE_PROVE], 15, 12071, 31.5);
        fill_histogram(&c->stage[STAGE_SYNTHESIS], 11, 12073, 2.1);
        fill_histogram(&c->total[JOB_POREP], 18, 1204, 214.0);
        fill_histogram(&c->queue_wait[JOB_NORMAL], 14, 1204, 9.2);
        c->core_seconds[STAGE_CHECK] = 512;
        c->core_seconds[STAGE_SYNTHESIS] = 25000;
        c->core_seconds[STAGE_PROVE] = 94000;
        c->core_seconds[STAGE_VERIFY] = 61;
        c->memory_peak = 41 * GIB;
        c->resident_bytes = 72 * GIB;
    }
    c->cores_busy = proves ? 30 + (unsigned)now % 3 : c->partitions_by_stage[STAGE_SYNTHESIS] ? 9 : 0;
    c->memory_used = proves ? 34 * GIB + (uint64_t)now % 7 * GIB / 2 : s->n_jobs ? GIB / 4 : 0;
    c->memory_reserved = proves ? 46 * GIB : c->memory_used;
    if (c->resident_bytes == 0) c->resident_bytes = 21u << 20;
}

static void make_one(engine_snapshot *s, double now) {
    follow(s,
           &(plan){"porep-1000-4711", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -40, 0.2, 3, 2.5, 22,
                   JOB_COMPLETED, NULL},
           now);
    new_key(s, "porep-32g", KEY_HOT, 48613072820ull, 41u << 20, 1, 0);
}

static void make_busy(engine_snapshot *s, double now) {
    const plan plans[] = {
        {"porep-1000-4713", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -150, 0.4, 3, 3, 22, JOB_COMPLETED, NULL},
        {"porep-1000-4714", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -90, 10, 3, 3, 26, JOB_COMPLETED, NULL},
        {"urgent-1000-17", JOB_POREP, JOB_CRITICAL, "porep-2k", 1, -8, 0.1, 0.3, 0.4, 21, JOB_COMPLETED,
         NULL},
        {"porep-1000-4715", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -70, 100000, 1, 1, 1, JOB_COMPLETED,
         NULL},
        {"ps-porep-1000-4716-7", JOB_POREP, JOB_NORMAL, "porep-64g", 10, -61, 100000, 1, 1, 1, JOB_COMPLETED,
         NULL},
        {"porep-1002-88", JOB_POREP, JOB_LOW, "porep-32g", 10, -420, 100000, 1, 1, 1, JOB_COMPLETED, NULL},
        {"urgent-1000-16", JOB_POREP, JOB_CRITICAL, "porep-2k", 1, -64, 0.1, 0.3, 0.4, 1.7, JOB_COMPLETED,
         NULL},
        {"porep-1001-12", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -300, 1, 0.8, 0.1, 0.1, JOB_FAILED,
         "vanilla proof of partition 3, challenge 11 does not hold: comm_r is 4f10..a2, expected 77c0..19"},
        {"porep-1000-4712", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -390, 2, 3, 3, 22.5, JOB_COMPLETED, NULL},
        {"porep-1000-4711", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -630, 2, 3, 3, 22.1, JOB_COMPLETED, NULL},
        {"porep-1000-4710", JOB_POREP, JOB_NORMAL, "porep-32g", 10, -870, 2, 3, 3, 22.3, JOB_CANCELLED,
         "cancelled: nobody waits for it any more"},
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) follow(s, &plans[i], now);
    for (size_t i = 0; i < s->n_jobs; i++) { /* the urgent job has taken the cores */
        engine_job_view *j = &s->jobs[i];
        if (j->priority != JOB_CRITICAL || j->state != JOB_RUNNING) continue;
        for (size_t k = 0; k < s->n_jobs; k++) {
            engine_job_view *other = &s->jobs[k];
            for (uint32_t q = 0; other != j && other->partition && q < other->partitions; q++)
                ((engine_partition_view *)other->partition)[q].paused =
                    other->partition[q].state == PARTITION_PROVING;
        }
        j->deadline = START + 12;
    }
    for (size_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i].priority == JOB_LOW) s->jobs[i].effective = JOB_HIGH;
    new_key(s, "porep-32g", KEY_HOT, 48613072820ull, 41u << 20, 2, 0);
    new_key(s, "porep-64g", KEY_WARM, 48613072820ull, 0, 0, 754);
    new_key(s, "porep-2k", KEY_COLD, 1626 << 10, 0, 0, 4011);
}

static void make_thousand(engine_snapshot *s, double now) {
    make_one(s, now);
    follow(s,
           &(plan){"porep-big-non-interactive", JOB_POREP, JOB_NORMAL, "porep-32g", 126, -300, 0.2, 3, 2.5,
                   22, JOB_COMPLETED, NULL},
           now);
    for (unsigned i = 0; i < 1000; i++) {
        char id[64];
        snprintf(id, sizeof id, "porep-%u-%u", 1000 + i % 7, 100000 + i);
        engine_job_view *j = new_job(s, id, JOB_POREP,
                                     i < 20    ? JOB_HIGH
                                     : i < 900 ? JOB_NORMAL
                                               : JOB_LOW,
                                     "porep-32g", START - 2.0 * i - 1);
        j->partitions = 10;
    }
}

static void make_failures(engine_snapshot *s, double now) {
    static const struct {
        job_state state;
        const char *message;
    } ends[] = {
        {JOB_FAILED, "PoRep proof self-check failed: assembled proof did not verify (sector=4711, "
                     "miner=1000); partition 7 was computed twice"},
        {JOB_FAILED, "parameters of porep-64g: "
                     "/var/tmp/filecoin-proof-parameters/v28-stacked-proof-of-replication-merkletree.params: "
                     "no such file"},
        {JOB_TIMEOUT, "the deadline passed after 30 min 00 s, 8 of 10 partitions were done"},
        {JOB_CANCELLED, "cancelled by a client"},
        {JOB_FAILED, "out of memory: 4294967296 bytes for the quotient"},
    };
    for (unsigned i = 0; i < 14; i++) {
        char id[64];
        snprintf(id, sizeof id, "porep-1000-%u", 300 + i);
        follow(s,
               &(plan){id, JOB_POREP, JOB_NORMAL, "porep-32g", 10, -60.0 * i - 40, 0.2, 1, 0.5, 2,
                       ends[i % 5].state, ends[i % 5].message},
               now);
    }
    s->counters.self_check_failures = 3;
    s->counters.retries = 3;
    s->counters.draining = true;
    s->counters.key_evictions = 2;
}

static void make_hostile(engine_snapshot *s, double now) {
    static const char *const ids[] = {
        "<script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "\"'><svg/onload=document.title='owned'>",
        "__proto__",
        "constructor",
        "wdpost-1000-3-[12 250 7 99 0 255 1 2]",
        "right\xe2\x80\xaeto left \xd8\xb9\xd8\xb1\xd8\xa8\xd9\x8a",
        "line\nbreak\tand \x01 control",
        "bad utf-8 \xff\xfe end",
        "",
        "\xf0\x9f\xa6\x80 \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
        "</script><!-- ]]> \\u003c & &amp; %00 {{7*7}} ${7*7}",
    };
    char longest[JOB_ID_BYTES];
    memset(longest, 'W', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    for (unsigned i = 0; i < sizeof ids / sizeof ids[0]; i++)
        follow(s,
               &(plan){ids[i], JOB_POREP, JOB_NORMAL, "porep-32g", 3, -20, 0.1, 0.2, 0.5, i % 3 ? 400 : 2,
                       JOB_FAILED, ids[i]},
               now);
    follow(
        s,
        &(plan){longest, JOB_POREP, JOB_NORMAL, "porep-32g", 3, -20, 0.1, 0.2, 0.5, 4, JOB_FAILED, longest},
        now);
    engine_job_view *huge = new_job(s, "huge", JOB_POREP, JOB_LOW, "porep-32g", START - 1e7);
    huge->sector_number = huge->miner_id = UINT64_MAX;
    new_key(s, "<b>circuit</b>", KEY_WARM, UINT64_MAX, UINT64_MAX, UINT32_MAX, 1e300);
}

/* Running jobs first, then waiting ones, then ended ones, the newest first. */
static int compare_jobs(const void *a, const void *b) {
    const engine_job_view *x = a, *y = b;
    int gx = job_state_is_final(x->state) ? 2 : x->state == JOB_QUEUED,
        gy = job_state_is_final(y->state) ? 2 : y->state == JOB_QUEUED;
    if (gx != gy) return gx - gy;
    if (gx == 2) return x->ended > y->ended ? -1 : x->ended < y->ended;
    if (x->effective != y->effective) return x->effective > y->effective ? -1 : 1;
    return x->accepted < y->accepted ? -1 : x->accepted > y->accepted;
}

void scene_make(engine_snapshot *out, scene kind, double seconds) {
    memset(out, 0, sizeof *out);
    out->jobs = need(calloc(MOST + 1, sizeof *out->jobs));
    out->keys = need(calloc(16, sizeof *out->keys));
    out->partition_views = need(calloc(17 * MOST_PER, sizeof *out->partition_views));
    static void (*const makers[])(engine_snapshot *, double) = {
        [SCENE_ONE] = make_one,           [SCENE_BUSY] = make_busy,       [SCENE_THOUSAND] = make_thousand,
        [SCENE_FAILURES] = make_failures, [SCENE_HOSTILE] = make_hostile,
    };
    if (makers[kind]) makers[kind](out, seconds);
    fill_counters(out, kind, seconds);
    qsort(out->jobs, out->n_jobs, sizeof *out->jobs, compare_jobs);
    out->total_jobs = out->n_jobs;
}

void scene_free(engine_snapshot *s) {
    free(s->jobs);
    free(s->keys);
    free(s->partition_views);
    memset(s, 0, sizeof *s);
}
