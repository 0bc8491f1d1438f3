#include "server/journal_db.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x63757a6bu /* "cuzk" */
#define SCHEMA         1u
#define PATH_SIZE      1024

/* A job is unfinished while `ended` is NULL. Times are milliseconds since 1970. States are those of job.h;
 * 0 while unfinished. */
static const char create_schema[] = "PRAGMA page_size = 4096;"
                                    "PRAGMA synchronous = FULL;"
                                    "BEGIN EXCLUSIVE;"
                                    "CREATE TABLE jobs ("
                                    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
                                    "  id TEXT NOT NULL UNIQUE,"
                                    "  kind INTEGER NOT NULL,"
                                    "  priority INTEGER NOT NULL,"
                                    "  digest BLOB NOT NULL CHECK (length(digest) = 32),"
                                    "  accepted INTEGER NOT NULL,"
                                    "  deadline INTEGER,"
                                    "  state INTEGER NOT NULL DEFAULT 0,"
                                    "  ended INTEGER,"
                                    "  proof BLOB,"
                                    "  proof_sha256 BLOB,"
                                    "  error_code INTEGER,"
                                    "  error_message TEXT,"
                                    "  error_path TEXT,"
                                    "  error_offset INTEGER,"
                                    "  CHECK ((ended IS NULL) = (state = 0))"
                                    ") STRICT;"
                                    "CREATE INDEX jobs_unfinished ON jobs (digest) WHERE ended IS NULL;"
                                    "CREATE INDEX jobs_ended ON jobs (ended, seq) WHERE ended IS NOT NULL;"
                                    "PRAGMA application_id = 1668643435;"
                                    "PRAGMA user_version = 1;"
                                    "COMMIT;";

cuzk_code journal_db_error(sqlite3 *db, const char *doing, cuzk_error *err) {
    int kind = sqlite3_errcode(db) & 0xff;
    bool damaged = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
    const char *path = db ? sqlite3_db_filename(db, "main") : NULL;
    return error_set(err, damaged ? CUZK_ERR_INPUT : CUZK_ERR_RESOURCES, path, CUZK_NO_OFFSET, "%s: %s",
                     doing, sqlite3_errmsg(db));
}

static cuzk_code run(sqlite3 *db, const char *sql, const char *doing, cuzk_error *err) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? CUZK_OK : journal_db_error(db, doing, err);
}

static cuzk_code open_file(sqlite3 **out, const char *path, int flags, cuzk_error *err) {
    *out = NULL;
    if (sqlite3_open_v2(path, out, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) == SQLITE_OK)
        return CUZK_OK;
    cuzk_code code = *out ? journal_db_error(*out, "opening the journal", err)
                          : error_no_memory(err, 0, "the journal's database");
    sqlite3_close(*out);
    *out = NULL;
    return code;
}

/* --- a new one -------------------------------------------------------------------------------------------
 */

static void remove_new(const char *path) {
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    char name[PATH_SIZE + 16];
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

/* Flush a file or folder. */
static cuzk_code flush(const char *path, cuzk_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot open");
    cuzk_code code = fsync(fd) == 0 ? CUZK_OK : error_errno(err, CUZK_ERR_RESOURCES, path, errno, "flushing");
    close(fd);
    return code;
}

static cuzk_code create(const char *directory, const char *path, cuzk_error *err) {
    char fresh[PATH_SIZE + 8];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    remove_new(fresh); /* of a start that was cut off */
    sqlite3 *db;
    cuzk_code code = open_file(&db, fresh, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (code == CUZK_OK) code = run(db, create_schema, "making the journal", err);
    sqlite3_close(db);
    if (code == CUZK_OK) code = flush(fresh, err);
    if (code == CUZK_OK && rename(fresh, path) != 0)
        code = error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot make it");
    if (code != CUZK_OK) {
        remove_new(fresh);
        return code;
    }
    return flush(directory, err);
}

/* --- an existing one -------------------------------------------------------------------------------------
 */

static uint32_t big_endian(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* What the header tells, without SQLite: opening a database may change it. */
static cuzk_code check_header(const char *path, cuzk_error *err) {
    uint8_t header[100];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot open");
    ssize_t n = read(fd, header, sizeof header);
    int saved = errno;
    close(fd);
    if (n < 0) return error_errno(err, CUZK_ERR_RESOURCES, path, saved, "cannot read");
    if (n < (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
        return error_set(err, CUZK_ERR_INPUT, path, 0,
                         "not a journal of jobs: no SQLite database; it is left as it is");
    if (big_endian(header + 68) != APPLICATION_ID)
        return error_set(err, CUZK_ERR_INPUT, path, 68,
                         "not a journal of jobs: a database of application %08" PRIx32
                         ", expected %08x; it is left as it is",
                         big_endian(header + 68), APPLICATION_ID);
    uint32_t schema = big_endian(header + 60);
    if (schema != SCHEMA)
        return error_set(err, CUZK_ERR_INPUT, path, 60,
                         "a journal of version %" PRIu32 ", this build reads %u; it is left as it is", schema,
                         SCHEMA);
    return CUZK_OK;
}

/* The first complaint of SQLite's own examination. */
static int on_complaint(void *ctx, int columns, char **values, char **names) {
    char *out = ctx;
    (void)columns;
    (void)names;
    if (!*out && strcmp(values[0], "ok") != 0) snprintf(out, 256, "%s", values[0]);
    return 0;
}

static cuzk_code check_integrity(sqlite3 *db, const char *path, cuzk_error *err) {
    char complaint[256] = "";
    int rc = sqlite3_exec(db, "PRAGMA integrity_check(1)", on_complaint, complaint, NULL);
    if (rc != SQLITE_OK) return journal_db_error(db, "damaged", err);
    for (char *c = complaint; *c; c++)
        if (*c == '\n') *c = ' ';
    if (*complaint) return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "damaged: %s", complaint);
    return CUZK_OK;
}

/* Nothing is written, not even on closing, before all of it is known to be sound. */
static cuzk_code start(sqlite3 *db, const char *path, cuzk_error *err) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    TRY(run(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON",
            "opening the journal", err));
    TRY(check_integrity(db, path, err));
    TRY(run(db, "PRAGMA journal_mode = WAL", "opening the journal", err));
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return CUZK_OK;
}

cuzk_code journal_db_open(sqlite3 **out, const char *directory, cuzk_error *err) {
    char path[PATH_SIZE];
    struct stat status;
    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/jobs.db", directory) >= sizeof path)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "a path of more than %d bytes",
                         PATH_SIZE);
    if (lstat(path, &status) != 0) {
        if (errno != ENOENT) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot look at it");
        TRY(create(directory, path, err));
    }
    TRY(check_header(path, err));
    TRY(open_file(out, path, SQLITE_OPEN_READWRITE, err));
    cuzk_code code = start(*out, path, err);
    if (code != CUZK_OK) {
        sqlite3_close(*out);
        *out = NULL;
    }
    return code;
}
