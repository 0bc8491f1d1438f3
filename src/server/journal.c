/*
 * One connection, one mutex. Inputs are written without the mutex, since they may be large: a submission pins
 * its digest meanwhile, and a file goes when its digest has neither a pin nor an unfinished row.
 *
 * accept: write the input to a temporary name, flush, rename, flush the folder; then insert the row (SQLite
 * flushes its log). finish: one transaction sets the result and drops results that are too old or too many;
 * then the input goes. Whatever is cut off leaves at most an input without a row.
 */
#include "server/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/log.h"
#include "hash/digest.h"
#include "server/job_input.h"
#include "server/journal_db.h"

#define PATH_SIZE 1024
#define ROW_BYTES "512" /* what a result counts beside its proof */

enum {
    DO_BEGIN,
    DO_COMMIT,
    DO_ROLLBACK,
    DO_INSERT,
    DO_FINISH,
    DO_FORGET,
    DO_DROP_OLD,
    DO_DROP_OLDEST,
    DO_KEPT_BYTES,
    DO_IN_USE,
    DO_UNFINISHED,
    DO_RESULTS,
    STATEMENTS
};

#define GONE                                                                                                 \
    " RETURNING digest, CASE WHEN ended IS NULL THEN -1 ELSE ifnull(length(proof), 0) + " ROW_BYTES " END"

static const char *const sql[STATEMENTS] = {
    [DO_BEGIN] = "BEGIN IMMEDIATE",
    [DO_COMMIT] = "COMMIT",
    [DO_ROLLBACK] = "ROLLBACK",
    [DO_INSERT] =
        "INSERT INTO jobs (id, kind, priority, digest, accepted, deadline) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [DO_FINISH] =
        "UPDATE jobs SET state = ?2, ended = ?3, proof = ?4, proof_sha256 = ?5, error_code = ?6,"
        " error_message = ?7, error_path = ?8, error_offset = ?9 WHERE id = ?1 AND ended IS NULL" GONE,
    [DO_FORGET] = "DELETE FROM jobs WHERE id = ?1" GONE,
    [DO_DROP_OLD] = "DELETE FROM jobs WHERE ended IS NOT NULL AND ended <= ?1" GONE,
    [DO_DROP_OLDEST] = "DELETE FROM jobs WHERE seq = (SELECT seq FROM jobs WHERE ended IS NOT NULL"
                       " ORDER BY ended, seq LIMIT 1)" GONE,
    [DO_KEPT_BYTES] =
        "SELECT sum(ifnull(length(proof), 0) + " ROW_BYTES ") FROM jobs WHERE ended IS NOT NULL",
    [DO_IN_USE] = "SELECT 1 FROM jobs WHERE digest = ?1 AND ended IS NULL LIMIT 1",
    [DO_UNFINISHED] = "SELECT seq, id, kind, priority, digest, deadline FROM jobs WHERE ended IS NULL"
                      " AND seq > ?1 ORDER BY seq LIMIT 1",
    [DO_RESULTS] = "SELECT id, kind, digest, state, proof, proof_sha256, error_code, error_message,"
                   " error_path, error_offset FROM jobs WHERE ended IS NOT NULL ORDER BY ended, seq"};

/* An input in use that may have no row yet. */
typedef struct pin {
    struct pin *next;
    const uint8_t *digest;
} pin;

