/*
 * Rows are looked at in order. A row over bits (at most one of them not yet known to be one) is reduced to
 * its form: constants, and per variable the coefficients in A, B and C and how earlier rows define it. There
 * are only a few dozen different forms, so each is analysed once; then rows are joined to runs.
 */
#include "r1cs/program.h"

#include <stdlib.h>
#include <string.h>

#include "r1cs/bits.h"

#define MAX_SHAPES 255u
#define MAX_FORMS  512u
#define NO_SHAPE   255u

/* ---- forms of rows ---- */

/* v = table[x0 + 2 x1 + 4 x2] of bits x0, x1, x2. */
typedef struct definition {
    uint32_t vars[SHAPE_MAX_FREE];
    uint8_t n; /* NO_DEFINITION or up to SHAPE_MAX_FREE */
    uint8_t table;
} definition;
#define NO_DEFINITION 255u

typedef struct row_slot {
    int8_t k[3]; /* coefficients in A, B, C */
    uint8_t defined;
    uint8_t table; /* when defined: of the slots below */
    uint8_t n_from, from[SHAPE_MAX_FREE];
} row_slot;

/* Plain bytes, compared as such. */
typedef struct row_form {
    int8_t constant[3];
    uint8_t n;       /* slots */
    uint8_t unknown; /* the slot not known to be a bit, or n */
    row_slot slot[SHAPE_MAX_SLOTS];
} row_form;

typedef struct form_result {
    row_form form;
    uint8_t shape;                  /* NO_SHAPE: not a code row */
    bool proves_bit;                /* the unknown slot is a bit */
    uint8_t order[SHAPE_MAX_SLOTS]; /* of slots in the shape: free ones first */
    uint8_t n_free;
    uint8_t tables[2]; /* of determined slots, over the free ones */
} form_result;

typedef struct coded_row {
    uint32_t slots[SHAPE_MAX_SLOTS];
    uint8_t shape, n;
} coded_row;

typedef struct compiler {
    const program_source *in;
    program *out;
    uint32_t n_operands;
    bool *is_bit;            /* of operands and local variables */
    definition *definitions; /* of local variables */
    form_result *forms;
    unsigned n_forms;
    struct shape_key {
        uint8_t slots, free;
        uint8_t tables[2];
        uint8_t planes[PLANES]; /* over the free slots, as tables */
    } keys[MAX_SHAPES];
    coded_row *coded;
    uint32_t capacity[6]; /* of ops, slots, shapes, full, terms, segments */
    bool failed;
} compiler;

static int combine(const row_form *f, unsigned side, unsigned values) {
    int sum = f->constant[side];
    for (unsigned i = 0; i < f->n; i++)
        if (values >> i & 1) sum += f->slot[i].k[side];
    return sum;
}

/* Do all definitions hold for these values of the slots? */
static bool is_consistent(const row_form *f, unsigned values) {
    for (unsigned i = 0; i < f->n; i++) {
        const row_slot *s = &f->slot[i];
        if (!s->defined) continue;
        unsigned index = 0;
        for (unsigned j = 0; j < s->n_from; j++) index |= (values >> s->from[j] & 1) << j;
        if ((s->table >> index & 1) != (values >> i & 1)) return false;
    }
    return true;
}

/*
 * Can the unknown variable w be nothing but 0 or 1? For any values of the others the row says
 *   p(w) = (A1 w + A0) (B1 w + B0) - (C1 w + C0) = alpha w^2 + beta w + gamma = 0,
 * with integers far below the modulus.
 */
static bool proves_bit(const row_form *f) {
    unsigned u = f->unknown;
    int a1 = f->slot[u].k[0], b1 = f->slot[u].k[1], c1 = f->slot[u].k[2];
    for (unsigned values = 0; values < 1u << f->n; values++) {
        if (values >> u & 1 || !is_consistent(f, values)) continue;
        int a0 = combine(f, 0, values), b0 = combine(f, 1, values), c0 = combine(f, 2, values);
        int alpha = a1 * b1, beta = a1 * b0 + a0 * b1 - c1, gamma = a0 * b0 - c0;
        bool zero = gamma == 0, one = alpha + beta + gamma == 0;
        if (alpha == 0) {
            if (beta == 0 || !(zero || one)) return false; /* any w, or another one */
        } else if (!(zero && (one || beta == 0)) && !(one && gamma == alpha)) {
            return false; /* the second root is -beta / alpha beside 0, gamma / alpha beside 1 */
        }
    }
    return true;
}

