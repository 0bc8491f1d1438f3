/*
 * One run in a process of its own, and what the caller reads of it. The pipe carries messages of one size;
 * behind MESSAGE_DIGESTS come the digests of the four vectors (the whole, then the blocks), behind
 * MESSAGE_VALUES one block of values.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/mem.h"
#include "command.h"
#include "engine/seal.h"
#include "field/field.h"
#include "filecoin/vanilla.h"
#include "r1cs/expand.h"
#include "r1cs/synthesis.h"
#include "replay.h"

static const char *const stage_names[REPLAY_STAGES] = {
    "input", "parameters", "vanilla proofs", "synthesis", "constraints", "prove", "verify"};
static const char *const vector_names[REPLAY_VECTORS] = {"aux", "a", "b", "c"};

const char *replay_stage_name(replay_stage stage) {
    return stage_names[stage];
}
const char *replay_vector_name(unsigned vector) {
    return vector_names[vector];
}

enum { MESSAGE_STAGE, MESSAGE_DIGESTS, MESSAGE_VALUES, MESSAGE_END };

typedef struct message {
    uint32_t type;
    replay_stage stage;
    bool in_partition;
    uint32_t partition, partitions;
    char variant[32], circuit[32];
    uint64_t values[REPLAY_VECTORS], chunks[REPLAY_VECTORS];
    cuzk_error error; /* of the end */
} message;

/* A block of values that is wanted instead of a proof. */
typedef struct wanted {
    uint32_t partition;
    unsigned vector;
    uint64_t first;
    size_t n;
} wanted;

static bool write_all(int fd, const void *data, size_t size) {
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t size) {
    uint8_t *at = data;
    while (size > 0) {
        ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* --- in the run's process --------------------------------------------------------------------------------
 */

typedef struct runner {
    int fd;
    const replay_options *o;
    const wanted *wanted;
    const cuzk_progress *progress;
    message at; /* where it is; sent when that changes */
    pool *threads;
    c1 *sector;
    proving_key *key;
    uint8_t *proof;
} runner;

static cuzk_code send(runner *r, uint32_t type, cuzk_error *err) {
    r->at.type = type;
    if (write_all(r->fd, &r->at, sizeof r->at)) return CUZK_OK;
    return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "reporting to the calling process");
}

static cuzk_code begin(runner *r, replay_stage stage, cuzk_error *err) {
    r->at.stage = stage;
    r->at.in_partition = stage >= REPLAY_SYNTHESIS && stage <= REPLAY_PROVE;
    return send(r, MESSAGE_STAGE, err);
}

static cuzk_code send_digests(runner *r, const assignment_digest *d, const assignment *w, cuzk_error *err) {
    const vector_digest *of[REPLAY_VECTORS] = {&d->aux, &d->a, &d->b, &d->c};
    for (unsigned i = 0; i < REPLAY_VECTORS; i++) {
        r->at.values[i] = i == 0 ? w->shape.aux : w->shape.constraints;
        r->at.chunks[i] = of[i]->chunks;
    }
    TRY(send(r, MESSAGE_DIGESTS, err));
    for (unsigned i = 0; i < REPLAY_VECTORS; i++)
        if (!write_all(r->fd, of[i]->sha256, 32) ||
            !write_all(r->fd, of[i]->chunk_sha256, of[i]->chunks * sizeof *of[i]->chunk_sha256))
            return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "reporting to the calling process");
    return CUZK_OK;
}

static cuzk_code send_values(runner *r, const assignment *w, cuzk_error *err) {
    const fr *of[REPLAY_VECTORS] = {w->aux, w->a, w->b, w->c};
    TRY(send(r, MESSAGE_VALUES, err));
    for (size_t i = 0; i < r->wanted->n; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &of[r->wanted->vector][r->wanted->first + i]);
        if (!write_all(r->fd, bytes, sizeof bytes))
            return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "reporting to the calling process");
    }
    return CUZK_OK;
}

