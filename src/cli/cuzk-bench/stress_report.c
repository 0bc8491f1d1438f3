#include <inttypes.h>
#include <stdio.h>

#include "report.h"
#include "stress.h"

const char *stress_outcome_name(unsigned outcome) {
    if (outcome < STRESS_RPC) return outcome == 0 ? "UNKNOWN_RESULT" : proof_status_name((int32_t)outcome);
    if (outcome == STRESS_RPC + RPC_CANCELLED) return "RPC_CANCELLED"; /* other than a job's CANCELLED */
    return outcome == STRESS_DROPPED ? "dropped" : rpc_status_name((rpc_status)(outcome - STRESS_RPC));
}

/* Ends that are as they should be: proofs, what was cancelled, dropped or late, and back-pressure. */
static uint64_t harmless(void) {
    return UINT64_C(1) << PROOF_STATUS_COMPLETED | UINT64_C(1) << PROOF_STATUS_CANCELLED |
           UINT64_C(1) << PROOF_STATUS_TIMEOUT | UINT64_C(1) << (STRESS_RPC + RPC_CANCELLED) |
           UINT64_C(1) << (STRESS_RPC + RPC_DEADLINE_EXCEEDED) |
           UINT64_C(1) << (STRESS_RPC + RPC_RESOURCE_EXHAUSTED) | UINT64_C(1) << STRESS_DROPPED;
}

static uint64_t bad_ends(const stress_result *r) {
    uint64_t good = harmless() | r->tolerated, bad = 0;
    for (unsigned i = 0; i < r->n_mix; i++)
        for (unsigned o = 0; o < STRESS_OUTCOMES; o++)
            if (!(good >> o & 1)) bad += r->mix[i].outcomes[o];
    return bad;
}

void stress_judge(stress_result *r) {
    r->ok = !r->left && r->sampler.failed == 0 && bad_ends(r) == 0;
}

static void print_latency(const char *label, const latency_summary *s) {
    if (s->n == 0)
        printf("%-18s no answer\n", label);
    else
        printf("%-18s p50=%.1f ms p99=%.1f ms max=%.1f ms (%zu)\n", label, 1000 * s->p50, 1000 * s->p99,
               1000 * s->most, s->n);
}

void stress_print(stress_result *r) {
    printf("=== Stress Summary ===\nseconds:     %.1f\n", r->seconds);
    for (unsigned i = 0; i < r->n_mix; i++) {
        stress_entry *e = &r->mix[i];
        char label[48];
        snprintf(label, sizeof label, "%s/%s", proof_kind_word(e->kind), proof_priority_word(e->priority));
        printf("\n%s: sent %" PRIu64 ", of these to be cancelled %" PRIu64 ", to be dropped %" PRIu64 "\n",
               label, e->sent, e->cancels, e->drops);
        latency_summary s = latency_sum_up(&e->times);
        if (s.n) print_latency("  completed:", &s);
        printf("  ends:           ");
        for (unsigned o = 0; o < STRESS_OUTCOMES; o++)
            if (e->outcomes[o]) printf(" %s=%" PRIu64, stress_outcome_name(o), e->outcomes[o]);
        printf("\n");
    }
    latency_summary status = latency_sum_up(&r->sampler.times);
    printf("\n");
    print_latency("GetStatus:", &status);
    if (r->sampler.failed)
        printf("GetStatus failed:  %zu times, %s\n", r->sampler.failed, r->sampler.message);
    printf("settled after:     %.2f s\nleft behind:       %s\nresident memory:   %.0f MiB, before %.0f "
           "MiB\nresult:            "
           "%s\n",
           r->settle_seconds, r->left ? r->leftover : "nothing", r->after.resident_bytes / (1 << 20),
           r->before.resident_bytes / (1 << 20), r->ok ? "ok" : "NOT OK");
}

static void put_entry(yajl_gen g, stress_entry *e) {
    yajl_gen_map_open(g);
    json_string(g, "kind", proof_kind_word(e->kind));
    json_string(g, "priority", proof_priority_word(e->priority));
    json_u64(g, "weight", e->weight);
    json_u64(g, "sent", e->sent);
    json_u64(g, "to_be_cancelled", e->cancels);
    json_u64(g, "to_be_dropped", e->drops);
    latency_summary s = latency_sum_up(&e->times);
    json_latency(g, "completed", &s);
    json_key(g, "ends");
    yajl_gen_map_open(g);
    for (unsigned o = 0; o < STRESS_OUTCOMES; o++)
        if (e->outcomes[o]) json_u64(g, stress_outcome_name(o), e->outcomes[o]);
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

cuzk_code stress_put_json(stress_result *r, cuzk_error *err) {
    yajl_gen g = json_begin();
    json_bool(g, "ok", r->ok);
    json_u64(g, "seed", r->seed);
    json_u64(g, "concurrency", r->concurrency);
    json_double(g, "seconds", r->seconds);
    json_key(g, "mix");
    yajl_gen_array_open(g);
    for (unsigned i = 0; i < r->n_mix; i++) put_entry(g, &r->mix[i]);
    yajl_gen_array_close(g);
    latency_summary status = latency_sum_up(&r->sampler.times);
    json_latency(g, "get_status", &status);
    json_u64(g, "get_status_failed", r->sampler.failed);
    json_double(g, "settle_seconds", r->settle_seconds);
    json_string(g, "left_behind", r->left ? r->leftover : "");
    json_double(g, "reserved_bytes_before", r->before.reserved_bytes);
    json_double(g, "reserved_bytes_after", r->after.reserved_bytes);
    json_double(g, "resident_bytes_before", r->before.resident_bytes);
    json_double(g, "resident_bytes_after", r->after.resident_bytes);
    bench_put_machine(g);
    return daemon_put_json(g, r->daemon, err);
}
