/* Reporting progress and honouring a request to stop. A NULL progress is silent and never stops. */
#ifndef CUZK_BASE_PROGRESS_H
#define CUZK_BASE_PROGRESS_H

#include "base/error.h"

static inline cuzk_code progress_report(const cuzk_progress *progress, const char *phase, uint64_t done,
                                        uint64_t total, cuzk_error *err) {
    if (!progress || !progress->report || progress->report(progress->ctx, phase, done, total)) return CUZK_OK;
    return error_set(err, CUZK_ERR_CANCELLED, NULL, CUZK_NO_OFFSET, "stopped during %s", phase);
}

#endif
