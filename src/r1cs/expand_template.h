/*
 * The body of expand_portable.c and expand_ifma.c, which define KERNEL.
 *
 * Values with codes are written two at a time from a table of all pairs, so that a cache line is one entry:
 * going around the caches, whole lines are what the memory wants. Everything else is written element by
 * element, in order, which combines to whole lines just as well.
 */
#include "r1cs/expand_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* ---- stores ---- */

typedef struct fr_pair {
    fr v[2];
} fr_pair __attribute__((aligned(64)));

/* clang-format off */
#define E0 {{0, 0, 0, 0}}
#define E1 {{0x00000001fffffffeu, 0x5884b7fa00034802u, 0x998c4fefecbc4ff5u, 0x1824b159acc5056fu}}
#define E2 {{0x00000003fffffffcu, 0xb1096ff400069004u, 0x33189fdfd9789feau, 0x304962b3598a0adfu}}
#define E3 {{0xfffffffd00000003u, 0xfb38ec08fffb13fcu, 0x99ad88181ce5880fu, 0x5bc8f5f97cd877d8u}}
/* [low bits of two codes | high bits << 2] */
static const fr_pair pairs[16] = {
    {{E0, E0}}, {{E1, E0}}, {{E0, E1}}, {{E1, E1}},
    {{E2, E0}}, {{E3, E0}}, {{E2, E1}}, {{E3, E1}},
    {{E0, E2}}, {{E1, E2}}, {{E0, E3}}, {{E1, E3}},
    {{E2, E2}}, {{E3, E2}}, {{E2, E3}}, {{E3, E3}}};
/* clang-format on */

INLINE void put_one(fr *to, const fr *from, bool stream) {
#if defined(__x86_64__)
    if (stream) {
        for (unsigned i = 0; i < 2; i++)
            _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
        return;
    }
#endif
    *to = *from;
    (void)stream;
}

INLINE void put_pair(fr *to, const fr_pair *from, bool stream) {
#if defined(__AVX512F__)
    __m512i line = _mm512_load_si512(from);
    if (stream)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_storeu_si512((void *)to, line);
#else
    put_one(to, &from->v[0], stream);
    put_one(to + 1, &from->v[1], stream);
#endif
}

/* n values by their codes; `odd`: the first one is the second half of a line. */
INLINE void put_codes(fr *to, uint64_t low, uint64_t high, unsigned n, bool odd, bool stream) {
    if (odd && n > 0) {
        put_one(to++, &pairs[(low & 1) | (high & 1) << 2].v[0], stream);
        low >>= 1;
        high >>= 1;
        n--;
    }
    for (; n >= 2; n -= 2, to += 2) {
        put_pair(to, &pairs[(low & 3) | (high & 3) << 2], stream);
        low >>= 2;
        high >>= 2;
    }
    if (n) put_one(to, &pairs[(low & 1) | (high & 1) << 2].v[0], stream);
}

INLINE void finish_stores(bool stream) {
#if defined(__x86_64__)
    if (stream) _mm_sfence();
#endif
    (void)stream;
}

/* ---- what comes out of rows ---- */

INLINE void emit_codes(row_sink *sink, uint64_t row, const uint64_t planes[PLANES], unsigned n) {
    const uint64_t offset = row - sink->first;
    for (unsigned s = 0; s < 3; s++)
        if (sink->out[s])
            put_codes(sink->out[s] + offset, planes[2 * s], planes[2 * s + 1], n, row & 1, sink->stream);
    if (sink->planes)
        for (unsigned p = 0; p < PLANE_CHECK; p++) sink->planes[p] |= (planes[p] & bits_mask(n)) << offset;
}

INLINE void emit_full(row_sink *sink, uint64_t row, const fr values[3]) {
    for (unsigned s = 0; s < 3; s++)
        if (sink->out[s]) put_one(sink->out[s] + (row - sink->first), &values[s], sink->stream);
    if (sink->full) *sink->full |= (uint64_t)1 << (row - sink->first);
}

/* Are values of rows without codes wanted? */
INLINE bool wants_values(const row_sink *sink) {
    return sink->out[0] || sink->out[1] || sink->out[2];
}

/* ---- code rows ---- */

