/*
 * Injecting faults, for tests: that a flipped bit in memory never becomes a proof can only be shown by
 * flipping bits. The kernels name the places where a fault would hit a lot of work: once per transform pass,
 * decoded chunk or bucket window, never per element. Outside tests the hook is NULL and a place costs one
 * branch.
 *
 * Places: "witness bits", "witness numbers" (a compact witness before it is expanded), "ntt" (a vector after
 * each pass), "scalars" (plain integers, before a sum), "msm scalars" (recoded, of a chunk), "msm points"
 * (the decoded bases of a chunk), "msm ones" (those of scalars that are one), "msm buckets" (of one window,
 * after each chunk; buckets that are the identity are zero bytes or not looked at), "msm sum", "proof".
 */
#ifndef CUZK_BASE_FAULT_H
#define CUZK_BASE_FAULT_H

#include <stddef.h>

/* May be called from several threads at once. */
typedef void (*fault_fn)(const char *where, void *data, size_t bytes);

/* Set it only while no other thread is at work. */
extern fault_fn fault_hook;

static inline void fault_point(const char *where, void *data, size_t bytes) {
    if (__builtin_expect(fault_hook != NULL, 0)) fault_hook(where, data, bytes);
}

#endif
