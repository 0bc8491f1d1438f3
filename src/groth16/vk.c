#include "groth16/vk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Offsets of the fixed part. */
enum {
    ALPHA_G1 = 0,
    BETA_G1 = 96,
    BETA_G2 = 192,
    GAMMA_G2 = 384,
    DELTA_G1 = 576,
    DELTA_G2 = 672,
    COUNT = 864
};

static cuzk_code point_error(cuzk_error *err, const char *path, uint64_t offset, const char *name,
                             point_status status) {
    return error_set(err, CUZK_ERR_PARAMS, path, offset, "verifying key: %s: %s", name,
                     status == POINT_OK ? "the identity" : point_status_text(status));
}

static cuzk_code decode_g1(g1_affine *out, const uint8_t *bytes, uint64_t offset, const char *name,
                           const char *path, cuzk_error *err) {
    point_status status = g1_decode(out, bytes + offset);
    if (status == POINT_OK && !g1_affine_is_identity(out)) return CUZK_OK;
    return point_error(err, path, offset, name, status);
}

static cuzk_code decode_g2(g2_affine *out, const uint8_t *bytes, uint64_t offset, const char *name,
                           const char *path, cuzk_error *err) {
    point_status status = g2_decode(out, bytes + offset);
    if (status == POINT_OK && !g2_affine_is_identity(out)) return CUZK_OK;
    return point_error(err, path, offset, name, status);
}

typedef struct decode_ic_job {
    const uint8_t *bytes; /* of the first ic point */
    g1_affine *ic;
    uint8_t *status; /* per point: a point_status, or IS_IDENTITY */
} decode_ic_job;

#define IS_IDENTITY 255u

static void decode_ic(void *ctx, size_t begin, size_t end) {
    const decode_ic_job *job = ctx;
    for (size_t i = begin; i < end; i++) {
        job->status[i] = (uint8_t)g1_decode(&job->ic[i], job->bytes + i * G1_UNCOMPRESSED);
        if (job->status[i] == POINT_OK && g1_affine_is_identity(&job->ic[i])) job->status[i] = IS_IDENTITY;
    }
}

