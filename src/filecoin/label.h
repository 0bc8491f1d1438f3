/*
 * Labels of nodes, the column hash over a node's labels, and the encoding of data with the last label.
 * Sources: storage-proofs-porep stacked/vanilla/{create_label/single,labeling_proof,hash}.rs and encode.rs.
 *
 * Values are fr_repr below the modulus unless a comment says otherwise.
 */
#ifndef CUZK_FILECOIN_LABEL_H
#define CUZK_FILECOIN_LABEL_H

#include "field/fr.h"
#include "filecoin/sector.h"

/*
 * The parents that go into a label of `layer` (from 1), cycled to LABEL_PARENTS: `base` are the DRG_DEGREE
 * base parents' labels of the same layer, `expander` the EXPANDER_DEGREE expander parents' labels of the
 * layer before (not read for layer 1).
 */
void label_parents(fr_repr out[LABEL_PARENTS], uint32_t layer, const fr_repr *base, const fr_repr *expander);

/* The label of a node, below 2^254. parents = NULL for node 0, which has none. The parents may be any bytes.
 */
void label_create(fr_repr *out, const fr_repr *replica_id, uint32_t layer, uint64_t node,
                  const fr_repr *parents);

/* Poseidon over the labels of layers 1 .. layers (2 or 11). */
void column_hash(fr_repr *out, const fr_repr *labels, unsigned layers);

/* The replica's node: label of the last layer plus data, in the field. */
void encode_node(fr_repr *out, const fr_repr *label, const fr_repr *data);

#endif
