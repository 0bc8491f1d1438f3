/*
 * The service over real connections, on an engine whose backend does what a script says: all eight calls,
 * every status, what becomes of a job whose client goes away, and many clients at once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_backend.h"
#include "rpc/client.h"
#include "rpc/messages.h"
#include "server/service.h"
#include "temp_dir.h"

static engine *e;
static service *s;
static rpc_server *server;
static server_stats stats;
static char address[300];

static void start_with(unsigned max_queue, const char *params_dir) {
    engine_config c;
    engine_config_default(&c);
    c.threads = 2;
    c.memory_budget = 64u << 20;
    c.max_queue = max_queue;
    c.params_dir = params_dir;
    for (unsigned k = 1; k < JOB_KINDS; k++) c.backends[k] = k == JOB_SNAP ? NULL : &fake_backend;
    cuzk_error err;
    assert_int_equal(engine_create(&e, &c, &err), CUZK_OK);
    server_stats_init(&stats, 2);
    service_config sc = {.engine = e, .stats = &stats};
    for (unsigned k = 1; k < JOB_KINDS; k++) sc.supported[k] = c.backends[k] != NULL;
    assert_int_equal(service_create(&s, &sc, max_queue, &err), CUZK_OK);
    rpc_handlers handlers = service_handlers(s);
    assert_int_equal(rpc_server_create(&server, &proving_service, &handlers, NULL, &err), CUZK_OK);
    snprintf(address, sizeof address, "unix://%s", temp_path("service.sock"));
    assert_int_equal(rpc_server_listen(server, address, &err), CUZK_OK);
    assert_int_equal(rpc_server_start(server, &err), CUZK_OK);
}

static void start(void) {
    start_with(64, NULL);
}

/* Nothing may be left of any job or request. */
static void stop(void) {
    rpc_server_destroy(server);
    service_destroy(s);
    engine_destroy(e);
    assert_int_equal(fake_alive(), 0);
}

