/*
 * Files: read-only maps of whole files, and writing that is all or nothing.
 *
 * A writer puts its bytes into a temporary file beside the target and renames it over the target only after
 * everything is written and flushed to the disk, so a reader sees the old file or the whole new one. A target
 * that exists and is not a regular file (a pipe, a terminal, /dev/null) is written directly.
 */
#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H

#include "base/error.h"

/* A whole regular file, mapped read-only. Pages come in as they are touched, and stay only as long as the
 * kernel likes. If the file is truncated while mapped, touching the lost part kills the process (SIGBUS), or
 * gives zeros where file_guard.h is installed: call file_map_check before long work, and file_map_outcome at
 * its end. Files replaced by rename, as file_writer does, keep their old pages. */
typedef struct file_map {
    const uint8_t *data; /* NULL when empty */
    uint64_t size;
    int fd;
    char *path;
    cuzk_code code;           /* of errors about the file */
    struct file_guard *guard; /* file_guard.h */
} file_map;

/* A file that cannot be opened, or is not a regular file, is an error with `code`. */
cuzk_code file_map_open(file_map *out, const char *path, cuzk_code code, cuzk_error *err);
/* An error with the same code unless the file still has the size it was mapped with, and none of its pages
 * was found missing while in use. */
cuzk_code file_map_check(const file_map *m, cuzk_error *err);
/* How work on the map ended: with file_map_check's error if that finds one, whatever followed from it, else
 * with `code`, whose error is in *err already. Being cancelled comes first. */
cuzk_code file_map_outcome(const file_map *m, cuzk_code code, cuzk_error *err);
void file_map_close(file_map *m); /* a zeroed or closed map is left alone */

typedef struct file_writer {
    int fd;
    char *path, *temp; /* temp is NULL when the target is written directly */
    uint64_t written, expected;
} file_writer;

/* Start writing `path`. `expected` is the size in bytes, 0 when unknown: when known, the disk space is
 * reserved at once, so that a full disk is found before any work is done. Errors are CUZK_ERR_RESOURCES
 * except for a target that is a directory or in one that does not exist (CUZK_ERR_USAGE). */
cuzk_code file_write_begin(file_writer *out, const char *path, uint64_t expected, cuzk_error *err);
/* The same reservation, once the size is known. */
cuzk_code file_write_expect(file_writer *w, uint64_t expected, cuzk_error *err);
cuzk_code file_write(file_writer *w, const void *data, size_t size, cuzk_error *err);
/* Flush, close and move into place. On failure nothing is left behind. */
cuzk_code file_write_commit(file_writer *w, cuzk_error *err);
/* Drop everything written. Harmless on a zeroed, committed or aborted writer. */
void file_write_abort(file_writer *w);

/* The three steps in one. */
cuzk_code file_write_all(const char *path, const void *data, size_t size, cuzk_error *err);

#endif
