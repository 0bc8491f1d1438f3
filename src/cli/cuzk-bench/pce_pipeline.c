/*
 * cuzk-bench pce-pipeline: proofs through the engine with everything real but the prover. A C1 is parsed and
 * checked, its partitions are synthesized in compact form from matrices that are made once and kept, a
 * bounded number ahead, and proving is a wait (--prove-ms): so it shows whether synthesis keeps a prover of
 * that speed busy, and in how much memory. Output in the form of the reference's tool of that name.
 *
 * By default the wait takes no cores, as if a device proved; with --prove-cores it holds that many, a
 * millisecond at a time, as the prover on CPUs does. "prover waited" sums the gaps between the proof of one
 * partition and that of the next; the time before a proof's first partition does not count.
 */
#include "commands.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "engine/engine.h"
#include "engine/seal.h"
#include "engine/timeline.h"
#include "filecoin/vanilla.h"
#include "r1cs/synthesis.h"
#include "report.h"

#define MAX_PROOFS     10000u
#define SAMPLE_SECONDS 0.05 /* between looks at cores and memory */

enum {
    KEY_C1 = 1,
    KEY_OLD,
    KEY_PROVE,
    KEY_CORES,
    KEY_LOOKAHEAD,
    KEY_TIMELINE,
    KEY_JSON,
    KEY_SECTOR,
    KEY_MINER
};