/* Values of the slots, as a set: bit v stands for the values in the bits of v. */
typedef uint32_t value_set;

static bool has_code(int value) {
    return value >= -1 && value <= 2;
}

/* All values that the row and the definitions allow; false if A, B or C has no code for one of them. */
static bool allowed_values(value_set *out, const row_form *f) {
    *out = 0;
    for (unsigned values = 0; values < 1u << f->n; values++) {
        int a = combine(f, 0, values), b = combine(f, 1, values), c = combine(f, 2, values);
        if (a * b != c || !is_consistent(f, values)) continue;
        if (!has_code(a) || !has_code(b) || !has_code(c)) return false;
        *out |= (value_set)1 << values;
    }
    return *out != 0;
}

/* Is slot d a function of the slots in `kept`, on the allowed values? */
static bool is_determined(value_set allowed, unsigned n, unsigned kept, unsigned d) {
    uint8_t seen[1 << SHAPE_MAX_SLOTS] = {0};
    for (unsigned v = 0; v < 1u << n; v++)
        if (allowed >> v & 1) seen[v & kept] |= (uint8_t)(1 << (v >> d & 1));
    for (unsigned v = 0; v < 1u << n; v++)
        if (seen[v] == 3) return false;
    return true;
}

/* The table over the free slots of a function of allowed values, 0 where nothing is allowed. */
static uint8_t tabulate(const form_result *r, value_set allowed, uint32_t function) {
    uint8_t table = 0;
    for (unsigned v = 0; v < 1u << r->form.n; v++) {
        if (!(allowed >> v & 1) || !(function >> v & 1)) continue;
        unsigned index = 0;
        for (unsigned i = 0; i < r->n_free; i++) index |= (v >> r->order[i] & 1) << i;
        table |= (uint8_t)(1 << index);
    }
    return table;
}

static void fill_shape(program_shape *out, const struct shape_key *key) {
    memset(out, 0, sizeof *out);
    out->slots = key->slots;
    out->free = key->free;
    out->checks = key->slots > key->free || key->planes[PLANE_CHECK];
    for (unsigned p = 0; p < PLANES; p++) {
        /* table to sum of products (Moebius transform) */
        uint8_t table = key->planes[p];
        for (unsigned i = 0; i < key->free; i++)
            for (unsigned m = 0; m < 1u << key->free; m++)
                if (m >> i & 1) table ^= (uint8_t)((table >> (m ^ 1u << i) & 1) << m);
        for (unsigned m = 0; m < 1u << key->free; m++) out->factor[m][p] = table >> m & 1 ? UINT64_MAX : 0;
    }
}

static bool reserve(compiler *c, unsigned which, void *array_at, uint32_t n, size_t element) {
    if (n <= c->capacity[which]) return true;
    uint32_t larger = c->capacity[which] ? 2 * c->capacity[which] : 64;
    while (larger < n) larger *= 2;
    void *memory;
    memcpy(&memory, array_at, sizeof memory);
    memory = realloc(memory, larger * element);
    if (!memory) {
        c->failed = true;
        return false;
    }
    memcpy(array_at, &memory, sizeof memory);
    c->capacity[which] = larger;
    return true;
}

/* The number of a shape, new or known; NO_SHAPE when there are too many. */
static uint8_t shape_number(compiler *c, const struct shape_key *key) {
    program *p = c->out;
    for (unsigned i = 0; i < p->n_shapes; i++)
        if (memcmp(&c->keys[i], key, sizeof *key) == 0) return (uint8_t)i;
    if (p->n_shapes == MAX_SHAPES || !reserve(c, 2, &p->shapes, p->n_shapes + 1, sizeof *p->shapes))
        return NO_SHAPE;
    c->keys[p->n_shapes] = *key;
    fill_shape(&p->shapes[p->n_shapes], key);
    return (uint8_t)p->n_shapes++;
}

