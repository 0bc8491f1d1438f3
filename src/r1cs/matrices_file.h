/*
 * Matrices in a file (docs/formats.md), so that a process need not extract them. The arrays are used as they
 * stand in the file; it depends on neither the processor nor the form in which this library holds field
 * elements.
 *
 * Nothing in a file is believed. Opening it checks its length, its checksum, every count before memory is
 * taken for it, and every reference; and when a witness is made, all that the circuit's gadgets do is
 * compared with the matrices (witness.h). So a file that is damaged, or of another circuit, or made up, is an
 * error and never a wrong proof.
 */
#ifndef CUZK_R1CS_MATRICES_FILE_H
#define CUZK_R1CS_MATRICES_FILE_H

#include "r1cs/matrices.h"

/* Write them, all or nothing. */
cuzk_code matrices_save(const matrices *m, const char *path, cuzk_error *err);

/* Open the matrices of a circuit of this name and shape. CUZK_ERR_INPUT, with path and offset, for whatever
 * is wrong with the file. *out is the caller's, for matrices_free; NULL after an error. */
cuzk_code matrices_open(matrices **out, const char *path, const r1cs_circuit *circuit, cuzk_error *err);

/* The same from memory, which must stay and be aligned to 8 bytes; `name` stands for the path in errors. */
cuzk_code matrices_parse(matrices **out, const void *data, uint64_t size, const char *name,
                         const r1cs_circuit *circuit, cuzk_error *err);

#endif
