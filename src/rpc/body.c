#include "rpc/body.h"

#include "base/mem.h"
#include "base/verify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SMALL_SIZE  ((size_t)64 << 10) /* up to here malloc; above, pages of its own */
#define HUGE_PAGE   ((size_t)2 << 20)
#define HUGE_WORTH  ((size_t)4 << 20) /* smaller bodies stay on small pages */
#define HUGE_PROVEN ((size_t)1 << 20) /* received before huge pages are asked for */

struct rpc_budget {
    _Atomic uint64_t held;
    _Atomic uint64_t references;
    uint64_t limit;
};

struct rpc_body {
    rpc_budget *budget;
    uint8_t *data;
    size_t size, received;
    bool small, huge;
};

rpc_budget *budget_create(uint64_t limit) {
    rpc_budget *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->limit = limit;
    b->references = 1;
    return b;
}

void budget_release(rpc_budget *b) {
    if (b && atomic_fetch_sub(&b->references, 1) == 1) free(b);
}

uint64_t budget_held(const rpc_budget *b) {
    return b->held;
}

static cuzk_code reserve(rpc_budget *b, size_t size, cuzk_error *err) {
    uint64_t held = b->held;
    do {
        if (size > b->limit || held > b->limit - size) {
            return error_set(
                err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET,
                "a request of %zu bytes does not fit now: %llu of %llu bytes are taken by others", size,
                (unsigned long long)held, (unsigned long long)b->limit);
        }
    } while (!atomic_compare_exchange_weak(&b->held, &held, held + size));
    return CUZK_OK;
}

cuzk_code body_create(rpc_body **out, rpc_budget *budget, size_t size, cuzk_error *err) {
    *out = NULL;
    rpc_body *body = calloc(1, sizeof *body);
    if (!body) return error_no_memory(err, sizeof *body, "a request");
    cuzk_code code = reserve(budget, size, err);
    if (code != CUZK_OK) {
        free(body);
        return code;
    }
    atomic_fetch_add(&budget->references, 1);
    *body = (rpc_body){.budget = budget, .size = size, .small = size <= SMALL_SIZE};
    if (body->small) {
        body->data = size ? malloc(size) : NULL;
        if (size && !body->data) code = error_no_memory(err, size, "a request");
    } else {
        void *data;
        code = mem_big_alloc(&data, size, "a request", err);
        body->data = data;
        if (code == CUZK_OK && size >= HUGE_PAGE) madvise(data, size, MADV_NOHUGEPAGE);
    }
    if (code != CUZK_OK) {
        rpc_body_free(body);
        return code;
    }
    *out = body;
    return CUZK_OK;
}

void rpc_body_free(rpc_body *body) {
    if (!body) return;
    if (body->small) {
        free(body->data);
    } else {
        mem_big_free(body->data, body->size);
    }
    atomic_fetch_sub(&body->budget->held, body->size);
    budget_release(body->budget);
    free(body);
}

wire_view rpc_body_view(const rpc_body *body) {
    return (wire_view){body->data, body->received};
}

size_t body_missing(const rpc_body *body) {
    return body->size - body->received;
}
size_t body_received(const rpc_body *body) {
    return body->received;
}

void body_append(rpc_body *body, const uint8_t *data, size_t size) {
    VERIFY_CHECK(size <= body_missing(body));
    if (size == 0) return;
    memcpy(body->data + body->received, data, size);
    body->received += size;
    if (!body->huge && body->size >= HUGE_WORTH && body->received >= HUGE_PROVEN) {
        body->huge = true;
        madvise(body->data + HUGE_PAGE, body->size - HUGE_PAGE, MADV_HUGEPAGE);
    }
}
