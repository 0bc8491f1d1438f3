#include "circuit/create_label.h"

#include "gadget/sha256.h"

/* replica id, layer, node and zeros fill two blocks' worth of 256 bits; then the parents. */
#define HEADER_BITS   512u
#define PREIMAGE_BITS (HEADER_BITS + 256u * LABEL_PARENTS)

num create_label_circuit(cs *system, const boolean replica_id[256], const boolean (*parents)[256],
                         unsigned n_parents, uint32_t layer, const boolean node[64]) {
    boolean preimage[PREIMAGE_BITS], *out = preimage;
    memcpy(out, replica_id, 256 * sizeof *out);
    out += 256;
    for (unsigned i = 32; i-- > 0;) *out++ = boolean_constant(layer >> i & 1);
    for (unsigned i = 64; i-- > 0;) *out++ = node[i];
    while (out < preimage + HEADER_BITS) *out++ = boolean_constant(false);
    for (unsigned i = 0; i < LABEL_PARENTS; i++, out += 256)
        memcpy(out, parents[i % n_parents], 256 * sizeof *out);
    return sha256_circuit_to_num(system, preimage, PREIMAGE_BITS);
}
