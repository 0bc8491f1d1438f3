/* Numbering, errors and progress; the sinks do the rest. */
#include "r1cs/cs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define PROGRESS_STEP ((uint64_t)1 << 18) /* constraints between reports; a power of two */

void cs_init(cs *system, const cs_ops *ops, bool witness) {
    memset(system, 0, sizeof *system);
    system->ops = ops;
    system->witness = witness;
    system->inputs = 1;
    system->limit = (r1cs_shape){R1CS_AUX, R1CS_AUX, UINT64_MAX};
    system->a = system->b = system->c = LC_EMPTY;
}

void cs_free(cs *system) {
    lc_free(&system->a);
    lc_free(&system->b);
    lc_free(&system->c);
}

void cs_fail(cs *system, cuzk_code code, const char *format, ...) {
    if (cs_failed(system)) return;
    char text[sizeof system->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_set(&system->error, code, NULL, CUZK_NO_OFFSET, "%s", text);
}

static r1cs_var take(cs *system, uint32_t *counter, uint32_t limit, r1cs_var flag, const fr *value) {
    if (cs_failed(system)) return R1CS_ONE;
    if (*counter >= limit) {
        cs_fail(system, CUZK_ERR_INTERNAL, "the circuit has more than %" PRIu32 " %s", limit,
                flag ? "aux variables" : "inputs");
        return R1CS_ONE;
    }
    if (!system->witness) {
        value = NULL;
    } else if (!value) {
        cs_fail(system, CUZK_ERR_INTERNAL, "a gadget allocated a variable without a value");
        return R1CS_ONE;
    }
    r1cs_var v = flag | (*counter)++;
    if (system->ops->alloc) system->ops->alloc(system, v, value);
    return v;
}

r1cs_var cs_alloc(cs *system, const fr *value) {
    return take(system, &system->aux, system->limit.aux, R1CS_AUX, value);
}

r1cs_var cs_alloc_input(cs *system, const fr *value) {
    return take(system, &system->inputs, system->limit.inputs, 0, value);
}

void cs_enforce(cs *system, const lc *a, const lc *b, const lc *c) {
    if (cs_failed(system)) return;
    if (lc_failed(a) || lc_failed(b) || lc_failed(c)) {
        cs_fail(system, CUZK_ERR_RESOURCES, "out of memory for a linear combination");
        return;
    }
    if (system->constraints >= system->limit.constraints) {
        cs_fail(system, CUZK_ERR_INTERNAL, "the circuit has more than %" PRIu64 " constraints",
                system->limit.constraints);
        return;
    }
    if (system->ops->enforce) system->ops->enforce(system, a, b, c);
    if (++system->constraints % PROGRESS_STEP == 0)
        progress_report(system->progress, system->phase, system->constraints, system->expected,
                        &system->error);
}

bool cs_advance(cs *system, uint32_t aux, uint64_t constraints) {
    if (cs_failed(system)) return false;
    if (aux > system->limit.aux - system->aux ||
        constraints > system->limit.constraints - system->constraints) {
        cs_fail(system, CUZK_ERR_INTERNAL,
                "the circuit has more than %" PRIu32 " aux variables or %" PRIu64 " constraints",
                system->limit.aux, system->limit.constraints);
        return false;
    }
    uint64_t before = system->constraints / PROGRESS_STEP;
    system->aux += aux;
    system->constraints += constraints;
    if (system->constraints / PROGRESS_STEP != before)
        progress_report(system->progress, system->phase, system->constraints, system->expected,
                        &system->error);
    return !cs_failed(system);
}

void cs_enter_named(cs *system, const char *format, ...) {
    if (cs_failed(system)) return;
    char name[128];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    system->ops->enter(system, name);
}

void cs_path_enter(cs_path *path, const char *name) {
    if (path->depth < CS_PATH_DEPTH) {
        size_t length = strlen(path->text);
        path->lengths[path->depth] = (uint16_t)length;
        snprintf(path->text + length, sizeof path->text - length, "%s%s", length ? "/" : "", name);
    }
    path->depth++;
}

void cs_path_leave(cs_path *path) {
    if (path->depth == 0) return;
    if (--path->depth < CS_PATH_DEPTH) path->text[path->lengths[path->depth]] = 0;
}

cuzk_code cs_run(cs *system, const r1cs_circuit *circuit, const char *phase, const cuzk_progress *progress,
                 cuzk_error *err) {
    const r1cs_shape *shape = &circuit->shape;
    system->progress = progress;
    system->phase = phase;
    system->expected = shape->constraints;
    system->limit = *shape;
    circuit->synthesize(circuit->ctx, system);
    if (!cs_failed(system) && (system->inputs != shape->inputs || system->aux != shape->aux ||
                               system->constraints != shape->constraints))
        cs_fail(system, CUZK_ERR_INTERNAL,
                "circuit %s: %" PRIu32 " inputs, %" PRIu32 " aux and %" PRIu64
                " constraints, expected %" PRIu32 ", %" PRIu32 " and %" PRIu64,
                circuit->name, system->inputs, system->aux, system->constraints, shape->inputs, shape->aux,
                shape->constraints);
    if (cs_failed(system) && err) *err = system->error;
    return system->error.code;
}

cuzk_code r1cs_measure(r1cs_shape *out, const r1cs_circuit *circuit, cuzk_error *err) {
    static const cs_ops count_only = {NULL, NULL, NULL, NULL};
    cs system;
    cs_init(&system, &count_only, false);
    circuit->synthesize(circuit->ctx, &system);
    cs_free(&system);
    if (cs_failed(&system) && err) *err = system.error;
    *out = (r1cs_shape){system.inputs, system.aux, system.constraints};
    return system.error.code;
}

typedef struct locate_cs {
    cs base;
    cs_path *path;
    uint64_t target;
    bool found;
} locate_cs;

static void locate_enforce(cs *system, const lc *a, const lc *b, const lc *c) {
    (void)a, (void)b, (void)c;
    locate_cs *locate = (locate_cs *)system;
    if (system->constraints != locate->target) return;
    locate->found = true;
    cs_fail(system, CUZK_ERR_CANCELLED, "found"); /* ends the synthesis */
}

static void locate_enter(cs *system, const char *name) {
    cs_path_enter(((locate_cs *)system)->path, name);
}

static void locate_leave(cs *system) {
    cs_path_leave(((locate_cs *)system)->path);
}

cuzk_code r1cs_locate(cs_path *out, const r1cs_circuit *circuit, uint64_t constraint, cuzk_error *err) {
    static const cs_ops ops = {NULL, locate_enforce, locate_enter, locate_leave};
    locate_cs locate = {.path = out, .target = constraint};
    cs_init(&locate.base, &ops, false);
    memset(out, 0, sizeof *out);
    circuit->synthesize(circuit->ctx, &locate.base);
    cs_free(&locate.base);
    if (locate.found) return CUZK_OK;
    if (cs_failed(&locate.base)) {
        if (err) *err = locate.base.error;
        return locate.base.error.code;
    }
    return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                     "constraint %" PRIu64 " of %" PRIu64 " does not exist", constraint,
                     locate.base.constraints);
}
