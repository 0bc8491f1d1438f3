/* rpc/wire, rpc/schema, rpc/messages and the texts of rpc/status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rng.h"
#include "rpc/address.h"
#include "rpc/messages.h"
#include "rpc/status.h"
#include "rpc/timer.h"

#include <math.h>

#define BYTES(...)                                                                                           \
    (wire_view) {                                                                                            \
        (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})                               \
    }

static void expect_text(wire_view v, const char *text) {
    assert_int_equal(v.size, strlen(text));
    if (v.size) assert_memory_equal(v.data, text, v.size);
}

/* Decodes, and says the same when encoded and decoded again. */
static void decode(const schema *s, void *out, wire_view in) {
    cuzk_error err;
    assert_int_equal(schema_decode(s, out, in, &err), CUZK_OK);
}

static void refused(const schema *s, wire_view in, const char *message, uint64_t offset) {
    union {
        submit_proof_request submit;
        prove_request prove;
        get_status_response status;
    } out;
    assert_true(s->size <= sizeof out);
    cuzk_error err = {.message = ""};
    assert_int_equal(schema_decode(s, &out, in, &err), CUZK_ERR_INPUT);
    schema_free(s, &out);
    if (!strstr(err.message, message)) fail_msg("\"%s\" lacks \"%s\"", err.message, message);
    assert_int_equal(err.offset, offset);
}

static void hand_made_bytes(void **state) {
    (void)state;
    submit_proof_request r;
    /* request_id "ab c[", kind 1, sector_size 2048, vanilla_proof 3 bytes, vanilla_proofs "" and "x",
     * sector_number 300, partition_index 7, randomness of one byte. */
    decode(&submit_proof_request_schema, &r,
           BYTES(0x0a, 5, 'a', 'b', ' ', 'c', '[', 0x10, 1, 0x18, 0x80, 0x10, 0x52, 3, 0, 0xff, 0x80, 0x5a, 0,
                 0x5a, 1, 'x', 0xa0, 1, 0xac, 2, 0xb2, 1, 1, 0x55, 0xb8, 1, 7));
    expect_text(r.request_id, "ab c[");
    assert_int_equal(r.proof_kind, PROOF_KIND_POREP_SEAL_COMMIT);
    assert_int_equal(r.sector_size, 2048);
    assert_memory_equal(r.vanilla_proof.data, "\x00\xff\x80", 3);
    assert_int_equal(r.vanilla_proof.size, 3);
    assert_int_equal(r.vanilla_proofs.count, 2);
    const wire_view *proofs = r.vanilla_proofs.items;
    assert_int_equal(proofs[0].size, 0);
    expect_text(proofs[1], "x");
    assert_int_equal(r.sector_number, 300);
    expect_text(r.randomness, "U");
    assert_int_equal(r.partition_index, 7);
    schema_free(&submit_proof_request_schema, &r);
    assert_null(r.vanilla_proofs.items);

    decode(&submit_proof_request_schema, &r, (wire_view){NULL, 0});
    assert_int_equal(r.request_id.size, 0);
}

static void proto3_rules(void **state) {
    (void)state;
    submit_proof_request r;
    /* Unknown fields of each wire type are skipped, as is a known one of another type (sector_size as
     * fixed64). */
    decode(&submit_proof_request_schema, &r,
           BYTES(0x78, 5, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 2, 9, 9, 0x7d, 1, 2, 3, 4, 0x19, 1, 0, 0, 0, 0,
                 0, 0, 0, 0x28, 4));
    assert_int_equal(r.sector_size, 0);
    assert_int_equal(r.priority, PROOF_PRIORITY_CRITICAL);
    /* The last scalar and the last string win. */
    decode(&submit_proof_request_schema, &r, BYTES(0x18, 1, 0x0a, 1, 'a', 0x18, 2, 0x0a, 1, 'b'));
    assert_int_equal(r.sector_size, 2);
    expect_text(r.request_id, "b");
    /* Varints are cut to the field's width, enums keep unknown and negative numbers. */
    decode(&submit_proof_request_schema, &r,
           BYTES(0xb8, 1, 0x85, 0x80, 0x80, 0x80, 0x10, 0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xff, 1));
    assert_int_equal(r.partition_index, 5);
    assert_int_equal(r.proof_kind, -1);
    decode(&submit_proof_request_schema, &r, BYTES(0x10, 99));
    assert_int_equal(r.proof_kind, 99);
    /* Long forms of small numbers are numbers too. */
    decode(&submit_proof_request_schema, &r, BYTES(0x18, 0x85, 0x80, 0x00));
    assert_int_equal(r.sector_size, 5);
    /* A message that comes twice is merged: lists grow, scalars are replaced, the rest stays. */
    prove_request p;
    decode(&prove_request_schema, &p,
           BYTES(0x0a, 7, 0x18, 1, 0x28, 2, 0x5a, 1, 'x', 0x0a, 5, 0x18, 9, 0x5a, 1, 'y'));
    assert_true(p.has_submit);
    assert_int_equal(p.submit.sector_size, 9);
    assert_int_equal(p.submit.priority, 2);
    assert_int_equal(p.submit.vanilla_proofs.count, 2);
    expect_text(((wire_view *)p.submit.vanilla_proofs.items)[1], "y");
    schema_free(&prove_request_schema, &p);
    /* Present but empty is present. */
    decode(&prove_request_schema, &p, BYTES(0x0a, 0));
    assert_true(p.has_submit);
    decode(&prove_request_schema, &p, (wire_view){NULL, 0});
    assert_false(p.has_submit);
}

