/* The scheduler when things go wrong: failures, cancellation and deadlines at every moment, memory that is
 * short; and long and large runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "simulated_jobs.h"

#define CORES 2
#define MIB   (UINT64_C(1) << 20)
#define GIB   (UINT64_C(1) << 30)

static simulation *sim; /* of the test that runs */

static int end(void **state) {
    (void)state;
    if (sim) sim_destroy(sim);
    sim = NULL;
    return 0;
}

static void begin(const sched_config *config, unsigned cores) {
    end(NULL);
    sim = sim_create(config, cores);
}

static void begin_ample(void) {
    sched_config config = ample_config();
    begin(&config, CORES);
}

static uint32_t add(job_priority priority, uint32_t partitions, double arrival) {
    sim_job job = small_job(priority, partitions, arrival);
    return sim_add(sim, &job);
}

static job_state state_of(uint32_t job) {
    return sim_get(sim, job)->state;
}

/* --- failures ---------------------------------------------------------------------------------------------
 */

static bool is_whole(stage_kind stage) {
    return stage == STAGE_CHECK || stage == STAGE_VERIFY;
}

static void failure_ends_the_job_alone(void **state) {
    (void)state;
    for (unsigned stage = 0; stage < STAGE_KINDS; stage++) {
        for (uint32_t k = 0; k < (is_whole(stage) ? 1 : 4); k++) {
            begin_ample();
            uint32_t bad = add(JOB_NORMAL, 4, 0), good = add(JOB_NORMAL, 2, 0);
            sim_add_fault(sim, &(sim_fault){.job = bad,
                                            .stage = stage,
                                            .partition = is_whole(stage) ? SIM_ANY : k,
                                            .attempt = 1,
                                            .outcome = SCHED_FAILED});
            sim_finish(sim);
            sim_assert(sim, state_of(bad) == JOB_FAILED && state_of(good) == JOB_COMPLETED);
            size_t n;
            const sim_event *events = sim_events(sim, &n);
            double failed = -1;
            for (size_t i = 0; i < n; i++)
                if (events[i].kind == SIM_END && events[i].outcome == SCHED_FAILED && failed < 0)
                    failed = events[i].time;
            sim_assert(sim, sim_get(sim, bad)->ended <= failed + SIM_GRACE);
        }
    }
}

static void failed_self_check_is_repeated_once(void **state) {
    (void)state;
    for (unsigned stage = STAGE_SYNTHESIS; stage <= STAGE_PROVE; stage++) {
        for (uint32_t failures = 1; failures <= 2; failures++) {
            begin_ample();
            uint32_t job = add(JOB_NORMAL, 3, 0);
            for (uint32_t attempt = 1; attempt <= failures; attempt++)
                sim_add_fault(sim, &(sim_fault){.job = job,
                                                .stage = stage,
                                                .partition = 1,
                                                .attempt = attempt,
                                                .outcome = SCHED_RETRY});
            sim_finish(sim);
            sim_assert(sim, state_of(job) == (failures == 1 ? JOB_COMPLETED : JOB_FAILED));
            if (failures > 1) continue;
            sim_assert(sim, sim_count(sim, SIM_START, job, STAGE_SYNTHESIS) == 4);
            sim_assert(sim, sim_count(sim, SIM_START, job, STAGE_PROVE) == (stage == STAGE_PROVE ? 4u : 3u));
        }
    }
    begin_ample(); /* a check is not repeated */
    uint32_t job = add(JOB_NORMAL, 3, 0);
    sim_add_fault(sim, &(sim_fault){.job = job,
                                    .stage = STAGE_CHECK,
                                    .partition = SIM_ANY,
                                    .attempt = SIM_ANY,
                                    .outcome = SCHED_RETRY});
    sim_finish(sim);
    sim_assert(sim, state_of(job) == JOB_FAILED && sim_count(sim, SIM_START, job, STAGE_CHECK) == 1);
}

