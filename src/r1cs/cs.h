/*
 * The constraint system seen by gadgets: variables are allocated, constraints A * B = C enforced, namespaces
 * entered and left. What becomes of them (values, counts, digests, text, a proving key) is up to the sink
 * behind `ops`. The structure never depends on values.
 *
 * Errors are sticky: after the first, calls do nothing and gadgets may go on; whoever runs a circuit reads
 * cs->error at the end. A new system has input 0 = ONE allocated.
 */
#ifndef CUZK_R1CS_CS_H
#define CUZK_R1CS_CS_H

#include "base/progress.h"
#include "r1cs/lc.h"

typedef struct cs cs;

typedef struct cs_ops {
    /* The variable is already numbered (cs->inputs or cs->aux was advanced). value is NULL in a
     * structure-only system. */
    void (*alloc)(cs *system, r1cs_var v, const fr *value);
    /* constraint number cs->constraints (advanced afterwards). */
    void (*enforce)(cs *system, const lc *a, const lc *b, const lc *c);
    /* May be NULL. `name` lives for the call. */
    void (*enter)(cs *system, const char *name);
    void (*leave)(cs *system);
} cs_ops;

struct cs {
    const cs_ops *ops;
    bool witness; /* values are wanted; gadgets skip computing them otherwise */
    uint32_t inputs, aux;
    uint64_t constraints;
    cuzk_error error; /* code CUZK_OK while all is well */
    const cuzk_progress *progress;
    const char *phase; /* name for progress */
    uint64_t expected; /* constraints in all, 0 when unknown (for progress) */
};

void cs_init(cs *system, const cs_ops *ops, bool witness);
r1cs_var cs_alloc(cs *system, const fr *value);
r1cs_var cs_alloc_input(cs *system, const fr *value);
void cs_enforce(cs *system, const lc *a, const lc *b, const lc *c);
void cs_enter(cs *system, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cs_leave(cs *system);
void cs_fail(cs *system, cuzk_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline bool cs_failed(const cs *system) {
    return system->error.code != CUZK_OK;
}

/* The size of a circuit, without the final input * 0 = 0 constraints. inputs counts ONE. */
typedef struct r1cs_shape {
    uint32_t inputs, aux;
    uint64_t constraints;
} r1cs_shape;

/* A circuit ready to be synthesized any number of times, into any system. `shape` is exact. */
typedef struct r1cs_circuit {
    const char *name;
    void (*synthesize)(const void *ctx, cs *system);
    const void *ctx;
    r1cs_shape shape;
} r1cs_circuit;

#endif
