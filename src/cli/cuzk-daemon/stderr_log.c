#include "stderr_log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"

#define PATIENCE_MS 100 /* for the first line that finds no room */

static bool to_journal;
static unsigned long long lost; /* lines; the log calls one at a time */

static bool stderr_is_journal(void) {
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat st;
    return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == device && st.st_ino == inode;
}

static const char *priority(log_level level) {
    switch (level) {
    case LOG_LEVEL_ERROR:
        return "<3>";
    case LOG_LEVEL_WARN:
        return "<4>";
    case LOG_LEVEL_DEBUG:
    case LOG_LEVEL_TRACE:
        return "<7>";
    case LOG_LEVEL_OFF:
    case LOG_LEVEL_INFO:
        break;
    }
    return "<6>";
}

/* Is there room, or somebody who makes some soon? A reader that has stopped must not stop the daemon, whose
 * threads wait for each other here. */
static bool has_room(void) {
    struct pollfd out = {STDERR_FILENO, POLLOUT, 0};
    return poll(&out, 1, lost == 0 ? PATIENCE_MS : 0) != 0;
}

/* One writev: what else writes to the same pipe does not come in between. Lines that cannot be written are
 * lost; a full disk is no reason to stop proving. */
static void write_line(void *context, log_level level, const char *line, size_t size) {
    (void)context;
    char notice[64];
    if (!has_room()) {
        lost++;
        return;
    }
    if (lost > 0) {
        int n = snprintf(notice, sizeof notice, "(%llu lines were lost: nobody read them)\n", lost);
        lost = 0;
        write_line(context, LOG_LEVEL_WARN, notice, (size_t)n);
        if (!has_room()) {
            lost++;
            return;
        }
    }
    struct iovec parts[2] = {{(void *)priority(level), to_journal ? 3 : 0}, {(void *)line, size}};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t written = writev(STDERR_FILENO, parts, 2);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        size_t rest = (size_t)written;
        for (unsigned i = 0; i < 2; i++) {
            size_t step = rest < parts[i].iov_len ? rest : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + step;
            parts[i].iov_len -= step;
            rest -= step;
        }
    }
}

void stderr_log_start(void) {
    to_journal = stderr_is_journal();
    log_set_sink(write_line, NULL);
}
