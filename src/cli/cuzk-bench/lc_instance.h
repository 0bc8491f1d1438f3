/* One strategy: the template for timing and for counting, and its entry lc_strategy_ID. Before: LC_NAME,
 * LC_SUMMARY, LC_VARIANT and the template's LC_ID, LC_INLINE, LC_SOURCE, LC_MOVES, LC_START. */
#include "lc_move.h"
#include "lc_sink.h"

#define LC_TRACE 0
#include "lc_template.h"
#undef LC_TRACE
#define LC_TRACE 1
#include "lc_template.h"
#undef LC_TRACE

#define LC_JOIN2(a, b) a##b
#define LC_JOIN(a, b)  LC_JOIN2(a, b)
extern const lc_strategy LC_JOIN(lc_strategy_, LC_ID);
const lc_strategy LC_JOIN(lc_strategy_, LC_ID) = {
    LC_NAME,
    LC_SUMMARY,
    sizeof(LC_JOIN(lc_, LC_ID)),
    false,
    LC_VARIANT,
    &(const cs_ops){lc_sink_alloc, LC_JOIN(enforce_, LC_ID), NULL, NULL},
    &(const cs_ops){lc_sink_alloc, LC_JOIN(LC_JOIN(enforce_, LC_ID), _traced), NULL, NULL},
};
#undef LC_JOIN2
#undef LC_JOIN
#undef LC_ID
#undef LC_NAME
#undef LC_SUMMARY
#undef LC_INLINE
#undef LC_SOURCE
#undef LC_MOVES
#undef LC_START
#undef LC_VARIANT
