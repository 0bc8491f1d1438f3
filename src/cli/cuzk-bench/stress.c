/*
 * cuzk-bench stress: proofs of several kinds and priorities at once, some of them cancelled and some
 * connections dropped, for a bounded time or number; then whether anything is left behind.
 *
 * Everything that is left to chance follows from the seed and the number of the call. Each of the -j threads
 * has a connection and makes the next call; the acting thread looks every millisecond whose time has come to
 * be cancelled (CancelProof on a connection of its own) or dropped (the call is ended and its connection
 * closed); a sampler asks for the status meanwhile. One proof of each kind is asked for before anything is
 * compared, so that keys and their tables are there on both sides of the comparison.
 */
#include "stress.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"

#define MAX_CONCURRENCY 1024u
#define SETTLE_STEP     0.05 /* seconds between looks at whether all is over */

enum {
    KEY_MIX = 1,
    KEY_C1,
    KEY_VANILLA,
    KEY_REGISTERED,
    KEY_SECTOR,
    KEY_MINER,
    KEY_DURATION,
    KEY_COUNT,
    KEY_SEED,
    KEY_CANCEL,
    KEY_DROP,
    KEY_WITHIN,
    KEY_TOLERATE,
    KEY_SETTLE,
    KEY_INTERVAL
};

static const struct argp_option options[] = {
    {"mix", KEY_MIX, "LIST", 0,
     "KIND=WEIGHT or KIND:PRIORITY=WEIGHT with commas between, such as porep=8,porep:low=4,winning=1 "
     "(default porep=1)",
     1},
    {"c1", KEY_C1, "FILE", 0, "Phase-1 output, for porep", 1},
    {"vanilla", KEY_VANILLA, "FILE", 0, "Vanilla proofs, for the other kinds", 1},
    {"registered-proof", KEY_REGISTERED, "N", 0, "Number of the registered proof (default 0)", 1},
    {"sector-num", KEY_SECTOR, "N", 0, "Sector number (default 1)", 1},
    {"miner-id", KEY_MINER, "N", 0, "Miner id (default 1000)", 1},
    {"duration", KEY_DURATION, "SECONDS", 0, "Begin no call after this time (default 30 without --count)", 2},
    {"count", KEY_COUNT, "N", 0, "So many calls", 2},
    {"concurrency", 'j', "N", 0, "Calls at a time (default 8)", 2},
    {"seed", KEY_SEED, "N", 0, "What the lot falls on (default 1)", 2},
    {"cancel-rate", KEY_CANCEL, "PERCENT", 0, "Of the calls' jobs to cancel (default 0)", 3},
    {"drop-rate", KEY_DROP, "PERCENT", 0, "Of the calls' connections to drop (default 0)", 3},
    {"within", KEY_WITHIN, "MS", 0, "Cancel and drop so long after the call at the latest (default 2000)", 3},
    {"tolerate", KEY_TOLERATE, "STATUS", 0,
     "An end that is no fault, such as INVALID_ARGUMENT for kinds without a circuit; may be repeated", 4},
    {"settle", KEY_SETTLE, "SECONDS", 0,
     "When no more calls begin, drop what still runs after this time, and then wait as long for everything "
     "to be over (default 30)",
     4},
    {"status-interval", KEY_INTERVAL, "MS", 0, "Between two calls for the status meanwhile (default 20)", 4},
    {0}};

typedef struct arguments {
    daemon_options daemon;
    const char *mix, *c1, *vanilla;
    uint64_t registered_proof, sector_number, miner_id, seed, count, tolerated;
    unsigned duration, concurrency, cancel_percent, drop_percent, within_ms, settle, interval_ms;
    stress_entry *entries;
    unsigned n_entries;
} arguments;

/* --- options ---------------------------------------------------------------------------------------------
 */

