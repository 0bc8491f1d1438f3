/*
 * The nodes of a sector that a PoRep must open, for each kind of registered proof.
 * Source: storage-proofs-porep stacked/vanilla/challenges.rs.
 */
#ifndef CUZK_FILECOIN_CHALLENGES_H
#define CUZK_FILECOIN_CHALLENGES_H

#include "filecoin/public_inputs.h"

/* The challenges of one partition in proof order: sector->challenges nodes, each from 1 to nodes - 1. */
void porep_challenges(uint64_t *out, const porep_statement *statement, unsigned partition);

#endif
