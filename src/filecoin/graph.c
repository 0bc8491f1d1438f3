#include "filecoin/graph.h"

#include "filecoin/bytes.h"
#include "filecoin/replica_id.h"
#include "hash/digest.h"

static const char DRG_DOMAIN[] = "Filecoin_DRSample";
static const char FEISTEL_DOMAIN[] = "Filecoin_Feistel";

#define DRAWN_PARENTS (DRG_DEGREE - 1) /* the last base parent is the node before */

static void domain_digest(uint8_t out[32], const char *domain, const uint8_t porep_id[32]) {
    sha256 s;
    sha256_start(&s);
    sha256_update(&s, domain, strlen(domain));
    sha256_update(&s, porep_id, 32);
    sha256_finish(&s, out);
}

void graph_init(graph *out, uint64_t nodes, api_version api, const uint8_t porep_id[32]) {
    uint8_t digest[32];
    out->nodes = nodes;
    out->api = api;
    domain_digest(digest, DRG_DOMAIN, porep_id);
    memcpy(out->drg_seed, digest, sizeof out->drg_seed);
    domain_digest(digest, FEISTEL_DOMAIN, porep_id);
    for (size_t i = 0; i < 3; i++) out->feistel_keys[i] = get_u64_le(digest + 8 * i);
    out->half_bits = 1;
    while ((uint64_t)1 << (2 * out->half_bits) < EXPANDER_DEGREE * nodes) out->half_bits++;
}

void graph_for(graph *out, const registered_porep *proof) {
    uint8_t porep_id[32];
    porep_id_of(porep_id, proof->id);
    graph_init(out, proof->sector->nodes, proof->api, porep_id);
}

/*
 * DRSample on the graph whose every node is split into DRAWN_PARENTS ones: a distance is drawn from a bucket
 * [2^(b-1), 2^b] that is itself drawn evenly, and the parent is the node that holds what lies that far back.
 */
void graph_base_parents(uint32_t out[DRG_DEGREE], const graph *g, uint32_t node) {
    if (node < 2) {
        memset(out, 0, DRG_DEGREE * sizeof *out);
        return;
    }
    uint8_t key[32], stream[2 * 8 * DRAWN_PARENTS];
    memcpy(key, g->drg_seed, sizeof g->drg_seed);
    put_u32_le(key + sizeof g->drg_seed, node);
    chacha8(stream, sizeof stream, key);

    uint32_t *drawn = out;
    if (g->api == API_1_0_0)
        out[DRAWN_PARENTS] = node - 1;
    else
        *drawn++ = node - 1;

    const uint64_t m = (uint64_t)DRAWN_PARENTS * node;
    const uint64_t buckets = 64 - (uint64_t)__builtin_clzll(m); /* log2 rounded up: m is no power of two */
    for (size_t i = 0; i < DRAWN_PARENTS; i++) {
        uint64_t bucket_draw = get_u64_le(stream + 16 * i), distance_draw = get_u64_le(stream + 16 * i + 8);
        uint64_t bucket = (bucket_draw % buckets) + 1;
        uint64_t largest = (uint64_t)1 << bucket;
        if (largest > m) largest = m;
        uint64_t smallest = largest / 2 < 2 ? 2 : largest / 2;
        uint64_t distance = smallest + distance_draw % (largest - smallest + 1);
        drawn[i] = (uint32_t)((m - distance) / DRAWN_PARENTS);
    }
}

static uint64_t feistel_round(uint64_t right, uint64_t key) {
    uint8_t text[16], digest[64];
    put_u64_be(text, right);
    put_u64_be(text + 8, key);
    blake2b(digest, sizeof digest, NULL, 0, text, sizeof text);
    return get_u64_be(digest);
}

/* A permutation of [0, edges): the Feistel network permutes the next power of four, and is applied again
 * while its result lies outside. */
static uint64_t permute(const graph *g, uint64_t edge, uint64_t edges) {
    const uint64_t mask = ((uint64_t)1 << g->half_bits) - 1;
    do {
        uint64_t left = edge >> g->half_bits & mask, right = edge & mask;
        for (size_t i = 0; i < 3; i++) {
            uint64_t next = left ^ (feistel_round(right, g->feistel_keys[i]) & mask);
            left = right;
            right = next;
        }
        edge = left << g->half_bits | right;
    } while (edge >= edges);
    return edge;
}

void graph_expander_parents(uint32_t out[EXPANDER_DEGREE], const graph *g, uint32_t node) {
    const uint64_t edges = EXPANDER_DEGREE * g->nodes;
    for (size_t i = 0; i < EXPANDER_DEGREE; i++) {
        uint64_t edge = permute(g, (uint64_t)EXPANDER_DEGREE * node + i, edges);
        /* API 1.0.0 cut the edge number to 32 bits. */
        if (g->api == API_1_0_0) edge = (uint32_t)edge;
        out[i] = (uint32_t)(edge / EXPANDER_DEGREE);
    }
}