#define WAIT_UNTIL(condition)                                                                                \
    do {                                                                                                     \
        for (double end = clock_seconds() + 60; !(condition); usleep(1000))                                  \
            if (clock_seconds() > end) fail_msg("this does not come true: %s", #condition);                  \
    } while (0)

static rpc_client *client(void) {
    rpc_client *c;
    assert_int_equal(rpc_client_create(&c, address, NULL), CUZK_OK);
    return c;
}

/* --- calls ------------------------------------------------------------------------------------------------
 */

static rpc_reply call_bytes(rpc_client *c, proving_method method, wire_view bytes, double timeout) {
    rpc_reply reply;
    rpc_client_call(c, proving_methods[method].path, bytes, timeout, &reply);
    return reply;
}

static rpc_reply call(rpc_client *c, proving_method method, const void *message, double timeout) {
    wire_buffer b = {0};
    schema_encode(proving_methods[method].request, message, &b);
    assert_false(b.failed);
    rpc_reply reply = call_bytes(c, method, (wire_view){b.data, b.size}, timeout);
    wire_buffer_free(&b);
    return reply;
}

static void check_status(const rpc_reply *r, rpc_status status, const char *text) {
    if (r->status != status || (text && !strstr(r->message, text)))
        fail_msg("%s \"%s\" instead of %s \"%s\"", rpc_status_name(r->status), r->message,
                 rpc_status_name(status), text ? text : "");
}

static void expect(rpc_client *c, proving_method method, const void *message, rpc_status status,
                   const char *text) {
    rpc_reply r = call(c, method, message, 60);
    check_status(&r, status, text);
    rpc_reply_free(&r);
}

/* The message of an OK reply, in *out, whose views are of the reply. */
static void decode(proving_method method, void *out, const rpc_reply *r) {
    check_status(r, RPC_OK, NULL);
    memset(out, 0, proving_methods[method].response->size);
    assert_int_equal(
        schema_decode(proving_methods[method].response, out, (wire_view){r->data, r->size}, NULL), CUZK_OK);
}

static submit_proof_request porep(const char *id, const char *script) {
    return (submit_proof_request){.request_id = wire_text(id),
                                  .proof_kind = PROOF_KIND_POREP_SEAL_COMMIT,
                                  .vanilla_proof = wire_text(script),
                                  .sector_number = 1,
                                  .miner_id = 1000};
}

static prove_request prove(const char *id, const char *script) {
    return (prove_request){.has_submit = true, .submit = porep(id, script)};
}

static void check_text(wire_view found, const char *expected) {
    if (!wire_equal(found, wire_text(expected)))
        fail_msg("\"%.*s\" instead of \"%s\"", (int)found.size, (const char *)found.data, expected);
}

static void check_proof(const await_proof_response *r, const char *script, uint32_t partitions) {
    assert_int_equal(r->status, PROOF_STATUS_COMPLETED);
    assert_int_equal(r->proof.size, partitions * CUZK_PROOF_BYTES);
    for (uint32_t k = 0; k < partitions; k++) {
        uint8_t expected[CUZK_PROOF_BYTES];
        fake_proof(expected, script, k);
        assert_memory_equal(r->proof.data + k * CUZK_PROOF_BYTES, expected, CUZK_PROOF_BYTES);
    }
}

static void submit(rpc_client *c, const char *id, const char *script) {
    submit_proof_request m = porep(id, script);
    rpc_reply r = call(c, METHOD_SUBMIT_PROOF, &m, 60);
    submit_proof_response answer;
    decode(METHOD_SUBMIT_PROOF, &answer, &r);
    check_text(answer.job_id, id);
    rpc_reply_free(&r);
}

/* AwaitProof: the status and, in text[], the error's message. */
static int32_t await_job(rpc_client *c, const char *id, uint64_t timeout_ms, char text[256]) {
    await_proof_request m = {.job_id = wire_text(id), .timeout_ms = timeout_ms};
    rpc_reply r = call(c, METHOD_AWAIT_PROOF, &m, 60);
    await_proof_response answer;
    decode(METHOD_AWAIT_PROOF, &answer, &r);
    check_text(answer.job_id, id);
    snprintf(text, 256, "%.*s", (int)answer.error_message.size, (const char *)answer.error_message.data);
    int32_t status = answer.status;
    rpc_reply_free(&r);
    return status;
}

static bool cancel(rpc_client *c, const char *id) {
    cancel_proof_request m = {.job_id = wire_text(id)};
    rpc_reply r = call(c, METHOD_CANCEL_PROOF, &m, 60);
    cancel_proof_response answer;
    decode(METHOD_CANCEL_PROOF, &answer, &r);
    rpc_reply_free(&r);
    return answer.was_running;
}

/* A call in a thread of its own, on its own connection. */
typedef struct background {
    pthread_t thread;
    rpc_client *client;
    const char *id, *script;
    double timeout;
    rpc_reply reply;
    atomic_bool done;
} background;

static void *run_background(void *arg) {
    background *b = arg;
    prove_request m = prove(b->id, b->script);
    b->reply = call(b->client, METHOD_PROVE, &m, b->timeout);
    atomic_store(&b->done, true);
    return NULL;
}

static void background_start(background *b, const char *id, const char *script, double timeout) {
    *b = (background){.client = client(), .id = id, .script = script, .timeout = timeout};
    assert_int_equal(pthread_create(&b->thread, NULL, run_background, b), 0);
}

static void background_join(background *b) {
    pthread_join(b->thread, NULL);
    rpc_client_destroy(b->client);
}

/* --- tests ------------------------------------------------------------------------------------------------
 */

static void prove_gives_the_proof(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    const char *script = "partitions=10 check=1 synthesis=2 prove=3 verify=1";
    const char *ids[] = {"porep-1000-1", "wdpost-1000-3-[12 250 7 99 0 255 1 2]", "\xe6\x97\xa5\xe6\x9c\xac"};
    for (size_t i = 0; i < 3; i++) {
        prove_request m = prove(ids[i], script);
        rpc_reply r = call(c, METHOD_PROVE, &m, 60);
        prove_response answer;
        decode(METHOD_PROVE, &answer, &r);
        assert_true(answer.has_result);
        check_text(answer.result.job_id, ids[i]);
        check_text(answer.result.error_message, "");
        check_proof(&answer.result, script, 10);
        assert_true(answer.result.gpu_compute_ms > 0 && answer.result.total_ms > 0);
        rpc_reply_free(&r);
    }
    rpc_client_destroy(c);
    stop();
}

static void a_job_without_id_gets_one(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    submit_proof_request m = porep("", "prove=1");
    rpc_reply r = call(c, METHOD_SUBMIT_PROOF, &m, 60);
    submit_proof_response answer;
    decode(METHOD_SUBMIT_PROOF, &answer, &r);
    assert_int_equal(answer.job_id.size, 36);
    char id[64], text[256];
    snprintf(id, sizeof id, "%.36s", (const char *)answer.job_id.data);
    rpc_reply_free(&r);
    assert_int_equal(await_job(c, id, 0, text), PROOF_STATUS_COMPLETED);
    assert_int_equal(await_job(c, id, 0, text), PROOF_STATUS_COMPLETED); /* any number of times */
    rpc_client_destroy(c);
    stop();
}

static void await_honours_its_timeout(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    char text[256];
    submit(c, "long", "fail=prove:0:1:hang");
    assert_int_equal(await_job(c, "long", 30, text), PROOF_STATUS_TIMEOUT);
    assert_string_equal(text, "still running after 30 ms");
    assert_int_equal(await_job(c, "long", 1, text), PROOF_STATUS_TIMEOUT);
    assert_true(cancel(c, "long")); /* it was still running */
    assert_int_equal(await_job(c, "long", 60000, text), PROOF_STATUS_CANCELLED);
    assert_false(cancel(c, "long"));
    await_proof_request unknown = {.job_id = wire_text("nobody's")};
    expect(c, METHOD_AWAIT_PROOF, &unknown, RPC_NOT_FOUND, "job not found: nobody's");
    unknown.job_id = (wire_view){NULL, 0};
    expect(c, METHOD_AWAIT_PROOF, &unknown, RPC_NOT_FOUND, "job not found: ");
    assert_false(cancel(c, "nobody's"));
    assert_false(cancel(c, ""));
    rpc_client_destroy(c);
    stop();
}

static void wrong_requests(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    submit_proof_request m = porep("x", "prove=1");
    const int32_t kinds[] = {0, 5, -1, 2147483647};
    for (size_t i = 0; i < 4; i++) {
        char text[64];
        m.proof_kind = kinds[i];
        snprintf(text, sizeof text, "invalid proof_kind: %d", (int)kinds[i]);
        expect(c, METHOD_SUBMIT_PROOF, &m, RPC_INVALID_ARGUMENT, text);
        prove_request p = {.has_submit = true, .submit = m};
        expect(c, METHOD_PROVE, &p, RPC_INVALID_ARGUMENT, text);
    }
    m.proof_kind = PROOF_KIND_SNAP_DEALS_UPDATE;
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_UNIMPLEMENTED, "no circuit for proofs of kind snap-update");
    prove_request empty = {.has_submit = false};
    expect(c, METHOD_PROVE, &empty, RPC_INVALID_ARGUMENT, "missing submit field");
    m = porep("x", "this is no script");
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_INVALID_ARGUMENT, "'this' is not");
    m = porep("x", "vectors=99000000"); /* can never fit */
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_FAILED_PRECONDITION, "the budget is 64 MiB");
    char longest[JOB_ID_BYTES + 1];
    memset(longest, 'i', JOB_ID_BYTES);
    longest[JOB_ID_BYTES] = 0;
    m = porep(longest, "prove=1");
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_INVALID_ARGUMENT, "request_id of 256 bytes");
    m = porep("", "prove=1");
    m.request_id = (wire_view){(const uint8_t *)"a\0b", 3};
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_INVALID_ARGUMENT, "zero byte");
    static const uint8_t garbage[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2};
    static const uint8_t latin[] = {0x0a, 0x01, 0xe9};
    for (unsigned method = 0; method < METHOD_COUNT; method++) {
        if (method == METHOD_GET_STATUS || method == METHOD_GET_METRICS) continue; /* they read nothing */
        rpc_reply r = call_bytes(c, (proving_method)method, (wire_view){garbage, sizeof garbage}, 60);
        check_status(&r, RPC_INVALID_ARGUMENT, NULL);
        rpc_reply_free(&r);
        if (method == METHOD_PROVE) continue;
        r = call_bytes(c, (proving_method)method, (wire_view){latin, sizeof latin}, 60);
        check_status(&r, RPC_INVALID_ARGUMENT, "UTF-8");
        rpc_reply_free(&r);
    }
    assert_true(stats.refused[REFUSED_INPUT] >= 10);
    assert_int_equal(stats.refused[REFUSED_UNSUPPORTED], 1);
    assert_int_equal(stats.refused[REFUSED_MEMORY], 1);
    rpc_client_destroy(c);
    stop();
}

