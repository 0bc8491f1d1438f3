/*
 * A request's bytes: one buffer of exactly the declared size, reserved in a byte budget when it is made and
 * committed by the kernel as bytes arrive. Huge pages are asked for only from the third MiB on, so what a
 * client declares and never sends costs address space alone. See rpc/server.h for rpc_body.
 */
#ifndef CUZK_RPC_BODY_H
#define CUZK_RPC_BODY_H

#include "rpc/server.h"

/* Bytes that all requests together may reserve. Lives until its owner and all bodies are gone. */
typedef struct rpc_budget rpc_budget;

rpc_budget *budget_create(uint64_t limit); /* NULL: out of memory */
void budget_release(rpc_budget *b);        /* by the owner; NULL is fine */
uint64_t budget_held(const rpc_budget *b);

/* CUZK_ERR_RESOURCES, naming the numbers, when the budget or memory has no room. */
cuzk_code body_create(rpc_body **out, rpc_budget *budget, size_t size, cuzk_error *err);
/* Append; size must not exceed what body_missing says. */
void body_append(rpc_body *body, const uint8_t *data, size_t size);
size_t body_missing(const rpc_body *body);
size_t body_received(const rpc_body *body);

#endif