static void malformed(void **state) {
    (void)state;
    const schema *s = &submit_proof_request_schema;
    refused(s, BYTES(0x18), "cut off", 1);
    refused(s, BYTES(0x18, 0x80), "cut off", 2);
    refused(s, BYTES(0x80), "cut off", 1);
    refused(s, BYTES(0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1), "ten bytes", 11);
    refused(s, BYTES(0x00, 1), "field number", 1);
    refused(s, BYTES(0x80, 0x80, 0x80, 0x80, 0x10, 1), "field number", 5);
    refused(s, BYTES(0x0a, 2, 'a'), "field 1 has 2 bytes, 1 are left", 2);
    refused(s, BYTES(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
            "has 18446744073709551615", 11);
    refused(s, BYTES(0x7b, 0x7c), "group", 1);
    refused(s, BYTES(0x7c), "group", 1);
    refused(s, BYTES(0x7e), "unknown wire type", 1);
    refused(s, BYTES(0x79, 1, 2, 3), "cut off", 1);
    refused(s, BYTES(0x7d, 1, 2, 3), "cut off", 1);
    refused(s, BYTES(0x18, 1, 0x0a, 2, 0xc3, 0x28), "request_id is not valid UTF-8", 4);
    refused(&prove_request_schema, BYTES(0x0a, 4, 0x18, 1, 0x0a, 9), "ProveRequest: malformed protobuf", 6);
    /* A length of the inner message that is longer than the outer one allows. */
    refused(&prove_request_schema, BYTES(0x0a, 3, 0x0a, 2, 'a', 'b'), "field 1 has 2 bytes, 1 are left", 4);

    /* More list entries than are taken. */
    size_t count = SCHEMA_LIST_MAX + 1;
    uint8_t *many = malloc(2 * count);
    for (size_t i = 0; i < count; i++) {
        many[2 * i] = 0x5a;
        many[2 * i + 1] = 0;
    }
    submit_proof_request r;
    decode(s, &r, (wire_view){many, 2 * count - 2});
    assert_int_equal(r.vanilla_proofs.count, SCHEMA_LIST_MAX);
    schema_free(s, &r);
    refused(s, (wire_view){many, 2 * count}, "vanilla_proofs has more than 65536", CUZK_NO_OFFSET);
    free(many);
}

/* Every cut and every changed byte of a message decodes or is refused, and leaks nothing (as ASan sees). */
static void mutations(void **state) {
    (void)state;
    uint64_t g = 7;
    wire_view proofs[3] = {wire_text("abc"), wire_text(""), wire_text("defgh")};
    prove_request p = {.has_submit = true,
                       .submit = {.request_id = wire_text("porep-1000-1"),
                                  .proof_kind = 3,
                                  .sector_size = 34359738368,
                                  .vanilla_proofs = {proofs, 3},
                                  .miner_id = UINT64_MAX,
                                  .partition_index = UINT32_MAX}};
    wire_buffer b = {0};
    schema_encode(&prove_request_schema, &p, &b);
    assert_false(b.failed);
    for (size_t cut = 0; cut < b.size; cut++) {
        prove_request out;
        uint8_t *copy = malloc(cut + 1);
        memcpy(copy, b.data, cut);
        (void)schema_decode(&prove_request_schema, &out, (wire_view){copy, cut}, NULL);
        schema_free(&prove_request_schema, &out);
        free(copy);
    }
    for (int i = 0; i < 20000; i++) {
        uint8_t *copy = malloc(b.size);
        memcpy(copy, b.data, b.size);
        for (int k = 0; k < 3; k++) copy[rng_next(&g) % b.size] = (uint8_t)rng_next(&g);
        prove_request out;
        (void)schema_decode(&prove_request_schema, &out, (wire_view){copy, b.size}, NULL);
        schema_free(&prove_request_schema, &out);
        free(copy);
    }
    wire_buffer_free(&b);
}

static void round_trips(void **state) {
    (void)state;
    gpu_status gpus[2] = {{.ordinal = 1,
                           .name = wire_text("CPU"),
                           .vram_total_bytes = 1u << 30,
                           .current_job_id = wire_text("wdpost-1-0-[1 2]")},
                          {.ordinal = 0}};
    srs_status srs = {.circuit_id = wire_text("porep-2k"), .tier = SRS_TIER_COLD, .ref_count = 3};
    queue_status queues[1] = {{.proof_kind = wire_text("porep"), .pending = 300, .in_progress = 1}};
    get_status_response r = {.gpus = {gpus, 2},
                             .loaded_srs = {&srs, 1},
                             .queues = {queues, 1},
                             .uptime_seconds = 1u << 31,
                             .pinned_memory_limit_bytes = UINT64_MAX};
    wire_buffer b = {0};
    schema_encode(&get_status_response_schema, &r, &b);
    get_status_response out;
    decode(&get_status_response_schema, &out, (wire_view){b.data, b.size});
    assert_int_equal(out.gpus.count, 2);
    const gpu_status *g = out.gpus.items;
    expect_text(g[0].name, "CPU");
    expect_text(g[0].current_job_id, "wdpost-1-0-[1 2]");
    assert_int_equal(g[0].vram_total_bytes, 1u << 30);
    assert_int_equal(g[1].name.size, 0);
    assert_int_equal(((srs_status *)out.loaded_srs.items)->tier, SRS_TIER_COLD);
    assert_int_equal(((queue_status *)out.queues.items)->pending, 300);
    assert_int_equal(out.pinned_memory_limit_bytes, UINT64_MAX);
    schema_free(&get_status_response_schema, &out);
    wire_buffer_free(&b);

    /* The bytes are those of protoc: fields in order, defaults left out, a negative enum in ten bytes. */
    await_proof_response a = {
        .job_id = wire_text("j"), .status = -2, .proof = wire_text("p"), .total_ms = 128};
    schema_encode(&await_proof_response_schema, &a, &b);
    wire_view expected = BYTES(0x0a, 1, 'j', 0x10, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
                               0x1a, 1, 'p', 0x70, 0x80, 1);
    assert_int_equal(b.size, expected.size);
    assert_memory_equal(b.data, expected.data, b.size);
    wire_buffer_free(&b);

    get_status_request empty = {0};
    schema_encode(&get_status_request_schema, &empty, &b);
    assert_int_equal(b.size, 0);
    wire_buffer_free(&b);
}

/* The table of messages and the .proto file say the same: compare through the descriptor. */
static wire_view field_of(wire_view in, uint32_t number, size_t index) {
    wire_reader r = wire_read(in);
    wire_field f;
    bool more;
    while (wire_next(&r, &f, &more, NULL) == CUZK_OK && more) {
        if (f.number == number && f.type == WIRE_LENGTH && index-- == 0) return f.bytes;
    }
    return (wire_view){NULL, 0};
}
static uint64_t number_of(wire_view in, uint32_t number) {
    wire_reader r = wire_read(in);
    wire_field f;
    bool more;
    while (wire_next(&r, &f, &more, NULL) == CUZK_OK && more) {
        if (f.number == number && f.type == WIRE_VARINT) return f.value;
    }
    return 0;
}

static void compare_with_descriptor(const schema *s) {
    wire_view file = *proving_service.descriptor, message;
    for (size_t i = 0;; i++) {
        message = field_of(file, 4, i);
        if (!message.data) fail_msg("%s is not in the file", s->name);
        if (wire_equal(field_of(message, 1, 0), wire_text(s->name))) break;
    }
    for (size_t i = 0; i < s->field_count; i++) {
        const schema_field *f = &s->fields[i];
        wire_view field = field_of(message, 2, i);
        if (!wire_equal(field_of(field, 1, 0), wire_text(f->name))) fail_msg("%s.%s", s->name, f->name);
        assert_int_equal(number_of(field, 3), f->number);
        static const uint64_t types[] = {
            [SCHEMA_STRING] = 9,   [SCHEMA_BYTES] = 12,      [SCHEMA_UINT32] = 13,
            [SCHEMA_UINT64] = 4,   [SCHEMA_ENUM] = 14,       [SCHEMA_BOOL] = 8,
            [SCHEMA_MESSAGE] = 11, [SCHEMA_BYTES_LIST] = 12, [SCHEMA_MESSAGE_LIST] = 11};
        assert_int_equal(number_of(field, 5), types[f->kind]);
        bool list = f->kind == SCHEMA_BYTES_LIST || f->kind == SCHEMA_MESSAGE_LIST;
        assert_int_equal(number_of(field, 4), list ? 3 : 1);
        if (f->message) compare_with_descriptor(f->message);
    }
    assert_null(field_of(message, 2, s->field_count).data);
}

static void tables_match_the_file(void **state) {
    (void)state;
    wire_view service = field_of(*proving_service.descriptor, 6, 0);
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        compare_with_descriptor(proving_methods[i].request);
        compare_with_descriptor(proving_methods[i].response);
        expect_text(field_of(field_of(service, 2, i), 1, 0), proving_methods[i].name);
        assert_string_equal(proving_methods[i].name, proving_service.methods[i]);
    }
    assert_null(field_of(service, 2, METHOD_COUNT).data);
}

