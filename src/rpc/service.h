/* A service as the server offers it. */
#ifndef CUZK_RPC_SERVICE_H
#define CUZK_RPC_SERVICE_H

#include "rpc/wire.h"

typedef struct rpc_service {
    const char *name;           /* "package.Service" */
    const char *const *methods; /* names as in its file */
    size_t method_count;
    const wire_view *descriptor; /* that file as a serialized FileDescriptorProto, for reflection */
} rpc_service;

#endif
