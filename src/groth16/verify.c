/*
 * One proof costs three Miller loops that share their squarings, and one final exponentiation; e(alpha, beta)
 * is part of the prepared key. The sum over the inputs uses tables of odd multiples of the ic points, or the
 * general multi-scalar multiplication when there are too many inputs for tables.
 */
#include "groth16/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "curve/pairing.h"
#include "msm/msm.h"

/* Width-6 non-adjacent form: digits zero or odd, up to 31 in absolute value. */
#define WIDTH       6
#define ODD_COUNT   16 /* 1, 3, .., 31 */
#define DIGITS      (256 + WIDTH)
#define TABLE_LIMIT 1024 /* ic points; their tables take 1.5 KiB each */

struct verifier {
    verifying_key k;
    g2_affine gamma_neg, delta_neg;
    fp12 alpha_beta;
    g1_affine *odd; /* ic_count rows of ODD_COUNT, NULL above TABLE_LIMIT */
};

static cuzk_code make_tables(verifier *v, cuzk_error *err) {
    size_t count = v->k.ic_count;
    v->odd = malloc(count * ODD_COUNT * sizeof(g1_affine));
    if (!v->odd) return error_no_memory(err, count * ODD_COUNT * sizeof(g1_affine), "tables of the inputs");
    for (size_t i = 0; i < count; i++) {
        g1 multiples[ODD_COUNT], twice;
        fp scratch[ODD_COUNT];
        g1_from_affine(&multiples[0], &v->k.ic[i]);
        g1_dbl(&twice, &multiples[0]);
        for (int k = 1; k < ODD_COUNT; k++) g1_add(&multiples[k], &multiples[k - 1], &twice);
        g1_to_affine_n(v->odd + i * ODD_COUNT, multiples, ODD_COUNT, scratch);
    }
    return CUZK_OK;
}

cuzk_code verifier_create(verifier **out, const verifying_key *k, cuzk_error *err) {
    *out = NULL;
    verifier *v = calloc(1, sizeof *v);
    if (!v) return error_no_memory(err, sizeof *v, "a prepared verifying key");
    size_t ic_bytes = k->ic_count * sizeof(g1_affine);
    v->k = *k;
    v->k.ic = malloc(ic_bytes);
    cuzk_code code = v->k.ic ? CUZK_OK : error_no_memory(err, ic_bytes, "the ic points");
    if (code == CUZK_OK) {
        memcpy(v->k.ic, k->ic, ic_bytes);
        if (k->ic_count <= TABLE_LIMIT) code = make_tables(v, err);
    }
    if (code != CUZK_OK) {
        verifier_destroy(v);
        return code;
    }
    g2_affine_neg(&v->gamma_neg, &k->gamma_g2);
    g2_affine_neg(&v->delta_neg, &k->delta_g2);
    pairing(&v->alpha_beta, &k->alpha_g1, &k->beta_g2);
    *out = v;
    return CUZK_OK;
}

void verifier_destroy(verifier *v) {
    if (!v) return;
    vk_free(&v->k);
    free(v->odd);
    free(v);
}

size_t verifier_inputs(const verifier *v) {
    return v->k.ic_count - 1;
}

static cuzk_code check_inputs(const verifier *v, size_t n_inputs, cuzk_error *err) {
    if (n_inputs == verifier_inputs(v)) return CUZK_OK;
    return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                     "%zu public inputs, the verifying key is for %zu", n_inputs, verifier_inputs(v));
}

/* Bits [at, at + WIDTH) of k; bits from 256 on are zero. */
static unsigned scalar_bits(const fr_repr *k, unsigned at) {
    unsigned word = at / 64, shift = at % 64;
    uint64_t value = word < 4 ? k->l[word] >> shift : 0;
    if (shift + WIDTH > 64 && word < 3) value |= k->l[word + 1] << (64 - shift);
    return (unsigned)value & ((1u << WIDTH) - 1);
}

/* k = sum digits[bit * stride] 2^bit. */
static void recode(int8_t *digits, size_t stride, const fr_repr *k) {
    unsigned carry = 0;
    for (unsigned bit = 0; bit < DIGITS;) {
        unsigned window = scalar_bits(k, bit);
        if ((window & 1) == carry) { /* window + carry is even: a zero digit, and the carry stays */
            bit++;
            continue;
        }
        window += carry;
        carry = window >> (WIDTH - 1);
        digits[bit * stride] = (int8_t)((int)window - (int)(carry << WIDTH));
        bit += WIDTH;
    }
}

