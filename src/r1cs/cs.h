/*
 * The constraint system seen by gadgets: variables are allocated, constraints A * B = C enforced, namespaces
 * entered and left. What becomes of them (values, counts, digests, text, a proving key) is up to the sink
 * behind `ops`. The structure never depends on values.
 *
 * Errors are sticky: after the first, calls do nothing and gadgets may go on; whoever runs a circuit reads
 * cs->error at the end (cs_run does). A new system has input 0 = ONE allocated.
 */
#ifndef CUZK_R1CS_CS_H
#define CUZK_R1CS_CS_H

#include "base/progress.h"
#include "r1cs/lc.h"

/* The size of a circuit, without the final input * 0 = 0 constraints. inputs counts ONE. */
typedef struct r1cs_shape {
    uint32_t inputs, aux;
    uint64_t constraints;
} r1cs_shape;

typedef struct cs cs;
struct block_call;

typedef struct cs_ops {
    /* The variable is already numbered (cs->inputs or cs->aux was advanced). value is NULL in a
     * structure-only system and never NULL in one with witness. Not called for ONE. May be NULL. */
    void (*alloc)(cs *system, r1cs_var v, const fr *value);
    /* constraint number cs->constraints (advanced afterwards). May be NULL. */
    void (*enforce)(cs *system, const lc *a, const lc *b, const lc *c);
    /* Both or neither may be NULL. `name` lives for the call. */
    void (*enter)(cs *system, const char *name);
    void (*leave)(cs *system);
} cs_ops;

struct cs {
    const cs_ops *ops;
    /* Take over a block (block.h) with all its variables, constraints and results; false lets its body run.
     * NULL in most systems. */
    bool (*block)(cs *system, const struct block_call *call);
    bool witness; /* values are wanted; gadgets skip computing them otherwise */
    uint32_t inputs, aux;
    uint64_t constraints;
    cuzk_error error; /* code CUZK_OK while all is well */
    const cuzk_progress *progress;
    const char *phase; /* name for progress */
    uint64_t expected; /* constraints in all, 0 when unknown (for progress) */
    r1cs_shape
        limit; /* growing beyond it is an error, so sinks may size their buffers by it; cs_run sets it */
    /* Scratch for gadgets, so that no constraint allocates memory: clear, fill and pass to cs_enforce at
     * once; any gadget may overwrite them. */
    lc a, b, c;
};

void cs_init(cs *system, const cs_ops *ops, bool witness);
/* Frees the scratch. */
void cs_free(cs *system);

/* In a system with witness, value is the variable's value, Montgomery form; otherwise it is ignored. */
r1cs_var cs_alloc(cs *system, const fr *value);
r1cs_var cs_alloc_input(cs *system, const fr *value);
void cs_enforce(cs *system, const lc *a, const lc *b, const lc *c);
/* Number `aux` variables and `constraints` constraints that a sink made by itself. False, with an error, when
 * they exceed the limit or the work shall stop. */
bool cs_advance(cs *system, uint32_t aux, uint64_t constraints);
/* The first error stays. */
void cs_fail(cs *system, cuzk_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline bool cs_failed(const cs *system) {
    return system->error.code != CUZK_OK;
}

/* Namespaces name places: cs_enter(system, "bit %u", i) ... cs_leave(system). The name is formatted only for
 * sinks that look at it. */
#define cs_enter(system, ...) ((system)->ops->enter ? cs_enter_named((system), __VA_ARGS__) : (void)0)
void cs_enter_named(cs *system, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void cs_leave(cs *system) {
    if (system->ops->leave && !cs_failed(system)) system->ops->leave(system);
}

/* For sinks: the current namespaces joined by '/'. What does not fit, or is deeper than 32, is left out. */
#define CS_PATH_DEPTH 32u
typedef struct cs_path {
    char text[480];
    uint16_t lengths[CS_PATH_DEPTH]; /* of the text before each name */
    unsigned depth;
} cs_path;
void cs_path_enter(cs_path *path, const char *name);
void cs_path_leave(cs_path *path);

/* A circuit ready to be synthesized any number of times, into any system. `shape` is exact. */
typedef struct r1cs_circuit {
    const char *name;
    void (*synthesize)(const void *ctx, cs *system);
    const void *ctx;
    r1cs_shape shape;
} r1cs_circuit;

/* Synthesize into a fresh system: its error, or CUZK_ERR_INTERNAL when the sizes differ from the shape. */
cuzk_code cs_run(cs *system, const r1cs_circuit *circuit, const char *phase, const cuzk_progress *progress,
                 cuzk_error *err);

/* The sizes of a circuit, found by synthesizing it (circuit->shape is not read). */
cuzk_code r1cs_measure(r1cs_shape *out, const r1cs_circuit *circuit, cuzk_error *err);

/* The namespaces around a constraint, as "a/b/c", found by synthesizing up to it. */
cuzk_code r1cs_locate(cs_path *out, const r1cs_circuit *circuit, uint64_t constraint, cuzk_error *err);

#endif
