/*
 * libmicrohttpd with one polling thread. The listening socket is made here, so that a failed bind can be told
 * with its reason. The dashboard's script and style may be no other than those built in: their digests, taken
 * when the server starts, are in the page's Content-Security-Policy.
 */
#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "server/dashboard.h"
#include "server/metrics.h"
#include "server/status_json.h"

#define MOST_CONNECTIONS      128u
#define MOST_CONNECTIONS_EACH 64u /* from one address */
#define IDLE_SECONDS          15u
#define CONNECTION_BYTES      (16u << 10) /* request line and headers */
#define POLICY_BYTES          512

struct http_server {
    struct MHD_Daemon *daemon;
    http_source source;
    const server_stats *stats;
    char address[INET6_ADDRSTRLEN + 16];
    char policy[POLICY_BYTES];
    atomic_bool ready;
};

static cuzk_code state_of_engine(void *ctx, engine_snapshot *out, size_t max_jobs, cuzk_error *err) {
    return engine_snapshot_take(out, ctx, max_jobs, err);
}

http_source http_engine_source(engine *e) {
    return (http_source){.ctx = e, .snapshot = state_of_engine, .release = engine_snapshot_free};
}

/* --- answers ----------------------------------------------------------------------------------------------
 */

typedef struct header {
    const char *name, *value;
} header;

#define PLAIN "text/plain; charset=utf-8"

/* Takes `text` over when it is to be freed. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type, const void *text,
                              size_t size, bool to_free, const header *more, size_t n_more) {
    struct MHD_Response *r = MHD_create_response_from_buffer(
        size, (void *)(uintptr_t)text, to_free ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!r) {
        if (to_free) free((void *)(uintptr_t)text);
        return MHD_NO;
    }
    const header common[] = {{"Content-Type", type},
                             {"Cache-Control", "no-store"},
                             {"X-Content-Type-Options", "nosniff"},
                             {"Referrer-Policy", "no-referrer"}};
    enum MHD_Result result = MHD_YES;
    for (size_t i = 0; i < sizeof common / sizeof common[0] && result == MHD_YES; i++)
        result = MHD_add_response_header(r, common[i].name, common[i].value);
    for (size_t i = 0; i < n_more && result == MHD_YES; i++)
        result = MHD_add_response_header(r, more[i].name, more[i].value);
    if (result == MHD_YES) result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text) {
    return answer(c, status, PLAIN, text, strlen(text), false, NULL, 0);
}

static enum MHD_Result answer_error(struct MHD_Connection *c, const char *what, const cuzk_error *err) {
    static log_limit limit;
    LOG_LIMITED(&limit, 1, LOG_LEVEL_ERROR, "status page failed", LOG_TEXT("page", what),
                LOG_TEXT("error", err->message));
    return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the state cannot be read now\n");
}

/* The value of ?jobs=, or the default. */
static bool wanted_jobs(struct MHD_Connection *c, size_t *out) {
    *out = STATUS_DEFAULT_JOBS;
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "jobs");
    if (!text) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 6 || text[digits]) return false;
    unsigned long jobs = strtoul(text, NULL, 10);
    *out = jobs < STATUS_MOST_JOBS ? jobs : STATUS_MOST_JOBS;
    return true;
}

static enum MHD_Result get_status(http_server *h, struct MHD_Connection *c) {
    static const header any_origin = {"Access-Control-Allow-Origin", "*"};
    size_t jobs;
    if (!wanted_jobs(c, &jobs))
        return answer_text(c, MHD_HTTP_BAD_REQUEST, "jobs must be a number below 1000000\n");
    engine_snapshot s = {0};
    cuzk_error err = {0};
    char *text = NULL;
    size_t size = 0;
    if (h->source.snapshot(h->source.ctx, &s, STATUS_SNAPSHOT_JOBS, &err) != CUZK_OK)
        return answer_error(c, "status", &err);
    cuzk_code code = status_json(&text, &size, &s, h->stats, jobs, &err);
    h->source.release(&s);
    if (code != CUZK_OK) return answer_error(c, "status", &err);
    return answer(c, MHD_HTTP_OK, "application/json", text, size, true, &any_origin, 1);
}