static void the_same_id_again(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    background first;
    const char *script = "partitions=2 prove=30";
    unsigned proved = fake_begun(STAGE_PROVE);
    background_start(&first, "porep-1-2", script, 60);
    WAIT_UNTIL(engine_unfinished(e) == 1);
    submit_proof_request other = porep("porep-1-2", "prove=41");
    expect(c, METHOD_SUBMIT_PROOF, &other, RPC_ALREADY_EXISTS, "other input");
    prove_request same = prove("porep-1-2", script);
    for (unsigned i = 0; i < 2; i++) { /* while it runs, and when it has ended */
        rpc_reply r = call(c, METHOD_PROVE, &same, 60);
        prove_response answer;
        decode(METHOD_PROVE, &answer, &r);
        check_proof(&answer.result, script, 2);
        rpc_reply_free(&r);
    }
    background_join(&first);
    assert_int_equal(first.reply.status, RPC_OK);
    rpc_reply_free(&first.reply);
    assert_int_equal(fake_begun(STAGE_PROVE), proved + 2); /* the work was done once */
    assert_int_equal(stats.refused[REFUSED_CONFLICT], 1);
    rpc_client_destroy(c);
    stop();
}

static void failures_are_told(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    char text[256];
    prove_request m = prove("f1", "fail=prove:0:1:selfcheck fail=prove:0:2:selfcheck");
    rpc_reply r = call(c, METHOD_PROVE, &m, 60);
    prove_response answer;
    decode(METHOD_PROVE, &answer, &r);
    assert_int_equal(answer.result.status, PROOF_STATUS_FAILED);
    assert_int_equal(answer.result.proof.size, 0);
    assert_true(answer.result.error_message.size > 10);
    rpc_reply_free(&r);
    assert_int_equal(await_job(c, "f1", 0, text), PROOF_STATUS_FAILED);

    /* Vanilla proofs that do not hold: the request was wrong. */
    m = prove("f2", "fail=check:0:1:error");
    expect(c, METHOD_PROVE, &m, RPC_INVALID_ARGUMENT, "check");
    assert_int_equal(await_job(c, "f2", 0, text), PROOF_STATUS_FAILED);
    submit(c, "f2", "prove=1"); /* a failed job leaves its id free */
    assert_int_equal(await_job(c, "f2", 0, text), PROOF_STATUS_COMPLETED);
    rpc_client_destroy(c);
    stop();
}

