#include "fake_backend.h"

#include <openssl/sha.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_FAULTS 8

typedef struct fault {
    stage_kind stage;
    uint32_t partition;
    unsigned attempt; /* from 1 */
    char how[16];
} fault;

typedef struct fake_task {
    char *script, circuit[32];
    unsigned ms[STAGE_KINDS];
    uint32_t partitions, n_faults;
    fault faults[MAX_FAULTS];
    atomic_uint attempts[STAGE_KINDS][64];
} fake_task;

typedef struct fake_witness {
    fake_task *task;
    uint32_t partition;
} fake_witness;

static atomic_uint alive;
static atomic_uint begun[STAGE_KINDS];

unsigned fake_alive(void) {
    return alive;
}
unsigned fake_begun(stage_kind stage) {
    return begun[stage];
}

void fake_proof(uint8_t out[CUZK_PROOF_BYTES], const char *script, uint32_t partition) {
    char text[1024];
    snprintf(text, sizeof text, "%u:%s", partition, script); /* a long script counts by its beginning */
    size_t n = strlen(text);
    for (size_t at = 0; at < CUZK_PROOF_BYTES; at += 32) SHA256((const uint8_t *)text, n, out + at);
}

static void free_task(void *of) {
    fake_task *t = of;
    if (!t) return;
    free(t->script);
    free(t);
    atomic_fetch_sub(&alive, 1);
}

static bool parse_fault(fault *f, const char *value) {
    char stage[16];
    if (sscanf(value, "%15[^:]:%u:%u:%15s", stage, &f->partition, &f->attempt, f->how) != 4) return false;
    for (unsigned s = 0; s < STAGE_KINDS; s++)
        if (strcmp(stage, stage_name((stage_kind)s)) == 0) {
            f->stage = (stage_kind)s;
            return true;
        }
    return false;
}

static bool parse_word(fake_task *t, backend_plan *plan, const char *word) {
    const char *eq = strchr(word, '=');
    if (!eq) return false;
    size_t name = (size_t)(eq - word);
    const char *value = eq + 1;
    unsigned long long number = strtoull(value, NULL, 10);
    for (unsigned s = 0; s < STAGE_KINDS; s++)
        if (strlen(stage_name((stage_kind)s)) == name &&
            strncmp(word, stage_name((stage_kind)s), name) == 0) {
            t->ms[s] = (unsigned)number;
            return true;
        }
    if (strncmp(word, "fail=", 5) == 0)
        return t->n_faults < MAX_FAULTS && parse_fault(&t->faults[t->n_faults++], value);
    if (strncmp(word, "circuit=", 8) == 0) {
        snprintf(t->circuit, sizeof t->circuit, "%s", value);
        return true;
    }
    if (strncmp(word, "partitions=", 11) == 0)
        plan->partitions = (uint32_t)number;
    else if (strncmp(word, "task=", 5) == 0)
        plan->task_bytes = number;
    else if (strncmp(word, "witness=", 8) == 0)
        plan->witness_bytes = number;
    else if (strncmp(word, "vectors=", 8) == 0)
        plan->prove_bytes = number;
    else
        return false;
    return plan->partitions >= 1 && plan->partitions <= 64;
}

static cuzk_code parse(void **out, backend_plan *plan, const job_request *r, cuzk_error *err) {
    fake_task *t = calloc(1, sizeof *t);
    *out = t;
    if (!t) return error_no_memory(err, sizeof *t, "a task");
    atomic_fetch_add(&alive, 1);
    t->script = strndup((const char *)r->vanilla_proof.data, r->vanilla_proof.size);
    snprintf(t->circuit, sizeof t->circuit, "fake");
    *plan = (backend_plan){.partitions = 1, .task_bytes = 1000, .witness_bytes = 1000, .prove_bytes = 10000};
    char *copy = strdup(t->script), *rest = copy, *word;
    cuzk_code code = CUZK_OK;
    while (code == CUZK_OK && (word = strsep(&rest, " ")))
        if (*word && !parse_word(t, plan, word))
            code = error_set(err, CUZK_ERR_INPUT, "vanilla_proof", (uint64_t)(word - copy),
                             "'%s' is not a word of a script", word);
    free(copy);
    t->partitions = plan->partitions;
    plan->prove_extra_bytes = plan->prove_bytes / 2;
    plan->circuit = t->circuit;
    if (code != CUZK_OK) {
        free_task(t);
        *out = NULL;
    }
    return code;
}

