/*
 * The input of a recorded job as a file: everything in a request but id, priority and deadline. The layout is
 * in docs/formats.md. The digest of the request (job_request_digest), which is also the file's name, covers
 * every byte that follows it, so it is the checksum at the same time.
 */
#ifndef CUZK_SERVER_JOB_INPUT_H
#define CUZK_SERVER_JOB_INPUT_H

#include "engine/job.h"

/* What the file of a request takes. */
uint64_t job_input_size(const job_request *r);

/* Write it, whole or not at all, and flushed to the disk; the name in the directory is not flushed. `digest`
 * is the request's. CUZK_ERR_RESOURCES. */
cuzk_code job_input_write(const char *path, const uint8_t digest[32], const job_request *r, cuzk_error *err);

/* Read a request back, without id, priority and deadline; job_request_release frees it. CUZK_ERR_INPUT when
 * the file is missing, damaged, of another version, or not what `digest` names; CUZK_ERR_RESOURCES without
 * memory. */
cuzk_code job_input_read(job_request *out, const char *path, const uint8_t digest[32], cuzk_error *err);

#endif
