/*
 * The messages of package cuzk.v1 (cuzk.proto) as structs, with their tables for schema_decode and
 * schema_encode, and the service that they belong to. Server and client use the same.
 */
#ifndef CUZK_RPC_MESSAGES_H
#define CUZK_RPC_MESSAGES_H

#include "rpc/schema.h"
#include "rpc/service.h"

typedef enum proof_kind {
    PROOF_KIND_UNSPECIFIED = 0,
    PROOF_KIND_POREP_SEAL_COMMIT = 1,
    PROOF_KIND_SNAP_DEALS_UPDATE = 2,
    PROOF_KIND_WINDOW_POST_PARTITION = 3,
    PROOF_KIND_WINNING_POST = 4,
} proof_kind;

typedef enum proof_priority {
    PROOF_PRIORITY_UNSPECIFIED = 0,
    PROOF_PRIORITY_LOW = 1,
    PROOF_PRIORITY_NORMAL = 2,
    PROOF_PRIORITY_HIGH = 3,
    PROOF_PRIORITY_CRITICAL = 4,
} proof_priority;

typedef enum proof_status {
    PROOF_STATUS_UNKNOWN = 0,
    PROOF_STATUS_COMPLETED = 1,
    PROOF_STATUS_FAILED = 2,
    PROOF_STATUS_CANCELLED = 3,
    PROOF_STATUS_TIMEOUT = 4,
} proof_status;

typedef enum srs_tier { SRS_TIER_HOT = 0, SRS_TIER_WARM = 1, SRS_TIER_COLD = 2 } srs_tier;

typedef struct submit_proof_request {
    wire_view request_id;
    int32_t proof_kind; /* any number may arrive */
    uint64_t sector_size;
    uint64_t registered_proof;
    int32_t priority;
    wire_view vanilla_proof;
    schema_list vanilla_proofs; /* wire_view */
    uint64_t sector_number;
    uint64_t miner_id;
    wire_view randomness;
    uint32_t partition_index;
    wire_view comm_r_old, comm_r_new, comm_d_new;
} submit_proof_request;

typedef struct submit_proof_response {
    wire_view job_id;
    uint32_t queue_position;
    wire_view assigned_gpu;
} submit_proof_response;

typedef struct await_proof_request {
    wire_view job_id;
    uint64_t timeout_ms;
} await_proof_request;

typedef struct await_proof_response {
    wire_view job_id;
    int32_t status; /* proof_status */
    wire_view proof;
    wire_view error_message;
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
} await_proof_response;

typedef struct prove_request {
    bool has_submit;
    submit_proof_request submit;
} prove_request;

typedef struct prove_response {
    bool has_result;
    await_proof_response result;
} prove_response;

typedef struct cancel_proof_request {
    wire_view job_id;
} cancel_proof_request;

typedef struct cancel_proof_response {
    bool was_running;
} cancel_proof_response;

typedef struct gpu_status {
    uint32_t ordinal;
    wire_view name;
    uint64_t vram_total_bytes, vram_free_bytes;
    wire_view current_job_id, current_proof_kind;
} gpu_status;

typedef struct srs_status {
    wire_view circuit_id;
    int32_t tier; /* srs_tier */
    uint64_t size_bytes;
    uint32_t ref_count;
} srs_status;

typedef struct queue_status {
    wire_view proof_kind;
    uint32_t pending, in_progress;
} queue_status;

typedef struct get_status_request {
    char empty;
} get_status_request;

typedef struct get_status_response {
    schema_list gpus;       /* gpu_status */
    schema_list loaded_srs; /* srs_status */
    schema_list queues;     /* queue_status */
    uint64_t total_proofs_completed, total_proofs_failed, uptime_seconds;
    uint64_t pinned_memory_bytes, pinned_memory_limit_bytes;
} get_status_response;

typedef struct get_metrics_request {
    char empty;
} get_metrics_request;

typedef struct get_metrics_response {
    wire_view prometheus_text;
} get_metrics_response;

typedef struct preload_srs_request {
    wire_view circuit_id;
} preload_srs_request;

typedef struct preload_srs_response {
    bool already_loaded;
    uint64_t load_time_ms;
} preload_srs_response;

typedef struct evict_srs_request {
    wire_view circuit_id;
} evict_srs_request;

typedef struct evict_srs_response {
    bool was_loaded;
    uint64_t freed_bytes;
} evict_srs_response;

extern const schema submit_proof_request_schema, submit_proof_response_schema, await_proof_request_schema,
    await_proof_response_schema, prove_request_schema, prove_response_schema, cancel_proof_request_schema,
    cancel_proof_response_schema, gpu_status_schema, srs_status_schema, queue_status_schema,
    get_status_request_schema, get_status_response_schema, get_metrics_request_schema,
    get_metrics_response_schema, preload_srs_request_schema, preload_srs_response_schema,
    evict_srs_request_schema, evict_srs_response_schema;

/* The service's methods, in the order of the file. */
typedef enum proving_method {
    METHOD_SUBMIT_PROOF,
    METHOD_AWAIT_PROOF,
    METHOD_PROVE,
    METHOD_CANCEL_PROOF,
    METHOD_GET_STATUS,
    METHOD_GET_METRICS,
    METHOD_PRELOAD_SRS,
    METHOD_EVICT_SRS,
    METHOD_COUNT,
} proving_method;

#define PROVING_SERVICE "cuzk.v1.ProvingEngine"

typedef struct proving_method_info {
    const char *name; /* "SubmitProof" */
    const char *path; /* "/cuzk.v1.ProvingEngine/SubmitProof" */
    const schema *request, *response;
} proving_method_info;

extern const proving_method_info proving_methods[METHOD_COUNT];

/* For rpc_server_create: its method indices are those of proving_method. */
extern const rpc_service proving_service;

#endif
