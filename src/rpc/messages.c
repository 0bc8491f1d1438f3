#include "rpc/messages.h"

#include "rpc/descriptors.h"

#define FIELD(type, number, kind, member)                                                                    \
    { number, kind, #member, offsetof(type, member), 0, NULL }
#define LIST(type, number, member, item)                                                                     \
    { number, SCHEMA_MESSAGE_LIST, #member, offsetof(type, member), 0, &item##_schema }
#define SCHEMA(type, text)                                                                                   \
    const schema type##_schema = {text, sizeof(type), type##_fields,                                         \
                                  sizeof type##_fields / sizeof *type##_fields};
#define EMPTY(type, text) const schema type##_schema = {text, sizeof(type), NULL, 0};

static const schema_field submit_proof_request_fields[] = {
    FIELD(submit_proof_request, 1, SCHEMA_STRING, request_id),
    FIELD(submit_proof_request, 2, SCHEMA_ENUM, proof_kind),
    FIELD(submit_proof_request, 3, SCHEMA_UINT64, sector_size),
    FIELD(submit_proof_request, 4, SCHEMA_UINT64, registered_proof),
    FIELD(submit_proof_request, 5, SCHEMA_ENUM, priority),
    FIELD(submit_proof_request, 10, SCHEMA_BYTES, vanilla_proof),
    FIELD(submit_proof_request, 11, SCHEMA_BYTES_LIST, vanilla_proofs),
    FIELD(submit_proof_request, 20, SCHEMA_UINT64, sector_number),
    FIELD(submit_proof_request, 21, SCHEMA_UINT64, miner_id),
    FIELD(submit_proof_request, 22, SCHEMA_BYTES, randomness),
    FIELD(submit_proof_request, 23, SCHEMA_UINT32, partition_index),
    FIELD(submit_proof_request, 30, SCHEMA_BYTES, comm_r_old),
    FIELD(submit_proof_request, 31, SCHEMA_BYTES, comm_r_new),
    FIELD(submit_proof_request, 32, SCHEMA_BYTES, comm_d_new),
};
SCHEMA(submit_proof_request, "SubmitProofRequest")

static const schema_field submit_proof_response_fields[] = {
    FIELD(submit_proof_response, 1, SCHEMA_STRING, job_id),
    FIELD(submit_proof_response, 2, SCHEMA_UINT32, queue_position),
    FIELD(submit_proof_response, 3, SCHEMA_STRING, assigned_gpu),
};
SCHEMA(submit_proof_response, "SubmitProofResponse")

static const schema_field await_proof_request_fields[] = {
    FIELD(await_proof_request, 1, SCHEMA_STRING, job_id),
    FIELD(await_proof_request, 2, SCHEMA_UINT64, timeout_ms),
};
SCHEMA(await_proof_request, "AwaitProofRequest")

static const schema_field await_proof_response_fields[] = {
    FIELD(await_proof_response, 1, SCHEMA_STRING, job_id),
    FIELD(await_proof_response, 2, SCHEMA_ENUM, status),
    FIELD(await_proof_response, 3, SCHEMA_BYTES, proof),
    FIELD(await_proof_response, 4, SCHEMA_STRING, error_message),
    FIELD(await_proof_response, 10, SCHEMA_UINT64, queue_wait_ms),
    FIELD(await_proof_response, 11, SCHEMA_UINT64, srs_load_ms),
    FIELD(await_proof_response, 12, SCHEMA_UINT64, synthesis_ms),
    FIELD(await_proof_response, 13, SCHEMA_UINT64, gpu_compute_ms),
    FIELD(await_proof_response, 14, SCHEMA_UINT64, total_ms),
};
SCHEMA(await_proof_response, "AwaitProofResponse")

static const schema_field prove_request_fields[] = {
    {1, SCHEMA_MESSAGE, "submit", offsetof(prove_request, submit), offsetof(prove_request, has_submit),
     &submit_proof_request_schema},
};
SCHEMA(prove_request, "ProveRequest")

static const schema_field prove_response_fields[] = {
    {1, SCHEMA_MESSAGE, "result", offsetof(prove_response, result), offsetof(prove_response, has_result),
     &await_proof_response_schema},
};
SCHEMA(prove_response, "ProveResponse")

static const schema_field cancel_proof_request_fields[] = {
    FIELD(cancel_proof_request, 1, SCHEMA_STRING, job_id),
};
SCHEMA(cancel_proof_request, "CancelProofRequest")

static const schema_field cancel_proof_response_fields[] = {
    FIELD(cancel_proof_response, 1, SCHEMA_BOOL, was_running),
};
SCHEMA(cancel_proof_response, "CancelProofResponse")

static const schema_field gpu_status_fields[] = {
    FIELD(gpu_status, 1, SCHEMA_UINT32, ordinal),
    FIELD(gpu_status, 2, SCHEMA_STRING, name),
    FIELD(gpu_status, 3, SCHEMA_UINT64, vram_total_bytes),
    FIELD(gpu_status, 4, SCHEMA_UINT64, vram_free_bytes),
    FIELD(gpu_status, 5, SCHEMA_STRING, current_job_id),
    FIELD(gpu_status, 6, SCHEMA_STRING, current_proof_kind),
};
SCHEMA(gpu_status, "GPUStatus")

static const schema_field srs_status_fields[] = {
    FIELD(srs_status, 1, SCHEMA_STRING, circuit_id),
    FIELD(srs_status, 2, SCHEMA_ENUM, tier),
    FIELD(srs_status, 3, SCHEMA_UINT64, size_bytes),
    FIELD(srs_status, 4, SCHEMA_UINT32, ref_count),
};
SCHEMA(srs_status, "SRSStatus")

static const schema_field queue_status_fields[] = {
    FIELD(queue_status, 1, SCHEMA_STRING, proof_kind),
    FIELD(queue_status, 2, SCHEMA_UINT32, pending),
    FIELD(queue_status, 3, SCHEMA_UINT32, in_progress),
};
SCHEMA(queue_status, "QueueStatus")

EMPTY(get_status_request, "GetStatusRequest")

static const schema_field get_status_response_fields[] = {
    LIST(get_status_response, 1, gpus, gpu_status),
    LIST(get_status_response, 2, loaded_srs, srs_status),
    LIST(get_status_response, 3, queues, queue_status),
    FIELD(get_status_response, 4, SCHEMA_UINT64, total_proofs_completed),
    FIELD(get_status_response, 5, SCHEMA_UINT64, total_proofs_failed),
    FIELD(get_status_response, 6, SCHEMA_UINT64, uptime_seconds),
    FIELD(get_status_response, 7, SCHEMA_UINT64, pinned_memory_bytes),
    FIELD(get_status_response, 8, SCHEMA_UINT64, pinned_memory_limit_bytes),
};
SCHEMA(get_status_response, "GetStatusResponse")

EMPTY(get_metrics_request, "GetMetricsRequest")

static const schema_field get_metrics_response_fields[] = {
    FIELD(get_metrics_response, 1, SCHEMA_STRING, prometheus_text),
};
SCHEMA(get_metrics_response, "GetMetricsResponse")

static const schema_field preload_srs_request_fields[] = {
    FIELD(preload_srs_request, 1, SCHEMA_STRING, circuit_id),
};
SCHEMA(preload_srs_request, "PreloadSrsRequest")

static const schema_field preload_srs_response_fields[] = {
    FIELD(preload_srs_response, 1, SCHEMA_BOOL, already_loaded),
    FIELD(preload_srs_response, 2, SCHEMA_UINT64, load_time_ms),
};
SCHEMA(preload_srs_response, "PreloadSrsResponse")

static const schema_field evict_srs_request_fields[] = {
    FIELD(evict_srs_request, 1, SCHEMA_STRING, circuit_id),
};
SCHEMA(evict_srs_request, "EvictSrsRequest")

static const schema_field evict_srs_response_fields[] = {
    FIELD(evict_srs_response, 1, SCHEMA_BOOL, was_loaded),
    FIELD(evict_srs_response, 2, SCHEMA_UINT64, freed_bytes),
};
SCHEMA(evict_srs_response, "EvictSrsResponse")

#define METHOD(text, request, response)                                                                      \
    { text, "/" PROVING_SERVICE "/" text, &request##_schema, &response##_schema }

const proving_method_info proving_methods[METHOD_COUNT] = {
    [METHOD_SUBMIT_PROOF] = METHOD("SubmitProof", submit_proof_request, submit_proof_response),
    [METHOD_AWAIT_PROOF] = METHOD("AwaitProof", await_proof_request, await_proof_response),
    [METHOD_PROVE] = METHOD("Prove", prove_request, prove_response),
    [METHOD_CANCEL_PROOF] = METHOD("CancelProof", cancel_proof_request, cancel_proof_response),
    [METHOD_GET_STATUS] = METHOD("GetStatus", get_status_request, get_status_response),
    [METHOD_GET_METRICS] = METHOD("GetMetrics", get_metrics_request, get_metrics_response),
    [METHOD_PRELOAD_SRS] = METHOD("PreloadSRS", preload_srs_request, preload_srs_response),
    [METHOD_EVICT_SRS] = METHOD("EvictSRS", evict_srs_request, evict_srs_response),
};

static const char *const method_names[METHOD_COUNT] = {
    "SubmitProof", "AwaitProof", "Prove", "CancelProof", "GetStatus", "GetMetrics", "PreloadSRS", "EvictSRS",
};

const rpc_service proving_service = {PROVING_SERVICE, method_names, METHOD_COUNT, &cuzk_descriptor};
