/* Transforms against vectors/ntt.json, the direct sum and their inverses; the quotient against its definition
 * with seven transforms and against the polynomial identity. All on every variant the processor has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#include "ntt/ntt.h"

/* Sizes that reach every shape of the pass plan without taking long. */
#define MAX_ROUND_TRIP_LOG 17u
#define MAX_DIRECT_LOG     7u

static uint64_t random_state;

static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Mostly uniform, now and then 0, 1, -1 or the largest limbs. */
static void random_fr(fr *out) {
    fr_repr plain = {{random_u64(), random_u64(), random_u64(), random_u64() >> 2}};
    fr_from_repr(out, &plain);
    switch (random_u64() % 16) {
    case 0:
        *out = FR_ZERO;
        break;
    case 1:
        *out = FR_ONE;
        break;
    case 2:
        fr_neg(out, &FR_ONE);
        break;
    case 3:
        memcpy(out->l, FR_MODULUS.l, sizeof out->l);
        out->l[0] -= 1;
        break;
    default:
        break;
    }
}

static fr *new_vector(size_t n) {
    fr *v = aligned_alloc(64, (n * sizeof *v + 63) / 64 * 64); /* as vectors of a proof are */
    assert_non_null(v);
    return v;
}

static fr *random_vector(size_t n, uint64_t seed) {
    random_state = seed;
    fr *v = new_vector(n);
    for (size_t i = 0; i < n; i++) random_fr(&v[i]);
    return v;
}

static fr *copy_vector(const fr *v, size_t n) {
    fr *copy = new_vector(n);
    memcpy(copy, v, n * sizeof *v);
    return copy;
}

static ntt_domain *new_domain(unsigned log_n, pool *p) {
    ntt_domain *d;
    cuzk_error err;
    assert_int_equal(ntt_domain_create(&d, log_n, p, &err), CUZK_OK);
    assert_int_equal(ntt_domain_log_n(d), log_n);
    return d;
}

static void transform(const ntt_domain *d, ntt_kind kind, fr *v, pool *p) {
    cuzk_error err;
    assert_int_equal(ntt_run(d, kind, v, p, &err), CUZK_OK);
}

static void assert_vectors_equal(const fr *a, const fr *b, size_t n) {
    assert_memory_equal(a, b, n * sizeof *a);
}

static void eval(fr *out, const fr *coefficients, size_t n, const fr *x) {
    fr sum = FR_ZERO;
    for (size_t i = n; i-- > 0;) {
        fr_mul(&sum, &sum, x);
        fr_add(&sum, &sum, &coefficients[i]);
    }
    *out = sum;
}

static void vectors(void **state) {
    (void)state;
    static const struct {
        const char *name;
        ntt_kind kind;
    } kinds[] = {{"fft", NTT_FORWARD},
                 {"ifft", NTT_INVERSE},
                 {"coset_fft", NTT_COSET_FORWARD},
                 {"icoset_fft", NTT_COSET_INVERSE}};
    yajl_val root = fixture_json("vectors/ntt.json");
    size_t cases = json_len(root, "cases");
    assert_true(cases >= 4);
    for (size_t i = 0; i < cases; i++) {
        yajl_val c = json_at(root, "cases")->u.array.values[i];
        unsigned log_n = (unsigned)json_int(c, "log_n");
        size_t n = (size_t)1 << log_n;
        yajl_val input = json_at(c, "input");
        if (YAJL_IS_NULL(input)) input = json_at(root, "input_10");
        assert_int_equal(input->u.array.len, n);
        fr *in = new_vector(n);
        uint8_t *bytes = malloc(32 * n);
        assert_non_null(bytes);
        for (size_t k = 0; k < n; k++) {
            hex_decode(bytes, YAJL_GET_STRING(input->u.array.values[k]), 32);
            assert_true(fr_from_bytes(&in[k], bytes));
        }
        ntt_domain *d = new_domain(log_n, NULL);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            yajl_val expected = json_at(c, kinds[k].name), first = json_at(expected, "first");
            fr *v = copy_vector(in, n);
            transform(d, kinds[k].kind, v, NULL);
            for (size_t j = 0; j < n; j++) fr_to_bytes(bytes + 32 * j, &v[j]);
            for (size_t j = 0; j < first->u.array.len; j++)
                assert_hex(bytes + 32 * j, 32, YAJL_GET_STRING(first->u.array.values[j]));
            assert_sha256(bytes, 32 * n, json_str(expected, "sha256"));
            free(v);
        }
        ntt_domain_destroy(d);
        free(bytes);
        free(in);
    }
    yajl_tree_free(root);
}

