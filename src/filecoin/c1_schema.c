/* Bottom up: a table names only those above it. */
#include "filecoin/c1_schema.h"

#define MEMBERS(list) .members = list, .length = sizeof(list) / sizeof *(list)

static const value_type BYTES = {.kind = VALUE_DIGEST, .role = DIGEST_BYTES};
static const value_type SEED = {.kind = VALUE_DIGEST, .role = DIGEST_SEED};
static const value_type FIELD = {.kind = VALUE_DIGEST, .role = DIGEST_FIELD};
static const value_type TREE_ROOT = {.kind = VALUE_DIGEST, .role = DIGEST_ROOT};
static const value_type COMM_D = {.kind = VALUE_DIGEST, .role = DIGEST_COMM_D};
static const value_type COMM_R = {.kind = VALUE_DIGEST, .role = DIGEST_COMM_R};
const value_type C1_BYTE = {.kind = VALUE_NUMBER, .role = NUMBER_BYTE};
static const value_type POSITION = {.kind = VALUE_NUMBER, .role = NUMBER_POSITION};
static const value_type NODE32 = {.kind = VALUE_NUMBER, .role = NUMBER_NODE32};
static const value_type NODE64 = {.kind = VALUE_NUMBER, .role = NUMBER_NODE64};
static const value_type LAYER = {.kind = VALUE_NUMBER, .role = NUMBER_LAYER};
static const value_type SECTOR_NUM = {.kind = VALUE_NUMBER, .role = NUMBER_SECTOR_NUM};
static const value_type SECTOR_SIZE = {.kind = VALUE_NUMBER, .role = NUMBER_SECTOR_SIZE};
static const value_type PROOF_NAME = {.kind = VALUE_PROOF_NAME};
static const value_type PHASE1 = {.kind = VALUE_PHASE1};
static const value_type NOTHING = {.kind = VALUE_NULL};

/* Merkle proofs. The objects around a path do not move the place, which stays the c1_merkle_proof. */

static const value_type HASHES = {
    .kind = VALUE_ARRAY, .role = ARRAY_HASHES, .element = &FIELD, .stride = 32, .noun = "hashes"};
static const member LEVEL_MEMBERS[] = {{"hashes", &HASHES, 0, TREE_NONE, false},
                                       {"index", &POSITION, offsetof(c1_level, index), TREE_NONE, false}};
static const value_type LEVEL = {.kind = VALUE_OBJECT, MEMBERS(LEVEL_MEMBERS)};

