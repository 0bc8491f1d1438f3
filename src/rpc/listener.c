#include "rpc/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void lock_path(char out[PATH_MAX], const rpc_listener *l) {
    snprintf(out, PATH_MAX, "%s.lock", l->address.path);
}

/* The lock file may be removed by its last holder between our open and our lock: then try again. */
static cuzk_code take_lock(rpc_listener *l, cuzk_error *err) {
    char path[PATH_MAX];
    lock_path(path, l);
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
        if (fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot open the lock file");
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int number = errno;
            close(fd);
            if (number == EWOULDBLOCK) {
                return error_set(err, CUZK_ERR_RESOURCES, l->address.path, CUZK_NO_OFFSET,
                                 "another server holds this socket (its lock file %s is locked)", path);
            }
            return error_errno(err, CUZK_ERR_RESOURCES, path, number, "cannot lock");
        }
        struct stat mine, there;
        if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
            mine.st_ino == there.st_ino) {
            l->lock_fd = fd;
            return CUZK_OK;
        }
        close(fd);
    }
}

/* Remove a socket that nobody listens on. */
static cuzk_code clear_stale(const char *path, const struct sockaddr_storage *address, socklen_t size,
                             cuzk_error *err) {
    struct stat status;
    if (lstat(path, &status) != 0) {
        if (errno == ENOENT) return CUZK_OK;
        return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot look at the socket");
    }
    if (!S_ISSOCK(status.st_mode)) {
        return error_set(err, CUZK_ERR_USAGE, path, CUZK_NO_OFFSET, "there is a file that is no socket");
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot make a socket");
    int result = connect(fd, (const struct sockaddr *)address, size), number = errno;
    close(fd);
    if (result != 0 && number == ENOENT) return CUZK_OK;
    if (result != 0 && number == ECONNREFUSED) {
        if (unlink(path) == 0 || errno == ENOENT) return CUZK_OK;
        return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot remove the old socket");
    }
    if (result == 0 || number == EAGAIN) {
        return error_set(err, CUZK_ERR_RESOURCES, path, CUZK_NO_OFFSET,
                         "another process listens on this socket");
    }
    return error_errno(err, CUZK_ERR_RESOURCES, path, number, "cannot tell if the socket is in use");
}

static cuzk_code open_unix(rpc_listener *l, const struct sockaddr_storage *address, socklen_t size,
                           cuzk_error *err) {
    const char *path = l->address.path;
    TRY(take_lock(l, err));
    TRY(clear_stale(path, address, size, err));
    /* The mode of the socket before bind is, less the umask, that of its file: no moment with another one. */
    if (fchmod(l->fd, 0660) != 0 || bind(l->fd, (const struct sockaddr *)address, size) != 0) {
        return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot bind");
    }
    struct stat status;
    if (stat(path, &status) != 0) return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot bind");
    l->device = status.st_dev;
    l->inode = status.st_ino;
    /* Whatever the umask took away; it can only have been stricter until here. */
    if ((status.st_mode & 0777) != 0660 && chmod(path, 0660) != 0) {
        return error_errno(err, CUZK_ERR_RESOURCES, path, errno, "cannot set the socket's mode");
    }
    snprintf(l->text, sizeof l->text, "unix://%s", path);
    return CUZK_OK;
}

static cuzk_code open_tcp(rpc_listener *l, const char *text, const struct sockaddr_storage *address,
                          socklen_t size, cuzk_error *err) {
    int on = 1;
    struct sockaddr_storage bound;
    socklen_t bound_size = sizeof bound;
    if (setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(l->fd, (const struct sockaddr *)address, size) != 0 ||
        getsockname(l->fd, (struct sockaddr *)&bound, &bound_size) != 0) {
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot bind %s", text);
    }
    address_format(l->text, sizeof l->text, &bound);
    return CUZK_OK;
}

cuzk_code listener_open(rpc_listener *out, const char *address, cuzk_error *err) {
    *out = (rpc_listener){.fd = -1, .lock_fd = -1};
    TRY(address_parse(&out->address, address, err));
    struct sockaddr_storage storage;
    socklen_t size;
    TRY(address_resolve(&out->address, true, &storage, &size, err));
    out->fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot make a socket");
    cuzk_code code = out->address.is_unix ? open_unix(out, &storage, size, err)
                                          : open_tcp(out, address, &storage, size, err);
    if (code == CUZK_OK && listen(out->fd, 1024) != 0) {
        code = error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot listen on %s", address);
    }
    if (code != CUZK_OK) listener_close(out);
    return code;
}

void listener_close(rpc_listener *l) {
    struct stat status;
    if (l->inode && lstat(l->address.path, &status) == 0 && status.st_dev == l->device &&
        status.st_ino == l->inode) {
        unlink(l->address.path);
    }
    l->inode = 0;
    if (l->fd >= 0) close(l->fd);
    if (l->lock_fd >= 0) {
        char path[PATH_MAX];
        lock_path(path, l);
        unlink(path);
        close(l->lock_fd);
    }
    l->fd = l->lock_fd = -1;
}