static uint32_t read_u32_be(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static cuzk_code decode_fixed(verifying_key *k, const uint8_t *bytes, const char *path, cuzk_error *err) {
    TRY(decode_g1(&k->alpha_g1, bytes, ALPHA_G1, "alpha_g1", path, err));
    TRY(decode_g1(&k->beta_g1, bytes, BETA_G1, "beta_g1", path, err));
    TRY(decode_g2(&k->beta_g2, bytes, BETA_G2, "beta_g2", path, err));
    TRY(decode_g2(&k->gamma_g2, bytes, GAMMA_G2, "gamma_g2", path, err));
    TRY(decode_g1(&k->delta_g1, bytes, DELTA_G1, "delta_g1", path, err));
    TRY(decode_g2(&k->delta_g2, bytes, DELTA_G2, "delta_g2", path, err));
    return CUZK_OK;
}

cuzk_code vk_decode(verifying_key *out, const uint8_t *bytes, uint64_t size, const char *path, pool *p,
                    cuzk_error *err) {
    *out = (verifying_key){.ic = NULL};
    if (size < VK_FIXED_BYTES)
        return error_set(err, CUZK_ERR_PARAMS, path, CUZK_NO_OFFSET,
                         "%" PRIu64 " bytes, a verifying key has at least %" PRIu64, size, vk_bytes(1));
    uint32_t count = read_u32_be(bytes + COUNT);
    if (count == 0)
        return error_set(err, CUZK_ERR_PARAMS, path, COUNT,
                         "verifying key: no ic points, expected at least 1");
    if (vk_bytes(count) > size)
        return error_set(err, CUZK_ERR_PARAMS, path, COUNT,
                         "verifying key: %" PRIu32 " ic points end at byte %" PRIu64 ", the file has %" PRIu64
                         " bytes",
                         count, vk_bytes(count), size);
    TRY(decode_fixed(out, bytes, path, err));

    decode_ic_job job = {
        .bytes = bytes + VK_FIXED_BYTES, .ic = malloc(count * sizeof(g1_affine)), .status = malloc(count)};
    cuzk_code code = CUZK_OK;
    if (job.ic && job.status) {
        pool_for(p, count, 64, decode_ic, &job);
        code = pool_check(p, err);
        for (uint32_t i = 0; i < count && code == CUZK_OK; i++) {
            if (job.status[i] == POINT_OK) continue;
            code = error_set(err, CUZK_ERR_PARAMS, path, vk_bytes(i),
                             "verifying key: ic point %" PRIu32 ": %s", i,
                             job.status[i] == IS_IDENTITY ? "the identity"
                                                          : point_status_text((point_status)job.status[i]));
        }
    } else {
        code = error_no_memory(err, count * (sizeof(g1_affine) + 1), "the ic points");
    }
    free(job.status);
    if (code != CUZK_OK) {
        free(job.ic);
        return code;
    }
    out->ic = job.ic;
    out->ic_count = count;
    return CUZK_OK;
}

void vk_encode(uint8_t *out, const verifying_key *k) {
    g1_encode(out + ALPHA_G1, &k->alpha_g1);
    g1_encode(out + BETA_G1, &k->beta_g1);
    g2_encode(out + BETA_G2, &k->beta_g2);
    g2_encode(out + GAMMA_G2, &k->gamma_g2);
    g1_encode(out + DELTA_G1, &k->delta_g1);
    g2_encode(out + DELTA_G2, &k->delta_g2);
    for (unsigned i = 0; i < 4; i++) out[COUNT + i] = (uint8_t)(k->ic_count >> (24 - 8 * i));
    for (uint32_t i = 0; i < k->ic_count; i++) g1_encode(out + vk_bytes(i), &k->ic[i]);
}

void vk_free(verifying_key *k) {
    free(k->ic);
    *k = (verifying_key){.ic = NULL};
}

cuzk_code vk_read(verifying_key *out, const char *path, pool *p, cuzk_error *err) {
    *out = (verifying_key){.ic = NULL};
    file_map file;
    TRY(file_map_open(&file, path, CUZK_ERR_PARAMS, err));
    cuzk_code code = vk_decode(out, file.data, file.size, path, p, err);
    if (code == CUZK_OK && file.size != vk_bytes(out->ic_count)) {
        code =
            error_set(err, CUZK_ERR_PARAMS, path, vk_bytes(out->ic_count),
                      "%" PRIu64 " bytes, expected %" PRIu64 ": a verifying key with %" PRIu32 " ic points",
                      file.size, vk_bytes(out->ic_count), out->ic_count);
    }
    code = file_map_outcome(&file, code, err);
    if (code != CUZK_OK) vk_free(out);
    file_map_close(&file);
    return code;
}

cuzk_code vk_write(const char *path, const verifying_key *k, cuzk_error *err) {
    size_t size = vk_bytes(k->ic_count);
    uint8_t *bytes = malloc(size);
    if (!bytes) return error_no_memory(err, size, "the verifying key");
    vk_encode(bytes, k);
    cuzk_code code = file_write_all(path, bytes, size, err);
    free(bytes);
    return code;
}

bool vk_eq(const verifying_key *a, const verifying_key *b) {
    if (!g1_affine_eq(&a->alpha_g1, &b->alpha_g1) || !g1_affine_eq(&a->beta_g1, &b->beta_g1) ||
        !g1_affine_eq(&a->delta_g1, &b->delta_g1) || !g2_affine_eq(&a->beta_g2, &b->beta_g2) ||
        !g2_affine_eq(&a->gamma_g2, &b->gamma_g2) || !g2_affine_eq(&a->delta_g2, &b->delta_g2) ||
        a->ic_count != b->ic_count)
        return false;
    for (uint32_t i = 0; i < a->ic_count; i++)
        if (!g1_affine_eq(&a->ic[i], &b->ic[i])) return false;
    return true;
}