/* 64 rows' values of a variable, from row `skip` of its run. */
INLINE uint64_t slot_word(const instance_values *v, uint32_t slot, unsigned skip) {
    uint64_t at = ref_index(slot) + skip;
    return ref_kind(slot) == REF_OPERAND_BIT ? bits_load(v->operand_bits, at)
                                             : bits_load(v->w->bits, v->first_bit + at);
}

/* Bits 0, 2, 4, ... of x. */
INLINE uint64_t even_bits(uint64_t x) {
#if defined(__BMI2__)
    return _pext_u64(x, 0x5555555555555555u);
#else
    x &= 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (x | x >> 16) & UINT32_MAX;
#endif
}

/* The low 32 bits of x moved to bits 0, 2, 4, ... */
INLINE uint64_t spread_bits(uint64_t x) {
#if defined(__BMI2__)
    return _pdep_u64(x, 0x5555555555555555u);
#else
    x &= UINT32_MAX;
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x << 2) & 0x3333333333333333u;
    return (x | x << 1) & 0x5555555555555555u;
#endif
}

/* Planes from..PLANES. */
INLINE void add_products(uint64_t planes[PLANES], unsigned from, const program_shape *s, unsigned m,
                         uint64_t product) {
    for (unsigned p = from; p < PLANES; p++) planes[p] ^= s->factor[m][p] & product;
}

/* Planes from..PLANES of up to 64 rows; words: the variables in the order of slots, then zeros. */
INLINE void shape_planes(uint64_t planes[PLANES], unsigned from, const program_shape *s,
                         const uint64_t *words) {
    for (unsigned p = from; p < PLANES; p++) planes[p] = s->factor[0][p];
    if (s->free == 0) return;
    add_products(planes, from, s, 1, words[0]);
    if (s->free == 1) return;
    add_products(planes, from, s, 2, words[1]);
    add_products(planes, from, s, 3, words[0] & words[1]);
    if (s->free == 2) return;
    add_products(planes, from, s, 4, words[2]);
    add_products(planes, from, s, 5, words[0] & words[2]);
    add_products(planes, from, s, 6, words[1] & words[2]);
    add_products(planes, from, s, 7, words[0] & words[1] & words[2]);
}

/* Not zero where what the free variables determine is not so. */
INLINE uint64_t shape_violations(const uint64_t planes[PLANES], const program_shape *s,
                                 const uint64_t *words) {
    return (planes[PLANE_CHECK] ^ words[s->free]) | (planes[PLANE_CHECK + 1] ^ words[s->free + 1]);
}

#define SLOT_WORDS (SHAPE_MAX_SLOTS + 2)

/* Planes from..PLANES of n rows of a run, from row `skip` of it; what contradicts them is added to *bad. */
INLINE void code_planes(uint64_t planes[PLANES], unsigned from, const instance_values *v,
                        const program_op *op, unsigned skip, unsigned n, uint64_t *bad) {
    const program *p = &v->t->program;
    const program_shape *s = &p->shapes[op->shape[0]];
    uint64_t words[SLOT_WORDS] = {0};
    for (unsigned i = 0; i < s->slots; i++) words[i] = slot_word(v, p->slots[op->first + i], skip);
    shape_planes(planes, from, s, words);
    *bad |= shape_violations(planes, s, words) & bits_mask(n);
}

/* The same for one of the two shapes of a run of pairs: n of its rows. */
INLINE void half_planes(uint64_t planes[PLANES], unsigned from, const instance_values *v,
                        const program_shape *s, const uint32_t *slots, unsigned skip, unsigned n,
                        uint64_t *bad) {
    uint64_t words[SLOT_WORDS] = {0};
    for (unsigned i = 0; i < s->slots; i++)
        words[i] = slots[i] & REF_STRIDE_2 ? even_bits(slot_word(v, slots[i], 2 * skip))
                                           : slot_word(v, slots[i], skip);
    shape_planes(planes, from, s, words);
    *bad |= shape_violations(planes, s, words) & bits_mask(n);
}

INLINE void run_codes(row_sink *sink, const instance_values *v, const program_op *op, uint64_t row,
                      unsigned skip, unsigned n) {
    uint64_t planes[PLANES];
    code_planes(planes, 0, v, op, skip, n, &sink->bad);
    emit_codes(sink, row, planes, n);
}

