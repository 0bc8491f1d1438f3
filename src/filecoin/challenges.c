/*
 * Challenge j = challenges per partition * partition + i, for the i-th of a partition.
 *
 * Interactive: drawn from the chain's seed. Non-interactive: drawn from comm_r. Synthetic: before the seed is
 * known the prover opens up to 2^18 nodes drawn from comm_r; the seed then selects among these. Both draws
 * are ChaCha20 streams that can be read at any place, so only the selected ones are computed.
 */
#include "filecoin/challenges.h"

#include "filecoin/bytes.h"
#include "hash/digest.h"

#define SYNTHETIC_LOG_MAX 18u

static const char NI_DOMAIN[] = "filecoin.io|PoRep|1|NonInteractive|1";
static const char GENERATION_KEY[] = "filecoin.io|PoRep|1|Synthetic|1|Generation";
static const char SELECTION_KEY[] = "filecoin.io|PoRep|1|Synthetic|1|Selection";
static const uint8_t SYNTHETIC_NONCE[12] = "synth-porep";

/* A node from 32 bytes: (little-endian integer mod (nodes - 1)) + 1. */
static uint64_t to_challenge(const uint8_t bytes[32], uint64_t nodes) {
    limb2 rest = 0;
    for (unsigned i = 4; i-- > 0;) rest = (rest << 64 | get_u64_le(bytes + 8 * i)) % (nodes - 1);
    return (uint64_t)rest + 1;
}

static uint64_t hashed_challenge(const char *domain, const fr_repr *replica_id, const void *secret,
                                 uint32_t j, uint64_t nodes) {
    uint8_t index[4], digest[32];
    sha256 s;
    put_u32_le(index, j);
    sha256_start(&s);
    sha256_update(&s, domain, strlen(domain));
    sha256_update(&s, replica_id, 32);
    sha256_update(&s, secret, 32);
    sha256_update(&s, index, sizeof index);
    sha256_finish(&s, digest);
    return to_challenge(digest, nodes);
}

static void synthetic_key(uint8_t key[32], const char *domain, const fr_repr *replica_id,
                          const void *secret) {
    uint8_t text[64];
    memcpy(text, replica_id, 32);
    memcpy(text + 32, secret, 32);
    blake2b(key, 32, domain, strlen(domain), text, sizeof text);
}

static uint64_t synthetic_challenge(const uint8_t generation[32], const uint8_t selection[32], uint32_t j,
                                    const sector_shape *sector) {
    uint32_t log_count = sector->log_nodes < SYNTHETIC_LOG_MAX ? sector->log_nodes : SYNTHETIC_LOG_MAX;
    uint8_t block[64];
    chacha20_ietf(block, sizeof block, selection, SYNTHETIC_NONCE, j / 16);
    uint32_t index = get_u32_le(block + 4 * (j % 16)) & (((uint32_t)1 << log_count) - 1);
    chacha20_ietf(block, sizeof block, generation, SYNTHETIC_NONCE, index / 2);
    return to_challenge(block + 32 * (index % 2), sector->nodes);
}

void porep_challenges(uint64_t *out, const porep_statement *statement, unsigned partition) {
    const sector_shape *sector = statement->proof->sector;
    const uint32_t first = sector->challenges * partition;
    uint8_t generation[32], selection[32];
    if (statement->proof->feature == POREP_SYNTHETIC) {
        synthetic_key(generation, GENERATION_KEY, &statement->replica_id, &statement->comm_r);
        synthetic_key(selection, SELECTION_KEY, &statement->replica_id, statement->seed);
    }
    for (uint32_t i = 0; i < sector->challenges; i++) {
        const uint32_t j = first + i;
        switch (statement->proof->feature) {
        case POREP_INTERACTIVE:
            out[i] = hashed_challenge("", &statement->replica_id, statement->seed, j, sector->nodes);
            break;
        case POREP_NON_INTERACTIVE:
            out[i] =
                hashed_challenge(NI_DOMAIN, &statement->replica_id, &statement->comm_r, j, sector->nodes);
            break;
        case POREP_SYNTHETIC:
            out[i] = synthetic_challenge(generation, selection, j, sector);
            break;
        }
    }
}
