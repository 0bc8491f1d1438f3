/*
 * A C1 of any size whose vanilla proofs all hold, without sealing a sector: for tests and benchmarks of the
 * real sizes.
 *
 * Only what the challenges open is made; the rest of the sector is never there. That is possible because
 * nothing is at stake: the challenges are known before the commitments are made. So only interactive
 * registered proofs can be had, whose challenges do not depend on comm_r.
 */
#ifndef CUZK_FILECOIN_FABRICATE_H
#define CUZK_FILECOIN_FABRICATE_H

#include "base/pool.h"
#include "filecoin/c1.h"

/*
 * The same arguments give the same C1; `variant` changes everything in it. Every data node holds the same
 * value. *out is the caller's, for c1_free. CUZK_ERR_USAGE when the registered proof is not interactive.
 * Takes the time of a few ten thousand Poseidon hashes for 32 GiB.
 */
cuzk_code c1_fabricate(c1 **out, const registered_porep *proof, uint64_t miner_id, uint64_t sector_num,
                       uint64_t variant, pool *p, cuzk_error *err);

#endif
