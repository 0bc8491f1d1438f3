/*
 * The structure is serialized into a buffer that is hashed twice, for the whole and for the current block,
 * whenever it is full or a block ends. Hashing is most of the time. A circuit has few distinct coefficients
 * (some 1500), so their wire form comes from a hash table.
 */
#include "r1cs/digest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "hash/digest.h"
#include "r1cs/density.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define TERM_BYTES   37u

/* Open addressing; an entry whose key is zero is free (zero coefficients never get here). */
typedef struct wire_coefficient {
    fr key;
    uint8_t bytes[32];
} wire_coefficient;

typedef struct digest_cs {
    cs base;
    r1cs_digest *out;
    pool *pool;
    uint8_t *buffer;
    size_t used;
    sha256 whole, chunk;
    uint64_t *a_aux, *b_input, *b_aux;
    wire_coefficient *table;
    unsigned log_table;
    cs_path path;
} digest_cs;

/* ---- coefficients ---- */

static wire_coefficient *find_slot(wire_coefficient *table, unsigned log_table, const fr *key) {
    uint64_t mixed = (key->l[0] ^ key->l[1] ^ key->l[2] ^ key->l[3]) * 0x9e3779b97f4a7c15u;
    size_t mask = ((size_t)1 << log_table) - 1, i = mixed >> (64 - log_table);
    while (!fr_is_zero(&table[i].key) && !fr_eq(&table[i].key, key)) i = (i + 1) & mask;
    return &table[i];
}

static bool grow_table(digest_cs *d) {
    wire_coefficient *larger = calloc((size_t)2 << d->log_table, sizeof *larger);
    if (!larger) {
        cs_fail(&d->base, CUZK_ERR_RESOURCES, "out of memory for the table of coefficients");
        return false;
    }
    for (size_t i = 0; i < (size_t)1 << d->log_table; i++)
        if (!fr_is_zero(&d->table[i].key))
            *find_slot(larger, d->log_table + 1, &d->table[i].key) = d->table[i];
    free(d->table);
    d->table = larger;
    d->log_table++;
    return true;
}

static const uint8_t *wire_form(digest_cs *d, const fr *coeff) {
    wire_coefficient *slot = find_slot(d->table, d->log_table, coeff);
    if (!fr_is_zero(&slot->key)) return slot->bytes;
    if (2 * ++d->out->distinct_coefficients > (uint64_t)1 << d->log_table) {
        if (!grow_table(d)) return slot->bytes;
        slot = find_slot(d->table, d->log_table, coeff);
    }
    slot->key = *coeff;
    fr_to_bytes(slot->bytes, coeff);
    return slot->bytes;
}

/* ---- constraints ---- */

static void hash_whole(void *ctx) {
    digest_cs *d = ctx;
    sha256_update(&d->whole, d->buffer, d->used);
}

static void hash_chunk(void *ctx) {
    digest_cs *d = ctx;
    sha256_update(&d->chunk, d->buffer, d->used);
}

static void flush(digest_cs *d) {
    pool_both(d->pool, hash_whole, d, hash_chunk, d);
    d->used = 0;
}

static uint8_t *room(digest_cs *d, size_t bytes) {
    if (d->used + bytes > BUFFER_BYTES) flush(d);
    d->used += bytes;
    return d->buffer + d->used - bytes;
}

static void put_lc(digest_cs *d, const lc *l, uint64_t *nnz) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) n += !fr_is_zero(&l->terms[i].coeff);
    d->out->zero_terms += l->n - n;
    *nnz += n;
    memcpy(room(d, sizeof n), &n, sizeof n);
    for (const lc_term *t = l->terms, *end = t + l->n; t < end; t++) {
        if (fr_is_zero(&t->coeff)) continue;
        uint8_t *out = room(d, TERM_BYTES);
        uint32_t index = r1cs_index(t->var);
        out[0] = r1cs_is_aux(t->var);
        memcpy(out + 1, &index, sizeof index);
        memcpy(out + 5, wire_form(d, &t->coeff), 32);
    }
}

