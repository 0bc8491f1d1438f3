/*
 * One circuit's key: its parameter file and verifying key, opened and checked, and the circuit's matrices
 * once somebody needs them.
 */
#ifndef CUZK_ENGINE_KEY_H
#define CUZK_ENGINE_KEY_H

#include <pthread.h>
#include <time.h>

#include "circuit/catalog.h"
#include "groth16/srs.h"
#include "r1cs/matrices.h"

#define KEY_SAMPLE 16u /* points of each section that opening checks */

typedef struct proving_key {
    const catalog_entry *circuit;
    bool can_prove; /* srs is open */
    srs srs;
    verifying_key vk;
    verifier *verifier;
    pthread_mutex_t mutex;           /* guards matrices */
    matrices *matrices;              /* NULL until key_matrices */
    _Atomic uint64_t matrices_bytes; /* memory they take */
    struct timespec modified;        /* the parameter file's time when it was opened */
} proving_key;

/* The counts a circuit's parameter file must have. */
srs_shape key_srs_shape(const catalog_entry *entry);

/* Paths of a circuit's files. CUZK_ERR_USAGE for an unknown circuit. */
cuzk_code key_paths(const catalog_entry **entry, char params[1024], char vk[1024], const char *circuit,
                    const char *directory, cuzk_error *err);

/* Open the files of `circuit` in `directory` (NULL: FIL_PROOFS_PARAMETER_CACHE, else the usual place);
 * without can_prove the verifying key alone. CUZK_ERR_PARAMS: missing, damaged or of another circuit. Layout,
 * verifying keys and a sample of the points are checked; the others are as they are used. */
cuzk_code key_open(proving_key **out, const char *circuit, const char *directory, bool can_prove,
                   cuzk_error *err);
/* The key of a circuit without its files, for synthesis alone: proving and verifying with it are not
 * possible. CUZK_ERR_USAGE for an unknown circuit. */
cuzk_code key_without_files(proving_key **out, const char *circuit, cuzk_error *err);
void key_close(proving_key *k);

/* The circuit's matrices, made when first asked for; others who ask meanwhile wait. `circuit` and `parts` are
 * those of any job of it. They live as long as the key. Progress phase "matrices". */
cuzk_code key_matrices(const matrices **out, proving_key *k, const r1cs_circuit *circuit,
                       const r1cs_parts *parts, const cuzk_progress *progress, cuzk_error *err);
#endif