static void piece(void *ctx, size_t begin, size_t end) {
    (void)ctx;
    for (size_t i = begin; i < end; i++) usleep(1000);
}

static cuzk_code work(fake_task *t, stage_kind stage, uint32_t partition, const backend_stage *s,
                      cuzk_error *err) {
    unsigned attempt = atomic_fetch_add(&t->attempts[stage][partition], 1) + 1;
    atomic_fetch_add(&begun[stage], 1);
    for (unsigned done = 0; done < t->ms[stage]; done += 8) {
        TRY(progress_report(s->progress, stage_name(stage), done, t->ms[stage], err));
        pool_for(s->lane, t->ms[stage] - done < 8 ? t->ms[stage] - done : 8, 1, piece, NULL);
        TRY(pool_check(s->lane, err));
    }
    for (const fault *f = t->faults; f < t->faults + t->n_faults; f++) {
        if (f->stage != stage || f->partition != partition || f->attempt != attempt) continue;
        if (strcmp(f->how, "error") == 0)
            return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s of partition %u fails as told",
                             stage_name(stage), partition);
        if (strcmp(f->how, "selfcheck") == 0)
            return error_set(err, stage == STAGE_VERIFY ? CUZK_ERR_PROOF : CUZK_ERR_INTERNAL, NULL,
                             CUZK_NO_OFFSET, "self-check failed: as told");
        while (pool_check(s->lane, err) == CUZK_OK) {
            pool_for(s->lane, 1, 1, piece, NULL);
            pool_yield(s->lane);
        }
        return CUZK_ERR_CANCELLED;
    }
    return CUZK_OK;
}

static cuzk_code check(void *of, const backend_stage *s, cuzk_error *err) {
    return work(of, STAGE_CHECK, 0, s, err);
}

static cuzk_code synthesize(void **out, void *of, uint32_t partition, const backend_stage *s,
                            cuzk_error *err) {
    *out = NULL;
    TRY(work(of, STAGE_SYNTHESIS, partition, s, err));
    fake_witness *w = malloc(sizeof *w);
    if (!w) return error_no_memory(err, sizeof *w, "a witness");
    *w = (fake_witness){of, partition};
    atomic_fetch_add(&alive, 1);
    *out = w;
    return CUZK_OK;
}

static void free_witness(void *w) {
    if (!w) return;
    free(w);
    atomic_fetch_sub(&alive, 1);
}

static void prove(uint8_t (*out)[CUZK_PROOF_BYTES], cuzk_code *codes, cuzk_error *errs,
                  void *const *witnesses, uint32_t n, const backend_stage *s) {
    for (uint32_t i = 0; i < n; i++) {
        const fake_witness *w = witnesses[i];
        codes[i] = work(w->task, STAGE_PROVE, w->partition, s, &errs[i]);
        fake_proof(out[i], w->task->script, w->partition);
    }
}

static cuzk_code verify(void *of, const uint8_t *proof, size_t size, uint32_t *bad, const backend_stage *s,
                        cuzk_error *err) {
    fake_task *t = of;
    *bad = t->partitions - 1;
    TRY(work(t, STAGE_VERIFY, 0, s, err));
    for (uint32_t k = 0; k < size / CUZK_PROOF_BYTES; k++) {
        uint8_t expected[CUZK_PROOF_BYTES];
        fake_proof(expected, t->script, k);
        if (memcmp(expected, proof + (size_t)k * CUZK_PROOF_BYTES, CUZK_PROOF_BYTES) == 0) continue;
        *bad = k;
        return error_set(err, CUZK_ERR_PROOF, NULL, CUZK_NO_OFFSET, "partition %u is not in its place", k);
    }
    return CUZK_OK;
}

static cuzk_code save(void *of, const char *path, cuzk_error *err) {
    const fake_task *t = of;
    return file_write_all(path, t->script, strlen(t->script), err);
}

const engine_backend fake_backend = {.parse = parse,
                                     .free_task = free_task,
                                     .check = check,
                                     .synthesize = synthesize,
                                     .free_witness = free_witness,
                                     .prove = prove,
                                     .verify = verify,
                                     .save = save};

job_request fake_request(const char *id, const char *script) {
    return (job_request){
        .id = id, .kind = JOB_POREP, .vanilla_proof = {(const uint8_t *)script, strlen(script)}};
}
