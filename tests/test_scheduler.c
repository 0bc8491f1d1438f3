/* What the scheduler starts when: priorities, preemption, lookahead, grouping, batches and ageing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>

#include <cmocka.h>

#include "simulated_jobs.h"

#define CORES 2

static simulation *sim; /* of the test that runs */

static int end(void **state) {
    (void)state;
    sim_destroy(sim);
    sim = NULL;
    return 0;
}

static uint32_t add(job_priority priority, uint32_t partitions, double arrival) {
    sim_job job = small_job(priority, partitions, arrival);
    return sim_add(sim, &job);
}

static double ended(uint32_t job) {
    sim_assert(sim, sim_get(sim, job)->state == JOB_COMPLETED);
    return sim_get(sim, job)->ended;
}

static double when(sim_event_kind kind, uint32_t job, uint32_t partition, stage_kind stage) {
    double t = sim_when(sim, kind, job, partition, stage);
    sim_assert(sim, t >= 0);
    return t;
}

static bool near(double a, double b) {
    return fabs(a - b) < 1e-6;
}

/* How long a job takes that has the machine for itself. */
static double time_alone(job_priority priority, uint32_t partitions) {
    sched_config config = ample_config();
    simulation *other = sim_create(&config, CORES);
    sim_job job = small_job(priority, partitions, 0);
    sim_add(other, &job);
    sim_finish(other);
    double time = sim_now(other);
    sim_destroy(other);
    return time;
}

/* --- order ------------------------------------------------------------------------------------------------
 */

static void priorities_then_submission(void **state) {
    (void)state;
    sched_config config = ample_config();
    sim = sim_create(&config, CORES);
    add(JOB_CRITICAL, 1, 0);
    static const job_priority given[] = {JOB_LOW,  JOB_NORMAL,   JOB_HIGH, JOB_CRITICAL, JOB_NORMAL,
                                         JOB_HIGH, JOB_CRITICAL, JOB_LOW,  JOB_NORMAL};
    static const uint32_t order[] = {4, 7, 3, 6, 2, 5, 9, 1, 8};
    for (unsigned i = 0; i < 9; i++) add(given[i], 2, 1 + 0.01 * i);
    sim_expect_busy(sim);
    sim_finish(sim);
    double last = ended(0);
    for (unsigned i = 0; i < 9; i++) {
        sim_assert(sim, ended(order[i]) > last);
        last = ended(order[i]);
    }
}

static void urgent_job_interrupts(void **state) {
    (void)state;
    double alone = time_alone(JOB_NORMAL, 3), urgent = time_alone(JOB_CRITICAL, 1);
    /* In every stage of the interrupted job. */
    for (double at = 0.25; at < alone; at += 0.5) {
        sched_config config = ample_config();
        sim = sim_create(&config, CORES);
        uint32_t normal = add(JOB_NORMAL, 3, 0), critical = add(JOB_CRITICAL, 1, at);
        sim_expect_busy(sim);
        sim_finish(sim);
        sim_assert(sim, when(SIM_START, critical, SIM_ANY, STAGE_CHECK) == at);
        sim_assert(sim, near(ended(critical), at + urgent));
        /* It goes on where it was. */
        sim_assert(sim, near(ended(normal), alone + urgent));
        sim_assert(sim, sim_count(sim, SIM_START, normal, STAGE_PROVE) == 3);
        sim_assert(sim, sim_count(sim, SIM_START, normal, STAGE_SYNTHESIS) == 3);
        end(NULL);
    }
    sched_config config = ample_config();
    sim = sim_create(&config, CORES);
    uint32_t normal = add(JOB_NORMAL, 1, 0), high = add(JOB_HIGH, 1, 5), critical = add(JOB_CRITICAL, 1, 9);
    sim_finish(sim);
    sim_assert(sim, when(SIM_PAUSE, normal, 0, STAGE_PROVE) == 5);
    sim_assert(sim, when(SIM_PAUSE, high, 0, STAGE_PROVE) == 9);
    sim_assert(sim, when(SIM_RESUME, high, 0, STAGE_PROVE) == ended(critical));
    sim_assert(sim, when(SIM_RESUME, normal, 0, STAGE_PROVE) == ended(high));
}