static enum MHD_Result get_metrics(http_server *h, struct MHD_Connection *c) {
    engine_snapshot s = {0};
    cuzk_error err = {0};
    char *text = NULL;
    size_t size = 0;
    if (h->source.snapshot(h->source.ctx, &s, 0, &err) != CUZK_OK) return answer_error(c, "metrics", &err);
    cuzk_code code = metrics_text(&text, &size, &s, h->stats, &err);
    h->source.release(&s);
    if (code != CUZK_OK) return answer_error(c, "metrics", &err);
    return answer(c, MHD_HTTP_OK, METRICS_CONTENT_TYPE, text, size, true, NULL, 0);
}

static enum MHD_Result get_health(http_server *h, struct MHD_Connection *c) {
    (void)h;
    return answer_text(c, MHD_HTTP_OK, "ok\n");
}

static enum MHD_Result get_ready(http_server *h, struct MHD_Connection *c) {
    engine_snapshot s = {0};
    cuzk_error err = {0};
    if (h->source.snapshot(h->source.ctx, &s, 0, &err) != CUZK_OK) return answer_error(c, "readyz", &err);
    bool draining = s.counters.draining;
    h->source.release(&s);
    if (draining) return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "draining\n");
    return atomic_load(&h->ready) ? answer_text(c, MHD_HTTP_OK, "ready\n")
                                  : answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "starting\n");
}

static enum MHD_Result get_dashboard(http_server *h, struct MHD_Connection *c) {
    const header policy = {"Content-Security-Policy", h->policy};
    return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8", dashboard_html, dashboard_html_size, false,
                  &policy, 1);
}

static const struct page {
    const char *path;
    enum MHD_Result (*get)(http_server *h, struct MHD_Connection *c);
} pages[] = {{"/", get_dashboard},
             {"/status", get_status},
             {"/metrics", get_metrics},
             {"/healthz", get_health},
             {"/readyz", get_ready}};

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_size,
                                  void **state) {
    (void)version, (void)upload;
    static const header allow = {"Allow", "GET, HEAD"};
    static const char refused[] = "only GET and HEAD\n";
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer(c, MHD_HTTP_METHOD_NOT_ALLOWED, PLAIN, refused, sizeof refused - 1, false, &allow, 1);
    if (!*state || *upload_size) { /* an answer before the request's end would close the connection */
        *state = ctx;
        *upload_size = 0; /* what a GET brings along is dropped */
        return MHD_YES;
    }
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (strcmp(url, pages[i].path) == 0) return pages[i].get(ctx, c);
    return answer_text(c, MHD_HTTP_NOT_FOUND, "404 Not Found\n");
}

/* The library tells of every refused connection. */
static void on_log(void *ctx, const char *format, va_list args) {
    static log_limit limit;
    (void)ctx;
    char line[512];
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = 0;
    LOG_LIMITED(&limit, 1, LOG_LEVEL_WARN, "HTTP", LOG_TEXT("event", line));
}

/* --- start and stop ---------------------------------------------------------------------------------------
 */

#define DIGEST_TEXT 45 /* base64 of 32 bytes, and a NUL */

/* The digest of what stands between two marks of the page, as a policy names it. */
static bool digest_between(char out[DIGEST_TEXT], const char *open, const char *close) {
    const char *page = (const char *)dashboard_html;
    const char *begin = strstr(page, open);
    const char *end = begin ? strstr(begin, close) : NULL;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!end) return false;
    begin += strlen(open);
    if (!EVP_Digest(begin, (size_t)(end - begin), digest, &size, EVP_sha256(), NULL)) return false;
    return EVP_EncodeBlock((unsigned char *)out, digest, (int)size) == DIGEST_TEXT - 1;
}

