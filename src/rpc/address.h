/* Where a server listens and a client connects: Unix sockets and TCP, as one text. */
#ifndef CUZK_RPC_ADDRESS_H
#define CUZK_RPC_ADDRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct rpc_address {
    bool is_unix;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* Unix: terminated */
    char host[256], port[6]; /* TCP: without brackets; a number from 0 to 65535 */
} rpc_address;

/* "unix:///path", "unix:path", "http://host:port", "host:port", "[v6]:port". CUZK_ERR_USAGE otherwise. */
cuzk_code address_parse(rpc_address *out, const char *text, cuzk_error *err);

/* The socket address. With `listening`, only numeric hosts and localhost; else names are looked up, which can
 * take as long as the resolver takes. */
cuzk_code address_resolve(const rpc_address *a, bool listening, struct sockaddr_storage *out, socklen_t *size,
                          cuzk_error *err);

/* Options of a connected socket: small messages go out at once, and a TCP peer that is gone without a word is
 * noticed within two minutes. */
void address_tune(int fd, sa_family_t family);

/* "127.0.0.1:9820", "[::1]:9820" of a TCP socket address. */
void address_format(char *out, size_t size, const struct sockaddr_storage *address);

#endif