/* A less urgent job is not begun only to take memory. */
static void nothing_starts_to_be_paused(void **state) {
    (void)state;
    sched_config config = ample_config();
    sim = sim_create(&config, CORES);
    uint32_t critical = add(JOB_CRITICAL, 4, 0), low = add(JOB_LOW, 1, 0);
    sim_finish(sim);
    sim_assert(sim, when(SIM_START, low, SIM_ANY, STAGE_CHECK) == ended(critical));
    sim_assert(sim, sim_peak(sim) == 2 * 10 + 20 + 100 + 2 * (20 + 30)); /* one proof, two syntheses */
}

static void lookahead_is_reached_and_kept(void **state) {
    (void)state;
    for (uint32_t lookahead = 1; lookahead <= 5; lookahead++) {
        sched_config config = ample_config();
        config.lookahead = lookahead;
        sim = sim_create(&config, 8);
        sim_job job = small_job(JOB_NORMAL, 12, 0);
        job.cores[STAGE_PROVE] = 2;
        job.work[STAGE_PROVE] = 100;
        sim_add(sim, &job);
        sim_add(sim, &job);
        sim_run(sim, 50); /* the first proof runs */
        sim_assert(sim, sim_count(sim, SIM_START, 0, STAGE_PROVE) == 1);
        sim_assert(sim, sim_count(sim, SIM_END, 0, STAGE_SYNTHESIS) == 1 + lookahead);
        sim_assert(sim, scheduler_jobs(sim_scheduler(sim))->synthesized == lookahead);
        sim_finish(sim);
        /* 24 proofs without a pause in between. */
        double first = when(SIM_START, 0, 0, STAGE_PROVE), last = when(SIM_END, 1, 11, STAGE_PROVE);
        sim_assert(sim, near(last - first, 24 * 50));
        end(NULL);
    }
    sched_config config = ample_config();
    sim = sim_create(&config, CORES);
}

/* Proofs of one priority never overlap, whatever jobs they are of. */
static void one_proof_at_a_time(void **state) {
    (void)state;
    sched_config config = ample_config();
    sim = sim_create(&config, 8);
    for (unsigned i = 0; i < 40; i++) {
        sim_job job = small_job(JOB_LOW + i % 4, 1 + i % 5, i * 3.5);
        job.cores[STAGE_PROVE] = 3;
        sim_add(sim, &job);
    }
    sim_expect_busy(sim);
    sim_finish(sim);
    size_t n;
    const sim_event *events = sim_events(sim, &n);
    int running[JOB_PRIORITIES] = {0};
    for (size_t i = 0; i < n; i++) {
        if (events[i].stage != STAGE_PROVE) continue;
        int *r = &running[sim_get(sim, events[i].job)->priority];
        if (events[i].kind == SIM_START) sim_assert(sim, ++*r == 1);
        if (events[i].kind == SIM_END) sim_assert(sim, --*r == 0);
    }
}

/* Nothing waits while cores idle, for any mix; all work is done once and all cores work while enough is
 * there. */
static void cores_never_idle_in_vain(void **state) {
    (void)state;
    uint64_t rng = 7;
    for (unsigned round = 0; round < 20; round++) {
        sched_config config = ample_config();
        config.lookahead = 1 + round % 4;
        sim = sim_create(&config, 1 + round % 6);
        sim_expect_busy(sim);
        double work = 0;
        for (unsigned i = 0; i < 30; i++) {
            sim_job job = small_job(JOB_LOW + pick(&rng, 4), 1 + pick(&rng, 6), pick(&rng, 2000) / 8.0);
            for (unsigned k = 0; k < STAGE_KINDS; k++) {
                job.work[k] = pick(&rng, 100) / 16.0;
                job.cores[k] = pick(&rng, 5);
                work += job.work[k] * (k == STAGE_SYNTHESIS || k == STAGE_PROVE ? job.plan.partitions : 1);
            }
            sim_add(sim, &job);
        }
        sim_finish(sim);
        sim_assert(sim, near(sim_busy(sim), work));
        end(NULL);
    }
    sched_config config = ample_config();
    sim = sim_create(&config, 4);
    for (unsigned i = 0; i < 50; i++) add(JOB_NORMAL, 10, 0);
    sim_finish(sim);
    double work = 50 * (1 + 10 * (2 + 20) + 0.5);
    sim_assert(sim, near(sim_busy(sim), work));
    sim_assert(sim, sim_now(sim) < work / 4 + 3); /* all four, but for the first and last moments */
}

