/*
 * Sector sizes and registered proofs: the fixed parameters from which everything else about a proof follows.
 * Sources: filecoin-proofs constants.rs and parameters.rs, filecoin-proofs-api registry.rs.
 *
 * The tables are constant; every pointer handed out lives as long as the program.
 */
#ifndef CUZK_FILECOIN_SECTOR_H
#define CUZK_FILECOIN_SECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_BYTES               32u
#define TREE_BASE_ARITY          8u
#define DRG_DEGREE               6u
#define EXPANDER_DEGREE          8u
#define PARENT_DEGREE            (DRG_DEGREE + EXPANDER_DEGREE)
#define LABEL_PARENTS            37u /* parent labels hashed into a label, repetitions included */
#define SECTOR_MAX_LAYERS        11u
#define SECTOR_MAX_DEPTH         11u /* of tree-c and tree-r-last (64 GiB: 9 base levels, sub, top) */
#define POREP_MAX_PARTITIONS     126u
#define POREP_MAX_CHALLENGES     18u                               /* per partition */
#define POREP_INPUTS(challenges) (3u + 18u * (size_t)(challenges)) /* public inputs without ONE */

/* Everything that depends on the sector size alone. */
typedef struct sector_shape {
    const char *name;       /* "2k", "8m", "32g" */
    const char *porep_name; /* name of the PoRep circuit: "porep-2k" */
    const char *tag; /* key of the vanilla proofs in C1, "StackedDrg2KiBV1"; NULL for a test-only size */
    uint64_t bytes;
    uint64_t nodes;     /* bytes / 32, also the leaves of each tree */
    unsigned log_nodes; /* depth of tree-d */
    unsigned layers;
    unsigned challenges;    /* per partition, interactive or not */
    unsigned partitions;    /* interactive and synthetic */
    unsigned ni_partitions; /* non-interactive */
    /* tree-c and tree-r-last: base trees of arity 8, joined by one node of arity sub, joined by one of arity
     * top; 0 where there is none. */
    unsigned sub_arity;
    unsigned top_arity;
    unsigned base_depth;          /* arity-8 levels */
    unsigned depth;               /* all levels */
    unsigned window_post_sectors; /* sectors per window PoSt partition */
} sector_shape;

/* All sizes in ascending order, the test-only ones included. */
const sector_shape *sector_shapes(size_t *count);
/* By size in bytes, by short name ("32g"), by PoRep circuit name ("porep-32g"); NULL when unknown. */
const sector_shape *sector_by_bytes(uint64_t bytes);
const sector_shape *sector_by_name(const char *name);
const sector_shape *sector_by_porep_name(const char *name);

/* Arity of a level (0 = just above the leaves, level < depth) of tree-c and tree-r-last. */
unsigned sector_level_arity(const sector_shape *shape, unsigned level);

typedef enum proof_kind { PROOF_POREP, PROOF_WINNING, PROOF_WINDOW, PROOF_UPDATE } proof_kind;

typedef enum api_version { API_1_0_0, API_1_1_0, API_1_2_0 } api_version;

typedef enum porep_feature {
    POREP_INTERACTIVE, /* no feature: challenges from the chain's seed */
    POREP_SYNTHETIC,
    POREP_NON_INTERACTIVE
} porep_feature;

/* RegisteredSealProof. */
typedef struct registered_porep {
    const char *name; /* "StackedDrg32GiBV1_1" */
    uint64_t id;      /* the number in the porep id */
    api_version api;
    porep_feature feature;
    const sector_shape *sector;
} registered_porep;

const registered_porep *registered_poreps(size_t *count);
const registered_porep *registered_porep_by_name(const char *name);
const registered_porep *registered_porep_by_id(uint64_t id);

/* Groth16 partitions of one sector's proof. */
unsigned registered_porep_partitions(const registered_porep *proof);

/* RegisteredPoStProof. */
typedef struct registered_post {
    const char *name; /* "StackedDrgWindow32GiBV1_2" */
    proof_kind kind;  /* PROOF_WINNING or PROOF_WINDOW */
    api_version api;
    const sector_shape *sector;
} registered_post;

const registered_post *registered_posts(size_t *count);
const registered_post *registered_post_by_name(const char *name);

#endif