static void start_chunk(digest_cs *d) {
    sha256_start(&d->chunk);
    char **path = &d->out->chunk_paths[d->out->chunks];
    *path = strdup(d->path.text);
    if (!*path) cs_fail(&d->base, CUZK_ERR_RESOURCES, "out of memory for the path of a block");
}

static void finish_chunk(digest_cs *d) {
    flush(d);
    sha256_finish(&d->chunk, d->out->chunk_sha256[d->out->chunks++]);
}

static void enforce(cs *system, const lc *a, const lc *b, const lc *c) {
    digest_cs *d = (digest_cs *)system;
    if (system->constraints % R1CS_DIGEST_CHUNK == 0) start_chunk(d);
    put_lc(d, a, &d->out->nnz[0]);
    put_lc(d, b, &d->out->nnz[1]);
    put_lc(d, c, &d->out->nnz[2]);
    density_mark(NULL, d->a_aux, a);
    density_mark(d->b_input, d->b_aux, b);
    if ((system->constraints + 1) % R1CS_DIGEST_CHUNK == 0) finish_chunk(d);
}

static void enter(cs *system, const char *name) {
    cs_path_enter(&((digest_cs *)system)->path, name);
}

static void leave(cs *system) {
    cs_path_leave(&((digest_cs *)system)->path);
}

/* ---- the whole ---- */

static void digest_density(density_digest *out, const uint64_t *bits, uint32_t variables) {
    sha256 hash;
    sha256_start(&hash);
    uint8_t bytes[4096];
    for (uint32_t first = 0; first < variables; first += sizeof bytes) {
        uint32_t n = variables - first < sizeof bytes ? variables - first : sizeof bytes;
        for (uint32_t i = 0; i < n; i++) bytes[i] = density_has(bits, first + i);
        sha256_update(&hash, bytes, n);
    }
    sha256_finish(&hash, out->sha256);
    out->count = density_count(bits, variables);
}

static cuzk_code run(digest_cs *d, const r1cs_circuit *circuit, const cuzk_progress *progress,
                     cuzk_error *err) {
    sha256_start(&d->whole);
    TRY(cs_run(&d->base, circuit, "digest", progress, err));
    if (d->out->shape.constraints % R1CS_DIGEST_CHUNK) finish_chunk(d);
    TRY(pool_check(d->pool, err));
    sha256_finish(&d->whole, d->out->sha256);
    digest_density(&d->out->a_aux, d->a_aux, d->out->shape.aux);
    digest_density(&d->out->b_input, d->b_input, d->out->shape.inputs);
    digest_density(&d->out->b_aux, d->b_aux, d->out->shape.aux);
    return CUZK_OK;
}

static cuzk_code allocate(digest_cs *d, uint64_t **bits, size_t bits_bytes, cuzk_error *err) {
    TRY(mem_big_alloc((void **)bits, bits_bytes, "the densities", err));
    d->a_aux = *bits;
    d->b_aux = d->a_aux + density_words(d->out->shape.aux);
    d->b_input = d->b_aux + density_words(d->out->shape.aux);
    size_t chunks = (d->out->shape.constraints + R1CS_DIGEST_CHUNK - 1) / R1CS_DIGEST_CHUNK;
    d->log_table = 12;
    d->table = calloc((size_t)1 << d->log_table, sizeof *d->table);
    d->buffer = malloc(BUFFER_BYTES);
    d->out->chunk_sha256 = calloc(chunks + 1, sizeof *d->out->chunk_sha256);
    d->out->chunk_paths = calloc(chunks + 1, sizeof *d->out->chunk_paths);
    if (!d->table || !d->buffer || !d->out->chunk_sha256 || !d->out->chunk_paths)
        return error_no_memory(err, BUFFER_BYTES + 40 * chunks, "the digest");
    return CUZK_OK;
}