static void analyse(compiler *c, form_result *r) {
    const row_form *f = &r->form;
    r->shape = NO_SHAPE;
    r->proves_bit = f->unknown < f->n && proves_bit(f);
    if (f->unknown < f->n && !r->proves_bit) return;
    value_set allowed;
    if (!allowed_values(&allowed, f)) return;

    /* Take away determined slots, the unknown one first, then from the last. */
    unsigned kept = (1u << f->n) - 1, determined[2], n_determined = 0;
    for (unsigned k = 0; k <= f->n && n_determined < 2; k++) {
        unsigned d = k == 0 ? f->unknown : f->n - k;
        if (d >= f->n || !(kept >> d & 1) || !is_determined(allowed, f->n, kept & ~(1u << d), d)) continue;
        kept &= ~(1u << d);
        determined[n_determined++] = d;
    }
    r->n_free = (uint8_t)(f->n - n_determined);
    if (r->n_free > SHAPE_MAX_FREE) return;
    unsigned at = 0;
    for (unsigned i = 0; i < f->n; i++)
        if (kept >> i & 1) r->order[at++] = (uint8_t)i;
    for (unsigned i = 0; i < n_determined; i++) r->order[at++] = (uint8_t)determined[i];

    struct shape_key key;
    memset(&key, 0, sizeof key);
    key.slots = f->n;
    key.free = r->n_free;
    for (unsigned side = 0; side < 3; side++) {
        uint32_t low = 0, high = 0;
        for (unsigned v = 0; v < 1u << f->n; v++) {
            int value = combine(f, side, v);
            low |= (uint32_t)(value == 1 || value == -1) << v;
            high |= (uint32_t)(value == 2 || value == -1) << v;
        }
        key.planes[2 * side] = tabulate(r, allowed, low);
        key.planes[2 * side + 1] = tabulate(r, allowed, high);
    }
    for (unsigned i = 0; i < n_determined; i++) {
        uint32_t function = 0;
        for (unsigned v = 0; v < 1u << f->n; v++) function |= (v >> determined[i] & 1) << v;
        key.tables[i] = r->tables[i] = tabulate(r, allowed, function);
        key.planes[PLANE_CHECK + i] = key.tables[i];
    }
    /* Values of the free slots that nothing allows: a plane that must be zero says so. */
    uint8_t possible = tabulate(r, allowed, UINT32_MAX);
    uint8_t impossible = (uint8_t)(~possible & bits_mask(1u << r->n_free));
    if (impossible) {
        if (n_determined == 2) return;
        key.planes[PLANE_CHECK + n_determined] = impossible;
    }
    r->shape = shape_number(c, &key);
}

static const form_result *result_of(compiler *c, const row_form *form) {
    for (unsigned i = 0; i < c->n_forms; i++)
        if (memcmp(&c->forms[i].form, form, sizeof *form) == 0) return &c->forms[i];
    if (c->n_forms == MAX_FORMS) return NULL;
    form_result *r = &c->forms[c->n_forms++];
    memset(r, 0, sizeof *r);
    r->form = *form;
    analyse(c, r);
    return r;
}

/* ---- from rows to forms ---- */

typedef struct slot_list {
    unsigned n;
    struct {
        uint32_t var; /* operand or local variable */
        int8_t k[3];
    } slot[SHAPE_MAX_SLOTS];
    int8_t constant[3];
} slot_list;

/* The variables of a row with their coefficients; false if they are too many or too large. */
static bool list_slots(slot_list *out, const compiler *c, uint32_t row) {
    memset(out, 0, sizeof *out);
    for (unsigned side = 0; side < 3; side++) {
        row_side s = rows_side(c->in->rows, row, side);
        if (s.n > SHAPE_MAX_SLOTS + 1) return false;
        for (const row_term *t = s.terms, *end = t + s.n; t < end; t++) {
            const coefficient *k = &c->in->coefficients->list[t->coeff];
            if (!k->is_small) return false;
            if (k->integer == 0) continue;
            if (t->var == R1CS_ONE) {
                out->constant[side] = k->integer;
                continue;
            }
            uint32_t var = r1cs_index(t->var);
            unsigned i = 0;
            while (i < out->n && out->slot[i].var != var) i++;
            if (i == out->n) {
                if (out->n++ == SHAPE_MAX_SLOTS) return false;
                out->slot[i].var = var;
            }
            out->slot[i].k[side] = k->integer;
        }
    }
    return out->n > 0;
}

static int compare_slots(const slot_list *l, unsigned i, unsigned j) {
    int order = memcmp(l->slot[i].k, l->slot[j].k, sizeof l->slot[i].k);
    if (order) return order;
    return l->slot[i].var < l->slot[j].var ? -1 : 1;
}

/* By coefficients, so that the numbers of variables do not matter to the form. */
static void sort_slots(slot_list *l) {
    for (unsigned i = 1; i < l->n; i++)
        for (unsigned j = i; j > 0 && compare_slots(l, j - 1, j) > 0; j--) {
            typeof(l->slot[0]) t = l->slot[j];
            l->slot[j] = l->slot[j - 1];
            l->slot[j - 1] = t;
        }
}

