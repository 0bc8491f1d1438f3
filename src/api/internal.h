/* The objects behind the handles of cuzk.h, and what the command-line tools share with them. */
#ifndef CUZK_API_INTERNAL_H
#define CUZK_API_INTERNAL_H

#include "base/pool.h"
#include "circuit/catalog.h"
#include "filecoin/c1.h"
#include "groth16/srs.h"

struct cuzk {
    pool *threads;
};

struct cuzk_c1 {
    c1 *parsed;
    char *path; /* as given, for errors */
};

struct cuzk_params {
    const catalog_entry *circuit;
    bool can_prove; /* srs is open */
    srs srs;
    verifying_key vk;
    verifier *verifier;
};

/* The counts a circuit's parameter file must have. */
srs_shape api_srs_shape(const catalog_entry *entry);

#endif
