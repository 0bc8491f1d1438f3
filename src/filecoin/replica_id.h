/*
 * Who sealed what: the 32-byte identifiers that go into the replica id.
 * Sources: filecoin-proofs-api registry.rs (porep id), storage-proofs-porep stacked/vanilla/params.rs
 * (replica id); the prover id is the payload of the miner's ID address, as Lotus and Curio make it.
 */
#ifndef CUZK_FILECOIN_REPLICA_ID_H
#define CUZK_FILECOIN_REPLICA_ID_H

#include "field/fr.h"

/* The number of the registered proof as u64 little-endian, then 24 zero bytes. */
void porep_id_of(uint8_t out[32], uint64_t registered_id);

/* The actor id in unsigned LEB128, left-aligned, zero-padded. */
void prover_id_of(uint8_t out[32], uint64_t actor_id);

/* SHA-256(prover id || sector number u64 big-endian || ticket || comm_d || porep id), made a field element by
 * clearing its two top bits. */
void replica_id_of(fr_repr *out, const uint8_t prover_id[32], uint64_t sector_num, const uint8_t ticket[32],
                   const uint8_t comm_d[32], const uint8_t porep_id[32]);

#endif
