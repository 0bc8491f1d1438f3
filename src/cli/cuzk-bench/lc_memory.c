#include "lc_memory.h"

#define FIRST_CHUNK ((size_t)1 << 14)

void lc_memory_free(lc_memory *m) {
    for (size_t k = 0; k < sizeof m->pool / sizeof *m->pool; k++)
        while (m->pool[k]) {
            lc_cell *next = (lc_cell *)(uintptr_t)m->pool[k]->key;
            free(m->pool[k]);
            m->pool[k] = next;
        }
    if (m->chunks) arena_trim(m);
    free(m->chunks);
    m->chunks = NULL;
    m->at = m->end = NULL;
}

bool arena_grow(lc_memory *m, size_t bytes) {
    size_t room = m->chunks ? 2 * m->chunks->bytes : FIRST_CHUNK;
    while (room < bytes) room *= 2;
    lc_chunk *chunk = malloc(sizeof *chunk + room);
    if (!chunk) {
        m->failed = true;
        return false;
    }
    *chunk = (lc_chunk){m->chunks, room};
    m->chunks = chunk;
    m->at = (char *)(chunk + 1);
    m->end = m->at + room;
    return true;
}

void arena_trim(lc_memory *m) {
    for (lc_chunk *old = m->chunks->next; old;) {
        lc_chunk *next = old->next;
        free(old);
        old = next;
    }
    m->chunks->next = NULL;
}
