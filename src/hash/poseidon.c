/*
 * The optimised Poseidon permutation: one key addition after each S-box (none after the last), the dense
 * pre-sparse matrix at the end of round 3, and one sparse matrix per partial round, which costs 2t - 1
 * multiplications instead of t^2.
 */
#include "hash/poseidon.h"

#include "hash/poseidon_constants.h"
#include "hash/poseidon_kernel.h"

const poseidon_constants *poseidon_for(unsigned arity) {
    for (unsigned i = 0; i < POSEIDON_TABLE_SIZE; i++)
        if (poseidon_table[i].arity == arity) return &poseidon_table[i];
    return NULL;
}

void poseidon_tag_value(fr *out, poseidon_tag tag, unsigned arity) {
    fr_from_u64(out, tag == POSEIDON_GEN_RANDOMNESS ? (uint64_t)1 << 40 : ((uint64_t)1 << arity) - 1);
}

/* out = t / 2^256 mod r for a nine-limb t below 12 r^2. Destroys t. */
static inline void reduce_wide(fr *out, uint64_t t[9]) {
    uint64_t pending = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t q = t[i] * FR_INV, carry = 0;
        for (int j = 0; j < 4; j++) t[i + j] = limb_mac(q, FR_MODULUS.l[j], t[i + j], &carry);
        t[i + 4] = limb_add(t[i + 4], pending, &carry);
        pending = carry;
    }
    uint64_t top = t[8] + pending, *low = t + 4;
    for (;;) {
        uint64_t borrow = 0, less[4];
        for (int i = 0; i < 4; i++) less[i] = limb_sub(low[i], FR_MODULUS.l[i], &borrow);
        if (top < borrow) break;
        top -= borrow;
        memcpy(low, less, sizeof less);
    }
    memcpy(out->l, low, sizeof out->l);
}

/* out = sum of a[i] * b[i * stride], n at most POSEIDON_MAX_WIDTH: all products are added up limb column by
 * limb column and reduced once. */
static inline void dot(fr *out, const fr *a, const fr *b, unsigned n, unsigned stride) {
    uint64_t t[9], c0 = 0, c1 = 0, c2 = 0;
#pragma GCC unroll 7
    for (int column = 0; column < 7; column++) {
        const int first = column < 4 ? 0 : column - 3, last = column < 4 ? column : 3;
        for (unsigned k = 0; k < n; k++) {
            for (int i = first; i <= last; i++) {
                limb2 product = (limb2)a[k].l[i] * b[k * stride].l[column - i];
                uint64_t high = (uint64_t)(product >> 64);
                c0 += (uint64_t)product;
                high += c0 < (uint64_t)product; /* high is at most 2^64 - 2 */
                c1 += high;
                c2 += c1 < high;
            }
        }
        t[column] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
    t[7] = c0;
    t[8] = c1;
    reduce_wide(out, t);
}

void poseidon_mix_dense(fr *s, const fr *matrix, unsigned width) {
    fr next[POSEIDON_MAX_WIDTH];
    for (unsigned j = 0; j < width; j++) dot(&next[j], s, matrix + j, width, width);
    memcpy(s, next, width * sizeof *s);
}

void poseidon_mix_sparse(fr *s, const fr *sparse, unsigned width) {
    const fr *w_hat = sparse, *v_rest = sparse + width;
    fr first, term;
    dot(&first, s, w_hat, width, 1);
    for (unsigned i = 1; i < width; i++) {
        fr_mul(&term, &s[0], &v_rest[i - 1]);
        fr_add(&s[i], &s[i], &term);
    }
    s[0] = first;
}

/* s = s^5 + key (unless NULL); x^2, x^4 and the result are left in out. */
static fr *trace_sbox(fr *out, fr *s, const fr *key) {
    fr_sqr(&out[0], s);
    fr_sqr(&out[1], &out[0]);
    fr_mul(s, s, &out[1]);
    if (key) fr_add(s, s, key);
    out[2] = *s;
    return out + 3;
}

static void trace_scalar(fr *out, const poseidon_constants *c, fr *s) {
    const unsigned width = c->width, half = POSEIDON_FULL_ROUNDS / 2;
    const unsigned rounds = POSEIDON_FULL_ROUNDS + c->partial_rounds;
    const fr *key = c->keys + width, *sparse = c->sparse;
    fr unused[3];
    for (unsigned i = 0; i < width; i++) fr_add(&s[i], &s[i], &c->keys[i]);
    for (unsigned round = 0; round < rounds; round++) {
        if (round >= half && round < half + c->partial_rounds) {
            *out = s[0];
            out = trace_sbox(out + 1, &s[0], key++);
            poseidon_mix_sparse(s, sparse, width);
            sparse += 2 * width - 1;
            continue;
        }
        for (unsigned i = 0; i < width; i++) {
            if (round > 0) *out++ = s[i];
            fr *to = round > 0 || i > 0 ? out : unused;
            trace_sbox(to, &s[i], round + 1 < rounds ? &key[i] : NULL);
            if (to == out) out += 3;
        }
        key += width;
        poseidon_mix_dense(s, round == half - 1 ? c->pre_sparse : c->mds, width);
    }
    *out = s[1];
}

void poseidon_trace(fr *out, const poseidon_constants *constants, poseidon_tag tag, const fr *preimage) {
    fr s[POSEIDON_MAX_WIDTH];
    poseidon_tag_value(&s[0], tag, constants->arity);
    memcpy(s + 1, preimage, constants->arity * sizeof *s);
#if defined(__x86_64__)
    if (field.isa == CPU_IFMA && poseidon_trace_ifma(out, constants, s)) return;
#endif
    trace_scalar(out, constants, s);
}

void poseidon_hash(fr *out, const poseidon_constants *constants, poseidon_tag tag, const fr *preimage) {
    fr trace[POSEIDON_MAX_TRACE];
    poseidon_trace(trace, constants, tag, preimage);
    *out = trace[poseidon_trace_size(constants) - 1];
}
