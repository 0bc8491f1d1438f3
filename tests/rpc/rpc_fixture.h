/*
 * A live server for tests, whose handlers do what the method's name is used for here:
 *   GetStatus    answered at once, on the server's thread, with 3 bytes
 *   Prove        answered by a worker thread with the request's size and FNV-1a sum (16 bytes)
 *   AwaitProof   kept until fixture_release_all or cancelled, which the worker finishes
 *   SubmitProof  answered with INVALID_ARGUMENT and a text of odd characters
 *   GetMetrics   answered with 3 MiB
 *   CancelProof  its body is taken and kept beyond the call, until fixture_free_bodies
 *   PreloadSRS   refused by admit, with a hint of 1500 ms
 *   EvictSRS     refused by sized when longer than 100 bytes; else answered as GetStatus
 * Include after cmocka.h.
 */
#ifndef CUZK_TEST_RPC_FIXTURE_H
#define CUZK_TEST_RPC_FIXTURE_H

#include "rpc/client.h"
#include "rpc/messages.h"
#include "rpc/server.h"

#include <pthread.h>
#include <stdatomic.h>

#define BAD_TEXT "100% wrong: \xff \xc3\xa4\n"

typedef struct fixture {
    rpc_server *server;
    const char *address;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    rpc_call *jobs[8192]; /* for the worker */
    size_t job_count;
    rpc_call *waiting[8192]; /* of AwaitProof */
    size_t waiting_count;
    rpc_body *bodies[64];
    size_t body_count;
    bool stopping;
    /* What the handlers saw. */
    _Atomic uint64_t admitted, abandoned, handled, cancelled, released, deadline_passed, last_size,
        last_admit_size;
} fixture;

/* address: NULL for TCP on a port of the kernel's choice. options may be NULL. */
void fixture_start(fixture *f, const char *address, const rpc_options *options);
/* Destroys the server and checks that every admitted call was abandoned or released. */
void fixture_stop(fixture *f);
void fixture_release_all(fixture *f); /* answer what waits in AwaitProof with "done" */
void fixture_free_bodies(fixture *f);
uint64_t fixture_sum(wire_view bytes);

/* Wait (at most a minute) until the condition holds, or fail the test. */
#define WAIT_UNTIL(condition)                                                                                \
    do {                                                                                                     \
        int wait_left = 60000;                                                                               \
        while (!(condition) && wait_left-- > 0) fixture_sleep_ms(1);                                         \
        assert_true(condition);                                                                              \
    } while (0)
void fixture_sleep_ms(unsigned ms);

rpc_client *fixture_client(const fixture *f);
/* Call and expect a status; the reply is freed. */
void expect_call(rpc_client *c, proving_method method, wire_view request, double timeout, rpc_status status,
                 const char *message_part);
/* Prove with these bytes and check the answer. */
void expect_prove(rpc_client *c, wire_view request);

#endif
