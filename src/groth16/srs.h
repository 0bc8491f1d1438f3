/*
 * Parameter files (.params; bellperson 0.27, groth16/params.rs): the verifying key, then five sections, each
 * a u32 big-endian count and that many uncompressed points, in the order h (G1), l (G1), a (G1), b_g1 (G1),
 * b_g2 (G2); nothing after them. The file is mapped and its points are read in place.
 *
 * Opening checks the layout against the size of the file to the byte, that the counts fit each other, and
 * every point of the verifying key. The other points are checked as they are used (encoding, curve, not the
 * identity) or all at once by srs_validate.
 *
 * All errors about the file are CUZK_ERR_PARAMS with its path and, where there is one, the byte offset.
 */
#ifndef CUZK_GROTH16_SRS_H
#define CUZK_GROTH16_SRS_H

#include "base/file.h"
#include "base/progress.h"
#include "groth16/verify.h"
#include "groth16/vk.h"
#include "msm/msm.h"
#include "r1cs/assignment.h"

/* The sizes of a circuit that its parameters fit. */
typedef struct srs_shape {
    uint32_t inputs, aux; /* points in ic and l; inputs counts ONE */
    unsigned log_domain;  /* 2^log_domain - 1 points in h */
    uint64_t a, b;        /* points in a, and in each of b_g1 and b_g2 */
} srs_shape;

/* From the circuit's shape and the number of variables that occur in A and B. */
srs_shape srs_shape_from(const r1cs_shape *shape, uint64_t a_aux, uint64_t b_input, uint64_t b_aux);
srs_shape srs_shape_of(const assignment *w);
/* Size of the parameter file for a shape. */
uint64_t srs_bytes(const srs_shape *shape);

typedef struct srs {
    file_map file;
    srs_shape shape;
    verifying_key vk;
    verifier *verifier;            /* of vk */
    msm_bases h, l, a, b_g1, b_g2; /* encoded, inside the map */
} srs;

/* `expected`: the shape the file must have, or NULL. */
cuzk_code srs_open(srs *out, const char *path, const srs_shape *expected, pool *p, cuzk_error *err);
void srs_close(srs *s); /* a zeroed or closed one is left alone */

/* Are these parameters of a circuit of this shape? The error names the first count that differs. */
cuzk_code srs_check_shape(const srs *s, const srs_shape *expected, cuzk_error *err);
/* Is `k` (read from key_path) the verifying key of these parameters? */
cuzk_code srs_check_vk(const srs *s, const verifying_key *k, const char *key_path, cuzk_error *err);

/* Check every point: encoding, curve, not the identity, and with `subgroup` the subgroup too (slow: minutes
 * per ten million points). Progress phase "check parameters", in bytes. */
cuzk_code srs_validate(const srs *s, bool subgroup, pool *p, const cuzk_progress *progress, cuzk_error *err);

/* The same for `n` points of each section, spread over it: what opening a key can afford. */
cuzk_code srs_sample(const srs *s, size_t n, cuzk_error *err);

#endif
