/* The objects behind the handles of cuzk.h, and what the command-line tools share with them. */
#ifndef CUZK_API_INTERNAL_H
#define CUZK_API_INTERNAL_H

#include "base/pool.h"
#include "engine/key.h"
#include "filecoin/c1.h"

struct cuzk {
    pool *threads;
};

struct cuzk_c1 {
    c1 *parsed;
    char *path; /* as given, for errors */
};

struct cuzk_params {
    proving_key *key;
};

#endif
