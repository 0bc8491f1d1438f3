/*
 * Additions are deferred as in the reference: a and e of a round are evaluated in the next one, where their
 * operand lists grow no more, and the last two directly into the new state.
 */
#include "gadget/sha256.h"

#include "gadget/multipack.h"
#include "gadget/sha256_witness.h"
#include "hash/sha256_constants.h"

/* out = (x >>> p) xor (x >>> q) xor (x >>> r), or >> r when shift is set. */
static void sigma(cs *system, uint32 *out, const uint32 *x, unsigned p, unsigned q, unsigned r, bool shift) {
    uint32 first, second;
    uint32_rotr(&first, x, p);
    uint32_rotr(&second, x, q);
    uint32_xor(system, out, &first, &second);
    if (shift)
        uint32_shr(&first, x, r);
    else
        uint32_rotr(&first, x, r);
    uint32_xor(system, out, out, &first);
}

static void extend(cs *system, multieq *m, uint32 w[64]) {
    for (unsigned i = 16; i < 64; i++) {
        cs_enter(system, "w extension %u", i);
        uint32 s0, s1;
        sigma(system, &s0, &w[i - 15], 7, 18, 3, true);
        sigma(system, &s1, &w[i - 2], 17, 19, 10, true);
        const uint32 *const operands[] = {&w[i - 16], &s0, &w[i - 7], &s1};
        uint32_addmany(m, &w[i], operands, 4);
        cs_leave(system);
    }
}

/* What a round leaves to be added: e = t1 + d, a = t1 + s0 + maj. Entry 0 is left for the state word that the
 * last round's sums add too. */
typedef struct deferred {
    uint32 s1, ch, k, s0, maj;
    const uint32 *e[7], *a[8];
} deferred;

#define E_OPERANDS 6u
#define A_OPERANDS 7u

/* a[i + 3] is the word a of round i, the three before it are b, c, d; likewise e, f, g, h. */
typedef struct history {
    uint32 a[64 + 3], e[64 + 3];
} history;

static void compress_round(cs *system, multieq *m, history *h, deferred *d, const uint32 *w, unsigned i) {
    uint32 *a = &h->a[i + 3], *e = &h->e[i + 3];
    if (i > 0) uint32_addmany(m, e, d->e, E_OPERANDS);
    uint32 s1, ch;
    sigma(system, &s1, e, 6, 11, 25, false);
    uint32_ch(system, &ch, e, e - 1, e - 2);
    if (i > 0) uint32_addmany(m, a, d->a, A_OPERANDS); /* the last use of the round before */
    d->s1 = s1;
    d->ch = ch;
    uint32_constant(&d->k, SHA256_ROUND_CONSTANTS[i]);
    sigma(system, &d->s0, a, 2, 13, 22, false);
    uint32_maj(system, &d->maj, a, a - 1, a - 2);
    const uint32 *const t1[5] = {e - 3, &d->s1, &d->ch, &d->k, w};
    memcpy(d->e, t1, sizeof t1);
    memcpy(d->a, t1, sizeof t1);
    d->e[5] = a - 3;
    d->a[5] = &d->s0;
    d->a[6] = &d->maj;
}

static void update_state(cs *system, multieq *m, uint32 out[8], const uint32 state[8], const history *h,
                         deferred *d) {
    /* After 64 rounds a and e are still deferred; b, c, d are the last words of the history. */
    for (unsigned k = 0; k < 8; k++) {
        cs_enter(system, "new h%u", k);
        if (k == 0 || k == 4) {
            const uint32 **operands = k == 0 ? d->a : d->e;
            unsigned n = k == 0 ? A_OPERANDS : E_OPERANDS;
            operands[n] = &state[k];
            uint32_addmany(m, &out[k], operands, n + 1);
        } else {
            const uint32 *last = k < 4 ? &h->a[67 - k] : &h->e[67 - (k - 4)];
            const uint32 *const operands[] = {&state[k], last};
            uint32_addmany(m, &out[k], operands, 2);
        }
        cs_leave(system);
    }
}

#define STATE_WORDS 8u
#define BLOCK_WORDS 16u

/* The state, then the block, as words; out: the new state. */
static void compress_body(cs *system, const block_call *call) {
    const uint32 *state = (const uint32 *)call->bits, *block = state + STATE_WORDS;
    uint32 w[64];
    history h;
    deferred d;
    multieq m;
    multieq_start(&m, system);
    memcpy(w, block, BLOCK_WORDS * sizeof *w);
    extend(system, &m, w);
    for (unsigned k = 0; k < 4; k++) {
        h.a[3 - k] = state[k];
        h.e[3 - k] = state[4 + k];
    }
    for (unsigned i = 0; i < 64; i++) {
        cs_enter(system, "compression round %u", i);
        compress_round(system, &m, &h, &d, &w[i], i);
        cs_leave(system);
    }
    update_state(system, &m, (uint32 *)call->out_bits, state, &h, &d);
    multieq_finish(&m);
}

static const block_type compression = {"sha256", compress_body, sha256_block_witness};

/* Bit i of the padded message of n bits, in blocks of 512. */
static boolean message_bit(const boolean *bits, size_t n, size_t blocks, size_t i) {
    if (i < n) return bits[i];
    size_t from_end = 512 * blocks - 1 - i;
    return boolean_constant(i == n || (from_end < 64 && (uint64_t)n >> from_end & 1));
}

void sha256_circuit(cs *system, boolean out[256], const boolean *bits, size_t n) {
    size_t blocks = (n + 1 + 64 + 511) / 512;
    uint32 words[STATE_WORDS + BLOCK_WORDS], state[STATE_WORDS];
    for (unsigned k = 0; k < STATE_WORDS; k++) uint32_constant(&state[k], SHA256_INITIAL_STATE[k]);
    for (size_t b = 0; b < blocks; b++) {
        memcpy(words, state, sizeof state);
        for (size_t i = 0; i < 32 * BLOCK_WORDS; i++)
            words[STATE_WORDS + i / 32].bits[31 - i % 32] = message_bit(bits, n, blocks, 512 * b + i);
        cs_enter(system, "block %zu", b);
        block_run(system, &(block_call){.type = &compression,
                                        .bits = words[0].bits,
                                        .n_bits = 32 * (STATE_WORDS + BLOCK_WORDS),
                                        .out_bits = state[0].bits,
                                        .n_out_bits = 32 * STATE_WORDS});
        cs_leave(system);
    }
    for (unsigned k = 0; k < STATE_WORDS; k++) uint32_to_bits_be(out + 32 * k, &state[k]);
}

num sha256_circuit_to_num(cs *system, const boolean *bits, size_t n) {
    boolean digest[256], field_bits[256];
    cs_enter(system, "hash");
    sha256_circuit(system, digest, bits, n);
    cs_leave(system);
    reverse_bit_numbering(field_bits, digest, 256);
    cs_enter(system, "pack_le");
    num out = pack_bits(system, field_bits, FR_CAPACITY);
    cs_leave(system);
    return out;
}

num sha256_tree_node(cs *system, const num *children, unsigned n) {
    boolean bits[8 * 256], field_bits[FR_BITS] = {{0}};
    for (unsigned k = 0; k < n; k++) {
        cs_enter(system, "%u_num_into_bits", k);
        num_to_bits_le(system, field_bits, &children[k]);
        cs_leave(system);
        reverse_bit_numbering(bits + 256 * k, field_bits, FR_BITS);
    }
    return sha256_circuit_to_num(system, bits, 256 * (size_t)n);
}
