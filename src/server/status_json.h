/*
 * The /status document: the engine's state as one JSON object.
 *
 * The keys that the reference engine's clients read come first and mean what they mean there, as far as a
 * prover on CPUs has such a thing (docs/operations.md lists every key):
 *
 *   uptime_secs, memory {total_bytes, used_bytes, available_bytes}, synthesis {max_concurrent, active},
 *   pipelines [{job_id, proof_kind, started_secs_ago, total_partitions, partitions_done, partitions
 *   [{index, state, synth_ms, gpu_ms}]}], gpu_workers [{worker_id, gpu_ordinal, state, current_job,
 *   current_partition, busy_secs}], allocations {srs, pce}, counters {...}, buffers {...}
 *
 * gpu_workers has one entry, the prover. Ours are further keys in these objects, and: version, commit,
 * variant, draining, cores, queue (unfinished jobs by priority), stages, refused, keys, jobs_total, jobs,
 * failures. Times of `jobs` are seconds since the engine started, as is uptime_secs; null is "not yet".
 */
#ifndef CUZK_SERVER_STATUS_JSON_H
#define CUZK_SERVER_STATUS_JSON_H

#include "engine/engine.h"
#include "server/stats.h"

/* Jobs to take a snapshot of, so that recent failures are among them whatever waits. */
#define STATUS_SNAPSHOT_JOBS 4096u
/* Of max_jobs when nobody asks, and at most. */
#define STATUS_DEFAULT_JOBS 200u
#define STATUS_MOST_JOBS    2000u
/* Running jobs whose partitions are listed, and failures. */
#define STATUS_PARTITIONED_JOBS 64u
#define STATUS_FAILURES         50u

/* *out is NUL-terminated, *size its length; free() it. Lists at most max_jobs running, waiting and ended jobs
 * each. */
cuzk_code status_json(char **out, size_t *size, const engine_snapshot *s, const server_stats *stats,
                      size_t max_jobs, cuzk_error *err);

#endif