static void verification_names_the_bad_partition(void **state) {
    (void)state;
    for (uint32_t bad = 0; bad < 6; bad++) { /* of 4: two are none */
        for (uint32_t failures = 1; failures <= 2; failures++) {
            begin_ample();
            uint32_t job = add(JOB_NORMAL, 4, 0);
            for (uint32_t attempt = 1; attempt <= failures; attempt++)
                sim_add_fault(sim, &(sim_fault){.job = job,
                                                .stage = STAGE_VERIFY,
                                                .partition = SIM_ANY,
                                                .attempt = attempt,
                                                .outcome = SCHED_RETRY,
                                                .bad = bad < 5 ? bad : UINT32_MAX});
            sim_finish(sim);
            bool mended = bad < 4 && failures == 1;
            sim_assert(sim, state_of(job) == (mended ? JOB_COMPLETED : JOB_FAILED));
            sim_assert(sim, sim_count(sim, SIM_START, job, STAGE_PROVE) == (bad < 4 ? 5u : 4u));
            sim_assert(sim, sim_count(sim, SIM_START, job, STAGE_VERIFY) == (bad < 4 ? 2u : 1u));
        }
    }
    /* One partition fails its own check, then the verification finds it: that was its second chance. Another
     * one has its own. */
    for (uint32_t bad = 0; bad < 2; bad++) {
        begin_ample();
        uint32_t job = add(JOB_NORMAL, 4, 0);
        sim_fault fault = {
            .job = job, .stage = STAGE_PROVE, .partition = 1, .attempt = 1, .outcome = SCHED_RETRY};
        sim_add_fault(sim, &fault);
        fault = (sim_fault){.job = job,
                            .stage = STAGE_VERIFY,
                            .partition = SIM_ANY,
                            .attempt = 1,
                            .outcome = SCHED_RETRY,
                            .bad = bad};
        sim_add_fault(sim, &fault);
        sim_finish(sim);
        sim_assert(sim, state_of(job) == (bad == 1 ? JOB_FAILED : JOB_COMPLETED));
    }
}

static void failure_in_a_batch_is_its_own(void **state) {
    (void)state;
    sched_config config = ample_config();
    config.max_batch = 4;
    config.max_batch_wait = 10;
    begin(&config, CORES);
    for (unsigned i = 0; i < 4; i++) add(JOB_NORMAL, 2, 0);
    static const sched_outcome outcomes[] = {SCHED_FAILED, SCHED_RETRY};
    for (uint32_t i = 0; i < 2; i++)
        sim_add_fault(
            sim,
            &(sim_fault){
                .job = 1 + i, .stage = STAGE_PROVE, .partition = 0, .attempt = 1, .outcome = outcomes[i]});
    sim_finish(sim);
    for (uint32_t i = 0; i < 4; i++) sim_assert(sim, state_of(i) == (i == 1 ? JOB_FAILED : JOB_COMPLETED));
    sim_assert(sim, sim_count(sim, SIM_START, 2, STAGE_PROVE) == 3);
}

/* --- cancellation and deadlines ---------------------------------------------------------------------------
 */

/* Two jobs of three and one more urgent one; the events' times are all the moments at which anything
 * changes. */
static void three_jobs(sim_job jobs[3]) {
    jobs[0] = small_job(JOB_NORMAL, 3, 0);
    jobs[1] = small_job(JOB_NORMAL, 2, 0.5);
    jobs[2] = small_job(JOB_HIGH, 1, 14);
}

static size_t moments(double out[400]) {
    begin_ample();
    sim_job jobs[3];
    three_jobs(jobs);
    for (unsigned i = 0; i < 3; i++) sim_add(sim, &jobs[i]);
    sim_finish(sim);
    size_t n, k = 0;
    const sim_event *events = sim_events(sim, &n);
    sim_assert(sim, n > 40 && n < 200);
    for (size_t i = 0; i < n; i++) {
        out[k++] = events[i].time + 1e-3;
        if (events[i].time > 0) out[k++] = events[i].time;
    }
    return k;
}

static void cancelled_at_every_moment(void **state) {
    (void)state;
    double times[400];
    size_t n = moments(times);
    for (size_t i = 0; i < n; i++) {
        for (uint32_t victim = 0; victim < 3; victim++) {
            sim_job jobs[3];
            three_jobs(jobs);
            if (times[i] < jobs[victim].arrival) continue;
            jobs[victim].cancel_at = times[i];
            begin_ample();
            for (unsigned k = 0; k < 3; k++) sim_add(sim, &jobs[k]);
            sim_finish(sim);
            for (uint32_t k = 0; k < 3; k++) {
                const sim_job *job = sim_get(sim, k);
                if (k != victim)
                    sim_assert(sim, job->state == JOB_COMPLETED);
                else if (job->state == JOB_COMPLETED)
                    sim_assert(sim, job->ended <= times[i]);
                else
                    sim_assert(sim, job->state == JOB_CANCELLED && job->ended <= times[i] + SIM_GRACE);
            }
        }
    }
}