static void a_client_that_goes_away(void **state) {
    (void)state;
    start();
    background b;
    background_start(&b, "gone", "fail=prove:0:1:hang", 60);
    WAIT_UNTIL(engine_unfinished(e) == 1);
    rpc_client_cancel(b.client);
    background_join(&b);
    assert_int_equal(b.reply.status, RPC_CANCELLED);
    WAIT_UNTIL(engine_unfinished(e) == 0);
    WAIT_UNTIL(fake_alive() == 0);

    /* Its deadline passes: the job is of no use any more. */
    background_start(&b, "late", "fail=prove:0:1:hang", 0.1);
    background_join(&b);
    assert_int_equal(b.reply.status, RPC_DEADLINE_EXCEEDED);
    WAIT_UNTIL(engine_unfinished(e) == 0);

    /* Somebody else waits for it: it goes on. */
    rpc_client *c = client();
    background_start(&b, "shared", "prove=100", 60);
    WAIT_UNTIL(engine_unfinished(e) == 1);
    background other;
    background_start(&other, "shared", "prove=100", 60);
    usleep(20000); /* it may have attached by now, or will soon: either way it gets a proof */
    rpc_client_cancel(b.client);
    background_join(&b);
    background_join(&other);
    assert_int_equal(other.reply.status, RPC_OK);
    rpc_reply_free(&other.reply);

    /* A submitted job does not need its client. */
    submit(c, "alone", "prove=20");
    background_start(&b, "alone", "prove=20", 60);
    rpc_client_cancel(b.client);
    background_join(&b);
    rpc_reply_free(&b.reply);
    char text[256];
    assert_int_equal(await_job(c, "alone", 0, text), PROOF_STATUS_COMPLETED);
    rpc_client_destroy(c);
    stop();
}

/* What Curio does: the call times out, and the same request comes again at once. It is a fresh run, also
 * while the first one is still ending. */