static void add_entry(arguments *a, char *word, const struct argp_state *state) {
    char *equal = strchr(word, '='), *colon = strchr(word, ':');
    stress_entry *e = &a->entries[a->n_entries];
    *e = (stress_entry){.weight = 1};
    if (a->n_entries == STRESS_MAX_MIX) argp_error(state, "--mix: more than %u entries", STRESS_MAX_MIX);
    if (!equal) argp_error(state, "--mix: '%s', expected KIND=WEIGHT or KIND:PRIORITY=WEIGHT", word);
    *equal = 0;
    if (colon && colon < equal)
        *colon++ = 0;
    else
        colon = NULL;
    if (!proof_kind_parse(&e->kind, word))
        argp_error(state, "--mix: kind '%s', expected porep, snap, wpost or winning", word);
    if (colon && !proof_priority_parse(&e->priority, colon))
        argp_error(state, "--mix: priority '%s', expected low, normal, high or critical", colon);
    e->weight = (unsigned)option_u64(equal + 1, 1, 1000000, "--mix", state);
    a->n_entries++;
}

static void parse_mix(arguments *a, const struct argp_state *state) {
    char *copy = strdup(a->mix), *rest = copy, *word;
    while (copy && (word = strsep(&rest, ","))) add_entry(a, word, state);
    free(copy);
    for (unsigned i = 0; i < a->n_entries; i++) {
        stress_entry *e = &a->entries[i];
        bool porep = e->kind == PROOF_KIND_POREP_SEAL_COMMIT;
        if (porep ? !a->c1 : !a->vanilla)
            argp_error(state, "%s is required for %s", porep ? "--c1" : "--vanilla",
                       proof_kind_word(e->kind));
        e->input = (proof_input){.type = proof_kind_word(e->kind),
                                 .c1 = a->c1,
                                 .vanilla = a->vanilla,
                                 .kind = e->kind,
                                 .priority = e->priority,
                                 .registered_proof = a->registered_proof,
                                 .sector_number = a->sector_number,
                                 .miner_id = a->miner_id,
                                 .sector_size = UINT64_C(32) << 30,
                                 .randomness = {.size = 32},
                                 .file = {.fd = -1}};
    }
}

static uint64_t parse_outcome(const char *text, const struct argp_state *state) {
    for (unsigned o = 0; o < STRESS_OUTCOMES; o++)
        if (strcmp(text, stress_outcome_name(o)) == 0) return UINT64_C(1) << o;
    argp_error(state, "--tolerate: '%s', expected a status such as FAILED or INVALID_ARGUMENT", text);
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->daemon;
        return 0;
    case KEY_MIX:
        a->mix = arg;
        return 0;
    case KEY_C1:
        a->c1 = arg;
        return 0;
    case KEY_VANILLA:
        a->vanilla = arg;
        return 0;
    case KEY_REGISTERED:
        a->registered_proof = option_u64(arg, 0, UINT64_MAX, "--registered-proof", state);
        return 0;
    case KEY_SECTOR:
        a->sector_number = option_u64(arg, 0, UINT64_MAX, "--sector-num", state);
        return 0;
    case KEY_MINER:
        a->miner_id = option_u64(arg, 0, UINT64_MAX, "--miner-id", state);
        return 0;
    case KEY_DURATION:
        a->duration = (unsigned)option_u64(arg, 1, 1000000, "--duration", state);
        return 0;
    case KEY_COUNT:
        a->count = option_u64(arg, 1, 1000000000, "--count", state);
        return 0;
    case 'j':
        a->concurrency = (unsigned)option_u64(arg, 1, MAX_CONCURRENCY, "--concurrency", state);
        return 0;
    case KEY_SEED:
        a->seed = option_u64(arg, 0, UINT64_MAX, "--seed", state);
        return 0;
    case KEY_CANCEL:
        a->cancel_percent = (unsigned)option_u64(arg, 0, 100, "--cancel-rate", state);
        return 0;
    case KEY_DROP:
        a->drop_percent = (unsigned)option_u64(arg, 0, 100, "--drop-rate", state);
        return 0;
    case KEY_WITHIN:
        a->within_ms = (unsigned)option_u64(arg, 0, 3600000, "--within", state);
        return 0;
    case KEY_TOLERATE:
        a->tolerated |= parse_outcome(arg, state);
        return 0;
    case KEY_SETTLE:
        a->settle = (unsigned)option_u64(arg, 0, 86400, "--settle", state);
        return 0;
    case KEY_INTERVAL:
        a->interval_ms = (unsigned)option_u64(arg, 1, 60000, "--status-interval", state);
        return 0;
    case ARGP_KEY_END:
        if (a->cancel_percent + a->drop_percent > 100)
            argp_error(state, "--cancel-rate and --drop-rate: %u percent together",
                       a->cancel_percent + a->drop_percent);
        parse_mix(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&daemon_argp, 0, "The daemon:", 80}, {0}};