/* --- grouping ---------------------------------------------------------------------------------------------
 */

static uint32_t circuit_changes(void) {
    size_t n;
    const sim_event *events = sim_events(sim, &n);
    uint32_t changes = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != SIM_START || events[i].stage != STAGE_PROVE) continue;
        uint32_t circuit = sim_get(sim, events[i].job)->circuit;
        changes += circuit != last;
        last = circuit;
    }
    return changes;
}

static void same_circuits_go_together(void **state) {
    (void)state;
    for (unsigned group = 0; group < 2; group++) {
        sched_config config = ample_config();
        config.group_by_circuit = group;
        config.lookahead = 1;
        sim = sim_create(&config, CORES);
        for (unsigned i = 0; i < 8; i++) {
            sim_job job = small_job(JOB_NORMAL, 1, 0);
            job.circuit = i % 2;
            job.work[STAGE_PROVE] = 1;
            job.work[STAGE_CHECK] = 0;
            sim_add(sim, &job);
        }
        sim_finish(sim);
        if (group)
            sim_assert(sim, circuit_changes() <= 3);
        else
            sim_assert(sim, circuit_changes() == 7);
        if (group == 0) end(NULL);
    }
}

/* Two jobs of another circuit wait while jobs of the last one keep coming: not longer than the limit. Urgency
 * goes before circuits. */
static void grouping_is_bounded(void **state) {
    (void)state;
    sched_config config = ample_config();
    config.group_by_circuit = true;
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 400; i++) add(JOB_NORMAL, 1, i * 5.0);
    sim_job job = small_job(JOB_NORMAL, 2, 100);
    job.circuit = 1;
    uint32_t other = sim_add(sim, &job), another = sim_add(sim, &job);
    job = small_job(JOB_HIGH, 1, 300);
    job.circuit = 1;
    uint32_t high = sim_add(sim, &job);
    sim_finish(sim);
    /* Those before them; then check, two syntheses and two proofs, each overtaken for a minute and the proof
     * that runs then. */
    sim_assert(sim, ended(other) - 100 < 150 + 5 * (SCHED_GROUP_SECONDS + 15));
    sim_assert(sim, ended(another) - 100 < 150 + 10 * (SCHED_GROUP_SECONDS + 15));
    sim_assert(sim, near(ended(high), 300 + time_alone(JOB_HIGH, 1)));
}

/* --- batches ----------------------------------------------------------------------------------------------
 */

static uint32_t proof_number(uint32_t job, uint32_t partition) {
    size_t n;
    const sim_event *events = sim_events(sim, &n);
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == SIM_START && events[i].stage == STAGE_PROVE && events[i].job == job &&
            events[i].partition == partition)
            return events[i].number;
    sim_assert(sim, false);
    return 0;
}

static sched_config batch_config(uint32_t size, double wait) {
    sched_config config = ample_config();
    config.max_batch = size;
    config.max_batch_wait = wait;
    return config;
}

static void full_batch_goes(void **state) {
    (void)state;
    sched_config config = batch_config(4, 1000);
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 8; i++) add(JOB_NORMAL, 1, i);
    sim_finish(sim);
    for (uint32_t i = 1; i < 8; i++) sim_assert(sim, proof_number(i, 0) == proof_number(i - i % 4, 0));
    sim_assert(sim, when(SIM_START, 0, 0, STAGE_PROVE) == when(SIM_END, 3, 0, STAGE_SYNTHESIS));
    sim_assert(sim, proof_number(0, 0) != proof_number(4, 0));
    sim_assert(sim, sim_now(sim) < 200);
}

static void batch_goes_when_its_time_has_come(void **state) {
    (void)state;
    sched_config config = batch_config(4, 30);
    sim = sim_create(&config, CORES);
    add(JOB_NORMAL, 1, 0);
    add(JOB_NORMAL, 1, 20);
    add(JOB_NORMAL, 1, 200); /* alone */
    sim_finish(sim);
    sim_assert(sim, when(SIM_START, 0, 0, STAGE_PROVE) == when(SIM_END, 0, 0, STAGE_SYNTHESIS) + 30);
    sim_assert(sim, proof_number(0, 0) == proof_number(1, 0));
    sim_assert(sim, when(SIM_START, 2, 0, STAGE_PROVE) == when(SIM_END, 2, 0, STAGE_SYNTHESIS) + 30);
}