static void add_definition(row_form *f, unsigned i, const slot_list *l, const definition *d) {
    if (d->n == NO_DEFINITION) return;
    row_slot *s = &f->slot[i];
    for (unsigned j = 0; j < d->n; j++) {
        unsigned from = 0;
        while (from < l->n && l->slot[from].var != d->vars[j]) from++;
        if (from == l->n) return; /* it needs a variable that this row has not */
        s->from[j] = (uint8_t)from;
    }
    s->n_from = d->n;
    s->table = d->table;
    s->defined = 1;
}

/* False if more than one variable is not known to be a bit. */
static bool make_form(row_form *f, const compiler *c, const slot_list *l) {
    memset(f, 0, sizeof *f);
    memcpy(f->constant, l->constant, sizeof f->constant);
    f->n = f->unknown = (uint8_t)l->n;
    for (unsigned i = 0; i < l->n; i++) {
        uint32_t var = l->slot[i].var;
        memcpy(f->slot[i].k, l->slot[i].k, sizeof f->slot[i].k);
        if (!c->is_bit[var]) {
            if (var < c->n_operands || f->unknown < l->n) return false;
            f->unknown = (uint8_t)i;
        } else if (var >= c->n_operands) {
            add_definition(f, i, l, &c->definitions[var - c->n_operands]);
        }
    }
    return true;
}

static uint32_t bit_ref(const compiler *c, uint32_t var) {
    return var < c->n_operands ? ref_make(REF_OPERAND_BIT, var)
                               : ref_make(REF_LOCAL_BIT, var - c->n_operands);
}

/* Note a code row, what it proves and what it defines. */
static void code_row(compiler *c, uint32_t row) {
    coded_row *coded = &c->coded[row];
    coded->shape = NO_SHAPE;
    slot_list l;
    row_form form;
    if (!list_slots(&l, c, row)) return;
    sort_slots(&l);
    if (!make_form(&form, c, &l)) return;
    const form_result *r = result_of(c, &form);
    if (!r) return;
    if (r->proves_bit) c->is_bit[l.slot[form.unknown].var] = true;
    if (r->shape == NO_SHAPE) return;
    coded->shape = r->shape;
    coded->n = (uint8_t)l.n;
    for (unsigned i = 0; i < l.n; i++) coded->slots[i] = bit_ref(c, l.slot[r->order[i]].var);
    /* The row is checked whenever it is evaluated, so later ones may rely on what it determines. */
    if (r->proves_bit && r->n_free < l.n && r->order[r->n_free] == form.unknown) {
        definition *d = &c->definitions[l.slot[form.unknown].var - c->n_operands];
        d->n = r->n_free;
        d->table = r->tables[0];
        for (unsigned i = 0; i < r->n_free; i++) d->vars[i] = l.slot[r->order[i]].var;
    }
}

/* ---- rows that are no code rows ---- */

static uint32_t value_ref(const compiler *c, const uint32_t *full_index, uint32_t var) {
    if (var < c->in->n_bits) return ref_make(REF_OPERAND_BIT, var);
    if (var < c->n_operands) return ref_make(REF_NUM, var - c->in->n_bits);
    uint32_t local = var - c->n_operands;
    return full_index[local] == UINT32_MAX ? ref_make(REF_LOCAL_BIT, local)
                                           : ref_make(REF_FULL, full_index[local]);
}

#define LADDER_MIN 8u
#define LADDER_MAX FR_CAPACITY

/* A side of nothing but bits times different powers of two? Then its segments. */
static bool make_ladder(compiler *c, full_side *out, row_side s, const uint32_t *full_index) {
    uint64_t used[4] = {0};
    if (s.n < LADDER_MIN) return false;
    for (uint32_t i = 0; i < s.n; i++) {
        int power = c->in->coefficients->list[s.terms[i].coeff].power;
        if (s.terms[i].var == R1CS_ONE || power < 0 || power >= (int)LADDER_MAX) return false;
        uint32_t ref = value_ref(c, full_index, r1cs_index(s.terms[i].var));
        if (ref_kind(ref) > REF_LOCAL_BIT || bits_get(used, (size_t)power)) return false;
        bits_set(used, (size_t)power);
    }
    program *p = c->out;
    *out = (full_side){.kind = SIDE_LADDER, .constant = COEFF_NONE, .first = p->n_segments};
    if (!reserve(c, 5, &p->segments, p->n_segments + s.n, sizeof *p->segments)) return false;
    for (uint32_t i = 0; i < s.n; i++) {
        uint32_t ref = value_ref(c, full_index, r1cs_index(s.terms[i].var));
        uint16_t power = (uint16_t)c->in->coefficients->list[s.terms[i].coeff].power;
        ladder_segment *last = out->n ? &p->segments[p->n_segments - 1] : NULL;
        if (last && last->length < 64 && ref == last->ref + last->length &&
            power == last->weight + last->length) {
            last->length++;
        } else {
            p->segments[p->n_segments++] = (ladder_segment){ref, power, 1};
            out->n++;
        }
    }
    return true;
}

