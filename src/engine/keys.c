/*
 * A list of entries, one per circuit ever asked for; a circuit has few bytes and the catalogue is small, so
 * entries are never removed, only their keys. Opening and closing happen outside the mutex with the entry
 * marked `busy`; others who want the entry wait for that. Preloading takes long, so meanwhile the key can be
 * used, but not closed (`preloading`).
 */
#include "engine/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "engine/key.h"

#define PRELOAD_CHUNK ((uint64_t)64 << 20)

typedef struct entry {
    const catalog_entry *circuit; /* NULL: free */
    proving_key *key;             /* NULL: COLD */
    bool busy;                    /* being opened, unlocked or closed by somebody */
    bool preloading, hot;
    uint32_t users;
    double last_used;
    uint64_t locked_bytes;
} entry;

struct keys {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* an entry is no longer busy, or preloading */
    char *directory;        /* NULL: the default */
    bool lock;
    uint64_t evictions;
    entry entries[KEYS_MAX];
};

cuzk_code keys_create(keys **out, const char *directory, bool lock, cuzk_error *err) {
    keys *k = calloc(1, sizeof *k);
    *out = NULL;
    if (!k) return error_no_memory(err, sizeof *k, "the keys");
    if (directory && !(k->directory = strdup(directory))) {
        free(k);
        return error_no_memory(err, strlen(directory), "a path");
    }
    k->lock = lock;
    pthread_mutex_init(&k->mutex, NULL);
    pthread_cond_init(&k->changed, NULL);
    *out = k;
    return CUZK_OK;
}

void keys_destroy(keys *k) {
    if (!k) return;
    for (size_t i = 0; i < KEYS_MAX; i++) key_close(k->entries[i].key);
    pthread_mutex_destroy(&k->mutex);
    pthread_cond_destroy(&k->changed);
    free(k->directory);
    free(k);
}

/* The entry of a circuit, taken for the caller alone (busy). The mutex is held. NULL: unknown circuit. */
static entry *take(keys *k, const char *circuit) {
    const catalog_entry *wanted = catalog_find(circuit);
    if (!wanted) return NULL;
    entry *e = k->entries;
    while (e->circuit && e->circuit != wanted) e++;
    e->circuit = wanted;
    while (e->busy) pthread_cond_wait(&k->changed, &k->mutex);
    e->busy = true;
    return e;
}

/* Must the key stay open? */
static bool in_use(const entry *e) {
    return e->users > 0 || e->preloading;
}

static void give_back(keys *k, entry *e) {
    e->busy = false;
    pthread_cond_broadcast(&k->changed);
}

static cuzk_code unknown(const char *circuit, cuzk_error *err) {
    return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "unknown circuit ID: %.64s", circuit);
}

/* Was the file replaced or changed since it was opened? Then what was checked is not what is there. */
static bool is_current(const proving_key *key) {
    struct stat now, then;
    if (fstat(key->srs.file.fd, &then) != 0 || stat(key->srs.file.path, &now) != 0) return false;
    return now.st_ino == then.st_ino && now.st_dev == then.st_dev && now.st_size == then.st_size &&
           (uint64_t)now.st_size == key->srs.file.size && now.st_mtim.tv_sec == key->modified.tv_sec &&
           now.st_mtim.tv_nsec == key->modified.tv_nsec;
}

/* Close the key of an entry the caller has taken. The mutex is held, and let go meanwhile. */
static void close_taken(keys *k, entry *e) {
    proving_key *key = e->key;
    e->key = NULL;
    e->hot = false;
    uint64_t locked = e->locked_bytes;
    e->locked_bytes = 0;
    pthread_mutex_unlock(&k->mutex);
    if (locked > 0) munlock(key->srs.file.data, key->srs.file.size);
    key_close(key);
    pthread_mutex_lock(&k->mutex);
}

/* Open the key of an entry the caller has taken, unless it is open and current. */
static cuzk_code open_taken(keys *k, entry *e, cuzk_error *err) {
    if (e->key && !in_use(e) && !is_current(e->key)) close_taken(k, e);
    if (e->key) return CUZK_OK;
    pthread_mutex_unlock(&k->mutex);
    proving_key *key;
    cuzk_code code = key_open(&key, e->circuit->id, k->directory, true, err);
    pthread_mutex_lock(&k->mutex);
    e->key = key;
    e->last_used = clock_seconds();
    return code;
}

