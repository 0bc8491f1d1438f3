/*
 * cuzk-bench timeline: a chart of what happened to jobs, from a daemon's log, or from a live daemon whose
 * status document is polled, for a time or while the proofs that the command itself asks for are made.
 */
#include "commands.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "http_get.h"
#include "proof_batch.h"
#include "timeline_record.h"

#define DEFAULT_STATUS "http://127.0.0.1:9821"
#define STATUS_PATH    "/status?jobs=2000"

enum { KEY_LOG = 1, KEY_OUT, KEY_STATUS, KEY_DURATION, KEY_INTERVAL };

static const struct argp_option options[] = {
    {"log", KEY_LOG, "FILE", 0, "Draw the TIMELINE lines of this log (\"-\": stdin)", 1},
    {"out", KEY_OUT, "FILE", 0, "Write the chart, SVG", 1},
    {"status-addr", KEY_STATUS, "ADDRESS", 0,
     "Where the daemon's status server listens (default " DEFAULT_STATUS ")", 2},
    {"duration", KEY_DURATION, "SECONDS", 0,
     "Watch for so long (default 30; with --type until the proofs are there)", 2},
    {"interval", KEY_INTERVAL, "MS", 0, "Between two looks (default 100)", 2},
    {"count", 'c', "N", 0, "With --type: how many proofs (default 3)", 9},
    {"concurrency", 'j', "N", 0, "With --type: how many at a time (default 1)", 9},
    {0}};

typedef struct arguments {
    daemon_options daemon;
    proof_input input;
    const char *log, *out, *status;
    unsigned duration, interval, count, concurrency;
} arguments;

static void check(const arguments *a, const struct argp_state *state) {
    if (!a->out && !a->daemon.json) option_missing("--out or --json", state);
    if (a->log && (a->input.type || a->status || a->duration))
        argp_error(state, "--log draws what was; --type, --status-addr and --duration are for a live daemon");
    if (a->out && a->daemon.json && strcmp(a->out, "-") == 0 && strcmp(a->daemon.json, "-") == 0)
        argp_error(state, "--out and --json cannot both be stdout");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->input;
        state->child_inputs[1] = &a->daemon;
        return 0;
    case KEY_LOG:
        a->log = arg;
        return 0;
    case KEY_OUT:
        a->out = arg;
        return 0;
    case KEY_STATUS:
        a->status = arg;
        return 0;
    case KEY_DURATION:
        a->duration = (unsigned)option_u64(arg, 1, 86400, "--duration", state);
        return 0;
    case KEY_INTERVAL:
        a->interval = (unsigned)option_u64(arg, 1, 60000, "--interval", state);
        return 0;
    case 'c':
        a->count = (unsigned)option_u64(arg, 1, BATCH_MAX_COUNT, "--count", state);
        return 0;
    case 'j':
        a->concurrency = (unsigned)option_u64(arg, 1, BATCH_MAX_CONCURRENCY, "--concurrency", state);
        return 0;
    case ARGP_KEY_SUCCESS:
        check(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&optional_proof_argp, 0, "Proofs to ask for meanwhile:", 9}, {&daemon_argp, 0, "The daemon:", 80}, {0}};

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Draw what a daemon did, stage by stage.\v"
    "Examples:\n"
    "  cuzk-bench timeline --log cuzk.log --out chart.svg\n"
    "  cuzk-bench timeline --status-addr 127.0.0.1:9821 --duration 60 --out chart.svg\n"
    "  cuzk-bench timeline -t porep --c1 c1.json -c 10 -j 4 --out chart.svg --json "
    "chart.json\n\n" DAEMON_CODES_HELP,
    children,
    NULL,
    NULL};

/* --- a live daemon ---------------------------------------------------------------------------------------
 */

static volatile sig_atomic_t interrupted;
static void on_signal(int number) {
    interrupted = 1;
    signal(number, SIG_DFL);
}

typedef struct watch {
    const arguments *a;
    timeline *t;
    double since; /* the daemon's time at the first look; negative: not yet */
} watch;

