/*
 * Making Groth16 parameters from known toxic waste (bellperson 0.27, groth16/generator.rs), with the standard
 * generators of G1 and G2. Whoever knows the waste can forge proofs, so this is for tests and experiments;
 * the real network's parameters come from a ceremony.
 */
#ifndef CUZK_GROTH16_SETUP_H
#define CUZK_GROTH16_SETUP_H

#include "base/pool.h"
#include "base/progress.h"
#include "r1cs/cs.h"

typedef struct toxic_waste {
    fr alpha, beta, gamma, delta, tau;
} toxic_waste;

/* From the operating system's generator. toxic_waste_wipe it after use. */
cuzk_code toxic_waste_random(toxic_waste *out, cuzk_error *err);
void toxic_waste_wipe(toxic_waste *w);

/* Synthesize the structure of `circuit` and write its parameters and verifying key. Either file appears whole
 * or not at all. An element of the waste that is zero, or a tau on the domain (tau^m = 1), is CUZK_ERR_USAGE;
 * a circuit with an aux variable that occurs nowhere is CUZK_ERR_INTERNAL.
 *
 * Memory: 96 bytes a variable, tables of at most 2^19 points, and some megabytes a thread, from
 * mem_big_alloc. Progress phases "constraints" and "points" (in units of about equal time). */
cuzk_code groth16_setup(const r1cs_circuit *circuit, const toxic_waste *waste, const char *params_path,
                        const char *vk_path, pool *p, const cuzk_progress *progress, cuzk_error *err);

#endif