static cuzk_code check_constraints(runner *r, const assignment *w, cuzk_error *err) {
    TRY(begin(r, REPLAY_CONSTRAINTS, err));
    uint64_t bad = assignment_first_unsatisfied(w);
    if (bad == UINT64_MAX) return CUZK_OK;
    return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                     "the values do not satisfy constraint %" PRIu64 " of %" PRIu64, bad,
                     w->shape.constraints);
}

static cuzk_code prove_values(runner *r, assignment *w, cuzk_error *err) {
    assignment_digest d;
    TRY(assignment_digest_create(&d, w, r->threads, err));
    cuzk_code code = send_digests(r, &d, w, err);
    assignment_digest_free(&d);
    TRY(code);
    TRY(check_constraints(r, w, err));
    TRY(begin(r, REPLAY_PROVE, err));
    groth16_proof proof;
    prove_timings timings;
    TRY(groth16_prove(&proof, &r->key->srs, w, NULL, r->threads, r->progress, &timings, err));
    proof_encode(r->proof + (size_t)r->at.partition * CUZK_PROOF_BYTES, &proof);
    return CUZK_OK;
}

static cuzk_code run_partition(runner *r, cuzk_error *err) {
    compact_witness compact;
    assignment w = {.a = NULL};
    TRY(begin(r, REPLAY_SYNTHESIS, err));
    TRY(seal_synthesize(&compact, r->key, r->sector, r->at.partition, r->threads, r->progress, err));
    cuzk_code code = assignment_expand(&w, &compact, EXPAND_TEMPLATES, r->threads, err);
    witness_free(&compact);
    if (code == CUZK_OK) code = r->wanted ? send_values(r, &w, err) : prove_values(r, &w, err);
    assignment_free(&w);
    return code;
}

static cuzk_code open_input(runner *r, cuzk_error *err) {
    const replay_job *job = r->o->job;
    TRY(begin(r, REPLAY_INPUT, err));
    TRY(c1_read(&r->sector, job->input, err));
    const char *circuit = r->sector->sector->porep_name;
    if (job->described && strcmp(job->circuit, circuit) != 0)
        return error_set(err, CUZK_ERR_INPUT, job->input, CUZK_NO_OFFSET,
                         "a sector of %s, its job.json tells of %s", circuit, job->circuit);
    r->at.partitions = r->sector->partitions;
    snprintf(r->at.circuit, sizeof r->at.circuit, "%s", circuit);
    r->proof = calloc(r->sector->partitions, CUZK_PROOF_BYTES);
    if (!r->proof) return error_no_memory(err, CUZK_PROOF_BYTES, "a proof");
    TRY(begin(r, REPLAY_PARAMETERS, err));
    TRY(key_open(&r->key, circuit, r->o->params, true, err));
    return mem_require(seal_prove_bytes(r->key->circuit) + seal_witness_bytes(r->key->circuit), "the proof",
                       err);
}

static cuzk_code check_input(runner *r, cuzk_error *err) {
    const replay_job *job = r->o->job;
    TRY(begin(r, REPLAY_CHECK, err));
    if (job->described) TRY(vanilla_check_replica_id(r->sector, job->miner_id, job->sector_number, err));
    return vanilla_verify(r->sector, r->threads, r->progress, err);
}

static cuzk_code verify_whole(runner *r, cuzk_error *err) {
    porep_statement statement;
    uint32_t bad = 0;
    TRY(begin(r, REPLAY_VERIFY, err));
    porep_statement_of(&statement, r->sector);
    cuzk_code code = seal_verify(r->key, &statement, r->proof, (size_t)r->at.partitions * CUZK_PROOF_BYTES,
                                 &bad, r->threads, err);
    if (code != CUZK_ERR_PROOF) return code;
    r->at.in_partition = true;
    r->at.partition = bad;
    return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                     "self-check failed: the proof does not verify against the sector's statement");
}

