/*
 * Verification of the vanilla proofs in a C1, before anything is proved about them. A C1 that passes has a
 * satisfied circuit.
 *
 * Errors are CUZK_ERR_INPUT with the field at fault as path, in the names of the JSON, such as
 * "vanilla_proofs.StackedDrg2KiBV1[0][1].labeling_proofs[0]": partition 0, challenge 1.
 */
#ifndef CUZK_FILECOIN_VANILLA_H
#define CUZK_FILECOIN_VANILLA_H

#include "base/pool.h"
#include "base/progress.h"
#include "filecoin/c1.h"
#include "filecoin/public_inputs.h"

/* What a proof for this C1 states. */
void porep_statement_of(porep_statement *out, const c1 *c);

/*
 * Check everything, relying on no promise of the C1's reader but that its pointers are good and its counts
 * within the sector's bounds:
 *  - the header: seed and commitments are there, comm_r is the hash of comm_c and comm_r_last;
 *  - every challenge is the one that replica id, seed or comm_r give, every parent the one of the graph;
 *  - every Merkle path has the tree's shape, starts at its node and leads to its root;
 *  - every column hashes to its leaf of tree-c;
 *  - every label is the hash of its parents' labels, and these are those in the parents' columns;
 *  - the replica's node is the last label plus the data's node.
 * The error is the first in order of partitions, challenges and fields, whatever the number of threads.
 * Reports progress in challenges as phase "vanilla".
 */
cuzk_code vanilla_verify(const c1 *c, pool *p, const cuzk_progress *progress, cuzk_error *err);

/* Is the replica id that of this miner, sector, ticket, comm_d and registered proof? The error shows both. */
cuzk_code vanilla_check_replica_id(const c1 *c, uint64_t miner_id, uint64_t sector_num, cuzk_error *err);

#endif