static void direct_sum(void **state) {
    (void)state;
    for (unsigned log_n = 0; log_n <= MAX_DIRECT_LOG; log_n++) {
        size_t n = (size_t)1 << log_n;
        fr *in = random_vector(n, log_n), *v = copy_vector(in, n), *coset = copy_vector(in, n);
        ntt_domain *d = new_domain(log_n, NULL);
        transform(d, NTT_FORWARD, v, NULL);
        transform(d, NTT_COSET_FORWARD, coset, NULL);
        fr root, x = FR_ONE, seven, y;
        fr_root_of_unity(&root, log_n);
        fr_generator(&seven);
        for (size_t k = 0; k < n; k++) {
            eval(&y, in, n, &x);
            assert_true(fr_eq(&y, &v[k]));
            fr shifted;
            fr_mul(&shifted, &x, &seven);
            eval(&y, in, n, &shifted);
            assert_true(fr_eq(&y, &coset[k]));
            fr_mul(&x, &x, &root);
        }
        ntt_domain_destroy(d);
        free(in);
        free(v);
        free(coset);
    }
}

/* Every size: the inverses undo the transforms, the outputs are fully reduced, and two of them are right. */
static void round_trips(void **state) {
    (void)state;
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, 2, &err), CUZK_OK);
    for (unsigned log_n = 0; log_n <= MAX_ROUND_TRIP_LOG; log_n++) {
        size_t n = (size_t)1 << log_n;
        fr *in = random_vector(n, 100 + log_n), *v = copy_vector(in, n);
        ntt_domain *d = new_domain(log_n, p);
        for (int coset = 0; coset < 2; coset++) {
            transform(d, coset ? NTT_COSET_FORWARD : NTT_FORWARD, v, p);
            for (size_t k = 0; k < n; k++) {
                fr_repr raw;
                memcpy(raw.l, v[k].l, sizeof raw.l);
                assert_true(fr_repr_is_valid(&raw));
            }
            for (int probe = 0; probe < 2; probe++) {
                size_t k = probe ? n - 1 : random_u64() % n;
                fr x, seven, y;
                fr_root_of_unity(&x, log_n);
                fr_pow_u64(&x, &x, k);
                fr_generator(&seven);
                if (coset) fr_mul(&x, &x, &seven);
                eval(&y, in, n, &x);
                assert_true(fr_eq(&y, &v[k]));
            }
            transform(d, coset ? NTT_COSET_INVERSE : NTT_INVERSE, v, p);
            assert_vectors_equal(v, in, n);
        }
        ntt_domain_destroy(d);
        free(in);
        free(v);
    }
    pool_destroy(p);
}

/* h = (a b - c) / Z by its definition: everything on the coset. Destroys its operands; h is left in a. */
static void quotient_by_definition(const ntt_domain *d, fr *a, fr *b, fr *c) {
    size_t n = (size_t)1 << ntt_domain_log_n(d);
    fr *const all[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        transform(d, NTT_INVERSE, all[i], NULL);
        transform(d, NTT_COSET_FORWARD, all[i], NULL);
    }
    fr z;
    fr_generator(&z);
    fr_pow_u64(&z, &z, n);
    fr_sub(&z, &z, &FR_ONE);
    fr_inv(&z, &z);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&a[i], &a[i], &b[i]);
        fr_sub(&a[i], &a[i], &c[i]);
        fr_mul(&a[i], &a[i], &z);
    }
    transform(d, NTT_COSET_INVERSE, a, NULL);
}

static void run_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p) {
    cuzk_error err;
    assert_int_equal(ntt_quotient(d, a, b, c, p, NULL, &err), CUZK_OK);
}

static void quotient(void **state) {
    (void)state;
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, 2, &err), CUZK_OK);
    for (unsigned log_n = 0; log_n <= 14; log_n++) {
        size_t n = (size_t)1 << log_n;
        ntt_domain *d = new_domain(log_n, p);
        for (int satisfied = 0; satisfied < 2; satisfied++) {
            fr *a = random_vector(n, 200 + log_n), *b = random_vector(n, 300 + log_n);
            fr *c = random_vector(n, 400 + log_n);
            if (satisfied)
                for (size_t i = 0; i < n; i++) fr_mul(&c[i], &a[i], &b[i]);
            fr *h = copy_vector(a, n), *b2 = copy_vector(b, n), *c2 = copy_vector(c, n);
            run_quotient(d, h, b2, c2, p);
            assert_int_equal(fr_is_zero(&h[n - 1]), satisfied);
            if (satisfied) { /* a(x) b(x) - c(x) = h(x) (x^n - 1) at a random x */
                fr x, va, vb, vc, vh, z;
                random_fr(&x);
                const fr *const values[] = {a, b, c};
                fr *const at[] = {&va, &vb, &vc};
                for (int i = 0; i < 3; i++) {
                    fr *t = copy_vector(values[i], n);
                    transform(d, NTT_INVERSE, t, p);
                    eval(at[i], t, n, &x);
                    free(t);
                }
                eval(&vh, h, n, &x);
                fr_pow_u64(&z, &x, n);
                fr_sub(&z, &z, &FR_ONE);
                fr_mul(&vh, &vh, &z);
                fr_mul(&va, &va, &vb);
                fr_sub(&va, &va, &vc);
                assert_true(fr_eq(&va, &vh));
            }
            quotient_by_definition(d, a, b, c);
            assert_vectors_equal(h, a, n);
            free(a);
            free(b);
            free(c);
            free(h);
            free(b2);
            free(c2);
        }
        ntt_domain_destroy(d);
    }
    pool_destroy(p);
}

