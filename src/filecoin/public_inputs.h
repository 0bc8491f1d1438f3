/*
 * What a PoRep proof states, and the public inputs of its circuit that follow from it.
 * Source: storage-proofs-porep stacked/circuit/proof.rs (generate_public_inputs).
 */
#ifndef CUZK_FILECOIN_PUBLIC_INPUTS_H
#define CUZK_FILECOIN_PUBLIC_INPUTS_H

#include "base/error.h"
#include "field/fr.h"
#include "filecoin/sector.h"

typedef struct porep_statement {
    const registered_porep *proof;
    fr_repr replica_id;
    fr_repr comm_d;
    fr_repr comm_r;
    uint8_t seed[32]; /* of the chain; not used by non-interactive proofs */
} porep_statement;

/*
 * The public inputs of one partition (partition < registered_porep_partitions), in order and without the
 * leading ONE: replica id, comm_d, comm_r, and per challenge the challenge, its 6 DRG and 8 expander parents
 * and three times the challenge again. out holds POREP_INPUTS(sector->challenges) elements in Montgomery
 * form. CUZK_ERR_USAGE when replica id, comm_d or comm_r is not below the scalar modulus.
 */
cuzk_code porep_public_inputs(fr *out, const porep_statement *statement, unsigned partition, cuzk_error *err);

#endif
