/*
 * The PoRep circuit (storage-proofs-porep stacked/circuit/proof.rs and params.rs): one partition of a sealed
 * sector. In order: replica id, comm_d and comm_r as inputs, comm_r = Poseidon(comm_c, comm_r_last), then
 * per challenge the data leaf in tree-d, the columns of 6 DRG and 8 expander parents in tree-c, the challenge
 * as input, the label of every layer, the encoded node in tree-r-last, and its column in tree-c.
 */
#ifndef CUZK_CIRCUIT_POREP_H
#define CUZK_CIRCUIT_POREP_H

#include "filecoin/c1.h"
#include "filecoin/sector.h"
#include "r1cs/parts.h"

/* What the structure depends on. */
typedef struct porep_shape {
    unsigned log_nodes; /* depth of tree-d */
    unsigned layers;    /* 1..SECTOR_MAX_LAYERS, with Poseidon constants for that arity */
    unsigned challenges;
    unsigned base_levels, sub_arity, top_arity; /* of tree-c and tree-r-last; arities 0 when absent */
} porep_shape;

/* One partition. Plain data: copy it, drop it. */
typedef struct porep_circuit {
    porep_shape shape;
    const c1 *sector; /* the witness; NULL for the structure alone. Must outlive the circuit */
    unsigned partition;
} porep_circuit;

porep_shape porep_shape_of(const sector_shape *sector);

/* Is there such a circuit: do the levels reach from the nodes to the root, are there constants for the
 * layers, are there at most POREP_MAX_CHALLENGES challenges? Any other shape's circuit fails with
 * CUZK_ERR_USAGE. */
bool porep_shape_is_known(const porep_shape *shape);

/* Sizes of the circuit, by formula; zeros when the shape is not known. */
r1cs_shape porep_r1cs_shape(const porep_shape *shape);

/* The structure of a shape. *circuit points to *out. */
void porep_blank(porep_circuit *out, r1cs_circuit *circuit, const porep_shape *shape);

/* Partition `partition` (below sector->partitions) of a C1. *circuit points to *out. */
void porep_of_c1(porep_circuit *out, r1cs_circuit *circuit, const c1 *sector, unsigned partition);

/* The same circuit in parts, for either of the two: the commitments, then one part per challenge. */
void porep_parts(r1cs_parts *out, const porep_circuit *circuit);

#endif