static void utf8(void **state) {
    (void)state;
    const char *good[] = {"",
                          "plain",
                          "\xc2\x80",
                          "\xdf\xbf",
                          "\xe0\xa0\x80",
                          "\xed\x9f\xbf",
                          "\xee\x80\x80",
                          "\xf0\x90\x80\x80",
                          "\xf4\x8f\xbf\xbf"};
    const char *bad[] = {"\x80",
                         "\xc0\x80",
                         "\xc1\xbf",
                         "\xc2",
                         "\xe0\x9f\xbf",
                         "\xed\xa0\x80",
                         "\xf0\x8f\xbf\xbf",
                         "\xf4\x90\x80\x80",
                         "\xf5\x80\x80\x80",
                         "a\xe2\x82",
                         "\xe2\x82\x61",
                         "\xff"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(wire_is_utf8(wire_text(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(wire_is_utf8(wire_text(bad[i])));
}

static void expect_message(const char *text, size_t limit, const char *encoded, const char *back) {
    char *value = rpc_message_encode(text, limit);
    assert_string_equal(value, encoded);
    char decoded[100];
    rpc_message_decode(decoded, sizeof decoded, value, strlen(value));
    assert_string_equal(decoded, back);
    free(value);
}

static void status_texts(void **state) {
    (void)state;
    expect_message("plain text", 100, "plain text", "plain text");
    expect_message("100% \n\xc3\xa4", 100, "100%25 %0A%C3%A4", "100% \n\xc3\xa4");
    expect_message("a\xff"
                   "b",
                   100, "a%EF%BF%BDb",
                   "a\xef\xbf\xbd"
                   "b");
    expect_message("ab\xc3\xa4", 3, "ab", "ab"); /* cut between characters */
    expect_message("", 100, "", "");
    expect_message(" a b ", 100, "%20a b%20", " a b ");
    expect_message("a bcd", 2, "a%20", "a ");
    expect_message(" ", 100, "%20", " ");
    expect_message("a \xc3\xa4", 3, "a%20", "a ");
    char out[8];
    rpc_message_decode(out, sizeof out, "%zz%4", 5);
    assert_string_equal(out, "%zz%4");
    rpc_message_decode(out, sizeof out, "0123456789", 10);
    assert_string_equal(out, "0123456");
    assert_string_equal(rpc_status_name(RPC_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_string_equal(rpc_status_name(RPC_RESOURCE_EXHAUSTED), "RESOURCE_EXHAUSTED");
    assert_string_equal(rpc_status_name((rpc_status)17), "UNKNOWN");

    double s;
    assert_true(rpc_timeout_parse(&s, "1800S", 5));
    assert_true(s == 1800);
    assert_true(rpc_timeout_parse(&s, "99999999H", 9));
    assert_true(s == 99999999.0 * 3600);
    assert_true(rpc_timeout_parse(&s, "250m", 4));
    assert_true(fabs(s - 0.25) < 1e-12);
    const char *bad[] = {"", "S", "5", "5s", "-5S", "123456789S", "5 S", "0x5S", "S5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(rpc_timeout_parse(&s, bad[i], strlen(bad[i])));
    }
    char text[16];
    const double times[] = {0, 1e-9, 0.004, 5, 1800, 1e7, 1e12, -3};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        rpc_timeout_format(text, times[i]);
        assert_true(rpc_timeout_parse(&s, text, strlen(text)));
        double wanted = times[i] < 0 ? 0 : times[i];
        if (wanted > 99999999.0 * 3600) wanted = 99999999.0 * 3600;
        assert_true(s >= wanted * (1 - 1e-9) && s <= wanted * 1.001 + 1e-8);
    }
    rpc_timeout_format(text, INFINITY);
    assert_string_equal(text, "99999999H");
}

static void addresses(void **state) {
    (void)state;
    rpc_address a;
    cuzk_error err;
    assert_int_equal(address_parse(&a, "unix:///run/a.sock", &err), CUZK_OK);
    assert_true(a.is_unix);
    assert_string_equal(a.path, "/run/a.sock");
    assert_int_equal(address_parse(&a, "unix:b", &err), CUZK_OK);
    assert_string_equal(a.path, "b");
    const char *tcp[][3] = {{"127.0.0.1:9820", "127.0.0.1", "9820"},
                            {"http://127.0.0.1:0/", "127.0.0.1", "0"},
                            {"[::1]:65535", "::1", "65535"},
                            {"http://localhost:80", "localhost", "80"}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(address_parse(&a, tcp[i][0], &err), CUZK_OK);
        assert_false(a.is_unix);
        assert_string_equal(a.host, tcp[i][1]);
        assert_string_equal(a.port, tcp[i][2]);
    }
    char long_path[200] = "unix:";
    memset(long_path + 5, 'x', 120);
    const char *bad[] = {"",           "localhost",    ":80",     "1.2.3.4:", "1.2.3.4:65536",
                         "1.2.3.4:-1", "::1:80",       "[::1:80", "unix:",    "https://a:1",
                         "ftp://a:1",  "http://a:1/x", "unix://", long_path,  "a b:c"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (address_parse(&a, bad[i], &err) != CUZK_ERR_USAGE) fail_msg("\"%s\" was taken", bad[i]);
    }
}

typedef struct counted_timer {
    rpc_timer timer;
    double *last;
    int fired;
} counted_timer;

static void count_timer(rpc_timer *t) {
    counted_timer *c = (counted_timer *)t;
    assert_true(t->at >= *c->last);
    *c->last = t->at;
    c->fired++;
}

static void timers_fire_in_order(void **state) {
    (void)state;
    uint64_t g = 3;
    rpc_timers timers = {0};
    static counted_timer all[500];
    double last = 0;
    assert_true(isinf(timers_next(&timers)));
    for (size_t i = 0; i < 500; i++) {
        all[i] = (counted_timer){.timer.fire = count_timer, .last = &last};
        assert_true(timer_set(&timers, &all[i].timer, 1 + (double)(rng_next(&g) % 1000)));
    }
    for (size_t i = 0; i < 500; i += 3) {
        assert_true(timer_set(&timers, &all[i].timer, 1 + (double)(rng_next(&g) % 1000)));
    }
    for (size_t i = 0; i < 500; i += 5) timer_clear(&timers, &all[i].timer);
    timers_run(&timers, 500);
    assert_true(timers_next(&timers) > 500);
    timers_run(&timers, 1001);
    for (size_t i = 0; i < 500; i++) assert_int_equal(all[i].fired, i % 5 ? 1 : 0);
    assert_true(isinf(timers_next(&timers)));
    timers_free(&timers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_made_bytes),
        cmocka_unit_test(proto3_rules),
        cmocka_unit_test(malformed),
        cmocka_unit_test(mutations),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(tables_match_the_file),
        cmocka_unit_test(utf8),
        cmocka_unit_test(status_texts),
        cmocka_unit_test(addresses),
        cmocka_unit_test(timers_fire_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
