/* Sealing a 2 KiB sector and opening it at its challenges, step by step, so that tests can tamper between the
 * steps. */
#ifndef CUZK_TEST_SEALED_2K_H
#define CUZK_TEST_SEALED_2K_H

#include "filecoin/c1.h"

enum { SEALED_NODES = 64, SEALED_LAYERS = 2, SEALED_TREE_D = 127, SEALED_TREE_R = 73 };

typedef struct sealed_2k {
    const registered_porep *proof;
    uint8_t ticket[32], seed[32];
    fr_repr replica_id;
    fr_repr data[SEALED_NODES];
    fr_repr labels[SEALED_NODES][SEALED_LAYERS];
    fr_repr columns[SEALED_NODES], replica[SEALED_NODES];
    /* Leaves first, then level by level up to the root. */
    fr_repr tree_d[SEALED_TREE_D], tree_c[SEALED_TREE_R], tree_r_last[SEALED_TREE_R];
    fr_repr comm_r;
} sealed_2k;

/* From a fixture of a 2 KiB sector ("2k-v1_1"): registered proof, ticket, seed, replica id and data. */
void sealed_2k_read(sealed_2k *s, const char *name);
void sealed_2k_label(sealed_2k *s);  /* labels */
void sealed_2k_encode(sealed_2k *s); /* columns and replica */
void sealed_2k_commit(sealed_2k *s); /* trees and comm_r */
/* The C1 of the sector, for c1_free. */
c1 *sealed_2k_open(const sealed_2k *s);

#endif
