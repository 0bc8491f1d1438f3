/* Text is appended to one growing buffer. After a failed allocation the writer goes on without writing, and
 * the failure is reported once, at the end. */
#include "filecoin/c1_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tomcrypt.h>

#include "filecoin/c1_store.h"

#define MAX_PUT 160u /* bytes that one put appends; a digest takes up to 129 */

typedef struct text {
    char *data;
    size_t size, capacity;
    size_t refused; /* bytes that could not be allocated, 0 if none */
} text;

/* Room for MAX_PUT more bytes? */
static bool reserve(text *t) {
    if (t->refused) return false;
    if (t->capacity - t->size >= MAX_PUT) return true;
    size_t capacity = t->capacity + t->capacity / 2 + 65536;
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->refused = capacity;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

/* At most MAX_PUT - 1 bytes. */
static void put(text *t, const char *string) {
    if (!reserve(t)) return;
    size_t size = strlen(string);
    memcpy(t->data + t->size, string, size + 1);
    t->size += size;
}

static void put_number(text *t, uint64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    put(t, digits);
}

static void put_digest(text *t, const uint8_t bytes[32]) {
    if (!reserve(t)) return;
    char *out = t->data + t->size;
    for (int i = 0; i < 32; i++) {
        unsigned b = bytes[i];
        *out++ = i ? ',' : '[';
        if (b >= 100) *out++ = (char)('0' + b / 100);
        if (b >= 10) *out++ = (char)('0' + b / 10 % 10);
        *out++ = (char)('0' + b % 10);
    }
    *out++ = ']';
    *out = 0;
    t->size = (size_t)(out - t->data);
}

static void put_digests(text *t, const fr_repr *digests, size_t count) {
    put(t, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) put(t, ",");
        put_digest(t, c1_bytes(&digests[i]));
    }
    put(t, "]");
}

static void put_path(text *t, const c1_level *levels, size_t count) {
    put(t, "{\"path\":[");
    for (size_t i = 0; i < count; i++) {
        put(t, i ? ",{\"hashes\":" : "{\"hashes\":");
        put_digests(t, levels[i].hashes, levels[i].arity - 1);
        put(t, ",\"index\":");
        put_number(t, levels[i].index);
        put(t, "}");
    }
    put(t, "]}");
}

static void put_root_and_leaf(text *t, const c1_merkle_proof *proof) {
    put(t, "\"root\":");
    put_digest(t, c1_bytes(&proof->root));
    put(t, ",\"leaf\":");
    put_digest(t, c1_bytes(&proof->leaf));
}

static void put_merkle_proof(text *t, const c1_merkle_proof *proof) {
    put(t, "{\"data\":{\"");
    put(t, c1_tree_kind_name(proof->kind));
    put(t, "\":{");
    if (proof->kind == C1_SINGLE) {
        put_root_and_leaf(t, proof);
        put(t, ",\"path\":");
        put_path(t, proof->levels, proof->depth);
    } else {
        uint32_t base = proof->depth - c1_sub_levels(proof->kind) - c1_top_levels(proof->kind);
        put(t, "\"base_proof\":");
        put_path(t, proof->levels, base);
        put(t, ",\"sub_proof\":");
        put_path(t, proof->levels + base, 1);
        if (proof->kind == C1_TOP) {
            put(t, ",\"top_proof\":");
            put_path(t, proof->levels + base + 1, 1);
        }
        put(t, ",");
        put_root_and_leaf(t, proof);
    }
    put(t, "}}}");
}

static void put_column(text *t, const c1_column_proof *column, const c1 *c) {
    put(t, "{\"column\":{\"index\":");
    put_number(t, column->index);
    put(t, ",\"rows\":");
    put_digests(t, column->rows, c->sector->layers);
    put(t, ",\"_h\":null},\"inclusion_proof\":");
    put_merkle_proof(t, &column->inclusion_proof);
    put(t, "}");
}

static void put_columns(text *t, const c1_column_proof *columns, size_t count, const c1 *c) {
    put(t, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) put(t, ",");
        put_column(t, &columns[i], c);
    }
    put(t, "]");
}

static void put_labeling(text *t, const c1_labeling_proof *proof) {
    put(t, "{\"parents\":");
    put_digests(t, proof->parents, LABEL_PARENTS);
    put(t, ",\"layer_index\":");
    put_number(t, proof->layer_index);
    put(t, ",\"node\":");
    put_number(t, proof->node);
    put(t, "}");
}

