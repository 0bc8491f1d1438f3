#include "filecoin/public_inputs.h"

#include "base/hex.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"

static cuzk_code put_element(fr *out, const fr_repr *value, const char *name, cuzk_error *err) {
    if (!fr_repr_is_valid(value)) {
        char hex[65];
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                         "%s %s, expected a little-endian number below the scalar modulus", name,
                         hex_write(hex, (const uint8_t *)value, 32));
    }
    fr_from_repr(out, value);
    return CUZK_OK;
}

cuzk_code porep_public_inputs(fr *out, const porep_statement *statement, unsigned partition,
                              cuzk_error *err) {
    TRY(put_element(out++, &statement->replica_id, "replica id", err));
    TRY(put_element(out++, &statement->comm_d, "comm_d", err));
    TRY(put_element(out++, &statement->comm_r, "comm_r", err));

    graph g;
    uint64_t challenges[POREP_MAX_CHALLENGES];
    graph_for(&g, statement->proof);
    porep_challenges(challenges, statement, partition);
    for (unsigned i = 0; i < statement->proof->sector->challenges; i++) {
        const uint32_t node = (uint32_t)challenges[i];
        uint32_t base[DRG_DEGREE], expander[EXPANDER_DEGREE];
        graph_base_parents(base, &g, node);
        graph_expander_parents(expander, &g, node);
        fr_from_u64(out++, node); /* path of comm_d */
        for (unsigned p = 0; p < DRG_DEGREE; p++) fr_from_u64(out++, base[p]);
        for (unsigned p = 0; p < EXPANDER_DEGREE; p++) fr_from_u64(out++, expander[p]);
        /* The challenge as hashed into labels, the path of comm_r_last, the path of comm_c. */
        for (unsigned p = 0; p < 3; p++) fr_from_u64(out++, node);
    }
    return CUZK_OK;
}
