#include "gadget/multieq.h"

void multieq_start(multieq *m, cs *system) {
    *m = (multieq){.system = system, .weight = FR_ONE};
    m->lhs = m->rhs = m->sum = m->operand = LC_EMPTY;
}

static void emit(multieq *m) {
    lc_clear(&m->system->b);
    lc_add_one(&m->system->b, R1CS_ONE);
    cs_enforce(m->system, &m->lhs, &m->system->b, &m->rhs);
    lc_clear(&m->lhs);
    lc_clear(&m->rhs);
    m->weight = FR_ONE;
    m->used = 0;
}

void multieq_make_room(multieq *m, unsigned n) {
    if (m->used + n >= FR_CAPACITY) emit(m);
}

void multieq_added(multieq *m, unsigned n, const fr *next_weight) {
    m->used += n;
    m->weight = *next_weight;
}

void multieq_finish(multieq *m) {
    if (m->used > 0) emit(m);
    lc_free(&m->lhs);
    lc_free(&m->rhs);
    lc_free(&m->sum);
    lc_free(&m->operand);
}