cuzk_code r1cs_digest_create(r1cs_digest *out, const r1cs_circuit *circuit, pool *p,
                             const cuzk_progress *progress, cuzk_error *err) {
    static const cs_ops ops = {NULL, enforce, enter, leave};
    const r1cs_shape *shape = &circuit->shape;
    *out = (r1cs_digest){.shape = *shape};
    if (shape->inputs > R1CS_AUX || shape->aux > R1CS_AUX || shape->constraints >> 40)
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "circuit %s has an impossible shape",
                         circuit->name);
    digest_cs d = {.out = out, .pool = p};
    cs_init(&d.base, &ops, false);
    uint64_t *bits;
    size_t bytes = (2 * density_words(shape->aux) + density_words(shape->inputs)) * sizeof *bits;
    cuzk_code code = allocate(&d, &bits, bytes, err);
    if (code == CUZK_OK) code = run(&d, circuit, progress, err);
    mem_big_free(bits, bytes);
    free(d.table);
    free(d.buffer);
    cs_free(&d.base);
    if (code != CUZK_OK) r1cs_digest_free(out);
    return code;
}

void r1cs_digest_free(r1cs_digest *d) {
    size_t started = d->shape.constraints / R1CS_DIGEST_CHUNK + 1;
    for (size_t i = 0; d->chunk_paths && i < started; i++) free(d->chunk_paths[i]);
    free(d->chunk_paths);
    free(d->chunk_sha256);
    *d = (r1cs_digest){.chunks = 0};
}

/* ---- values ---- */

static void digest_vector(vector_digest *out, const fr *values, size_t n) {
    enum { BATCH = 512 };
    sha256 whole, chunk;
    sha256_start(&whole);
    sha256_start(&chunk);
    for (size_t i = 0; i < n;) {
        fr_repr plain[BATCH];
        size_t batch = n - i < BATCH ? n - i : BATCH;
        fr_to_repr_n(plain, values + i, batch);
        sha256_update(&whole, plain, batch * sizeof *plain);
        sha256_update(&chunk, plain, batch * sizeof *plain);
        i += batch;
        if (i % R1CS_DIGEST_VALUES_CHUNK == 0 || i == n) {
            sha256_finish(&chunk, out->chunk_sha256[out->chunks++]);
            sha256_start(&chunk);
        }
    }
    sha256_finish(&whole, out->sha256);
}

typedef struct vectors {
    const fr *values[4];
    size_t n[4];
    vector_digest *out[4];
} vectors;

static void digest_vectors(void *ctx, size_t begin, size_t end) {
    vectors *v = ctx;
    for (size_t i = begin; i < end; i++) digest_vector(v->out[i], v->values[i], v->n[i]);
}

cuzk_code assignment_digest_create(assignment_digest *out, const assignment *a, pool *p, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    size_t n = a->shape.constraints;
    vectors v = {{a->aux, a->a, a->b, a->c}, {a->shape.aux, n, n, n}, {&out->aux, &out->a, &out->b, &out->c}};
    out->n_inputs = a->shape.inputs;
    out->inputs = calloc(a->shape.inputs, sizeof *out->inputs);
    bool ok = out->inputs != NULL;
    for (int i = 0; i < 4; i++) {
        v.out[i]->chunk_sha256 = calloc(v.n[i] / R1CS_DIGEST_VALUES_CHUNK + 1, 32);
        ok = ok && v.out[i]->chunk_sha256;
    }
    if (!ok) {
        assignment_digest_free(out);
        return error_no_memory(err, 32 * (size_t)a->shape.inputs, "the digest of the values");
    }
    for (uint32_t i = 0; i < out->n_inputs; i++) fr_to_bytes(out->inputs[i], &a->inputs[i]);
    pool_for(p, 4, 1, digest_vectors, &v);
    if (pool_lane_cancelled(p)) {
        assignment_digest_free(out);
        return pool_check(p, err);
    }
    out->satisfied = assignment_first_unsatisfied(a) == UINT64_MAX;
    return CUZK_OK;
}

void assignment_digest_free(assignment_digest *d) {
    free(d->aux.chunk_sha256);
    free(d->a.chunk_sha256);
    free(d->b.chunk_sha256);
    free(d->c.chunk_sha256);
    free(d->inputs);
    memset(d, 0, sizeof *d);
}
