#include "server/job_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define VERSION 1u
#define HEADER  136u
#define FIELDS  5u /* bytes fields of which there is one each */

static const char magic[8] = {'c', 'u', 'z', 'k', 'j', 'o', 'b', '\n'};

/* Offsets in the header. */
enum {
    AT_VERSION = 8,
    AT_KIND = 12,
    AT_DIGEST = 16,
    AT_NUMBERS = 48, /* sector size, registered proof, sector number, miner id, partition index, proofs */
    AT_SIZES = 96    /* of the bytes fields */
};

static void put_number(uint8_t *out, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) out[i] = (uint8_t)(value >> (8 * i));
}
static uint64_t get_number(const uint8_t *in, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)in[i] << (8 * i);
    return value;
}

/* The bytes fields in the order of their sizes. The first lies before the vanilla proofs, the others behind.
 */
static void list_fields(const job_bytes *out[FIELDS], const job_request *r) {
    out[0] = &r->vanilla_proof;
    out[1] = &r->randomness;
    out[2] = &r->comm_r_old;
    out[3] = &r->comm_r_new;
    out[4] = &r->comm_d_new;
}

uint64_t job_input_size(const job_request *r) {
    const job_bytes *fields[FIELDS];
    uint64_t size = HEADER + 8 * (uint64_t)r->n_vanilla_proofs;
    list_fields(fields, r);
    for (unsigned i = 0; i < FIELDS; i++) size += fields[i]->size;
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) size += r->vanilla_proofs[i].size;
    return size;
}

static void fill_header(uint8_t out[HEADER], const uint8_t digest[32], const job_request *r) {
    const uint64_t numbers[] = {r->sector_size, r->registered_proof, r->sector_number,
                                r->miner_id,    r->partition_index,  r->n_vanilla_proofs};
    const job_bytes *fields[FIELDS];
    memcpy(out, magic, sizeof magic);
    put_number(out + AT_VERSION, VERSION, 4);
    put_number(out + AT_KIND, (uint64_t)r->kind, 4);
    memcpy(out + AT_DIGEST, digest, 32);
    for (unsigned i = 0; i < 6; i++) put_number(out + AT_NUMBERS + 8 * i, numbers[i], 8);
    list_fields(fields, r);
    for (unsigned i = 0; i < FIELDS; i++) put_number(out + AT_SIZES + 8 * i, fields[i]->size, 8);
}

static cuzk_code write_fields(file_writer *w, const uint8_t digest[32], const job_request *r,
                              cuzk_error *err) {
    uint8_t header[HEADER], size[8];
    const job_bytes *fields[FIELDS];
    fill_header(header, digest, r);
    list_fields(fields, r);
    TRY(file_write(w, header, sizeof header, err));
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) {
        put_number(size, r->vanilla_proofs[i].size, 8);
        TRY(file_write(w, size, sizeof size, err));
    }
    TRY(file_write(w, fields[0]->data, fields[0]->size, err));
    for (size_t i = 0; i < r->n_vanilla_proofs; i++)
        TRY(file_write(w, r->vanilla_proofs[i].data, r->vanilla_proofs[i].size, err));
    for (unsigned i = 1; i < FIELDS; i++) TRY(file_write(w, fields[i]->data, fields[i]->size, err));
    return CUZK_OK;
}

cuzk_code job_input_write(const char *path, const uint8_t digest[32], const job_request *r, cuzk_error *err) {
    file_writer w;
    TRY(file_write_begin(&w, path, job_input_size(r), err));
    cuzk_code code = write_fields(&w, digest, r, err);
    if (code == CUZK_OK) return file_write_commit(&w, err);
    file_write_abort(&w);
    return code;
}

/* --- reading ---------------------------------------------------------------------------------------------
 */

typedef struct input {
    uint8_t *bytes;
    uint64_t size;
    job_bytes *proofs;
} input;

static void release(void *owner) {
    input *in = owner;
    free(in->bytes);
    free(in->proofs);
    free(in);
}

static cuzk_code read_all(input *in, int fd, const char *path, cuzk_error *err) {
    struct stat status;
    if (fstat(fd, &status) != 0) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot read its size");
    if (!S_ISREG(status.st_mode))
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET, "not a regular file");
    in->size = (uint64_t)status.st_size;
    if (in->size < HEADER)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "damaged: %" PRIu64 " bytes, a job's input has at least %u", in->size, HEADER);
    if (!(in->bytes = malloc(in->size))) return error_no_memory(err, in->size, "a job's input");
    for (uint64_t at = 0; at < in->size;) {
        ssize_t n = read(fd, in->bytes + at, in->size - at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_errno(err, CUZK_ERR_INPUT, path, errno, "reading at offset %" PRIu64, at);
        if (n == 0) return error_set(err, CUZK_ERR_INPUT, path, at, "damaged: it ends here");
        at += (uint64_t)n;
    }
    return CUZK_OK;
}

