/*
 * Parameter files of any bytes: what opens has exactly the size its shape says, opens again with that shape
 * given and not with another, and its points can be checked.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "groth16/srs.h"

/* The bytes as a file without a directory entry; its path is written to `path`. */
static int make_file(char path[64], const uint8_t *data, size_t size) {
    int fd = memfd_create("params", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_opened(srs *s, const char *path, size_t size) {
    cuzk_error err;
    srs again;
    srs_shape shape = s->shape;
    FUZZ_CHECK(srs_bytes(&shape) == size);
    FUZZ_CHECK(s->h.n + 1 == (size_t)1 << shape.log_domain && s->l.n == shape.aux && s->a.n == shape.a);
    FUZZ_CHECK(s->b_g1.n == shape.b && s->b_g2.n == shape.b && s->vk.ic_count == shape.inputs);
    FUZZ_CHECK((const uint8_t *)s->b_g2.points + shape.b * G2_UNCOMPRESSED == s->file.data + size);

    cuzk_code code = srs_validate(s, false, NULL, NULL, &err);
    FUZZ_CHECK(code == CUZK_OK || (code == CUZK_ERR_PARAMS && err.offset < size));
    FUZZ_CHECK(srs_open(&again, path, &shape, NULL, NULL) == CUZK_OK);
    FUZZ_CHECK(vk_eq(&s->vk, &again.vk));
    srs_close(&again);
    shape.b++;
    FUZZ_CHECK(srs_open(&again, path, &shape, NULL, NULL) == CUZK_ERR_PARAMS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = make_file(path, data, size);
    srs s;
    cuzk_error err = {.code = CUZK_OK};
    cuzk_code code = srs_open(&s, path, NULL, NULL, &err);
    if (code == CUZK_OK) {
        check_opened(&s, path, size);
        srs_close(&s);
    } else {
        FUZZ_CHECK(code == CUZK_ERR_PARAMS && err.code == code && err.message[0]);
        FUZZ_CHECK(strcmp(err.path, path) == 0);
        FUZZ_CHECK(err.offset == CUZK_NO_OFFSET || err.offset <= size);
        FUZZ_CHECK(!s.file.data && !s.vk.ic && !s.verifier);
    }
    FUZZ_CHECK(mem_in_use() == 0);
    close(fd);
    return 0;
}
