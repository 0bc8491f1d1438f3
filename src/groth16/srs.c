#include "groth16/srs.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#define MAX_LOG_DOMAIN 30u /* of ntt.h */

enum { SECTIONS = 5 };
static const char *const section_name[SECTIONS] = {"h", "l", "a", "b_g1", "b_g2"};
static const uint32_t point_size[SECTIONS] = {G1_UNCOMPRESSED, G1_UNCOMPRESSED, G1_UNCOMPRESSED,
                                              G1_UNCOMPRESSED, G2_UNCOMPRESSED};

static void section_counts(uint64_t out[SECTIONS], const srs_shape *shape) {
    out[0] = ((uint64_t)1 << shape->log_domain) - 1;
    out[1] = shape->aux;
    out[2] = shape->a;
    out[3] = out[4] = shape->b;
}

static msm_bases *section_of(srs *s, int index) {
    msm_bases *const sections[SECTIONS] = {&s->h, &s->l, &s->a, &s->b_g1, &s->b_g2};
    return sections[index];
}

srs_shape srs_shape_from(const r1cs_shape *shape, uint64_t a_aux, uint64_t b_input, uint64_t b_aux) {
    return (srs_shape){.inputs = shape->inputs,
                       .aux = shape->aux,
                       .log_domain = assignment_log_domain(shape),
                       .a = shape->inputs + a_aux,
                       .b = b_input + b_aux};
}

srs_shape srs_shape_of(const assignment *w) {
    return srs_shape_from(&w->shape, w->a_aux_count, w->b_input_count, w->b_aux_count);
}

uint64_t srs_bytes(const srs_shape *shape) {
    uint64_t counts[SECTIONS], size = vk_bytes(shape->inputs);
    section_counts(counts, shape);
    for (int i = 0; i < SECTIONS; i++) size += 4 + counts[i] * point_size[i];
    return size;
}

