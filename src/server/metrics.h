/*
 * The metrics as Prometheus text (format 0.0.4): what metric_names.h lists, in its order, each with HELP and
 * TYPE. Every counter and histogram only grows while the daemon runs.
 */
#ifndef CUZK_SERVER_METRICS_H
#define CUZK_SERVER_METRICS_H

#include "engine/engine.h"
#include "server/stats.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* *out is NUL-terminated, *size its length; free() it. Reads counters and keys of the snapshot, no jobs. */
cuzk_code metrics_text(char **out, size_t *size, const engine_snapshot *s, const server_stats *stats,
                       cuzk_error *err);

#endif