static void urgent_job_flushes_the_batch(void **state) {
    (void)state;
    sched_config config = batch_config(4, 1000);
    sim = sim_create(&config, CORES);
    uint32_t normal = add(JOB_NORMAL, 1, 0), high = add(JOB_HIGH, 1, 50);
    sim_finish(sim);
    sim_assert(sim, near(ended(high), 50 + time_alone(JOB_HIGH, 1))); /* does not wait for company itself */
    sim_assert(sim, when(SIM_START, normal, 0, STAGE_PROVE) == ended(high));
    sim_assert(sim, proof_number(normal, 0) != proof_number(high, 0));
}

/* Circuits and priorities do not mix. */
static void batches_are_of_one_kind(void **state) {
    (void)state;
    sched_config config = batch_config(4, 40);
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 24; i++) {
        sim_job job = small_job(i % 3 == 0 ? JOB_LOW : JOB_NORMAL, 3, i);
        job.circuit = i % 2;
        sim_add(sim, &job);
    }
    sim_finish(sim);
    size_t n;
    const sim_event *events = sim_events(sim, &n);
    bool any = false;
    for (size_t i = 1; i < n; i++) {
        const sim_event *a = &events[i - 1], *b = &events[i];
        if (b->kind != SIM_START || b->stage != STAGE_PROVE || a->kind != SIM_START || a->number != b->number)
            continue;
        any = true;
        sim_assert(sim, sim_get(sim, a->job)->circuit == sim_get(sim, b->job)->circuit);
        sim_assert(sim, sim_get(sim, a->job)->priority == sim_get(sim, b->job)->priority);
    }
    sim_assert(sim, any);
}

static void memory_limits_the_batch(void **state) {
    (void)state;
    sched_config config = batch_config(4, 1000);
    config.budget =
        10 + 4 * 20 + 30 + 100 + 40; /* four witnesses and a proof of two, or of one and one more */
    sim = sim_create(&config, CORES);
    add(JOB_NORMAL, 8, 0);
    sim_finish(sim);
    sim_assert(sim, proof_number(0, 0) == proof_number(0, 1));
    sim_assert(sim, proof_number(0, 1) != proof_number(0, 2));
    /* Nor does it wait for what there is no memory for; only the last two do, for other jobs. */
    sim_assert(sim, when(SIM_START, 0, 4, STAGE_PROVE) < 60);
}

/* The partitions ahead are of different circuits: none will get company before one is proved. */
static void batch_does_not_wait_for_itself(void **state) {
    (void)state;
    sched_config config = batch_config(2, 1000);
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 3; i++) {
        sim_job job = small_job(JOB_NORMAL, 1, 0);
        job.circuit = i % 2;
        sim_add(sim, &job);
    }
    sim_finish(sim);
    sim_assert(sim, when(SIM_START, 0, 0, STAGE_PROVE) < 10);
}

/* --- ageing -----------------------------------------------------------------------------------------------
 */

#define AGEING 30.0

static sched_config ageing_config(void) {
    sched_config config = ample_config();
    config.ageing = AGEING;
    return config;
}

static void low_job_ends_under_any_stream(void **state) {
    (void)state;
    /* More urgent jobs than there are cores for, of each kind and of all. */
    for (unsigned stream = JOB_NORMAL; stream <= JOB_CRITICAL + 1; stream++) {
        sched_config config = ageing_config();
        sim = sim_create(&config, CORES);
        sim_check_interval(sim, 10);
        for (unsigned i = 0; i < 600; i++)
            add(stream > JOB_CRITICAL ? JOB_NORMAL + i % 3 : (job_priority)stream, 1, i * 10.0);
        uint32_t low = add(JOB_LOW, 3, 15);
        sim_run(sim, 6000);
        sim_assert(sim, sim_get(sim, low)->state == JOB_COMPLETED);
        /* Each partition: it starves, counts as HIGH, then as CRITICAL, and is then behind 21 older ones. */
        sim_assert(sim, ended(low) < 4 * 6 * AGEING + 3000);
        end(NULL);
    }
    sched_config config = ageing_config();
    sim = sim_create(&config, CORES);
}