struct journal {
    pthread_mutex_t mutex; /* guards all below but the descriptors */
    char directory[PATH_SIZE];
    int lock_fd, inputs_fd;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    journal_limits limits;
    uint64_t kept_bytes; /* of results */
    pin *pins;
    engine_store store;
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- statements ------------------------------------------------------------------------------------------
 */

static sqlite3_stmt *statement(journal *j, int which) {
    return j->statements[which];
}

/* Bytes or text that stay until the statement is run. */
static void bind_bytes(sqlite3_stmt *s, int at, const uint8_t *data, size_t size) {
    sqlite3_bind_blob64(s, at, data, size, SQLITE_STATIC);
}
static void bind_text(sqlite3_stmt *s, int at, const char *text) {
    sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/* Make it ready for the next time. */
static void done(sqlite3_stmt *s) {
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
}

/* Rows of a statement that ends with GONE: what of them is gone. */
typedef struct gone {
    unsigned rows;
    uint64_t result_bytes;
    bool unfinished;
    uint8_t digest[32]; /* of the last row */
} gone;

/* Run a bound statement to its end. `out` may be NULL. */
static cuzk_code run(gone *out, journal *j, int which, const char *doing, cuzk_error *err) {
    sqlite3_stmt *s = statement(j, which);
    int rc;
    if (out) *out = (gone){.rows = 0};
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        if (!out) continue;
        int64_t bytes = sqlite3_column_int64(s, 1);
        out->rows++;
        out->unfinished = bytes < 0;
        if (bytes > 0) out->result_bytes += (uint64_t)bytes;
        if (sqlite3_column_bytes(s, 0) == 32) memcpy(out->digest, sqlite3_column_blob(s, 0), 32);
    }
    cuzk_code code = rc == SQLITE_DONE ? CUZK_OK : journal_db_error(j->db, doing, err);
    done(s);
    return code;
}

/* End a transaction by how its steps went. */
static cuzk_code end(journal *j, cuzk_code code, const char *doing, cuzk_error *err) {
    if (code == CUZK_OK) code = run(NULL, j, DO_COMMIT, doing, err);
    if (code != CUZK_OK && !sqlite3_get_autocommit(j->db)) run(NULL, j, DO_ROLLBACK, doing, NULL);
    return code;
}

/* --- inputs ----------------------------------------------------------------------------------------------
 */

static const char *input_path(char out[PATH_SIZE + 80], const journal *j, const uint8_t digest[32]) {
    char hex[65];
    snprintf(out, PATH_SIZE + 80, "%s/inputs/%s", j->directory, hex_write(hex, digest, 32));
    return out;
}

/* Remove the input if nothing needs it. Mutex held. */
static void release_input(journal *j, const uint8_t digest[32]) {
    for (const pin *p = j->pins; p; p = p->next)
        if (memcmp(p->digest, digest, 32) == 0) return;
    sqlite3_stmt *s = statement(j, DO_IN_USE);
    bind_bytes(s, 1, digest, 32);
    bool unused = sqlite3_step(s) == SQLITE_DONE; /* not when in doubt */
    done(s);
    char path[PATH_SIZE + 80];
    if (unused) unlink(input_path(path, j, digest));
}

static cuzk_code keep_input(journal *j, const uint8_t digest[32], const job_request *request,
                            cuzk_error *err) {
    char path[PATH_SIZE + 80];
    struct stat status;
    input_path(path, j, digest);
    /* One that is there is whole: it was renamed to its name, and those of former runs have rows. */
    if (stat(path, &status) != 0 || (uint64_t)status.st_size != job_input_size(request))
        TRY(job_input_write(path, digest, request, err));
    if (fsync(j->inputs_fd) != 0)
        return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "flushing its folder");
    return CUZK_OK;
}

/* --- the store -------------------------------------------------------------------------------------------
 */

static cuzk_code insert(journal *j, const char *id, const uint8_t digest[32], const job_request *request,
                        cuzk_error *err) {
    static const char doing[] = "recording a job";
    gone old = {.rows = 0};
    int64_t now = now_ms();
    TRY(run(NULL, j, DO_BEGIN, doing, err));
    bind_text(statement(j, DO_FORGET), 1, id); /* a former run of the same id */
    cuzk_code code = run(&old, j, DO_FORGET, doing, err);
    sqlite3_stmt *s = statement(j, DO_INSERT);
    bind_text(s, 1, id);
    sqlite3_bind_int(s, 2, (int)request->kind);
    sqlite3_bind_int(s, 3, (int)request->priority);
    bind_bytes(s, 4, digest, 32);
    sqlite3_bind_int64(s, 5, now);
    if (request->deadline > 0 && request->deadline < 1e12)
        sqlite3_bind_int64(s, 6, now + (int64_t)(request->deadline * 1000));
    if (code == CUZK_OK)
        code = run(NULL, j, DO_INSERT, doing, err);
    else
        done(s);
    TRY(end(j, code, doing, err));
    j->kept_bytes -= old.result_bytes;
    if (old.unfinished) release_input(j, old.digest);
    return CUZK_OK;
}

