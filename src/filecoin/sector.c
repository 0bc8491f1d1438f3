#include "filecoin/sector.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The columns that differ between sizes; lg_join = log2(sub) + log2(top). */
#define SHAPE(NAME, TAG, LOG_NODES, LAYERS, CHALLENGES, PARTITIONS, NI, SUB, TOP, LG_JOIN, WINDOW)           \
    {                                                                                                        \
        .name = NAME, .porep_name = "porep-" NAME, .tag = TAG, .bytes = (uint64_t)NODE_BYTES << (LOG_NODES), \
        .nodes = (uint64_t)1 << (LOG_NODES), .log_nodes = LOG_NODES, .layers = LAYERS,                       \
        .challenges = CHALLENGES, .partitions = PARTITIONS, .ni_partitions = NI, .sub_arity = SUB,           \
        .top_arity = TOP, .base_depth = ((LOG_NODES) - (LG_JOIN)) / 3,                                       \
        .depth = ((LOG_NODES) - (LG_JOIN)) / 3 + ((SUB) > 0) + ((TOP) > 0), .window_post_sectors = WINDOW    \
    }
#define SMALL(NAME, TAG, LOG_NODES, SUB, TOP, LG_JOIN)                                                       \
    SHAPE(NAME, TAG, LOG_NODES, 2, 2, 1, 13, SUB, TOP, LG_JOIN, 2)

enum { S2K, S4K, S16K, S32K, S8M, S16M, S512M, S1G, S32G, S64G };

static const sector_shape SHAPES[] = {
    [S2K] = SMALL("2k", "StackedDrg2KiBV1", 6, 0, 0, 0),
    [S4K] = SMALL("4k", NULL, 7, 2, 0, 1),
    [S16K] = SMALL("16k", NULL, 9, 8, 0, 3),
    [S32K] = SMALL("32k", NULL, 10, 8, 2, 4),
    [S8M] = SMALL("8m", "StackedDrg8MiBV1", 18, 0, 0, 0),
    [S16M] = SMALL("16m", NULL, 19, 2, 0, 1),
    [S512M] = SMALL("512m", "StackedDrg512MiBV1", 24, 0, 0, 0),
    [S1G] = SMALL("1g", NULL, 25, 2, 0, 1),
    [S32G] = SHAPE("32g", "StackedDrg32GiBV1", 30, 11, 18, 10, 126, 8, 0, 3, 2349),
    [S64G] = SHAPE("64g", "StackedDrg64GiBV1", 31, 11, 18, 10, 126, 8, 2, 4, 2300),
};

#define POREPS(FIRST_ID, SUFFIX, API, FEATURE)                                                               \
    {"StackedDrg2KiB" SUFFIX, (FIRST_ID) + 0, API, FEATURE, &SHAPES[S2K]},                                   \
        {"StackedDrg8MiB" SUFFIX, (FIRST_ID) + 1, API, FEATURE, &SHAPES[S8M]},                               \
        {"StackedDrg512MiB" SUFFIX, (FIRST_ID) + 2, API, FEATURE, &SHAPES[S512M]},                           \
        {"StackedDrg32GiB" SUFFIX, (FIRST_ID) + 3, API, FEATURE, &SHAPES[S32G]}, {                           \
        "StackedDrg64GiB" SUFFIX, (FIRST_ID) + 4, API, FEATURE, &SHAPES[S64G]                                \
    }

static const registered_porep POREP_TABLE[] = {
    POREPS(0, "V1", API_1_0_0, POREP_INTERACTIVE),
    POREPS(5, "V1_1", API_1_1_0, POREP_INTERACTIVE),
    POREPS(10, "V1_1_Feat_SyntheticPoRep", API_1_2_0, POREP_SYNTHETIC),
    POREPS(15, "V1_2_Feat_NonInteractivePoRep", API_1_2_0, POREP_NON_INTERACTIVE),
};

#define POSTS(PREFIX, SUFFIX, KIND, API)                                                                     \
    {PREFIX "2KiB" SUFFIX, KIND, API, &SHAPES[S2K]}, {PREFIX "8MiB" SUFFIX, KIND, API, &SHAPES[S8M]},        \
        {PREFIX "512MiB" SUFFIX, KIND, API, &SHAPES[S512M]},                                                 \
        {PREFIX "32GiB" SUFFIX, KIND, API, &SHAPES[S32G]}, {                                                 \
        PREFIX "64GiB" SUFFIX, KIND, API, &SHAPES[S64G]                                                      \
    }

static const registered_post POST_TABLE[] = {
    POSTS("StackedDrgWinning", "V1", PROOF_WINNING, API_1_0_0),
    POSTS("StackedDrgWindow", "V1", PROOF_WINDOW, API_1_0_0),
    POSTS("StackedDrgWindow", "V1_2", PROOF_WINDOW, API_1_2_0),
};

const sector_shape *sector_shapes(size_t *count) {
    *count = COUNT(SHAPES);
    return SHAPES;
}

const sector_shape *sector_by_bytes(uint64_t bytes) {
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        if (SHAPES[i].bytes == bytes) return &SHAPES[i];
    return NULL;
}

const sector_shape *sector_by_name(const char *name) {
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        if (strcmp(SHAPES[i].name, name) == 0) return &SHAPES[i];
    return NULL;
}

const sector_shape *sector_by_porep_name(const char *name) {
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        if (strcmp(SHAPES[i].porep_name, name) == 0) return &SHAPES[i];
    return NULL;
}

unsigned sector_level_arity(const sector_shape *shape, unsigned level) {
    if (level < shape->base_depth) return TREE_BASE_ARITY;
    return level == shape->base_depth ? shape->sub_arity : shape->top_arity;
}

const registered_porep *registered_poreps(size_t *count) {
    *count = COUNT(POREP_TABLE);
    return POREP_TABLE;
}

const registered_porep *registered_porep_by_name(const char *name) {
    for (size_t i = 0; i < COUNT(POREP_TABLE); i++)
        if (strcmp(POREP_TABLE[i].name, name) == 0) return &POREP_TABLE[i];
    return NULL;
}

const registered_porep *registered_porep_by_id(uint64_t id) {
    return id < COUNT(POREP_TABLE) ? &POREP_TABLE[id] : NULL;
}

unsigned registered_porep_partitions(const registered_porep *proof) {
    return proof->feature == POREP_NON_INTERACTIVE ? proof->sector->ni_partitions : proof->sector->partitions;
}

const registered_post *registered_posts(size_t *count) {
    *count = COUNT(POST_TABLE);
    return POST_TABLE;
}

const registered_post *registered_post_by_name(const char *name) {
    for (size_t i = 0; i < COUNT(POST_TABLE); i++)
        if (strcmp(POST_TABLE[i].name, name) == 0) return &POST_TABLE[i];
    return NULL;
}