INLINE void run_pairs(row_sink *sink, const instance_values *v, const program_op *op, uint64_t row,
                      unsigned skip, unsigned n) {
    const program *p = &v->t->program;
    const program_shape *even = &p->shapes[op->shape[0]], *odd = &p->shapes[op->shape[1]];
    const uint32_t *slots = &p->slots[op->first];
    const unsigned first = skip / 2, left = op->rows / 2u - first;
    uint64_t planes[PLANES], odd_planes[PLANES];
    half_planes(planes, 0, v, even, slots, first, left, &sink->bad);
    half_planes(odd_planes, 0, v, odd, slots + even->slots, first, left, &sink->bad);
    for (unsigned i = 0; i < PLANE_CHECK; i++)
        planes[i] = (spread_bits(planes[i]) | spread_bits(odd_planes[i]) << 1) >> skip % 2;
    emit_codes(sink, row, planes, n);
}

/* Self-checks alone: a whole op. */
INLINE void check_op(uint64_t *bad, const instance_values *v, const program_op *op) {
    const program *p = &v->t->program;
    const program_shape *s = &p->shapes[op->shape[0]];
    uint64_t planes[PLANES];
    if (op->kind == OP_CODES) {
        if (s->checks) code_planes(planes, PLANE_CHECK, v, op, 0, op->rows, bad);
    } else if (op->kind == OP_PAIRS) {
        const program_shape *odd = &p->shapes[op->shape[1]];
        const uint32_t *slots = &p->slots[op->first];
        half_planes(planes, PLANE_CHECK, v, s, slots, 0, op->rows / 2u, bad);
        half_planes(planes, PLANE_CHECK, v, odd, slots + s->slots, 0, op->rows / 2u, bad);
    }
}

/* ---- other rows ---- */

/* out += k * value */
INLINE void add_multiple(fr *out, uint32_t number, const fr *k, const fr *value) {
    if (number == COEFF_ONE) {
        fr_add(out, out, value);
    } else if (number == COEFF_MINUS_ONE) {
        fr_sub(out, out, value);
    } else {
        fr product;
        fr_mul(&product, k, value);
        fr_add(out, out, &product);
    }
}

static void ladder(fr *out, const instance_values *v, const full_side *side) {
    uint64_t sum[6] = {0}; /* the low four words, and room for bits_or */
    const ladder_segment *segment = &v->t->program.segments[side->first];
    for (const ladder_segment *end = segment + side->n; segment < end; segment++)
        bits_or(sum, segment->weight, slot_word(v, segment->ref, 0) & bits_mask(segment->length),
                segment->length);
    fr_repr plain;
    memcpy(&plain, sum, sizeof plain);
    fr_from_repr(out, &plain);
}

static void sum_of_terms(fr *out, const instance_values *v, const full_side *side) {
    const coefficient *k = v->w->m->coefficients.list;
    const full_term *term = &v->t->program.terms[side->first];
    *out = side->constant == COEFF_NONE ? FR_ZERO : k[side->constant].value;
    for (const full_term *end = term + side->n; term < end; term++) {
        if (ref_kind(term->ref) <= REF_LOCAL_BIT) {
            if (instance_bit(v, term->ref)) fr_add(out, out, &k[term->coeff].value);
        } else {
            add_multiple(out, term->coeff, &k[term->coeff].value, instance_number(v, term->ref));
        }
    }
}

static void run_full(row_sink *sink, const instance_values *v, const program_op *op, uint64_t row) {
    fr values[3];
    const full_row *full = &v->t->program.full[op->first];
    for (unsigned s = 0; s < 3 && wants_values(sink); s++) {
        const full_side *side = &full->side[s];
        switch ((side_kind)side->kind) {
        case SIDE_ZERO:
            values[s] = FR_ZERO;
            break;
        case SIDE_ONE:
            values[s] = FR_ONE;
            break;
        case SIDE_VALUE:
            values[s] = *instance_number(v, side->first);
            break;
        case SIDE_SUM:
            sum_of_terms(&values[s], v, side);
            break;
        case SIDE_LADDER:
            ladder(&values[s], v, side);
            break;
        case SIDE_AS_A:
            values[s] = values[0];
            break;
        case SIDE_AS_C:
            break; /* below */
        }
    }
    if (full->side[0].kind == SIDE_AS_C) values[0] = values[2];
    emit_full(sink, row, values);
}

/* ---- rows as products ---- */

/* A sum of terms: small multiples of bits apart, as an integer. */
typedef struct product_sum {
    fr sum;
    int64_t integer;
    bool has_sum; /* is not just the integer */
} product_sum;

