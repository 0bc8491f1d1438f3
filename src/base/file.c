#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_guard.h"

cuzk_code file_map_open(file_map *out, const char *path, cuzk_code code, cuzk_error *err) {
    *out = (file_map){.fd = -1, .code = code};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block: it is refused below */
    if (fd < 0) return error_errno(err, code, path, errno, "cannot open");
    struct stat status;
    if (fstat(fd, &status) != 0) {
        int saved = errno;
        close(fd);
        return error_errno(err, code, path, saved, "cannot read its size");
    }
    if (!S_ISREG(status.st_mode)) {
        close(fd);
        return error_set(err, code, path, CUZK_NO_OFFSET, "not a regular file");
    }
    out->size = (uint64_t)status.st_size;
    if (out->size > 0) {
        void *map = mmap(NULL, out->size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED) {
            int saved = errno;
            close(fd);
            return error_errno(err, CUZK_ERR_RESOURCES, path, saved, "mapping %" PRIu64 " bytes", out->size);
        }
        out->data = map;
        out->guard = file_guard_add(map, out->size, fd);
    }
    out->path = strdup(path);
    out->fd = fd;
    if (!out->path || (out->data && !out->guard)) {
        file_map_close(out);
        return error_no_memory(err, strlen(path) + 1, "a path");
    }
    return CUZK_OK;
}

cuzk_code file_map_check(const file_map *m, cuzk_error *err) {
    struct stat status;
    if (fstat(m->fd, &status) != 0) return error_errno(err, m->code, m->path, errno, "cannot read its size");
    bool damaged = file_guard_damaged(m->guard);
    if ((uint64_t)status.st_size != m->size)
        return error_set(err, m->code, m->path, CUZK_NO_OFFSET,
                         "%" PRIu64 " bytes now, %" PRIu64 " when it was opened: the file was %s",
                         (uint64_t)status.st_size, m->size,
                         damaged || (uint64_t)status.st_size < m->size ? "truncated while in use"
                                                                       : "changed in place");
    if (damaged)
        return error_set(
            err, m->code, m->path, CUZK_NO_OFFSET,
            "a part of the file could not be read while in use: it was truncated and restored, or "
            "its disk failed");
    return CUZK_OK;
}

cuzk_code file_map_outcome(const file_map *m, cuzk_code code, cuzk_error *err) {
    if (code == CUZK_ERR_CANCELLED) return code;
    TRY(file_map_check(m, err));
    return code;
}

void file_map_close(file_map *m) {
    file_guard_remove(m->guard);
    if (m->data) munmap((void *)(uintptr_t)m->data, m->size);
    if (m->path || m->data) close(m->fd);
    free(m->path);
    *m = (file_map){.fd = -1};
}

/* Is the target something to write into rather than to replace? */
static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static cuzk_code open_error(cuzk_error *err, const char *path, int errnum) {
    bool callers = errnum == ENOENT || errnum == ENOTDIR || errnum == EISDIR || errnum == ENAMETOOLONG;
    return error_errno(err, callers ? CUZK_ERR_USAGE : CUZK_ERR_RESOURCES, path, errnum, "cannot write");
}

static cuzk_code write_error(cuzk_error *err, const file_writer *w, int errnum) {
    struct statvfs fs;
    uint64_t space = fstatvfs(w->fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
    if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG) {
        if (w->expected)
            return error_errno(err, CUZK_ERR_RESOURCES, w->path, errnum,
                               "%" PRIu64 " bytes to write, %" PRIu64 " written, %" PRIu64 " free",
                               w->expected, w->written, space);
        return error_errno(err, CUZK_ERR_RESOURCES, w->path, errnum,
                           "%" PRIu64 " bytes written, %" PRIu64 " free", w->written, space);
    }
    return error_errno(err, CUZK_ERR_RESOURCES, w->path, errnum, "writing after %" PRIu64 " bytes",
                       w->written);
}

/* A new file "path.PID-N.tmp". The name is left in w->temp. */
static cuzk_code open_temporary(file_writer *w, cuzk_error *err) {
    static atomic_uint counter;
    size_t size = strlen(w->path) + 48;
    w->temp = malloc(size);
    if (!w->temp) return error_no_memory(err, size, "a path");
    for (int tries = 0; tries < 100; tries++) {
        snprintf(w->temp, size, "%s.%ld-%u.tmp", w->path, (long)getpid(), atomic_fetch_add(&counter, 1));
        w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd >= 0) return CUZK_OK;
        if (errno != EEXIST) break;
    }
    int saved = errno;
    free(w->temp);
    w->temp = NULL; /* not ours to remove */
    return open_error(err, w->path, saved);
}

cuzk_code file_write_begin(file_writer *out, const char *path, uint64_t expected, cuzk_error *err) {
    *out = (file_writer){.fd = -1};
    struct stat status;
    if (!*path) return open_error(err, path, ENOENT);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return open_error(err, path, EISDIR);
    out->path = strdup(path);
    if (!out->path) return error_no_memory(err, strlen(path) + 1, "a path");
    cuzk_code code = CUZK_OK;
    if (is_special(path)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (out->fd < 0) code = open_error(err, path, errno);
    } else {
        code = open_temporary(out, err);
    }
    if (code == CUZK_OK) code = file_write_expect(out, expected, err);
    if (code != CUZK_OK) file_write_abort(out);
    return code;
}

cuzk_code file_write_expect(file_writer *w, uint64_t expected, cuzk_error *err) {
    w->expected = expected;
    /* Where the file system cannot reserve, the space is found out by writing. */
    if (w->temp && expected && fallocate(w->fd, 0, 0, (off_t)expected) != 0 && errno != EOPNOTSUPP &&
        errno != ENOSYS && errno != EINVAL && errno != EINTR)
        return write_error(err, w, errno);
    return CUZK_OK;
}

cuzk_code file_write(file_writer *w, const void *data, size_t size, cuzk_error *err) {
    const uint8_t *bytes = data;
    while (size > 0) {
        ssize_t done = write(w->fd, bytes, size < (1u << 30) ? size : 1u << 30);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return write_error(err, w, errno);
        bytes += done;
        size -= (size_t)done;
        w->written += (uint64_t)done;
    }
    return CUZK_OK;
}

/* Make the rename itself durable. Some file systems refuse this: then it is as durable as it gets. */
static void sync_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!directory) return;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

cuzk_code file_write_commit(file_writer *w, cuzk_error *err) {
    cuzk_code code = CUZK_OK;
    if (w->temp) {
        if ((w->written < w->expected && ftruncate(w->fd, (off_t)w->written) != 0) || fsync(w->fd) != 0)
            code = write_error(err, w, errno);
        if (code == CUZK_OK && rename(w->temp, w->path) != 0) code = open_error(err, w->path, errno);
        if (code == CUZK_OK) {
            sync_directory(w->path);
            free(w->temp);
            w->temp = NULL;
        }
    }
    file_write_abort(w);
    return code;
}

void file_write_abort(file_writer *w) {
    if (!w->path) return;
    if (w->fd >= 0) close(w->fd);
    if (w->temp) unlink(w->temp);
    free(w->temp);
    free(w->path);
    *w = (file_writer){.fd = -1};
}

cuzk_code file_write_all(const char *path, const void *data, size_t size, cuzk_error *err) {
    file_writer w;
    TRY(file_write_begin(&w, path, size, err));
    cuzk_code code = file_write(&w, data, size, err);
    if (code == CUZK_OK) return file_write_commit(&w, err);
    file_write_abort(&w);
    return code;
}
