/*
 * The readers of what clients send above HTTP/2: messages, the requests of health and reflection, and the
 * texts in headers. A message that decodes says the same after it was encoded and decoded again.
 */
#include "fuzz.h"

#include "rpc/address.h"
#include "rpc/builtin.h"
#include "rpc/messages.h"
#include "rpc/status.h"

#include <string.h>

typedef union any_message {
    submit_proof_request submit;
    prove_request prove;
    get_status_response status;
    await_proof_response await;
    max_align_t align;
} any_message;

static void round_trip(const schema *s, wire_view in) {
    any_message first, second;
    cuzk_error err = {.message = ""};
    FUZZ_CHECK(s->size <= sizeof first);
    cuzk_code code = schema_decode(s, &first, in, &err);
    if (code != CUZK_OK) {
        FUZZ_CHECK(code == CUZK_ERR_INPUT && strncmp(err.message, s->name, strlen(s->name)) == 0);
        FUZZ_CHECK(err.offset == CUZK_NO_OFFSET || err.offset <= in.size);
        schema_free(s, &first);
        return;
    }
    wire_buffer a = {0}, b = {0};
    schema_encode(s, &first, &a);
    FUZZ_CHECK(!a.failed && schema_decode(s, &second, (wire_view){a.data, a.size}, &err) == CUZK_OK);
    schema_encode(s, &second, &b);
    FUZZ_CHECK(!b.failed && wire_equal((wire_view){a.data, a.size}, (wire_view){b.data, b.size}));
    schema_free(s, &first);
    schema_free(s, &second);
    wire_buffer_free(&a);
    wire_buffer_free(&b);
}

/* Every answer of ours is well formed itself. */
static void builtins(wire_view in) {
    for (int reflection = 0; reflection < 2; reflection++) {
        wire_buffer out = {0};
        rpc_refusal refusal = {.retry_ms = -1};
        if (reflection) {
            builtin_reflection(&proving_service, in, &out, &refusal);
        } else {
            builtin_health(&proving_service, true, in, &out, &refusal);
        }
        wire_reader r = wire_read((wire_view){out.data, out.size});
        wire_field field;
        bool more = refusal.status == RPC_OK;
        while (more) FUZZ_CHECK(wire_next(&r, &field, &more, NULL) == CUZK_OK);
        wire_buffer_free(&out);
    }
}

static void texts(const char *text, size_t size) {
    char *value = rpc_message_encode(text, 100);
    FUZZ_CHECK(value);
    char back[400];
    rpc_message_decode(back, sizeof back, value, strlen(value));
    FUZZ_CHECK(wire_is_utf8(wire_text(back)));
    for (const char *p = value; *p; p++) FUZZ_CHECK(*p >= 0x20 && *p <= 0x7e);
    FUZZ_CHECK(!*value || (*value != ' ' && value[strlen(value) - 1] != ' '));
    if (size <= 100 && wire_is_utf8(wire_text(text))) FUZZ_CHECK(strcmp(back, text) == 0);
    free(value);
    rpc_message_decode(back, sizeof back, text, size);
    FUZZ_CHECK(strlen(back) <= size);
    double seconds = -1;
    if (rpc_timeout_parse(&seconds, text, size)) FUZZ_CHECK(seconds >= 0);
    rpc_address address;
    cuzk_error err;
    if (address_parse(&address, text, &err) == CUZK_OK) {
        FUZZ_CHECK(address.is_unix ? *address.path : *address.host && *address.port);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    size_t method = data[0] % METHOD_COUNT;
    wire_view in = {data + 1, size - 1};
    round_trip(data[0] & 0x80 ? proving_methods[method].response : proving_methods[method].request, in);
    builtins(in);
    char *text = malloc(size);
    FUZZ_CHECK(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    texts(text, strlen(text));
    free(text);
    return 0;
}