static cuzk_code store_accept(void *ctx, const char *id, const uint8_t digest[32], const job_request *request,
                              cuzk_error *err) {
    journal *j = ctx;
    pin mine = {.digest = digest};
    pthread_mutex_lock(&j->mutex);
    mine.next = j->pins;
    j->pins = &mine;
    pthread_mutex_unlock(&j->mutex);
    cuzk_code code = keep_input(j, digest, request, err);
    pthread_mutex_lock(&j->mutex);
    if (code == CUZK_OK) code = insert(j, id, digest, request, err);
    pin **link = &j->pins;
    while (*link != &mine) link = &(*link)->next;
    *link = mine.next;
    if (code != CUZK_OK) release_input(j, digest);
    pthread_mutex_unlock(&j->mutex);
    return code;
}

/* Drop results by age and size. In a transaction; *bytes are those kept, before and after. */
static cuzk_code drop_results(journal *j, uint64_t *bytes, const char *doing, cuzk_error *err) {
    gone old;
    double ttl = j->limits.result_ttl < 1e12 ? j->limits.result_ttl : 1e12;
    sqlite3_bind_int64(statement(j, DO_DROP_OLD), 1, now_ms() - (int64_t)(ttl * 1000));
    TRY(run(&old, j, DO_DROP_OLD, doing, err));
    *bytes -= old.result_bytes;
    while (*bytes > j->limits.result_bytes) {
        TRY(run(&old, j, DO_DROP_OLDEST, doing, err));
        if (old.rows == 0) break;
        *bytes -= old.result_bytes;
    }
    return CUZK_OK;
}

static void bind_end(sqlite3_stmt *s, const char *id, job_state state, const uint8_t *proof,
                     size_t proof_size, const uint8_t proof_sha256[32], const cuzk_error *why) {
    bind_text(s, 1, id);
    sqlite3_bind_int(s, 2, (int)state);
    sqlite3_bind_int64(s, 3, now_ms());
    if (state == JOB_COMPLETED) {
        bind_bytes(s, 4, proof, proof_size);
        bind_bytes(s, 5, proof_sha256, 32);
    } else if (why) {
        sqlite3_bind_int(s, 6, (int)why->code);
        bind_text(s, 7, why->message);
        bind_text(s, 8, why->path);
        if (why->offset != CUZK_NO_OFFSET) sqlite3_bind_int64(s, 9, (int64_t)why->offset);
    }
}

static void store_finish(void *ctx, const char *id, job_state state, const uint8_t *proof, size_t proof_size,
                         const cuzk_error *why) {
    static const char doing[] = "recording the end of a job";
    journal *j = ctx;
    gone ended = {.rows = 0};
    cuzk_error err;
    uint8_t sum[32];
    if (state == JOB_COMPLETED) sha256_once(sum, proof, proof_size);
    pthread_mutex_lock(&j->mutex);
    uint64_t bytes = j->kept_bytes;
    cuzk_code code = run(NULL, j, DO_BEGIN, doing, &err);
    if (code == CUZK_OK) {
        bind_end(statement(j, DO_FINISH), id, state, proof, proof_size, sum, why);
        code = run(&ended, j, DO_FINISH, doing, &err);
        bytes += ended.result_bytes;
        if (code == CUZK_OK) code = drop_results(j, &bytes, doing, &err);
        code = end(j, code, doing, &err);
    }
    if (code == CUZK_OK) {
        j->kept_bytes = bytes;
        if (ended.rows > 0) release_input(j, ended.digest);
    }
    pthread_mutex_unlock(&j->mutex);
    if (code != CUZK_OK)
        log_error("the end of a job could not be recorded: it will run again after a restart", LOG_JOB(id),
                  LOG_TEXT("state", job_state_name(state)), LOG_TEXT("error", err.message));
    else if (ended.rows == 0)
        log_error("a job that is not in the journal has ended", LOG_JOB(id));
}

static void store_forget(void *ctx, const char *id) {
    journal *j = ctx;
    gone old;
    cuzk_error err;
    pthread_mutex_lock(&j->mutex);
    bind_text(statement(j, DO_FORGET), 1, id);
    cuzk_code code = run(&old, j, DO_FORGET, "dropping a result", &err);
    if (code == CUZK_OK) {
        j->kept_bytes -= old.result_bytes;
        if (old.unfinished) release_input(j, old.digest);
    }
    pthread_mutex_unlock(&j->mutex);
    if (code != CUZK_OK)
        log_error("a result could not be dropped", LOG_JOB(id), LOG_TEXT("error", err.message));
}

const engine_store *journal_store(journal *j) {
    return &j->store;
}