static void thread_counts(void **state) {
    (void)state;
    static const unsigned sizes[] = {3, 9, 13, 16}, threads[] = {2, 3, 8};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned log_n = sizes[s];
        size_t n = (size_t)1 << log_n;
        fr *in = random_vector(n, 500 + log_n), *b = random_vector(n, 600), *c = random_vector(n, 700);
        ntt_domain *d = new_domain(log_n, NULL);
        fr *expected[5];
        for (int kind = 0; kind < 5; kind++) expected[kind] = copy_vector(in, n);
        for (int kind = 0; kind < 4; kind++) transform(d, (ntt_kind)kind, expected[kind], NULL);
        fr *b2 = copy_vector(b, n), *c2 = copy_vector(c, n);
        run_quotient(d, expected[4], b2, c2, NULL);
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            pool *p;
            cuzk_error err;
            assert_int_equal(pool_create(&p, threads[t], &err), CUZK_OK);
            ntt_domain *shared = new_domain(log_n, p);
            for (int kind = 0; kind < 5; kind++) {
                fr *v = copy_vector(in, n);
                memcpy(b2, b, n * sizeof *b);
                memcpy(c2, c, n * sizeof *c);
                if (kind < 4)
                    transform(shared, (ntt_kind)kind, v, p);
                else
                    run_quotient(shared, v, b2, c2, p);
                assert_vectors_equal(v, expected[kind], n);
                free(v);
            }
            ntt_domain_destroy(shared);
            pool_destroy(p);
        }
        for (int kind = 0; kind < 5; kind++) free(expected[kind]);
        free(in);
        free(b);
        free(c);
        free(b2);
        free(c2);
        ntt_domain_destroy(d);
    }
}

typedef struct stop_after {
    unsigned calls, limit;
    uint64_t last_done, last_total;
} stop_after;

static bool count_reports(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    stop_after *s = ctx;
    assert_string_equal(phase, "ntt");
    assert_true(done <= total && (s->calls == 0 || done > s->last_done));
    s->last_done = done;
    s->last_total = total;
    return ++s->calls < s->limit;
}

static void progress_and_cancel(void **state) {
    (void)state;
    ntt_domain *d = new_domain(5, NULL);
    stop_after s = {.limit = 1000};
    cuzk_progress progress = {.report = count_reports, .ctx = &s};
    cuzk_error err;
    fr *a = random_vector(32, 1), *b = random_vector(32, 2), *c = random_vector(32, 3);
    assert_int_equal(ntt_quotient(d, a, b, c, NULL, &progress, &err), CUZK_OK);
    assert_true(s.last_total > 0 && s.last_done == s.last_total);
    unsigned calls = s.calls;
    for (unsigned limit = 1; limit <= calls; limit++) {
        s = (stop_after){.limit = limit};
        assert_int_equal(ntt_quotient(d, a, b, c, NULL, &progress, &err), CUZK_ERR_CANCELLED);
        assert_int_equal(s.calls, limit);
    }
    free(a);
    free(b);
    free(c);
    ntt_domain_destroy(d);
}

static void bad_sizes(void **state) {
    (void)state;
    ntt_domain *d = NULL;
    cuzk_error err;
    assert_int_equal(ntt_domain_create(&d, 31, NULL, &err), CUZK_ERR_USAGE);
    assert_null(d);
    assert_int_equal(err.code, CUZK_ERR_USAGE);
    ntt_domain_destroy(NULL);
}

static int use_portable(void **state) {
    (void)state;
    field_select(CPU_PORTABLE);
    return 0;
}
static int use_adx(void **state) {
    (void)state;
    field_select(CPU_ADX);
    return 0;
}
static int use_ifma(void **state) {
    (void)state;
    field_select(CPU_IFMA);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors),
                                       cmocka_unit_test(direct_sum),
                                       cmocka_unit_test(round_trips),
                                       cmocka_unit_test(quotient),
                                       cmocka_unit_test(thread_counts),
                                       cmocka_unit_test(bad_sizes),
                                       cmocka_unit_test(progress_and_cancel)};
    int failed = cmocka_run_group_tests_name("portable", tests, use_portable, NULL);
    if (cpu_best() >= CPU_ADX) failed += cmocka_run_group_tests_name("adx", tests, use_adx, NULL);
    if (cpu_best() >= CPU_IFMA) failed += cmocka_run_group_tests_name("ifma", tests, use_ifma, NULL);
    return failed;
}