/* Sum of scalars[i] ic_i by one chain of doublings for all. */
static cuzk_code sum_by_tables(g1 *out, const verifier *v, const fr_repr *scalars, cuzk_error *err) {
    size_t count = v->k.ic_count;
    int8_t *digits = calloc(count, DIGITS);
    if (!digits) return error_no_memory(err, count * DIGITS, "the inputs' digits");
    for (size_t i = 0; i < count; i++) recode(digits + i, count, &scalars[i]);
    g1_set_identity(out);
    for (size_t bit = DIGITS; bit-- > 0;) {
        g1_dbl(out, out);
        for (size_t i = 0; i < count; i++) {
            int digit = digits[bit * count + i];
            if (digit == 0) continue;
            g1_affine term = v->odd[i * ODD_COUNT + (size_t)(abs(digit) / 2)];
            if (digit < 0) g1_affine_neg(&term, &term);
            g1_add_mixed(out, out, &term);
        }
    }
    free(digits);
    return CUZK_OK;
}

/* acc = sum scalars[i] ic_i over all ic points; the scalars are overwritten with plain integers. */
static cuzk_code sum_inputs(g1_affine *acc, const verifier *v, fr *scalars, pool *p, cuzk_error *err) {
    size_t count = v->k.ic_count;
    fr_repr *plain = (fr_repr *)scalars;
    fr_to_repr_n(plain, scalars, count);
    g1 sum;
    if (v->odd) {
        TRY(sum_by_tables(&sum, v, plain, err));
    } else {
        msm_bases bases = {.points = v->k.ic, .n = count};
        msm_scalars values = {.values = plain, .n = count};
        TRY(msm_g1(&sum, &bases, &values, p, NULL, "inputs", err));
    }
    g1_to_affine(acc, &sum);
    return CUZK_OK;
}

cuzk_code verify_proof(const verifier *v, const groth16_proof *proof, const fr *inputs, size_t n_inputs,
                       pool *p, cuzk_error *err) {
    TRY(check_inputs(v, n_inputs, err));
    fr *scalars = malloc((n_inputs + 1) * sizeof *scalars);
    if (!scalars) return error_no_memory(err, (n_inputs + 1) * sizeof *scalars, "the public inputs");
    scalars[0] = FR_ONE;
    if (n_inputs) memcpy(scalars + 1, inputs, n_inputs * sizeof *scalars);
    g1_affine acc;
    cuzk_code code = sum_inputs(&acc, v, scalars, p, err);
    free(scalars);
    if (code != CUZK_OK) return code;

    const g1_affine left[3] = {proof->a, acc, proof->c};
    const g2_affine right[3] = {proof->b, v->gamma_neg, v->delta_neg};
    fp12 product;
    pairing_miller(&product, left, right, 3);
    pairing_final_exp(&product, &product);
    if (fp12_eq(&product, &v->alpha_beta)) return CUZK_OK;
    return error_set(err, CUZK_ERR_PROOF, NULL, CUZK_NO_OFFSET, "the proof does not verify");
}

/* --- batches ------------------------------------------------------------------------------------------- */

#define PAIRS_A_PIECE 4u

typedef struct batch {
    const verifier *v;
    const groth16_proof *proofs;
    size_t n;
    fr_repr *z;    /* n random factors below 2^128 */
    g1 *c_terms;   /* z_j C_j */
    fp12 *partial; /* one per piece: prod e(z_j A_j, -B_j) before the final exponentiation */
    fr *scalars;   /* of the ic points */
} batch;

static void batch_piece(void *ctx, size_t begin, size_t end) {
    batch *b = ctx;
    g1_affine left[PAIRS_A_PIECE];
    g2_affine right[PAIRS_A_PIECE];
    for (size_t j = begin; j < end; j++) {
        g1 point;
        g1_from_affine(&point, &b->proofs[j].a);
        g1_mul(&point, &point, &b->z[j]);
        g1_to_affine(&left[j - begin], &point);
        g2_affine_neg(&right[j - begin], &b->proofs[j].b);
        g1_from_affine(&point, &b->proofs[j].c);
        g1_mul(&b->c_terms[j], &point, &b->z[j]);
    }
    pairing_miller(&b->partial[begin / PAIRS_A_PIECE], left, right, end - begin);
}