cuzk_code keys_acquire(proving_key **out, keys *k, const char *circuit, double *load_seconds,
                       cuzk_error *err) {
    double start = clock_seconds();
    *out = NULL;
    pthread_mutex_lock(&k->mutex);
    entry *e = take(k, circuit);
    cuzk_code code = e ? open_taken(k, e, err) : unknown(circuit, err);
    if (code == CUZK_OK) {
        e->users++;
        *out = e->key;
    }
    if (e) give_back(k, e);
    pthread_mutex_unlock(&k->mutex);
    if (load_seconds) *load_seconds = clock_seconds() - start;
    return code;
}

void keys_release(keys *k, proving_key *used) {
    pthread_mutex_lock(&k->mutex);
    for (entry *e = k->entries; e < k->entries + KEYS_MAX; e++)
        if (e->key == used) {
            e->users--;
            e->last_used = clock_seconds();
        }
    pthread_mutex_unlock(&k->mutex);
}

/* --- HOT -------------------------------------------------------------------------------------------------
 */

/* Bring the whole file into memory. */
static cuzk_code fault_in(const file_map *file, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    for (uint64_t at = 0; at < file->size; at += PRELOAD_CHUNK) {
        TRY(progress_report(progress, "preload", at, file->size, err));
        if (p) pool_yield(p);
        uint64_t n = file->size - at < PRELOAD_CHUNK ? file->size - at : PRELOAD_CHUNK;
        uint8_t *from = (uint8_t *)(uintptr_t)file->data + at;
        /* Older kernels cannot: the pages then come in as they are used. */
        if (madvise(from, n, MADV_POPULATE_READ) != 0 && errno != EINVAL)
            return error_errno(err, CUZK_ERR_PARAMS, file->path, errno, "reading it into memory");
        TRY(file_map_check(file, err));
    }
    return progress_report(progress, "preload", file->size, file->size, err);
}

/* The circuit's structure, made from a blank circuit where this build has it. */
static cuzk_code make_matrices(proving_key *key, const cuzk_progress *progress, cuzk_error *err) {
    if (key->circuit->kind != PROOF_POREP) return CUZK_OK;
    porep_circuit blank;
    r1cs_circuit circuit;
    r1cs_parts parts;
    porep_shape shape = porep_shape_of(sector_by_bytes(key->circuit->sector_bytes));
    porep_blank(&blank, &circuit, &shape);
    porep_parts(&parts, &blank);
    const matrices *made;
    return key_matrices(&made, key, &circuit, &parts, progress, err);
}

static uint64_t lock_file(const keys *k, const file_map *file) {
    if (!k->lock || file->size > mem_budget() - (mem_in_use() < mem_budget() ? mem_in_use() : mem_budget()))
        return 0;
    return mlock(file->data, file->size) == 0 ? file->size : 0;
}

cuzk_code keys_preload(keys *k, const char *circuit, bool *already, pool *p, const cuzk_progress *progress,
                       cuzk_error *err) {
    *already = false;
    pthread_mutex_lock(&k->mutex);
    entry *e = take(k, circuit);
    while (e && e->preloading) { /* by another; it may fail */
        give_back(k, e);
        pthread_cond_wait(&k->changed, &k->mutex);
        e = take(k, circuit);
    }
    cuzk_code code = e ? open_taken(k, e, err) : unknown(circuit, err);
    *already = code == CUZK_OK && e->hot;
    if (code == CUZK_OK && !e->hot) {
        proving_key *key = e->key;
        e->preloading = true;
        give_back(k, e);
        pthread_mutex_unlock(&k->mutex);
        code = fault_in(&key->srs.file, p, progress, err);
        if (code == CUZK_OK) code = make_matrices(key, progress, err);
        uint64_t locked = code == CUZK_OK ? lock_file(k, &key->srs.file) : 0;
        pthread_mutex_lock(&k->mutex);
        e->preloading = false;
        e->hot = code == CUZK_OK;
        e->locked_bytes = locked;
        e->last_used = clock_seconds();
        pthread_cond_broadcast(&k->changed);
    } else if (e) {
        give_back(k, e);
    }
    pthread_mutex_unlock(&k->mutex);
    return code;
}

