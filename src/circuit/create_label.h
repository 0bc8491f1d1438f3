/* The label of a node (storage-proofs-porep stacked/circuit/create_label.rs). */
#ifndef CUZK_CIRCUIT_CREATE_LABEL_H
#define CUZK_CIRCUIT_CREATE_LABEL_H

#include "filecoin/sector.h"
#include "gadget/num.h"

/*
 * replica_id and each of the n_parents parents are 256 Booleans in the bit order of SHA-256 input; the
 * parents are cycled to LABEL_PARENTS. node is 64 Booleans, least significant first. The layer, from 1, is a
 * constant.
 */
num create_label_circuit(cs *system, const boolean replica_id[256], const boolean (*parents)[256],
                         unsigned n_parents, uint32_t layer, const boolean node[64]);

#endif
