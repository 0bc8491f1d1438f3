/*
 * Mapped files that lose pages while in use: truncated by somebody, or on a disk that fails. Touching such a
 * page raises SIGBUS, which ends a process. With the guard installed the page reads as zeros instead and the
 * map is marked as damaged, so that whoever works on it comes to an end and asks file_map_check.
 *
 * For programs: a library has no business with signals of its own accord. Data read from a map may turn to
 * zeros at any time then, so what is used as an index is checked where it is used, or copied first.
 */
#ifndef CUZK_BASE_FILE_GUARD_H
#define CUZK_BASE_FILE_GUARD_H

#include "base/error.h"

/* Handle SIGBUS from now on. A fault outside of guarded maps goes to the handler that was there before.
 * Called again it does nothing, unless another handler that does not pass on to this one was set meanwhile.
 */
void file_guard_install(void);

typedef struct file_guard file_guard;

/* Guard a read-only shared map of the whole file. NULL when there is no memory. */
file_guard *file_guard_add(const void *data, uint64_t size, int fd);
/* Before the map is undone. NULL is ignored. */
void file_guard_remove(file_guard *g);
/* Has a page been lost and read? */
bool file_guard_damaged(const file_guard *g);

#endif