static const struct argp argp = {options,
                                 parse,
                                 NULL,
                                 "Load a daemon with many calls, cancel some, drop some connections, and see "
                                 "that nothing is left behind.\v"
                                 "Examples:\n"
                                 "  cuzk-bench stress --c1 c1.json --duration 60 -j 4\n"
                                 "  cuzk-bench stress --c1 c1.json --mix porep=8,porep:critical=1 --count "
                                 "1000 --cancel-rate 30 --drop-rate 20\n"
                                 "  cuzk-bench stress --c1 c1.json --vanilla v.json --mix porep=4,winning=1 "
                                 "--tolerate INVALID_ARGUMENT\n\n"
                                 "It ends with 1 when something is left behind, a call ended as it should "
                                 "not, or a status was not answered. "
                                 "Proofs, what was cancelled, dropped or late, and refusals for lack of room "
                                 "are as they should be.\n\n" DAEMON_CODES_HELP,
                                 children,
                                 NULL,
                                 NULL};

/* --- chance ----------------------------------------------------------------------------------------------
 */

/* The k-th of the numbers that belong to call `index`. */
static uint64_t chance(uint64_t seed, uint64_t index, uint64_t k) {
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + index * UINT64_C(0xbf58476d1ce4e5b9) +
                 k * UINT64_C(0x94d049bb133111eb);
    for (int i = 0; i < 3; i++) {
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    }
    return z ^ z >> 31;
}

typedef enum fate { LET_RUN, CANCEL, DROP } fate;

/* --- a run -----------------------------------------------------------------------------------------------
 */

typedef struct caller {
    struct stress *s;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the rest against the acting thread */
    daemon_link link;
    char id[37];
    bool calling;
    fate fate; /* LET_RUN once it is done, too */
    double due;
    bool dropped;
} caller;

typedef struct stress {
    const arguments *a;
    stress_entry *entries;
    unsigned weights, n_entries;
    double end; /* no call after this time */
    pthread_mutex_t mutex;
    uint64_t next;
    caller *callers;
    atomic_bool stop; /* the acting thread */
} stress;

static volatile sig_atomic_t interrupted;
static void on_signal(int number) {
    interrupted = 1;
    signal(number, SIG_DFL);
}

static bool take_next(stress *s, uint64_t *index) {
    pthread_mutex_lock(&s->mutex);
    bool more = !interrupted && clock_seconds() < s->end && (s->a->count == 0 || s->next < s->a->count);
    if (more) *index = s->next++;
    pthread_mutex_unlock(&s->mutex);
    return more;
}

static stress_entry *draw_entry(stress *s, uint64_t index) {
    uint64_t at = chance(s->a->seed, index, 0) % s->weights;
    stress_entry *e = s->entries;
    for (; at >= e->weight; e++) at -= e->weight;
    return e;
}