static void deadline_at_every_moment(void **state) {
    (void)state;
    double times[400];
    size_t n = moments(times);
    for (size_t i = 0; i < n; i++) {
        sim_job jobs[3];
        three_jobs(jobs);
        for (unsigned k = 0; k < 3; k++) jobs[k].deadline = times[i]; /* after the arrival */
        begin_ample();
        for (unsigned k = 0; k < 3; k++) sim_add(sim, &jobs[k]);
        sim_finish(sim);
        for (uint32_t k = 0; k < 3; k++) {
            const sim_job *job = sim_get(sim, k);
            sim_assert(sim, job->state == JOB_COMPLETED || job->state == JOB_TIMEOUT);
            sim_assert(sim, job->ended <= jobs[k].arrival + times[i] + SIM_GRACE);
            sim_assert(sim, job->state == JOB_COMPLETED || job->ended >= jobs[k].arrival + times[i]);
        }
    }
}

/* A stage that never ends holds up its job until the deadline, and nobody for longer. */
static void stage_hangs_until_the_deadline(void **state) {
    (void)state;
    for (unsigned stage = 0; stage < STAGE_KINDS; stage++) {
        begin_ample();
        sim_job job = small_job(JOB_HIGH, 2, 0);
        job.deadline = 500;
        uint32_t stuck = sim_add(sim, &job), other = add(JOB_NORMAL, 2, 0);
        sim_add_fault(sim, &(sim_fault){.job = stuck,
                                        .stage = stage,
                                        .partition = is_whole(stage) ? SIM_ANY : 1,
                                        .attempt = 1,
                                        .hangs = true});
        sim_finish(sim);
        sim_assert(sim, state_of(stuck) == JOB_TIMEOUT && state_of(other) == JOB_COMPLETED);
        sim_assert(sim, sim_get(sim, stuck)->ended == 500 + SIM_GRACE);
    }
}

/* A job that is cancelled ends with the batch it is in; a batch that nobody wants any more ends at once. */
static void cancelled_in_a_batch(void **state) {
    (void)state;
    for (unsigned victims = 1; victims <= 2; victims++) {
        sched_config config = ample_config();
        config.max_batch = 2;
        config.max_batch_wait = 5;
        begin(&config, CORES);
        for (unsigned i = 0; i < 2; i++) {
            sim_job job = small_job(JOB_NORMAL, 1, 0);
            if (i < victims) job.cancel_at = 10 + i;
            sim_add(sim, &job);
        }
        sim_finish(sim);
        sim_assert(sim, state_of(0) == JOB_CANCELLED);
        sim_assert(sim, state_of(1) == (victims == 1 ? JOB_COMPLETED : JOB_CANCELLED));
        if (victims == 2) sim_assert(sim, sim_now(sim) == 11 + SIM_GRACE);
    }
}

/* --- memory -----------------------------------------------------------------------------------------------
 */

static void impossible_jobs_are_refused(void **state) {
    (void)state;
    sched_config config = ample_config();
    sim_job job = small_job(JOB_NORMAL, 2, 0);
    job.plan = (backend_plan){.circuit = "porep-large",
                              .partitions = 2,
                              .task_bytes = 10 * MIB,
                              .witness_bytes = 20 * MIB,
                              .synthesis_bytes = 30 * MIB,
                              .prove_bytes = 100 * MIB};
    config.budget = 160 * MIB;
    begin(&config, CORES);
    sim_add(sim, &job);
    sim_finish(sim);
    sim_assert(sim, state_of(0) == JOB_COMPLETED && sim_peak(sim) <= config.budget);

    config.budget--;
    begin(&config, CORES);
    sim_add(sim, &job);
    sim_finish(sim);
    const sim_job *refused = sim_get(sim, 0);
    sim_assert(sim, refused->refused && !refused->can_retry);
    sim_assert(sim, strstr(refused->message, "porep-large") && strstr(refused->message, "160 MiB") &&
                        strstr(refused->message, "159 MiB"));

    job.plan.prove_bytes = UINT64_MAX - 5; /* sums do not wrap around */
    job.plan.task_bytes = 100;
    config.budget = UINT64_MAX - 1;
    begin(&config, CORES);
    sim_add(sim, &job);
    sim_finish(sim);
    sim_assert(sim, sim_get(sim, 0)->refused && !sim_get(sim, 0)->can_retry);
}