INLINE void start_product(product_sum *p) {
    p->integer = 0;
    p->has_sum = false;
}

INLINE void need_sum(product_sum *p) {
    if (!p->has_sum) p->sum = FR_ZERO;
    p->has_sum = true;
}

INLINE void add_constant(product_sum *p, const coefficient *k) {
    if (k->is_small) {
        p->integer += k->integer;
    } else {
        need_sum(p);
        fr_add(&p->sum, &p->sum, &k->value);
    }
}

INLINE void add_variable(product_sum *p, const row_term *t, const coefficient *k, const fr *value) {
    need_sum(p);
    add_multiple(&p->sum, t->coeff, &k->value, value);
}

INLINE void finish_product(fr *out, const product_sum *p) {
    static const uint8_t code_of[4] = {3, 0, 1, 2}; /* of -1, 0, 1, 2 */
    fr integer;
    if (p->integer >= -1 && p->integer <= 2) {
        unsigned code = code_of[p->integer + 1];
        integer = pairs[(code & 1) | (code & 2) << 1].v[0];
    } else {
        fr_from_u64(&integer, (uint64_t)(p->integer < 0 ? -p->integer : p->integer));
        if (p->integer < 0) fr_neg(&integer, &integer);
    }
    if (p->has_sum)
        fr_add(out, &p->sum, &integer);
    else
        *out = integer;
}

/* A template's variable k: its bit, or (then *number is set) its number. */
INLINE bool template_variable(const instance_values *v, uint32_t k, const fr **number) {
    const block_template *t = v->t;
    *number = NULL;
    if (k < t->n_bits) return bits_get(v->operand_bits, k);
    if (k < template_operands(t)) {
        *number = &v->nums[k - t->n_bits];
        return false;
    }
    k -= template_operands(t);
    if (t->full_index[k] != UINT32_MAX) *number = &v->full[t->full_index[k]];
    return bits_get(v->w->bits, v->first_bit + k);
}

static void product_row(row_sink *sink, const instance_values *v, uint32_t template_row, uint64_t row) {
    fr values[3];
    const coefficient *list = v->w->m->coefficients.list;
    for (unsigned s = 0; s < 3; s++) {
        product_sum p;
        start_product(&p);
        row_side side = rows_side(&v->t->rows, template_row, s);
        for (const row_term *t = side.terms, *end = t + side.n; t < end; t++) {
            const fr *number = NULL;
            const coefficient *k = &list[t->coeff];
            if (t->var == R1CS_ONE || template_variable(v, r1cs_index(t->var), &number))
                add_constant(&p, k);
            else if (number)
                add_variable(&p, t, k, number);
        }
        finish_product(&values[s], &p);
    }
    emit_full(sink, row, values);
}

static void residual_row(row_sink *sink, const compact_witness *w, uint32_t index, uint64_t row) {
    fr values[3];
    const coefficient *list = w->m->coefficients.list;
    for (unsigned s = 0; s < 3 && wants_values(sink); s++) {
        product_sum p;
        start_product(&p);
        row_side side = rows_side(&w->m->residual, index, s);
        for (const row_term *t = side.terms, *end = t + side.n; t < end; t++) {
            fr value;
            witness_value(&value, w, t->var);
            if (fr_is_one(&value))
                add_constant(&p, &list[t->coeff]);
            else if (!fr_is_zero(&value))
                add_variable(&p, t, &list[t->coeff], &value);
        }
        finish_product(&values[s], &p);
    }
    emit_full(sink, row, values);
}

/* ---- ranges ---- */

