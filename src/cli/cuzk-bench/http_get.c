/* HTTP/1.0: the answer ends with the connection, and comes in no pieces. */
#include "http_get.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/address.h"

typedef struct exchange {
    int fd;
    const char *address;
    double deadline;
    char *data;
    size_t size, capacity;
} exchange;

static cuzk_code await(const exchange *x, short events, cuzk_error *err) {
    struct pollfd fd = {x->fd, events, 0};
    for (;;) {
        double left = (x->deadline - clock_seconds()) * 1000;
        if (left <= 0)
            return error_set(err, CUZK_ERR_RESOURCES, NULL, CUZK_NO_OFFSET, "%s: no whole answer in time",
                             x->address);
        if (poll(&fd, 1, (int)left + 1) > 0) return CUZK_OK;
    }
}

static cuzk_code failure(const exchange *x, const char *what, int number, cuzk_error *err) {
    return error_errno(err, CUZK_ERR_RESOURCES, NULL, number, "%s: %s", x->address, what);
}

static cuzk_code connect_to(exchange *x, cuzk_error *err) {
    rpc_address address;
    struct sockaddr_storage where;
    socklen_t size, number_size;
    int number = 0;
    TRY(address_parse(&address, x->address, err));
    TRY(address_resolve(&address, false, &where, &size, err));
    x->fd = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (x->fd < 0) return failure(x, "cannot make a socket", errno, err);
    if (connect(x->fd, (struct sockaddr *)&where, size) == 0) return CUZK_OK;
    if (errno != EINPROGRESS) return failure(x, "cannot connect", errno, err);
    TRY(await(x, POLLOUT, err));
    number_size = sizeof number;
    getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &number, &number_size);
    return number ? failure(x, "cannot connect", number, err) : CUZK_OK;
}

static cuzk_code send_all(exchange *x, const char *text, cuzk_error *err) {
    for (size_t left = strlen(text); left > 0;) {
        ssize_t n = send(x->fd, text, left, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) return failure(x, "cannot send", errno, err);
        if (n < 0) {
            TRY(await(x, POLLOUT, err));
            continue;
        }
        text += n;
        left -= (size_t)n;
    }
    return CUZK_OK;
}

static cuzk_code receive_all(exchange *x, cuzk_error *err) {
    for (;;) {
        if (x->capacity - x->size < 2) {
            size_t wanted = x->capacity ? 2 * x->capacity : (size_t)64 << 10;
            char *grown = wanted <= HTTP_GET_LIMIT ? realloc(x->data, wanted) : NULL;
            if (!grown) return error_no_memory(err, wanted, "an answer");
            x->data = grown;
            x->capacity = wanted;
        }
        ssize_t n = recv(x->fd, x->data + x->size, x->capacity - x->size - 1, 0);
        if (n == 0) break;
        if (n < 0 && errno != EAGAIN && errno != EINTR) return failure(x, "cannot receive", errno, err);
        if (n < 0)
            TRY(await(x, POLLIN, err));
        else
            x->size += (size_t)n;
    }
    x->data[x->size] = 0;
    return CUZK_OK;
}

/* Move the body to the front. */
static cuzk_code take_body(exchange *x, const char *path, cuzk_error *err) {
    char *body = strstr(x->data, "\r\n\r\n");
    unsigned status = 0;
    if (!body || sscanf(x->data, "HTTP/1.%*1u %u", &status) != 1)
        return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s: the answer is not HTTP", x->address);
    if (status != 200)
        return error_set(err, CUZK_ERR_INPUT, NULL, CUZK_NO_OFFSET, "%s%s: HTTP status %u, expected 200",
                         x->address, path, status);
    size_t start = (size_t)(body + 4 - x->data);
    memmove(x->data, body + 4, x->size - start + 1);
    return CUZK_OK;
}

cuzk_code http_get(char **out, const char *address, const char *path, double seconds, cuzk_error *err) {
    exchange x = {.fd = -1, .address = address, .deadline = clock_seconds() + seconds};
    char request[512];
    *out = NULL;
    snprintf(request, sizeof request,
             "GET %.200s HTTP/1.0\r\nHost: localhost\r\nUser-Agent: cuzk-bench\r\n\r\n", path);
    cuzk_code code = connect_to(&x, err);
    if (code == CUZK_OK) code = send_all(&x, request, err);
    if (code == CUZK_OK) code = receive_all(&x, err);
    if (code == CUZK_OK) code = take_body(&x, path, err);
    if (x.fd >= 0) close(x.fd);
    if (code == CUZK_OK)
        *out = x.data;
    else
        free(x.data);
    return code;
}