static cuzk_code look(watch *w, cuzk_error *err) {
    char *json;
    double now;
    const char *address = w->a->status ? w->a->status : DEFAULT_STATUS;
    TRY(http_get(&json, address, STATUS_PATH, 10, err));
    cuzk_code code = timeline_add_status(w->t, json, w->since, &now, err);
    free(json);
    if (code == CUZK_OK && w->since < 0) w->since = now;
    return code;
}

typedef struct proofs {
    proof_batch batch;
    pthread_t thread;
    pthread_mutex_t mutex;
    bool done;
    cuzk_code code;
    cuzk_error err;
} proofs;

static void *make_proofs(void *arg) {
    proofs *p = arg;
    cuzk_error err;
    cuzk_code code = proof_batch_run(&p->batch, &err);
    pthread_mutex_lock(&p->mutex);
    p->code = code;
    if (code != CUZK_OK) p->err = err;
    p->done = true;
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static bool is_done(proofs *p) {
    pthread_mutex_lock(&p->mutex);
    bool done = p->done;
    pthread_mutex_unlock(&p->mutex);
    return done;
}

/* Look until the time is over or the proofs are there, and once more. */
static cuzk_code watch_daemon(watch *w, proofs *p, cuzk_error *err) {
    const arguments *a = w->a;
    double duration = a->duration ? a->duration : 30, end = clock_seconds() + duration;
    bool limited = !p || a->duration;
    while (!interrupted && !(p && is_done(p)) && !(limited && clock_seconds() >= end)) {
        TRY(look(w, err));
        usleep(1000 * a->interval);
    }
    return look(w, err);
}

/* The proofs that are there; those cancelled because the time was over do not count. */
static cuzk_code end_proofs(proofs *p, unsigned *failed, cuzk_error *err) {
    bool done = is_done(p);
    proof_batch_cancel(&p->batch);
    pthread_join(p->thread, NULL);
    cuzk_code code = p->code == CUZK_ERR_CANCELLED && !done ? CUZK_OK : p->code;
    if (code != CUZK_OK) *err = p->err;
    for (unsigned i = 0; p->batch.outcomes && i < p->batch.count; i++)
        *failed += p->batch.outcomes[i].there && p->batch.outcomes[i].status != PROOF_STATUS_COMPLETED;
    proof_batch_free(&p->batch);
    return code;
}

static cuzk_code record_live(arguments *a, timeline *t, unsigned *failed, cuzk_error *err) {
    watch w = {.a = a, .t = t, .since = -1};
    proofs p = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                .batch = {.daemon = &a->daemon,
                          .input = &a->input,
                          .count = a->count,
                          .concurrency = a->concurrency,
                          .mutex = PTHREAD_MUTEX_INITIALIZER}};
    signal(SIGINT, on_signal);
    if (a->input.type) TRY(proof_input_load(&a->input, err));
    TRY(look(&w, err)); /* before anything is asked of the daemon */
    if (!a->input.type) return watch_daemon(&w, NULL, err);
    int rc = pthread_create(&p.thread, NULL, make_proofs, &p);
    if (rc != 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting a thread");
    cuzk_code code = watch_daemon(&w, &p, err);
    cuzk_error second;
    cuzk_code proofs_code = end_proofs(&p, failed, code == CUZK_OK ? err : &second);
    return code == CUZK_OK ? proofs_code : code;
}

/* --- results ---------------------------------------------------------------------------------------------
 */

static cuzk_code write_chart(const timeline *t, const char *path, cuzk_error *err) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return error_no_memory(err, 1 << 16, "the chart");
    timeline_draw(out, t);
    cuzk_code code = CUZK_OK;
    if (fclose(out) != 0)
        code = error_no_memory(err, size, "the chart");
    else if (strcmp(path, "-") == 0)
        fwrite(text, 1, size, stdout);
    else
        code = file_write_all(path, text, size, err);
    free(text);
    return code;
}

