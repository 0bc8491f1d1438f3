/* The constraint system that all storage strategies share; for lc_template.h and lc_strategy.c. */
#ifndef CUZK_BENCH_LC_SINK_H
#define CUZK_BENCH_LC_SINK_H

#include "lc_memory.h"
#include "lc_strategy.h"
#include "r1cs/density.h"
#include "r1cs/evaluate.h"

typedef struct lc_sink {
    cs base;
    assignment *out;
    uint64_t stop; /* end after this many constraints; UINT64_MAX: never */
    lc_memory memory;
    lc kept[3]; /* of the strategy `scratch` */
} lc_sink;

void lc_sink_alloc(cs *system, r1cs_var v, const fr *value);

/* The end of every enforce. */
static inline void lc_sink_enforced(lc_sink *s, bool failed) {
    if (failed) cs_fail(&s->base, CUZK_ERR_RESOURCES, "out of memory for a linear combination");
    if (s->base.constraints + 1 == s->stop) cs_fail(&s->base, CUZK_ERR_CANCELLED, "end of the slice");
}

#endif
