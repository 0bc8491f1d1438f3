/*
 * A listening socket. A Unix socket belongs to whoever holds the lock of the file "path.lock" beside it: with
 * the lock, a socket on which nobody answers is a left-over and is replaced; one that answers belongs to
 * someone who knows nothing of the lock, and is left alone.
 */
#ifndef CUZK_RPC_LISTENER_H
#define CUZK_RPC_LISTENER_H

#include "rpc/address.h"

#include <sys/stat.h>

typedef struct rpc_listener {
    int fd; /* non-blocking; -1 when closed */
    int lock_fd;
    rpc_address address;
    char text[300]; /* as a client would name it, with the true port */
    dev_t device;   /* of the socket's file */
    ino_t inode;
} rpc_listener;

cuzk_code listener_open(rpc_listener *out, const char *address, cuzk_error *err);
/* Stop listening; remove the socket's file if it is still ours, and the lock file. Harmless twice. */
void listener_close(rpc_listener *l);

#endif