static void a_retry_right_after_leaving(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    for (unsigned i = 0; i < 8; i++) {
        background b;
        char id[32];
        const char *script = i % 2 ? "synthesis=100 partitions=3" : "prove=100";
        snprintf(id, sizeof id, "porep-1000-%u", i);
        background_start(&b, id, script, 60);
        WAIT_UNTIL(engine_unfinished(e) == 1);
        if (i % 3) usleep(20000);
        rpc_client_cancel(b.client);
        background_join(&b);
        prove_request again = prove(id, script);
        rpc_reply r = call(c, METHOD_PROVE, &again, 60);
        prove_response answer;
        decode(METHOD_PROVE, &answer, &r);
        check_proof(&answer.result, script, i % 2 ? 3 : 1);
        rpc_reply_free(&r);
    }
    rpc_client_destroy(c);
    stop();
}

static void cancel_ends_a_running_proof(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    background b;
    background_start(&b, "job", "fail=synthesis:0:1:hang", 60);
    WAIT_UNTIL(engine_unfinished(e) == 1);
    assert_true(cancel(c, "job"));
    background_join(&b);
    prove_response answer;
    decode(METHOD_PROVE, &answer, &b.reply);
    assert_int_equal(answer.result.status, PROOF_STATUS_CANCELLED);
    rpc_reply_free(&b.reply);
    rpc_client_destroy(c);
    stop();
}

static void a_full_queue_and_draining(void **state) {
    (void)state;
    start_with(2, NULL);
    rpc_client *c = client();
    submit(c, "1", "fail=check:0:1:hang");
    submit(c, "2", "prove=1");
    submit_proof_request m = porep("3", "prove=1");
    rpc_reply r = call(c, METHOD_SUBMIT_PROOF, &m, 60);
    check_status(&r, RPC_RESOURCE_EXHAUSTED, "the queue is full: 2 jobs are unfinished");
    assert_int_equal(r.retry_ms, 5000);
    rpc_reply_free(&r);
    assert_int_equal(stats.refused[REFUSED_QUEUE_FULL], 1);
    service_set_max_queue(s, 1); /* fewer than there are */
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_RESOURCE_EXHAUSTED, "1 are allowed");
    service_set_max_queue(s, 2);
    get_status_request nothing = {0};
    expect(c, METHOD_GET_STATUS, &nothing, RPC_OK, NULL); /* which asks, is answered */
    assert_true(cancel(c, "1"));
    WAIT_UNTIL(engine_unfinished(e) == 0);
    submit(c, "3", "prove=1");
    engine_drain(e, false);
    m = porep("4", "prove=1");
    expect(c, METHOD_SUBMIT_PROOF, &m, RPC_UNAVAILABLE, "shutting down");
    char text[256];
    assert_int_equal(await_job(c, "3", 0, text), PROOF_STATUS_COMPLETED);
    assert_int_equal(stats.refused[REFUSED_DRAINING], 1);
    rpc_client_destroy(c);
    stop();
}

/* Requests count against the engine's budget while they are held, and no longer. */
static void requests_need_memory(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    char *big = malloc((8u << 20) + 1);
    assert_non_null(big);
    memset(big, 'x', 8u << 20);
    big[8u << 20] = 0;
    submit(c, "holder", "fail=check:0:1:hang task=62000000");
    submit_proof_request m = porep("big", big);
    rpc_reply r = call(c, METHOD_SUBMIT_PROOF, &m, 60);
    check_status(&r, RPC_RESOURCE_EXHAUSTED, "does not fit");
    assert_int_equal(r.retry_ms, 5000);
    rpc_reply_free(&r);
    assert_int_equal(stats.refused[REFUSED_MEMORY], 1);
    assert_true(cancel(c, "holder"));
    WAIT_UNTIL(engine_unfinished(e) == 0);
    for (unsigned i = 0; i < 9; i++) /* more than fits at once; they are no scripts */
        expect(c, METHOD_SUBMIT_PROOF, &m, RPC_INVALID_ARGUMENT, NULL);
    engine_counters counters;
    engine_get_counters(&counters, e);
    assert_int_equal(counters.memory_reserved, 0);
    free(big);
    rpc_client_destroy(c);
    stop();
}