static void full_queue_refuses_for_now(void **state) {
    (void)state;
    sched_config config = ample_config();
    config.max_queue = 3;
    begin(&config, CORES);
    for (unsigned i = 0; i < 4; i++) add(JOB_NORMAL, 1, 0);
    sim_job job = small_job(JOB_CRITICAL, 1, 1);
    job.retry_wait = 1;
    uint32_t retries = sim_add(sim, &job);
    sim_run(sim, 2);
    sim_assert(sim, sim_get(sim, 3)->refused && sim_get(sim, 3)->can_retry);
    sim_assert(sim, strstr(sim_get(sim, 3)->message, "queue is full: 3"));
    sim_finish(sim);
    sim_assert(sim, state_of(retries) == JOB_COMPLETED && state_of(2) == JOB_COMPLETED);

    begin(&config, CORES); /* nor is anything without partitions or priority accepted */
    job = small_job(JOB_DEFAULT_PRIORITY, 1, 0);
    sim_add(sim, &job);
    add(JOB_NORMAL, 0, 0);
    sim_finish(sim);
    sim_assert(sim, sim_get(sim, 0)->refused && sim_get(sim, 1)->refused);
}

static sim_job random_sizes(uint64_t *rng, job_priority priority, uint32_t circuit, double arrival) {
    static const backend_plan plans[] = {{"a", 0, 10, 20, 30, 100, 40},
                                         {"b", 0, 50, 5, 10, 300, 10},
                                         {"c", 0, 1, 200, 1, 20, 5},
                                         {"d", 0, 5, 10, 250, 10, 10},
                                         {"e", 0, 2, 120, 120, 120, 50}};
    sim_job job = small_job(priority, 1 + pick(rng, 5), arrival);
    uint32_t partitions = job.plan.partitions;
    job.plan = plans[circuit % 5];
    job.plan.partitions = partitions;
    job.circuit = circuit % 5;
    job.work[STAGE_PROVE] = 1 + pick(rng, 20);
    job.retry_wait = 2.5;
    return job;
}

#define LARGEST 365u /* of the jobs above, for itself */

static void no_budget_deadlocks(void **state) {
    (void)state;
    for (unsigned round = 0; round < 120; round++) {
        uint64_t rng = 300 + round, budget = LARGEST + round % 40 * (round % 40);
        sched_config config = ample_config();
        config.budget = budget;
        config.lookahead = 1 + round % 5;
        config.max_batch = 1 + round % 3;
        config.max_batch_wait = 20;
        begin(&config, 1 + round % 8);
        for (unsigned i = 0; i < 25; i++) {
            sim_job job = random_sizes(&rng, JOB_LOW + pick(&rng, 4), pick(&rng, 5), pick(&rng, 300));
            sim_add(sim, &job);
        }
        if (round >= 40) { /* something else uses memory, more than there is at times */
            for (unsigned i = 0; i < 60; i++)
                sim_add_external(sim, i * 10, pick(&rng, (uint32_t)budget + 50));
            sim_add_external(sim, 600, 0);
        }
        sim_finish(sim);
        for (uint32_t i = 0; i < 25; i++) sim_assert(sim, state_of(i) == JOB_COMPLETED);
        sim_assert(sim, sim_peak(sim) <= budget);
    }
}

/* Under a budget reduced below what accepted jobs need, they are carried out, at whatever they were, and then
 * new ones that fit it. */
static void reduced_budget(void **state) {
    (void)state;
    for (double at = 0.5; at < 60; at += 0.5) {
        sched_config config = ample_config();
        config.budget = 1500;
        config.lookahead = 5;
        begin(&config, CORES);
        for (unsigned i = 0; i < 8; i++) {
            sim_job large = small_job(i % 2 ? JOB_NORMAL : JOB_CRITICAL, 3, i);
            large.plan.task_bytes = 60;
            large.plan.prove_bytes = i % 2 ? 500 : 100;
            sim_add(sim, &large);
        }
        sim_job later = small_job(JOB_HIGH, 2, at + 1);
        later.retry_wait = 1;
        uint32_t small = sim_add(sim, &later);
        later.plan.prove_bytes = 500;
        uint32_t large = sim_add(sim, &later);
        config.budget = 300;
        sim_add_configure(sim, at, &config);
        sim_finish(sim);
        for (uint32_t i = 0; i < 8; i++)
            sim_assert(sim, state_of(i) == JOB_COMPLETED || sim_get(sim, i)->arrival >= at);
        sim_assert(sim, state_of(small) == JOB_COMPLETED);
        sim_assert(sim, sim_get(sim, large)->refused && !sim_get(sim, large)->can_retry);
    }
}

