#include "gadget/sha256_witness.h"

#include "hash/sha256_constants.h"

/* Words travel in registers only when everything is inlined: three times faster. */
#define INLINE static inline __attribute__((always_inline))

static inline uint32_t rotate(uint32_t x, unsigned n) {
    return n ? x >> n | x << (32 - n) : x;
}

INLINE wire_word rotr(wire_word x, unsigned n) {
    return (wire_word){rotate(x.value, n), rotate(x.constant, n), rotate(x.negated, n)};
}

INLINE wire_word shr(wire_word x, unsigned n) {
    /* the wires shifted in are constant zeros */
    return (wire_word){x.value >> n, x.constant >> n | ~(UINT32_MAX >> n), x.negated >> n};
}

/* Append the bits of `value` selected by `mask`, lowest first. */
INLINE void put_selected(bit_writer *out, uint32_t value, uint32_t mask) {
    if (mask == UINT32_MAX) {
        bits_put(out, value, 32);
        return;
    }
    for (; mask; mask &= mask - 1) bits_put(out, value >> __builtin_ctz(mask) & 1, 1);
}

/* A constant operand passes the other one on, negated if it is one; otherwise a variable holds the exclusive
 * or of the two variables, and the wire is negated if exactly one of them was. */
INLINE wire_word xor2(bit_writer *out, wire_word a, wire_word b) {
    uint32_t fresh = ~(a.constant | b.constant);
    wire_word r = {a.value ^ b.value, a.constant & b.constant, 0};
    r.negated = (fresh & (a.negated ^ b.negated)) | (a.constant & ~b.constant & (b.negated ^ a.value)) |
                (b.constant & ~a.constant & (a.negated ^ b.value));
    put_selected(out, r.value ^ r.negated, fresh);
    return r;
}

/* The wire of a AND b for one bit; *fresh tells whether it is a new variable. Operands and result: bit 0
 * value, bit 1 constant, bit 2 negated. */
enum { VALUE = 1, CONSTANT = 2, NEGATED = 4 };

static unsigned wire_of(wire_word w, unsigned i) {
    return (w.value >> i & 1) | (w.constant >> i & 1) << 1 | (w.negated >> i & 1) << 2;
}
static unsigned wire_not(unsigned w) {
    return w & CONSTANT ? w ^ VALUE : w ^ (VALUE | NEGATED);
}

static unsigned and_wire(bit_writer *out, unsigned a, unsigned b) {
    if (a & CONSTANT) return a & VALUE ? b : CONSTANT;
    if (b & CONSTANT) return b & VALUE ? a : CONSTANT;
    unsigned value = a & b & VALUE;
    bits_put(out, value, 1);
    return value;
}

static unsigned is_constant(unsigned w, unsigned value) {
    return (w & (CONSTANT | VALUE)) == (CONSTANT | value);
}

static unsigned ch_wire(bit_writer *out, unsigned a, unsigned b, unsigned c) {
    unsigned value = (a & VALUE ? b : c) & VALUE;
    if (a & b & c & CONSTANT) return CONSTANT | value;
    if (is_constant(a, 0)) return c;
    if (is_constant(b, 0)) return and_wire(out, wire_not(a), c);
    if (is_constant(c, 0)) return and_wire(out, a, b);
    if (is_constant(c, 1)) return wire_not(and_wire(out, a, wire_not(b)));
    if (is_constant(b, 1)) return wire_not(and_wire(out, wire_not(a), wire_not(c)));
    bits_put(out, value, 1);
    return value;
}

static unsigned maj_wire(bit_writer *out, unsigned a, unsigned b, unsigned c) {
    unsigned value = ((a & b) | (a & c) | (b & c)) & VALUE;
    if (a & b & c & CONSTANT) return CONSTANT | value;
    if (is_constant(a, 0)) return and_wire(out, b, c);
    if (is_constant(b, 0)) return and_wire(out, a, c);
    if (is_constant(c, 0)) return and_wire(out, a, b);
    if (is_constant(c, 1)) return wire_not(and_wire(out, wire_not(a), wire_not(b)));
    if (is_constant(b, 1)) return wire_not(and_wire(out, wire_not(a), wire_not(c)));
    if (is_constant(a, 1)) return wire_not(and_wire(out, wire_not(b), wire_not(c)));
    bits_put(out, value, 1);
    and_wire(out, b, c);
    return value;
}

static wire_word bitwise(bit_writer *out, unsigned (*op)(bit_writer *, unsigned, unsigned, unsigned),
                         wire_word a, wire_word b, wire_word c) {
    wire_word r = {0, 0, 0};
    for (unsigned i = 0; i < 32; i++) {
        unsigned w = op(out, wire_of(a, i), wire_of(b, i), wire_of(c, i));
        r.value |= (w & VALUE) << i;
        r.constant |= (w >> 1 & 1) << i;
        r.negated |= (w >> 2 & 1) << i;
    }
    return r;
}

INLINE wire_word ch3(bit_writer *out, wire_word a, wire_word b, wire_word c) {
    if (a.constant | b.constant | c.constant) return bitwise(out, ch_wire, a, b, c);
    wire_word r = {(a.value & b.value) | (~a.value & c.value), 0, 0};
    bits_put(out, r.value, 32);
    return r;
}

