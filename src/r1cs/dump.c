#include "r1cs/dump.h"

#include <errno.h>
#include <inttypes.h>

typedef struct dump_cs {
    cs base;
    FILE *out;
    const r1cs_dump_options *options;
    cs_path path;
} dump_cs;

static bool in_range(const dump_cs *d) {
    const r1cs_dump_options *o = d->options;
    uint64_t i = d->base.constraints;
    return i >= o->first && (o->count == 0 || i - o->first < o->count);
}

static bool below_2_64(const fr_repr *a) {
    return (a->l[1] | a->l[2] | a->l[3]) == 0;
}

static void put_number(FILE *out, const fr *a) {
    fr minus;
    fr_repr plain, negated;
    fr_neg(&minus, a);
    fr_to_repr(&plain, a);
    fr_to_repr(&negated, &minus);
    if (below_2_64(&plain))
        fprintf(out, "%" PRIu64, plain.l[0]);
    else if (below_2_64(&negated))
        fprintf(out, "-%" PRIu64, negated.l[0]);
    else
        fprintf(out, "0x%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, plain.l[3], plain.l[2],
                plain.l[1], plain.l[0]);
}

static void put_lc(FILE *out, const lc *l) {
    fputc('[', out);
    for (uint32_t i = 0; i < l->n; i++) {
        r1cs_var v = l->terms[i].var;
        fprintf(out, "%s%c%" PRIu32 "*", i ? " " : "", r1cs_is_aux(v) ? 'W' : 'I', r1cs_index(v));
        put_number(out, &l->terms[i].coeff);
    }
    fputc(']', out);
}

static void end_line(dump_cs *d) {
    if (d->options->paths && d->path.text[0]) fprintf(d->out, "  # %s", d->path.text);
    if (fputc('\n', d->out) == EOF)
        cs_fail(&d->base, CUZK_ERR_RESOURCES, "cannot write the dump: %s", strerror(errno));
}

static void alloc(cs *system, r1cs_var v, const fr *value) {
    dump_cs *d = (dump_cs *)system;
    if (!in_range(d)) return;
    bool aux = r1cs_is_aux(v);
    fprintf(d->out, "%s%" PRIu32, aux ? "alloc W" : "input I", r1cs_index(v));
    if (value) {
        fputs(" = ", d->out);
        put_number(d->out, value);
    }
    end_line(d);
}

static void enforce(cs *system, const lc *a, const lc *b, const lc *c) {
    dump_cs *d = (dump_cs *)system;
    if (!in_range(d)) return;
    fprintf(d->out, "C%" PRIu64 ": ", system->constraints);
    put_lc(d->out, a);
    fputs(" * ", d->out);
    put_lc(d->out, b);
    fputs(" = ", d->out);
    put_lc(d->out, c);
    end_line(d);
}

static void enter(cs *system, const char *name) {
    cs_path_enter(&((dump_cs *)system)->path, name);
}

static void leave(cs *system) {
    cs_path_leave(&((dump_cs *)system)->path);
}

cuzk_code r1cs_dump(FILE *out, const r1cs_circuit *circuit, const r1cs_dump_options *options,
                    const cuzk_progress *progress, cuzk_error *err) {
    static const cs_ops ops = {alloc, enforce, enter, leave};
    dump_cs d = {.out = out, .options = options};
    cs_init(&d.base, &ops, options->values);
    cuzk_code code = cs_run(&d.base, circuit, "dump", progress, err);
    cs_free(&d.base);
    if (code == CUZK_OK && fflush(out) != 0)
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot write the dump");
    return code;
}