/* --- large and long ---------------------------------------------------------------------------------------
 */

/* Only jobs with a deadline hang, and no proofs: another job of the batch may have none. */
static void add_random_faults(uint64_t *rng, uint32_t job, uint32_t partitions, uint32_t one_in) {
    for (unsigned stage = 0; stage < STAGE_KINDS; stage++) {
        uint32_t times = is_whole(stage) ? 1 : partitions;
        for (uint32_t k = 0; k < times; k++) {
            if (pick(rng, one_in) != 0) continue;
            sim_fault fault = {.job = job,
                               .stage = stage,
                               .partition = is_whole(stage) ? SIM_ANY : k,
                               .attempt = pick(rng, 3) ? 1 : SIM_ANY,
                               .outcome = pick(rng, 2) ? SCHED_RETRY : SCHED_FAILED,
                               .hangs =
                                   sim_get(sim, job)->deadline > 0 && stage != STAGE_PROVE && pick(rng, 2),
                               .bad = pick(rng, partitions + 1)};
            sim_add_fault(sim, &fault);
        }
    }
}

static uint64_t large_run(uint64_t seed) {
    sched_config config = ample_config();
    config.budget = 2000;
    config.ageing = 200;
    config.group_by_circuit = true;
    begin(&config, 8);
    sim_check_interval(sim, 200);
    uint64_t rng = seed;
    for (unsigned i = 0; i < 500; i++) {
        sim_job job = random_sizes(&rng, JOB_LOW + pick(&rng, 4), pick(&rng, 5), pick(&rng, 4000));
        job.plan.partitions = 10;
        job.plan.task_bytes = 1;
        if (pick(&rng, 20) == 0) job.deadline = 1 + pick(&rng, 2000);
        if (pick(&rng, 20) == 0) job.cancel_at = job.arrival + 1 + pick(&rng, 2000);
        add_random_faults(&rng, sim_add(sim, &job), 10, 60);
    }
    sim_finish(sim);
    uint32_t states[JOB_TIMEOUT + 1] = {0};
    for (uint32_t i = 0; i < 500; i++) states[state_of(i)]++;
    sim_assert(sim, states[JOB_COMPLETED] > 100 && states[JOB_FAILED] > 50);
    sim_assert(sim, states[JOB_CANCELLED] > 5 && states[JOB_TIMEOUT] > 5);
    sim_assert(sim, sim_peak(sim) <= config.budget);
    return sim_digest(sim);
}

static void hundreds_of_jobs(void **state) {
    (void)state;
    uint64_t digest = large_run(1);
    sim_assert(sim, digest == large_run(1));
    sim_assert(sim, digest != large_run(2));
}

static void a_day_of_events(void **state) {
    (void)state;
    sched_config config = ample_config();
    config.budget = 1500;
    config.ageing = 300;
    config.max_batch = 2;
    config.max_batch_wait = 5;
    begin(&config, 4);
    sim_check_interval(sim, 50);
    uint64_t rng = 11;
    uint32_t jobs = 0;
    for (double at = 0; at < 24 * 3600; at += 5 + pick(&rng, 70)) {
        sim_job job = random_sizes(&rng, JOB_LOW + pick(&rng, 4), pick(&rng, 5), at);
        if (pick(&rng, 10) == 0) job.deadline = 1 + pick(&rng, 100);
        if (pick(&rng, 10) == 0) job.cancel_at = at + 1 + pick(&rng, 60);
        uint32_t number = sim_add(sim, &job);
        if (pick(&rng, 8) == 0) add_random_faults(&rng, number, job.plan.partitions, 4);
        jobs++;
    }
    for (unsigned hour = 1; hour <= 24; hour++) {
        sim_run(sim, hour * 3600.0);
        sim_assert(sim, scheduler_job_count(sim_scheduler(sim)) < 60);
        sim_assert(sim, scheduler_reserved(sim_scheduler(sim)) <= config.budget);
        uint32_t tasks = 0;
        for (sched_task *t = scheduler_tasks(sim_scheduler(sim)); t; t = t->next) tasks++;
        sim_assert(sim, tasks <= 4 * 7); /* of a priority: two of each stage, one proof */
    }
    sim_finish(sim);
    sim_assert(sim, jobs > 2000);
}

/* Ten partitions of a 32 GiB sector. The sizes of the task and of a witness are real, those of the proof are
 * a simulated prover's: the vectors of a real one alone take 12.9 GB. */