/* The next `size` bytes. They are there: the sizes have been summed up before. */
static job_bytes take(const uint8_t **at, uint64_t size) {
    job_bytes out = {size ? *at : NULL, (size_t)size};
    *at += size;
    return out;
}

/* Do header, sizes and their sum agree with the file's size? */
static bool sizes_fit(const input *in) {
    uint64_t left = in->size - HEADER, proofs = get_number(in->bytes + AT_NUMBERS + 40, 8);
    if (proofs > left / 8) return false;
    left -= 8 * proofs;
    for (uint64_t i = 0; i < FIELDS + proofs; i++) {
        const uint8_t *at = i < FIELDS ? in->bytes + AT_SIZES + 8 * i : in->bytes + HEADER + 8 * (i - FIELDS);
        uint64_t size = get_number(at, 8);
        if (size > left) return false;
        left -= size;
    }
    return left == 0;
}

static cuzk_code decode(job_request *out, input *in, const char *path, const uint8_t digest[32],
                        cuzk_error *err) {
    const uint8_t *h = in->bytes, *numbers = h + AT_NUMBERS;
    if (memcmp(h, magic, sizeof magic) != 0)
        return error_set(err, CUZK_ERR_INPUT, path, 0, "not a job's input");
    uint32_t version = (uint32_t)get_number(h + AT_VERSION, 4);
    if (version != VERSION)
        return error_set(err, CUZK_ERR_INPUT, path, AT_VERSION, "version %" PRIu32 ", this build reads %u",
                         version, VERSION);
    if (!sizes_fit(in))
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "damaged: %" PRIu64 " bytes are not what its header tells", in->size);
    size_t n = (size_t)get_number(numbers + 40, 8);
    if (n > 0 && !(in->proofs = malloc(n * sizeof *in->proofs)))
        return error_no_memory(err, n * sizeof *in->proofs, "a job's input");
    *out = (job_request){.kind = (job_kind)get_number(h + AT_KIND, 4),
                         .sector_size = get_number(numbers, 8),
                         .registered_proof = get_number(numbers + 8, 8),
                         .sector_number = get_number(numbers + 16, 8),
                         .miner_id = get_number(numbers + 24, 8),
                         .partition_index = (uint32_t)get_number(numbers + 32, 8),
                         .vanilla_proofs = in->proofs,
                         .n_vanilla_proofs = n};
    const uint8_t *sizes = h + AT_SIZES, *at = h + HEADER + 8 * n;
    out->vanilla_proof = take(&at, get_number(sizes, 8));
    for (size_t i = 0; i < n; i++) in->proofs[i] = take(&at, get_number(h + HEADER + 8 * i, 8));
    job_bytes *rest[] = {&out->randomness, &out->comm_r_old, &out->comm_r_new, &out->comm_d_new};
    for (unsigned i = 0; i < 4; i++) *rest[i] = take(&at, get_number(sizes + 8 * (i + 1), 8));
    uint8_t found[32];
    job_request_digest(found, out);
    if (memcmp(found, digest, 32) != 0 || memcmp(h + AT_DIGEST, digest, 32) != 0 ||
        get_number(numbers + 32, 8) > UINT32_MAX)
        return error_set(err, CUZK_ERR_INPUT, path, CUZK_NO_OFFSET,
                         "damaged: its content does not have the digest in its name");
    return CUZK_OK;
}

cuzk_code job_input_read(job_request *out, const char *path, const uint8_t digest[32], cuzk_error *err) {
    *out = (job_request){.kind = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return error_errno(err, CUZK_ERR_INPUT, path, errno, "cannot open a recorded job's input");
    input *in = calloc(1, sizeof *in);
    cuzk_code code = in ? read_all(in, fd, path, err) : error_no_memory(err, sizeof *in, "a job's input");
    close(fd);
    if (code == CUZK_OK) code = decode(out, in, path, digest, err);
    if (code != CUZK_OK) {
        if (in) release(in);
        *out = (job_request){.kind = 0};
        return code;
    }
    out->owner = in;
    out->release = release;
    return CUZK_OK;
}
