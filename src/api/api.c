/* Handles of the public API: the engine, phase-1 outputs, parameters. Proving and verifying: seal.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/mem.h"
#include "circuit/porep.h"
#include "field/field.h"
#include "filecoin/vanilla.h"
#include "groth16/setup.h"
#include "version.h"

/* --- the library -------------------------------------------------------------------------------------------
 */

cuzk_code cuzk_create(cuzk **out, const cuzk_options *options, cuzk_error *err) {
    *out = NULL;
    TRY(field_init(err));
    cuzk *engine = calloc(1, sizeof *engine);
    if (!engine) return error_no_memory(err, sizeof *engine, "the engine");
    cuzk_code code = pool_create(&engine->threads, options ? options->threads : 0, err);
    if (code != CUZK_OK) {
        free(engine);
        return code;
    }
    mem_set_budget(options ? options->memory_budget : 0);
    *out = engine;
    return CUZK_OK;
}

void cuzk_destroy(cuzk *engine) {
    if (!engine) return;
    pool_destroy(engine->threads);
    free(engine);
}

void cuzk_get_build(cuzk_build *out) {
    *out = (cuzk_build){.version = CUZK_VERSION,
                        .commit = CUZK_COMMIT,
                        .variant = cpu_isa_name(field.isa),
                        .sha256 = cpu_has_sha() ? "sha-ni" : "generic"};
}

void cuzk_free(void *buffer) {
    free(buffer);
}

/* --- phase-1 outputs ---------------------------------------------------------------------------------------
 */

static cuzk_code wrap_c1(cuzk_c1 **out, c1 *parsed, const char *path, cuzk_error *err) {
    cuzk_c1 *c = calloc(1, sizeof *c);
    char *name = strdup(path);
    if (!c || !name) {
        free(c);
        free(name);
        c1_free(parsed);
        return error_no_memory(err, sizeof *c, "a phase-1 output");
    }
    *c = (cuzk_c1){parsed, name};
    *out = c;
    return CUZK_OK;
}

cuzk_code cuzk_c1_open(cuzk_c1 **out, const char *path, cuzk_error *err) {
    *out = NULL;
    c1 *parsed;
    TRY(c1_read(&parsed, path, err));
    return wrap_c1(out, parsed, path, err);
}

cuzk_code cuzk_c1_parse(cuzk_c1 **out, const void *json, size_t size, const char *name, cuzk_error *err) {
    *out = NULL;
    c1 *parsed;
    TRY(c1_parse(&parsed, json, size, name, err));
    return wrap_c1(out, parsed, name, err);
}

void cuzk_c1_close(cuzk_c1 *c) {
    if (!c) return;
    c1_free(c->parsed);
    free(c->path);
    free(c);
}

void cuzk_c1_get_info(cuzk_c1_info *out, const cuzk_c1 *c) {
    const c1 *p = c->parsed;
    *out = (cuzk_c1_info){.registered_proof = p->proof->name,
                          .sector_bytes = p->proof->sector->bytes,
                          .partitions = p->partitions,
                          .challenges = p->proof->sector->challenges,
                          .layers = p->proof->sector->layers,
                          .has_sector_num = p->has_sector_num,
                          .sector_num = p->sector_num};
    memcpy(out->comm_r, c1_bytes(&p->comm_r), 32);
    memcpy(out->comm_d, c1_bytes(&p->comm_d), 32);
    memcpy(out->replica_id, c1_bytes(&p->replica_id), 32);
    memcpy(out->seed, p->seed, 32);
    memcpy(out->ticket, p->ticket, 32);
}

/* Errors of the vanilla layer name a field; put the file before it. */
static cuzk_code in_file(const cuzk_c1 *c, cuzk_code code, cuzk_error *err) {
    if (code == CUZK_ERR_INPUT && err) {
        char field_path[sizeof err->path];
        memcpy(field_path, err->path, sizeof field_path);
        snprintf(err->path, sizeof err->path, "%.200s%s%.300s", c->path, field_path[0] ? ": " : "",
                 field_path);
    }
    return code;
}

