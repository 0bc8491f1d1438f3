/* gRPC's status codes, and the texts that travel with them in HTTP/2 headers. */
#ifndef CUZK_RPC_STATUS_H
#define CUZK_RPC_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rpc_status {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_UNKNOWN = 2,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_ALREADY_EXISTS = 6,
    RPC_PERMISSION_DENIED = 7,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_FAILED_PRECONDITION = 9,
    RPC_ABORTED = 10,
    RPC_OUT_OF_RANGE = 11,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
    RPC_DATA_LOSS = 15,
    RPC_UNAUTHENTICATED = 16,
} rpc_status;

/* "OK", "INVALID_ARGUMENT", ...; "UNKNOWN" for a number that is no code. */
const char *rpc_status_name(rpc_status status);

/* A malloc'd copy of a text as the value of grpc-message: invalid UTF-8 becomes U+FFFD, at most `limit` bytes
 * of the text are used (whole characters), and what a header cannot hold is percent-encoded. NULL when out of
 * memory. */
char *rpc_message_encode(const char *text, size_t limit);
/* The way back, into out[size], cut if need be and always terminated. Bad escapes are kept as they are. */
void rpc_message_decode(char *out, size_t size, const char *value, size_t length);

/* A grpc-timeout value ("5S", "100m": one to eight digits and a unit out of HMSmun) in seconds; false when
 * malformed. */
bool rpc_timeout_parse(double *seconds, const char *value, size_t length);
/* The other way, rounded up to the next unit that fits in eight digits. seconds is brought into
 * [0, 99999999 h]. out must hold 16 bytes. */
void rpc_timeout_format(char out[16], double seconds);

#endif
