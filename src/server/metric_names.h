/*
 * Every metric the daemon exposes, as one list: METRIC(identifier, type, name, labels, help). Labels are
 * separated by commas; "" is none. metrics.c writes what stands here and nothing else, and the dashboard and
 * the alert rules in dist/ may name nothing else. A histogram NAME is exposed as NAME_bucket (with label le),
 * NAME_sum and NAME_count. Values of labels:
 *
 *   proof_kind  the proof kind's name in GetStatus
 *   priority    critical, high, normal, low
 *   phase       parse, synthesis, proving, check
 *   state       queued, running, completed, failed, cancelled
 *   tier        hot, warm, cold
 *   circuit     a circuit id of the catalog
 */
#ifndef CUZK_SERVER_METRIC_NAMES_H
#define CUZK_SERVER_METRIC_NAMES_H

/* clang-format off */
#define METRIC_NAMES(METRIC)                                                                                         \
    METRIC(UPTIME, GAUGE, "cuzk_uptime_seconds", "", "Seconds since the daemon started")                             \
    METRIC(BUILD_INFO, GAUGE, "cuzk_build_info", "version,commit,variant", "Always 1; the labels name the build")    \
    METRIC(COMPLETED_TOTAL, COUNTER, "cuzk_proofs_completed_total", "", "Proofs completed")                          \
    METRIC(FAILED_TOTAL, COUNTER, "cuzk_proofs_failed_total", "", "Proofs failed")                                   \
    METRIC(COMPLETED, COUNTER, "cuzk_proofs_completed", "proof_kind", "Proofs completed by kind")                    \
    METRIC(FAILED, COUNTER, "cuzk_proofs_failed", "proof_kind", "Proofs failed by kind")                             \
    METRIC(DURATION, HISTOGRAM, "cuzk_proof_duration_seconds", "proof_kind", "From acceptance to result")            \
    METRIC(PHASE_DURATION, HISTOGRAM, "cuzk_phase_duration_seconds", "phase", "Wall time of one phase of a job")     \
    METRIC(QUEUE_WAIT, HISTOGRAM, "cuzk_queue_wait_seconds", "priority", "From acceptance to the first work")        \
    METRIC(QUEUE_DEPTH, GAUGE, "cuzk_queue_depth", "", "Jobs waiting for their first work")                          \
    METRIC(RUNNING_JOBS, GAUGE, "cuzk_running_jobs", "", "Jobs being worked on")                                     \
    METRIC(JOBS, GAUGE, "cuzk_jobs", "state", "Jobs the daemon remembers, by state")                                 \
    METRIC(REFUSED, COUNTER, "cuzk_requests_refused_total", "reason", "Requests refused before any work")            \
    METRIC(GPU_WORKERS, GAUGE, "cuzk_gpu_workers", "", "GPU workers; 0 where proofs are made on the CPU")            \
    METRIC(CORES, GAUGE, "cuzk_cores", "", "Cores the engine may use")                                               \
    METRIC(CORES_BUSY, GAUGE, "cuzk_cores_busy", "", "Cores at work now")                                            \
    METRIC(MEMORY_BUDGET, GAUGE, "cuzk_memory_budget_bytes", "", "The memory budget")                                \
    METRIC(MEMORY_USED, GAUGE, "cuzk_memory_used_bytes", "", "Memory charged to the budget")                         \
    METRIC(RESIDENT, GAUGE, "cuzk_process_resident_bytes", "", "Resident set of the process")                        \
    METRIC(KEYS, GAUGE, "cuzk_keys_bytes", "circuit,tier", "Size of each proving key known")                         \
    METRIC(KEY_EVICTIONS, COUNTER, "cuzk_key_evictions_total", "", "Proving keys evicted")                           \
    METRIC(SELF_CHECK_FAILURES, COUNTER, "cuzk_self_check_failures_total", "", "Proofs that failed their own check")
/* clang-format on */

#endif
