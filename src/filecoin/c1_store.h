/*
 * The memory of a c1: every partition is one block that holds its challenges and all they point to. A new
 * block has its complete shape (kinds, depths, arities, pointers) and zero values, so who fills it, the
 * reader or a generator, only writes values. The structs point to const; filling casts that away.
 */
#ifndef CUZK_FILECOIN_C1_STORE_H
#define CUZK_FILECOIN_C1_STORE_H

#include "filecoin/c1.h"

/* A c1 without partitions; its proof and sector are NULL. */
cuzk_code c1_create(c1 **out, cuzk_error *err);

/* Append a partition; c->sector must be set, and fewer than POREP_MAX_PARTITIONS be there. *out has
 * c->challenges = c->sector->challenges elements. */
cuzk_code c1_add_partition(c1_challenge **out, c1 *c, cuzk_error *err);

/* Levels of a tree-c or tree-r-last path in its sub and top parts: 0 or 1 each. */
static inline uint32_t c1_sub_levels(c1_tree_kind kind) {
    return kind != C1_SINGLE;
}
static inline uint32_t c1_top_levels(c1_tree_kind kind) {
    return kind == C1_TOP;
}

/* The name of a kind in JSON. */
const char *c1_tree_kind_name(c1_tree_kind kind);

#endif
