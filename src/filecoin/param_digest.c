#include "filecoin/param_digest.h"

#include <openssl/evp.h>

#include "base/file.h"
#include "base/hex.h"

#define CHUNK ((uint64_t)8 << 20)

static cuzk_code hash_file(uint8_t out[64], EVP_MD_CTX *h, const file_map *file,
                           const cuzk_progress *progress, cuzk_error *err) {
    bool ok = h && EVP_DigestInit_ex(h, EVP_blake2b512(), NULL);
    for (uint64_t at = 0; ok && at < file->size; at += CHUNK) {
        TRY(progress_report(progress, "digest", at, file->size, err));
        ok = EVP_DigestUpdate(h, file->data + at, file->size - at < CHUNK ? file->size - at : CHUNK);
    }
    ok = ok && EVP_DigestFinal_ex(h, out, NULL);
    if (!ok) return error_no_memory(err, 0, "a digest");
    TRY(file_map_check(file, err));
    return progress_report(progress, "digest", file->size, file->size, err);
}

cuzk_code param_digest(char out[PARAM_DIGEST_SIZE], const char *path, const cuzk_progress *progress,
                       cuzk_error *err) {
    file_map file;
    uint8_t bytes[64];
    TRY(file_map_open(&file, path, CUZK_ERR_PARAMS, err));
    EVP_MD_CTX *h = EVP_MD_CTX_new();
    cuzk_code code = hash_file(bytes, h, &file, progress, err);
    EVP_MD_CTX_free(h);
    file_map_close(&file);
    if (code == CUZK_OK) hex_write(out, bytes, 16);
    return code;
}
