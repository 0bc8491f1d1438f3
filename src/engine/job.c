#include "engine/job.h"

#include <string.h>

#include "hash/digest.h"

static const struct {
    const char *name, *label;
    job_priority priority;
} kinds[JOB_KINDS] = {[JOB_POREP] = {"porep-c2", "porep_c2", JOB_NORMAL},
                      [JOB_SNAP] = {"snap-update", "snap_update", JOB_NORMAL},
                      [JOB_WINDOW_POST] = {"window-post", "window_post", JOB_HIGH},
                      [JOB_WINNING_POST] = {"winning-post", "winning_post", JOB_CRITICAL}};

const char *job_kind_name(unsigned kind) {
    return kind < JOB_KINDS ? kinds[kind].name : NULL;
}
const char *job_kind_label(unsigned kind) {
    return kind < JOB_KINDS ? kinds[kind].label : NULL;
}
job_priority job_kind_priority(job_kind kind) {
    return kinds[kind].priority;
}

const char *job_priority_name(job_priority priority) {
    static const char *const names[JOB_PRIORITIES] = {"default", "low", "normal", "high", "critical"};
    return names[priority];
}

const char *job_state_name(job_state state) {
    static const char *const names[] = {
        [JOB_QUEUED] = "queued", [JOB_RUNNING] = "running",     [JOB_COMPLETED] = "completed",
        [JOB_FAILED] = "failed", [JOB_CANCELLED] = "cancelled", [JOB_TIMEOUT] = "timeout"};
    return names[state];
}

static void hash_u64(sha256 *h, uint64_t value) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    sha256_update(h, bytes, sizeof bytes);
}

/* With its length, so that no two lists of fields look the same. */
static void hash_bytes(sha256 *h, const job_bytes *bytes) {
    hash_u64(h, bytes->size);
    if (bytes->size > 0) sha256_update(h, bytes->data, bytes->size);
}

void job_request_digest(uint8_t out[32], const job_request *r) {
    sha256 h;
    sha256_start(&h);
    const uint64_t numbers[] = {(uint64_t)r->kind, r->sector_size,     r->registered_proof, r->sector_number,
                                r->miner_id,       r->partition_index, r->n_vanilla_proofs};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) hash_u64(&h, numbers[i]);
    hash_bytes(&h, &r->vanilla_proof);
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) hash_bytes(&h, &r->vanilla_proofs[i]);
    hash_bytes(&h, &r->randomness);
    hash_bytes(&h, &r->comm_r_old);
    hash_bytes(&h, &r->comm_r_new);
    hash_bytes(&h, &r->comm_d_new);
    sha256_finish(&h, out);
}

void job_request_release(job_request *r) {
    if (r->release) r->release(r->owner);
    r->release = NULL;
    r->owner = NULL;
    r->vanilla_proof = (job_bytes){NULL, 0};
    r->vanilla_proofs = NULL;
    r->n_vanilla_proofs = 0;
}
