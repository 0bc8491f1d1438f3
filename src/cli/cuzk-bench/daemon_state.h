/* What a daemon holds, read from its metrics: to find what is left behind when everything should be over. */
#ifndef CUZK_BENCH_DAEMON_STATE_H
#define CUZK_BENCH_DAEMON_STATE_H

#include "daemon.h"

typedef struct daemon_state {
    double unfinished, stages, synthesized;                            /* now; 0 when idle */
    double reserved_bytes, resident_bytes;                             /* now */
    double accepted, completed, failed, cancelled, timed_out, refused; /* since its start */
} daemon_state;

/* CUZK_ERR_PROOF when the metrics lack what is needed. */
cuzk_code daemon_state_read(daemon_state *out, daemon_link *d, cuzk_error *err);

/* Sum of a metric's samples over all labels; false when there is none. `text` is NUL-terminated. */
bool metric_sum(double *out, const char *text, const char *name);

/* What is not as it should be, compared with the idle daemon before, as a text; false when all is well. */
bool daemon_state_leftover(char out[512], const daemon_state *before, const daemon_state *after);

#endif