static cuzk_code run_all(runner *r, cuzk_error *err) {
    TRY(open_input(r, err));
    if (r->wanted) {
        r->at.partition = r->wanted->partition;
        return run_partition(r, err);
    }
    TRY(check_input(r, err));
    for (uint32_t k = 0; k < r->sector->partitions; k++) {
        r->at.partition = k;
        TRY(run_partition(r, err));
    }
    return verify_whole(r, err);
}

/* Does not return. */
static void child(int fd, const replay_options *o, const wanted *w) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    progress_bar bar;
    common_options common = {.quiet = o->quiet, .engine = o->engine};
    cuzk_progress progress = progress_start(&bar, &common);
    runner r = {.fd = fd, .o = o, .wanted = w, .progress = &progress};
    cuzk *engine = NULL;
    cuzk_error err = {.code = CUZK_OK};
    cuzk_code code = CUZK_OK;
    if (o->variant && setenv("CUZK_ISA", o->variant, 1) != 0)
        code = error_errno(&err, CUZK_ERR_RESOURCES, NULL, errno, "choosing the code variant");
    if (code == CUZK_OK) code = cuzk_create(&engine, &o->engine, &err);
    if (code == CUZK_OK) {
        r.threads = engine->threads;
        snprintf(r.at.variant, sizeof r.at.variant, "%s", cpu_isa_name(field.isa));
        code = run_all(&r, &err);
    }
    progress_finish(&bar);
    if (code != CUZK_OK) r.at.error = err;
    r.at.error.code = code;
    bool told = send(&r, MESSAGE_END, NULL) == CUZK_OK;
    key_close(r.key);
    c1_free(r.sector);
    free(r.proof);
    cuzk_destroy(engine);
    _exit(told ? 0 : 1);
}

/* --- in the caller's -------------------------------------------------------------------------------------
 */

static cuzk_code start(pid_t *pid, int *fd, const replay_options *o, const wanted *w, cuzk_error *err) {
    int ends[2];
    if (pipe(ends) != 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "making a pipe");
    fflush(NULL); /* or what is buffered would be written twice */
    *pid = fork();
    if (*pid == 0) {
        close(ends[0]);
        child(ends[1], o, w);
    }
    int saved = errno;
    close(ends[1]);
    *fd = ends[0];
    if (*pid > 0) return CUZK_OK;
    close(ends[0]);
    return error_errno(err, CUZK_ERR_RESOURCES, NULL, saved, "starting a process");
}

static bool receive_digests(replay_run *out, int fd, const message *m) {
    if (!out->digests) {
        out->digests = calloc(m->partitions, sizeof *out->digests);
        out->partitions = out->digests ? m->partitions : 0;
    }
    if (m->partition >= out->partitions) return false;
    replay_digests *d = &out->digests[m->partition];
    for (unsigned i = 0; i < REPLAY_VECTORS; i++) {
        vector_digest *v = &d->of[i];
        d->values[i] = m->values[i];
        v->chunks = m->chunks[i];
        v->chunk_sha256 = calloc(v->chunks + 1, sizeof *v->chunk_sha256);
        if (!v->chunk_sha256 || !read_all(fd, v->sha256, 32) ||
            !read_all(fd, v->chunk_sha256, v->chunks * sizeof *v->chunk_sha256))
            return false;
    }
    return true;
}

/* Read until the end message, or until the process is gone. `values` takes what a block of `wanted` has. */
static bool receive(replay_run *out, int fd, uint8_t *values, size_t values_size) {
    message m;
    while (read_all(fd, &m, sizeof m)) {
        memcpy(out->variant, m.variant, sizeof out->variant);
        memcpy(out->circuit, m.circuit, sizeof out->circuit);
        out->stage = m.stage;
        out->in_partition = m.in_partition;
        out->partition = m.partition;
        if (m.type == MESSAGE_DIGESTS && !receive_digests(out, fd, &m)) return false;
        if (m.type == MESSAGE_VALUES && !read_all(fd, values, values_size)) return false;
        if (m.type != MESSAGE_END) continue;
        out->code = m.error.code;
        out->error = m.error;
        return true;
    }
    return false;
}