#define PATH(NAME, RULE)                                                                                     \
    static const value_type NAME##_LEVELS = {                                                                \
        .kind = VALUE_ARRAY, .role = RULE, .element = &LEVEL, .stride = sizeof(c1_level), .noun = "levels"}; \
    static const member NAME##_MEMBERS[] = {{"path", &NAME##_LEVELS, 0, TREE_NONE, false}};                  \
    static const value_type NAME = {.kind = VALUE_OBJECT, MEMBERS(NAME##_MEMBERS)}

PATH(BASE_PATH, ARRAY_BASE);
PATH(SUB_PATH, ARRAY_SUB);
PATH(TOP_PATH, ARRAY_TOP);

#define ROOT_AND_LEAF                                                                                        \
    {"root", &TREE_ROOT, offsetof(c1_merkle_proof, root), TREE_NONE, false}, {                               \
        "leaf", &FIELD, offsetof(c1_merkle_proof, leaf), TREE_NONE, false                                    \
    }
static const member SINGLE_MEMBERS[] = {ROOT_AND_LEAF, {"path", &BASE_PATH, 0, TREE_NONE, false}};
static const member SUB_MEMBERS[] = {{"base_proof", &BASE_PATH, 0, TREE_NONE, false},
                                     {"sub_proof", &SUB_PATH, 0, TREE_NONE, false},
                                     ROOT_AND_LEAF};
static const member TOP_MEMBERS[] = {{"base_proof", &BASE_PATH, 0, TREE_NONE, false},
                                     {"sub_proof", &SUB_PATH, 0, TREE_NONE, false},
                                     {"top_proof", &TOP_PATH, 0, TREE_NONE, false},
                                     ROOT_AND_LEAF};
static const value_type SINGLE = {.kind = VALUE_OBJECT, MEMBERS(SINGLE_MEMBERS)};
static const value_type SUB = {.kind = VALUE_OBJECT, MEMBERS(SUB_MEMBERS)};
static const value_type TOP = {.kind = VALUE_OBJECT, MEMBERS(TOP_MEMBERS)};
static const member DATA_MEMBERS[] = {[C1_SINGLE] = {"Single", &SINGLE, 0, TREE_NONE, false},
                                      [C1_SUB] = {"Sub", &SUB, 0, TREE_NONE, false},
                                      [C1_TOP] = {"Top", &TOP, 0, TREE_NONE, false}};
static const value_type DATA = {.kind = VALUE_VARIANT, MEMBERS(DATA_MEMBERS)};
static const member MERKLE_PROOF_MEMBERS[] = {{"data", &DATA, 0, TREE_NONE, false}};
static const value_type MERKLE_PROOF = {.kind = VALUE_OBJECT, MEMBERS(MERKLE_PROOF_MEMBERS)};

/* Columns. */

static const value_type ROWS = {
    .kind = VALUE_ARRAY, .role = ARRAY_LAYERS, .element = &FIELD, .stride = 32, .noun = "rows"};
static const member COLUMN_MEMBERS[] = {
    {"index", &NODE32, offsetof(c1_column_proof, index), TREE_NONE, false},
    {"rows", &ROWS, offsetof(c1_column_proof, rows), TREE_NONE, false},
    {"_h", &NOTHING, 0, TREE_NONE, true}};
static const value_type COLUMN = {.kind = VALUE_OBJECT, MEMBERS(COLUMN_MEMBERS)};
static const member COLUMN_PROOF_MEMBERS[] = {
    {"column", &COLUMN, 0, TREE_NONE, false},
    {"inclusion_proof", &MERKLE_PROOF, offsetof(c1_column_proof, inclusion_proof), TREE_C, false}};
static const value_type COLUMN_PROOF = {.kind = VALUE_OBJECT, MEMBERS(COLUMN_PROOF_MEMBERS)};

#define COLUMN_PROOFS(NAME, LENGTH)                                                                          \
    static const value_type NAME = {.kind = VALUE_ARRAY,                                                     \
                                    .role = ARRAY_FIXED,                                                     \
                                    .length = LENGTH,                                                        \
                                    .element = &COLUMN_PROOF,                                                \
                                    .stride = sizeof(c1_column_proof),                                       \
                                    .noun = "columns"}
COLUMN_PROOFS(DRG_PARENTS, DRG_DEGREE);
COLUMN_PROOFS(EXP_PARENTS, EXPANDER_DEGREE);
static const member REPLICA_COLUMNS_MEMBERS[] = {
    {"c_x", &COLUMN_PROOF, offsetof(c1_challenge, c_x), TREE_NONE, false},
    {"drg_parents", &DRG_PARENTS, offsetof(c1_challenge, drg_parents), TREE_NONE, false},
    {"exp_parents", &EXP_PARENTS, offsetof(c1_challenge, exp_parents), TREE_NONE, false}};
static const value_type REPLICA_COLUMNS = {.kind = VALUE_OBJECT, MEMBERS(REPLICA_COLUMNS_MEMBERS)};

/* Labeling and encoding proofs. */

static const value_type LABELS = {
    .kind = VALUE_ARRAY, .role = ARRAY_PARENTS, .element = &FIELD, .stride = 32, .noun = "labels"};
static const member LABELING_MEMBERS[] = {
    {"parents", &LABELS, offsetof(c1_labeling_proof, parents), TREE_NONE, false},
    {"layer_index", &LAYER, offsetof(c1_labeling_proof, layer_index), TREE_NONE, false},
    {"node", &NODE64, offsetof(c1_labeling_proof, node), TREE_NONE, false}};
static const value_type LABELING = {.kind = VALUE_OBJECT, MEMBERS(LABELING_MEMBERS)};
static const value_type LABELINGS = {.kind = VALUE_ARRAY,
                                     .role = ARRAY_LAYERS,
                                     .element = &LABELING,
                                     .stride = sizeof(c1_labeling_proof),
                                     .noun = "layers"};

/* Challenges, partitions, and the whole. */

static const member CHALLENGE_MEMBERS[] = {
    {"comm_d_proofs", &MERKLE_PROOF, offsetof(c1_challenge, comm_d_proof), TREE_D, false},
    {"comm_r_last_proof", &MERKLE_PROOF, offsetof(c1_challenge, comm_r_last_proof), TREE_R_LAST, false},
    {"replica_column_proofs", &REPLICA_COLUMNS, 0, TREE_NONE, false},
    {"labeling_proofs", &LABELINGS, offsetof(c1_challenge, labeling_proofs), TREE_NONE, false},
    {"encoding_proof", &LABELING, offsetof(c1_challenge, encoding_proof), TREE_NONE, false}};
static const value_type CHALLENGE = {.kind = VALUE_OBJECT, MEMBERS(CHALLENGE_MEMBERS)};
static const value_type PARTITION = {.kind = VALUE_ARRAY,
                                     .role = ARRAY_CHALLENGES,
                                     .element = &CHALLENGE,
                                     .stride = sizeof(c1_challenge),
                                     .noun = "challenges"};
const value_type C1_PARTITIONS = {
    .kind = VALUE_ARRAY, .role = ARRAY_PARTITIONS, .element = &PARTITION, .noun = "partitions"};
static const value_type VANILLA_PROOFS = {.kind = VALUE_TAGGED};

static const member ROOT_MEMBER_LIST[ROOT_MEMBERS] = {
    [ROOT_PROOF_NAME] = {"registered_proof", &PROOF_NAME, 0, TREE_NONE, false},
    [ROOT_VANILLA_PROOFS] = {"vanilla_proofs", &VANILLA_PROOFS, 0, TREE_NONE, false},
    {"comm_r", &COMM_R, offsetof(c1, comm_r), TREE_NONE, false},
    {"comm_d", &COMM_D, offsetof(c1, comm_d), TREE_D, false},
    {"replica_id", &FIELD, offsetof(c1, replica_id), TREE_NONE, false},
    {"seed", &SEED, offsetof(c1, seed), TREE_NONE, false},
    {"ticket", &BYTES, offsetof(c1, ticket), TREE_NONE, false},
    [ROOT_PHASE1] = {"Phase1Out", &PHASE1, 0, TREE_NONE, false},
    {"SectorNum", &SECTOR_NUM, offsetof(c1, sector_num), TREE_NONE, false},
    {"SectorSize", &SECTOR_SIZE, 0, TREE_NONE, false},
};
const value_type C1_ROOT = {.kind = VALUE_ROOT, .members = ROOT_MEMBER_LIST, .length = ROOT_MEMBERS};
const value_type C1_INNER = {.kind = VALUE_ROOT, .members = ROOT_MEMBER_LIST, .length = BARE_MEMBERS};
