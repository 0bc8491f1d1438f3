#include "gadget/uint32.h"

#include "gadget/uint32_terms.h"

#define MAX_SUM_BITS 36u /* of UINT32_MAX_OPERANDS words */

void uint32_constant(uint32 *out, uint32_t value) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = boolean_constant(value >> i & 1);
}

void uint32_from_bits_be(uint32 *out, const boolean bits[32]) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = bits[31 - i];
}

void uint32_to_bits_be(boolean bits[32], const uint32 *a) {
    for (unsigned i = 0; i < 32; i++) bits[i] = a->bits[31 - i];
}

uint32_t uint32_value(const uint32 *a) {
    uint32_t value = 0;
    for (unsigned i = 0; i < 32; i++) value |= (uint32_t)a->bits[i].value << i;
    return value;
}

void uint32_rotr(uint32 *out, const uint32 *a, unsigned n) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = a->bits[(i + n) % 32];
}

void uint32_shr(uint32 *out, const uint32 *a, unsigned n) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = i + n < 32 ? a->bits[i + n] : boolean_constant(false);
}

void uint32_xor(cs *system, uint32 *out, const uint32 *a, const uint32 *b) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = boolean_xor(system, a->bits[i], b->bits[i]);
}

void uint32_ch(cs *system, uint32 *out, const uint32 *a, const uint32 *b, const uint32 *c) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = boolean_ch(system, a->bits[i], b->bits[i], c->bits[i]);
}

void uint32_maj(cs *system, uint32 *out, const uint32 *a, const uint32 *b, const uint32 *c) {
    for (unsigned i = 0; i < 32; i++) out->bits[i] = boolean_maj(system, a->bits[i], b->bits[i], c->bits[i]);
}

static bool is_constant(const uint32 *a) {
    for (unsigned i = 0; i < 32; i++)
        if (!boolean_is_constant(a->bits[i])) return false;
    return true;
}

void uint32_addmany(multieq *m, uint32 *out, const uint32 *const *operands, unsigned n) {
    bool constant = true;
    uint64_t total = 0;
    for (unsigned k = 0; k < n; k++) {
        constant = constant && is_constant(operands[k]);
        total += uint32_value(operands[k]);
    }
    if (constant) {
        uint32_constant(out, (uint32_t)total);
        return;
    }
    boolean result[MAX_SUM_BITS];
    unsigned bits = 64 - (unsigned)__builtin_clzll(n * (uint64_t)UINT32_MAX);
    for (unsigned i = 0; i < bits; i++) {
        cs_enter(m->system, "result bit %u", i);
        result[i] = boolean_alloc(m->system, total >> i & 1);
        cs_leave(m->system);
    }
    multieq_make_room(m, bits);
    fr weights[MAX_SUM_BITS + 1];
    weights[0] = m->weight;
    for (unsigned i = 0; i < bits; i++) fr_dbl(&weights[i + 1], &weights[i]);
    uint32_add_sums(m, weights, operands, n, result, bits);
    multieq_added(m, bits, &weights[bits]);
    memcpy(out->bits, result, sizeof out->bits);
}