/* Spread 32 bits to the even positions of 64. */
INLINE uint64_t spread(uint32_t x) {
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}

/* Per bit the majority, then b AND c. */
INLINE wire_word maj3(bit_writer *out, wire_word a, wire_word b, wire_word c) {
    if (a.constant | b.constant | c.constant) return bitwise(out, maj_wire, a, b, c);
    uint32_t both = b.value & c.value;
    wire_word r = {(a.value & (b.value | c.value)) | both, 0, 0};
    uint64_t pairs = spread(r.value) | spread(both) << 1;
    bits_put(out, pairs & UINT32_MAX, 32);
    bits_put(out, pairs >> 32, 32);
    return r;
}

/* The sum of n words: all bits of the integer are new variables, unless every wire is constant. */
INLINE wire_word add_many(bit_writer *out, const wire_word *operands, unsigned n) {
    uint64_t sum = 0;
    uint32_t all_constant = UINT32_MAX;
    for (unsigned i = 0; i < n; i++) {
        sum += operands[i].value;
        all_constant &= operands[i].constant;
    }
    if (all_constant == UINT32_MAX) return (wire_word){(uint32_t)sum, UINT32_MAX, 0};
    unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)n * UINT32_MAX);
    bits_put(out, sum, bits);
    return (wire_word){(uint32_t)sum, 0, 0};
}

/* A sum whose evaluation the gadget puts off until its value is needed. */
typedef struct deferred {
    wire_word operands[8];
    unsigned n;
} deferred;

INLINE wire_word resolve(bit_writer *out, const deferred *d) {
    return d->n == 1 ? d->operands[0] : add_many(out, d->operands, d->n);
}

INLINE wire_word resolve_plus(bit_writer *out, deferred *d, wire_word h) {
    d->operands[d->n++] = h;
    return add_many(out, d->operands, d->n);
}

INLINE wire_word add_pair(bit_writer *out, wire_word a, wire_word b) {
    wire_word operands[2] = {a, b};
    return add_many(out, operands, 2);
}

void sha256_witness(bit_writer *out, const wire_word block[16], wire_word state[8]) {
    wire_word w[64];
    for (int i = 0; i < 16; i++) w[i] = block[i];
    for (int i = 16; i < 64; i++) {
        wire_word x = w[i - 15], y = w[i - 2];
        wire_word s0 = xor2(out, rotr(x, 7), rotr(x, 18));
        s0 = xor2(out, s0, shr(x, 3));
        wire_word s1 = xor2(out, rotr(y, 17), rotr(y, 19));
        s1 = xor2(out, s1, shr(y, 10));
        wire_word operands[4] = {w[i - 16], s0, w[i - 7], s1};
        w[i] = add_many(out, operands, 4);
    }

    deferred a = {{state[0]}, 1}, e = {{state[4]}, 1};
    wire_word b = state[1], c = state[2], d = state[3], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        wire_word e_now = resolve(out, &e);
        wire_word s1 = xor2(out, rotr(e_now, 6), rotr(e_now, 11));
        s1 = xor2(out, s1, rotr(e_now, 25));
        wire_word ch = ch3(out, e_now, f, g);
        wire_word k = {SHA256_ROUND_CONSTANTS[i], UINT32_MAX, 0};
        wire_word a_now = resolve(out, &a);
        wire_word s0 = xor2(out, rotr(a_now, 2), rotr(a_now, 13));
        s0 = xor2(out, s0, rotr(a_now, 22));
        wire_word maj = maj3(out, a_now, b, c);
        a = (deferred){{h, s1, ch, k, w[i], s0, maj}, 7};
        e = (deferred){{h, s1, ch, k, w[i], d}, 6};
        h = g;
        g = f;
        f = e_now;
        d = c;
        c = b;
        b = a_now;
    }
    state[0] = resolve_plus(out, &a, state[0]);
    state[1] = add_pair(out, state[1], b);
    state[2] = add_pair(out, state[2], c);
    state[3] = add_pair(out, state[3], d);
    state[4] = resolve_plus(out, &e, state[4]);
    state[5] = add_pair(out, state[5], f);
    state[6] = add_pair(out, state[6], g);
    state[7] = add_pair(out, state[7], h);
}

static wire_word word_of(const block_operands *in, unsigned i) {
    unsigned shift = 32 * (i % 2);
    wire_word w = {(uint32_t)(in->values[i / 2] >> shift), (uint32_t)(in->constant[i / 2] >> shift),
                   (uint32_t)(in->negated[i / 2] >> shift)};
    return w;
}

void sha256_block_witness(block_writer *out, const block_operands *in) {
    wire_word state[8], block[16];
    for (unsigned i = 0; i < 8; i++) state[i] = word_of(in, i);
    for (unsigned i = 0; i < 16; i++) block[i] = word_of(in, 8 + i);
    bit_writer bits = out->bits; /* a local one stays in registers */
    sha256_witness(&bits, block, state);
    out->bits = bits;
}