static void put_challenge(text *t, const c1_challenge *challenge, const c1 *c) {
    put(t, "{\"comm_d_proofs\":");
    put_merkle_proof(t, &challenge->comm_d_proof);
    put(t, ",\"comm_r_last_proof\":");
    put_merkle_proof(t, &challenge->comm_r_last_proof);
    put(t, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(t, &challenge->c_x, c);
    put(t, ",\"drg_parents\":");
    put_columns(t, challenge->drg_parents, DRG_DEGREE, c);
    put(t, ",\"exp_parents\":");
    put_columns(t, challenge->exp_parents, EXPANDER_DEGREE, c);
    put(t, "},\"labeling_proofs\":[");
    for (unsigned i = 0; i < c->sector->layers; i++) {
        if (i) put(t, ",");
        put_labeling(t, &challenge->labeling_proofs[i]);
    }
    put(t, "],\"encoding_proof\":");
    put_labeling(t, &challenge->encoding_proof);
    put(t, "}");
}

static void put_bare(text *t, const c1 *c) {
    put(t, "{\"registered_proof\":\"");
    put(t, c->proof->name);
    put(t, "\",\"vanilla_proofs\":{\"");
    put(t, c->sector->tag);
    put(t, "\":[");
    for (uint32_t k = 0; k < c->partitions; k++) {
        put(t, k ? ",[" : "[");
        for (uint32_t i = 0; i < c->challenges; i++) {
            if (i) put(t, ",");
            put_challenge(t, &c->partition[k].challenges[i], c);
        }
        put(t, "]");
    }
    put(t, "]},\"comm_r\":");
    put_digest(t, c1_bytes(&c->comm_r));
    put(t, ",\"comm_d\":");
    put_digest(t, c1_bytes(&c->comm_d));
    put(t, ",\"replica_id\":");
    put_digest(t, c1_bytes(&c->replica_id));
    put(t, ",\"seed\":");
    put_digest(t, c->seed);
    put(t, ",\"ticket\":");
    put_digest(t, c->ticket);
    put(t, "}");
}

/* The wrapper around a finished bare text. */
static cuzk_code wrap(char **out, size_t *size, const text *bare, const c1 *c, c1_form form,
                      cuzk_error *err) {
    char before[64], after[96];
    if (form == C1_WRAPPER_GO) {
        snprintf(before, sizeof before, "{\"SectorNum\":%" PRIu64 ",\"Phase1Out\":\"", c->sector_num);
        snprintf(after, sizeof after, "\",\"SectorSize\":%" PRIu64 "}", c->sector->bytes);
    } else {
        snprintf(before, sizeof before, "{\"Phase1Out\":\"");
        snprintf(after, sizeof after, "\",\"SectorNum\":%" PRIu64 ",\"SectorSize\":%" PRIu64 "}",
                 c->sector_num, c->sector->bytes);
    }
    size_t start = strlen(before), chars = (bare->size + 2) / 3 * 4;
    *size = start + chars + strlen(after);
    *out = malloc(*size + 1);
    if (!*out) return error_no_memory(err, *size + 1, "a C1 text");
    memcpy(*out, before, start);
    unsigned long encoded = chars + 1;
    if (base64_encode((const uint8_t *)bare->data, bare->size, (uint8_t *)*out + start, &encoded) !=
            CRYPT_OK ||
        encoded != chars) {
        free(*out);
        *out = NULL;
        return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "base64 of %zu bytes failed",
                         bare->size);
    }
    memcpy(*out + start + chars, after, strlen(after) + 1);
    return CUZK_OK;
}

cuzk_code c1_write(char **out, size_t *size, const c1 *c, c1_form form, cuzk_error *err) {
    text bare = {0};
    *out = NULL;
    *size = 0;
    put_bare(&bare, c);
    if (bare.refused) {
        free(bare.data);
        return error_no_memory(err, bare.refused, "a C1 text");
    }
    if (form == C1_BARE) {
        *out = bare.data;
        *size = bare.size;
        return CUZK_OK;
    }
    cuzk_code code = wrap(out, size, &bare, c, form, err);
    free(bare.data);
    return code;
}
