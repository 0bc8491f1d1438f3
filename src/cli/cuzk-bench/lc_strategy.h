/*
 * Linear combinations stored in different ways, for measuring what the storage costs.
 *
 * The gadgets stay the one definition of the constraints. Under each strategy a sink gets the combinations
 * A, B and C of a constraint as the gadgets emit them, builds them a second time in the strategy's own
 * storage, evaluates those, and drops them. They are built as bellperson's closures do it: from an empty
 * combination, term by term, `lc + (coeff, variable)`, where the sum takes its left side by value and returns
 * it by value, so that each term also moves the whole struct once. A combination has two indexers (inputs
 * and aux) with bellperson's shortcut for the variable after the last one inserted.
 *
 * What the strategies have in common, the gadgets and the evaluation, is measured by the strategies `none`
 * and `direct`.
 */
#ifndef CUZK_BENCH_LC_STRATEGY_H
#define CUZK_BENCH_LC_STRATEGY_H

#include "lc_trace.h"
#include "r1cs/assignment.h"

typedef struct lc_strategy {
    const char *name, *summary;
    size_t bytes; /* of one combination, without buffers elsewhere; 0 when nothing is built */
    bool baseline, variant;
    const cs_ops *ops, *traced; /* of lc_sink (lc_sink.h); traced is NULL when nothing is built */
} lc_strategy;

/* All of them: baselines, then strategies, then variants of strategies. */
const lc_strategy *const *lc_strategies(size_t *n);
const lc_strategy *lc_strategy_find(const char *name);
/* The names of the strategies (no baselines, no variants), separated by ", ". */
const char *lc_strategy_names(void);

/*
 * Synthesize with values, one thread, through a strategy. The vectors that *out has are used again; zero it
 * before its first use. `none` leaves a, b, c and the densities as they are. With a trace, its counting
 * instance is run. `stop`: end after this many constraints, 0 for all of them; then counts of densities are
 * not made. On error nothing is left allocated in *out.
 */
cuzk_code lc_strategy_synthesize(assignment *out, const r1cs_circuit *circuit, const lc_strategy *strategy,
                                 uint64_t stop, lc_trace *trace, const cuzk_progress *progress,
                                 cuzk_error *err);

/* How many combinations have how many terms with each kind of variable; the last count is of all larger. */
#define LC_TERMS_COUNTED 64u
typedef struct lc_terms {
    uint64_t inputs[3][LC_TERMS_COUNTED + 1], aux[3][LC_TERMS_COUNTED + 1]; /* of A, B, C */
    uint64_t total;                                                         /* terms of all */
    uint64_t most;                                                          /* terms of the largest */
} lc_terms;
cuzk_code lc_count_terms(lc_terms *out, const r1cs_circuit *circuit, uint64_t stop, cuzk_error *err);

#endif