static bool make_policy(char out[POLICY_BYTES]) {
    char script[DIGEST_TEXT], style[DIGEST_TEXT];
    if (!digest_between(script, "<script>", "</script>") || !digest_between(style, "<style>", "</style>"))
        return false;
    int size = snprintf(out, POLICY_BYTES,
                        "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
                        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                        "frame-ancestors 'none'",
                        script, style);
    return size > 0 && size < POLICY_BYTES;
}

typedef union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage storage;
} socket_address;

static cuzk_code parse_address(socket_address *out, socklen_t *size, const char *text, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    const char *colon = strrchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    unsigned long port = digits ? strtoul(colon + 1, NULL, 10) : 0;
    char host[INET6_ADDRSTRLEN + 2] = "";
    size_t length = colon ? (size_t)(colon - text) : 0;
    bool good = digits > 0 && digits <= 5 && colon[1 + digits] == 0 && port <= 65535 && length < sizeof host;
    if (good) memcpy(host, text, length);
    if (good && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = 0;
        good = inet_pton(AF_INET6, host + 1, &out->v6.sin6_addr) == 1;
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons((uint16_t)port);
        *size = sizeof out->v6;
    } else if (good) {
        good = inet_pton(AF_INET, host, &out->v4.sin_addr) == 1;
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons((uint16_t)port);
        *size = sizeof out->v4;
    }
    if (good) return CUZK_OK;
    return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                     "\"%s\" is no address to listen on: expected IP:PORT or [IPv6]:PORT", text);
}

static void name_socket(http_server *h, int fd) {
    socket_address a;
    socklen_t size = sizeof a;
    char host[INET6_ADDRSTRLEN] = "";
    if (getsockname(fd, &a.any, &size) != 0) return;
    if (a.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof host);
        snprintf(h->address, sizeof h->address, "[%s]:%u", host, (unsigned)ntohs(a.v6.sin6_port));
    } else {
        inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof host);
        snprintf(h->address, sizeof h->address, "%s:%u", host, (unsigned)ntohs(a.v4.sin_port));
    }
}

static cuzk_code open_socket(int *out, const char *listen_on, cuzk_error *err) {
    socket_address a;
    socklen_t size = 0;
    TRY(parse_address(&a, &size, listen_on, err));
    int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "no socket for %s", listen_on);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, &a.any, size) != 0 || listen(fd, MOST_CONNECTIONS) != 0) {
        int why = errno;
        close(fd);
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, why, "cannot listen on %s", listen_on);
    }
    *out = fd;
    return CUZK_OK;
}

cuzk_code http_server_start(http_server **out, const char *listen, http_source source,
                            const server_stats *stats, cuzk_error *err) {
    *out = NULL;
    int fd = -1;
    TRY(open_socket(&fd, listen, err));
    http_server *h = calloc(1, sizeof *h);
    if (!h) {
        close(fd);
        return error_no_memory(err, sizeof *h, "the HTTP server");
    }
    h->source = source;
    h->stats = stats;
    atomic_init(&h->ready, false);
    name_socket(h, fd);
    cuzk_code code = CUZK_OK;
    if (!make_policy(h->policy))
        code =
            error_set(err, CUZK_ERR_INTERNAL, NULL, CUZK_NO_OFFSET, "the dashboard has no script or style");
    if (code == CUZK_OK) {
        /* The logger comes first: options after it may already need it. */
        h->daemon = MHD_start_daemon(
            MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL,
            on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, (void *)NULL, MHD_OPTION_LISTEN_SOCKET, fd,
            MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
            MOST_CONNECTIONS_EACH, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
        if (!h->daemon)
            code = error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "the HTTP server on %s does not start",
                               listen);
    }
    if (code != CUZK_OK) {
        close(fd);
        free(h);
        return code;
    }
    *out = h;
    return CUZK_OK;
}

void http_server_stop(http_server *h) {
    if (!h) return;
    MHD_stop_daemon(h->daemon);
    free(h);
}

const char *http_server_address(const http_server *h) {
    return h->address;
}

void http_server_set_ready(http_server *h, bool ready) {
    atomic_store(&h->ready, ready);
}