static void prover_never_waits(void **state) {
    (void)state;
    sched_config config = ample_config();
    config.budget = 4 * GIB;
    begin(&config, 2);
    sim_job job = {
        .priority = JOB_NORMAL,
        .plan = {.circuit = "32g",
                 .partitions = 10,
                 .task_bytes = 11 * MIB,
                 .witness_bytes = 70 * MIB,
                 .synthesis_bytes = 200 * MIB,
                 .prove_bytes = 100 * MIB},
        .work = {[STAGE_CHECK] = 1.5, [STAGE_SYNTHESIS] = 0.2, [STAGE_PROVE] = 300, [STAGE_VERIFY] = 0.01},
        .cores = {[STAGE_SYNTHESIS] = 1, [STAGE_VERIFY] = 1}};
    sim_expect_busy(sim);
    sim_add(sim, &job);
    sim_add(sim, &job); /* nor between two sectors */
    sim_finish(sim);
    for (uint32_t i = 1; i < 20; i++) {
        double before = sim_when(sim, SIM_END, (i - 1) / 10, (i - 1) % 10, STAGE_PROVE);
        sim_assert(sim, before > 0 && sim_when(sim, SIM_START, i / 10, i % 10, STAGE_PROVE) == before);
    }
    sim_assert(sim, sim_peak(sim) < 4 * GIB);
    sim_assert(sim, sim_now(sim) < 2 * (1.5 + 10 * 300.2) / 2 + 1);
}

/* --- anything at all --------------------------------------------------------------------------------------
 */

static void random_run(uint64_t seed) {
    uint64_t rng = seed;
    sched_config config = {.budget = LARGEST + pick(&rng, 2000),
                           .max_queue = 2 + pick(&rng, 40),
                           .lookahead = pick(&rng, 6),
                           .max_batch = pick(&rng, 6),
                           .max_batch_wait = pick(&rng, 40),
                           .ageing = pick(&rng, 3) ? pick(&rng, 60) : 0,
                           .group_by_circuit = pick(&rng, 2)};
    begin(&config, 1 + pick(&rng, 8));
    bool varies = pick(&rng, 2);
    for (unsigned i = 0; i < 40; i++) {
        sim_job job = random_sizes(&rng, JOB_LOW + pick(&rng, 4), pick(&rng, 5), pick(&rng, 400));
        for (unsigned stage = 0; stage < STAGE_KINDS; stage++) {
            if (pick(&rng, 4) == 0) job.work[stage] = pick(&rng, 3);
            if (pick(&rng, 4) == 0) job.cores[stage] = pick(&rng, 5);
        }
        if (pick(&rng, 4) == 0) job.deadline = 1 + pick(&rng, 300);
        if (pick(&rng, 4) == 0) job.cancel_at = job.arrival + pick(&rng, 300);
        uint32_t number = sim_add(sim, &job);
        if (pick(&rng, 3) == 0) add_random_faults(&rng, number, job.plan.partitions, 3);
    }
    sched_config other = config;
    for (unsigned i = 0; varies && i < 20; i++) {
        double at = pick(&rng, 800);
        if (pick(&rng, 2)) {
            sim_add_external(sim, at, pick(&rng, (uint32_t)config.budget));
        } else {
            other.budget = pick(&rng, 2 * (uint32_t)config.budget);
            other.lookahead = pick(&rng, 6);
            other.max_batch = pick(&rng, 20);
            other.ageing = pick(&rng, 30);
            sim_add_configure(sim, at, &other);
        }
    }
    if (varies) {
        sim_add_external(sim, 801, 0);
        sim_add_configure(sim, 801, &config);
    }
    sim_finish(sim);
}

static void random_runs(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) random_run(seed);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(failure_ends_the_job_alone),
        TEST(failed_self_check_is_repeated_once),
        TEST(verification_names_the_bad_partition),
        TEST(failure_in_a_batch_is_its_own),
        TEST(cancelled_at_every_moment),
        TEST(deadline_at_every_moment),
        TEST(stage_hangs_until_the_deadline),
        TEST(cancelled_in_a_batch),
        TEST(impossible_jobs_are_refused),
        TEST(full_queue_refuses_for_now),
        TEST(no_budget_deadlocks),
        TEST(reduced_budget),
        TEST(hundreds_of_jobs),
        TEST(a_day_of_events),
        TEST(prover_never_waits),
        TEST(random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