static const struct argp_option options[] = {
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output; 'cuzk c1 generate' makes one of any sector size", 1},
    {"num-proofs", 'n', "N", 0, "How many proofs of it (default 3)", 1},
    {"parallel", 'j', "N", 0, "How many proofs in the engine at a time (default 0: one after the other)", 1},
    {"compare-old", KEY_OLD, NULL, 0, "Then synthesize the partitions by the generic path, too", 1},
    {"prove-ms", KEY_PROVE, "MS", 0, "What proving a partition takes (default 0: synthesis alone)", 1},
    {"prove-cores", KEY_CORES, "N", 0, "Cores that proving holds (default 0: a device proves)", 1},
    {"lookahead", KEY_LOOKAHEAD, "N", 0, "Partitions synthesized ahead of the prover (default 2)", 1},
    {"timeline", KEY_TIMELINE, "FILE", 0, "Write what happened, for 'cuzk-bench timeline --log'", 1},
    {"json", KEY_JSON, "FILE", 0, "Write the measurements as JSON (\"-\": stdout, in place of the text)", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Accepted for the reference's sake: synthesis does not use it", 2},
    {"miner-id", KEY_MINER, "N", 0, "Likewise", 2},
    {0}};

typedef struct arguments {
    common_options common;
    const char *c1, *timeline, *json;
    unsigned proofs, parallel, prove_ms, prove_cores, lookahead;
    bool compare_old;
} arguments;

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_C1:
        a->c1 = arg;
        return 0;
    case 'n':
        a->proofs = (unsigned)option_u64(arg, 1, MAX_PROOFS, "--num-proofs", state);
        return 0;
    case 'j':
        a->parallel = (unsigned)option_u64(arg, 0, 1024, "--parallel", state);
        return 0;
    case KEY_OLD:
        a->compare_old = true;
        return 0;
    case KEY_PROVE:
        a->prove_ms = (unsigned)option_u64(arg, 0, 3600000, "--prove-ms", state);
        return 0;
    case KEY_CORES:
        a->prove_cores = (unsigned)option_u64(arg, 0, 1024, "--prove-cores", state);
        return 0;
    case KEY_LOOKAHEAD:
        a->lookahead = (unsigned)option_u64(arg, 1, 1000, "--lookahead", state);
        return 0;
    case KEY_TIMELINE:
        a->timeline = arg;
        return 0;
    case KEY_JSON:
        a->json = arg;
        return 0;
    case KEY_SECTOR:
        option_u64(arg, 0, UINT64_MAX, "--sector-num", state);
        return 0;
    case KEY_MINER:
        option_u64(arg, 0, UINT64_MAX, "--miner-id", state);
        return 0;
    case ARGP_KEY_END:
        if (!a->c1) option_missing("--c1", state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse_option,
    NULL,
    "Send proofs through the engine with real synthesis and a simulated prover.\v"
    "Examples:\n"
    "  cuzk c1 generate --sector-size 32GiB --out c1-32g.json\n"
    "  cuzk-bench pce-pipeline --c1 c1-32g.json -n 1 --prove-ms 5000\n"
    "  cuzk-bench pce-pipeline --c1 c1-32g.json -n 4 -j 2 --prove-ms 5000 --timeline "
    "run.log\n\n" EXIT_CODES_HELP,
    common_children_without_json,
    NULL,
    NULL};

/* --- the kind of proof: seal proofs whose prover is a wait -----------------------------------------------
 */

/* The engine's backends have no state of their own; there is one pipeline in the process. */
static struct {
    proving_key *key;
    unsigned prove_ms, prove_cores;
} simulated;

static void free_task(void *task) {
    c1_free(task);
}

static cuzk_code parse(void **out, backend_plan *plan, const job_request *r, cuzk_error *err) {
    c1 *sector;
    *out = NULL;
    TRY(c1_parse(&sector, r->vanilla_proof.data, r->vanilla_proof.size, "c1", err));
    seal_plan(plan, sector, r->vanilla_proof.size);
    plan->prove_bytes = 1;
    plan->prove_extra_bytes = 0;
    *out = sector;
    return CUZK_OK;
}

static cuzk_code check(void *task, const backend_stage *s, cuzk_error *err) {
    TRY(vanilla_verify(task, s->lane, s->progress, err));
    return pool_check(s->lane, err);
}

static cuzk_code synthesize_partition(void **out, void *task, uint32_t partition, const backend_stage *s,
                                      cuzk_error *err) {
    return seal_witness_create(out, simulated.key, task, partition, s->lane, s->progress, err);
}

static void sleep_seconds(double seconds) {
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

static void hold_core(void *ctx, size_t begin, size_t end) {
    (void)ctx;
    sleep_seconds(0.001 * (double)(end - begin));
}

static cuzk_code wait_on_cores(const backend_stage *s, unsigned ms, cuzk_error *err) {
    const size_t step = 64, total = (size_t)ms * simulated.prove_cores;
    for (size_t done = 0; done < total; done += step) {
        TRY(progress_report(s->progress, "prove", done, total, err));
        pool_for(s->lane, total - done < step ? total - done : step, 1, hold_core, NULL);
        TRY(pool_check(s->lane, err));
    }
    return CUZK_OK;
}

/* The core goes to others meanwhile. */
static cuzk_code wait_for_device(const backend_stage *s, unsigned ms, cuzk_error *err) {
    double start = clock_seconds(), end = start + 0.001 * ms, now;
    cuzk_code code = CUZK_OK;
    pool_leave(s->lane);
    while (code == CUZK_OK && (now = clock_seconds()) < end) {
        code = progress_report(s->progress, "prove", (uint64_t)(1000 * (now - start)), ms, err);
        sleep_seconds(end - now < 0.05 ? end - now : 0.05);
    }
    pool_enter(s->lane);
    return code;
}

static void prove(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                  void *const *witnesses, uint32_t n, const backend_stage *s) {
    for (uint32_t i = 0; i < n; i++) {
        witness_free(witnesses[i]); /* its values would be on the device */
        memset(out[i], 0, CUZK_PROOF_BYTES);
        codes[i] = simulated.prove_cores ? wait_on_cores(s, simulated.prove_ms, &errs[i])
                                         : wait_for_device(s, simulated.prove_ms, &errs[i]);
    }
}

static cuzk_code verify(void *task, const uint8_t *proof, size_t size, uint32_t *bad, const backend_stage *s,
                        cuzk_error *err) {
    (void)task;
    (void)proof;
    (void)size;
    (void)bad;
    return pool_check(s->lane, err);
}

static cuzk_code save(void *task, const char *path, cuzk_error *err) {
    (void)task;
    return error_set(err, CUZK_ERR_INTERNAL, path, CUZK_NO_OFFSET,
                     "a simulated proof has nothing to examine");
}

static const engine_backend backend = {.needs_key = false,
                                       .parse = parse,
                                       .free_task = free_task,
                                       .check = check,
                                       .synthesize = synthesize_partition,
                                       .free_witness = seal_witness_destroy,
                                       .prove = prove,
                                       .verify = verify,
                                       .save = save};

/* --- a run -----------------------------------------------------------------------------------------------
 */

typedef struct proof {
    struct pipeline *owner;
    char id[32];
    bool ended;
    job_state state;
    engine_timings timings;
    cuzk_error error;
    double synth_start, synth_end, prove_end; /* since the engine's start; negative: not yet */
    double waited;                            /* of the prover, between this proof's partitions */
    uint32_t proved;
} proof;

typedef struct pipeline {
    const arguments *a;
    file_map file;
    const catalog_entry *circuit;
    uint32_t partitions;
    engine *engine;
    progress_bar bar;
    cuzk_progress progress;
    double extract_s, total_s, old_s;
    engine_counters counters;
    uint64_t peak_rss;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t ended;
    proof *proofs;
    unsigned n_submitted, n_ended;
    double last_prove_end; /* of the whole run; negative: nothing is proved yet */
    double waited;
    FILE *log; /* the timeline, in memory */
    char *log_text;
    size_t log_size;
} pipeline;

static bool wants_text(const arguments *a) {
    return !a->json || strcmp(a->json, "-") != 0;
}

static void print_rss(const arguments *a, const char *label) {
    if (!wants_text(a)) return;
    printf("  [RSS] %-40s %7.1f GiB\n", label, (double)mem_resident() / (1u << 30));
    fflush(stdout);
}

static proof *find_proof(pipeline *p, const char *id) {
    for (unsigned i = 0; i < p->a->proofs; i++)
        if (strcmp(p->proofs[i].id, id) == 0) return &p->proofs[i];
    return NULL;
}

/* The prover begins with a partition: since when had it nothing to do? One after the other, the time to a
 * proof's first partition is no wait for synthesis of the next. */
static void prover_begins(pipeline *p, proof *f, double now) {
    double gap = p->last_prove_end >= 0 && now > p->last_prove_end ? now - p->last_prove_end : 0;
    if (p->a->parallel == 0 && f->prove_end < 0) return;
    f->waited += gap;
    p->waited += gap;
}

static void on_event(void *ctx, const engine_event *e) {
    pipeline *p = ctx;
    pthread_mutex_lock(&p->mutex);
    if (p->log) {
        char line[TIMELINE_LINE_BYTES];
        timeline_line(line, e);
        fprintf(p->log, "%s\n", line);
    }
    proof *f = find_proof(p, e->job_id);
    bool start = e->kind == ENGINE_STAGE_START, end = e->kind == ENGINE_STAGE_END;
    if (f && e->stage == STAGE_SYNTHESIS && start && f->synth_start < 0) f->synth_start = e->time;
    if (f && e->stage == STAGE_SYNTHESIS && end) f->synth_end = e->time;
    if (f && e->stage == STAGE_PROVE && start) prover_begins(p, f, e->time);
    if (f && e->stage == STAGE_PROVE && end) p->last_prove_end = f->prove_end = e->time;
    pthread_mutex_unlock(&p->mutex);
}

static void on_done(void *ctx, const engine_result *r) {
    proof *f = ctx;
    pipeline *p = f->owner;
    pthread_mutex_lock(&p->mutex);
    f->ended = true;
    f->state = r->state;
    f->timings = r->timings;
    if (r->error) f->error = *r->error;
    p->n_ended++;
    pthread_cond_broadcast(&p->ended);
    pthread_mutex_unlock(&p->mutex);
}

static cuzk_code submit(pipeline *p, proof *f, cuzk_error *err) {
    job_request request = {.id = f->id,
                           .kind = JOB_POREP,
                           .sector_size = p->circuit->sector_bytes,
                           .vanilla_proof = {p->file.data, (size_t)p->file.size}};
    engine_receipt receipt;
    engine_watch watch;
    TRY(engine_submit(p->engine, &request, 0, &receipt, NULL, err));
    p->n_submitted++;
    return engine_watch_job(&watch, p->engine, f->id, on_done, f, err);
}

/* Look at cores and memory now and then until at most `most` proofs are unfinished. */
static cuzk_code wait_until_left(pipeline *p, unsigned most, cuzk_error *err) {
    for (;;) {
        engine_get_counters(&p->counters, p->engine);
        pthread_mutex_lock(&p->mutex);
        unsigned left = p->n_submitted - p->n_ended;
        if (p->log)
            fprintf(p->log, "TIMELINE,%.0f,CORES,,busy=%u,total=%u\n", 1000 * p->counters.uptime,
                    p->counters.cores_busy, p->counters.cores);
        pthread_mutex_unlock(&p->mutex);
        if (left <= most) return CUZK_OK;
        TRY(progress_report(&p->progress, "pipeline", p->counters.partitions_proved,
                            (uint64_t)p->a->proofs * p->partitions, err));
        pthread_mutex_lock(&p->mutex);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(1e9 * SAMPLE_SECONDS);
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (p->n_submitted - p->n_ended > most) pthread_cond_timedwait(&p->ended, &p->mutex, &until);
        pthread_mutex_unlock(&p->mutex);
    }
}

static cuzk_code run_proofs(pipeline *p, cuzk_error *err) {
    unsigned at_once = p->a->parallel ? p->a->parallel : 1;
    for (unsigned i = 0; i < p->a->proofs; i++) {
        char label[64];
        TRY(submit(p, &p->proofs[i], err));
        TRY(wait_until_left(p, at_once - 1, err));
        if (p->a->parallel) continue;
        snprintf(label, sizeof label, "after proof %u", i + 1);
        print_rss(p->a, label);
    }
    TRY(wait_until_left(p, 0, err));
    if (p->a->parallel) print_rss(p->a, "after all proofs");
    for (unsigned i = 0; i < p->a->proofs; i++)
        if (p->proofs[i].state != JOB_COMPLETED) {
            *err = p->proofs[i].error;
            if (strcmp(err->path, "c1") == 0) snprintf(err->path, sizeof err->path, "%.511s", p->a->c1);
            return err->code;
        }
    return CUZK_OK;
}

/* The circuit's matrices, from its structure alone. */
static cuzk_code extract(pipeline *p, cuzk_error *err) {
    porep_circuit blank;
    r1cs_circuit circuit;
    r1cs_parts parts;
    const matrices *made;
    porep_shape shape = porep_shape_of(sector_by_bytes(p->circuit->sector_bytes));
    porep_blank(&blank, &circuit, &shape);
    porep_parts(&parts, &blank);
    double start = clock_seconds();
    TRY(key_matrices(&made, simulated.key, &circuit, &parts, &p->progress, err));
    p->extract_s = clock_seconds() - start;
    return CUZK_OK;
}

static cuzk_code run_pipeline(pipeline *p, cuzk_error *err) {
    const arguments *a = p->a;
    engine_config config;
    engine_config_default(&config);
    config.threads = a->common.engine.threads;
    config.memory_budget = a->common.engine.memory_budget;
    config.synthesis_lookahead = a->lookahead;
    config.backends[JOB_POREP] = &backend;
    config.event = on_event;
    config.event_ctx = p;
    TRY(engine_create(&p->engine, &config, err));
    print_rss(a, "before extraction");
    TRY(extract(p, err));
    print_rss(a, "after extraction");
    double start = clock_seconds();
    cuzk_code code = run_proofs(p, err);
    p->total_s = clock_seconds() - start;
    if (code != CUZK_OK) engine_drain(p->engine, true);
    engine_get_counters(&p->counters, p->engine);
    engine_destroy(p->engine); /* every event has been told */
    p->engine = NULL;
    p->peak_rss = mem_peak_rss();
    return code;
}

/* Each partition once by the generic path, which stores every value. */
static cuzk_code run_old(pipeline *p, cuzk_error *err) {
    c1 *sector;
    pool *threads;
    TRY(c1_parse(&sector, p->file.data, (size_t)p->file.size, p->a->c1, err));
    cuzk_code code = pool_create(&threads, p->a->common.engine.threads, err);
    assignment full = {.a = NULL};
    double start = clock_seconds();
    for (unsigned k = 0; k < p->partitions && code == CUZK_OK; k++) {
        porep_circuit one;
        r1cs_circuit circuit;
        r1cs_parts parts;
        porep_of_c1(&one, &circuit, sector, k);
        porep_parts(&parts, &one);
        code = synthesize(&full, NULL, &circuit, &parts, SYNTHESIS_GENERIC, threads, &p->progress, err);
    }
    p->old_s = clock_seconds() - start;
    if (code == CUZK_OK) print_rss(p->a, "generic path");
    assignment_free(&full);
    pool_destroy(threads);
    c1_free(sector);
    return code;
}

/* --- results ---------------------------------------------------------------------------------------------
 */

static double synth_wall(const proof *f) {
    return f->synth_end - f->synth_start;
}

static double average_synth(const pipeline *p) {
    double sum = 0;
    for (unsigned i = 0; i < p->a->proofs; i++) sum += (double)p->proofs[i].timings.synthesis / 1000;
    return sum / p->a->proofs;
}

static void print_summary(const pipeline *p) {
    const arguments *a = p->a;
    if (a->parallel)
        printf("--- Summary (parallel, j=%u) ---\n", a->parallel);
    else
        printf("--- Summary (sequential) ---\n");
    printf("extraction:    %.2fs (one-time cost)\n", p->extract_s);
    for (unsigned i = 0; i < a->proofs; i++) {
        const proof *f = &p->proofs[i];
        printf("proof %u:       synth=%.2fs (%u partitions, from first to last %.2fs)  total=%.2fs  prover "
               "waited=%.3fs\n",
               i + 1, (double)f->timings.synthesis / 1000, p->partitions, synth_wall(f),
               (double)f->timings.total / 1000, f->waited);
    }
    printf("average synth: %.2fs per proof\n", average_synth(p));
    printf("wall time:     %.2fs, %.1f of %u cores busy\n", p->total_s,
           (p->counters.core_seconds[STAGE_CHECK] + p->counters.core_seconds[STAGE_SYNTHESIS] +
            p->counters.core_seconds[STAGE_PROVE] + p->counters.core_seconds[STAGE_VERIFY]) /
               p->total_s,
           p->counters.cores);
    printf("prover waited: %.3fs after the first partition (%u ms each%s)\n", p->waited, a->prove_ms,
           a->prove_cores ? ", on cores" : "");
    printf("peak RSS:      %.2f GiB\n", (double)p->peak_rss / (1u << 30));
    if (!a->compare_old) return;
    double once = average_synth(p);
    printf("--- Generic path ---\nsynth:         %.2fs per proof\nspeedup:       %.2fx\npeak RSS:      %.2f "
           "GiB\n",
           p->old_s, once > 0 ? p->old_s / once : 0, (double)mem_peak_rss() / (1u << 30));
}

static cuzk_code put_json(const pipeline *p, cuzk_error *err) {
    const arguments *a = p->a;
    yajl_gen g = json_begin();
    json_string(g, "circuit", p->circuit->id);
    json_u64(g, "proofs", a->proofs);
    json_u64(g, "parallel", a->parallel);
    json_u64(g, "partitions", p->partitions);
    json_u64(g, "prove_ms", a->prove_ms);
    json_u64(g, "prove_cores", a->prove_cores);
    json_u64(g, "lookahead", a->lookahead);
    json_double(g, "extraction_seconds", p->extract_s);
    json_double(g, "wall_seconds", p->total_s);
    json_double(g, "average_synth_seconds", average_synth(p));
    json_double(g, "prover_waited_seconds", p->waited);
    json_u64(g, "peak_rss_bytes", p->peak_rss);
    if (a->compare_old) json_double(g, "generic_synth_seconds", p->old_s);
    bench_put_machine(g);
    json_key(g, "results");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < a->proofs; i++) {
        const proof *f = &p->proofs[i];
        yajl_gen_map_open(g);
        json_double(g, "synth_seconds", (double)f->timings.synthesis / 1000);
        json_double(g, "synth_wall_seconds", synth_wall(f));
        json_double(g, "check_seconds", (double)f->timings.check / 1000);
        json_double(g, "total_seconds", (double)f->timings.total / 1000);
        json_double(g, "prover_waited_seconds", f->waited);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    return json_end_to(g, a->json, err);
}

static cuzk_code report(pipeline *p, cuzk_error *err) {
    const arguments *a = p->a;
    if (a->timeline) {
        fflush(p->log);
        TRY(file_write_all(a->timeline, p->log_text, p->log_size, err));
    }
    if (wants_text(a)) print_summary(p);
    return a->json ? put_json(p, err) : CUZK_OK;
}

/* What the file is a proof of. */
static cuzk_code open_c1(pipeline *p, cuzk_error *err) {
    c1 *sector;
    TRY(field_init(err));
    TRY(file_map_open(&p->file, p->a->c1, CUZK_ERR_INPUT, err));
    TRY(c1_parse(&sector, p->file.data, (size_t)p->file.size, p->a->c1, err));
    p->circuit = catalog_find(sector->sector->porep_name);
    p->partitions = sector->partitions;
    c1_free(sector);
    return key_without_files(&simulated.key, p->circuit->id, err);
}

static cuzk_code prepare(pipeline *p, cuzk_error *err) {
    const arguments *a = p->a;
    TRY(open_c1(p, err));
    p->proofs = calloc(a->proofs, sizeof *p->proofs);
    if (!p->proofs) return error_no_memory(err, a->proofs * sizeof *p->proofs, "results");
    for (unsigned i = 0; i < a->proofs; i++) {
        p->proofs[i] = (proof){.owner = p, .synth_start = -1, .synth_end = -1, .prove_end = -1};
        snprintf(p->proofs[i].id, sizeof p->proofs[i].id, "pipeline-%u", i + 1);
    }
    if (a->timeline && !(p->log = open_memstream(&p->log_text, &p->log_size)))
        return error_no_memory(err, 4096, "the timeline");
    if (wants_text(a))
        printf(
            "=== PCE Pipeline Benchmark ===\nc1:         %s\ncircuit:    %s (%u partitions)\nproofs:     %u\n"
            "mode:       %s\n",
            a->c1, p->circuit->id, p->partitions, a->proofs, a->parallel ? "parallel" : "sequential");
    return CUZK_OK;
}

int pce_pipeline_main(int argc, char **argv) {
    arguments a = {.proofs = 3, .lookahead = 2};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    pipeline p = {.a = &a,
                  .file = {.fd = -1},
                  .mutex = PTHREAD_MUTEX_INITIALIZER,
                  .ended = PTHREAD_COND_INITIALIZER,
                  .last_prove_end = -1};
    simulated.prove_ms = a.prove_ms;
    simulated.prove_cores = a.prove_cores;
    p.progress = progress_start(&p.bar, &a.common);
    cuzk_error err;
    cuzk_code code = prepare(&p, &err);
    if (code == CUZK_OK) code = run_pipeline(&p, &err);
    engine_destroy(p.engine);
    if (code == CUZK_OK && a.compare_old) code = run_old(&p, &err);
    progress_finish(&p.bar);
    if (code == CUZK_OK) code = report(&p, &err);
    a.common.json = a.json && !wants_text(&a);
    int status = code == CUZK_OK ? 0 : report_error("cuzk-bench pce-pipeline", &a.common, &err);
    if (p.log) fclose(p.log);
    free(p.log_text);
    free(p.proofs);
    key_close(simulated.key);
    file_map_close(&p.file);
    return status;
}