static void make_side(compiler *c, full_side *out, row_side s, const uint32_t *full_index) {
    *out = (full_side){.kind = SIDE_ZERO, .constant = COEFF_NONE};
    if (make_ladder(c, out, s, full_index)) return;
    program *p = c->out;
    out->first = p->n_terms;
    if (!reserve(c, 4, &p->terms, p->n_terms + s.n, sizeof *p->terms)) return;
    for (uint32_t i = 0; i < s.n; i++) {
        if (fr_is_zero(&c->in->coefficients->list[s.terms[i].coeff].value)) continue;
        if (s.terms[i].var == R1CS_ONE) {
            out->constant = s.terms[i].coeff;
        } else {
            uint32_t ref = value_ref(c, full_index, r1cs_index(s.terms[i].var));
            p->terms[p->n_terms++] = (full_term){ref, s.terms[i].coeff};
            out->n++;
        }
    }
    if (out->n == 0) {
        if (out->constant == COEFF_ONE) out->kind = SIDE_ONE;
        if (out->constant != COEFF_NONE && out->constant != COEFF_ONE) out->kind = SIDE_SUM;
    } else if (out->n == 1 && out->constant == COEFF_NONE && p->terms[out->first].coeff == COEFF_ONE) {
        out->kind = SIDE_VALUE;
        out->first = p->terms[--p->n_terms].ref;
    } else {
        out->kind = SIDE_SUM;
    }
}

static uint32_t cost(const full_side *side) {
    switch (side->kind) {
    case SIDE_SUM:
        return 4 + 4 * side->n;
    case SIDE_LADDER:
        return 8 + side->n;
    default:
        return side->kind;
    }
}

static void add_full_row(compiler *c, uint32_t row, const uint32_t *full_index) {
    program *p = c->out;
    if (!reserve(c, 3, &p->full, p->n_full + 1, sizeof *p->full)) return;
    full_side *side = p->full[p->n_full].side;
    for (unsigned i = 0; i < 3; i++) make_side(c, &side[i], rows_side(c->in->rows, row, i), full_index);
    /* The row holds: A * 1 = C, and 0 = C. */
    if (side[0].kind == SIDE_ZERO || side[1].kind == SIDE_ZERO)
        side[2].kind = SIDE_ZERO;
    else if (side[1].kind == SIDE_ONE && cost(&side[2]) < cost(&side[0]))
        side[0].kind = SIDE_AS_C;
    else if (side[1].kind == SIDE_ONE)
        side[2].kind = SIDE_AS_A;
    if (!reserve(c, 0, &p->ops, p->n_ops + 1, sizeof *p->ops)) return;
    p->ops[p->n_ops++] = (program_op){.row = row, .rows = 1, .kind = OP_FULL, .first = p->n_full++};
}

/* ---- runs ---- */

static bool continues(const coded_row *first, const coded_row *later, uint32_t distance) {
    if (later->shape != first->shape) return false;
    for (unsigned i = 0; i < first->n; i++)
        if (later->slots[i] != first->slots[i] + distance) return false;
    return true;
}

/* The stride of every slot from a row to the next one of its shape in a run of pairs: 1 or 2. */
static bool find_strides(uint8_t *strides, const coded_row *first, const coded_row *next) {
    if (next->shape != first->shape) return false;
    for (unsigned i = 0; i < first->n; i++) {
        uint32_t stride = next->slots[i] - first->slots[i];
        if (stride != 1 && stride != 2) return false;
        strides[i] = (uint8_t)stride;
    }
    return true;
}

