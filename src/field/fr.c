#include "field/fr.h"

#include <errno.h>
#include <sys/random.h>

#include "base/mem.h"
#include "field/modinv.h"

bool fr_repr_is_valid(const fr_repr *value) {
    return fr_repr_cmp(value, &FR_MODULUS) < 0;
}

int fr_repr_cmp(const fr_repr *a, const fr_repr *b) {
    for (int i = 3; i >= 0; i--)
        if (a->l[i] != b->l[i]) return a->l[i] < b->l[i] ? -1 : 1;
    return 0;
}

void fr_from_u64(fr *out, uint64_t value) {
    fr_repr plain = {{value, 0, 0, 0}};
    fr_from_repr(out, &plain);
}

void fr_from_repr(fr *out, const fr_repr *value) {
    fr t;
    memcpy(t.l, value->l, sizeof t.l);
    fr_mul(out, &t, &FR_R2);
}

void fr_to_repr(fr_repr *out, const fr *a) {
    static const fr raw_one = {{1, 0, 0, 0}};
    fr t;
    fr_mul(&t, a, &raw_one);
    memcpy(out->l, t.l, sizeof out->l);
}

void fr_from_repr_n(fr *out, const fr_repr *in, size_t n) {
    for (size_t i = 0; i < n; i++) fr_from_repr(&out[i], &in[i]);
}

void fr_to_repr_n(fr_repr *out, const fr *in, size_t n) {
    for (size_t i = 0; i < n; i++) fr_to_repr(&out[i], &in[i]);
}

bool fr_from_bytes(fr *out, const uint8_t bytes[32]) {
    fr_repr plain;
    memcpy(plain.l, bytes, sizeof plain.l);
    if (!fr_repr_is_valid(&plain)) return false;
    fr_from_repr(out, &plain);
    return true;
}

void fr_to_bytes(uint8_t bytes[32], const fr *a) {
    fr_repr plain;
    fr_to_repr(&plain, a);
    memcpy(bytes, plain.l, sizeof plain.l);
}

void fr_pow(fr *out, const fr *a, const fr_repr *e) {
    fr base = *a, result = FR_ONE;
    int top = 255;
    while (top >= 0 && !(e->l[top / 64] >> (top % 64) & 1)) top--;
    for (int i = top; i >= 0; i--) {
        fr_sqr(&result, &result);
        if (e->l[i / 64] >> (i % 64) & 1) fr_mul(&result, &result, &base);
    }
    *out = result;
}

void fr_pow_u64(fr *out, const fr *a, uint64_t e) {
    fr base = *a, result = FR_ONE;
    for (; e; e >>= 1) {
        if (e & 1) fr_mul(&result, &result, &base);
        if (e > 1) fr_sqr(&base, &base);
    }
    *out = result;
}

void fr_inv(fr *out, const fr *a) {
    fr t; /* 1/(a R); twice times R */
    modinv_r(t.l, a->l);
    fr_mul(&t, &t, &FR_R2);
    fr_mul(out, &t, &FR_R2);
}

void fr_batch_inv(fr *values, size_t n, fr *scratch) {
    fr product = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!fr_is_zero(&values[i])) fr_mul(&product, &product, &values[i]);
    }
    fr_inv(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (fr_is_zero(&values[i])) continue;
        fr next;
        fr_mul(&next, &product, &values[i]);
        fr_mul(&values[i], &product, &scratch[i]);
        product = next;
    }
}

cuzk_code fr_random(fr *out, cuzk_error *err) {
    fr_repr draw;
    do {
        size_t have = 0;
        while (have < sizeof draw) {
            ssize_t got = getrandom((char *)&draw + have, sizeof draw - have, 0);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0)
                return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno,
                                   "the system's random generator failed");
            have += (size_t)got;
        }
        draw.l[3] &= UINT64_MAX >> 1;
    } while (!fr_repr_is_valid(&draw));
    fr_from_repr(out, &draw);
    mem_wipe(&draw, sizeof draw);
    return CUZK_OK;
}

void fr_generator(fr *out) {
    fr_from_u64(out, 7);
}

void fr_root_of_unity(fr *out, unsigned log_n) {
    static const fr root = {
        {0xb9b58d8c5f0e466au, 0x5b1b4c801819d7ecu, 0x0af53ae352a31e64u, 0x5bf3adda19e9b27bu}};
    *out = root;
    for (unsigned i = log_n; i < FR_TWO_ADICITY; i++) fr_sqr(out, out);
}