static void put_lane(yajl_gen g, const timeline_lane *lane, double origin) {
    yajl_gen_map_open(g);
    if (lane->partition != TIMELINE_WHOLE_JOB) json_u64(g, "partition", lane->partition);
    json_key(g, "spans");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < lane->n_spans; i++) {
        yajl_gen_map_open(g);
        json_string(g, "stage", timeline_stage_names[lane->spans[i].stage]);
        json_double(g, "start", lane->spans[i].start - origin);
        json_double(g, "end", lane->spans[i].end - origin);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void put_job(yajl_gen g, const timeline_job *job, double origin) {
    yajl_gen_map_open(g);
    json_string(g, "id", job->id);
    if (job->kind[0]) json_string(g, "kind", job->kind);
    if (job->priority[0]) json_string(g, "priority", job->priority);
    if (job->state[0]) json_string(g, "state", job->state);
    if (job->submitted >= 0) json_double(g, "submitted", job->submitted - origin);
    if (job->ended >= 0) json_double(g, "ended", job->ended - origin);
    json_u64(g, "retries", job->retries);
    json_key(g, "lanes");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < job->n_lanes; i++) put_lane(g, &job->lanes[i], origin);
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static cuzk_code put_json(const arguments *a, const timeline *t, const timeline_totals *sums,
                          cuzk_error *err) {
    yajl_gen g = json_begin();
    json_double(g, "seconds", t->last - t->first);
    json_double(g, "prover_idle_seconds", sums->prover_idle);
    json_key(g, "stages");
    yajl_gen_map_open(g);
    for (unsigned s = 0; s < TIMELINE_STAGES; s++) {
        json_key(g, timeline_stage_names[s]);
        yajl_gen_map_open(g);
        json_u64(g, "count", sums->stages[s]);
        json_double(g, "seconds", sums->seconds[s]);
        yajl_gen_map_close(g);
    }
    yajl_gen_map_close(g);
    json_key(g, "jobs");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < t->n_jobs; i++) put_job(g, &t->jobs[i], t->first);
    yajl_gen_array_close(g);
    json_key(g, "cores");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < t->n_samples; i++) {
        yajl_gen_map_open(g);
        json_double(g, "time", t->samples[i].time - t->first);
        json_u64(g, "busy", t->samples[i].busy);
        json_u64(g, "total", t->samples[i].total);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    return daemon_put_json(g, &a->daemon, err);
}

static void print_sums(const arguments *a, const timeline *t, const timeline_totals *s) {
    bool other = a->out && strcmp(a->out, "-") == 0;
    FILE *out = other || !daemon_wants_text(&a->daemon) ? stderr : stdout;
    fprintf(
        out,
        "=== Timeline ===\njobs:       %zu, with %zu partitions, in %.1fs\nsynthesis:  %zu, %.1fs together\n"
        "proving:    %zu, %.1fs together; the prover was idle for %.3fs between them\n"
        "pauses:     %zu, %.1fs together\n",
        s->jobs, s->partitions, t->last - t->first, s->stages[TIMELINE_SYNTHESIS],
        s->seconds[TIMELINE_SYNTHESIS], s->stages[TIMELINE_PROVE], s->seconds[TIMELINE_PROVE], s->prover_idle,
        s->stages[TIMELINE_PAUSE], s->seconds[TIMELINE_PAUSE]);
    if (t->failed)
        fprintf(stderr, "cuzk-bench timeline: too many partitions, or no memory: some are missing\n");
}

static cuzk_code run(arguments *a, timeline *t, unsigned *failed, cuzk_error *err) {
    timeline_totals sums;
    if (a->log)
        TRY(timeline_read_log(t, a->log, err));
    else
        TRY(record_live(a, t, failed, err));
    timeline_close(t);
    timeline_sum(&sums, t);
    if (a->out) TRY(write_chart(t, a->out, err));
    print_sums(a, t, &sums);
    return a->daemon.json ? put_json(a, t, &sums, err) : CUZK_OK;
}

int timeline_main(int argc, char **argv) {
    arguments a = {.interval = 100, .count = 3, .concurrency = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    timeline t = {.jobs = NULL};
    unsigned failed = 0;
    cuzk_error err;
    cuzk_code code = run(&a, &t, &failed, &err);
    int status = 0;
    if (code != CUZK_OK)
        status = daemon_report("cuzk-bench timeline", &a.daemon, &err);
    else if (failed)
        status = exit_code(CUZK_ERR_PROOF);
    timeline_free(&t);
    proof_input_free(&a.input);
    return status;
}