static bool continues_by(const coded_row *first, const coded_row *later, const uint8_t *strides,
                         uint32_t steps) {
    if (later->shape != first->shape) return false;
    for (unsigned i = 0; i < first->n; i++)
        if (later->slots[i] != first->slots[i] + steps * strides[i]) return false;
    return true;
}

static void put_slots(compiler *c, const coded_row *row, const uint8_t *strides) {
    program *p = c->out;
    if (!reserve(c, 1, &p->slots, p->n_slots + row->n, sizeof *p->slots)) return;
    for (unsigned i = 0; i < row->n; i++)
        p->slots[p->n_slots++] = row->slots[i] | (strides && strides[i] == 2 ? REF_STRIDE_2 : 0);
}

#define MAX_RUN   64u
#define MAX_PAIRS 32u

/* Add the op that begins with a code row; its number of rows. */
static uint32_t add_run(compiler *c, uint32_t row) {
    program *p = c->out;
    const coded_row *rows = &c->coded[row];
    uint32_t left = c->in->rows->n - row, n = 1, pairs = 1;
    uint8_t even[SHAPE_MAX_SLOTS], odd[SHAPE_MAX_SLOTS];
    while (n < left && n < MAX_RUN && continues(&rows[0], &rows[n], n)) n++;
    bool alternate = n == 1 && left >= 4 && rows[1].shape != NO_SHAPE &&
                     find_strides(even, &rows[0], &rows[2]) && find_strides(odd, &rows[1], &rows[3]);
    if (!reserve(c, 0, &p->ops, p->n_ops + 1, sizeof *p->ops)) return 1;
    program_op *op = &p->ops[p->n_ops++];
    *op = (program_op){.row = row, .kind = OP_CODES, .first = p->n_slots, .shape = {rows[0].shape, 0}};
    if (alternate) {
        while (pairs < MAX_PAIRS && 2 * pairs + 1 < left &&
               continues_by(&rows[0], &rows[2 * pairs], even, pairs) &&
               continues_by(&rows[1], &rows[2 * pairs + 1], odd, pairs))
            pairs++;
        n = 2 * pairs;
        op->kind = OP_PAIRS;
        op->shape[1] = rows[1].shape;
        put_slots(c, &rows[0], even);
        put_slots(c, &rows[1], odd);
    } else {
        put_slots(c, &rows[0], NULL);
    }
    op->rows = (uint8_t)n;
    return n;
}

/* ---- the whole ---- */

static void compile(compiler *c, uint32_t *full_index, uint32_t *n_full) {
    const program_source *in = c->in;
    for (uint32_t k = 0; k < in->n_bits; k++) c->is_bit[k] = true;
    for (uint32_t k = 0; k < in->n_aux; k++) c->definitions[k].n = NO_DEFINITION;
    for (uint32_t row = 0; row < in->rows->n; row++) code_row(c, row);
    *n_full = 0;
    for (uint32_t k = 0; k < in->n_aux; k++)
        full_index[k] = c->is_bit[c->n_operands + k] ? UINT32_MAX : (*n_full)++;
    for (uint32_t row = 0; row < in->rows->n && !c->failed;) {
        if (c->coded[row].shape != NO_SHAPE) {
            row += add_run(c, row);
        } else {
            add_full_row(c, row++, full_index);
        }
    }
}

bool program_compile(program *out, uint32_t *full_index, uint32_t *n_full, const program_source *in) {
    *out = (program){.n_ops = 0};
    compiler *c = calloc(1, sizeof *c);
    if (!c) return false;
    c->in = in;
    c->out = out;
    c->n_operands = in->n_bits + in->n_nums;
    c->is_bit = calloc((size_t)c->n_operands + in->n_aux + 1, sizeof *c->is_bit);
    c->definitions = calloc((size_t)in->n_aux + 1, sizeof *c->definitions);
    c->forms = calloc(MAX_FORMS, sizeof *c->forms);
    c->coded = calloc((size_t)in->rows->n + 1, sizeof *c->coded);
    c->failed = !c->is_bit || !c->definitions || !c->forms || !c->coded;
    if (!c->failed) compile(c, full_index, n_full);
    bool ok = !c->failed;
    free(c->is_bit);
    free(c->definitions);
    free(c->forms);
    free(c->coded);
    free(c);
    if (!ok) program_free(out);
    return ok;
}

void program_free(program *p) {
    free(p->ops);
    free(p->slots);
    free(p->shapes);
    free(p->full);
    free(p->terms);
    free(p->segments);
    *p = (program){.n_ops = 0};
}
