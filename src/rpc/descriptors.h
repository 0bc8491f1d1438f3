/* The .proto files of this folder, serialized (FileDescriptorProto). Generated: scripts/gen_descriptors.py.
 */
#ifndef CUZK_RPC_DESCRIPTORS_H
#define CUZK_RPC_DESCRIPTORS_H

#include "rpc/wire.h"

extern const wire_view cuzk_descriptor, health_descriptor, reflection_descriptor, reflection_alpha_descriptor;

#endif
