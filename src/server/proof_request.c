#include "server/proof_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/messages.h"

/* What a request's views are views of. */
typedef struct holding {
    rpc_body *body;
    prove_request message;
    char id[JOB_ID_BYTES];
    job_bytes *proofs;
} holding;

static void release(void *owner) {
    holding *h = owner;
    schema_free(&prove_request_schema, &h->message);
    free(h->proofs);
    rpc_body_free(h->body);
    free(h);
}

static job_bytes bytes_of(wire_view v) {
    return (job_bytes){v.data, v.size};
}

static cuzk_code read_id(char out[JOB_ID_BYTES], wire_view id, cuzk_error *err) {
    if (id.size >= JOB_ID_BYTES)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "request_id of %zu bytes, at most %u are allowed", id.size, JOB_ID_BYTES - 1);
    if (id.size > 0 && memchr(id.data, 0, id.size))
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "request_id contains a zero byte");
    if (id.size > 0) memcpy(out, id.data, id.size);
    out[id.size] = 0;
    return CUZK_OK;
}

static cuzk_code decode(holding *h, wire_view bytes, bool within_prove, cuzk_error *err) {
    if (!within_prove) {
        h->message.has_submit = true;
        return schema_decode(&submit_proof_request_schema, &h->message.submit, bytes, err);
    }
    TRY(schema_decode(&prove_request_schema, &h->message, bytes, err));
    if (h->message.has_submit) return CUZK_OK;
    return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "missing submit field");
}

static cuzk_code fill(job_request *out, holding *h, cuzk_error *err) {
    const submit_proof_request *m = &h->message.submit;
    if (m->proof_kind < JOB_POREP || m->proof_kind >= (int32_t)JOB_KINDS)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "invalid proof_kind: %" PRId32,
                         m->proof_kind);
    TRY(read_id(h->id, m->request_id, err));
    h->proofs = calloc(m->vanilla_proofs.count + 1, sizeof *h->proofs);
    if (!h->proofs) return error_no_memory(err, m->vanilla_proofs.count * sizeof *h->proofs, "a request");
    const wire_view *proofs = m->vanilla_proofs.items;
    for (size_t i = 0; i < m->vanilla_proofs.count; i++) h->proofs[i] = bytes_of(proofs[i]);
    bool known = m->priority >= JOB_DEFAULT_PRIORITY && m->priority <= JOB_CRITICAL;
    *out = (job_request){.id = h->id,
                         .kind = (job_kind)m->proof_kind,
                         .priority = known ? (job_priority)m->priority : JOB_NORMAL,
                         .sector_size = m->sector_size,
                         .registered_proof = m->registered_proof,
                         .vanilla_proof = bytes_of(m->vanilla_proof),
                         .vanilla_proofs = h->proofs,
                         .n_vanilla_proofs = m->vanilla_proofs.count,
                         .sector_number = m->sector_number,
                         .miner_id = m->miner_id,
                         .randomness = bytes_of(m->randomness),
                         .partition_index = m->partition_index,
                         .comm_r_old = bytes_of(m->comm_r_old),
                         .comm_r_new = bytes_of(m->comm_r_new),
                         .comm_d_new = bytes_of(m->comm_d_new),
                         .owner = h,
                         .release = release};
    return CUZK_OK;
}

cuzk_code proof_request_read(job_request *out, rpc_body *body, bool within_prove, cuzk_error *err) {
    holding *h = calloc(1, sizeof *h);
    if (!h) {
        rpc_body_free(body);
        return error_no_memory(err, sizeof *h, "a request");
    }
    h->body = body;
    cuzk_code code = decode(h, rpc_body_view(body), within_prove, err);
    if (code == CUZK_OK) code = fill(out, h, err);
    if (code != CUZK_OK) release(h);
    return code;
}
