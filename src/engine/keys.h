/*
 * Resident keys: parameters (mapped), verifying keys and matrices of the circuits in use.
 *
 * Tiers are those of the reference: HOT is mapped, faulted in and locked if the system allows; WARM is
 * mapped; COLD is not there. A key is opened by the first job that needs it and stays, until it is evicted by
 * name or, when memory is needed, has been idle long enough; the least recently used goes first. A key in use
 * is never evicted. A key that was checked (layout, verifying key, a sample of points) is not checked again
 * while its file's inode, size and modification time stay the same.
 */
#ifndef CUZK_ENGINE_KEYS_H
#define CUZK_ENGINE_KEYS_H

#include "base/pool.h"

typedef struct proving_key proving_key; /* key.h */

typedef enum key_tier { KEY_HOT = 0, KEY_WARM = 1, KEY_COLD = 2 } key_tier;

typedef struct key_view {
    char circuit[32];
    key_tier tier;
    uint64_t bytes;          /* of the parameter file */
    uint64_t locked_bytes;   /* counted against the budget */
    uint64_t matrices_bytes; /* counted against the budget; 0: not made yet */
    uint32_t users;
    double idle; /* seconds since the last use; 0 while in use */
} key_view;

#define KEYS_MAX 64u /* more than there are circuits */

typedef struct keys keys;

/* directory as in key_open. Paths are copied. */
cuzk_code keys_create(keys **out, const char *directory, bool lock, cuzk_error *err);
/* No key may be in use. */
void keys_destroy(keys *k);

/* The key of a circuit, opened if it is not: in use until keys_release. *load_seconds (may be NULL): time
 * spent opening. CUZK_ERR_PARAMS as key_open. Several callers may ask at once: one opens, the others wait. */
cuzk_code keys_acquire(proving_key **out, keys *k, const char *circuit, double *load_seconds,
                       cuzk_error *err);
void keys_release(keys *k, proving_key *used);

/* Make a key HOT. Progress phase "preload", in bytes. Jobs may use the key meanwhile. */
cuzk_code keys_preload(keys *k, const char *circuit, bool *already, pool *p, const cuzk_progress *progress,
                       cuzk_error *err);
/* CUZK_ERR_RESOURCES while it is in use or being preloaded. *freed: bytes of the file and of what was
 * counted. */
cuzk_code keys_evict(keys *k, const char *circuit, bool *was_loaded, uint64_t *freed, cuzk_error *err);
/* Evict idle keys (idle for at least min_idle seconds), least recently used first, until `bytes` are freed of
 * the budget. Returns what was. */
uint64_t keys_make_room(keys *k, uint64_t bytes, double min_idle);

/* Unlock keys, in use or not, until `bytes` are freed of the budget: their pages become those of any mapped
 * file. Returns what was. */
uint64_t keys_unlock(keys *k, uint64_t bytes);

/* Bytes counted against the budget (locked files, matrices). */
uint64_t keys_counted_bytes(keys *k);
uint64_t keys_evictions(keys *k);
/* At most n views; returns how many there are. */
size_t keys_list(keys *k, key_view *out, size_t n);

#endif