/* --- eviction --------------------------------------------------------------------------------------------
 */

static uint64_t counted_bytes(const entry *e) {
    return e->key ? e->locked_bytes + e->key->matrices_bytes : 0;
}

cuzk_code keys_evict(keys *k, const char *circuit, bool *was_loaded, uint64_t *freed, cuzk_error *err) {
    *was_loaded = false;
    *freed = 0;
    pthread_mutex_lock(&k->mutex);
    entry *e = take(k, circuit);
    cuzk_code code = e ? CUZK_OK : unknown(circuit, err);
    if (e && e->key && in_use(e)) {
        *was_loaded = true;
        if (e->users > 0)
            code = error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "%s is in use by %u jobs",
                             circuit, e->users);
        else
            code = error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "%s is being preloaded", circuit);
    } else if (e && e->key) {
        *was_loaded = true;
        *freed = e->key->srs.file.size + e->key->matrices_bytes;
        close_taken(k, e);
        k->evictions++;
    }
    if (e) give_back(k, e);
    pthread_mutex_unlock(&k->mutex);
    return code;
}

uint64_t keys_make_room(keys *k, uint64_t bytes, double min_idle) {
    uint64_t freed = 0;
    pthread_mutex_lock(&k->mutex);
    while (freed < bytes) {
        double now = clock_seconds();
        entry *oldest = NULL;
        for (entry *e = k->entries; e < k->entries + KEYS_MAX; e++)
            if (e->key && !e->busy && !in_use(e) && now - e->last_used >= min_idle && counted_bytes(e) > 0 &&
                (!oldest || e->last_used < oldest->last_used))
                oldest = e;
        if (!oldest) break;
        oldest->busy = true;
        freed += counted_bytes(oldest);
        close_taken(k, oldest);
        k->evictions++;
        give_back(k, oldest);
    }
    pthread_mutex_unlock(&k->mutex);
    return freed;
}

uint64_t keys_unlock(keys *k, uint64_t bytes) {
    uint64_t freed = 0;
    pthread_mutex_lock(&k->mutex);
    for (entry *e = k->entries; e < k->entries + KEYS_MAX && freed < bytes; e++) {
        if (e->locked_bytes == 0 || e->busy) continue;
        e->busy = true;
        pthread_mutex_unlock(&k->mutex);
        munlock(e->key->srs.file.data, e->key->srs.file.size);
        pthread_mutex_lock(&k->mutex);
        freed += e->locked_bytes;
        e->locked_bytes = 0;
        give_back(k, e);
    }
    pthread_mutex_unlock(&k->mutex);
    return freed;
}

/* --- views -----------------------------------------------------------------------------------------------
 */

uint64_t keys_counted_bytes(keys *k) {
    uint64_t bytes = 0;
    pthread_mutex_lock(&k->mutex);
    for (entry *e = k->entries; e < k->entries + KEYS_MAX; e++) bytes += counted_bytes(e);
    pthread_mutex_unlock(&k->mutex);
    return bytes;
}

uint64_t keys_evictions(keys *k) {
    pthread_mutex_lock(&k->mutex);
    uint64_t n = k->evictions;
    pthread_mutex_unlock(&k->mutex);
    return n;
}

size_t keys_list(keys *k, key_view *out, size_t n) {
    size_t count = 0;
    double now = clock_seconds();
    pthread_mutex_lock(&k->mutex);
    for (const entry *e = k->entries; e < k->entries + KEYS_MAX; e++) {
        if (!e->key) continue;
        if (count++ >= n) continue;
        key_view *v = &out[count - 1];
        *v = (key_view){.tier = e->hot ? KEY_HOT : KEY_WARM,
                        .bytes = e->key->srs.file.size,
                        .locked_bytes = e->locked_bytes,
                        .matrices_bytes = e->key->matrices_bytes,
                        .users = e->users,
                        .idle = e->users > 0 ? 0 : now - e->last_used};
        memcpy(v->circuit, e->circuit->id, strnlen(e->circuit->id, sizeof v->circuit - 1));
    }
    pthread_mutex_unlock(&k->mutex);
    return count;
}
