#include "rpc/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_code bad_address(const char *text, const char *why, cuzk_error *err) {
    return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET,
                     "bad address \"%.200s\": %s; expected unix:///path, host:port or http://host:port", text,
                     why);
}

static cuzk_code parse_unix(rpc_address *out, const char *path, const char *text, cuzk_error *err) {
    if (!*path) return bad_address(text, "there is no path", err);
    if (strlen(path) >= sizeof out->path) {
        return bad_address(text, "the path is longer than a Unix socket's can be (107 bytes)", err);
    }
    out->is_unix = true;
    strcpy(out->path, path);
    return CUZK_OK;
}

static bool parse_port(char out[6], const char *text) {
    size_t length = strlen(text);
    if (length < 1 || length > 5 || strspn(text, "0123456789") != length || atoi(text) > 65535) return false;
    strcpy(out, text);
    return true;
}

cuzk_code address_parse(rpc_address *out, const char *text, cuzk_error *err) {
    *out = (rpc_address){.is_unix = false};
    if (strncmp(text, "unix://", 7) == 0) return parse_unix(out, text + 7, text, err);
    if (strncmp(text, "unix:", 5) == 0) return parse_unix(out, text + 5, text, err);
    const char *host = strncmp(text, "http://", 7) == 0 ? text + 7 : text;
    if (strstr(host, "://")) return bad_address(text, "the scheme is neither unix nor http", err);

    char buffer[300];
    if (snprintf(buffer, sizeof buffer, "%s", host) >= (int)sizeof buffer) {
        return bad_address(text, "it is too long", err);
    }
    size_t length = strlen(buffer);
    if (host != text && length && buffer[length - 1] == '/') buffer[length - 1] = 0;
    char *colon = strrchr(buffer, ':'), *name = buffer;
    if (!colon) return bad_address(text, "there is no port", err);
    if (!parse_port(out->port, colon + 1)) return bad_address(text, "the port is no number up to 65535", err);
    *colon = 0;
    if (*name == '[') {
        size_t size = strlen(name);
        if (name[size - 1] != ']') return bad_address(text, "a bracket is not closed", err);
        name[size - 1] = 0;
        name++;
    } else if (strchr(name, ':')) {
        return bad_address(text, "an IPv6 address needs brackets", err);
    }
    if (!*name || strchr(name, '/')) return bad_address(text, "there is no host before the port", err);
    if (strlen(name) >= sizeof out->host) return bad_address(text, "the host is too long", err);
    strcpy(out->host, name);
    return CUZK_OK;
}

cuzk_code address_resolve(const rpc_address *a, bool listening, struct sockaddr_storage *out, socklen_t *size,
                          cuzk_error *err) {
    memset(out, 0, sizeof *out);
    if (a->is_unix) {
        struct sockaddr_un *un = (struct sockaddr_un *)out;
        un->sun_family = AF_UNIX;
        strcpy(un->sun_path, a->path);
        *size = sizeof *un;
        return CUZK_OK;
    }
    bool local = strcmp(a->host, "localhost") == 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
    if (listening || local) hints.ai_flags |= AI_NUMERICHOST;
    int status = getaddrinfo(local ? "127.0.0.1" : a->host, a->port, &hints, &found);
    if (status != 0) {
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "host \"%s\": %s%s", a->host,
                         gai_strerror(status),
                         listening ? " (a numeric address or localhost is needed)" : "");
    }
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return CUZK_OK;
}

void address_tune(int fd, sa_family_t family) {
    if (family != AF_INET && family != AF_INET6) return;
    int on = 1, idle = 60, interval = 15, count = 4;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

void address_format(char *out, size_t size, const struct sockaddr_storage *address) {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo((const struct sockaddr *)address, sizeof *address, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(out, size, "unknown");
    } else {
        bool v6 = address->ss_family == AF_INET6;
        snprintf(out, size, "%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    }
}