cuzk_code cuzk_c1_verify(cuzk *engine, const cuzk_c1 *c, const cuzk_progress *progress, cuzk_error *err) {
    return in_file(c, vanilla_verify(c->parsed, engine->threads, progress, err), err);
}

cuzk_code cuzk_c1_check_replica_id(const cuzk_c1 *c, uint64_t miner_id, uint64_t sector_num,
                                   cuzk_error *err) {
    return in_file(c, vanilla_check_replica_id(c->parsed, miner_id, sector_num, err), err);
}

void cuzk_c1_statement(cuzk_seal *out, const cuzk_c1 *c, uint64_t miner_id, uint64_t sector_num) {
    const c1 *p = c->parsed;
    *out = (cuzk_seal){.registered_proof = p->proof->name, .miner_id = miner_id, .sector_num = sector_num};
    memcpy(out->comm_r, c1_bytes(&p->comm_r), 32);
    memcpy(out->comm_d, c1_bytes(&p->comm_d), 32);
    memcpy(out->ticket, p->ticket, 32);
    memcpy(out->seed, p->seed, 32);
}

/* --- parameters --------------------------------------------------------------------------------------------
 */

const char *cuzk_circuit_for(const char *registered_proof) {
    const registered_porep *proof = registered_porep_by_name(registered_proof);
    return proof ? proof->sector->porep_name : NULL;
}

static cuzk_code open_params(cuzk_params **out, const char *circuit, const char *directory, bool can_prove,
                             cuzk_error *err) {
    *out = NULL;
    cuzk_params *p = calloc(1, sizeof *p);
    if (!p) return error_no_memory(err, sizeof *p, "parameters");
    cuzk_code code = key_open(&p->key, circuit, directory, can_prove, err);
    if (code != CUZK_OK) {
        cuzk_params_close(p);
        return code;
    }
    *out = p;
    return CUZK_OK;
}

cuzk_code cuzk_params_open(cuzk_params **out, const char *circuit, const char *directory, cuzk_error *err) {
    return open_params(out, circuit, directory, true, err);
}

cuzk_code cuzk_params_open_vk(cuzk_params **out, const char *circuit, const char *directory,
                              cuzk_error *err) {
    return open_params(out, circuit, directory, false, err);
}

void cuzk_params_close(cuzk_params *p) {
    if (!p) return;
    key_close(p->key);
    free(p);
}

static cuzk_code read_waste(toxic_waste *out, const cuzk_toxic_waste *waste, cuzk_error *err) {
    if (!waste) return toxic_waste_random(out, err);
    const struct {
        fr *to;
        const uint8_t *from;
        const char *name;
    } fields[] = {{&out->alpha, waste->alpha, "alpha"},
                  {&out->beta, waste->beta, "beta"},
                  {&out->gamma, waste->gamma, "gamma"},
                  {&out->delta, waste->delta, "delta"},
                  {&out->tau, waste->tau, "tau"}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!fr_from_bytes(fields[i].to, fields[i].from))
            return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                             "toxic waste: %s is not below the modulus r", fields[i].name);
    return CUZK_OK;
}

cuzk_code cuzk_params_setup(cuzk *engine, const char *circuit_name, const char *directory,
                            const cuzk_toxic_waste *waste, const cuzk_progress *progress, cuzk_error *err) {
    const catalog_entry *entry;
    char params[1024], vk[1024];
    TRY(key_paths(&entry, params, vk, circuit_name, directory, err));
    if (entry->kind != PROOF_POREP)
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "the circuit %s cannot be built yet",
                         entry->id);
    toxic_waste secret;
    cuzk_code code = read_waste(&secret, waste, err);
    if (code == CUZK_OK) {
        porep_circuit blank;
        r1cs_circuit circuit;
        porep_shape shape = porep_shape_of(sector_by_bytes(entry->sector_bytes));
        porep_blank(&blank, &circuit, &shape);
        code = groth16_setup(&circuit, &secret, params, vk, engine->threads, progress, err);
    }
    toxic_waste_wipe(&secret);
    return code;
}