static uint32_t read_u32_be(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Find the sections: each count is checked against the bytes that remain before it is used. */
static cuzk_code locate_sections(srs *s, cuzk_error *err) {
    const char *path = s->file.path;
    uint64_t at = vk_bytes(s->vk.ic_count);
    for (int i = 0; i < SECTIONS; i++) {
        if (s->file.size - at < 4)
            return error_set(err, CUZK_ERR_PARAMS, path, at,
                             "%" PRIu64 " bytes: the file ends before the count of section %s", s->file.size,
                             section_name[i]);
        uint32_t count = read_u32_be(s->file.data + at);
        uint64_t left = s->file.size - at - 4, need = (uint64_t)count * point_size[i];
        if (need > left)
            return error_set(err, CUZK_ERR_PARAMS, path, at,
                             "section %s: %" PRIu32 " points need %" PRIu64 " bytes, %" PRIu64 " remain",
                             section_name[i], count, need, left);
        *section_of(s, i) = (msm_bases){.points = s->file.data + at + 4, .n = count, .encoded = true};
        at += 4 + need;
    }
    if (at != s->file.size)
        return error_set(err, CUZK_ERR_PARAMS, path, at, "%" PRIu64 " bytes, expected %" PRIu64, s->file.size,
                         at);
    return CUZK_OK;
}

/* Offset of a section's count. */
static uint64_t count_offset(const srs *s, const msm_bases *section) {
    return (uint64_t)((const uint8_t *)section->points - s->file.data) - 4;
}

/* The counts must fit each other whatever the circuit is. */
static cuzk_code derive_shape(srs *s, cuzk_error *err) {
    const char *path = s->file.path;
    uint64_t domain = (uint64_t)s->h.n + 1;
    if ((domain & (domain - 1)) != 0 || domain > (uint64_t)1 << MAX_LOG_DOMAIN)
        return error_set(err, CUZK_ERR_PARAMS, path, count_offset(s, &s->h),
                         "section h: %zu points, expected one less than a power of two up to 2^%u", s->h.n,
                         MAX_LOG_DOMAIN);
    if (s->a.n < s->vk.ic_count || s->a.n - s->vk.ic_count > s->l.n)
        return error_set(err, CUZK_ERR_PARAMS, path, count_offset(s, &s->a),
                         "section a: %zu points, expected %" PRIu32 " to %" PRIu64 " for %" PRIu32
                         " inputs and %zu aux variables",
                         s->a.n, s->vk.ic_count, (uint64_t)s->vk.ic_count + s->l.n, s->vk.ic_count, s->l.n);
    if (s->b_g1.n > (uint64_t)s->vk.ic_count + s->l.n)
        return error_set(err, CUZK_ERR_PARAMS, path, count_offset(s, &s->b_g1),
                         "section b_g1: %zu points, more than the %" PRIu64 " variables", s->b_g1.n,
                         (uint64_t)s->vk.ic_count + s->l.n);
    if (s->b_g1.n != s->b_g2.n)
        return error_set(err, CUZK_ERR_PARAMS, path, count_offset(s, &s->b_g2),
                         "section b_g2: %zu points, expected %zu as in b_g1", s->b_g2.n, s->b_g1.n);
    s->shape = (srs_shape){.inputs = s->vk.ic_count, .aux = (uint32_t)s->l.n, .a = s->a.n, .b = s->b_g1.n};
    while ((uint64_t)1 << s->shape.log_domain < domain) s->shape.log_domain++;
    return CUZK_OK;
}

static cuzk_code open_file(srs *s, const char *path, const srs_shape *expected, pool *p, cuzk_error *err) {
    TRY(file_map_open(&s->file, path, CUZK_ERR_PARAMS, err));
    if (expected && s->file.size != srs_bytes(expected))
        return error_set(err, CUZK_ERR_PARAMS, path, CUZK_NO_OFFSET, "%" PRIu64 " bytes, expected %" PRIu64,
                         s->file.size, srs_bytes(expected));
    TRY(vk_decode(&s->vk, s->file.data, s->file.size, path, p, err));
    TRY(locate_sections(s, err));
    TRY(derive_shape(s, err));
    if (expected) TRY(srs_check_shape(s, expected, err));
    return verifier_create(&s->verifier, &s->vk, err);
}

cuzk_code srs_open(srs *out, const char *path, const srs_shape *expected, pool *p, cuzk_error *err) {
    *out = (srs){.file.fd = -1};
    cuzk_code code = open_file(out, path, expected, p, err);
    if (out->file.path) code = file_map_outcome(&out->file, code, err);
    if (code != CUZK_OK) srs_close(out);
    return code;
}

void srs_close(srs *s) {
    verifier_destroy(s->verifier);
    vk_free(&s->vk);
    file_map_close(&s->file);
    *s = (srs){.file.fd = -1};
}

static cuzk_code count_error(const srs *s, const char *what, uint64_t found, uint64_t expected,
                             cuzk_error *err) {
    return error_set(err, CUZK_ERR_PARAMS, s->file.path, CUZK_NO_OFFSET,
                     "parameters of another circuit: %s %" PRIu64 ", expected %" PRIu64, what, found,
                     expected);
}

cuzk_code srs_check_shape(const srs *s, const srs_shape *expected, cuzk_error *err) {
    const srs_shape *found = &s->shape;
    if (found->inputs != expected->inputs)
        return count_error(s, "ic points", found->inputs, expected->inputs, err);
    if (found->aux != expected->aux) return count_error(s, "l points", found->aux, expected->aux, err);
    if (found->log_domain != expected->log_domain)
        return count_error(s, "h points", s->h.n, ((uint64_t)1 << expected->log_domain) - 1, err);
    if (found->a != expected->a) return count_error(s, "a points", found->a, expected->a, err);
    if (found->b != expected->b) return count_error(s, "b_g1 points", found->b, expected->b, err);
    return CUZK_OK;
}

cuzk_code srs_check_vk(const srs *s, const verifying_key *k, const char *key_path, cuzk_error *err) {
    if (vk_eq(&s->vk, k)) return CUZK_OK;
    return error_set(err, CUZK_ERR_PARAMS, key_path, CUZK_NO_OFFSET,
                     "not the verifying key at the start of %s", s->file.path);
}

typedef struct validate_job {
    const uint8_t *points;
    uint32_t size; /* of one point */
    bool subgroup;
    _Atomic uint64_t first_bad; /* index, UINT64_MAX when none */
} validate_job;

/* A phrase when the point must not be in a parameter file, else NULL. */
static const char *fault_of(const uint8_t *bytes, uint32_t size, bool subgroup) {
    point_status status;
    bool identity;
    if (size == G1_UNCOMPRESSED) {
        g1_affine point;
        status = subgroup ? g1_decode(&point, bytes) : g1_decode_unchecked(&point, bytes);
        identity = status == POINT_OK && g1_affine_is_identity(&point);
    } else {
        g2_affine point;
        status = subgroup ? g2_decode(&point, bytes) : g2_decode_unchecked(&point, bytes);
        identity = status == POINT_OK && g2_affine_is_identity(&point);
    }
    if (status != POINT_OK) return point_status_text(status);
    return identity ? "the identity" : NULL;
}

static void validate_points(void *ctx, size_t begin, size_t end) {
    validate_job *job = ctx;
    for (size_t i = begin; i < end; i++) {
        if (!fault_of(job->points + i * job->size, job->size, job->subgroup)) continue;
        uint64_t seen = atomic_load(&job->first_bad);
        while (i < seen && !atomic_compare_exchange_weak(&job->first_bad, &seen, i)) {
        }
        return;
    }
}

static cuzk_code point_error(const srs *s, const msm_bases *section, int index, uint64_t bad, bool subgroup,
                             cuzk_error *err) {
    const uint8_t *point = (const uint8_t *)section->points + bad * point_size[index];
    return error_set(err, CUZK_ERR_PARAMS, s->file.path, (uint64_t)(point - s->file.data),
                     "section %s, point %" PRIu64 ": %s", section_name[index], bad,
                     fault_of(point, point_size[index], subgroup));
}

static cuzk_code validate_section(const srs *s, const msm_bases *section, int index, bool subgroup, pool *p,
                                  const cuzk_progress *progress, cuzk_error *err) {
    uint32_t size = point_size[index];
    const uint8_t *points = section->points;
    uint64_t start = (uint64_t)(points - s->file.data);
    size_t chunk = (subgroup ? 512u : 16384u) * pool_threads(p);
    for (size_t done = 0; done < section->n; done += chunk) {
        TRY(progress_report(progress, "check parameters", start + done * size, s->file.size, err));
        size_t n = section->n - done < chunk ? section->n - done : chunk;
        validate_job job = {.points = points + done * size, .size = size, .subgroup = subgroup};
        job.first_bad = UINT64_MAX;
        pool_for(p, n, 64, validate_points, &job);
        TRY(pool_check(p, err));
        if (job.first_bad == UINT64_MAX) continue;
        return point_error(s, section, index, done + job.first_bad, subgroup, err);
    }
    return CUZK_OK;
}

static cuzk_code validate(const srs *s, bool subgroup, pool *p, const cuzk_progress *progress,
                          cuzk_error *err) {
    const msm_bases *sections[SECTIONS] = {&s->h, &s->l, &s->a, &s->b_g1, &s->b_g2};
    TRY(file_map_check(&s->file, err));
    for (int i = 0; i < SECTIONS; i++) TRY(validate_section(s, sections[i], i, subgroup, p, progress, err));
    return progress_report(progress, "check parameters", s->file.size, s->file.size, err);
}

static cuzk_code sample(const srs *s, size_t n, cuzk_error *err) {
    const msm_bases *sections[SECTIONS] = {&s->h, &s->l, &s->a, &s->b_g1, &s->b_g2};
    TRY(file_map_check(&s->file, err));
    for (int i = 0; i < SECTIONS; i++) {
        size_t count = sections[i]->n, step = count > n ? count / n : 1;
        for (size_t at = 0; at < count; at += step)
            if (fault_of((const uint8_t *)sections[i]->points + at * point_size[i], point_size[i], false))
                return point_error(s, sections[i], i, at, false, err);
    }
    return CUZK_OK;
}

cuzk_code srs_sample(const srs *s, size_t n, cuzk_error *err) {
    return file_map_outcome(&s->file, sample(s, n, err), err);
}

cuzk_code srs_validate(const srs *s, bool subgroup, pool *p, const cuzk_progress *progress, cuzk_error *err) {
    return file_map_outcome(&s->file, validate(s, subgroup, p, progress, err), err);
}
