/* Jobs and settings that the tests of the scheduler start from. */
#ifndef CUZK_TEST_SIMULATED_JOBS_H
#define CUZK_TEST_SIMULATED_JOBS_H

#include "rng.h"
#include "simulation.h"

/* A number below n. */
static inline uint32_t pick(uint64_t *rng, uint32_t n) {
    return (uint32_t)(rng_next(rng) >> 32) % n;
}

/* Memory for everything, lookahead 2, no batches, no ageing, no grouping. */
static inline sched_config ample_config(void) {
    return (sched_config){.budget = UINT64_C(1) << 50,
                          .max_queue = 100000,
                          .lookahead = 2,
                          .max_batch = 1,
                          .max_batch_wait = 0,
                          .ageing = 0,
                          .group_by_circuit = false};
}

/* Check 1, synthesis 2 and verification 0.5 core-seconds, each on one core; proofs 20 on all there are. */
static inline sim_job small_job(job_priority priority, uint32_t partitions, double arrival) {
    return (sim_job){
        .priority = priority,
        .plan = {.circuit = "small",
                 .partitions = partitions,
                 .task_bytes = 10,
                 .witness_bytes = 20,
                 .synthesis_bytes = 30,
                 .prove_bytes = 100,
                 .prove_extra_bytes = 40},
        .arrival = arrival,
        .work = {[STAGE_CHECK] = 1, [STAGE_SYNTHESIS] = 2, [STAGE_PROVE] = 20, [STAGE_VERIFY] = 0.5},
        .cores = {[STAGE_CHECK] = 1, [STAGE_SYNTHESIS] = 1, [STAGE_VERIFY] = 1}};
}

#endif
