/*
 * Time of a multi-scalar multiplication.
 *
 *   bench_msm [g1|g2] [uniform|bits] POINTS [THREADS [REPETITIONS [SUMS]]]
 *
 * Bases are i G, encoded, in memory. uniform: scalars uniform below r. bits: 49 % zeros, 49 % ones, 2 %
 * uniform, as in a witness of SHA-256. SUMS: so many at a time over the same bases, with scalars of the same
 * kind at the same places; times are of one then. CUZK_ISA chooses the variant. Prints every time and the
 * median, in seconds, wall clock and CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "field/field.h"
#include "msm/msm.h"

static uint64_t random_state = 1;
static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#define TILE 4096u

static void encode_g1(uint8_t *out, size_t n) {
    static g1 points[TILE];
    static g1_affine affine[TILE];
    static fp scratch[TILE];
    g1_affine generator;
    g1 p;
    g1_generator(&generator);
    g1_set_identity(&p);
    for (size_t i = 0; i < n; i += TILE) {
        for (size_t j = 0; j < TILE; j++) {
            g1_add_mixed(&p, &p, &generator);
            points[j] = p;
        }
        g1_to_affine_n(affine, points, TILE, scratch);
        for (size_t j = 0; j < TILE && i + j < n; j++) g1_encode(out + (i + j) * G1_UNCOMPRESSED, &affine[j]);
    }
}

static void encode_g2(uint8_t *out, size_t n) {
    static g2 points[TILE];
    static g2_affine affine[TILE];
    static fp2 scratch[TILE];
    g2_affine generator;
    g2 p;
    g2_generator(&generator);
    g2_set_identity(&p);
    for (size_t i = 0; i < n; i += TILE) {
        for (size_t j = 0; j < TILE; j++) {
            g2_add_mixed(&p, &p, &generator);
            points[j] = p;
        }
        g2_to_affine_n(affine, points, TILE, scratch);
        for (size_t j = 0; j < TILE && i + j < n; j++) g2_encode(out + (i + j) * G2_UNCOMPRESSED, &affine[j]);
    }
}

static void make_scalars(fr_repr *out, size_t n, bool bits) {
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        if (bits && i * UINT64_C(0x9e3779b97f4a7c15) / (UINT64_MAX / 100) >= 2) {
            out[i].l[0] = random_u64() & 1;
            continue;
        }
        do {
            for (int j = 0; j < 4; j++) out[i].l[j] = random_u64();
            out[i].l[3] >>= 1;
        } while (!fr_repr_is_valid(&out[i]));
    }
}

static int by_value(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

int main(int argc, char **argv) {
    cuzk_error err;
    if (argc < 4 || field_init(&err) != CUZK_OK) {
        fprintf(stderr, "usage: bench_msm g1|g2 uniform|bits POINTS [THREADS [REPETITIONS [SUMS]]]\n");
        return 2;
    }
    bool in_g2 = strcmp(argv[1], "g2") == 0, bits = strcmp(argv[2], "bits") == 0;
    size_t n = strtoull(argv[3], NULL, 10), size = in_g2 ? G2_UNCOMPRESSED : G1_UNCOMPRESSED;
    unsigned threads = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    size_t repetitions = argc > 5 ? (size_t)atoi(argv[5]) : 5, sums = argc > 6 ? (size_t)atoi(argv[6]) : 1;
    pool *p;
    uint8_t *bases = malloc(n * size + 1);
    fr_repr *scalars = malloc(sums * n * sizeof *scalars + 1);
    msm_scalars *s = calloc(sums + 1, sizeof *s);
    g1 *one = calloc(sums + 1, sizeof *one);
    g2 *two = calloc(sums + 1, sizeof *two);
    double *wall = calloc(repetitions + 1, sizeof *wall), *cpu = calloc(repetitions + 1, sizeof *cpu);
    if (!bases || !scalars || !s || !one || !two || !wall || !cpu || repetitions == 0 ||
        pool_create(&p, threads, &err) != CUZK_OK)
        return 1;
    if (in_g2) {
        encode_g2(bases, n);
    } else {
        encode_g1(bases, n);
    }
    msm_bases b = {bases, n, true};
    for (size_t i = 0; i < sums; i++) {
        make_scalars(scalars + i * n, n, bits);
        s[i] = (msm_scalars){scalars + i * n, n, NULL};
    }
    for (size_t i = 0; i < repetitions; i++) {
        double start = clock_seconds(), cpu_start = clock_cpu_seconds();
        cuzk_code code = in_g2 ? msm_g2_many(two, &b, s, sums, p, NULL, "msm", &err)
                               : msm_g1_many(one, &b, s, sums, p, NULL, "msm", &err);
        wall[i] = (clock_seconds() - start) / (double)sums;
        cpu[i] = (clock_cpu_seconds() - cpu_start) / (double)sums;
        if (code != CUZK_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        printf("%.4f s, CPU %.6f s\n", wall[i], cpu[i]);
    }
    qsort(wall, repetitions, sizeof *wall, by_value);
    qsort(cpu, repetitions, sizeof *cpu, by_value);
    printf("%s %s %s %zu points, %u threads: median %.3f s, CPU %.3f s\n", cpu_isa_name(field.isa), argv[1],
           argv[2], n, threads, wall[repetitions / 2], cpu[repetitions / 2]);
    pool_destroy(p);
    free(bases);
    free(scalars);
    free(s);
    free(one);
    free(two);
    free(wall);
    free(cpu);
    return 0;
}