void journal_set_limits(journal *j, const journal_limits *limits) {
    pthread_mutex_lock(&j->mutex);
    j->limits = *limits;
    pthread_mutex_unlock(&j->mutex);
}

/* --- opening ---------------------------------------------------------------------------------------------
 */

static cuzk_code make_folder(const char *path, cuzk_error *err) {
    if (mkdir(path, 0750) == 0 || errno == EEXIST) return CUZK_OK;
    return error_errno(err, errno == ENOENT ? CUZK_ERR_USAGE : CUZK_ERR_RESOURCES, path, errno,
                       "cannot make the folder");
}

/* The lock ends with the descriptor, so with the process at the latest. */
static cuzk_code take_lock(journal *j, cuzk_error *err) {
    char path[PATH_SIZE + 80], owner[24] = "";
    snprintf(path, sizeof path, "%s/lock", j->directory);
    j->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (j->lock_fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot open");
    if (flock(j->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        int n = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
        /* For people only: a full disk is met later, by what matters. */
        if (ftruncate(j->lock_fd, 0) != 0 || pwrite(j->lock_fd, owner, (size_t)n, 0) != n)
            log_debug("the lock's owner could not be noted", LOG_TEXT("path", path));
        return CUZK_OK;
    }
    if (errno != EWOULDBLOCK) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot lock");
    ssize_t n = pread(j->lock_fd, owner, sizeof owner - 1, 0);
    owner[n > 0 ? strspn(owner, "0123456789") : 0] = 0;
    return error_set(err, CUZK_ERR_RESOURCES, j->directory, CUZK_NO_OFFSET, "in use by another daemon%s%s",
                     *owner ? ", process " : "", owner);
}

/* The digest an input is named by; false for names of anything else. `rest` is what follows it. */
static bool parse_name(uint8_t digest[32], const char **rest, const char *name) {
    for (unsigned i = 0; i < 64; i++) {
        char c = name[i];
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
        digest[i / 2] = (uint8_t)(i % 2 ? digest[i / 2] | digit : digit << 4);
    }
    *rest = name + 64;
    return true;
}

/* Inputs that were being written, and those whose job never got its row or has ended. */
static cuzk_code remove_leftovers(journal *j, cuzk_error *err) {
    char path[PATH_SIZE + 80];
    snprintf(path, sizeof path, "%s/inputs", j->directory);
    DIR *d = opendir(path);
    if (!d) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot read the folder");
    for (struct dirent *entry; (entry = readdir(d));) {
        uint8_t digest[32];
        const char *rest;
        if (!parse_name(digest, &rest, entry->d_name)) continue;
        size_t n = strlen(rest);
        if (n == 0)
            release_input(j, digest);
        else if (n > 5 && rest[0] == '.' && strcmp(rest + n - 4, ".tmp") == 0)
            unlinkat(dirfd(d), entry->d_name, 0);
    }
    closedir(d);
    return CUZK_OK;
}

static cuzk_code prepare(journal *j, cuzk_error *err) {
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(j->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &j->statements[i], NULL) !=
            SQLITE_OK)
            return journal_db_error(j->db, "reading the journal", err);
    sqlite3_stmt *s = statement(j, DO_KEPT_BYTES);
    int rc = sqlite3_step(s);
    cuzk_code code = rc == SQLITE_ROW ? CUZK_OK : journal_db_error(j->db, "reading the journal", err);
    j->kept_bytes = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    done(s);
    return code;
}

static cuzk_code open_parts(journal *j, cuzk_error *err) {
    char inputs[PATH_SIZE + 80];
    TRY(make_folder(j->directory, err));
    TRY(take_lock(j, err));
    TRY(journal_db_open(&j->db, j->directory, err));
    snprintf(inputs, sizeof inputs, "%s/inputs", j->directory);
    TRY(make_folder(inputs, err));
    j->inputs_fd = open(inputs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->inputs_fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, inputs, errno, "cannot open");
    TRY(prepare(j, err));
    return remove_leftovers(j, err);
}

cuzk_code journal_open(journal **out, const char *directory, const journal_limits *limits, cuzk_error *err) {
    *out = NULL;
    if (strlen(directory) >= PATH_SIZE - 16)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "a path of %zu bytes, at most %d",
                         strlen(directory), PATH_SIZE - 17);
    journal *j = calloc(1, sizeof *j);
    if (!j) return error_no_memory(err, sizeof *j, "a journal");
    pthread_mutex_init(&j->mutex, NULL);
    snprintf(j->directory, sizeof j->directory, "%s", directory);
    j->lock_fd = j->inputs_fd = -1;
    j->limits = *limits;
    j->store = (engine_store){j, store_accept, store_finish, store_forget};
    cuzk_code code = open_parts(j, err);
    if (code != CUZK_OK) {
        journal_close(j);
        return code;
    }
    *out = j;
    return CUZK_OK;
}

