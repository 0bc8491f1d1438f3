#include "filecoin/param_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "hash/digest.h"

#define WINNING_SECTORS   66u /* challenges of the one sector, proved as that many sectors */
#define WINDOW_CHALLENGES 10u

static void tree_name(char *out, size_t size, const sector_shape *sector) {
    snprintf(out, size, "merkletree-poseidon_hasher-%u-%u-%u", TREE_BASE_ARITY, sector->sub_arity,
             sector->top_arity);
}

void param_identifier(char out[PARAM_IDENTIFIER_SIZE], proof_kind kind, const sector_shape *sector) {
    char tree[64];
    tree_name(tree, sizeof tree, sector);
    switch (kind) {
    case PROOF_POREP:
        snprintf(out, PARAM_IDENTIFIER_SIZE,
                 "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: %u "
                 "base_graph: drgraph::BucketGraph{size: %" PRIu64 "; degree: %u; hasher: poseidon_hasher} "
                 "}, challenges: LayerChallenges { layers: %u, max_count: %u }, tree: %s }",
                 EXPANDER_DEGREE, sector->nodes, DRG_DEGREE, sector->layers, sector->challenges, tree);
        break;
    case PROOF_WINNING:
    case PROOF_WINDOW:
        snprintf(out, PARAM_IDENTIFIER_SIZE,
                 "FallbackPoSt::PublicParams{sector_size: %" PRIu64
                 ", challenge_count: %u, sector_count: %u}",
                 sector->bytes, kind == PROOF_WINNING ? 1 : WINDOW_CHALLENGES,
                 kind == PROOF_WINNING ? WINNING_SECTORS : sector->window_post_sectors);
        break;
    case PROOF_UPDATE:
        snprintf(out, PARAM_IDENTIFIER_SIZE, "empty_sector_update::PublicParams{ sector_nodes: %" PRIu64 " }",
                 sector->nodes);
        break;
    }
}

void param_file_name(char out[PARAM_NAME_SIZE], proof_kind kind, const sector_shape *sector,
                     param_file file) {
    static const char *const endings[] = {
        [PARAM_FILE_PARAMS] = "params", [PARAM_FILE_VK] = "vk", [PARAM_FILE_META] = "meta"};
    static const char *const prefixes[] = {[PROOF_POREP] = "stacked-proof-of-replication",
                                           [PROOF_WINNING] = "proof-of-spacetime-fallback",
                                           [PROOF_WINDOW] = "proof-of-spacetime-fallback",
                                           [PROOF_UPDATE] = "empty-sector-update"};
    char identifier[PARAM_IDENTIFIER_SIZE], tree[64], hex[65];
    uint8_t digest[32];
    param_identifier(identifier, kind, sector);
    sha256_once(digest, identifier, strlen(identifier));
    tree_name(tree, sizeof tree, sector);
    snprintf(out, PARAM_NAME_SIZE, "v28-%s-%s%s-%s.%s", prefixes[kind], tree,
             kind == PROOF_POREP ? "-sha256_hasher" : "", hex_write(hex, digest, sizeof digest),
             endings[file]);
}

const char *param_directory(void) {
    const char *chosen = getenv("FIL_PROOFS_PARAMETER_CACHE");
    return chosen && *chosen ? chosen : "/var/tmp/filecoin-proof-parameters";
}

cuzk_code param_path(char *out, size_t size, const char *directory, proof_kind kind,
                     const sector_shape *sector, param_file file, cuzk_error *err) {
    char name[PARAM_NAME_SIZE];
    if (!directory) directory = param_directory();
    param_file_name(name, kind, sector, file);
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') length--;
    const char *separator = length == 1 && *directory == '/' ? "" : "/";
    int written = snprintf(out, size, "%.*s%s%s", (int)length, directory, separator, name);
    if (written < 0 || (size_t)written >= size)
        return error_set(err, CUZK_ERR_USAGE, directory, CUZK_NO_OFFSET,
                         "the directory's name has %zu bytes, too many for a path of %zu", length, size - 1);
    return CUZK_OK;
}
