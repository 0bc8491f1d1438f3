/*
 * The services that come with every server: grpc.health.v1.Health (Check) and reflection, v1 and v1alpha, as
 * functions from request to response.
 */
#ifndef CUZK_RPC_BUILTIN_H
#define CUZK_RPC_BUILTIN_H

#include "rpc/server.h"

#define HEALTH_SERVICE           "grpc.health.v1.Health"
#define REFLECTION_SERVICE       "grpc.reflection.v1.ServerReflection"
#define REFLECTION_ALPHA_SERVICE "grpc.reflection.v1alpha.ServerReflection"

/* Both append a response to *out, or fill *refusal. */
void builtin_health(const rpc_service *service, bool serving, wire_view request, wire_buffer *out,
                    rpc_refusal *refusal);
void builtin_reflection(const rpc_service *service, wire_view request, wire_buffer *out,
                        rpc_refusal *refusal);

#endif
