/*
 * The engine's events as lines of the log: acceptance and end of each job at info (failures at error, missed
 * deadlines and repeated partitions at warn), its stages at debug. Each has the job's id, and `at`: seconds
 * since the engine started, so that a log tells the whole course of a job. Each event is
 * a TIMELINE line (engine/timeline.h) besides, at trace.
 */
#ifndef CUZK_SERVER_EVENT_LOG_H
#define CUZK_SERVER_EVENT_LOG_H

#include "engine/engine.h"

/* For engine_config.event. */
void event_log(void *ctx, const engine_event *event);

#endif