static void draw_fate(caller *c, uint64_t index) {
    const arguments *a = c->s->a;
    unsigned percent = (unsigned)(chance(a->seed, index, 1) % 100);
    double after = (double)(chance(a->seed, index, 2) % 1000000) / 1e6 * a->within_ms / 1000;
    c->fate = percent < a->cancel_percent                     ? CANCEL
              : percent < a->cancel_percent + a->drop_percent ? DROP
                                                              : LET_RUN;
    c->due = clock_seconds() + after;
    c->dropped = false;
}

static void count(stress *s, stress_entry *e, unsigned outcome, double seconds) {
    pthread_mutex_lock(&s->mutex);
    e->outcomes[outcome]++;
    if (outcome == PROOF_STATUS_COMPLETED) latency_add(&e->times, seconds);
    pthread_mutex_unlock(&s->mutex);
}

/* How the call ended, and how long to wait before the next. */
static unsigned outcome_of(const caller *c, rpc_status status, const prove_response *response,
                           double *pause) {
    int32_t result = response->result.status;
    *pause = 0;
    if (status == RPC_OK)
        return response->has_result && result > 0 && result < (int32_t)STRESS_RPC ? (unsigned)result : 0;
    int64_t retry = c->link.reply.retry_ms;
    if (status == RPC_RESOURCE_EXHAUSTED) *pause = retry < 0 ? 0.1 : retry < 1000 ? (double)retry / 1000 : 1;
    if (status == RPC_UNAVAILABLE) *pause = 0.1;
    return c->dropped ? STRESS_DROPPED : STRESS_RPC + status;
}

static void pause_for(double seconds) {
    if (seconds > 0) usleep((useconds_t)(1e6 * seconds));
}

static void call(caller *c, uint64_t index) {
    stress *s = c->s;
    stress_entry *e = draw_entry(s, index);
    prove_request request = {.has_submit = true};
    prove_response response = {.has_result = false};
    pthread_mutex_lock(&c->mutex);
    make_request_id(c->id);
    draw_fate(c, index);
    fate drawn = c->fate;
    c->calling = true;
    pthread_mutex_unlock(&c->mutex);
    pthread_mutex_lock(&s->mutex);
    e->sent++;
    e->cancels += drawn == CANCEL;
    e->drops += drawn == DROP;
    pthread_mutex_unlock(&s->mutex);

    proof_input_request(&request.submit, &e->input, c->id);
    double start = clock_seconds(), pause;
    rpc_status status = daemon_call(&c->link, METHOD_PROVE, &request, s->a->daemon.timeout, &response);
    double seconds = clock_seconds() - start;
    pthread_mutex_lock(&c->mutex);
    c->calling = false;
    c->fate = LET_RUN;
    unsigned outcome = outcome_of(c, status, &response, &pause);
    if (c->dropped) { /* whatever became of it: a connection for the next */
        cuzk_error err;
        char address[sizeof c->link.address];
        memcpy(address, c->link.address, sizeof address);
        daemon_close(&c->link);
        if (daemon_open(&c->link, address, &err) != CUZK_OK) pause = 0.1;
    }
    pthread_mutex_unlock(&c->mutex);
    daemon_free_response(METHOD_PROVE, &response);
    count(s, e, outcome, seconds);
    pause_for(pause);
}

static void *make_calls(void *arg) {
    caller *c = arg;
    uint64_t index;
    while (c->link.client && take_next(c->s, &index)) call(c, index);
    return NULL;
}

/* Do to a call what is due. *id is set when its job is to be cancelled. Once the run has been over for as
 * long as everything may take to settle, whatever still runs is dropped, so that the run ends. */
static void act_on(caller *c, char id[37], double now) {
    bool overdue = interrupted || now > c->s->end + c->s->a->settle;
    id[0] = 0;
    pthread_mutex_lock(&c->mutex);
    fate due = c->fate != LET_RUN && (c->due <= now || interrupted) ? c->fate : LET_RUN;
    if (c->calling && !c->dropped && (due == DROP || overdue)) {
        c->dropped = true;
        daemon_interrupt(&c->link);
    } else if (due == CANCEL) {
        memcpy(id, c->id, sizeof c->id);
    }
    if (due != LET_RUN) c->fate = LET_RUN;
    pthread_mutex_unlock(&c->mutex);
}

