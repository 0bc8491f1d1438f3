/* One HTTP GET without TLS, for documents of the daemon's status server. */
#ifndef CUZK_BENCH_HTTP_GET_H
#define CUZK_BENCH_HTTP_GET_H

#include "base/error.h"

#define HTTP_GET_LIMIT ((size_t)64 << 20) /* bytes of an answer */

/* GET http://host:port (or host:port) + path. *out is the body, terminated, for free(). CUZK_ERR_RESOURCES:
 * no connection, or no whole answer within `seconds`; CUZK_ERR_INPUT: an answer other than 200. */
cuzk_code http_get(char **out, const char *address, const char *path, double seconds, cuzk_error *err);

#endif
