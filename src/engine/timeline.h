/*
 * The engine's events as lines for tools that draw them, in the form of the reference engine's log:
 *
 *     TIMELINE,<ms since the engine started>,<EVENT>,<job id>,<name=value,...>
 *
 * SYNTH_START, SYNTH_END, GPU_START and GPU_END are the reference's ("GPU" is whatever proves), with
 * partition=K and at the end synth_ms=N or gpu_ms=N. Ours besides: SUBMITTED (kind, priority), CHECK_START,
 * CHECK_END, VERIFY_START, VERIFY_END, PAUSED and RESUMED (stage, partition), RETRY (stage, partition),
 * FINISHED (state).
 */
#ifndef CUZK_ENGINE_TIMELINE_H
#define CUZK_ENGINE_TIMELINE_H

#include "engine/engine.h"

#define TIMELINE_LINE_BYTES (JOB_ID_BYTES + 128u)

/* The line of an event, terminated, without a newline. */
void timeline_line(char out[TIMELINE_LINE_BYTES], const engine_event *event);

#endif
