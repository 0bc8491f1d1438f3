/*
 * A program that uses libcuzk: read a sector's phase-1 output, check its vanilla proofs, then verify the
 * Groth16 proof of the sector with the verifying key.
 *
 *   cc verify_sector.c $(pkg-config --cflags --libs cuzk) -o verify_sector
 *   ./verify_sector c1.json 1000 1 /var/tmp/filecoin-proof-parameters proof.bin
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuzk/cuzk.h>

static int fail(const cuzk_error *err) {
    fprintf(stderr, "%s%s%s\n", err->path, err->path[0] ? ": " : "", err->message);
    return (int)err->code;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: %s C1 MINER SECTOR PARAMETER_DIR PROOF\n", argv[0]);
        return CUZK_ERR_USAGE;
    }
    uint64_t miner = strtoull(argv[2], NULL, 10), sector = strtoull(argv[3], NULL, 10);

    /* A proof has 192 bytes a partition; ten partitions at most for interactive proofs. */
    uint8_t proof[10 * CUZK_PROOF_BYTES];
    FILE *file = fopen(argv[5], "rb");
    if (!file) {
        perror(argv[5]);
        return CUZK_ERR_INPUT;
    }
    size_t proof_size = fread(proof, 1, sizeof proof, file);
    fclose(file);

    cuzk_error err;
    cuzk *engine = NULL;
    cuzk_c1 *c1 = NULL;
    cuzk_params *key = NULL;
    int status = 0;
    if (cuzk_create(&engine, NULL, &err) != CUZK_OK) return fail(&err);

    if (cuzk_c1_open(&c1, argv[1], &err) != CUZK_OK || cuzk_c1_verify(engine, c1, NULL, &err) != CUZK_OK) {
        status = fail(&err);
        goto done;
    }
    cuzk_c1_info info;
    cuzk_c1_get_info(&info, c1);
    printf("%s: %u partition(s) of %u challenges, vanilla proofs hold\n", info.registered_proof,
           info.partitions, info.challenges);

    cuzk_seal statement;
    cuzk_c1_statement(&statement, c1, miner, sector);
    if (cuzk_params_open_vk(&key, cuzk_circuit_for(info.registered_proof), argv[4], &err) != CUZK_OK ||
        cuzk_seal_verify(engine, key, &statement, proof, proof_size, &err) != CUZK_OK) {
        status = fail(&err);
        goto done;
    }
    printf("the proof of miner %" PRIu64 ", sector %" PRIu64 " is valid\n", miner, sector);

done:
    cuzk_params_close(key);
    cuzk_c1_close(c1);
    cuzk_destroy(engine);
    return status;
}
