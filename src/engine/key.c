#include "engine/key.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "filecoin/param_names.h"
#include "filecoin/sector.h"

srs_shape key_srs_shape(const catalog_entry *entry) {
    /* Every input is in A, only ONE in B. */
    return srs_shape_from(&entry->shape, entry->a_aux_density, 1, entry->b_aux_density);
}

cuzk_code key_paths(const catalog_entry **entry, char params[1024], char vk[1024], const char *circuit,
                    const char *directory, cuzk_error *err) {
    *entry = circuit ? catalog_find(circuit) : NULL;
    if (!*entry)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "unknown circuit '%s'",
                         circuit ? circuit : "");
    const sector_shape *sector = sector_by_bytes((*entry)->sector_bytes);
    TRY(param_path(params, 1024, directory, (*entry)->kind, sector, PARAM_FILE_PARAMS, err));
    return param_path(vk, 1024, directory, (*entry)->kind, sector, PARAM_FILE_VK, err);
}

static cuzk_code open_files(proving_key *k, const char *params, const char *vk, bool can_prove,
                            cuzk_error *err) {
    srs_shape shape = key_srs_shape(k->circuit);
    TRY(vk_read(&k->vk, vk, NULL, err));
    if (k->vk.ic_count != shape.inputs)
        return error_set(err, CUZK_ERR_PARAMS, vk, CUZK_NO_OFFSET, "verifying key of %u inputs, %s has %u",
                         k->vk.ic_count, k->circuit->id, shape.inputs);
    TRY(verifier_create(&k->verifier, &k->vk, err));
    if (!can_prove) return CUZK_OK;
    TRY(srs_open(&k->srs, params, &shape, NULL, err));
    struct stat status;
    if (fstat(k->srs.file.fd, &status) == 0) k->modified = status.st_mtim;
    k->can_prove = true;
    TRY(srs_check_vk(&k->srs, &k->vk, vk, err));
    return srs_sample(&k->srs, KEY_SAMPLE, err);
}

cuzk_code key_without_files(proving_key **out, const char *circuit, cuzk_error *err) {
    *out = NULL;
    const catalog_entry *entry = catalog_find(circuit);
    if (!entry)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "unknown circuit '%.64s'", circuit);
    proving_key *k = calloc(1, sizeof *k);
    if (!k) return error_no_memory(err, sizeof *k, "a key");
    k->circuit = entry;
    k->srs.file.fd = -1;
    pthread_mutex_init(&k->mutex, NULL);
    *out = k;
    return CUZK_OK;
}

cuzk_code key_open(proving_key **out, const char *circuit, const char *directory, bool can_prove,
                   cuzk_error *err) {
    *out = NULL;
    const catalog_entry *entry;
    char params[1024], vk[1024];
    TRY(key_paths(&entry, params, vk, circuit, directory, err));
    proving_key *k;
    TRY(key_without_files(&k, circuit, err));
    cuzk_code code = open_files(k, params, vk, can_prove, err);
    if (code != CUZK_OK) {
        key_close(k);
        return code;
    }
    *out = k;
    return CUZK_OK;
}

void key_close(proving_key *k) {
    if (!k) return;
    matrices_free(k->matrices);
    srs_close(&k->srs);
    verifier_destroy(k->verifier);
    vk_free(&k->vk);
    pthread_mutex_destroy(&k->mutex);
    free(k);
}

cuzk_code key_matrices(const matrices **out, proving_key *k, const r1cs_circuit *circuit,
                       const r1cs_parts *parts, const cuzk_progress *progress, cuzk_error *err) {
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&k->mutex);
    if (!k->matrices) {
        code = matrices_create(&k->matrices, circuit, parts, progress, err);
        if (code == CUZK_OK) k->matrices_bytes = matrices_bytes(k->matrices);
    }
    *out = k->matrices;
    pthread_mutex_unlock(&k->mutex);
    return code;
}
