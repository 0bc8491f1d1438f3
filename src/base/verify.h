/* Internal invariants, checked in builds with CUZK_VERIFY and nowhere else: a failure there is a bug in this
 * library, so it traps. The condition must have no side effects. */
#ifndef CUZK_BASE_VERIFY_H
#define CUZK_BASE_VERIFY_H

#ifdef CUZK_VERIFY
#define VERIFY_CHECK(condition)                                                                              \
    do {                                                                                                     \
        if (!(condition)) __builtin_trap();                                                                  \
    } while (0)
#else
#define VERIFY_CHECK(condition) ((void)sizeof(condition))
#endif

#endif