void journal_close(journal *j) {
    if (!j) return;
    for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(j->statements[i]);
    sqlite3_close(j->db);
    if (j->inputs_fd >= 0) close(j->inputs_fd);
    if (j->lock_fd >= 0) close(j->lock_fd);
    pthread_mutex_destroy(&j->mutex);
    free(j);
}

/* --- resuming --------------------------------------------------------------------------------------------
 */

/* NULL reads as empty. */
static const char *column_text(sqlite3_stmt *s, int column) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

/* What the present row of DO_RESULTS says of an end without a proof. */
static void row_error(cuzk_error *out, sqlite3_stmt *s) {
    cuzk_code code = (cuzk_code)sqlite3_column_int(s, 6);
    uint64_t offset =
        sqlite3_column_type(s, 9) == SQLITE_NULL ? CUZK_NO_OFFSET : (uint64_t)sqlite3_column_int64(s, 9);
    error_set(out, code == CUZK_OK ? CUZK_ERR_INTERNAL : code, column_text(s, 8), offset, "%s",
              column_text(s, 7));
}

/* The present row of DO_RESULTS. A proof that is not as it was recorded is not given out. */
static cuzk_code restore_row(engine *e, sqlite3_stmt *s, cuzk_error *err) {
    int kind = sqlite3_column_int(s, 1), state = sqlite3_column_int(s, 3);
    const char *id = column_text(s, 0);
    const uint8_t *digest = sqlite3_column_blob(s, 2), *proof = sqlite3_column_blob(s, 4);
    size_t size = (size_t)sqlite3_column_bytes(s, 4);
    cuzk_error why;
    bool sound = kind > 0 && job_kind_name((unsigned)kind) && state >= JOB_COMPLETED &&
                 state <= JOB_TIMEOUT && *id && strlen(id) < JOB_ID_BYTES;
    if (!sound) {
        log_error("a result in the journal is damaged: it is left out", LOG_JOB(id));
        return CUZK_OK;
    }
    if (state == JOB_COMPLETED) {
        uint8_t sum[32];
        sha256_once(sum, proof, size);
        if (size > 0 && size % CUZK_PROOF_BYTES == 0 && sqlite3_column_bytes(s, 5) == 32 &&
            memcmp(sum, sqlite3_column_blob(s, 5), 32) == 0)
            return engine_restore_result(e, id, (job_kind)kind, digest, JOB_COMPLETED, proof, size, NULL,
                                         err);
        error_set(&why, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET,
                  "the proof recorded in the journal is damaged: submit the job again");
        log_error("a proof in the journal is damaged", LOG_JOB(id));
        state = JOB_FAILED;
    } else {
        row_error(&why, s);
    }
    return engine_restore_result(e, id, (job_kind)kind, digest, (job_state)state, NULL, 0, &why, err);
}

static cuzk_code restore_results(journal *j, engine *e, uint32_t *count, cuzk_error *err) {
    static const char doing[] = "reading results";
    pthread_mutex_lock(&j->mutex);
    uint64_t bytes = j->kept_bytes;
    cuzk_code code = run(NULL, j, DO_BEGIN, doing, err);
    if (code == CUZK_OK) {
        code = end(j, drop_results(j, &bytes, doing, err), doing, err);
        if (code == CUZK_OK) j->kept_bytes = bytes;
    }
    sqlite3_stmt *s = statement(j, DO_RESULTS);
    int rc = SQLITE_DONE;
    while (code == CUZK_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        code = restore_row(e, s, err);
        if (code == CUZK_OK) ++*count;
    }
    if (code == CUZK_OK && rc != SQLITE_DONE) code = journal_db_error(j->db, doing, err);
    done(s);
    pthread_mutex_unlock(&j->mutex);
    return code;
}

