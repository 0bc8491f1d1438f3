/*
 * Guards stand in blocks that are never freed, so that the handler can walk them at any time without a lock.
 * A guard is free while its `begin` is 0. The map at a fault stays while the handler runs, so its guard does
 * not change; of any other one the handler may see the begin and the end of two different maps, but as no two
 * maps overlap, a begin read twice the same way decides that.
 */
#include "base/file_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_guard {
    _Atomic uintptr_t begin;
    _Atomic uint64_t size;
    atomic_int fd;
    atomic_bool damaged;
};

typedef struct block {
    file_guard guards[64];
    struct block *_Atomic next;
} block;

static block first_block;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of adding and installing */
static uintptr_t page_size;
static struct sigaction before;

static file_guard *guard_of(uintptr_t address) {
    for (block *b = &first_block; b; b = atomic_load(&b->next))
        for (size_t i = 0; i < sizeof b->guards / sizeof *b->guards; i++) {
            file_guard *g = &b->guards[i];
            uintptr_t begin = atomic_load(&g->begin);
            uint64_t size = atomic_load(&g->size);
            if (begin != 0 && address - begin < size && atomic_load(&g->begin) == begin) return g;
        }
    return NULL;
}

/* Zeros where the file has no pages any more; all of them at once, so that there are few maps. */
static bool mend(file_guard *g, uintptr_t address) {
    uintptr_t begin = atomic_load(&g->begin), page = address / page_size * page_size, end = page + page_size;
    struct stat status;
    if (fstat(atomic_load(&g->fd), &status) == 0) {
        uintptr_t kept = begin + ((uintptr_t)status.st_size + page_size - 1) / page_size * page_size;
        if (kept <= page) {
            page = kept;
            end = begin + (atomic_load(&g->size) + page_size - 1) / page_size * page_size;
        }
    }
    atomic_store(&g->damaged, true);
    return mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    int saved = errno;
    file_guard *g = info->si_code > 0 ? guard_of((uintptr_t)info->si_addr) : NULL;
    if (!g || !mend(g, (uintptr_t)info->si_addr)) {
        if (before.sa_flags & SA_SIGINFO) {
            before.sa_sigaction(number, info, context);
        } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
            before.sa_handler(number);
        } else {
            signal(number, SIG_DFL);
            raise(number); /* when this handler has returned */
        }
    }
    errno = saved;
}

void file_guard_install(void) {
    pthread_mutex_lock(&mutex);
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) == 0 &&
        !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus_error)) {
        page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
        before = now; /* first: the new one may be needed as soon as it is there */
        struct sigaction action = {.sa_sigaction = on_bus_error,
                                   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        sigaction(SIGBUS, &action, NULL);
    }
    pthread_mutex_unlock(&mutex);
}

static file_guard *free_guard(void) {
    for (block *b = &first_block;; b = atomic_load(&b->next)) {
        for (size_t i = 0; i < sizeof b->guards / sizeof *b->guards; i++)
            if (atomic_load(&b->guards[i].begin) == 0) return &b->guards[i];
        if (atomic_load(&b->next)) continue;
        block *more = calloc(1, sizeof *more);
        if (!more) return NULL;
        atomic_store(&b->next, more);
    }
}

file_guard *file_guard_add(const void *data, uint64_t size, int fd) {
    pthread_mutex_lock(&mutex);
    file_guard *g = free_guard();
    if (g) {
        atomic_store(&g->damaged, false);
        atomic_store(&g->fd, fd);
        atomic_store(&g->size, size);
        atomic_store(&g->begin, (uintptr_t)data);
    }
    pthread_mutex_unlock(&mutex);
    return g;
}

void file_guard_remove(file_guard *g) {
    if (g) atomic_store(&g->begin, 0);
}

bool file_guard_damaged(const file_guard *g) {
    return g && atomic_load(&g->damaged);
}
