/*
 * One storage strategy: indexers, combinations, and the sink that builds and evaluates them. Included once
 * per instance (lc_instance.h), with these macros:
 *
 * - LC_ID: what its identifiers end in.
 * - LC_INLINE: cells inside an indexer, 0 for none.
 * - LC_SOURCE: heap, pool or arena, where other cells are (lc_memory.h).
 * - LC_MOVES: 1 when each sum moves the combination, as by-value operators do; 0: terms are added in place.
 * - LC_START: how a combination begins: 0 with its header set, 1 with all of it zeroed, 2 with the aux
 * indexer made elsewhere and moved into place, inline cells and all.
 * - LC_TRACE: 1 when touched memory is counted.
 *
 * Layouts are those of Vec and SmallVec (with its `union` feature) and of bellperson's Indexer, 8-byte words:
 * Vec is address, length and capacity; SmallVec is a capacity, which is the length while the cells are
 * inline, and either the cells or address and length; Option<(usize, usize)> of the last insertion is a tag
 * and two words.
 */
#define LC_PASTE2(a, b, c) a##_##b##c
#define LC_PASTE(a, b, c)  LC_PASTE2(a, b, c)
#if LC_TRACE
#define T(name)            LC_PASTE(name, LC_ID, _traced)
#define LC_READ(at, size)  lc_trace_read(m->trace, at, size)
#define LC_WROTE(at, size) lc_trace_write(m->trace, at, size)
#else
#define T(name)            LC_PASTE(name, LC_ID, )
#define LC_READ(at, size)  (void)0
#define LC_WROTE(at, size) (void)0
#endif
#define LC_FROM(name) LC_PASTE(LC_SOURCE, name, )

typedef struct T(indexer) {
#if LC_INLINE
    uint64_t capacity; /* above LC_INLINE: that of a buffer elsewhere; else the number of inline cells */
    union {
        lc_cell cells[LC_INLINE];
        struct {
            lc_cell *cells;
            uint64_t n;
        } elsewhere;
    } at;
#else
    lc_cell *cells;
    uint64_t n, capacity;
#endif
    uint64_t has_last, last_index, last_key;
} T(indexer);

typedef struct T(lc) {
    T(indexer) inputs, aux;
} T(lc);

/* The cells and their number. */
static inline lc_cell *T(cells)(T(indexer) * x, uint64_t *n) {
#if LC_INLINE
    if (x->capacity > LC_INLINE) {
        *n = x->at.elsewhere.n;
        return x->at.elsewhere.cells;
    }
    *n = x->capacity;
    return x->at.cells;
#else
    *n = x->n;
    return x->cells;
#endif
}

/* An empty indexer. */
static inline void T(start)(T(indexer) * x, lc_memory *m) {
    (void)m;
#if LC_START == 1
    lc_zero_bytes(x, sizeof *x);
    LC_WROTE(x, sizeof *x);
#else
    x->capacity = 0;
    x->has_last = 0;
#if !LC_INLINE
    x->cells = NULL;
    x->n = 0;
    LC_WROTE(x, 32);
#else
    LC_WROTE(&x->capacity, 8);
    LC_WROTE(&x->has_last, 8);
#endif
#endif
}

/* An empty combination. */
static inline void T(zero)(T(lc) * out, lc_memory *m) {
    T(start)(&out->inputs, m);
#if LC_START == 2
    T(indexer) made;
    T(start)(&made, m);
    lc_move(&out->aux, &made, sizeof made);
    LC_READ(&made, sizeof made);
    LC_WROTE(&out->aux, sizeof made);
#else
    T(start)(&out->aux, m);
#endif
}

/* Room for one more cell than the n there are. NULL, with m->failed set, when memory runs out. */
static inline lc_cell *T(reserve)(T(indexer) * x, lc_memory *m, lc_cell *cells, uint64_t n) {
#if LC_INLINE
    const uint64_t capacity = x->capacity > LC_INLINE ? x->capacity : LC_INLINE;
    if (n < capacity) return cells;
    LC_READ(cells, n * sizeof *cells); /* growing counts as a copy, also where the heap just extends */
    const uint64_t wanted = 2 * capacity;
    lc_cell *larger;
    if (x->capacity > LC_INLINE) {
        larger = LC_FROM(resize)(m, cells, n, capacity, wanted);
    } else {
        larger = LC_FROM(resize)(m, NULL, 0, 0, wanted);
        if (larger) memcpy(larger, cells, n * sizeof *cells);
    }
    if (!larger) return NULL;
    x->at.elsewhere.cells = larger;
    x->at.elsewhere.n = n;
    x->capacity = wanted;
#else
    if (n < x->capacity) return cells;
    LC_READ(cells, n * sizeof *cells);
    const uint64_t wanted = x->capacity ? 2 * x->capacity : LC_FIRST_CELLS;
    lc_cell *larger = LC_FROM(resize)(m, cells, n, x->capacity, wanted);
    if (!larger) return NULL;
    x->cells = larger;
    x->capacity = wanted;
#endif
#if LC_TRACE
    m->trace->buffers++;
    LC_WROTE(larger, n * sizeof *larger);
#endif
    return larger;
}

static inline void T(insert_at)(T(indexer) * x, lc_memory *m, lc_cell *cells, uint64_t n, uint64_t i,
                                uint64_t key, const fr *coeff) {
    cells = T(reserve)(x, m, cells, n);
    if (!cells) return;
    if (i < n) {
        memmove(&cells[i + 1], &cells[i], (n - i) * sizeof *cells);
        LC_READ(&cells[i], (n - i) * sizeof *cells);
        LC_WROTE(&cells[i + 1], (n - i) * sizeof *cells);
    }
    cells[i].key = key;
    cells[i].coeff = *coeff;
    LC_WROTE(&cells[i], sizeof *cells);
#if LC_INLINE
    if (x->capacity > LC_INLINE)
        x->at.elsewhere.n = n + 1;
    else
        x->capacity = n + 1;
#else
    x->n = n + 1;
#endif
    x->has_last = 1;
    x->last_index = i;
    x->last_key = key;
    LC_WROTE(&x->capacity, 8);
    LC_WROTE(&x->has_last, 24);
}