static void status_has_true_numbers(void **state) {
    (void)state;
    start();
    rpc_client *c = client();
    get_status_request nothing = {0};
    get_status_response st;
    rpc_reply r = call(c, METHOD_GET_STATUS, &nothing, 60);
    decode(METHOD_GET_STATUS, &st, &r);
    assert_int_equal(st.queues.count, 0);
    assert_int_equal(st.loaded_srs.count, 0);
    assert_int_equal(st.gpus.count, 1);
    const gpu_status *g = st.gpus.items;
    assert_int_equal(g->name.size > 5 && memcmp(g->name.data, "CPU (", 5) == 0, 1);
    assert_int_equal(g->vram_total_bytes, 64u << 20);
    check_text(g->current_job_id, "");
    assert_int_equal(st.pinned_memory_limit_bytes, 64u << 20);
    schema_free(&get_status_response_schema, &st);
    rpc_reply_free(&r);

    unsigned proved = fake_begun(STAGE_PROVE);
    submit(c, "running", "fail=prove:0:1:hang");
    WAIT_UNTIL(fake_begun(STAGE_PROVE) > proved); /* before, the others could overtake it */
    submit(c, "waiting", "prove=1");
    submit(c, "waiting too", "prove=1");
    r = call(c, METHOD_GET_STATUS, &nothing, 60);
    decode(METHOD_GET_STATUS, &st, &r);
    assert_int_equal(st.queues.count, 1);
    const queue_status *q = st.queues.items;
    check_text(q->proof_kind, "porep-c2");
    assert_int_equal(q->pending + q->in_progress, 3); /* what Curio counts */
    assert_true(q->in_progress >= 1);
    schema_free(&get_status_response_schema, &st);
    rpc_reply_free(&r);
    assert_true(cancel(c, "running"));
    char text[256];
    assert_int_equal(await_job(c, "waiting too", 0, text), PROOF_STATUS_COMPLETED);
    submit(c, "bad", "fail=prove:0:1:error fail=prove:0:2:error");
    assert_int_equal(await_job(c, "bad", 0, text), PROOF_STATUS_FAILED);
    r = call(c, METHOD_GET_STATUS, &nothing, 60);
    decode(METHOD_GET_STATUS, &st, &r);
    assert_int_equal(st.total_proofs_completed, 2);
    assert_int_equal(st.total_proofs_failed, 1);
    schema_free(&get_status_response_schema, &st);
    rpc_reply_free(&r);

    get_metrics_request none = {0};
    get_metrics_response metrics;
    r = call(c, METHOD_GET_METRICS, &none, 60);
    decode(METHOD_GET_METRICS, &metrics, &r);
    char *all = strndup((const char *)metrics.prometheus_text.data, metrics.prometheus_text.size);
    assert_non_null(all);
    assert_non_null(strstr(all, "\ncuzk_proofs_completed{proof_kind=\"porep_c2\"} 2\n"));
    assert_non_null(strstr(all, "\ncuzk_proofs_cancelled{proof_kind=\"porep_c2\"} 1\n"));
    free(all);
    rpc_reply_free(&r);
    rpc_client_destroy(c);
    stop();
}

static void keys_that_are_not_there(void **state) {
    (void)state;
    start_with(8, temp_dir());
    rpc_client *c = client();
    preload_srs_request p = {.circuit_id = wire_text("no-such-circuit")};
    expect(c, METHOD_PRELOAD_SRS, &p, RPC_INTERNAL, "no-such-circuit");
    p.circuit_id = wire_text("porep-2k");
    expect(c, METHOD_PRELOAD_SRS, &p, RPC_INTERNAL, temp_dir());
    char name[200];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    p.circuit_id = wire_text(name);
    expect(c, METHOD_PRELOAD_SRS, &p, RPC_INTERNAL, NULL);
    evict_srs_request v = {.circuit_id = wire_text("no-such-circuit")};
    expect(c, METHOD_EVICT_SRS, &v, RPC_NOT_FOUND, "no-such-circuit");
    v.circuit_id = wire_text("porep-2k");
    rpc_reply r = call(c, METHOD_EVICT_SRS, &v, 60);
    evict_srs_response answer;
    decode(METHOD_EVICT_SRS, &answer, &r);
    assert_false(answer.was_loaded);
    assert_int_equal(answer.freed_bytes, 0);
    rpc_reply_free(&r);
    rpc_client_destroy(c);
    stop();
}

/* A thread that does a little of everything, and leaves many calls in the middle. */
typedef struct worker {
    pthread_t thread;
    unsigned number, seed;
    atomic_bool *wrong;
} worker;