/* Cancel the job of a call. It may not have arrived yet: then again, a little later. */
static void cancel_job(caller *c, const char *id, daemon_link *own) {
    cancel_proof_request request = {.job_id = wire_text(id)};
    cancel_proof_response response = {.was_running = false};
    daemon_call(own, METHOD_CANCEL_PROOF, &request, 30, &response);
    if (response.was_running) return;
    pthread_mutex_lock(&c->mutex);
    if (c->calling && strcmp(c->id, id) == 0) {
        c->fate = CANCEL;
        c->due = clock_seconds() + 0.02;
    }
    pthread_mutex_unlock(&c->mutex);
}

/* Cancel and drop what is due. */
static void *act(void *arg) {
    stress *s = arg;
    daemon_link own;
    cuzk_error err;
    if (daemon_open(&own, s->a->daemon.address, &err) != CUZK_OK) return NULL;
    while (!atomic_load(&s->stop)) {
        double now = clock_seconds();
        for (unsigned i = 0; i < s->a->concurrency; i++) {
            char id[37];
            act_on(&s->callers[i], id, now);
            if (id[0]) cancel_job(&s->callers[i], id, &own);
        }
        usleep(1000);
    }
    daemon_close(&own);
    return NULL;
}

static cuzk_code run_callers(stress *s, cuzk_error *err) {
    const arguments *a = s->a;
    pthread_t actor;
    unsigned started = 0;
    cuzk_code code = CUZK_OK;
    for (unsigned i = 0; i < a->concurrency; i++) {
        s->callers[i].s = s;
        pthread_mutex_init(&s->callers[i].mutex, NULL);
        TRY(daemon_open(&s->callers[i].link, a->daemon.address, err));
    }
    int rc = pthread_create(&actor, NULL, act, s);
    if (rc != 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting a thread");
    for (; started < a->concurrency; started++) {
        rc = pthread_create(&s->callers[started].thread, NULL, make_calls, &s->callers[started]);
        if (rc == 0) continue;
        code = error_errno(err, CUZK_ERR_RESOURCES, NULL, rc, "starting thread %u of %u", started + 1,
                           a->concurrency);
        interrupted = 1;
        break;
    }
    for (unsigned i = 0; i < started; i++) pthread_join(s->callers[i].thread, NULL);
    atomic_store(&s->stop, true);
    pthread_join(actor, NULL);
    for (unsigned i = 0; i < a->concurrency; i++) daemon_close(&s->callers[i].link);
    return code;
}

/* --- before and after ------------------------------------------------------------------------------------
 */

/* One proof of each entry's kind; what comes of it does not matter here. */
static void warm_up(stress *s, daemon_link *d) {
    for (unsigned i = 0; i < s->n_entries && !interrupted; i++) {
        bool again = false;
        for (unsigned k = 0; k < i; k++) again = again || s->entries[k].kind == s->entries[i].kind;
        if (again) continue;
        char id[37];
        prove_request request = {.has_submit = true};
        prove_response response = {.has_result = false};
        make_request_id(id);
        proof_input_request(&request.submit, &s->entries[i].input, id);
        daemon_call(d, METHOD_PROVE, &request, s->a->daemon.timeout, &response);
        daemon_free_response(METHOD_PROVE, &response);
    }
}

/* Wait until nothing is left behind, for as long as is allowed. */
static cuzk_code settle(stress_result *r, const arguments *a, daemon_link *d, cuzk_error *err) {
    double start = clock_seconds();
    for (;;) {
        TRY(daemon_state_read(&r->after, d, err));
        r->left = daemon_state_leftover(r->leftover, &r->before, &r->after);
        r->settle_seconds = clock_seconds() - start;
        if (!r->left || r->settle_seconds >= a->settle) return CUZK_OK;
        pause_for(SETTLE_STEP);
    }
}

/* The daemon must be idle when the comparison begins. */
static cuzk_code look_before(stress_result *r, stress *s, daemon_link *d, cuzk_error *err) {
    TRY(daemon_state_read(&r->before, d, err)); /* nobody there: no warming up */
    warm_up(s, d);
    double start = clock_seconds();
    do {
        TRY(daemon_state_read(&r->before, d, err));
        if (r->before.unfinished + r->before.stages == 0) return CUZK_OK;
        pause_for(SETTLE_STEP);
    } while (clock_seconds() - start < s->a->settle && !interrupted);
    return error_set(
        err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
        "the daemon is busy with %.0f jobs of others: what a run leaves behind would not be seen",
        r->before.unfinished);
}

static cuzk_code run(stress_result *r, stress *s, daemon_link *d, cuzk_error *err) {
    const arguments *a = s->a;
    bool text = daemon_wants_text(&a->daemon);
    for (unsigned i = 0; i < s->n_entries; i++) {
        TRY(proof_input_load(&s->entries[i].input, err));
        s->weights += s->entries[i].weight;
    }
    s->callers = calloc(a->concurrency, sizeof *s->callers);
    if (!s->callers) return error_no_memory(err, a->concurrency * sizeof *s->callers, "callers");
    TRY(daemon_open(d, a->daemon.address, err));
    if (text)
        printf("=== Stress ===\nmix:         %s\nconcurrency: %u\nseed:        %llu\ncancelled:   %u "
               "%%\ndropped:     "
               "%u %%\n\n",
               a->mix, a->concurrency, (unsigned long long)a->seed, a->cancel_percent, a->drop_percent);
    fflush(stdout);
    TRY(look_before(r, s, d, err));
    TRY(status_sampler_start(&r->sampler, a->daemon.address, (double)a->interval_ms / 1000, err));
    double start = clock_seconds();
    s->end = a->duration ? start + a->duration : a->count ? start + 1e9 : start + 30;
    cuzk_code code = run_callers(s, err);
    r->seconds = clock_seconds() - start;
    status_sampler_stop(&r->sampler);
    if (code != CUZK_OK) return code;
    TRY(settle(r, a, d, err));
    stress_judge(r);
    if (text) stress_print(r);
    return a->daemon.json ? stress_put_json(r, err) : CUZK_OK;
}

int stress_main(int argc, char **argv) {
    stress_entry entries[STRESS_MAX_MIX + 1] = {0};
    arguments a = {.mix = "porep=1",
                   .sector_number = 1,
                   .miner_id = 1000,
                   .seed = 1,
                   .concurrency = 8,
                   .within_ms = 2000,
                   .settle = 30,
                   .interval_ms = 20,
                   .entries = entries};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    stress s = {.a = &a, .entries = entries, .n_entries = a.n_entries, .mutex = PTHREAD_MUTEX_INITIALIZER};
    stress_result r = {.daemon = &a.daemon,
                       .seed = a.seed,
                       .concurrency = a.concurrency,
                       .mix = entries,
                       .n_mix = a.n_entries,
                       .tolerated = a.tolerated};
    daemon_link d = {.client = NULL};
    cuzk_error err;
    signal(SIGINT, on_signal);
    cuzk_code code = run(&r, &s, &d, &err);
    int status = 0;
    if (code != CUZK_OK)
        status = daemon_report("cuzk-bench stress", &a.daemon, &err);
    else if (!r.ok)
        status = exit_code(CUZK_ERR_PROOF);
    daemon_close(&d);
    status_sampler_free(&r.sampler);
    for (unsigned i = 0; i < a.n_entries; i++) {
        proof_input_free(&entries[i].input);
        latency_free(&entries[i].times);
    }
    for (unsigned i = 0; s.callers && i < a.concurrency; i++) daemon_close(&s.callers[i].link);
    free(s.callers);
    return status;
}