/* Moments between urgent jobs are not enough to count as served. */
static void gaps_are_no_service(void **state) {
    (void)state;
    double alone = time_alone(JOB_CRITICAL, 1);
    sched_config config = ageing_config();
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 300; i++) add(JOB_CRITICAL, 1, i * (alone + 0.01));
    uint32_t low = add(JOB_LOW, 1, 0);
    sim_run(sim, 300 * alone);
    sim_assert(sim, sim_get(sim, low)->state == JOB_COMPLETED && ended(low) < 20 * AGEING);
}

/* Nobody's turns are at the cost of another priority that starves. */
static void turns_go_round(void **state) {
    (void)state;
    sched_config config = ageing_config();
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 600; i++) add(JOB_HIGH, 1, i * 10.0);
    uint32_t low = add(JOB_LOW, 40, 1), normal = add(JOB_NORMAL, 3, 2);
    sim_run(sim, 6000);
    double third = when(SIM_END, normal, 2, STAGE_PROVE);
    sim_assert(sim,
               sim_when(sim, SIM_END, low, 5, STAGE_PROVE) < 0 || third < when(SIM_END, low, 5, STAGE_PROVE));
    sim_assert(sim, when(SIM_END, low, 2, STAGE_PROVE) > 0);
}

/* An old backlog has had its share: it delays a CRITICAL job by nothing and a HIGH one by a partition. */
static void backlog_does_not_outrank(void **state) {
    (void)state;
    sched_config config = ageing_config();
    sim = sim_create(&config, CORES);
    for (unsigned i = 0; i < 100; i++) add(JOB_NORMAL, 10, 0);
    uint32_t critical = add(JOB_CRITICAL, 1, 5000), high = add(JOB_HIGH, 1, 7000);
    sim_run(sim, 7200);
    sim_assert(sim, near(ended(critical), 5000 + time_alone(JOB_CRITICAL, 1)));
    sim_assert(sim, near(ended(high), 7000 + time_alone(JOB_HIGH, 1)));
    end(NULL);

    /* Nearly all of the time goes to HIGH jobs: others get turns, and each HIGH job sees at most one. */
    sim = sim_create(&config, CORES);
    double alone = time_alone(JOB_HIGH, 1);
    for (unsigned i = 0; i < 100; i++) add(i % 2 ? JOB_LOW : JOB_NORMAL, 10, 0);
    for (unsigned i = 0; i < 200; i++) add(JOB_HIGH, 1, 100 + i * alone * 1.2);
    uint32_t last = add(JOB_CRITICAL, 1, 2000);
    sim_run(sim, 100 + 200 * alone * 1.2);
    size_t n;
    const sim_event *events = sim_events(sim, &n);
    unsigned turns = 0;
    for (uint32_t job = 100; job < 290; job++) {
        unsigned proved = 0;
        double from = sim_get(sim, job)->accepted, to = ended(job);
        for (size_t i = 0; i < n; i++)
            proved += events[i].kind == SIM_END && events[i].stage == STAGE_PROVE && events[i].job < 100 &&
                      events[i].time > from && events[i].time < to;
        sim_assert(sim, proved <= 1);
        sim_assert(sim, to - from < 3 * alone + 13); /* behind jobs that waited for a turn, too */
        turns += proved;
    }
    sim_assert(sim, turns > 10);
    sim_assert(sim, near(ended(last), 2000 + time_alone(JOB_CRITICAL, 1)));
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(priorities_then_submission),
        TEST(urgent_job_interrupts),
        TEST(nothing_starts_to_be_paused),
        TEST(lookahead_is_reached_and_kept),
        TEST(one_proof_at_a_time),
        TEST(cores_never_idle_in_vain),
        TEST(same_circuits_go_together),
        TEST(grouping_is_bounded),
        TEST(full_batch_goes),
        TEST(batch_goes_when_its_time_has_come),
        TEST(urgent_job_flushes_the_batch),
        TEST(batches_are_of_one_kind),
        TEST(memory_limits_the_batch),
        TEST(batch_does_not_wait_for_itself),
        TEST(low_job_ends_under_any_stream),
        TEST(gaps_are_no_service),
        TEST(turns_go_round),
        TEST(backlog_does_not_outrank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
