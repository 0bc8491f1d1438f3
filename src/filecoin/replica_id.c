#include "filecoin/replica_id.h"

#include "filecoin/bytes.h"
#include "hash/digest.h"

void porep_id_of(uint8_t out[32], uint64_t registered_id) {
    memset(out, 0, 32);
    put_u64_le(out, registered_id);
}

void prover_id_of(uint8_t out[32], uint64_t actor_id) {
    memset(out, 0, 32);
    while (actor_id >= 0x80) {
        *out++ = (uint8_t)(actor_id | 0x80);
        actor_id >>= 7;
    }
    *out = (uint8_t)actor_id;
}

void replica_id_of(fr_repr *out, const uint8_t prover_id[32], uint64_t sector_num, const uint8_t ticket[32],
                   const uint8_t comm_d[32], const uint8_t porep_id[32]) {
    uint8_t text[136];
    memcpy(text, prover_id, 32);
    put_u64_be(text + 32, sector_num);
    memcpy(text + 40, ticket, 32);
    memcpy(text + 72, comm_d, 32);
    memcpy(text + 104, porep_id, 32);
    sha256_to_field((uint8_t *)out, text, sizeof text);
}