/* An unfinished job's row. */
typedef struct unfinished {
    int64_t seq, deadline; /* deadline 0: none */
    char id[JOB_ID_BYTES];
    job_kind kind;
    int priority;
    uint8_t digest[32];
} unfinished;

/* The first one behind u->seq; *found is false when there is none. */
static cuzk_code next_unfinished(unfinished *u, bool *found, journal *j, cuzk_error *err) {
    pthread_mutex_lock(&j->mutex);
    sqlite3_stmt *s = statement(j, DO_UNFINISHED);
    sqlite3_bind_int64(s, 1, u->seq);
    int rc = sqlite3_step(s);
    *found = rc == SQLITE_ROW;
    if (*found) {
        u->seq = sqlite3_column_int64(s, 0);
        snprintf(u->id, sizeof u->id, "%s", column_text(s, 1));
        int kind = sqlite3_column_int(s, 2); /* only for naming a job that cannot be resumed */
        u->kind = kind > 0 && job_kind_name((unsigned)kind) ? (job_kind)kind : JOB_POREP;
        u->priority = sqlite3_column_int(s, 3);
        memcpy(u->digest, sqlite3_column_blob(s, 4), 32); /* the table checks its size */
        u->deadline = sqlite3_column_int64(s, 5);
    }
    cuzk_code code =
        *found || rc == SQLITE_DONE ? CUZK_OK : journal_db_error(j->db, "reading unfinished jobs", err);
    done(s);
    pthread_mutex_unlock(&j->mutex);
    return code;
}

/* Hand a job to the engine, waiting while it has no room. *state is JOB_QUEUED, or how the job ends because
 * of the error; without either, resuming stops. */
static cuzk_code submit(job_state *state, journal *j, engine *e, const unfinished *u, cuzk_error *err) {
    char path[PATH_SIZE + 80];
    input_path(path, j, u->digest);
    for (useconds_t pause = 20000;; pause = pause < 500000 ? pause * 2 : pause) {
        int64_t left = u->deadline - now_ms();
        *state = JOB_TIMEOUT;
        if (u->deadline != 0 && left <= 0)
            return error_set(err, CUZK_ERR_CANCELLED, NULL, CUZK_NO_OFFSET,
                             "the deadline passed before the job was resumed");
        job_request r;
        *state = JOB_FAILED;
        cuzk_code code = job_input_read(&r, path, u->digest, err);
        if (code == CUZK_ERR_RESOURCES) *state = JOB_QUEUED;
        if (code != CUZK_OK) return code;
        r.id = u->id;
        r.priority = (job_priority)u->priority;
        r.deadline = u->deadline == 0 ? 0 : (double)left / 1000;
        engine_receipt receipt;
        bool can_retry = false;
        code = engine_submit(e, &r, ENGINE_RESTORED, &receipt, &can_retry, err);
        if (code == CUZK_OK || code == CUZK_ERR_CANCELLED) *state = JOB_QUEUED;
        if (code == CUZK_OK || !can_retry) return code;
        usleep(pause);
    }
}

/* A job that cannot run any more: record why, and tell who asks. */
static cuzk_code give_up(journal *j, engine *e, const unfinished *u, job_state state, const cuzk_error *why,
                         cuzk_error *err) {
    log_error("a recorded job cannot be resumed", LOG_JOB(u->id),
              LOG_TEXT("path", *why->path ? why->path : NULL), LOG_TEXT("error", why->message));
    store_finish(j, u->id, state, NULL, 0, why);
    return engine_restore_result(e, u->id, u->kind, u->digest, state, NULL, 0, why, err);
}

cuzk_code journal_resume(journal_resumed *out, journal *j, engine *e, cuzk_error *err) {
    journal_resumed counts = {.jobs = 0};
    unfinished u = {.seq = 0};
    bool found;
    if (out) *out = counts;
    TRY(restore_results(j, e, &counts.results, err));
    cuzk_code code;
    while ((code = next_unfinished(&u, &found, j, err)) == CUZK_OK && found) {
        cuzk_error why;
        job_state state;
        code = submit(&state, j, e, &u, &why);
        if (code == CUZK_OK) {
            counts.jobs++;
            continue;
        }
        if (state == JOB_QUEUED) {
            if (err) *err = why;
            break;
        }
        code = give_up(j, e, &u, state, &why, err);
        if (code != CUZK_OK) break;
        counts.failed++;
    }
    if (out) *out = counts;
    return code;
}