static void one_operation(worker *w, rpc_client *c, unsigned i) {
    char id[32], script[64];
    unsigned what = (unsigned)rand_r(&w->seed);
    snprintf(id, sizeof id, "job-%u", what % 7); /* shared among the workers */
    snprintf(script, sizeof script, "prove=%u partitions=%u", what % 5, 1 + what % 7 % 3);
    if (what % 7 == 6) snprintf(script, sizeof script, "prove=50 partitions=8");
    rpc_reply r = {0};
    submit_proof_request m = porep(id, script);
    prove_request p = prove(id, script);
    await_proof_request a = {.job_id = wire_text(id), .timeout_ms = 1 + what % 20};
    cancel_proof_request x = {.job_id = wire_text(id)};
    get_status_request nothing = {0};
    switch ((what >> 8) % 6) {
    case 0:
        r = call(c, METHOD_SUBMIT_PROOF, &m, 60);
        break;
    case 1:
        r = call(c, METHOD_PROVE, &p, 60);
        break;
    case 2:
        r = call(c, METHOD_PROVE, &p, 0.001 * (double)(1 + what % 30));
        break;
    case 3:
        r = call(c, METHOD_AWAIT_PROOF, &a, i % 2 ? 60 : 0.005);
        break;
    case 4:
        r = call(c, METHOD_CANCEL_PROOF, &x, 60);
        break;
    case 5:
        r = call(c, METHOD_GET_STATUS, &nothing, 60);
        break;
    }
    bool fine = r.status == RPC_OK || r.status == RPC_NOT_FOUND || r.status == RPC_ALREADY_EXISTS ||
                r.status == RPC_DEADLINE_EXCEEDED || r.status == RPC_CANCELLED ||
                r.status == RPC_RESOURCE_EXHAUSTED;
    if (!fine) {
        print_error("%s: %s\n", rpc_status_name(r.status), r.message);
        atomic_store(w->wrong, true);
    }
    rpc_reply_free(&r);
}

static void *work(void *arg) {
    worker *w = arg;
    rpc_client *c = client();
    for (unsigned i = 0; i < 60; i++) one_operation(w, c, i);
    rpc_client_destroy(c);
    return NULL;
}

static void many_clients_at_once(void **state) {
    (void)state;
    start();
    worker workers[8];
    atomic_bool wrong = false;
    for (unsigned i = 0; i < 8; i++) {
        workers[i] = (worker){.number = i, .seed = i + 1, .wrong = &wrong};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) pthread_join(workers[i].thread, NULL);
    assert_false(wrong);
    WAIT_UNTIL(rpc_server_counters(server).calls == 0);
    assert_int_equal(rpc_server_counters(server).bytes_held, 0);
    WAIT_UNTIL(engine_unfinished(e) == 0);
    stop();
}

/* A server that stops with calls in progress answers them and leaves nothing. */
static void stopping_with_calls(void **state) {
    (void)state;
    start();
    background b[4];
    const char *const ids[] = {"a", "b", "c", "d"};
    for (unsigned i = 0; i < 4; i++)
        background_start(&b[i], ids[i], i < 2 ? "fail=prove:0:1:hang" : "prove=500 partitions=4", 60);
    WAIT_UNTIL(engine_unfinished(e) == 4);
    stop();
    for (unsigned i = 0; i < 4; i++) {
        background_join(&b[i]);
        assert_int_not_equal(b[i].reply.status, RPC_OK);
        rpc_reply_free(&b[i].reply);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prove_gives_the_proof),       cmocka_unit_test(a_job_without_id_gets_one),
        cmocka_unit_test(await_honours_its_timeout),   cmocka_unit_test(wrong_requests),
        cmocka_unit_test(the_same_id_again),           cmocka_unit_test(failures_are_told),
        cmocka_unit_test(a_client_that_goes_away),     cmocka_unit_test(a_retry_right_after_leaving),
        cmocka_unit_test(cancel_ends_a_running_proof), cmocka_unit_test(a_full_queue_and_draining),
        cmocka_unit_test(requests_need_memory),        cmocka_unit_test(status_has_true_numbers),
        cmocka_unit_test(keys_that_are_not_there),     cmocka_unit_test(many_clients_at_once),
        cmocka_unit_test(stopping_with_calls),
    };
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