/* An interrupt is for the run, which ends in order; then the caller hears of it. */
static cuzk_code run(replay_run *out, const replay_options *o, const wanted *w, uint8_t *values,
                     size_t values_size, cuzk_error *err) {
    pid_t pid = -1;
    int fd = -1, status = 0;
    *out = (replay_run){.code = CUZK_ERR_INTERNAL};
    double began = clock_seconds();
    TRY(start(&pid, &fd, o, w, err));
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGINT, &ignore, &before);
    bool ended = receive(out, fd, values, values_size);
    close(fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    sigaction(SIGINT, &before, NULL);
    out->seconds = clock_seconds() - began;
    if (!*out->variant && o->variant) snprintf(out->variant, sizeof out->variant, "%s", o->variant);
    if (ended) return CUZK_OK;
    if (WIFSIGNALED(status))
        out->code = error_set(&out->error, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                              "the process was ended by signal %d (%s)", WTERMSIG(status),
                              strsignal(WTERMSIG(status)));
    else
        out->code = error_set(&out->error, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                              "the process ended with exit code %d and no result", WEXITSTATUS(status));
    return CUZK_OK;
}

cuzk_code replay_run_start(replay_run *out, const replay_options *o, cuzk_error *err) {
    return run(out, o, NULL, NULL, 0, err);
}

void replay_run_free(replay_run *r) {
    for (uint32_t k = 0; k < r->partitions; k++)
        for (unsigned i = 0; i < REPLAY_VECTORS; i++) free(r->digests[k].of[i].chunk_sha256);
    free(r->digests);
    r->digests = NULL;
    r->partitions = 0;
}

/* --- differences -----------------------------------------------------------------------------------------
 */

bool replay_compare(replay_difference *out, const replay_run *found, const replay_run *expected) {
    for (uint32_t k = 0; k < found->partitions && k < expected->partitions; k++)
        for (unsigned v = 0; v < REPLAY_VECTORS; v++) {
            const vector_digest *f = &found->digests[k].of[v], *e = &expected->digests[k].of[v];
            if (!f->chunk_sha256 || !e->chunk_sha256 || memcmp(f->sha256, e->sha256, 32) == 0) continue;
            size_t i = 0;
            while (i < f->chunks && i < e->chunks && memcmp(f->chunk_sha256[i], e->chunk_sha256[i], 32) == 0)
                i++;
            uint64_t n = found->digests[k].values[v];
            uint64_t first = (uint64_t)i * R1CS_DIGEST_VALUES_CHUNK, last = first + R1CS_DIGEST_VALUES_CHUNK;
            *out = (replay_difference){
                .partition = k, .vector = v, .first = first, .last = (last < n ? last : n) - 1};
            return true;
        }
    return false;
}

cuzk_code replay_locate(replay_difference *d, const replay_options *found, const replay_options *expected,
                        cuzk_error *err) {
    wanted w = {d->partition, d->vector, d->first, (size_t)(d->last - d->first + 1)};
    const replay_options *options[2] = {found, expected};
    size_t size = w.n * 32;
    uint8_t *values = calloc(2, size);
    if (!values) return error_no_memory(err, 2 * size, "values");
    cuzk_code code = CUZK_OK;
    for (unsigned i = 0; i < 2 && code == CUZK_OK; i++) {
        replay_run r;
        code = run(&r, options[i], &w, values + i * size, size, err);
        if (code == CUZK_OK && r.code != CUZK_OK) {
            code = r.code;
            if (err) *err = r.error;
        }
        replay_run_free(&r);
    }
    for (size_t i = 0; i < w.n && code == CUZK_OK && !d->exact; i++) {
        if (memcmp(values + 32 * i, values + size + 32 * i, 32) == 0) continue;
        d->exact = true;
        d->first += i;
        memcpy(d->found, values + 32 * i, 32);
        memcpy(d->expected, values + size + 32 * i, 32);
    }
    free(values);
    return code;
}