/* bellperson's insert_or_update; a function of its own, as it is in compiled bellperson. */
static __attribute__((noinline)) void T(insert)(T(indexer) * x, lc_memory *m, uint64_t key, const fr *coeff) {
    uint64_t n;
    lc_cell *cells = T(cells)(x, &n);
    LC_READ(&x->capacity, 8);
    LC_READ(&x->has_last, 24);
    uint64_t low = 0, high = n;
    if (x->has_last) {
        if (x->last_key == key) {
            lc_cell *found = &cells[x->last_index];
            fr_add(&found->coeff, &found->coeff, coeff);
            LC_WROTE(found, sizeof *found);
            return;
        }
        if (x->last_key + 1 == key) {
            low = x->last_index + 1;
            high = low < n && cells[low].key == key ? low + 1 : low;
        }
    }
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        LC_READ(&cells[middle].key, 8);
        if (cells[middle].key == key) {
            fr_add(&cells[middle].coeff, &cells[middle].coeff, coeff);
            LC_WROTE(&cells[middle], sizeof *cells);
            return;
        }
        if (cells[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    T(insert_at)(x, m, cells, n, low, key, coeff);
}

/* *out = *self + coeff * v; self is used up. Compiled Rust inlines the operator into the closure, where it
 * calls insert_or_update on its left side and then copies that into its result. */
static inline void T(plus)(T(lc) * out, T(lc) * self, lc_memory *m, r1cs_var v, const fr *coeff) {
    T(insert)(r1cs_is_aux(v) ? &self->aux : &self->inputs, m, r1cs_index(v), coeff);
    if (LC_MOVES) {
        lc_move(out, self, sizeof *self);
        LC_READ(self, sizeof *self);
        LC_WROTE(out, sizeof *out);
    }
}

/* What a closure |lc| lc + term + term ... makes of an empty combination. */
static inline void T(build)(T(lc) * out, lc_memory *m, const lc *terms) {
    T(lc) slots[2];
    T(lc) *now = LC_MOVES ? &slots[0] : out;
    T(zero)(now, m);
    const uint32_t n = terms->n;
    for (uint32_t i = 0; i < n; i++) {
        T(lc) *to = !LC_MOVES || i + 1 == n ? out : &slots[~i & 1];
        T(plus)(to, now, m, terms->terms[i].var, &terms->terms[i].coeff);
        now = to;
    }
    if (LC_MOVES && n == 0) {
        lc_move(out, now, sizeof *out);
        LC_READ(now, sizeof *now);
        LC_WROTE(out, sizeof *out);
    }
}

/* Add the value of an indexer, and mark its variables. */
static inline void T(evaluate)(fr *sum, lc_memory *m, T(indexer) * x, const fr *values, uint64_t *density) {
    (void)m;
    uint64_t n;
    const lc_cell *cells = T(cells)(x, &n);
    LC_READ(&x->capacity, 8);
    LC_READ(cells, n * sizeof *cells);
    for (uint64_t i = 0; i < n; i++) {
        evaluate_term(sum, &cells[i].coeff, &values[cells[i].key]);
        if (density && !fr_is_zero(&cells[i].coeff))
            density[cells[i].key / 64] |= (uint64_t)1 << cells[i].key % 64;
    }
}

static inline void T(drop)(T(indexer) * x, lc_memory *m) {
    LC_READ(&x->capacity, 8);
#if LC_INLINE
    if (x->capacity > LC_INLINE) LC_FROM(release)(m, x->at.elsewhere.cells, x->capacity);
#else
    if (x->capacity) LC_FROM(release)(m, x->cells, x->capacity);
#endif
}

static void T(enforce)(cs *system, const lc *a, const lc *b, const lc *c) {
    lc_sink *s = (lc_sink *)system;
    lc_memory *m = &s->memory;
    assignment *out = s->out;
    const uint64_t row = system->constraints;
    fr sums[3] = {FR_ZERO, FR_ZERO, FR_ZERO};
    T(lc) built[3];
    T(build)(&built[0], m, a);
    T(build)(&built[1], m, b);
    T(build)(&built[2], m, c);
    T(evaluate)(&sums[0], m, &built[0].inputs, out->inputs, NULL);
    T(evaluate)(&sums[0], m, &built[0].aux, out->aux, out->a_aux_density);
    T(evaluate)(&sums[1], m, &built[1].inputs, out->inputs, out->b_input_density);
    T(evaluate)(&sums[1], m, &built[1].aux, out->aux, out->b_aux_density);
    T(evaluate)(&sums[2], m, &built[2].inputs, out->inputs, NULL);
    T(evaluate)(&sums[2], m, &built[2].aux, out->aux, NULL);
    out->a[row] = sums[0];
    out->b[row] = sums[1];
    out->c[row] = sums[2];
    for (unsigned i = 0; i < 3; i++) {
        T(drop)(&built[i].inputs, m);
        T(drop)(&built[i].aux, m);
    }
    LC_FROM(reset)(m);
#if LC_TRACE
    lc_trace_next(m->trace);
#endif
    lc_sink_enforced(s, m->failed);
}

#undef LC_PASTE2
#undef LC_PASTE
#undef LC_READ
#undef LC_WROTE
#undef LC_FROM
#undef T
