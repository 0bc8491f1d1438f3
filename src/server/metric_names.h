/*
 * Every metric the daemon exposes, as one list: METRIC(identifier, type, name, labels, help). Labels are
 * separated by commas; "" is none. metrics.c writes what stands here and nothing else, and the dashboard and
 * the alert rules in dist/ may name nothing else. A histogram NAME is exposed as NAME_bucket (with label le),
 * NAME_sum and NAME_count. Values of labels:
 *
 *   proof_kind  porep_c2, snap_update, window_post, winning_post; kinds that no job had are left out of
 *               cuzk_proof* and cuzk_jobs
 *   priority    critical, high, normal, low
 *   phase       check, synthesis, prove, verify: the engine's stages
 *   state       queued, running: unfinished jobs
 *   reason      queue_full, memory, draining, input, unsupported, conflict
 *   tier        hot, warm, cold
 *   circuit     a circuit id of the catalog
 */
#ifndef CUZK_SERVER_METRIC_NAMES_H
#define CUZK_SERVER_METRIC_NAMES_H

/* clang-format off */
#define METRIC_NAMES(METRIC)                                                                                         \
    METRIC(UPTIME, GAUGE, "cuzk_uptime_seconds", "", "Seconds since the daemon started")                             \
    METRIC(BUILD_INFO, GAUGE, "cuzk_build_info", "version,commit,variant", "Always 1; the labels name the build")    \
    METRIC(DRAINING, GAUGE, "cuzk_draining", "", "1 while the daemon accepts nothing more, else 0")                  \
    METRIC(COMPLETED_TOTAL, COUNTER, "cuzk_proofs_completed_total", "", "Proofs completed")                          \
    METRIC(FAILED_TOTAL, COUNTER, "cuzk_proofs_failed_total", "", "Proofs failed")                                   \
    METRIC(COMPLETED, COUNTER, "cuzk_proofs_completed", "proof_kind", "Proofs completed by kind")                    \
    METRIC(FAILED, COUNTER, "cuzk_proofs_failed", "proof_kind", "Proofs failed by kind")                             \
    METRIC(CANCELLED, COUNTER, "cuzk_proofs_cancelled", "proof_kind", "Jobs cancelled by kind")                      \
    METRIC(TIMED_OUT, COUNTER, "cuzk_proofs_timed_out", "proof_kind", "Jobs whose deadline passed, by kind")         \
    METRIC(DURATION, HISTOGRAM, "cuzk_proof_duration_seconds", "proof_kind", "From acceptance to result")            \
    METRIC(PHASE_DURATION, HISTOGRAM, "cuzk_phase_duration_seconds", "phase", "Wall time of one stage of a job or partition") \
    METRIC(QUEUE_WAIT, HISTOGRAM, "cuzk_queue_wait_seconds", "priority", "From acceptance to the first work")        \
    METRIC(QUEUE_DEPTH, GAUGE, "cuzk_queue_depth", "", "Jobs waiting for their first work")                          \
    METRIC(RUNNING_JOBS, GAUGE, "cuzk_running_jobs", "", "Jobs being worked on")                                     \
    METRIC(JOBS, GAUGE, "cuzk_jobs", "proof_kind,state", "Unfinished jobs by kind and state")                        \
    METRIC(JOBS_BY_PRIORITY, GAUGE, "cuzk_jobs_by_priority", "priority", "Unfinished jobs by priority")              \
    METRIC(SUBMITTED, COUNTER, "cuzk_requests_accepted_total", "", "Requests that became jobs")                      \
    METRIC(REFUSED, COUNTER, "cuzk_requests_refused_total", "reason", "Requests refused before any work")            \
    METRIC(STAGES, GAUGE, "cuzk_stages_running", "phase", "Stages of jobs and partitions running now")               \
    METRIC(SYNTHESIZED, GAUGE, "cuzk_partitions_synthesized", "", "Partitions that wait for the prover")             \
    METRIC(PAUSED, GAUGE, "cuzk_partitions_paused", "", "Partitions whose cores went to more urgent ones")           \
    METRIC(PARTITIONS_PROVED, COUNTER, "cuzk_partitions_proved_total", "", "Partitions proved")                      \
    METRIC(RETRIES, COUNTER, "cuzk_partition_retries_total", "", "Partitions computed again after a failed check")   \
    METRIC(SELF_CHECK_FAILURES, COUNTER, "cuzk_self_check_failures_total", "", "Proofs that failed their own check") \
    METRIC(GPU_WORKERS, GAUGE, "cuzk_gpu_workers", "", "GPU workers; 0 where proofs are made on the CPU")            \
    METRIC(CORES, GAUGE, "cuzk_cores", "", "Cores the engine may use")                                               \
    METRIC(CORES_BUSY, GAUGE, "cuzk_cores_busy", "", "Cores at work now")                                            \
    METRIC(CORE_SECONDS, COUNTER, "cuzk_core_seconds_total", "phase", "Core time spent by each stage")               \
    METRIC(MEMORY_BUDGET, GAUGE, "cuzk_memory_budget_bytes", "", "The memory budget")                                \
    METRIC(MEMORY_USED, GAUGE, "cuzk_memory_used_bytes", "", "Memory charged to the budget")                         \
    METRIC(MEMORY_RESERVED, GAUGE, "cuzk_memory_reserved_bytes", "", "Memory promised to running stages")            \
    METRIC(MEMORY_PEAK, GAUGE, "cuzk_memory_peak_bytes", "", "The most memory ever charged to the budget")           \
    METRIC(RESIDENT, GAUGE, "cuzk_process_resident_bytes", "", "Resident set of the process")                        \
    METRIC(KEYS, GAUGE, "cuzk_keys_bytes", "circuit,tier", "Size of each proving key known")                         \
    METRIC(KEY_EVICTIONS, COUNTER, "cuzk_key_evictions_total", "", "Proving keys evicted")
/* clang-format on */

#endif
