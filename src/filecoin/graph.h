/*
 * The two graphs of stacked DRG: every node has 6 base parents (DRSample buckets, same layer) and 8 expander
 * parents (a Feistel permutation of all edges, layer before). Both are functions of the PoRep id, so of the
 * registered proof.
 * Sources: storage-proofs-core drgraph.rs and crypto/feistel.rs, storage-proofs-porep
 * stacked/vanilla/graph.rs.
 */
#ifndef CUZK_FILECOIN_GRAPH_H
#define CUZK_FILECOIN_GRAPH_H

#include "filecoin/sector.h"

typedef struct graph {
    uint64_t nodes; /* at most 2^31 */
    api_version api;
    unsigned half_bits; /* of a Feistel half */
    uint64_t feistel_keys[3];
    uint8_t drg_seed[28];
} graph;

void graph_init(graph *out, uint64_t nodes, api_version api, const uint8_t porep_id[32]);
/* The graph of a registered proof. */
void graph_for(graph *out, const registered_porep *proof);

/* Parents of a node below `nodes`, in the order in which their labels are hashed. */
void graph_base_parents(uint32_t out[DRG_DEGREE], const graph *g, uint32_t node);
void graph_expander_parents(uint32_t out[EXPANDER_DEGREE], const graph *g, uint32_t node);

#endif
