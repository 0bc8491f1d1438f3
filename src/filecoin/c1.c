/* A file is read into memory, not mapped: a map of a file that shrinks meanwhile would end the process. */
#include "filecoin/c1.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "filecoin/c1_reader.h"
#include "filecoin/c1_store.h"

/* The largest C1, non-interactive 64 GiB in the wrapper form, is some 900 MB. */
#define MAX_FILE_BYTES ((uint64_t)2 << 30)

cuzk_code c1_parse(c1 **out, const void *text, size_t size, const char *name, cuzk_error *err) {
    *out = NULL;
    if (size == 0) return error_set(err, CUZK_ERR_INPUT, name, 0, "empty, expected JSON");
    c1 *c;
    TRY(c1_create(&c, err));
    cuzk_code code = c1_read_text(c, text, size, name, err);
    if (code == CUZK_OK)
        *out = c;
    else
        c1_free(c);
    return code;
}

static cuzk_code read_all(char *buffer, uint64_t size, int fd, const char *path, cuzk_error *err) {
    uint64_t have = 0;
    while (have < size) {
        ssize_t n = read(fd, buffer + have, size - have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot read");
        if (n == 0)
            return error_set(err, CUZK_ERR_INPUT, path, have,
                             "the file ends here, expected %" PRIu64 " bytes: it was cut while being read",
                             size);
        have += (uint64_t)n;
    }
    return CUZK_OK;
}

static cuzk_code read_file(c1 **out, int fd, const char *path, cuzk_error *err) {
    struct stat status;
    if (fstat(fd, &status) != 0) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot read");
    if (!S_ISREG(status.st_mode))
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "found %s, expected a file of JSON",
                         S_ISDIR(status.st_mode) ? "a directory" : "a special file");
    uint64_t size = (uint64_t)status.st_size;
    if (size > MAX_FILE_BYTES)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "found %" PRIu64 " bytes, expected at most %" PRIu64, size, MAX_FILE_BYTES);
    void *buffer;
    TRY(mem_big_alloc(&buffer, size, "a C1 file", err));
    cuzk_code code = read_all(buffer, size, fd, path, err);
    if (code == CUZK_OK) code = c1_parse(out, buffer, size, path, err);
    mem_big_free(buffer, size);
    return code;
}

cuzk_code c1_read(c1 **out, const char *path, cuzk_error *err) {
    *out = NULL;
    /* Not to wait for a writer if the path is a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        bool ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return error_errno(err, ours ? CUZK_ERR_RESOURCES : CUZK_ERR_INPUT, path, errno, "cannot open");
    }
    cuzk_code code = read_file(out, fd, path, err);
    close(fd);
    return code;
}