static cuzk_code draw_factors(fr_repr *z, size_t n, cuzk_error *err) {
    for (size_t j = 0; j < n; j++) {
        fr element;
        TRY(fr_random(&element, err));
        fr_to_repr(&z[j], &element);
        z[j].l[2] = z[j].l[3] = 0;
    }
    return CUZK_OK;
}

/* scalars[i] = sum_j z_j x_ji with x_j0 = 1. */
static void combine_inputs(fr *scalars, const fr_repr *z, const fr *inputs, size_t n, size_t n_inputs) {
    memset(scalars, 0, (n_inputs + 1) * sizeof *scalars);
    for (size_t j = 0; j < n; j++) {
        fr factor, term;
        fr_from_repr(&factor, &z[j]);
        fr_add(&scalars[0], &scalars[0], &factor);
        for (size_t i = 0; i < n_inputs; i++) {
            fr_mul(&term, &factor, &inputs[j * n_inputs + i]);
            fr_add(&scalars[i + 1], &scalars[i + 1], &term);
        }
    }
}

/* prod e(z_j A_j, -B_j) e(sum z_j C_j, delta) e(acc, gamma) e((sum z_j) alpha, beta) = 1? */
static cuzk_code batch_holds(bool *holds, batch *b, const fr *inputs, size_t n_inputs, pool *p,
                             cuzk_error *err) {
    TRY(draw_factors(b->z, b->n, err));
    pool_for(p, b->n, PAIRS_A_PIECE, batch_piece, b);
    TRY(pool_check(p, err));

    const verifying_key *k = &b->v->k;
    g1 sum;
    g1_affine left[3];
    const g2_affine right[3] = {k->delta_g2, k->gamma_g2, k->beta_g2};
    g1_set_identity(&sum);
    for (size_t j = 0; j < b->n; j++) g1_add(&sum, &sum, &b->c_terms[j]);
    g1_to_affine(&left[0], &sum);
    combine_inputs(b->scalars, b->z, inputs, b->n, n_inputs);
    g1_from_affine(&sum, &k->alpha_g1);
    g1_mul_fr(&sum, &sum, &b->scalars[0]);
    g1_to_affine(&left[2], &sum);
    TRY(sum_inputs(&left[1], b->v, b->scalars, p, err));

    fp12 product;
    pairing_miller(&product, left, right, 3);
    for (size_t i = 0; i * PAIRS_A_PIECE < b->n; i++) fp12_mul(&product, &product, &b->partial[i]);
    pairing_final_exp(&product, &product);
    *holds = fp12_is_one(&product);
    return CUZK_OK;
}

static cuzk_code find_bad(const verifier *v, const groth16_proof *proofs, size_t n, const fr *inputs,
                          size_t n_inputs, pool *p, cuzk_error *err) {
    for (size_t j = 0; j < n; j++) {
        cuzk_code code = verify_proof(v, &proofs[j], inputs + j * n_inputs, n_inputs, p, err);
        if (code == CUZK_ERR_PROOF)
            return error_set(err, code, NULL, CUZK_NO_OFFSET,
                             "proof %zu (counted from 0) of %zu does not verify", j, n);
        if (code != CUZK_OK) return code;
    }
    return error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET,
                     "%zu proofs verify one by one but not as a batch", n);
}

cuzk_code verify_batch(const verifier *v, const groth16_proof *proofs, size_t n, const fr *inputs,
                       size_t n_inputs, pool *p, cuzk_error *err) {
    if (n == 0) return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "no proofs to verify");
    if (n == 1) return verify_proof(v, proofs, inputs, n_inputs, p, err);
    TRY(check_inputs(v, n_inputs, err));
    size_t pieces = (n + PAIRS_A_PIECE - 1) / PAIRS_A_PIECE;
    batch b = {.v = v,
               .proofs = proofs,
               .n = n,
               .z = calloc(n, sizeof(fr_repr)),
               .c_terms = calloc(n, sizeof(g1)),
               .partial = calloc(pieces, sizeof(fp12)),
               .scalars = calloc(n_inputs + 1, sizeof(fr))};
    bool holds = false;
    cuzk_code code =
        b.z && b.c_terms && b.partial && b.scalars
            ? batch_holds(&holds, &b, inputs, n_inputs, p, err)
            : error_no_memory(err, n * (sizeof(fr_repr) + sizeof(g1) + sizeof(fp12)), "a batch of proofs");
    free(b.z);
    free(b.c_terms);
    free(b.partial);
    free(b.scalars);
    if (code != CUZK_OK || holds) return code;
    return find_bad(v, proofs, n, inputs, n_inputs, p, err);
}