/* The op that holds a row. */
INLINE const program_op *find_op(const program *p, uint32_t row) {
    uint32_t low = 0, high = p->n_ops - 1;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (p->ops[middle].row <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return &p->ops[low];
}

/* Rows from .. to of an instance. */
static void instance_rows(row_sink *sink, const instance_values *v, const block_instance *i,
                          expansion_path path, uint32_t from, uint32_t to) {
    if (path == EXPAND_PRODUCTS) {
        for (uint32_t row = from; row < to; row++) product_row(sink, v, row, i->row + row);
        return;
    }
    for (const program_op *op = find_op(&v->t->program, from); from < to; op++) {
        unsigned skip = from - op->row, n = op->rows - skip;
        if (n > to - from) n = to - from;
        if (op->kind == OP_CODES)
            run_codes(sink, v, op, i->row + from, skip, n);
        else if (op->kind == OP_PAIRS)
            run_pairs(sink, v, op, i->row + from, skip, n);
        else
            run_full(sink, v, op, i->row + from);
        from += n;
    }
}

/* The number of instances in [from, to) that begin at or before a row, and `from`. */
static uint32_t instances_up_to(const matrices *m, uint32_t from, uint32_t to, uint64_t row) {
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (m->instances[middle].row <= row)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* All instances that begin in rows first .. first + n. */
static bool kernel_check(const compact_witness *w, uint64_t first, size_t n) {
    const matrices *m = w->m;
    const matrices_part *part = m->parts;
    uint64_t bad = 0;
    uint32_t i = first ? instances_up_to(m, 0, m->n_instances, first - 1) : 0;
    for (; i < m->n_instances && m->instances[i].row < first + n && bad == 0; i++) {
        const program *p = &matrices_template(m, &m->instances[i])->program;
        instance_values values;
        if (p->n_shapes == 0) continue; /* no code rows */
        while (i >= part[1].instances) part++;
        witness_gather(&values, w, part, &m->instances[i]);
        for (const program_op *op = p->ops, *end = op + p->n_ops; op < end; op++) check_op(&bad, &values, op);
    }
    return bad == 0;
}

/* Rows row .. end, all of part p. */
static void part_rows(row_sink *sink, const compact_witness *w, expansion_path path, const matrices_part *p,
                      uint64_t row, uint64_t end) {
    const matrices *m = w->m;
    instance_values values;
    uint32_t next = instances_up_to(m, p->instances, p[1].instances, row); /* the first that begins later */
    while (row < end) {
        const block_instance *i = next > p->instances ? &m->instances[next - 1] : NULL;
        uint64_t i_end = i ? i->row + matrices_template(m, i)->rows.n : p->start.constraints;
        if (row < i_end) {
            uint64_t to = end < i_end ? end : i_end;
            witness_gather(&values, w, p, i);
            instance_rows(sink, &values, i, path, (uint32_t)(row - i->row), (uint32_t)(to - i->row));
            row = to;
        }
        uint64_t gap_end = next < p[1].instances ? m->instances[next].row : p[1].start.constraints;
        uint32_t residual = (i ? i->residual : p->residual) + (uint32_t)(row - i_end);
        for (; row < end && row < gap_end; row++) residual_row(sink, w, residual++, row);
        next++;
    }
}

static void kernel_rows(row_sink *sink, const compact_witness *w, expansion_path path, uint64_t first,
                        size_t n) {
    const matrices *m = w->m;
    uint64_t row = first, end = first + n;
    for (const matrices_part *p = &m->parts[n ? matrices_part_of_row(m, first) : 0]; row < end; p++) {
        uint64_t part_end = p[1].start.constraints;
        if (row >= part_end) continue;
        if (part_end > end) part_end = end;
        part_rows(sink, w, path, p, row, part_end);
        row = part_end;
    }
    finish_stores(sink->stream);
}

static void kernel_aux(const compact_witness *w, uint32_t first, size_t n, fr *out, bool stream) {
    const matrices *m = w->m;
    uint64_t aux = first, end = first + n;
    const matrices_part *p = &m->parts[n ? matrices_part_of_aux(m, first) : 0];
    const fr *full = n ? w->full + matrices_rank(m, matrices_bit(p, first)) : NULL;
    while (aux < end) {
        uint64_t left = (p[1].start.aux < end ? p[1].start.aux : end) - aux;
        if (left == 0) {
            p++;
            continue;
        }
        const unsigned count = left < 64 ? (unsigned)left : 64;
        const uint64_t bit = matrices_bit(p, (uint32_t)aux);
        const uint64_t bits = bits_load(w->bits, bit), is_full = bits_load(m->full, bit) & bits_mask(count);
        if (is_full == 0)
            put_codes(out, bits, 0, count, aux & 1, stream);
        else
            for (unsigned i = 0; i < count; i++)
                put_one(out + i, is_full >> i & 1 ? full++ : &pairs[bits >> i & 1].v[0], stream);
        out += count;
        aux += count;
    }
    finish_stores(stream);
}

const expand_kernel KERNEL = {kernel_rows, kernel_check, kernel_aux};
